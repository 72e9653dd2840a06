"""Read the cards of models, and what they say of scenarios, from `cards.toml` of a paper's folder.

Its tables:

    [groups]                             # names of keys or of assumptions, for use in lists
    READS = ["FRAMES", "phy.cw_max"]

    [assumptions.no_path]
    text = "the server is at the access point: no wired path"
    keys = ["flows.path", "links"]       # the keys through which a scenario can break it

    [harmless.SMALL]                     # a group of harmless keys, with the reasons
    "phy.cw_max" = "..."

    [cards.web]
    like = "..."                         # another card, which this one changes
    name = "..."                         # and the other fields of `airtcp.predict.card.Card`
    harmless_of = ["SMALL"]              # groups of harmless keys, before its own

    [broken]                             # what to say of broken assumptions, and of no model
    path = "the server is at the access point; here ... of up to {delay}; {OPTIMISTIC}"

Lists may name the groups of `keys` and `airtcp.predict.assumptions`. FOLDER.NAME is
a group of another paper. A name after a minus removes its keys from the names before it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final

from airtcp.data import beside
from airtcp.predict import assumptions
from airtcp.predict.card import Assumption, Card

from airtcp_papers.common import keys, wording

#: The effects of a broken assumption, by the name that a sentence has for them.
EFFECTS: Final = {
    name: getattr(wording, name)
    for name in ("OPTIMISTIC", "PESSIMISTIC", "OF_HEAVY_TAILS", "UNKNOWN")
}

_ROOMS: Final = Path(__file__).parents[1]


@cache
def cards(folder: str) -> Mapping[str, Card]:
    """Return the cards of a paper's models by name. Raises KeyError or AttributeError."""
    room = _Room(folder)
    return {name: room.card(name) for name in room.told["cards"]}


def said(folder: str, name: str, /, **numbers: object) -> str:
    """Return a sentence of `broken`, with numbers in it and the effects of `wording`."""
    text: str = _room(folder).told["broken"][name]
    return text.format_map({**EFFECTS, **numbers})


class _Room:
    """The file of a paper's folder."""

    def __init__(self, folder: str) -> None:
        self.told = beside(str(_ROOMS / folder / "__init__.py"), "cards.toml")
        self.groups: dict[str, list[str]] = self.told.get("groups", {})

    def card(self, name: str) -> Card:
        told = self._whole(name)
        return Card(
            name=told["name"],
            by=told["by"],
            asked=told["asked"],
            answers=tuple(told["answers"]),
            reads=self._keys(told["reads"]),
            assumes=self._assumed(told["assumes"]),
            needs=self._assumed(told["needs"]),
            harmless=self._harmless(told.get("harmless_of", ())) | told.get("harmless", {}),
        )

    def _whole(self, name: str) -> dict[str, Any]:
        own = self.told["cards"][name]
        return {**(self._whole(own["like"]) if "like" in own else {}), **own}

    def _keys(self, names: Iterable[str]) -> tuple[str, ...]:
        found: list[str] = []
        for name in names:
            if name.startswith("-"):
                found.remove(name[1:])
            elif not name.isupper():
                found.append(name)
            elif name in self.groups:
                found += self._keys(self.groups[name])
            else:
                found += getattr(keys, name)
        return tuple(found)

    def _assumed(self, names: Iterable[str]) -> tuple[Assumption, ...]:
        found: list[Assumption] = []
        for name in names:
            if name.startswith("-"):
                (left_out,) = self._assumed([name[1:]])
                found.remove(left_out)
            elif "." in name:
                folder, _, own = name.partition(".")
                found += _room(folder)._assumed([own])
            elif name in self.groups:
                found += self._assumed(self.groups[name])
            elif name.isupper():
                found.append(getattr(keys, name))
            else:
                told = self.told["assumptions"][name]
                found.append(Assumption(told["text"], tuple(told.get("keys", ()))))
        return tuple(found)

    def _harmless(self, names: Iterable[str]) -> dict[str, str]:
        found: dict[str, str] = {}
        for name in names:
            if name.startswith("-"):
                del found[name[1:]]
            else:
                found |= self.told.get("harmless", {}).get(name) or _public(name)
        return found


@cache
def _room(folder: str) -> _Room:
    return _Room(folder)


def _public(name: str) -> Mapping[str, str]:
    """Return a group of harmless keys of `airtcp.predict`."""
    group: Mapping[str, str] = getattr(keys if hasattr(keys, name) else assumptions, name)
    return group
