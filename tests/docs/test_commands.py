"""What README and pages tell a reader to type works.

Blocks of a page marked `sh` run, line by line, in one directory, with the airtcp that is tested; so
do blocks marked `python`, after them. Files in a directory with the page's name lie there before.
Blocks marked `text` are not run: they need a clone, or take minutes; `json` is shown. Commands
within a sentence must exist, with each option that they name.
"""

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pages
import pytest
from airtcp.cli.commands import app
from typer.testing import CliRunner

ROOT = Path(__file__).parents[2]
PAGES = [
    *(ROOT / name for name in ("README.md", "CHANGELOG.md", "CONTRIBUTING.md")),
    *pages.written(),
]
INCLUDED = re.compile(r"(?m)^```\{literalinclude\} (\S+)$")
FENCE = re.compile(r"(?ms)^```(\w+)\n(.*?)^```$")
SPAN = re.compile(r"`airtcp ([^`]*)`")
LANGUAGES = {"sh", "python", "text", "toml", "json"}
COMMANDS = {
    "run",
    "predict",
    "simulate",
    "diff",
    "plan",
    "share",
    "split",
    "traffic",
    "import",
    "web",
    "sweep",
    "results",
    "plot",
    "reproduce",
    "example",
    "schema",
    "show",
    "lab",
    "testbed",
    "shell",
}


def blocks(page: Path, language: str) -> list[str]:
    """The blocks of a page in a language."""
    found = FENCE.findall(pages.text(page))
    return [text for name, text in found if name == language]


def with_blocks(language: str) -> list[Path]:
    return [page for page in PAGES if blocks(page, language)]


def run(command: list[str], directory: Path) -> str:
    """The command's stdout. Its status must be 0, and it must not complain."""
    # The airtcp of the interpreter that runs this test, whatever else is on the path.
    binaries = str(Path(sys.executable).parent)
    path = os.pathsep.join([binaries, os.environ.get("PATH", "")])
    done = subprocess.run(
        command, cwd=directory, env=os.environ | {"PATH": path}, capture_output=True, text=True
    )
    assert done.returncode == 0, f"{shlex.join(command)}\n{done.stdout}\n{done.stderr}"
    assert "Traceback" not in done.stderr
    return done.stdout


@cache
def help_of(*command: str) -> str:
    done = CliRunner().invoke(app, [*command, "--help"], prog_name="airtcp")
    assert done.exit_code == 0, done.output
    return done.stdout


def mentions() -> Iterator[tuple[str, str]]:
    """Commands within sentences: page, and what follows `airtcp`."""
    for page in PAGES:
        for text in SPAN.findall(pages.text(page)):
            yield page.name, text


def test_something_is_tested() -> None:
    """So that a change of the pages' form cannot switch these tests off."""
    assert {page.name for page in with_blocks("sh")} >= {"README.md", "ten-minutes.md"}
    assert {page.name for page in with_blocks("python")} >= {"ten-minutes.md"}
    named = {text.split()[0] for _, text in mentions()}
    assert {name for name in named if not name.startswith("--")} == COMMANDS


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_blocks_are_in_a_known_language(page: Path) -> None:
    assert set(re.findall(r"(?m)^```(\w+)$", pages.text(page))) <= LANGUAGES


@pytest.mark.parametrize(
    "page",
    [
        page
        for page in PAGES
        # The questions have a test of their own, which looks at the answers.
        if page.name != "questions.md" and (blocks(page, "sh") or blocks(page, "python"))
    ],
    ids=lambda page: page.name,
)
def test_what_a_page_says_to_type_works(page: Path, tmp_path: Path) -> None:
    # A reader saves what is shown as a file under the name of that file.
    for shown in INCLUDED.findall(pages.text(page)):
        shutil.copy(page.parent / shown, tmp_path)
    beside = page.with_suffix("")
    if beside.is_dir():
        shutil.copytree(beside, tmp_path, dirs_exist_ok=True)
    lines = [line for block in blocks(page, "sh") for line in block.splitlines() if line]
    for line in lines:
        assert re.match(r"(airtcp|cmp) ", line), f"a line of another kind: {line}"
        run(["bash", "-euo", "pipefail", "-c", line], tmp_path)
    for block in blocks(page, "python"):
        run([sys.executable, "-W", "error", "-c", block], tmp_path)


@pytest.mark.parametrize(("page", "text"), sorted(set(mentions())))
def test_commands_in_sentences_exist(page: str, text: str) -> None:
    command, *arguments = text.split()
    # `traffic` has commands of its own.
    known = help_of(command, arguments[0]) if command == "traffic" else help_of(command)
    for option in re.findall(r"--[a-z]+", " ".join(arguments)):
        assert re.search(rf"(?m)^ +(-\w, )?{option}\b", known), f"{page}: {option}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_options_in_sentences_exist(page: Path) -> None:
    known = " ".join(help_of(command) for command in COMMANDS)
    for option in re.findall(r"`(--[a-z]+)[^`]*`", pages.text(page)):
        assert option in known


def test_help_groups_every_command() -> None:
    sections = re.findall(r"(?m)^(\w.*):\n((?:  .*\n)+)", run(["airtcp", "--help"], ROOT))
    groups = {head: re.findall(r"(?m)^  ([a-z]+)  ", rows) for head, rows in sections}

    assert {name for names in groups.values() for name in names} == COMMANDS
    assert groups["Answer a question"][0] == "run"
    assert "Others" not in groups


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_to_files_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", pages.text(page)):
        if "://" not in target:
            assert (page.parent / target).exists(), target


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_verbs_of_the_makefile_exist(page: Path) -> None:
    verbs = set(re.findall(r"(?m)^([a-z-]+):.*## ", (ROOT / "Makefile").read_text()))
    text = pages.text(page)

    assert set(re.findall(r"`make ([a-z-]+)", text)) <= verbs


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_files_that_pages_name_exist(page: Path) -> None:
    """Paths from the root, such as `tests/witness`, `crates/*/src`; `make docs` builds docs/_*."""
    first = "crates|python|tests|docs(?!/_)|validation|benches"
    text = pages.text(page)
    for path in re.findall(rf"[` ]((?:{first})/[\w./*-]+)", text):
        # NAME stands for any.
        assert list(ROOT.glob(path.rstrip("./").replace("NAME", "*"))), path
