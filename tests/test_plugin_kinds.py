"""ACK policies, queue disciplines and schedulers written in Python: bits, laws, and messages.

`test_plugins` tests what all kinds of plug-ins share: files, hashes, workers, Ctrl-C.
"""

import json
import re
from pathlib import Path

import airtcp
import pytest
from airtcp import _core
from airtcp.scenario import Scenario, loads
from test_plugins import COMPUTES, NUMBERS, assert_fails, outcomes, registered

PLUGINS = Path(__file__).parents[1] / "docs" / "plugins"
DOWNLOADS = """
phy = {{ standard = "{standard}" }}
run = {{ warmup = "500 ms", duration = "{duration}", replications = 2 }}
[ap]
{ap}
[[stations]]
name = "near"
count = 2
[[stations]]
name = "far"
count = 2
frame_errors = "20 %"
{far}
[[flows]]
name = "down"
stations = "near"
direction = "download"
application = {{ kind = "bulk" }}
tcp = {{ receive_window = "64 KiB", delayed_ack = {{ {acks} }} }}
path = [{{ delay = "10 ms", rate = "30 Mb/s", queue = {{ {link} }} }}]
[[flows]]
name = "far"
stations = "far"
direction = "download"
application = {{ kind = "bulk" }}
tcp = {{ receive_window = "64 KiB", delayed_ack = {{ {acks} }} }}
"""
TEXT = (
    DOWNLOADS
    + """
[[flows]]
name = "up"
stations = "near"
direction = "upload"
tcp = {{ variant = "sack", receive_window = "64 KiB", delayed_ack = {{ {acks} }} }}
application = {{ kind = "web", size = {{ distribution = "exponential", mean = "300 kB" }}, \
think_time = {{ distribution = "exponential", mean = "100 ms" }} }}
"""
)
PLAIN = {
    "standard": "802.11g",
    "ap": 'queue = { discipline = "fifo", limit = 25 }',
    "link": "limit = 30",
    "acks": "every = 2",
    "far": 'data_rate = "6 Mb/s"',
    "duration": "4 s",
}


def scenario(**changed: str) -> Scenario:
    """Return the scenario with these words in its template."""
    return loads(TEXT.format(**{**PLAIN, **changed}))


def own_of_each_kind(tmp_path: Path) -> list[str]:
    """Register an ACK policy, a queue discipline and a scheduler, and return their names."""
    bases = {"kind-acks": "acks.Delayed", "kind-queue": "queues.Fifo"}
    bases["own-turns"] = "schedulers.RoundRobin"
    return [registered(tmp_path, name, "", base) for name, base in bases.items()]


NEW = {"standard": "802.11be", "far": "mcs = 0"}
LINKS = 'links = ["5 GHz/80 MHz", "6 GHz/160 MHz"]'
AGGREGATED = {"standard": "802.11n", "far": "mcs = 0"}
#: A full queue asks the discipline before the ACK filter, except in the core's FIFO.
FILTERED = 'queue = {{ discipline = "{}", limit = 2000, ack_filter = true }}'


#: Without a filter the core computes the departures of a FIFO queue before a link.
LINK = "limit = 30, ack_filter = true"
FULL = 'queue = {{ discipline = "{}", limit = 25 }}'


@pytest.mark.parametrize(("base", "core", "ours"), [
    ("acks.Delayed", {}, {"acks": 'policy = "{}"'}),
    ("acks.Delayed", AGGREGATED, {"acks": 'policy = "{}"'}),
    ("queues.Fifo", {}, {"ap": FULL}),
    ("queues.Fifo", {"ap": FILTERED.format("fifo")}, {"ap": FILTERED}),
    ("queues.Fifo", AGGREGATED, {"ap": FULL}),
    ("queues.Fifo", {"link": LINK}, {"link": LINK + ', discipline = "{}"'}),
    ("schedulers.RoundRobin", {**AGGREGATED, "ap": 'scheduler = "round-robin"'},
     {"ap": 'scheduler = "{}"'}),
])  # fmt: skip
def test_a_twin_in_python_gives_the_bits_of_the_core_on_one_thread_and_on_two(
    tmp_path: Path, base: str, core: dict[str, str], ours: dict[str, str]
) -> None:
    word = registered(tmp_path, "twin", "", base)
    twin = scenario(**{**core, **{key: text.format(word) for key, text in ours.items()}})
    expected = outcomes(scenario(**core), 1)

    assert outcomes(twin, 1) == expected
    assert outcomes(twin, 2) == expected


