"""The README is short, its screen and scenario are real, and so are the claims of models.md."""

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import make_readme

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
LARGEST_PICTURE_BYTES = 150_000
MOST_WORDS = 700


def test_the_demo_prints_the_rows_of_the_table() -> None:
    command = [sys.executable, "-m", "airtcp", "run", str(make_readme.SCENARIO), "--models"]
    wide = os.environ | {"COLUMNS": "200"}
    printed = subprocess.run(command, capture_output=True, text=True, check=True, env=wide).stdout
    lines = [re.split(r" {2,}", line.strip()) for line in printed.splitlines()]

    for cells in make_readme.cells(make_readme.demo()):
        assert [cell for cell in cells if cell] in lines


def test_the_readme_is_short_and_shows_the_example_and_its_decision() -> None:
    (shown,) = re.findall(r"(?ms)^```toml\n(.*?)^```$", README)
    said = re.findall(r"(?ms)^```text\n(.*?)^```$", README)[0]
    (picture,) = re.findall(r"!\[[^]]*\]\(([^)]*)\)", README)

    assert len(README.split()) <= MOST_WORDS
    assert (ROOT / picture).stat().st_size < LARGEST_PICTURE_BYTES
    assert shown in make_readme.OFFICE.read_text("utf-8")
    assert f"airtcp run {make_readme.OFFICE.name}" in README
    assert re.findall(r"(?m)^  (\w+)  ", said)[:3] == ["Worst", "Cause", "Fix"]
    # The README asks for the versions that the build needs.
    cargo, project = (
        tomllib.loads((ROOT / name).read_text("utf-8")) for name in ("Cargo.toml", "pyproject.toml")
    )
    assert f"Rust {cargo['workspace']['package']['rust-version']} or later" in README
    assert f"Python {project['project']['requires-python'].removeprefix('>=')} or later" in README
