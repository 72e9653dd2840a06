"""Capacity: the axis, and the search along it for the last value that meets every target."""

import json
import signal
from dataclasses import replace
from pathlib import Path
from typing import Any

import airtcp
import pytest
from airtcp.document import Table
from airtcp.examples import directory
from airtcp.exceptions import QuestionError, ScenarioError
from airtcp.messages.plan import parts
from airtcp.plan.axis import axis_of
from airtcp.results.plans import Plan
from airtcp.scenario import Scenario
from airtcp.scenario.vary import shared_out
from bases import BULK, example, reading, refused
from commands import call as command

FLOW = f"""[[flows]]
stations = "{{}}"
direction = "download"
application = {reading("30 kB").replace("{", "{{").replace("}", "}}")}
"""
PAGES = f"""
title = "Pages"
phy = {{ standard = "802.11b" }}
stations = [{{ name = "near", count = 6 }}, {{ name = "far", count = 2, data_rate = "2 Mb/s" }}]
run = {{ warmup = "5 s", duration = "30 s", replications = 10 }}
{FLOW.format("near")}{FLOW.format("far")}
"""


@pytest.fixture(scope="module")
def scenario() -> Scenario:
    return airtcp.load(PAGES)


def carried(scenario: Scenario, until: str | list[str], **arguments: Any) -> Plan:
    """Plan without remedies, by default for the number of stations."""
    arguments = {"vary": "stations"} | arguments
    return airtcp.plan(scenario, until=until, remedies=False, **arguments)


def ends(found: Plan) -> tuple[float, float, float]:
    """Return the lower end of the answer's interval, the answer, and the upper end."""
    answer = found.answer
    assert answer.low is not None
    assert answer.high is not None
    return answer.low, answer.value, answer.high


# The axis.


@pytest.mark.parametrize(
    ("total", "weights", "shares"),
    [(12, [6, 2], [9, 3]), (8, [6, 2], [6, 2]), (2, [6, 2], [1, 1]), (3, [5, 3, 1], [1, 1, 1])],
)
def test_stations_are_shared_out_in_proportion_and_no_group_ever_shrinks(total, weights, shares):
    """Weights 6 and 2 split 12 stations into 9 and 3. Every group keeps at least one station."""
    assert shared_out(total, weights) == shares
    for more in range(total + 1, 60):
        before, shares = shares, shared_out(more, weights)
        assert sum(shares) == more
        assert all(new >= old for new, old in zip(shares, before, strict=True))


def test_numbers_of_stations_have_natural_ends(scenario: Scenario) -> None:
    for path, first, present in (("stations", 2, 6), ("stations.far.count", 1, 1)):
        axis = axis_of(scenario, path)
        assert (axis.numbers[0], axis.numbers[-1], axis.present) == (first, 2007, present)
    assert [group.count for group in axis_of(scenario, "stations").at(10).stations] == [9, 3]


@pytest.mark.parametrize("most", [17, 18, 40])
def test_stations_grow_as_far_as_there_is_room_for_their_powers(most, monkeypatch):
    """Three offices: three access points, and four stations in each group that does not grow."""
    monkeypatch.setattr("airtcp.scenario.received.MOST_CLASSES", most)
    offices = airtcp.load(str(directory() / "three-offices.toml"))

    assert axis_of(offices, "stations").numbers == range(3, most - 3 + 1)
    assert axis_of(offices, "stations.lawyer.count").numbers == range(1, most - 3 - 8 + 1)
    with refused("scenario.received.too_large"):
        offices.with_stations(most - 2)


