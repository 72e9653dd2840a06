"""The target precision of a run, with improved estimates, and precisions out of reach."""

import airtcp
import pytest
from airtcp.estimates import estimate
from airtcp.present.sense import extent
from airtcp.run.precision import beforehand, outlook
from airtcp.run.simulate import simulate
from airtcp.scenario import Scenario, loads
from airtcp.stats import Interval
from bases import said
from commands import call

WEB = """
phy = { standard = "802.11b" }
stations = [{ name = "laptop", count = 5 }]
flows = [{ stations = "laptop", direction = "download", application = { kind = "web", \
size = { LAW, mean = "30 kB" }, think_time = { distribution = "exponential", mean = "5 s" } } }]
run = { warmup = "5 s", duration = "20 s", precision = "5 %", max_replications = 60 }
"""
EXPONENTIAL = WEB.replace("LAW", 'distribution = "exponential"')
PARETO = WEB.replace("LAW", 'distribution = "pareto", shape = 1.5')


@pytest.fixture(scope="module")
def scenario() -> Scenario:
    return airtcp.load(EXPONENTIAL)


def test_a_run_goes_on_until_the_improved_intervals_are_narrow(scenario: Scenario) -> None:
    """It stops then: the plain interval of the transfer time would need more replications."""
    result = airtcp.simulate(scenario)
    assert result.simulation.stopped == "precision"
    told = [
        estimate(result.simulation.runs, result.scenario, name)
        for name in ("goodput_bps", "transfer_time_s")
    ]
    for one in told:
        assert one.interval.relative_half_width <= 0.05
    assert any((one.plain.relative_half_width or 0.0) > 0.05 for one in told)


def test_a_precision_out_of_reach_is_told_with_what_it_takes(scenario: Scenario) -> None:
    """10 runs give +-10 %, so 1 % takes a hundred times as many, 1000; the cap of 60 gives 4.1 %.

    A replication is 25 s: 6 h 56 min.
    """
    wanted = scenario.vary({"run.precision": "1 %"})
    known = [Interval(1.0, 0.9, 1.1, 10), Interval(2.0, 1.99, 2.01, 10)]
    words = outlook(known, wanted, 10)
    assert said(words) == "run.precision.many"
    assert all(part in words for part in (" 1000 ", "6 h 56 min", " 60,", "4.1 %"))
    # Ten runs with 10 % need 10 x (10 / 4.1)^2 = 59 runs for 4.1 %, and 62 for 4 %. The message
    # appears only if all allowed runs were made, more are needed, and there is an interval.
    six = wanted.vary({"run.max_replications": 6})
    assert "about 600 replications" in (outlook(known, six, 6) or "")
    assert outlook(known, wanted, 9) is None
    assert outlook(known, wanted.vary({"run.precision": "4.1 %"}), 10) is None
    assert outlook(known, wanted.vary({"run.precision": "4 %"}), 10) is not None
    assert outlook(known, scenario, 10) is None
    assert outlook([Interval(None, 17.0, None, 10)], wanted, 10) is None


def test_sizes_without_a_variance_are_told_before_anything_runs(scenario: Scenario) -> None:
    heavy = airtcp.load(PARETO)
    words = beforehand(heavy)
    assert said(words) == "run.precision.infinite_variance"
    assert "Allowed: a shape above 2" in words
    assert beforehand(scenario) is None
    assert beforehand(heavy.vary({"flows.laptop.application.size.shape": 2.1})) is None
    assert beforehand(heavy.with_run(replications=3)) is None


def test_the_command_says_both_on_stderr_and_once_each() -> None:
    """2 % is out of reach within 12 short runs of such sizes; stdout has only the JSON.

    With a shape of 1.5 so few transfers would give no mean time, and no such message.
    """
    text = PARETO.replace("shape = 1.5", "shape = 1.9").replace("60 }", "12 }")
    text = text.replace("5 %", "2 %").replace("20 s", "60 s")
    result = call("simulate", "-", "--json", stdin=text)
    assert result.exit_code == 0
    assert result.stdout.startswith("{")
    assert result.stderr.count("has no variance") == 1
    assert result.stderr.count("max_replications is 12") == 1
    quiet = call("simulate", "-", "--json", "--quiet", stdin=text)
    assert quiet.stderr == ""
    assert '"stopped": "cap"' in quiet.stdout


def test_what_drifts_is_not_called_as_narrow_as_asked() -> None:
    growing = """
        run = { duration = "%s", warmup = "100 ms", precision = "3 %%" }
        phy = { standard = "802.11n", mcs = 7 }
        stations = [{ name = "desk", count = 4 }]

        [[flows]]
        stations = "desk"
        direction = "download"
        application = { kind = "bulk" }
        tcp = { congestion = "reno", receive_window = "%s" }
        path = [{ delay = "20 ms", rate = "1 Gb/s" }]
    """
    short, long = (loads(growing % form) for form in (("4 s", "4 MiB"), ("60 s", "64 KiB")))
    told = extent(simulate(short).simulation)
    assert "drift" in told
    assert "precision is reached" in extent(simulate(long).simulation)
