"""The README is short, its screen and its scenario are real, and so is what models.md says."""

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
MOST_WORDS = 700


@pytest.fixture(scope="module")
def demo() -> Comparison:
    return make_readme.demo()


def test_the_demo_prints_what_is_in_the_table(demo: Comparison) -> None:
    command = [sys.executable, "-m", "airtcp", "run", str(make_readme.SCENARIO), "--models"]
    wide = os.environ | {"COLUMNS": "200"}
    printed = subprocess.run(command, capture_output=True, text=True, check=True, env=wide).stdout
    lines = [re.split(r" {2,}", line.strip()) for line in printed.splitlines()]

    for cells in make_readme.cells(demo):
        assert [cell for cell in cells if cell] in lines


def test_the_readme_is_short_and_shows_the_example_and_its_decision() -> None:
    (shown,) = re.findall(r"(?ms)^```toml\n(.*?)^```$", README)
    said = re.findall(r"(?ms)^```text\n(.*?)^```$", README)[0]

    assert len(README.split()) <= MOST_WORDS
    assert shown in make_readme.OFFICE.read_text("utf-8")
    assert f"airtcp run {make_readme.OFFICE.name}" in README
    assert re.findall(r"(?m)^  (\w+)  ", said)[:3] == ["Worst", "Cause", "Fix"]
    assert max(map(len, said.splitlines())) <= make_readme.COLUMNS
    # What is needed is what the build needs.
    cargo = tomllib.loads((ROOT / "Cargo.toml").read_text(encoding="utf-8"))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert f"Rust {cargo['workspace']['package']['rust-version']} or later" in README
    python = project["project"]["requires-python"].removeprefix(">=")
    assert f"Python {python} or later" in README


def test_the_pictures_are_there_and_small() -> None:
    pictures = re.findall(r"!\[[^]]*\]\(([^)]*)\)", README)

    assert pictures == ["docs/images/office.png"]
    for name in ("office", "web-hotspot", "web"):
        picture = ROOT / "docs" / "images" / f"{name}.png"
        assert picture.stat().st_size < LARGEST_PICTURE_BYTES


@pytest.mark.slow
def test_the_picture_shows_what_its_words_say() -> None:
    """Calls and pages over their bounds: as the office is, with voice first, with fair queues."""
    length = {"run.duration": "90 s", "run.warmup": "20 s", "run.replications": 4}
    found = []
    for changes in make_readme.WAYS.values():
        scenario = airtcp.load(make_readme.OFFICE).vary(
            {"stations.desk.count": 30, **changes, **length}
        )
        groups = airtcp.simulate(scenario).simulation.groups
        for group, metric, _, _, _, bound in make_readme.PANELS:
            one = groups[group]["download"][metric]
            found.append(((one.mean or one.low) or 0.0) / bound)

    (calls, pages), (voice, pages_beside_voice), (fair, fair_pages) = zip(
        found[::2], found[1::2], strict=True
    )
    assert min(calls, pages, pages_beside_voice) > 1.0
    assert max(voice, fair, fair_pages) < 1.0


def test_what_is_said_about_the_answer_of_the_demo(demo: Comparison) -> None:
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