def test_a_quantity_goes_from_good_to_bad_in_ratios(scenario: Scenario) -> None:
    axis = axis_of(scenario, "flows.near.application.think_time.mean", "20 s", "200 ms")

    assert (axis.numbers[0], axis.numbers[-1], axis.unit) == (20.0, 0.2, "s")
    ratios = [a / b for a, b in zip(axis.numbers, axis.numbers[1:], strict=False)]
    assert 1.0 < min(ratios) <= max(ratios) < 1.03
    assert axis.at(len(axis) - 1).flows[0].application.think_time.mean() == pytest.approx(0.2)
    assert axis.numbers[axis.present or 0] == pytest.approx(1.0, rel=0.02)
    bare = axis_of(scenario, "ap.queue.limit", 100, 2)
    assert list(bare.numbers) == list(range(100, 1, -1))
    assert bare.at(98).ap.queue.limit == 2


@pytest.mark.parametrize(
    ("path", "begin", "end", "says"),
    [
        ("flows.near.tcp.mss", None, None, "add --from and --to"),
        ("flows.near.tcp.mss", "1460 B", None, "add --to"),
        ("flows.near.tcp.mss", "1460 B", "1460 B", "are both 1460 B"),
        ("stations", 0, 10, "whole numbers of 2 or more"),
        ("stations", "5 s", 10, "whole numbers of 2 or more"),
        ("stations.far.count", 5, 5, "are both 5"),
        ("stations.far", None, None, "is a group of stations; use stations.far.count"),
        ("flows.near.tcp.variant", "reno", "sack", "'reno' is not a number"),
        ("ap.queue.limit", 10, True, "is"),
        ("flows.near.tcp.msss", None, None, r"flows\.near\.tcp\.mss"),
    ],
)
def test_an_axis_that_is_none_is_refused(scenario, path, begin, end, says):
    with pytest.raises((QuestionError, ScenarioError), match=says):
        axis_of(scenario, path, begin, end)


# The search.


@pytest.mark.slow
def test_a_plan_agrees_with_a_sweep(scenario: Scenario) -> None:
    """The sweep has another seed and 40 replications at each of 13 values: precise to 1 or 2
    stations.

    The interval misses the truth once in twenty; the seed is fixed. The value may be off by the
    noise of both: half the interval, plus one."""
    found = carried(scenario, until="p90 transfer_time > 1 s")
    axis, numbers = axis_of(scenario, "stations"), range(16, 34)
    each = [airtcp.simulate(axis.at(axis.nearest(n)), replications=40, seed=99) for n in numbers]
    times_s = [one.metrics["transfer_time_p90_s"].mean for one in each]
    swept = max(n for n, time_s in zip(numbers, times_s, strict=True) if time_s <= 1.0)

    low, value, high = ends(found)
    assert low <= swept <= high
    assert swept < numbers[-1]
    assert abs(value - swept) <= 1 + (high - low) / 2
    # A sweep of as many values would have taken four times the runs.
    assert found.runs < 13 * 10


@pytest.mark.parametrize("seed", [1, 2, 7])
def test_the_end_of_a_mix_is_where_its_next_far_station_comes_in(scenario, seed):
    """The 19th station is the fifth at 2 Mb/s. Over 400 replications each, the p90 is 0.88 s with
    18 stations and 1.10 s with 19. A smooth curve crosses 1 s at 19 with these seeds.

    A replication varies by about 0.15 s, so the mean of ten is on the wrong side once in a hundred.
    """
    until = "p90 transfer_time > 1 s"
    found = carried(scenario, until=until, seed=seed)

    low, value, high = ends(found)
    assert value == 18
    assert low <= 18 <= high
    seen = {one.value: one.metrics["p90 transfer_time < 1 s"] for one in found.evidence}
    assert seen[18].mean < 1.0 < seen[19].mean


def test_of_several_conditions_the_first_to_hold_decides_on_any_number_of_threads(scenario):
    short = scenario.vary({"run.duration": "10 s", "run.replications": 5})
    both = ["transfer_time > 600 ms", "near flow_goodput < 1 kb/s"]
    one, two = (carried(short, until=both, threads=threads) for threads in (1, 3))
    assert (one.answer, one.evidence) == (two.answer, two.evidence)
    assert abs(one.answer.value - carried(short, until=both[0]).answer.value) <= 2


