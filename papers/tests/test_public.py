"""The papers use only airtcp's public interface, and airtcp does not need the papers."""

import ast
import importlib.metadata
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

import airtcp
import airtcp_papers

PAPERS = Path(airtcp_papers.__file__).parent
ROOT = Path(airtcp.__file__).parent


def imported(path: Path) -> Iterator[str]:
    """Yield the imports of a file, with imported names: `airtcp.stats.Interval`."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (one.name for one in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            yield from (f"{node.module}.{one.name}" for one in node.names)


def test_the_papers_import_no_private_name() -> None:
    """A module or name that begins with an underscore is private."""
    taken = {
        f"{path.relative_to(PAPERS)}: {name}"
        for path in PAPERS.rglob("*.py")
        for name in imported(path)
        if name.startswith("airtcp.")
        if any(part.startswith("_") and part != "__version__" for part in name.split("."))
    }

    assert taken == set()


def test_airtcp_imports_no_paper() -> None:
    taken = {
        f"{path.relative_to(ROOT)}: {name}"
        for path in ROOT.rglob("*.py")
        for name in imported(path)
        if name.startswith("airtcp_papers")
    }

    assert taken == set()


def test_the_entry_points_are_those_of_the_package() -> None:
    groups = ("airtcp.verbs", "airtcp.views", "airtcp.models", "airtcp.equations")
    found = [one for group in groups for one in importlib.metadata.entry_points(group=group)]
    names = {one.name for one in found}

    assert {
        "reproduce",
        "share",
        "split",
        "papers",
        "bruno",
        "gopal",
        "hoekstra",
        "leith",
        "miorandi",
    } <= names
    assert all(one.value.startswith("airtcp_papers.") for one in found)


def test_the_wheel_has_scenarios_claims_and_the_script(tmp_path: Path) -> None:
    """Built from the folder only, like pip does."""
    building = f"from hatchling.build import build_wheel; print(build_wheel({str(tmp_path)!r}))"
    done = subprocess.run(
        [sys.executable, "-c", building],
        cwd=PAPERS.parent,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    with zipfile.ZipFile(tmp_path / done.stdout.splitlines()[-1]) as wheel:
        packed = set(wheel.namelist())

    files = {one for one in PAPERS.rglob("*") if one.is_file() and "__pycache__" not in one.parts}
    assert {one.relative_to(PAPERS.parent).as_posix() for one in files} <= packed
    assert not any(name.startswith("tests") for name in packed)
