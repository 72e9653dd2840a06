"""The warm-up: MSER-5 as it is defined, on series whose transient is known, and in scenarios."""

import math
import os
import signal
import threading
import time
from pathlib import Path
from typing import Any

import airtcp
import numpy as np
import pytest
from airtcp import SimulationError
from airtcp.run import warmup
from airtcp.run.interruption import Interruption
from airtcp.run.warmup import find_warmup_ns, mser5
from airtcp.scenario import loads
from bases import BULK, cell
from commands import call

RNG = np.random.default_rng(20)


def by_definition(series: np.ndarray) -> int | None:
    """White 1997, over means of five: the width of the interval of the mean, as it is written."""
    means = [sum(series[i : i + 5]) / 5 for i in range(0, len(series) - 4, 5)]
    n = len(means)
    best, width = 0, math.inf
    for d in range(n - 5 + 1):
        rest = means[d:]
        mean = sum(rest) / len(rest)
        found = sum((z - mean) ** 2 for z in rest) / (n - d) ** 2
        if found < width * (1 - 1e-12):
            best, width = d, found
    return None if best > n // 2 else 5 * best


def ar1(n: int, rho: float) -> np.ndarray:
    """A steady series whose neighbours are alike, with variance 1 / (1 - rho^2)."""
    values = np.zeros(n)
    values[0] = RNG.normal() / math.sqrt(1 - rho**2)
    for i in range(1, n):
        values[i] = rho * values[i - 1] + RNG.normal()
    return values


@pytest.mark.parametrize("n", [50, 203, 1000])
def test_it_is_what_the_definition_says(n: int) -> None:
    for _ in range(20):
        noise = RNG.normal(size=n) + 5.0 * np.exp(-np.arange(n) / RNG.uniform(1, n / 3))
        assert mser5(noise) == by_definition(noise)
        steps = RNG.integers(0, 3, size=n) + 1e9
        assert mser5(steps) == by_definition(steps - 1e9)


def test_a_step_is_deleted_and_no_more() -> None:
    """Whole batches: of 12 observations that are off, three of five go."""
    for length, deleted in ((0, 0), (5, 5), (12, 15), (100, 100), (250, 250)):
        series = np.ones(500)
        series[:length] = 9.0
        assert mser5(series) == deleted


def test_a_transient_is_deleted_until_the_noise_hides_it() -> None:
    """y = e^(-i/40) * 10 + noise of variance 1, of 1000: the bias that stays is small against it.

    Deleting d leaves a bias of b = 10 * 40 e^(-d/40) / (1000 - d) in the mean. The standard error
    of a mean of 1000 is 0.032; MSER weighs both, so what it leaves is of that order: less than
    twice it in the mean over 100 series, where nothing deleted would leave 0.4.
    """
    left = []
    for _ in range(100):
        deleted = mser5(10.0 * np.exp(-np.arange(1000) / 40.0) + RNG.normal(size=1000))
        assert 40 < deleted < 400
        left.append(400.0 * math.exp(-deleted / 40.0) / (1000 - deleted))
    assert np.mean(left) < 0.064


def test_a_steady_series_loses_little() -> None:
    """Also where neighbours are alike (AR(1), rho = 0.5): a tenth at most in the mean of 100."""
    for rho in (0.0, 0.5):
        found = [mser5(ar1(1000, rho)) for _ in range(100)]
        kept = [500 if one is None else one for one in found]
        assert np.mean(kept) < 100


def test_what_never_settles_has_no_warmup() -> None:
    assert mser5(np.arange(1000.0)) is None
    assert mser5(np.r_[np.zeros(700), np.ones(300)]) is None


