"""Causes that are told by name, each with its cure tried: rivals, full air, protection, rates."""

from __future__ import annotations

import tomllib
from typing import Any

import airtcp
import pytest
from airtcp.advice.problems import findings
from airtcp.advice.reading import Reading
from airtcp.advice.trials import advise
from airtcp.present.verdict import starved_lines
from airtcp.results import SimulationResult
from airtcp.results.advice import Advice
from airtcp.scenario import loads
from airtcp.web import judged

RUN = 'run = { warmup = "2 s", duration = "6 s", replications = 4 }'

#: Downloads of two groups through a FIFO, the first by BBR and the second by CUBIC.
RIVALS = f"""
phy = {{ standard = "802.11ac", channel_width = "80 MHz", mcs = 8, spatial_streams = 2 }}
ap = {{ queue = {{ limit = 1000 }} }}
links = {{ line = {{ delay = "10 ms" }} }}
stations = [{{ name = "new", count = 2 }}, {{ name = "old", count = 2 }}]
{RUN}
[[flows]]
stations = "new"
direction = "download"
application = {{ kind = "bulk" }}
path = ["line"]
tcp = {{ preset = "linux", congestion = "bbr1" }}
[[flows]]
stations = "old"
direction = "download"
application = {{ kind = "bulk" }}
path = ["line"]
tcp = {{ preset = "linux" }}
"""
#: Desks of 802.11g beside a scanner of 802.11b that sends next to nothing.
MIXED = f"""
phy = {{ standard = "802.11g", data_rate = "54 Mb/s" }}
stations = [
  {{ name = "desk", count = 4 }},
  {{ name = "scanner", count = 1, data_rate = "11 Mb/s" }},
]
targets = {{ "desk flow_goodput" = "> 5 Mb/s" }}
{RUN}
[[flows]]
stations = "desk"
direction = "download"
application = {{ kind = "bulk" }}
[[flows]]
stations = "scanner"
direction = "upload"
application = {{ kind = "udp", packet = "200 B", rate = "50 kb/s" }}
"""
#: Downloads with windows that fill the air and not the queue.
WINDOWS = f"""
phy = {{ standard = "802.11n", mcs = 7 }}
ap = {{ queue = {{ limit = 1000 }} }}
links = {{ line = {{ delay = "40 ms" }} }}
stations = [{{ name = "desk", count = 12 }}]
{RUN}
[[flows]]
stations = "desk"
direction = "download"
application = {{ kind = "bulk" }}
path = ["line"]
tcp = {{ preset = "linux", receive_window = "64 KiB" }}
"""
#: Readers alone, whose pages are more than a channel of 20 MHz carries.
READERS = """
phy = { standard = "802.11n", mcs = 4 }
ap = { queue = { limit = 1000 } }
stations = [{ profile = "office-laptop", name = "desk", count = 90 }]
run = { warmup = "5 s", duration = "20 s", replications = 4 }
"""
#: A few readers at the lowest rate, with a queue in which nobody waits for others.
SLOW = """
phy = { standard = "802.11n" }
ap = { queue = { discipline = "fq-codel" }, scheduler = "airtime" }
stations = [{ profile = "office-laptop", name = "reader", count = 4, traffic = ["web"], mcs = 0 }]
run = { warmup = "10 s", duration = "100 s", replications = 4 }
"""
#: Downloads through a long FIFO at a low rate.
WAITING = """
phy = { standard = "802.11ac", mcs = 1 }
ap = { queue = { limit = 1000 } }
links = { line = { delay = "10 ms" } }
stations = [{ name = "desk", count = 3 }]
run = { warmup = "2 s", duration = "10 s", replications = 4 }
[[flows]]
stations = "desk"
direction = "download"
application = { kind = "bulk" }
path = ["line"]
tcp = { preset = "linux" }
"""
#: Two uploads of one group, on both sides of an access point, that do not hear each other.
APART = """
phy = { standard = "802.11a" }
cells = { hall = { channel = 36, position = [0, 0] } }
air = { path_loss = { exponent = 3.5 } }
flows = [{ stations = "side", direction = "upload", application = { kind = "bulk" } }]
targets = { "side flow_goodput" = "> 4 Mb/s" }
run = { warmup = "2 s", duration = "10 s", replications = 4 }
[[stations]]
name = "side"
cell = "hall"
count = 2
positions = [[-30, 0], [30, 0]]
data_rate = "24 Mb/s"
"""

#: Rooms on both ends of a corridor, which do not hear each other: backups here, calls there.
CORRIDOR = """
phy = { standard = "802.11n", band = "2.4 GHz" }
ap = { queue = { limit = 300 } }
run = { warmup = "5 s", duration = "20 s", replications = 4 }
[[stations]]
profile = "office-laptop"
name = "west"
count = 4
hears = []
traffic = ["web", "backup"]
[[stations]]
profile = "office-laptop"
name = "east"
count = 4
hears = []
traffic = ["web", "call"]
"""


def simulated(text: str, **changes: Any) -> SimulationResult:
    scenario = loads(text).vary({key.replace("__", "."): one for key, one in changes.items()})
    return airtcp.simulate(scenario)


