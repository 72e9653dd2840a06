"""Families of models: what `predict` asks for a kind of traffic, and how packages add their own.

A family is a function of a scenario that adds its predictions, or returns the reason if it might
have been expected to apply. Ranks say how accurate families are: `predict` asks the lowest first.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from airtcp.extensions import loaded
from airtcp.phrases import phrase

if TYPE_CHECKING:
    from airtcp.predict.answers import Answers
    from airtcp.predict.card import Card
    from airtcp.scenario import ResolvedScenario

#: Kinds of traffic over the DCF: saturated UDP, endless TCP transfers, transfers that repeat after
#: a think time, transfers that start independently, and a single transfer; transfers of the second
#: and third kind in several cells.
Kind = Literal["saturated", "endless", "web", "ftp", "once", "cells"]
#: Why no model applies to TCP over the DCF if no package has one.
IN_PAPERS: Final = phrase("predict.uncovered.in_papers")
Ask: TypeAlias = "Callable[[ResolvedScenario, Answers], str | None]"


@dataclass(frozen=True, slots=True)
class Family:
    """A family of models: its rank, the source that reasons name, and the function to ask.

    `is_setting` is true if it predicts the best value of a key, and no performance. `rules_out` is
    true if it only reports why no model of performance applies; then `predict` asks no other.
    """

    rank: int
    source: str
    ask: Ask
    is_setting: bool = False
    rules_out: bool = False


@dataclass(frozen=True, slots=True)
class Models:
    """The models of a package: their cards, and the families for a kind of traffic.

    Both are functions, which import models only when called. `with_beacons` names the modules whose
    models include beacons, such as "models.hoekstra.service_time".
    """

    cards: Callable[[], Sequence[Card]]
    families: Callable[[Kind, ResolvedScenario], Sequence[Family]]
    with_beacons: tuple[str, ...] = ()


def of_packages() -> tuple[Models, ...]:
    """Return the models of installed packages."""
    return loaded("airtcp.models", Models)


def families_of(kind: Kind, scenario: ResolvedScenario, *own: Family) -> list[Family]:
    """Return `own` families and the families of packages, by rank."""
    packages = (family for one in of_packages() for family in one.families(kind, scenario))
    families = sorted([*own, *packages], key=lambda family: family.rank)
    if any(one.rules_out for one in families):
        return [one for one in families if one.rules_out or one.is_setting]
    return families


def under_dcf(family: Callable[[ResolvedScenario, Answers], None], *, silent: bool = False) -> Ask:
    """Wrap a family that assumes a single DCF, so that it accepts an equivalent EDCA.

    `silent`: if EDCA is not equivalent, another family reports the reason.
    """
    from airtcp.predict.access import as_dcf
    from airtcp.predict.answers import Answers

    def ask(scenario: ResolvedScenario, answers: Answers) -> str | None:
        access = as_dcf(scenario)
        if access.scenario is None:
            return None if silent else access.reason
        own = Answers()
        family(access.scenario, own)
        own.add_broken(access.broken)
        answers.append(own)
        return None

    return ask