def test_the_resolved_form_names_the_code_of_each_kind(tmp_path: Path) -> None:
    acks, queue, turns = own_of_each_kind(tmp_path)
    one = scenario(**AGGREGATED, ap=f'scheduler = "{turns}"', acks=f'policy = "{acks}"')
    other = scenario(ap=f'queue = {{ discipline = "{queue}" }}')
    resolved = json.loads(one.to_json())
    policy = resolved["flows"][0]["tcp"]["delayed_ack"]["policy"]
    names = [policy, resolved["ap"]["scheduler"]["name"], other.to_dict()["ap"]["queue"]["name"]]
    for name, word in zip(names, (acks, turns, queue), strict=True):
        assert re.fullmatch(f"{word}@[0-9a-f]{{12}}", name)
    # A file with the hash in the name accepts only this code.
    by_name, by_word = (
        scenario(**AGGREGATED, acks=f'policy = "{one}"').flows[0].tcp for one in (policy, acks)
    )
    assert by_name == by_word


DELAY, NEXT, CHOOSE = (
    f"def {head}):\n    return "
    for head in ("delay_ns(self, arrival", "next(self, receiver", "choose(self, candidates")
)
#: By the first method of a class: its base class, and a scenario that calls the method.
ASKED = {
    DELAY: ("acks.Delayed", {"acks": 'policy = "{}"'}),
    NEXT: ("queues.Fifo", {"ap": FULL}),
    CHOOSE: ("schedulers.RoundRobin", {**AGGREGATED, "ap": 'scheduler = "{}"'}),
}


@pytest.mark.parametrize(("head", "rest", "told"), [
    (DELAY, "-1", "delay_ns = -1: an ACK leaves at once at the earliest"),
    (DELAY, "0.5", "allowed: a whole number of nanoseconds"),
    (DELAY, "arrival.port", "line 6, delay_ns: AttributeError"),
    (NEXT, "None", "next: packets wait, and none goes"),
    (NEXT, "getattr(self, 'gone', super().next(receiver))\n"
           "def on_departure(self, packet, now_ns):\n    self.gone = packet",
     "does not wait in this queue"),
    (NEXT, "7", "next = 7: allowed: a packet, or None"),
    (NEXT, "super().next(receiver)\ndef on_arrival(self, packet, now_ns, is_full):\n"
           "    self.packets[packet.id] = packet",
     "the queue is full (`limit`), and nothing is dropped"),
    (NEXT, "super().next(receiver)\ndef on_departure(self, packet, now_ns):\n"
           "    super().on_departure(packet, now_ns)\n    return 'lost'",
     'on_departure = lost: allowed: None, "mark" or "drop"'),
    (CHOOSE, "3", "choose = 3: allowed: one of the candidates"),
    (CHOOSE, "vars(self).setdefault('kept', candidates[0])", "choose: nothing waits for receiver"),
    (CHOOSE, "super().choose(candidates)\ndef on_airtime(self, receiver, airtime_ns):\n"
             "    " + COMPUTES,
     "on_airtime took 1.1 s of CPU time; allowed: a second"),
])  # fmt: skip
def test_an_answer_against_a_law_ends_the_run(
    tmp_path: Path, head: str, rest: str, told: str
) -> None:
    base, asked = ASKED[head]
    word = registered(tmp_path, f"wrong-{next(NUMBERS)}", head + rest, base)
    changed = {key: text.format(word) for key, text in asked.items()}
    assert_fails(scenario(**changed), 1, word, told)


OWN = 'queue = {{ discipline = "kind-queue"{} }}'


@pytest.mark.parametrize(("changed", "told"), [
    ({"acks": 'policy = "nobody"'}, 'delayed_ack.policy: "nobody" is unknown; allowed: '),
    ({"acks": 'policy = "kind-acks", every = 2'}, "policy: cannot be combined with every"),
    ({"acks": 'policy = "kind-acks", adaptive = true'}, "policy: cannot be combined with adaptive"),
    ({"ap": 'scheduler = "nobody"', **AGGREGATED}, 'scheduler: "nobody" is unknown'),
    ({"ap": 'scheduler = "own-turns"'}, "in 802.11g an access serves one packet"),
    ({"ap": 'scheduler = "own-turns"\n' + OWN.format(""), **AGGREGATED},
     "it chooses packets itself, whatever their station"),
    ({"ap": 'queue = { discipline = "nobody" }'}, 'discipline: "nobody" is unknown'),
    ({"ap": OWN.format("") + "\n[mac.ofdma]", **NEW},
     '"kind-queue" leaves mac.ofdma no choice of stations; allowed: "fifo"'),
    ({"ap": OWN.format("") + "\n" + LINKS, **NEW},
     '"kind-queue" leaves no choice of the stations that a link serves; allowed: "fifo"'),
    ({"ap": OWN.format(", ecn = true")}, 'has no effect: "kind-queue" never marks packets'),
])  # fmt: skip
def test_a_file_that_cannot_be_meant_is_told(
    tmp_path: Path, changed: dict[str, str], told: str
) -> None:
    own_of_each_kind(tmp_path)
    with pytest.raises(airtcp.ScenarioError) as wrong:
        scenario(**changed)
    assert told in str(wrong.value)


