"""Paired differences of two scenarios: their arithmetic, their ranking, and how they are shown."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import airtcp
import pytest
from airtcp.document import Table
from airtcp.estimates.steadiness import Steadiness
from airtcp.messages import diff as messages
from airtcp.present import difference as present
from airtcp.results import Replication, Simulation
from airtcp.results.differences import Change, Difference, Ranked
from airtcp.stats import Interval
from commands import call
from wing import with_papers

SCENARIO = """
title = "Near and far"
phy = { standard = "802.11b" }
stations = [{ name = "near", count = 2 }, { name = "far", count = 3, data_rate = "2 Mb/s" }]
run = { warmup = "1 s", duration = "10 s", replications = 5 }
[[flows]]
stations = "near"
direction = "download"
application = { kind = "web", size = "30 kB", think_time = "0.5 s" }
[[flows]]
name = "photos"
stations = "far"
direction = "upload"
start_spread = "0 s"
application = { kind = "bulk" }
"""
ONE_OF_POWERS = """
phy = { standard = "802.11a", data_rate = "6 Mb/s" }
cells = { hall = { position = [0, 0] } }
air = { path_loss = {} }
stations = [{ name = "guest", count = 1, positions = [[0, FAR]] }]
flows = [{ stations = "guest", direction = "download", application = { kind = "bulk" } }]
run = { warmup = "100 ms", duration = "200 ms" }
"""
#: Overrides that turn the scenario into a short run of an 802.11n cell.
PLAIN = {
    "stations": [{"name": "near", "count": 1}, {"name": "far", "count": 1}],
    "run": {"warmup": "10 ms", "duration": "50 ms", "replications": 2},
}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "s.toml"
    path.write_text(SCENARIO)
    return path


@pytest.fixture(scope="module")
def fewer() -> Difference:
    """Compare the scenario with one that has one far upload fewer."""
    a = airtcp.load(SCENARIO)
    return airtcp.diff(a, a.vary({"stations.far.count": 2}))


def test_what_differs_in_nothing_has_differences_of_exactly_zero() -> None:
    scenario = airtcp.load(SCENARIO)

    same = airtcp.diff(scenario, scenario)

    assert same.changed == {}
    for one in same.ranked():
        assert one.change.difference == Interval(0.0, 0.0, 0.0, one.change.difference.n)
        assert one.verdict == "not separated"
    assert {one.metric for one in same.ranked()} >= {"goodput_bps", "transfer_time_s"}
    assert messages.separated(same) == []


def test_differences_of_estimates_are_those_of_their_values(fewer: Difference) -> None:
    """Goodput's estimator is not the plain mean: its values are paired by replication."""
    a, b = (one.simulation.estimates["goodput_bps"] for one in (fewer.a, fewer.b))
    change = fewer.metrics["goodput_bps"]

    assert a.estimator == b.estimator != "plain"
    moved = [y - x for x, y in zip(a.values, b.values, strict=True)]
    assert change.difference.mean == pytest.approx(sum(moved) / 5)
    assert (change.a, change.b) == (a.interval, b.interval)


def test_runs_that_are_too_short_give_no_sign() -> None:
    """However narrow the interval is; the change has a reason and a sufficient duration."""
    sure = Interval(1.0, 0.9, 1.1, 5)
    known = Change(sure, sure, sure)
    early = replace(known, early=Steadiness("unsteady", "the queue grows", simulate_s=3600.0))

    assert (known.separated, early.separated) == (True, False)
    assert Ranked("transfer_time_s", None, None, early).verdict == "cannot tell yet"
    assert early.to_dict() == known.to_dict() | {"unsteady": "the queue grows; simulate 60 min"}


