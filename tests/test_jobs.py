"""Transfers of a given size have the time of their end, and their rate while they ran."""

import airtcp
import pytest
from airtcp import compare, simulate, verdict
from airtcp.messages.run import groups
from airtcp.present.cautions import cautions
from airtcp.present.summary import simulation_lines
from airtcp.results.objects import SimulationResult
from airtcp.run.glance import glance
from airtcp.scenario import loads

FETCH = """
phy = { standard = "802.11ac", channel_width = "80 MHz" }
stations = [{ name = "tablet", count = 12 }]
[[flows]]
stations = "tablet"
direction = "download"
application = { kind = "bulk", size = "2 MB" }
"""
WHOLE_BITS = 8 * 12 * 2_000_000


@pytest.fixture(scope="module")
def fetched() -> SimulationResult:
    return simulate(loads(FETCH), replications=4)


def test_jobs_are_measured_from_their_beginning() -> None:
    assert loads(FETCH).run.warmup_ns == 0
    assert loads(FETCH + '[run]\nwarmup = "1 s"\n').run.warmup_ns == 1_000_000_000
    assert loads(FETCH.replace(', size = "2 MB"', "")).run.warmup_ns == 10_000_000_000


def test_jobs_have_an_end_and_a_rate_until_then(fetched: SimulationResult) -> None:
    (job,) = fetched.simulation.jobs
    ends = [run.transfer_times_s.max() for run in fetched.simulation.runs]

    assert (job.group, job.part, job.count) == ("tablet", "download", 12)
    assert job.end_s.mean == pytest.approx(sum(ends) / 4)
    assert job.goodput_bps.mean == pytest.approx(sum(WHOLE_BITS / end for end in ends) / 4)
    assert fetched.simulation.to_dict()["jobs"] == [job.to_dict()]
    # Screens omit means over idle time: the run lasts 100 s, the jobs less than one.
    assert job.goodput_bps.mean > 50.0 * fetched.simulation.metrics["goodput_bps"].mean
    lines = {line.metric for line in simulation_lines(fetched.simulation)}
    assert lines & {"end of tablet downloads", "goodput, all flows"} == {"end of tablet downloads"}
    assert groups(fetched).columns[-1].head == "all done after"
    assert cautions(fetched) == []


def test_a_job_that_has_not_ended_has_no_end() -> None:
    text = FETCH.replace("2 MB", "200 MB") + '[run]\nduration = "1 s"\nreplications = 2\n'
    simulation = simulate(loads(text)).simulation

    assert (simulation.jobs, simulation.is_done) == ([], False)
    assert "goodput, all flows" in {line.metric for line in simulation_lines(simulation)}


@pytest.mark.parametrize("written", ["", '[targets]\n"tablet flow_goodput" = "> 5 Mb/s"\n'])
def test_targets_on_jobs_are_about_the_time_while_they_run(written: str) -> None:
    """3 runs of 12 jobs are too few to bound a 90th percentile, the default target."""
    result = compare(loads(FETCH + written))
    assert [one.state for one in verdict(result).targets] == ["holds"]
    assert not written or result.scenario.run.replications == 4


def test_a_quick_simulation_sees_jobs_to_their_end() -> None:
    """Four replications, with the random numbers of a simulation of four."""
    seen = glance(loads(FETCH), times=1)
    simulation = simulate(loads(FETCH), replications=4).simulation

    assert seen.reached
    assert seen.simulation.is_done
    assert seen.metrics["transfer_time_s"].mean == simulation.metrics["transfer_time_s"].mean


def test_a_decided_run_ends_with_its_last_job() -> None:
    result = airtcp.run(loads(FETCH))
    assert result.simulation is not None
    (job,) = result.simulation.jobs

    # Thirty seconds are tried first; twelve jobs of 2 MB take less than one.
    assert job.end_s.mean is not None
    assert job.end_s.mean <= result.scenario.run.duration_ns / 1e9 <= job.end_s.mean + 0.4
    assert result.simulation.airtime["idle"] < 0.5