@pytest.mark.parametrize(
    ("until", "says"),
    [
        ("goodput < 1 kb/s", "is never met, not even at 40 stations"),
        ("transfer_time < 1 h", "is already met at 2 stations"),
        ("middle goodput < 1 kb/s", '"middle" is no group; allowed: near, far'),
        ("far/upload goodput < 1 kb/s", "far has no upload; allowed: download"),
        ("packet > 3 s", "is not a metric"),
        ("packet_delay > 3 s", "cannot exist: there are no datagrams; allowed: goodput"),
    ],
)
def test_a_question_without_an_answer_is_an_error(until, says, scenario):
    with pytest.raises(airtcp.AirtcpError) as caught:
        carried(scenario.vary({"run.duration": "3 s"}), until, end=40)
    assert says in str(caught.value)


def test_an_error_after_simulations_is_one_line_with_status_2() -> None:
    asked = ["--until", "transfer_time < 1 h", "--set", "run.duration=3 s"]
    result = command("plan", "-", "--no-remedies", *asked, stdin=PAGES)
    assert (result.exit_code, result.stdout, result.stderr.count("\n")) == (2, "", 1)


def test_what_the_command_prints(tmp_path: Path) -> None:
    until = "p90 transfer_time > 1 s"
    asked = ["plan", "-", "--no-remedies", "--until", until, "--set", "run.duration=10 s"]
    asked += ["--replications", "5"]

    shown = command(*asked, "--out", tmp_path / "out", stdin=PAGES)
    told = json.loads(command(*asked, "--json", stdin=PAGES).stdout)

    answer, limit = told["answer"], told["limits"][0]
    assert str(answer["value"]) in shown.stdout
    assert (told["until"], answer["vary"]) == ([until], "stations")
    assert limit["target"] == "p90 transfer_time < 1 s"
    assert limit["at"] > answer["value"]
    written = {path.name for path in (tmp_path / "out").iterdir()}
    assert written >= {"plan.png", "plan.svg", "report.html", "results.json"}


@pytest.mark.usefixtures("interruptible")
def test_ctrl_c_keeps_what_is_known(scenario: Scenario) -> None:
    """The signal comes when the third round begins: two rounds have bracketed the answer."""
    rounds = []

    def tell(words: str) -> None:
        rounds.append(words)
        if len(rounds) == 3:
            signal.raise_signal(signal.SIGINT)

    found = carried(scenario, until="p90 transfer_time > 1 s", tell=tell, begin=2, end=400)

    assert (found.stopped, len(rounds)) == ("interrupted", 3)
    assert found.runs >= 4
    assert found.answer is not None


def test_runs_around_the_end_grow_until_it_is_known(scenario: Scenario) -> None:
    brief = scenario.vary({"run.duration": "500 ms", "run.replications": 2})
    answer = carried(brief, "p90 transfer_time > 2 s").answer
    # Runs of 2.5 times half a second leave 15 to 63; the file's own runs of 30 s give 30.
    assert answer.high <= 1.3 * answer.low
    assert answer.low <= 30 <= answer.high


TINY_QUEUE = """
phy = { standard = "802.11n" }
ap = { queue = { limit = 4 } }
stations = [{ name = "lab", count = 4 }]
targets = { "lab flow_goodput" = "> 5 Mb/s" }
run = { warmup = "1 s", duration = "4 s", replications = 2 }
[[flows]]
stations = "lab"
direction = "download"
application = { kind = "bulk" }
path = [{ delay = "20 ms" }]
"""


