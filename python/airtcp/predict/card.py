"""Define the card of a model: its predictions, the keys that it reads, and its assumptions.

A card is data, one for each model that `predict` may call; the formulas are in `airtcp.models`.
Keys are those of the resolved scenario, without list indices: `flows.tcp.mss_bytes`. A key covers
everything below it, so `ap.queue` stands for the whole table.

If a scenario has a key that a card neither reads nor makes an assumption about, the key must be in
`HARMLESS`, with the reason why no model needs it, or be listed on the card as harmless to this
model. The tests check this for every resolved key, so a new key cannot be ignored by accident.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Final

from airtcp.data import beside


@dataclass(frozen=True, slots=True)
class Assumption:
    """An assumption of a model, and the keys through which a scenario can break it."""

    text: str
    keys: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Origin:
    """The origin of a value: module, paper and equation, assumptions, and broken assumptions."""

    by: str
    source: str
    assumes: Sequence[str]
    broken: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Card:
    """A model as users and tests see it.

    `name` is the paper or its authors, `asked` the flows that select it, `answers` its metrics,
    `reads` the keys in its formulas, `needs` its preconditions, and `harmless` the keys that do not
    affect it, with reasons.
    """

    name: str
    by: str
    asked: str
    answers: tuple[str, ...]
    reads: tuple[str, ...]
    assumes: tuple[Assumption, ...]
    needs: tuple[Assumption, ...] = ()
    harmless: Mapping[str, str] = field(default_factory=dict)

    def origin(self, source: str, broken: Iterable[str] = (), *, by: str | None = None) -> Origin:
        """Return the origin of a value that this model computes by equation `source`."""
        texts = tuple(assumption.text for assumption in self.assumes)
        return Origin(by or self.by, source, texts, tuple(broken))

    def knows(self, key: str) -> bool:
        """Return whether the model reads the key, makes an assumption about it, or requires it."""
        judged = (key for one in (*self.assumes, *self.needs) for key in one.keys)
        return covers(self.reads, key) or covers(judged, key)

    def ignores(self, key: str) -> str | None:
        """Return why the key is harmless to this model, or None if nothing says so."""
        for harmless in (self.harmless, HARMLESS):
            for known, reason in harmless.items():
                if covers((known,), key):
                    return reason
        return None


def covers(keys: Iterable[str], key: str) -> bool:
    """Return whether one of `keys` is `key` or a table above it."""
    return any(key == known or key.startswith(f"{known}.") for known in keys)


_DATA: Final = beside(__file__)
#: Keys that no model reads, and why that is right.
HARMLESS: Final[Mapping[str, str]] = MappingProxyType(_DATA["harmless"]["all"])


def keys(group: str) -> tuple[str, ...]:
    """Return a group of keys of `card.toml`."""
    return _listed(_DATA["keys"][group])


def assumption(given: str | Mapping[str, Any]) -> Assumption:
    """Return an assumption: one that several cards make by its name, or one by text and keys."""
    one = _DATA["assumption"][given] if isinstance(given, str) else given
    return Assumption(one["text"], tuple(one["keys"]))


def harmless(*groups: str) -> dict[str, str]:
    """Return the keys of some groups that do not affect a model, with the reasons.

    A group "-KEY" removes a key.
    """
    found: dict[str, str] = {}
    for group in groups:
        if group.startswith("-"):
            found.pop(group[1:])
        else:
            found |= _DATA["harmless"][group]
    return found


def card(module: str, name: str = "card") -> Card:
    """Return the card of a model, by its name in the TOML file next to the model's module.

    Keys are listed as in `card.toml`. `assumes` and `needs` list assumptions of several models by
    name, and others with text and keys. `harmless_of` names groups of harmless keys, which
    `harmless` follows.
    """
    record = beside(module)[name]
    return Card(
        name=record["name"],
        by=record["by"],
        asked=record["asked"],
        answers=tuple(record["answers"]),
        reads=_listed(record["reads"]),
        assumes=tuple(map(assumption, record["assumes"])),
        needs=tuple(map(assumption, record.get("needs", ()))),
        harmless=harmless(*record.get("harmless_of", ())) | record.get("harmless", {}),
    )


def _listed(names: Iterable[str]) -> tuple[str, ...]:
    """Return keys, with the keys of groups in the place of their names."""
    found: list[str] = []
    for name in names:
        if name.startswith("@"):
            found += keys(name[1:])
        elif name.startswith("-"):
            found = [key for key in found if not covers((name[1:],), key)]
        else:
            found.append(name)
    return tuple(found)