def advice(text: str, **changes: Any) -> Advice:
    return advise(simulated(text, **changes))


def problems(text: str, **changes: Any) -> list[str]:
    return [one.problem for one in findings(simulated(text, **changes))]


def test_a_window_below_what_an_ack_waits_for_is_no_wait_in_a_queue() -> None:
    """One segment, an ACK for each second one: 200 ms for each, and all queues are empty."""
    paper = {
        "phy": {"standard": "802.11b"},
        "stations": [{"name": "pc", "count": 2}],
        "flows": [
            {
                "stations": "pc",
                "direction": "download",
                "application": {"kind": "bulk"},
                "tcp": {"receive_window": {"segments": 1}},
            }
        ],
        "run": {"warmup": "1 s", "duration": "5 s", "replications": 2},
    }
    (found,) = findings(airtcp.simulate(airtcp.load(paper)))

    assert found.problem == "window"
    assert "a receive window of 1 segment in each round trip" in found.evidence
    assert "the timer of delayed ACKs" in found.evidence


def test_a_congestion_control_that_crowds_out_another_is_named() -> None:
    found = advice(RIVALS).problems[0]

    assert (found.finding.problem, found.finding.groups) == ("crowded-out", ("old",))
    assert found.finding.evidence.endswith("grow by CUBIC, and the others by BBR, version 1")
    tried = {one.name: one for one in found.remedies}
    assert {"managed-queue", "cubic"} <= tried.keys()
    for name in ("managed-queue", "cubic"):
        before, after = tried[name].before.mean, tried[name].after.mean
        assert tried[name].outcome == "helps"
        assert before is not None
        assert after is not None
        # They had a fiftieth of what the others have, and then as much.
        assert after > 5.0 * before


def test_a_long_way_beside_a_short_one_is_named() -> None:
    """The sawtooth of CUBIC grows by time, and slow start by round trips."""
    text = RIVALS.replace(', congestion = "bbr1"', "").replace("limit = 1000", "limit = 300")
    near = text.replace('path = ["line"]', 'path = [{ delay = "2 ms" }]', 1)
    far = near.replace('path = ["line"]', 'path = [{ delay = "60 ms" }]')

    (found,) = advice(far).problems

    assert (found.finding.problem, found.finding.groups) == ("crowded-out", ("old",))
    assert "120 ms there and back, and the others 4.0 ms" in found.finding.evidence
    assert found.remedies[0].outcome == "helps"


def test_nobody_crowds_out_who_is_like_the_others_or_has_turns_of_his_own() -> None:
    assert problems(RIVALS, flows__new__tcp__congestion="cubic") == []
    managed = {"queue": {"discipline": "fq-codel"}, "scheduler": "airtime"}
    assert problems(RIVALS, ap=managed) == []


def test_windows_are_not_the_cause_where_the_air_is_full() -> None:
    """A quarter of the stations leaves air idle; with all a window of 4 MiB gains nothing."""
    assert problems(WINDOWS) == []
    assert problems(WINDOWS, stations__desk__count=3) == ["window"]

    got, more = (
        simulated(WINDOWS, flows__desk__tcp__receive_window=window)
        .simulation.metrics["goodput_bps"]
        .mean
        for window in ("64 KiB", "4 MiB")
    )
    assert got is not None
    assert more is not None
    assert more < 1.1 * got


def test_pages_that_fill_the_air_by_themselves_want_more_of_it() -> None:
    (found,) = advice(READERS).problems

    assert found.finding.problem == "full"
    outcomes = {one.name: one.outcome for one in found.remedies}
    assert (outcomes["wider-channel"], outcomes["second-access-point"]) == ("helps", "helps")
    assert outcomes["managed-queue"] != "helps"


def test_a_wider_channel_is_tried_where_calls_fill_the_air() -> None:
    text = READERS.replace("office-laptop", "meeting-laptop").replace("count = 90", "count = 12")
    calls = next(one for one in advice(text).problems if one.finding.problem == "calls")

    (wider,) = (one for one in calls.remedies if one.name == "wider-channel")
    assert wider.outcome == "helps"
    assert {one.state for one in wider.targets} == {"holds"}


def test_stations_of_802_11b_that_slow_all_down_are_named() -> None:
    (found,) = advice(MIXED).problems

    assert (found.finding.problem, found.finding.groups) == ("protection", ("desk",))
    assert "802.11b (scanner)" in found.finding.evidence
    (trial,) = found.remedies
    assert (trial.name, trial.outcome) == ("no-dsss", "helps")
    assert trial.set == {"stations.scanner.data_rate": "12 Mb/s"}
    assert [one.state for one in trial.targets] == ["holds"]
    assert trial.apply["hostapd"][0].startswith("supported_rates=120 ")
    assert "protection" not in problems(MIXED, phy__protection="none")