@pytest.mark.parametrize(
    ("metric", "a", "b", "by", "verdict", "noticed"),
    [
        # A change below .1 % counts as none. Users notice 2 %.
        ("goodput_bps", 1e6, 0.9991e6, -900.0, "hardly different", False),
        ("goodput_bps", 1e6, 0.9989e6, -1100.0, "worse", False),
        ("goodput_bps", 1e6, 1.019e6, 19e3, "better", False),
        ("goodput_bps", 1e6, 1.021e6, 21e3, "better", True),
        ("active_flows", 1.0, 2.0, 1.0, "different", False),
        # A has only a lower bound, .1 s, which replaces its mean.
        ("packet_delay_p95_s", None, 0.05, -0.0021, "better", True),
        ("packet_delay_p95_s", None, 0.05, -0.0019, "better", False),
        ("packet_delay_p95_s", None, None, -0.0021, "better", False),
    ],
)
def test_a_change_counts_by_its_part_of_what_was(metric, a, b, by, verdict, noticed):
    old, new = Interval(a, 0.1, None, 8), Interval(b, None, None, 8)
    change = Change(old, new, Interval(by, by - abs(by) / 2, by + abs(by) / 2, 8))
    one = Ranked(metric, "caller", "download", change)

    assert (one.verdict, one.is_noticed) == (verdict, noticed)
    unnoticed = verdict in ("better", "worse") and not noticed
    assert one.noticed_verdict == ("different" if unnoticed else verdict)


def test_a_reason_is_told_once_with_the_longest_time_that_is_wanted() -> None:
    grows = [Steadiness("unsteady", "it grows", simulate_s=seconds) for seconds in (60.0, 90.0)]
    rises = Steadiness("unsteady", "so does that")

    told = present._reasons([*grows, rises, grows[0]])

    assert told == "it grows; simulate 90 s; so does that"


def test_pairs_cancel_what_chance_does_to_both() -> None:
    """The cell is not saturated: its offered load does not depend on the ACK rate."""
    a = airtcp.load(SCENARIO).vary({"stations.far.count": 1, "run.replications": 10})
    b = a.vary({"flows.near.tcp.delayed_ack.every": 1})
    change = airtcp.diff(a, b).groups["near"]["download"]["transfer_time_s"]

    paired, one, other = (i.half_width for i in (change.difference, change.a, change.b))
    # Independent samples would add in quadrature.
    assert 2 * paired < (one**2 + other**2) ** 0.5


def test_changes_that_users_feel_come_first_and_of_these_the_largest(fewer: Difference) -> None:
    ranked = fewer.ranked()
    separated = [one for one in ranked if one.change.separated]

    assert ranked[: len(separated)] == separated
    felt = [one for one in separated if one.is_felt]
    assert separated[: len(felt)] == felt
    details = [abs(one.relative or 0.0) for one in separated[len(felt) :]]
    assert details == sorted(details, reverse=True)
    goodputs = ("flow_goodput_bps", "goodput_bps")
    sizes = [abs(one.relative or 0.0) for one in felt if one.metric in goodputs]
    assert sizes == sorted(sizes, reverse=True)
    by_name = {(one.metric, one.group, one.part): one for one in ranked}
    assert by_name["flow_goodput_bps", "far", "all"].verdict == "better"
    # The far group only uploads, so its upload row would repeat the row of all directions.
    assert ("flow_goodput_bps", "far", "upload") not in by_name


@pytest.mark.parametrize(
    ("metric", "a", "b", "relative", "text"),
    [
        ("mpdu_error_ratio", 0.0003, 0.0033, None, ""),
        ("mpdu_error_ratio", 0.03, 0.33, 10.0, "11.0×"),
        ("packet_delay_s", 200e-6, 900e-6, None, ""),
        ("transfer_time_s", 2.0, 1.0, -0.5, "−50 %"),
        ("goodput_bps", 5e3, 50e3, None, ""),
        ("goodput_bps", 5e6, 6e6, 0.2, "+20 %"),
        ("tcp_timeouts", 0.0, 2.0, None, ""),
    ],
)
def test_a_multiple_of_next_to_nothing_is_not_told(metric, a, b, relative, text):
    """0.03 % growing to 0.33 % is eleven times as much, but both are negligible."""
    old, new, moved = (Interval(mean, mean, mean, 5) for mean in (a, b, b - a))
    one = Ranked(metric, None, None, Change(old, new, moved))

    assert one.relative == (None if relative is None else pytest.approx(relative))
    assert messages.relative_text(one.relative) == text


