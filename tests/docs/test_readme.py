"""The README is short, its screen and its scenario are real, and so is what models.md says."""

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import make_readme
import pytest
from airtcp.results import Comparison

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
