"""Writes who made airtcp into the paper and the package, from the one file that is filled in.

Reads CITATION.cff (authors with `given-names`, `family-names`, `affiliation`, `orcid`, `email`, or
a `name`; `doi`), and changes the front matter of paper.md and `authors` of pyproject.toml.
Everything else there stays as it is.

    python docs/publication/authors.py            write
    python docs/publication/authors.py --check    exit status 1 where they differ
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parents[2]
UNKNOWN = "To be filled in before submission"

People = list[dict[str, str]]


def main() -> int:
    """Write or check; exit status 1 where a check finds another text."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="write nothing")
    args = parser.parse_args()
    people = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))["authors"]
    differ = []
    for name, filled in (("docs/publication/paper.md", paper), ("pyproject.toml", package)):
        path = ROOT / name
        before = path.read_text(encoding="utf-8")
        after = filled(before, people)
        if before != after:
            differ.append(name)
            if not args.check:
                path.write_text(after, encoding="utf-8")
    if args.check and differ:
        print(f"{', '.join(differ)}: other authors than CITATION.cff; run {Path(__file__).name}")
        return 1
    return 0


def full_name(person: dict[str, str]) -> str:
    """Given and family names, or the name of a group."""
    return person.get("name") or f"{person['given-names']} {person['family-names']}"


def paper(text: str, people: People) -> str:
    """Return the paper with these people in its front matter, each affiliation once."""
    places = list(dict.fromkeys(one.get("affiliation", UNKNOWN) for one in people))
    authors: list[dict[str, Any]] = []
    for one in people:
        author: dict[str, Any] = {"name": full_name(one)}
        if "orcid" in one:
            author["orcid"] = one["orcid"].rpartition("/")[2]
        authors.append(author | {"affiliation": places.index(one.get("affiliation", UNKNOWN)) + 1})
    listed = [{"name": place, "index": index} for index, place in enumerate(places, 1)]
    front = f"authors:\n{block(authors)}affiliations:\n{block(listed)}"
    return replaced(r"authors:\n.*?(?=date:)", front, text)


def block(entries: list[dict[str, Any]]) -> str:
    """Return a list of mappings in YAML, indented by two."""
    made = yaml.safe_dump(entries, sort_keys=False, allow_unicode=True, width=1000)
    return "".join(f"  {line}\n" for line in made.splitlines())


def package(text: str, people: People) -> str:
    """Return the package's metadata with these people as authors."""
    entries = []
    for one in people:
        pairs = {"name": full_name(one), "email": one.get("email")}
        told = ", ".join(
            f"{key} = {json.dumps(value, ensure_ascii=False)}"
            for key, value in pairs.items()
            if value
        )
        entries.append(f"{{ {told} }}")
    return replaced(r"(?m)^authors = .*\n", f"authors = [{', '.join(entries)}]\n", text)


def replaced(pattern: str, by: str, text: str) -> str:
    """Return a text in which what a pattern finds, exactly once, is another."""
    after, count = re.subn(pattern, lambda _: by, text, flags=re.S if "(?m)" not in pattern else 0)
    assert count == 1, pattern
    return after


if __name__ == "__main__":
    sys.exit(main())