def test_changes_compete_where_no_number_meets_a_target() -> None:
    plan = airtcp.plan(airtcp.load(TINY_QUEUE), remedies=["queue-100", "delayed-ack"])
    # Four packets of 1,500 bytes in 40 ms are 1.2 Mb/s with any number of stations.
    assert (plan.answer, plan.never) == (None, ("lab flow_goodput > 5 Mb/s",))
    gains = {one.name: one for one in plan.remedies}
    best = gains["queue-100"]
    # A PHY rate of 65 Mb/s gives about 50 Mb/s of goodput, 5 Mb/s for each of ten stations.
    assert best.verdict == "gains"
    assert 8 <= best.answer.value <= 11
    assert "delayed-ack" not in gains or gains["delayed-ack"].verdict == "none"
    # Of nine changes tried, only the one that gains has a row.
    shown = parts(replace(plan, remedies=[best, replace(best, verdict="loses")], tried=9))
    tables = [one for one in shown if isinstance(one, Table)]
    (table,) = (one for one in tables if one.columns[0].head == "change")
    assert [row[0] for row in table.rows] == [best.title]
    assert table.foot[0][0].startswith("8 ")


LINUX = 'tcp = { preset = "linux" }, path = [{ delay = "8 ms" }]'
WEB = '{ kind = "web", request = "600 B", size = "250 kB", think_time = "3 s" }'
OLD_READERS = f"""
phy = {{ standard = "802.11ax", channel_width = "40 MHz", mcs = 7 }}
ap = {{ queue = {{ limit = 800 }} }}
stations = [
  {{ name = "reader", count = 4 }},
  {{ name = "old", count = 2, standard = "802.11n", mcs = 2 }},
]
flows = [
  {{ stations = "reader", direction = "download", application = {WEB}, {LINUX} }},
  {{ stations = "old", direction = "download", application = {BULK}, {LINUX} }},
]
targets = {{ "reader p90 transfer_time" = "< 500 ms", "old flow_goodput" = "> 2 Mb/s" }}
run = {{ warmup = "2 s", duration = "10 s", replications = 2 }}
"""


@pytest.mark.parametrize("until", [(), ("reader p90 transfer_time > 500 ms",)])
def test_a_change_counts_by_the_targets_that_no_number_meets_without_it(until):
    plan = airtcp.plan(airtcp.load(OLD_READERS), until=until, remedies=["airtime", "wider-channel"])

    # One old download keeps 800 packets of 1,500 bytes in the queue: 600 ms at 16 Mb/s.
    assert plan.never == ("reader p90 transfer_time < 500 ms",)
    # The other target alone can be met; if `until` names the missed one, no number meets it.
    assert (plan.answer is None) == bool(until)
    best = plan.best
    assert (best.name, best.never, best.verdict) == ("airtime", (), "gains")
    assert best.answer.value > 2
    assert all(len(one.never) >= len(best.never) for one in plan.remedies)


def test_a_change_that_costs_somebody_half_is_listed_and_not_recommended() -> None:
    plan = airtcp.plan(
        example("mixed-clients"),
        vary="stations.old.count",
        until="laptop flow_goodput < 20 Mb/s",
        remedies=["airtime", "per-flow"],
    )
    airtime = next(one for one in plan.remedies if one.name == "airtime")

    # On its own the laptop gets 320 Mb/s, so its share among n + 4 stations is 20 Mb/s at n = 12.
    assert airtime.verdict == "costs others"
    assert 9 <= airtime.answer.value <= 14
    assert plan.best.name == "per-flow"


def test_the_range_of_a_radio_is_a_cliff() -> None:
    walker = {"name": "walker", "count": 1, "traffic": ["call"], "distance": "10 m"}
    phy = {"standard": "802.11ax", "channel_width": "20 MHz"}
    call = airtcp.load({"phy": phy, "stations": [walker], "run": {"duration": "4 s"}})
    path = "stations.walker.distance"
    plan = airtcp.plan(call, vary=path, begin="30 m", end="50 m", remedies=False)

    # Beyond the range no packet has a delay, so no curve crosses the bound.
    low, value, high = ends(plan)
    assert low <= value <= high <= low + 1.0
    seen = [each for one in plan.evidence for each in one.metrics.items()]
    assert max(each.mean or 0.0 for text, each in seen if "packet_delay" in text) < 1.0
