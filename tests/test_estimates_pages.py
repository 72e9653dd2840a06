"""Page times by pages in progress: their accounts, and runs in which their number still grows.

Readers of today's pages on 802.11ax: a few, soon in steady state, and many next to calls, not in
steady state after a minute. Long runs give the true values.
"""

import dataclasses
from functools import cache

import airtcp
import numpy as np
import pytest
from airtcp.estimates import Estimate, estimate
from airtcp.estimates.pages import loading
from airtcp.estimates.traffic import Traffic
from airtcp.examples import directory
from airtcp.results import SimulationResult
from bases import said
from intervals.cells import Window
from intervals.profiles import Profiled, profiles

FEW, CROWD = (profiles()[f"802.11ax-{name}"] for name in ("readers-0.3", "office-0.7"))
ONE = dataclasses.replace(FEW, load=FEW.load / FEW.laptops)
#: Means of 24 to 32 runs of 800 s after 200 s (validation/intervals/profiles.py), to 3 to 7 %.
LIGHT = {"page_time_s": 1.04, "page_time_p90_s": 1.95, "transfer_time_s": 0.0715}
CROWDED = {
    "page_time_s": 11.4,
    "page_time_p90_s": 24.0,
    "transfer_time_s": 0.720,
    "transfer_time_p90_s": 1.16,
}


@cache
def simulated(
    system: Profiled, warmup_s: int, measured_s: int, replications: int
) -> SimulationResult:
    window = Window(float(warmup_s), float(measured_s))
    scenario = system.scenario(0, replications=replications, window=window)
    return airtcp.simulate(scenario.with_run(seed=11))


def light() -> SimulationResult:
    return simulated(FEW, 10, 40, 12)


def crowded() -> SimulationResult:
    return simulated(CROWD, 10, 40, 6)


def of(result: SimulationResult, metric: str) -> Estimate:
    return estimate(result.simulation.runs, result.scenario, metric)


def traffic(result: SimulationResult) -> Traffic:
    return Traffic(result.simulation.runs, result.scenario, None, "all")


def test_the_time_in_progress_is_that_of_pages_that_came_and_of_those_under_way() -> None:
    result = simulated(FEW, 0, 60, 2)
    for run in result.simulation.runs:
        pages = run.accounts.pages
        total = run.accounts.column("loading_s").sum()
        assert total == pytest.approx(pages.times_s.sum() + pages.under_way_age_s.sum(), abs=1e-6)
        asked, loaded = (run.accounts.column(name).sum() for name in ("units", "loaded"))
        assert asked - loaded == len(pages.under_way_age_s)
        assert loaded == len(pages.times_s) > 10
        # A run that is measured from its beginning carries over no pages.
        assert len(pages.carried_over_index) == 0


def test_pages_of_the_warm_up_are_carried_over() -> None:
    early, late = simulated(FEW, 0, 60, 2), simulated(FEW, 20, 40, 2)
    for whole, part in zip(early.simulation.runs, late.simulation.runs, strict=True):
        # Both runs draw the same numbers, so pages that loaded after 20 s are in both.
        came = part.accounts.pages.times_s
        assert np.array_equal(whole.accounts.pages.times_s[-len(came) :], came)
        grown = part.accounts.column("loaded").sum() - part.accounts.column("units").sum()
        carried = len(part.accounts.pages.carried_over_index)
        under_way = len(part.accounts.pages.under_way_age_s)
        assert carried - under_way <= grown <= carried


def test_one_reader_has_a_page_in_progress_or_none() -> None:
    for run in simulated(ONE, 5, 200, 2).simulation.runs:
        in_progress = run.accounts.column("loading_s") + run.accounts.column("pageless_s")
        assert in_progress.sum() == pytest.approx(200.0, abs=1e-6)


@pytest.mark.parametrize("metric", LIGHT)
def test_few_readers_are_told_by_pages_in_progress(metric: str) -> None:
    found, true = of(light(), metric), LIGHT[metric]

    assert found.estimator == ("plain" if "p90" in metric else "little")
    assert found.interval.low < true < found.interval.high
    assert found.interval.half_width < 0.35 * true


def test_alone_pages_settle_within_their_own_time_and_in_a_crowd_within_a_time_to_think() -> None:
    alone, crowd = loading(traffic(light())), loading(traffic(crowded()))

    # The mean page takes a second, and a reader reads for half a minute.
    assert 1.0 < alone.settles_s < 4.0
    assert 15.0 < crowd.settles_s < 30.0


@pytest.mark.parametrize("metric", CROWDED)
def test_a_crowd_that_still_grows_is_told_as_a_lower_bound(metric: str) -> None:
    found, true = of(crowded(), metric), CROWDED[metric]

    assert (found.interval.mean, found.interval.high) == (None, None)
    assert found.steadiness.state == "unsteady"
    assert said(found.steadiness.reason) == "estimates.pages.rise"
    assert 0.0 < (found.interval.low or 0.0) < true
    assert "_p" in metric or found.plain.mean < 0.9 * true


@pytest.mark.slow
def test_the_time_that_is_advised_holds_the_truth() -> None:
    advised_s = of(crowded(), "page_time_s").steadiness.simulate_s
    assert 80.0 <= advised_s <= 500.0
    found = of(simulated(CROWD, 10, round(advised_s or 0.0), 6), "page_time_s")

    assert found.estimator == "little"
    assert found.interval.low < CROWDED["page_time_s"] < found.interval.high


def test_what_everybody_gets_goes_on_in_a_crowd_that_grows() -> None:
    found = of(crowded(), "goodput_bps")
    assert found.interval.half_width == pytest.approx(found.plain.half_width)


def test_a_bound_of_all_is_below_those_of_groups_and_unknown_with_one_of_them() -> None:
    """A teacher loads few pages in 40 s, with short transfers; the tablets' transfers take 0.6 s.

    In long runs a transfer takes .44 s. From the teacher's few pages it would be at least 0.5 s.
    """
    scenario = airtcp.load(str(directory() / "class-wifi6.toml"))
    run = scenario.with_run(duration_ns=10 * 10**9, replications=4, seed=8101)
    found = airtcp.simulate(run, threads=1).simulation

    teacher = found.groups["teacher"]["all"]["transfer_time_s"]
    assert (teacher.mean, teacher.low) == (None, None)
    assert found.groups["tablet"]["all"]["transfer_time_s"].low > 0.5
    assert (found.metrics["transfer_time_s"].low or 0.0) < 0.44
