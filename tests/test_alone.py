"""airtcp without airtcp-papers: its wheel in an empty environment answers every example."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from airtcp.examples import examples

pytestmark = [pytest.mark.verify, pytest.mark.timeout(1800)]

ROOT = Path(__file__).parents[1]
SHORT = ("--set", "run.warmup=1s", "--set", "run.duration=3s", "--replications", "1", "--quiet")


def said(*command: str | Path, of: Path = ROOT) -> str:
    done = subprocess.run(
        [str(one) for one in command], cwd=of, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def bin_(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the programs of an environment with only airtcp's wheel and its requirements."""
    folder = tmp_path_factory.mktemp("alone")
    said(Path(sys.executable).parent / "maturin", "build", "--release", "--out", folder)
    (wheel,) = folder.glob("*.whl")
    said(sys.executable, "-m", "venv", folder / "environment")
    programs = folder / "environment" / "bin"
    said(programs / "python", "-m", "pip", "install", "--quiet", wheel, of=folder)
    return programs


def test_nothing_of_the_papers_is_there(bin_: Path, tmp_path: Path) -> None:
    found = "import importlib.util as i; print(i.find_spec('airtcp_papers'))"
    assert said(bin_ / "python", "-c", found, of=tmp_path) == "None\n"
    assert "reproduce" not in said(bin_ / "airtcp", "--help", of=tmp_path)


@pytest.mark.parametrize("name", [one.name for one in examples()])
def test_an_example_is_answered(name: str, bin_: Path, tmp_path: Path) -> None:
    said(bin_ / "airtcp", "example", name, "--to", tmp_path, of=tmp_path)
    example = tmp_path / f"{name}.toml"
    run = ("--details", "--advice", "none", *SHORT)
    shown = said(bin_ / "airtcp", "run", example, *run, of=tmp_path)
    predicted = json.loads(said(bin_ / "airtcp", "predict", example, "--json", of=tmp_path))

    assert "replication" in shown
    assert predicted["model"] or predicted["uncovered"]
    assert "airtcp_papers" not in shown
