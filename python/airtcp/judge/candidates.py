"""List the changes that people can make: every remedy of the catalogue that applies, and pairs.

A candidate is a variant of the scenario with one or two remedies applied. The race finds out
whether it helps.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from airtcp.remedies import Changed, Remedy, catalogue, changed, together

if TYPE_CHECKING:
    from airtcp.scenario import Scenario

#: Costs of a change, lowest first. A recommendation prefers a setting or spectrum if one helps.
COSTS: Final = ("setting", "spectrum", "hardware", "usage", "research")
#: Costs that a recommendation may have. `BOUGHT` comes first only if no change of `EASY` meets more
#: targets.
EASY: Final = ("setting", "spectrum")
BOUGHT: Final = ("hardware",)
#: Relative numbers of devices to be changed; 1 for other places.
_DEVICES: Final = {"client": 10, "server": 3}


@dataclass(frozen=True)
class Candidate:
    """A scenario with one or two remedies applied."""

    remedies: tuple[Remedy, ...]
    changed: Changed

    @property
    def name(self) -> str:
        """The names of the remedies, joined by " + "."""
        return " + ".join(one.name for one in self.remedies)

    @property
    def cost(self) -> str:
        """The highest cost among the remedies, a word of `COSTS`."""
        return max((one.cost for one in self.remedies), key=COSTS.index)

    @property
    def title(self) -> str:
        """The titles of the remedies, joined by "and"."""
        return " and ".join(one.title for one in self.remedies)

    @property
    def source(self) -> str:
        """The sources of the remedies."""
        return "; ".join(dict.fromkeys(one.source for one in self.remedies))

    @property
    def where(self) -> tuple[str, ...]:
        """Where the change is made: access point, client, server, router, link."""
        return tuple(dict.fromkeys(each for one in self.remedies for each in one.where))

    @property
    def effort(self) -> tuple[int, int]:
        """The number of changes, and of devices to be changed.

        A network has one or few access points, several servers, and many clients.
        """
        return len(self.remedies), sum(_DEVICES.get(place, 1) for place in self.where)

    def is_part_of(self, other: Candidate) -> bool:
        """Return True if the other candidate has all remedies of this one, and more."""
        more = len(other.remedies) > len(self.remedies)
        return more and all(one in other.remedies for one in self.remedies)

    @property
    def changes(self) -> Mapping[str, Any]:
        """The changed values by key path; None removes the key."""
        return self.changed.changes


def singles(base: Scenario) -> tuple[list[Candidate], dict[str, str]]:
    """Return every remedy that applies, lowest cost first, and why each other one does not apply.

    If several remedies give the same scenario, only the first is tried. The scenario's flows have
    names (`airtcp.remedies.named`).
    """
    found: list[Candidate] = []
    unfit: dict[str, str] = {}
    seen = {base.hash()}
    for remedy in sorted(catalogue(), key=lambda one: COSTS.index(one.cost)):
        new = changed(base, remedy)
        if isinstance(new, str):
            unfit[remedy.name] = new
            continue
        digest = new.scenario.hash()
        if digest in seen:
            continue
        seen.add(digest)
        found.append(Candidate((remedy,), new))
    return found, unfit


def pair(base: Scenario, one: Candidate, other: Candidate) -> Candidate | None:
    """Return both candidates combined, or None if they change the same keys."""
    remedies = (*one.remedies, *(each for each in other.remedies if each not in one.remedies))
    new = together(base, remedies)
    if isinstance(new, str) or new.scenario.hash() in {
        each.changed.scenario.hash() for each in (one, other)
    }:
        return None
    return Candidate(remedies, new)


def once(pairs: Iterable[Candidate]) -> list[Candidate]:
    """Return pairs without those that have the changes of an earlier one in another order."""
    known: dict[frozenset[str], Candidate] = {}
    for one in pairs:
        known.setdefault(frozenset(each.name for each in one.remedies), one)
    return list(known.values())
