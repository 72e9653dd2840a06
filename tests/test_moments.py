"""Ctrl-C at any moment of a command: one message, its status, and whole files."""

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from airtcp.results.query import open as opened
from bases import cell
from children import Children
from commands import call
from wing import with_papers

SCENARIO = cell(2, warmup="0 s", duration="100 ms", replications=3)
SWEEP = """
scenario = "s.toml"
[axes]
"stations.laptop.count" = [1, 2, 3, 5]
"ap.queue.limit" = [10, 100]
"""
UNTIL = ("--until", "flow_goodput < 1 Mb/s", "--from", "1", "--to", "8")
COMMANDS: dict[str, tuple[str, ...]] = {
    "run": ("run", "s.toml", "--json", "--out", "out"),
    "plan": ("plan", "s.toml", *UNTIL, "--no-remedies", "--json", "--out", "out"),
    "reproduce": ("reproduce", "M.table1", "--quick", "--json", "--out", "out"),
    "sweep": ("sweep", "sweep.toml", "--json", "--to", "out"),
}


# Each moment is a process that runs a whole command; the machine may be busy.
@pytest.mark.timeout(900)
@pytest.mark.parametrize(
    ("name", "times"),
    [
        ("run", 1),
        ("sweep", 2),  # the first may come before there is a store
        *(pytest.param(one, 10, marks=pytest.mark.verify) for one in ("run", "plan", "sweep")),
        pytest.param("reproduce", 10, marks=[pytest.mark.verify, with_papers]),
    ],
)
def test_ctrl_c_at_moments(name: str, times: int, tmp_path: Path, started: Children) -> None:
    """The moments cover the whole command, from reading arguments to printing the answer."""
    (tmp_path / "input").mkdir()
    (tmp_path / "input" / "s.toml").write_text(SCENARIO)
    (tmp_path / "input" / "sweep.toml").write_text(SWEEP)
    moments = Path(__file__).with_name("moments.py")
    how = ["evenly", str(times), str(tmp_path), "SIGINT"]
    process = started.start(
        [sys.executable, moments, *how, *COMMANDS[name], "--threads", "2"], stderr=subprocess.PIPE
    )
    said = process.communicate(timeout=800)[1]

    assert (process.returncode, said) == (0, "")
    # No child process is left.
    assert started.left(patience_s=5) == []
    assert ended(tmp_path, 0)["status"] == 0
    for index in range(1, times + 1):
        one = ended(tmp_path, index)
        assert one["sent"], one
        assert one["status"] == 130, one
        assert "Traceback" not in one["err"], one
        assert [line for line in one["err"].splitlines() if "interrupted" in line][1:] == [], one
        assert "airtcp: interrupted" in one["err"], one
        if one["out"]:
            json.loads(one["out"])
        check_files(tmp_path / str(index))
    if name == "sweep":
        goes_on(tmp_path, times)


def ended(folder: Path, index: int) -> dict[str, Any]:
    return dict(json.loads((folder / f"{index}.json").read_text()))


def check_files(folder: Path) -> None:
    """Every file is complete, and no temporary file is left."""
    for path in (folder / "out").rglob("*"):
        assert not path.name.startswith("."), path
        if path.suffix == ".json":
            json.loads(path.read_text())
        if path.suffix == ".html":
            assert path.read_text().rstrip().endswith("</html>"), path


def goes_on(folder: Path, times: int) -> None:
    """The same command completes a sweep that was interrupted."""
    expected = opened(folder / "0" / "out").table
    made = [index for index in range(1, times + 1) if (folder / str(index) / "out").exists()]
    assert made
    for index in made:
        work = folder / str(index)
        done = call("sweep", work / "sweep.toml", "--to", f"{work}/out")
        assert done.exit_code == 0, done.output
        assert opened(work / "out").table.equals(expected)
        shutil.rmtree(work)
