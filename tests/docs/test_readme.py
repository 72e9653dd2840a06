"""The README's table is as the demo prints it, and the text about it holds."""

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import airtcp
import make_readme
import pytest
from airtcp.results import Comparison
from airtcp.scenario import loads

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
LARGEST_PICTURE_BYTES = 150_000


@pytest.fixture(scope="module")
def demo() -> Comparison:
    return make_readme.demo()


def test_the_demo_of_the_makefile_runs_the_scenario_of_the_readme() -> None:
    scenario = make_readme.SCENARIO.relative_to(ROOT)

    assert f"airtcp run {scenario} " in (ROOT / "Makefile").read_text(encoding="utf-8")


def test_tables_of_other_pages_are_found_there() -> None:
    """They have numbers, and are not empty."""
    assert make_readme.holds().count("\n") > 10
    (*_, ns3) = make_readme.peers().splitlines()
    assert re.fullmatch(
        r"\| ns-3 \| 1 to 20 \| [\d.]+ % \| -?[\d.]+ % \| [\d.]+ ms \| [\d.]+ ms \| \d{3,5} \|", ns3
    )


def test_the_demo_prints_what_is_in_the_table(demo: Comparison) -> None:
    command = [sys.executable, "-m", "airtcp", "run", str(make_readme.SCENARIO), "--models"]
    wide = os.environ | {"COLUMNS": "200"}
    printed = subprocess.run(command, capture_output=True, text=True, check=True, env=wide).stdout
    lines = [re.split(r" {2,}", line.strip()) for line in printed.splitlines()]

    for cells in make_readme.cells(demo):
        assert [cell for cell in cells if cell] in lines


def test_the_pictures_are_there_and_small() -> None:
    pictures = re.findall(r"!\[[^]]*\]\(([^)]*)\)", README)

    names = ("web-hotspot", "testbed-uploads", "web")
    assert pictures == [f"docs/images/{name}.png" for name in names]
    for picture in pictures:
        assert (ROOT / picture).stat().st_size < LARGEST_PICTURE_BYTES


def test_what_the_readme_says_about_the_answer(demo: Comparison) -> None:
    """Right about goodput, too optimistic about times; a free channel; uneven sizes."""
    verdicts = {row.metric: row.verdict for row in reversed(demo.comparison)}  # the best is last
    assert verdicts["goodput_bps"] in ("agrees", "close")
    goodput = {row.source: row.difference for row in demo.comparison if row.metric == "goodput_bps"}
    assert 0.08 < goodput.pop("H (29)") < 0.11
    assert max(abs(one or 0.0) for one in goodput.values()) < 0.021
    gain = demo.simulation.precision
    assert gain["transfer_time_s"]["gain"] > 4
    assert gain["goodput_bps"]["gain"] > 200
    assert verdicts["transfer_time_s"] == "too low"

    assert demo.simulation.airtime["idle"] > 0.5

    time = {name: demo.simulation.metrics[name].mean for name in demo.simulation.metrics}
    assert 0.05 < time["transfer_time_p50_s"] / time["transfer_time_s"] < 0.2
    assert time["transfer_time_p99_s"] > 4 * time["transfer_time_s"]

    hours = demo.scenario.run.duration_ns / 3.6e12
    assert (demo.simulation.replications, hours) == (20, 1)


def test_models_and_simulation_agree_with_exponential_sizes(demo: Comparison) -> None:
    written = make_readme.SCENARIO.read_text(encoding="utf-8")
    mean = round(demo.scenario.flows[0].application.size.mean())
    law = f'{{ distribution = "exponential", mean = "{mean} B" }}'
    changed, count = re.subn(r"(?m)^( *size +=).*$", rf"\1 {law}", written)
    assert count == 1

    result = airtcp.compare(loads(changed), replications=10)

    best = {row.metric: row.difference for row in reversed(result.comparison)}
    for metric in ("goodput_bps", "transfer_time_s"):
        assert best[metric] == pytest.approx(0.0, abs=0.05)


def test_requirements_are_those_of_the_build() -> None:
    cargo = tomllib.loads((ROOT / "Cargo.toml").read_text(encoding="utf-8"))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))

    assert f"Rust {cargo['workspace']['package']['rust-version']} or later" in README
    assert project["project"]["requires-python"] == ">=3.11"
    assert "Python 3.11 or later" in README


def test_the_test_command_is_the_one_of_continuous_integration() -> None:
    assert "```text\nmake test\n```" in README
    assert "\nmake test\n" in (ROOT / ".ci" / "run").read_text(encoding="utf-8")
