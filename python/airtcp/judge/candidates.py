"""The changes that people can make: every remedy of the catalogue that applies, and pairs.

A candidate is a variant of the scenario with the remedies that make it. Whether it helps is for the
race to find out.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from airtcp.remedies import Changed, Remedy, catalogue, changed, together

if TYPE_CHECKING:
    from airtcp.scenario import Scenario

#: What a change takes, the least first: a recommendation is a setting or spectrum where one helps.
COSTS: Final = ("setting", "spectrum", "hardware", "usage", "research")
#: The costs that a recommendation may have, in two steps: the second only where the first is none.
EASY: Final = ("setting", "spectrum")
BOUGHT: Final = ("hardware",)


@dataclass(frozen=True)
class Candidate:
    """One or two remedies in a scenario."""

    remedies: tuple[Remedy, ...]
    changed: Changed

    @property
    def name(self) -> str:
        """The names of the remedies, joined by " + "."""
        return " + ".join(one.name for one in self.remedies)

    @property
    def cost(self) -> str:
        """What the change takes: the dearest of its remedies, a word of `COSTS`."""
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
    def changes(self) -> Mapping[str, Any]:
        """The changes by key path; None takes a key out."""
        return self.changed.changes


def singles(base: Scenario) -> tuple[list[Candidate], dict[str, str]]:
    """Return every remedy that applies, the cheapest kind first, and why the others do not.

    Remedies that come to the same scenario are tried once, as the first of them. The scenario's
    flows have names (`airtcp.remedies.named`).
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
    """Return two candidates at once; None where they change the same keys."""
    remedies = (*one.remedies, *(each for each in other.remedies if each not in one.remedies))
    new = together(base, remedies)
    if isinstance(new, str) or new.scenario.hash() in {
        each.changed.scenario.hash() for each in (one, other)
    }:
        return None
    return Candidate(remedies, new)
