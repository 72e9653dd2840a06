"""The warm-up: MSER-5 against its definition, series with a known transient, and scenarios."""

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
from bases import cell
from commands import call

RNG = np.random.default_rng(20)


def by_definition(series: np.ndarray) -> int | None:
    """White 1997, over means of five: the squared width of the mean's interval, by definition."""
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


@pytest.mark.parametrize("n", [50, 203, 1000])
def test_it_is_what_the_definition_says(n: int) -> None:
    """Noise after a transient, integers far from zero, and a series that never settles."""
    for _ in range(20):
        noise = RNG.normal(size=n) + 5.0 * np.exp(-np.arange(n) / RNG.uniform(1, n / 3))
        assert mser5(noise) == by_definition(noise)
        steps = RNG.integers(0, 3, size=n) + 1e9
        assert mser5(steps) == by_definition(steps - 1e9)
    assert mser5(np.arange(1000.0)) is None


@pytest.mark.parametrize(
    ("length", "deleted"), [(0, 0), (5, 5), (12, 15), (100, 100), (250, 250), (350, None)]
)
def test_a_step_is_deleted_and_no_more(length: int, deleted: int | None) -> None:
    """Whole batches are deleted: 12 biased values are three batches of five; never over half."""
    series = np.ones(500)
    series[:length] = 9.0
    assert mser5(series) == deleted


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


# Ten uploads with windows of four segments that start at random within 20 s.
RUN: dict[str, Any] = {"warmup": "auto", "duration": "100 s", "replications": 2, "seed": 1}
START = 'start = { distribution = "uniform", low = "0 s", high = "20 s" }'
RAMP = cell(
    10,
    name="a",
    direction="upload",
    application=f'{{ kind = "bulk", {START} }}',
    flow="tcp = { receive_window = { segments = 4 } }",
    **RUN,
)
# 20 Mb/s offered to a cell of 11 Mb/s.
OVERLOAD = cell(
    name="a",
    application='{ kind = "udp", packet = "1500 B", rate = "20 Mb/s" }',
    warmup="auto",
    duration="1 s",
)


@pytest.mark.parametrize("duration", ["100 s", "10 s", "100 ms"])
def test_a_scenario_is_measured_when_all_have_begun(duration: str) -> None:
    """The last of ten starts after 20 * 10/11 = 18.2 s on average, nearly always after 15 s.

    In five pilot runs one starts after 19 s with probability 1 - 0.95^50 = 0.92. In the mean over
    pilots nothing after 25 s, a quarter of the series, stands out from noise. Short pilots are
    extended.
    """
    scenario = loads(RAMP.replace('"100 s"', f'"{duration}"'))
    assert scenario.run.warmup_ns is None
    found = find_warmup_ns(scenario, threads=1)
    assert 15e9 < found < 25e9
    if duration == "100 s":
        assert find_warmup_ns(scenario, threads=2) == found
        assert find_warmup_ns(loads(RAMP.replace("seed = 1", "seed = 2")), threads=2) != found


@pytest.mark.parametrize(("most_work", "seconds"), [(None, 320), (100_000, 20)])
def test_a_queue_that_grows_for_ever_has_no_warmup(most_work, seconds, monkeypatch):
    """Pilot runs do not grow far beyond the requested duration."""
    monkeypatch.setattr(warmup, "_MOST_WORK", most_work or warmup._MOST_WORK)
    said = rf"no steady state within {seconds} s .* give run.warmup"
    with pytest.raises(SimulationError, match=said):
        find_warmup_ns(loads(OVERLOAD), threads=2)


def test_an_interruption_ends_the_pilots(interruptible: None) -> None:
    """The pilots of 80 h would take minutes of CPU."""
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
    """A run with that warm-up gives the same result."""
    result = airtcp.simulate(loads(RAMP), threads=1)
    found = result.scenario.run.warmup_ns
    assert found == find_warmup_ns(loads(RAMP), threads=1)

    again = airtcp.simulate(loads(RAMP.replace('"auto"', f'"{found} ns"')), threads=1)
    assert again.scenario.to_json() == result.scenario.to_json()
    one, two = ([run.answer for run in of.simulation.runs] for of in (result, again))
    assert one == two
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

    for text, status, said in (
        (OVERLOAD, 1, ["no steady state"]),
        (RAMP.replace('"auto"', '"x"'), 2, ['run.warmup: "x" is not a time', 'or "auto"']),
    ):
        file.write_text(text)
        done = call("simulate", file)
        assert done.exit_code == status
        assert all(one in done.stderr for one in said)
        assert "Traceback" not in done.stderr
