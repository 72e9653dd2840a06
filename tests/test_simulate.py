"""Replications on threads: results do not depend on threads; precision; interruption."""

import json
import signal
import threading
import time
from types import SimpleNamespace
from typing import Any

import pytest
from airtcp import SimulationError, _core
from airtcp.run.simulate import simulate
from airtcp.scenario import ResolvedScenario, loads
from bases import SATURATED, cell, reading, refused

WEB = cell(4, application=reading("30 kB"), warmup="1 s", duration="20 s", seed=5)
AT_ONCE = 'start_spread = "0 s"'
UDP = cell(
    3, name="sensor", direction="upload", application=SATURATED, flow=AT_ONCE, duration="2 s"
)


def web(run: str = "replications = 6") -> ResolvedScenario:
    return loads(WEB + run)


def test_an_attempt_counts_when_it_ends() -> None:
    """Without backoff two senders always collide: frames of 1310 us, 272 us apart.

    They transmit from 50 us to 1360 and from 1632 to 2942. From 1000 to 3000 us four attempts end,
    of which two began earlier.
    """
    keys: dict[str, Any] = {"direction": "upload", "application": SATURATED, "flow": AT_ONCE}
    run: dict[str, Any] = {"warmup": "1 ms", "duration": "2 ms", "replications": 1}
    simulation = simulate(loads(cell(2, phy="cw_min = 0\ncw_max = 0", **keys, **run))).simulation
    assert simulation.metrics["collision_probability"].mean == 1.0
    assert simulation.counts["mac_attempts"] == 4
    assert [station.attempts for station in simulation.stations] == [0, 2, 2]


@pytest.mark.parametrize("direction", ["upload", "download"])
def test_a_flood_of_datagrams_is_an_error(direction: str) -> None:
    """83 million datagrams a second would fill any memory through a queue without a limit."""
    text = UDP.replace("upload", direction).replace('"saturated"', '"1000 Gb/s"')
    with pytest.raises(SimulationError, match=r"flow sensor/\d"):
        simulate(loads(text + 'warmup = "0 s"\nreplications = 1\n'))
    # A dropped packet is not a delivered one.
    text = UDP.replace('"saturated"', '"2 Gb/s"').replace('duration = "2 s"', 'duration = "0.5 s"')
    text = text.replace("count = 3", "count = 3\nqueue = { limit = 10 }")
    dropped = simulate(loads(text + 'warmup = "0 s"\nreplications = 1\n')).simulation.counts
    assert dropped["station_queue_drops"] > 200_000


def test_the_result_says_what_was_run() -> None:
    seen: list[float] = []
    result = simulate(web(), replications=3, progress=seen.append)
    few = simulate(web(), replications=1)
    simulation = result.simulation
    assert (simulation.stopped, simulation.replications) == ("replications", 3)
    assert few.scenario.run.replications == few.simulation.replications == 1
    # A run with more replications begins with the same replications.
    assert few.simulation.runs[0].answer == simulation.runs[0].answer
    assert simulation.simulated_s == pytest.approx(3 * 21.0)
    assert result.provenance.generator == _core.GENERATOR
    assert result.provenance.scenario_hash == result.scenario.hash()
    assert sum(simulation.airtime.values()) == pytest.approx(1.0)
    assert len(simulation.transfer_times_s()) == simulation.counts["transfers"]
    times = few.simulation.transfer_times_s()
    assert few.metrics["transfer_time_s"].mean == pytest.approx(times.mean())
    assert times.min() > 0.0
    assert "3 replications" in repr(result)
    # The reported progress rises to 1.
    assert seen == sorted(seen)
    assert (min(seen) >= 0.0, seen[-1]) == (True, 1.0)


@pytest.mark.parametrize(
    ("asked", "options", "stopped", "replications"),
    [
        (web('precision = "0.001 %"\nmax_replications = 7'), {}, "cap", 7),
        # Without transfers the precision applies to goodput.
        (loads(UDP + 'precision = "5 %"'), {}, "precision", 5),
        (web('precision = "0.001 %"'), {"replications": 2}, "replications", 2),
    ],
)
def test_a_run_says_what_stopped_it(
    asked: ResolvedScenario, options: dict[str, Any], stopped: str, replications: int
) -> None:
    simulation = simulate(asked, **options).simulation
    assert (simulation.stopped, simulation.replications) == (stopped, replications)


def test_interruption_keeps_what_was_finished() -> None:
    # Minutes of work if it were not interrupted after two replications.
    scenario = web("replications = 2000")

    def interrupt(fraction: float) -> None:
        if fraction > 2 / 2000:
            raise KeyboardInterrupt

    result = simulate(scenario, threads=2, progress=interrupt)
    assert result.simulation.stopped == "interrupted"
    assert 1 <= result.simulation.replications < 2000
    assert result.metrics["goodput_bps"].n == result.simulation.replications
    full = simulate(web("replications = 2000"), replications=1)
    assert result.simulation.runs[0].answer == full.simulation.runs[0].answer


def test_interruption_with_nothing_finished_is_an_interruption() -> None:
    scenario = loads(WEB.replace('"20 s"', '"1000000 s"') + "replications = 1")
    running = threading.Event()

    def interrupt(fraction: float) -> None:
        running.set()
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        simulate(scenario, progress=interrupt)
    assert running.is_set()


@pytest.mark.usefixtures("interruptible")
def test_a_signal_reaches_the_only_replication_in_its_own_thread(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A single replication starts no thread, and Ctrl-C still ends it."""
    monkeypatch.setattr("_thread.start_new_thread", lambda *_: pytest.fail("a thread"))
    # Hours of work.
    scenario = loads(WEB.replace('"20 s"', '"1000000 s"') + "replications = 1")
    seen: list[float] = []
    signal.signal(signal.SIGALRM, lambda *_: signal.raise_signal(signal.SIGINT))
    signal.setitimer(signal.ITIMER_REAL, 0.5)
    begin = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        simulate(scenario, progress=seen.append)
    assert time.monotonic() - begin < 30
    assert seen == sorted(seen)
    assert simulate(web("replications = 1")).simulation.stopped == "replications"


class BrokenCore(SimpleNamespace):
    """A core whose third replication violates a conservation law."""

    def run(self, seed: int, replication: int, control: Any) -> Any:
        if replication == 2:
            raise _core.SimulationFailed("airtime does not add up")
        return self.real.run(seed, replication, control)


def test_a_violated_law_is_an_error_with_the_seed(monkeypatch: pytest.MonkeyPatch) -> None:
    # No scenario makes the real core violate a law: its own tests check that.
    scenario, real = web(), _core.Simulation
    monkeypatch.setattr(_core, "Simulation", lambda resolved: BrokenCore(real=real(resolved)))
    with pytest.raises(SimulationError, match="replication 2 with seed 5"):
        simulate(scenario)


def test_a_resolved_form_that_the_core_refuses_is_a_simulation_error() -> None:
    class Odd(ResolvedScenario):
        def with_run(self, **_: Any) -> "Odd":
            return self

        def for_core(self) -> str:
            return json.dumps({"title": "half a scenario"})

    odd = Odd.model_construct(**dict(web()))
    with refused("run.failed.rejected"):
        simulate(odd)
