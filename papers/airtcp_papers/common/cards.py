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

Lists may name the groups of `airtcp.predict.card`, in capitals. FOLDER.NAME is an assumption or a
group of another paper. A name after a minus removes its keys from the names before it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Final, TypeVar

from airtcp.data import beside
from airtcp.predict.card import Assumption, Card, assumption, harmless, keys
from airtcp.predict.wording import OPTIMISTIC, UNKNOWN

#: The effects of a broken assumption, by the name that a sentence has for them.
EFFECTS: Final = {
    "OPTIMISTIC": OPTIMISTIC,
    "PESSIMISTIC": "the model is too pessimistic: goodput too low, times too high",
    "OF_HEAVY_TAILS": (
        "times are too low, by up to 30 %, or too high by up to 5 % if the tail is light"
    ),
    "UNKNOWN": UNKNOWN,
}

_ROOMS: Final = Path(__file__).parents[1]
_Listed = TypeVar("_Listed")


@cache
def cards(folder: str) -> Mapping[str, Card]:
    """Return the cards of a paper's models by name. Raises KeyError."""
    return {name: _card(folder, name) for name in _told(folder)["cards"]}


def said(folder: str, name: str, /, **numbers: object) -> str:
    """Return a sentence of `broken`, with numbers in it and the effects."""
    text: str = _told(folder)["broken"][name]
    return text.format_map({**EFFECTS, **numbers})


def segments(window: float) -> str:
    """Format a number of segments."""
    return f"{window:g} segment{'s' if window != 1 else ''}"


@cache
def _told(folder: str) -> Mapping[str, Any]:
    return beside(str(_ROOMS / folder / "__init__.py"), "cards.toml")


def _card(folder: str, name: str) -> Card:
    told = _whole(folder, name)
    own: dict[str, str] = told.get("harmless", {})
    return Card(
        name=told["name"],
        by=told["by"],
        asked=told["asked"],
        answers=tuple(told["answers"]),
        reads=tuple(_listed(folder, told["reads"], _keys)),
        assumes=tuple(_listed(folder, told["assumes"], _assumed)),
        needs=tuple(_listed(folder, told["needs"], _assumed)),
        harmless=_harmless(folder, told.get("harmless_of", ())) | own,
    )


def _whole(folder: str, name: str) -> dict[str, Any]:
    """Return a card with the fields of the one that it is like."""
    own = _told(folder)["cards"][name]
    return {**(_whole(folder, own["like"]) if "like" in own else {}), **own}


def _listed(
    folder: str, names: Iterable[str], one: Callable[[str, str], Iterable[_Listed]]
) -> list[_Listed]:
    """Return what names of a list stand for, with the paper's groups in the place of theirs."""
    groups: Mapping[str, Sequence[str]] = _told(folder).get("groups", {})
    found: list[_Listed] = []
    for name in names:
        if name.startswith("-"):
            for gone in one(folder, name[1:]):
                found.remove(gone)
        elif name in groups:
            found += _listed(folder, groups[name], one)
        else:
            found += one(folder, name)
    return found


def _keys(_: str, name: str) -> Sequence[str]:
    return keys(name.lower()) if name.isupper() else (name,)


def _assumed(folder: str, name: str) -> Sequence[Assumption]:
    if "." in name:
        return _listed(name.partition(".")[0], [name.partition(".")[2]], _assumed)
    if name.isupper():
        return (assumption(name.lower()),)
    told = _told(folder)["assumptions"][name]
    return (Assumption(told["text"], tuple(told.get("keys", ()))),)


def _harmless(folder: str, names: Iterable[str]) -> dict[str, str]:
    own: Mapping[str, dict[str, str]] = _told(folder).get("harmless", {})
    found: dict[str, str] = {}
    for name in names:
        if name.startswith("-"):
            del found[name[1:]]
        else:
            found |= own.get(name) or harmless(name.lower())
    return found
