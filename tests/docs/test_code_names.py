"""Pages that refer to the code: every path, file and type that they name exists."""

import re
from pathlib import Path

import pages
import pytest

ROOT = pages.DOCS.parent
CONTRIBUTING = ROOT / "CONTRIBUTING.md"
#: Pages that name types.
GUIDES = [
    CONTRIBUTING,
    pages.DOCS / "development/architecture.md",
    pages.DOCS / "explanation/simulator.md",
]
PATH = re.compile(r"(?:crates|python|tests|docs|benches|papers|gui)/[\w./*-]*")
CODE = [
    path
    for folder, suffix in (("crates", "rs"), ("python", "py"), ("papers", "py"), ("tests", "py"))
    for path in (ROOT / folder).rglob(f"*.{suffix}")
]
DEFINITION = re.compile(r"\b(?:struct|enum|trait|type|class|fn|def) (\w+)|^(\w+) = ", re.MULTILINE)


def quoted(page: Path) -> list[str]:
    return re.findall(r"`([^`\n]+)`", page.read_text("utf-8"))


@pytest.mark.parametrize("page", [CONTRIBUTING, *pages.written()], ids=lambda page: page.stem)
def test_paths_and_files_exist(page: Path) -> None:
    """`NAME` stands for the name of a new file next to the existing ones."""
    files = {path.name for path in CODE}
    for name in quoted(page):
        if PATH.fullmatch(name):
            assert any(ROOT.glob(name.replace("NAME", "*"))), name
        elif re.fullmatch(r"\w+\.rs", name):
            assert name in files, name


@pytest.mark.parametrize("page", GUIDES, ids=lambda page: page.stem)
def test_types_exist(page: Path) -> None:
    named = {name for name in quoted(page) if re.fullmatch(r"[A-Z][a-z]+[A-Z]?\w*", name)}
    defined = {
        one or other for path in CODE for one, other in DEFINITION.findall(path.read_text("utf-8"))
    }
    assert named <= defined, named - defined