def test_a_mean_that_is_not_known_has_a_bound_and_no_relative_change() -> None:
    old, new = Interval(0.133, 0.12, 0.14, 5), Interval(None, 0.151, None, 5)
    one = Ranked(
        "packet_delay_p95_s", None, None, Change(old, new, Interval(-0.068, -0.07, -0.06, 5))
    )
    table = messages.rows([one])

    assert one.relative is None
    assert table.rows[0][1:] == ("133 ms → ≥ 151 ms", "−68.0 ± 5.0 ms", "")


def shown(found: Difference) -> list[Table]:
    return [one for one in messages.parts(found, []) if isinstance(one, Table)]


def test_rows_of_what_users_feel_have_the_state_of_their_verdict(fewer: Difference) -> None:
    """Fewer stations at the low rate leave more airtime to all: nobody is worse off."""
    (better,), (worse,) = shown(fewer), shown(Difference(fewer.b, fewer.a))

    assert set(better.states) == {"good"}
    assert set(worse.states) == {"bad"}
    assert shown(airtcp.diff(fewer.a.scenario, fewer.a.scenario)) == []


def test_what_nobody_notices_is_neither_better_nor_worse() -> None:
    """Transfers 1.5 % shorter and half as many drops are too small for users to notice."""
    times_s, drops = (1.0, 1.001, 1.002), "ap_queue_drop_probability"
    old = of_samples(*times_s, **{drops: 0.1})
    new = of_samples(*(time - 0.015 for time in times_s), **{drops: 0.0501})
    found = Difference(old, new)
    *_, headline = [text for text, _ in messages.decision(found)]
    tables = [one for one in messages.parts(found, [], everything=True) if isinstance(one, Table)]

    assert headline.endswith("none is 2 % or more.")
    assert [[row[0][0] for row in one.rows] for one in tables] == [["·"], ["·"]]
    assert not any(state for one in tables for state in one.states)
    assert shown(found) == []


def of_samples(*values: float | None, **others: float) -> airtcp.results.SimulationResult:
    """Return replications with these transfer times."""
    result = airtcp.simulate(airtcp.load(SCENARIO), replications=len(values), threads=1)
    runs = []
    for run, value in zip(result.simulation.runs, values, strict=True):
        metrics = {"goodput_bps": 1.0, "transfer_time_s": value} | others
        runs.append(Replication(run.index, run.answer | {"metrics": metrics}, run.transfer_times_s))
    told: Any = {"confidence": 0.95, "simulated_s": 1.0, "wall_s": 1.0, "cpu_s": 1.0}
    simulation = Simulation.gather(runs, stopped="replications", **told)
    return airtcp.results.SimulationResult(result.scenario, result.provenance, simulation)


def test_only_pairs_that_both_have_a_value_count() -> None:
    found = Difference(of_samples(1.0, None, 3.0), of_samples(1.5, 2.0, 4.0))

    change = found.metrics["transfer_time_s"]

    # 0.75 +- 12.706 s / sqrt(2), with s = 0.25 sqrt(2).
    assert (change.difference.n, change.difference.mean) == (2, 0.75)
    assert change.difference.high == pytest.approx(0.75 + 12.7062 * 0.25, rel=1e-4)
    assert (change.a.n, change.b.n) == (2, 3)


def test_the_json_is_that_of_the_library(file: Path, fewer: Difference) -> None:
    answer = json.loads(call("diff", file, "--set", "stations.far.count=2", "--json").stdout)
    assert answer == fewer.to_dict()
    about_pairs = {"replications", "precision", "stopped", "confidence"}
    assert set(answer) == {"a", "b", "metrics", "groups", *about_pairs}
    assert set(answer["metrics"]["ap_queue_packets"]) == {"a", "b", "difference"}
    assert answer["b"]["scenario"]["stations"][1]["count"] == 2