@pytest.mark.parametrize(
    ("series", "message"),
    [
        (np.ones(49), "at least 10 batches of 5"),
        (np.ones((10, 10)), "a row of"),
        (np.r_[np.ones(50), np.nan], "finite"),
    ],
)
def test_series_that_say_nothing_are_refused(series: np.ndarray, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        mser5(series)


def uploads(application: str, flow: str) -> str:
    run: dict[str, Any] = {"warmup": "auto", "duration": "100 s", "replications": 2, "seed": 1}
    return cell(10, name="a", direction="upload", application=application, flow=flow, **run)


# Ten uploads with windows of four segments, which begin one after the other in 20 s.
RAMP = uploads(
    BULK.replace("}", ', start = { distribution = "uniform", low = "0 s", high = "20 s" } }'),
    "tcp = { receive_window = { segments = 4 } }",
)


# 20 Mb/s into a cell of 11 Mb/s.
OVERLOAD = cell(
    name="a",
    application='{ kind = "udp", packet = "1500 B", rate = "20 Mb/s" }',
    warmup="auto",
    duration="1 s",
)


@pytest.mark.parametrize("duration", ["100 s", "10 s", "100 ms"])
def test_a_scenario_is_measured_when_all_have_begun(duration: str) -> None:
    """The last of ten begins after 20 * 10/11 = 18.2 s in the mean, after 15 s nearly always.

    In five pilots one begins after 19 s with probability 1 - 0.95^50 = 0.92. From the mean over
    pilots nothing beyond 25 s, which is a quarter of the series, can be told from noise. Short
    pilots become longer.
    """
    scenario = loads(RAMP.replace('"100 s"', f'"{duration}"'))
    assert scenario.run.warmup_ns is None
    found = find_warmup_ns(scenario, threads=1)
    assert 15e9 < found < 25e9
    if duration == "100 s":
        assert find_warmup_ns(scenario, threads=2) == found
        assert find_warmup_ns(loads(RAMP.replace("seed = 1", "seed = 2")), threads=2) != found


@pytest.mark.parametrize(("most_work", "seconds"), [(None, 320), (100_000, 20)])
def test_a_queue_that_grows_for_ever_has_no_warmup(
    most_work: int | None, seconds: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Pilots do not grow far beyond what is asked for."""
    monkeypatch.setattr(warmup, "_MOST_WORK", most_work or warmup._MOST_WORK)
    said = rf"no steady state within {seconds} s .* give run.warmup"
    with pytest.raises(SimulationError, match=said):
        find_warmup_ns(loads(OVERLOAD), threads=2)


def test_an_interruption_ends_the_pilots(interruptible: None) -> None:
    """Of 80 h, which take minutes of CPU."""
    asked_s = []

    def interrupt() -> None:
        asked_s.append(time.process_time())
        os.kill(os.getpid(), signal.SIGINT)

    scenario = loads(RAMP.replace('"100 s"', '"80 h"'))
    with Interruption() as interruption:
        threading.Timer(0.5, interrupt).start()
        with pytest.raises(KeyboardInterrupt):
            find_warmup_ns(scenario, threads=1, interruption=interruption)

    assert time.process_time() - asked_s[0] < 2.0


def test_the_result_has_the_warmup_that_was_found() -> None:
    """And it says the same when it is run again with it."""
    result = airtcp.simulate(loads(RAMP), threads=1)
    found = result.scenario.run.warmup_ns
    assert found == find_warmup_ns(loads(RAMP), threads=1)

    given = loads(RAMP.replace('"auto"', f'"{found} ns"'))
    again = airtcp.simulate(given, threads=1)
    assert again.scenario.to_json() == result.scenario.to_json()
    for one, two in zip(result.simulation.runs, again.simulation.runs, strict=True):
        assert one.answer == two.answer
    assert result.simulation.simulated_s == pytest.approx(2 * (100 + found / 1e9))


def test_the_command_says_what_it_found(tmp_path: Path) -> None:
    file = tmp_path / "s.toml"
    file.write_text(RAMP)
    found = find_warmup_ns(loads(RAMP), threads=1)

    for command in ("simulate", "run"):
        done = call(command, file)
        assert done.exit_code == 0
        assert done.stderr == f"airtcp: warm-up: {found / 1e9:g} s, found by MSER-5\n"
        assert call(command, file, "--quiet").stderr == ""
    assert call("predict", file).exit_code == 0

    file.write_text(OVERLOAD)
    done = call("simulate", file)
    assert done.exit_code == 1
    assert "no steady state" in done.stderr
    assert "Traceback" not in done.stderr
    file.write_text(RAMP.replace('"auto"', '"automatic"'))
    done = call("simulate", file)
    assert done.exit_code == 2
    assert 'run.warmup: "automatic" is not a time' in done.stderr
    assert 'or "auto"' in done.stderr