@pytest.mark.parametrize(
    "base", [airtcp.congestion.Reno, airtcp.queues.Fifo, airtcp.schedulers.RoundRobin]
)
def test_the_init_of_a_class_need_not_call_that_of_its_base(base: type[object]) -> None:
    """A counting class sets only its own counter in `__init__`."""

    class Counting(base):  # type: ignore[misc, valid-type]
        def __init__(self) -> None:
            self.count = 0

    assert {**vars(base()), "count": 0} == vars(Counting())
    for name in ("_fraction", "_last", "packets"):
        assert hasattr(base(), name) is hasattr(Counting(), name)


def test_no_model_is_said_to_know_a_scheduler_of_ones_own(tmp_path: Path) -> None:
    word = own_of_each_kind(tmp_path)[2]
    said = airtcp.predict(scenario(**AGGREGATED, ap=f'scheduler = "{word}"'))

    assert not said.model
    assert said.glance is not None


ROOM = "queue = { limit = 2000 }\n"


def test_proportional_fairness_is_fairness_of_airtime_where_rates_stay() -> None:
    """Viswanath et al.; deficit round robin in airtime is the witness.

    All stations must always have packets queued, because an idle station's deficit is forgotten.
    """
    airtcp.plugins.load(PLUGINS / "proportional_fair.py")
    text = re.sub("path = .*", "", DOWNLOADS).replace("64 KiB", "256 KiB")
    goodput = {}
    for name in ("proportional-fair", "airtime", "oldest"):
        turns = {"ap": f'{ROOM}scheduler = "{name}"', "duration": "10 s"}
        one = loads(text.format(**{**PLAIN, **AGGREGATED, **turns}))
        flows = airtcp.simulate(one, threads=1).simulation.flows
        goodput[name] = sum(one.goodput_bps for one in flows if one.name.startswith("far"))

    assert goodput["proportional-fair"] == pytest.approx(goodput["airtime"], rel=0.05)
    assert abs(goodput["oldest"] / goodput["airtime"] - 1) > 0.2


def test_acks_by_time_are_at_most_one_in_five_milliseconds() -> None:
    """Nothing is lost here, so only the policy triggers ACKs."""
    airtcp.plugins.load(PLUGINS / "by_time.py")
    changed = {"far": "", "ap": ROOM, "acks": 'policy = "by-time"', "link": "limit = 2000"}
    one = loads(DOWNLOADS.replace('frame_errors = "20 %"', "").format(**{**PLAIN, **changed}))
    outcome = json.loads(_core.Simulation(one.to_json()).run(1, 0, _core.RunControl())[0])
    counts = outcome["counts"]
    data = outcome["metrics"]["goodput_bps"] * 4 / (8 * 1460)
    acks = counts["mac_exchanges"] - data

    assert counts["mac_drops"] == counts["ap_queue_drops"] == counts["tcp_retransmissions"] == 0
    # Four connections, 4 s. Without aggregation each segment and each ACK is one exchange.
    assert 0.8 * 4 * 800 < acks <= 4 * 801 + 4


def test_flows_that_have_sent_least_pass_those_that_have_sent_most() -> None:
    """Short pages overtake long downloads."""
    airtcp.plugins.load(PLUGINS / "least_sent.py")
    times = {}
    for name in ("fifo", "least-sent"):
        queue = {"ap": f'queue = {{ discipline = "{name}", limit = 60 }}'}
        text = TEXT.format(**PLAIN | queue | {"far": "", "duration": "20 s"})
        text = text.replace("300 kB", "60 kB").replace('frame_errors = "20 %"', "")
        one = loads(text.replace('direction = "upload"', 'direction = "download"'))
        result = airtcp.simulate(one, threads=1)
        times[name] = result.simulation.metrics["transfer_time_s"].mean

    assert times["least-sent"] < 0.8 * times["fifo"], times
