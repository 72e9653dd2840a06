"""Commands that README and documentation tell a reader to type work.

Blocks of a page marked `sh` run, line by line, in one directory, with the tested airtcp; then
blocks marked `python`. Files from a directory with the page's name are copied there first. Blocks
marked `text` do not run, because they need a clone or take minutes; `json` is output. Commands
within a sentence must exist, with each option that they name.
"""

import re
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

import pages
import pytest
from commands import call, typed

ROOT = Path(__file__).parents[2]
PAGES = [
    *(ROOT / name for name in ("README.md", "CHANGELOG.md", "CONTRIBUTING.md")),
    *pages.written(),
]
INCLUDED = re.compile(r"(?m)^```\{literalinclude\} (\S+)$")
FENCE = re.compile(r"(?ms)^```(\w+)\n(.*?)^```$")
SPAN = re.compile(r"`airtcp ([^`]*)`")
COMMANDS = {
    *("run", "predict", "simulate", "diff", "plan", "share", "split", "traffic", "import", "web"),
    *("sweep", "results", "plot", "reproduce", "example", "schema", "show", "lab", "testbed"),
    "shell",
}
#: Commands within sentences: the page, and the words after `airtcp`.
MENTIONS = [(page.name, text) for page in PAGES for text in SPAN.findall(page.read_text("utf-8"))]


def blocks(page: Path, language: str) -> list[str]:
    """Return the blocks of a page in a language."""
    found = FENCE.findall(page.read_text("utf-8"))
    return [text for name, text in found if name == language]


#: Lines that ran, with the files present: a line that left these files unchanged does not run again
#: on another page.
RAN: set[tuple[str, tuple[tuple[str, bytes], ...]]] = set()


def run(line: str, directory: Path) -> None:
    """Run a line of a page, unless it ran before."""

    def files() -> tuple[tuple[str, bytes], ...]:
        there = sorted(path for path in directory.rglob("*") if path.is_file())
        return tuple((str(path.relative_to(directory)), path.read_bytes()) for path in there)

    before = files()
    if (line, before) in RAN:
        return
    typed(line, directory)
    if files() == before:
        RAN.add((line, before))


@cache
def help_of(*command: str) -> str:
    done = call(*command, "--help")
    assert done.exit_code == 0, done.output
    return done.stdout


def test_something_is_tested() -> None:
    """Otherwise a new format of the pages could switch these tests off unnoticed."""
    named = {
        language: {page.name for page in PAGES if blocks(page, language)}
        for language in ("sh", "python")
    }
    assert named["sh"] >= {"README.md", "first-network.md"}
    assert "first-network.md" in named["python"]
    commands = {text.split()[0] for _, text in MENTIONS}
    assert {name for name in commands if name.islower() and not name.startswith("--")} == COMMANDS
    for page in PAGES:
        languages = set(re.findall(r"(?m)^```(\w+)$", page.read_text("utf-8")))
        assert languages <= {"sh", "python", "text", "toml", "json"}, page


@pytest.mark.parametrize(
    "page",
    [
        page
        for page in PAGES
        # The page of questions has its own test, which checks the answers.
        if page.name != "questions.md" and (blocks(page, "sh") or blocks(page, "python"))
    ],
    ids=lambda page: page.name,
)
def test_what_a_page_says_to_type_works(page: Path, tmp_path: Path) -> None:
    # A reader saves each included file under its own name.
    for shown in INCLUDED.findall(page.read_text("utf-8")):
        shutil.copy(page.parent / shown, tmp_path)
    for text in blocks(page, "toml"):
        if named := re.match(r"# (\S+\.toml)\n", text):
            (tmp_path / named[1]).write_text(text, encoding="utf-8")
    beside = page.with_suffix("")
    if beside.is_dir():
        shutil.copytree(beside, tmp_path, dirs_exist_ok=True)
    lines = [line for block in blocks(page, "sh") for line in block.splitlines() if line]
    for line in lines:
        assert re.match(r"(airtcp|cmp) ", line), f"a line of another kind: {line}"
        run(line, tmp_path)
    for block in blocks(page, "python"):
        code = [sys.executable, "-W", "error", "-c", block]
        done = subprocess.run(code, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert (done.returncode, "Traceback" in done.stderr) == (0, False), done.stderr


def test_commands_and_options_in_sentences_exist() -> None:
    for name, text in MENTIONS:
        command, *arguments = text.split()
        if command.startswith("--") or command == "COMMAND":
            continue
        # `traffic` has subcommands.
        known = help_of(command, arguments[0]) if command == "traffic" else help_of(command)
        for option in re.findall(r"--[a-z]+", " ".join(arguments)):
            assert re.search(rf"(?m)^ +(-\w, )?{option}\b", known), f"{name}: {text}"
    known = " ".join(help_of(command) for command in COMMANDS)
    for page in PAGES:
        for option in re.findall(r"`(--[a-z]+)[^`]*`", page.read_text("utf-8")):
            assert option in known, f"{page}: {option}"


def test_help_groups_every_command() -> None:
    sections = re.findall(r"(?m)^(\w.*):\n((?:  .*\n)+)", call("--help").stdout)
    groups = {head: re.findall(r"(?m)^  ([a-z]+)  ", rows) for head, rows in sections}

    assert {name for names in groups.values() for name in names} == COMMANDS
    assert groups["Answer a question"][0] == "run"
    assert "Others" not in groups


def test_links_verbs_and_files_that_pages_name_exist() -> None:
    """Check paths from the root, such as `crates/*/src`.

    NAME stands for any name, and `make docs` makes docs/_*. In code and other documents, check only
    the pages that messages and comments name.
    """
    verbs = set(re.findall(r"(?m)^([a-z-]+):.*## ", (ROOT / "Makefile").read_text()))
    first = "crates|python|tests|docs(?!/_)|validation|benches"
    pointed = [ROOT / "SUPPORT.md", *ROOT.glob("python/**/*.py"), *ROOT.glob("crates/**/*.rs")]
    for page in [*PAGES, *pointed]:
        text = page.read_text("utf-8")
        kinds = first if page in PAGES else "docs"
        for path in re.findall(rf"[` (]((?:{kinds})/[\w./*-]+)", text):
            assert list(ROOT.glob(path.rstrip("./").replace("NAME", "*"))), f"{page}: {path}"
        if page in PAGES:
            for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", text):
                assert "://" in target or (page.parent / target).exists(), f"{page}: {target}"
            named = set(re.findall(r"(?m)(?:`|^ *)make ([a-z-]+)", text))
            assert named <= verbs, f"{page}: {named - verbs}"
