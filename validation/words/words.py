"""The rule for the first words of comments, and a count of the old comments that do not obey it.

    .venv/bin/python validation/words/words.py              as `make lint` does
    .venv/bin/python validation/words/words.py PATH ...     name what is against it in these files
    .venv/bin/python validation/words/words.py --store      lower the counts, or move them

A comment of an item begins with no headless question word and no bare "The same"; a Rust function's
begins with a verb in the third person, or with the name that a standard gives to the function,
`NextSeg()`; nothing is called "he". Old sentences are counted per file in old.txt, which may only
go down: a file has exactly its count, or none where it has no line. The rule knows forms, not
sense: whether the verb is the field's term, a reader must say.
"""

from __future__ import annotations

import argparse
import ast
import io
import re
import subprocess
import sys
import tokenize
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
OLD = Path(__file__).with_name("old.txt")

HEADLESS = re.compile(r"(Whether|What|Whatever|Who|Whoever|Whom|Where|How|When|Nobody|The same)\b")
HE = re.compile(r"\b([Hh]e|him|[Hh]is|himself)\b")
CODE = re.compile(r"`[^`]*`|\"[^\"]*\"|'[a-z]+'")
# A capital letter, and the ending of the third person, but for words that only look like it.
PLURALS = (
    "ACKs|Access|Always|Arrivals|Attempts|Bits|Blocks|Bytes|Datagrams|Entries|Flows|Frames|Harmless"
    "|Headers|Holes|Its|Laws|Lines|Nanoseconds|Nodes|Packets|Pages|Parameters|Quantiles|Rates"
    "|Receivers|Seconds|Sections|Segments|Sizes|Sources|Stations|Theirs|This|Timestamps|Zeros"
)
VERB = re.compile(rf"(?!({PLURALS})\b)[A-Z][a-z]+s\b|`?[\w.]+\(\)")
FUNCTION = re.compile(r'(pub(\([a-z]+\))? )?((const|unsafe|async|extern "C") )*fn ')

# Comments and attributes, some of which are longer than a line.
ABOVE_AN_ITEM = re.compile(r"((//.*|#!?\[(?s:.*?)\])?\n)*")

Fault = tuple[int, str]


def rust(text: str) -> Iterator[Fault]:
    """Line and fault of each comment of a Rust file that is against the rule."""
    lines = [line.strip() for line in text.splitlines()]
    for number, line in enumerate(lines):
        if "//" in line and HE.search(CODE.sub("", line[line.index("//") :])):
            yield number + 1, "calls something he"
        documents = line[:3] in ("///", "//!")
        before = lines[number - 1] if number else ""
        if before[:3] == line[:3] or (before[:2] == "//" and not documents):
            continue
        if line[:3] == "// " and (headless := HEADLESS.match(line[3:])):
            yield number + 1, f"begins with {headless[0]}"
        if not documents:
            continue
        first = line[3:].strip()
        below = "\n".join(lines[number:])
        above = ABOVE_AN_ITEM.match(below)
        attributes = above[0] if above else ""
        item = below[len(attributes) :].split("\n", 1)[0]
        if headless := HEADLESS.match(first):
            yield number + 1, f"begins with {headless[0]}"
        elif FUNCTION.match(item) and "#[test]" not in attributes and not VERB.match(first):
            yield number + 1, "of a function does not begin with a verb in the third person"


def python(text: str) -> Iterator[Fault]:
    """Line and fault of each comment of a Python file that is against the rule."""
    lines = text.splitlines()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type != tokenize.COMMENT:
            continue
        number = token.start[0]
        if HE.search(CODE.sub("", token.string)):
            yield number, "calls something he"
        goes_on = number > 1 and lines[number - 2].lstrip().startswith("#")
        if not goes_on and (headless := HEADLESS.match(token.string.lstrip("#: "))):
            yield number, f"begins with {headless[0]}"
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and node.body:
            words = ast.get_docstring(node) or ""
            if headless := HEADLESS.match(words):
                yield node.body[0].lineno, f"begins with {headless[0]}"
            if HE.search(CODE.sub("", words)):
                yield node.body[0].lineno, "calls something he"


def faults(path: Path) -> list[Fault]:
    """Lines of one file that are against the rule, in their order."""
    return sorted((rust if path.suffix == ".rs" else python)(path.read_text()))


def stored() -> dict[str, int]:
    """The old counts; where a merge left two lines of a file, the lower one holds."""
    counts: dict[str, int] = {}
    for count, path in re.findall(r"^(\d+) (\S+)$", OLD.read_text(), re.MULTILINE):
        counts[path] = min(int(count), counts.get(path, int(count)))
    return counts


def compare(old: dict[str, int], now: dict[str, int], store: bool) -> list[str]:
    """Complaints about files with more or fewer sentences against the rule than before.

    When they are stored, only the sum may not rise: sentences move from file to file.
    """
    if store:
        more = sum(now.values()) - sum(old.values())
        complaint = f"{more} sentences more than before are against the rule: only fewer are stored"
        return [complaint] if more > 0 else []
    complaints = []
    for path in sorted(old | now):
        is_now, was = now.get(path, 0), old.get(path, 0)
        if is_now > was:
            complaints.append(
                f"{path}: {is_now} comments are against the rule, {was} were: "
                f".venv/bin/python validation/words/words.py {path} names them"
            )
        elif is_now < was:
            complaints.append(
                f"{path}: {is_now} comments are against the rule, {was} were: "
                ".venv/bin/python validation/words/words.py --store counts them down"
            )
    return complaints


def main() -> int:
    """Compare with the old counts, name what is wrong in files, or store lower counts."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("paths", nargs="*", type=Path)
    parser.add_argument("--store", action="store_true")
    arguments = parser.parse_args()
    for path in arguments.paths:
        for line, fault in faults(path):
            print(f"{path}:{line}: {fault}")
    if arguments.paths:
        return 0
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard", "*.rs", "*.py"],
        cwd=ROOT, check=True, capture_output=True, text=True,
    ).stdout  # fmt: skip
    paths = [path for path in listed.split() if (ROOT / path).exists()]
    now = {path: count for path in paths if (count := len(faults(ROOT / path)))}
    complaints = compare(stored(), now, arguments.store)
    for complaint in complaints:
        print(complaint, file=sys.stderr)
    if arguments.store and not complaints:
        OLD.write_text("".join(f"{now[path]} {path}\n" for path in sorted(now)))
        print(f"{sum(now.values())} comments are against the rule.")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