def test_a_rate_at_which_pages_take_their_time_is_named() -> None:
    found = advice(SLOW).problems[0]

    assert (found.finding.problem, found.finding.groups) == ("rate", ("reader",))
    assert found.finding.evidence.startswith("one in ten pages of reader downloads takes more")
    first = found.remedies[0]
    assert (first.name, first.outcome, first.set) == (
        "least-mcs",
        "helps",
        {"stations.reader.mcs": 4},
    )
    assert [one.state for one in first.targets] == ["holds"]
    assert problems(SLOW, stations__reader__mcs=7) == []


def test_of_pages_beside_calls_the_air_tells_of_no_rate() -> None:
    """A group's air is that of all its frames, and two flows wait together for less than each."""
    alone = Reading(simulated(SLOW))
    used = alone.air_while_waiting(alone.scopes[0])
    assert used is not None
    assert 0.5 < used < 1.0

    beside = Reading(simulated(SLOW.replace('["web"]', '["web", "call"]')))
    assert beside.air_while_waiting(beside.scopes[0]) is None

    more = {"name": "more", "stations": "reader", "profile": "web"}
    twice = loads(SLOW)
    both = Reading(
        airtcp.simulate(airtcp.load(twice.written | {"flows": [*twice.written["flows"], more]}))
    )
    (scope,) = both.scopes
    assert len(scope.flows) == 2
    shared = both.air_while_waiting(scope)
    assert shared is not None
    assert shared <= 1.0


def test_files_may_take_longer_than_pages() -> None:
    """Files of 10 MB take longer than a page may, and less than a minute."""
    text = SLOW.replace('traffic = ["web"], mcs = 0', "mcs = 3")
    files = {
        "stations": "reader",
        "direction": "download",
        "application": {
            "kind": "ftp",
            "interarrival": {"distribution": "exponential", "mean": "20 s"},
            "size": "10 MB",
        },
    }
    plain = text.replace('profile = "office-laptop", ', "")
    result = airtcp.simulate(airtcp.load(tomllib.loads(plain) | {"flows": [files]}))
    time = result.simulation.groups["reader"]["download"]["transfer_time_p90_s"].mean

    assert time is not None
    assert 4.0 < time < 60.0
    assert findings(result) == []


def test_a_way_on_which_pages_take_their_time_is_named() -> None:
    """At a high rate they wait for round trips of 600 ms."""
    text = SLOW.replace("mcs = 0", 'path = [{ delay = "300 ms" }]')
    (found,) = advice(text).problems

    assert found.finding.problem == "way"
    assert "of each round trip of 6" in found.finding.evidence
    assert "the wires alone take 600 ms" in found.finding.evidence
    assert not found.remedies


@pytest.mark.parametrize(("bound", "named"), [("50 ms", ["latency"]), ("1 s", [])])
def test_waits_are_judged_by_a_target_on_round_trips(bound: str, named: list[str]) -> None:
    targets = {"desk path_rtt": f"< {bound}"}

    assert problems(WAITING, targets=targets) == named


def test_a_target_on_round_trips_that_the_wires_miss_is_named_as_such() -> None:
    """There and back are 48 ms, and 2 ms are left for the air."""
    changes = {"links.line.delay": "24 ms", "targets": {"desk path_rtt": "< 50 ms"}}
    (found,) = findings(airtcp.simulate(loads(WAITING).vary(changes)))

    assert found.problem == "way"
    assert "the wires alone take 48.0 ms" in found.evidence


def test_a_mean_that_holds_tells_of_the_flows_that_get_nothing() -> None:
    """One of two has the air for long, another one in each run."""
    result = airtcp.simulate(loads(APART))
    found = airtcp.verdict(result)
    assert found is not None
    least = [
        min(flow["goodput_bps"] for flow in run.answer["flows"]) for run in result.simulation.runs
    ]
    poor = sum(one < 2e6 for one in least)

    assert found.state == "holds"
    assert poor >= 2
    (line,) = starved_lines(found, result)
    assert line.startswith(
        f"Goodput per flow of side is a mean: in {poor} of 4 runs 1 of 2 flows gets less than half"
    )
    # The page says what `run` does.
    shown = judged.verdict(found, result)
    assert shown is not None
    assert shown["lines"][0] == line


def test_a_mean_of_flows_that_are_alike_tells_of_none() -> None:
    result = airtcp.simulate(loads(APART).vary({"mac.rts_threshold": "0 B"}))
    found = airtcp.verdict(result)
    assert found is not None

    assert found.state == "holds"
    assert starved_lines(found, result) == []


def test_hidden_stations_of_unlike_traffic_are_judged_by_whoever_suffers() -> None:
    """Shares of pages, calls and backups are not even; and half of the time the air is idle."""
    (hidden, *others) = findings(simulated(CORRIDOR))

    assert hidden.problem == "hidden"
    assert (hidden.goal.metric, hidden.goal.group, hidden.goal.part) == (
        "packet_loss",
        "east",
        "upload",
    )
    assert "calls" not in [one.problem for one in others]


def test_hidden_stations_of_like_traffic_are_judged_by_their_shares() -> None:
    (hidden,) = findings(simulated(APART))

    assert (hidden.problem, hidden.goal.metric) == ("hidden", "jain_index")
