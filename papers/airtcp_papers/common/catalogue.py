"""List all items, the papers and studies that they belong to, and claims by name."""

from __future__ import annotations

import difflib
import importlib
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from airtcp.data import beside
from airtcp.exceptions import AirtcpError

import airtcp_papers
from airtcp_papers.common.claims import Claim, load_claims
from airtcp_papers.common.item import REGISTRY, Item


@dataclass(frozen=True, slots=True)
class Paper:
    """A paper: its letter, the package with its items, and its citation.

    A study of our own has its name as letter, its question as citation, and makes no claims.
    """

    letter: str
    package: str
    citation: str

    @property
    def heading(self) -> str:
        """The title of its page."""
        return f"Paper {self.letter}" if self.letter in PAPERS else f"Study: {self.letter}"

    @property
    def folder(self) -> Path:
        """The folder with its items and scenario files."""
        return Path(airtcp_papers.__file__).parent / self.package

    @property
    def scenarios(self) -> list[Path]:
        """The scenario files in its folder."""
        return [one for one in sorted(self.folder.glob("*.toml")) if one.stem not in _TABLES]


#: The files of a paper's folder that are no scenarios.
_TABLES: Final = ("cards", "claims", "items", "sliders")

#: All papers by letter, in the order in which they are made, and then our own studies by name.
SOURCES: Final[dict[str, Paper]] = {
    letter: Paper(letter, told["package"], told["citation"].strip())
    for letter, told in beside(__file__, "papers.toml").items()
}
#: The papers, without the studies.
PAPERS: Final = {letter: paper for letter, paper in SOURCES.items() if letter.isupper()}

#: Selects the items of all papers and studies.
EVERYTHING: Final = "all"
#: Selects the evaluation of the claims, and the items that it needs.
CLAIMS: Final = "claims"

_NEAREST = 3

_KINDS = ("eq", "fig", "figA", "table")
_PARTS = re.compile(r"(\D*)(\d*)(.*)")


class UnknownItemError(AirtcpError):
    """There is no item, paper or claim of that name; the text suggests the nearest names."""


def items() -> dict[str, Item]:
    """Return every item by name, paper by paper."""
    for paper in SOURCES.values():
        package = f"airtcp_papers.{paper.package}"
        for module in importlib.import_module(package).ITEMS:
            importlib.import_module(f"{package}.{module}")
    letters = list(SOURCES)
    order = sorted(REGISTRY, key=lambda name: (letters.index(REGISTRY[name].paper), _place(name)))
    return {name: REGISTRY[name] for name in order}


def find(wanted: str) -> list[Item]:
    """Return the items selected by a word: an item, a claim's item, a paper, or "all".

    Case does not matter.

    Raises UnknownItemError with the nearest names.
    """
    known = items()
    if wanted.lower() == EVERYTHING:
        return list(known.values())
    if wanted.upper() in PAPERS:
        return [item for item in known.values() if item.paper == wanted.upper()]
    by_lower = {name.lower(): item for name, item in known.items()}
    if wanted.lower() in by_lower:
        return [by_lower[wanted.lower()]]
    claim = claim_of(wanted)
    if claim is not None:
        return [known[claim.item]]
    raise UnknownItemError(_unknown(wanted, known))


def claim_of(wanted: str) -> Claim | None:
    """Return the claim of that name, or None if there is none or an item has that name too."""
    if wanted.lower() in {name.lower() for name in items()}:
        return None
    return next((one for one in load_claims() if one.id.lower() == wanted.lower()), None)


def _place(name: str) -> tuple[int, int, str]:
    """Return the position of an item in its paper: figures, appendix figures, tables, our own."""
    found = _PARTS.fullmatch(name.partition(".")[2])
    if found is not None and found[1] in _KINDS:
        return _KINDS.index(found[1]), int(found[2] or 0), found[3]
    return len(_KINDS), 0, name


def _unknown(wanted: str, known: dict[str, Item]) -> str:
    claims = (one.id for one in load_claims())
    words = {name.lower(): name for name in (*claims, *known, *SOURCES, EVERYTHING, CLAIMS)}
    near = difflib.get_close_matches(wanted.lower(), words, n=_NEAREST, cutoff=0.5)
    nearest = ", ".join(words[word] for word in near)
    offer = f"the nearest: {nearest}" if nearest else f"papers are {', '.join(PAPERS)}"
    where = "`airtcp reproduce --list` shows all items, `airtcp reproduce claims --list` all claims"
    return f"there is no item or claim {wanted!r}; {offer}; {where}"
