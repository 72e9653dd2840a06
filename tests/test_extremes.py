"""Valid scenarios of extreme mixtures: some of them here, hundreds in `make verify`."""

import copy
import subprocess
import sys
from pathlib import Path
from typing import Any

import airtcp
import pytest
from airtcp.compare import compare
from airtcp.examples import directory
from airtcp.scenario import loads
from children import Children
from judge import broken_laws, broken_words, parsed
from mixtures import mixture

EXTREMES = Path(__file__).parents[1] / "validation" / "extremes"


def edited(edit: tuple[str, str, Any], answer: dict[str, Any]) -> dict[str, Any]:
    key, name, value = edit
    other = copy.deepcopy(answer)
    other["simulation"][key][name] = value
    return other


def test_laws_that_do_not_hold_are_found() -> None:
    scenario = airtcp.load(Path(str(directory() / "office-wifi5.toml"))).vary(
        {"run.duration": "500 ms", "run.warmup": "100 ms", "run.replications": 2}
    )
    answer = parsed(compare(scenario, threads=1).to_json())
    assert broken_laws(answer) == []
    edits: list[tuple[str, str, Any]] = [
        ("airtime", "idle", 2.0),
        ("counts", "mac_attempts", -1),
        ("metrics", "jain_index", {"mean": 1.5, "low": 1.5, "high": 1.5}),
        ("metrics", "goodput_bps", {"mean": 1e10, "low": 1e10, "high": 1e10}),
        ("metrics", "goodput_bps", {"mean": 1e6, "low": 2e6, "high": 3e6}),
    ]
    for edit in edits:
        assert broken_laws(edited(edit, answer))
    with pytest.raises(ValueError, match="NaN in JSON"):
        parsed('{"a": NaN}')
    assert broken_words("thread 'x' panicked at y")


def test_a_run_whose_pages_are_all_of_one_replication_has_an_answer() -> None:
    run = {"warmup": "1 s", "duration": "3 s", "replications": 4, "seed": 69}
    scenario = loads(mixture(5, 69)).vary({f"run.{key}": value for key, value in run.items()})
    result = airtcp.simulate(scenario)
    pages = [one.accounts.pages for one in result.simulation.runs if one.accounts]
    assert all(pages)
    assert result.simulation.metrics["page_time_s"].n < len(pages)


@pytest.mark.parametrize(
    ("cases", "interrupted", "compared"),
    [
        (2, 1, 1),
        pytest.param(400, 40, 100, marks=(pytest.mark.verify, pytest.mark.timeout(7200))),
    ],
)
def test_extreme_mixtures(cases: int, interrupted: int, compared: int, started: Children) -> None:
    """Runs obey laws and limits of memory and time, can be interrupted, and repeat bit for bit."""
    options = ("--seed", "4", "--interrupted", str(interrupted), "--bits", str(compared))
    running = started.start(
        [sys.executable, EXTREMES / "extremes.py", str(cases), *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    out, _ = running.communicate(timeout=7000)
    assert running.returncode == 0, out
    assert f"{cases} tried, " in out
    assert " 0 broken" in out
    assert f"compared: {compared} " in out or cases > compared
    assert started.left(patience_s=5) == []