def test_two_files_are_compared(file: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.toml"
    other.write_text(SCENARIO.replace("count = 3", "count = 2").replace("Near", "Nearer"))
    result = call("diff", file, other, "--replications", 2, "--out", tmp_path / "out")
    assert result.exit_code == 0
    assert "stations.far.count: 3 → 2" in result.stdout
    names = {path.name for path in (tmp_path / "out").iterdir()}
    assert names == {"report.html", "results.json", "difference.svg", "difference.png"}
    page = (tmp_path / "out" / "report.html").read_text()
    assert "stations.far.count" in page
    assert "<svg" in page
    # One pair gives no confidence interval, and the screen suggests --replications.
    alone = call("diff", file, other, "--replications", 1).stdout
    assert "--replications" in alone
    assert "✓" not in alone


WIDTHS = [{"standard": "802.11n", "channel_width": f"{width} MHz", "mcs": 7} for width in (20, 40)]


@pytest.mark.parametrize(
    ("text", "a", "b", "told"),
    [
        (SCENARIO, {}, {"flows.near.tcp.mss": "500 B"}, "tcp.mss: 1.46 kB → 500 B"),
        (SCENARIO, {}, {"run.duration": "2 s"}, "run.duration: 10 s → 2 s"),
        (SCENARIO, {}, {"ap.queue.limit": 7}, "ap.queue.limit: – → 7"),
        # A key that changes at all access points is printed once.
        (ONE_OF_POWERS.replace("FAR", "10"), {}, {"ap.queue.limit": 7}, "ap.queue.limit: – → 7"),
        # A wider channel also changes the data rate.
        *(
            (SCENARIO, PLAIN | {"phy": WIDTHS[0]}, {"phy": WIDTHS[1]}, said)
            for said in (
                "phy.channel_width: 20 MHz → 40 MHz",
                "phy.data_rate: 72.222222 Mb/s → 150 Mb/s",
            )
        ),
    ],
)
def test_changed_keys_are_told_once_with_their_units(text, a, b, told):
    scenario = airtcp.load(text).vary(a)
    said = present.subject(airtcp.diff(scenario, scenario.vary(b), replications=2))
    assert " ".join(said).count(told) == 1
    assert not any(line.startswith("cells.") for line in said)


def test_of_moved_nodes_the_powers_that_differ_are_counted() -> None:
    """Doubling the distance to 20 m costs 10.5 dB (exponent 3.5) in both directions of one pair."""
    near, far = (airtcp.load(ONE_OF_POWERS.replace("FAR", one)) for one in ("10", "20"))
    difference = airtcp.diff(near, far, replications=2)

    assert any("2 of 4 differ" in one and "10.5 dB" in one for one in present.subject(difference))


@with_papers
def test_standard_input_is_read_once(file: Path) -> None:
    twice = call("diff", "-", "-", stdin=SCENARIO)
    copies = ["split", "-", "--copies", "2", "--transfers", "1000", "--replications", "2"]
    once = call(*copies, stdin=SCENARIO)
    assert twice.exit_code == 2
    said = " ".join(twice.stderr.split())
    assert "- is given twice" in said
    # Both networks come from one read of standard input, so neither is empty.
    assert "is missing" not in once.stderr


def _widths(found: Difference) -> list[float]:
    changes = [found.metrics[name] for name in ("goodput_bps", "transfer_time_s")]
    return [(one.difference.half_width or 0.0) / (one.a.mean or 1.0) for one in changes]


def test_precision_is_that_of_paired_differences() -> None:
    # Long enough for a steady state: with one upload a transfer takes a second.
    law = '{ distribution = "exponential", mean = "30 kB" }'
    longer = SCENARIO.replace('"10 s"', '"60 s"').replace('"30 kB"', law)
    a = airtcp.load(longer.replace("count = 3", "count = 1"))
    b = a.vary({"stations.near.count": 3})

    found = airtcp.diff(a, b, precision="4 %")

    assert found.stopped == "precision"
    assert max(_widths(found)) <= 0.04
    # The first round has 5 pairs, which do not reach the precision.
    assert found.replications > 5
    assert max(_widths(airtcp.diff(a, b, replications=5))) > 0.04
    # The pairs do not depend on how their number was chosen.
    again = airtcp.diff(a, b, replications=found.replications, threads=1)
    assert again.metrics == found.metrics
    assert found.to_dict()["precision"] == 0.04


def test_a_precision_out_of_reach_stops_at_the_cap_of_a() -> None:
    a = airtcp.load(SCENARIO.replace("replications = 5", 'precision = "1 %", max_replications = 7'))
    found = airtcp.diff(a, a.vary({"stations.near.count": 3}), precision=1e-4)
    assert (found.replications, found.stopped) == (7, "cap")
