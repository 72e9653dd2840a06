"""The first sentence of a difference: what users of each group get of it.

Knows the metric by which a group feels how it is served (`airtcp.advice`), and changes that are
worth a word. Does not know tables of all metrics.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from airtcp.advice.complaints import felt_metrics, gets_nothing, is_felt
from airtcp.advice.problems import unhappy
from airtcp.advice.reading import Reading
from airtcp.labels import flows_of, label_of
from airtcp.metrics import METRICS
from airtcp.present.difference import relative_text
from airtcp.present.verdict import amount
from airtcp.results.differences import Ranked

if TYPE_CHECKING:
    from airtcp.results import SimulationResult
    from airtcp.results.differences import Difference

#: A smaller part is not felt; chosen.
_FELT: Final = 0.02
#: Changes of one kind that are told.
_TOLD: Final = 3


def sentence(difference: Difference) -> str:
    """Tell the users' side of a difference: who is better off in B, who is worse, who cannot tell.

    A group is one in each of its directions, by the metric by which advice judges it.
    """
    changes = felt_changes(difference)
    if difference.replications < 2:
        return "One pair of replications says nothing for sure."
    if all(one.change.difference.mean == 0.0 for one in changes):
        return "Users feel nothing of it: every difference of theirs is exactly 0."
    parts = []
    for verdict, word in (("better", "Better in B"), ("worse", "Worse in B")):
        told = [_told(one) for one in changes if one.verdict == verdict and _is_large(one)]
        if told:
            more = f"; and {len(told) - _TOLD} more" if len(told) > _TOLD else ""
            parts.append(f"{word}: {'; '.join(told[:_TOLD])}{more}.")
    if not parts:
        parts.append("Users feel no difference that these runs can tell.")
    open_ = [_of(one) for one in changes if one.verdict == "cannot tell yet"]
    if open_:
        parts.append(f"Cannot tell yet: {', '.join(dict.fromkeys(open_))}.")
    return " ".join([*parts, *_badly_served(difference)])


def felt_changes(difference: Difference) -> list[Ranked]:
    """Return the changes of each group and direction by the metrics that its users feel."""
    found = []
    for scope in Reading(difference.a).scopes:
        for metric in felt_metrics(scope):
            change = difference.groups.get(scope.group, {}).get(scope.part, {}).get(metric)
            if change is None or change.difference.n == 0:
                continue
            if is_felt(metric, change.a.mean or 0.0, change.b.mean or 0.0):
                found.append(Ranked(metric, scope.group, scope.part, change))
    return found


def _is_large(one: Ranked) -> bool:
    a, moved = one.change.a.mean, one.change.difference.mean
    return a is not None and moved is not None and abs(moved) > _FELT * abs(a)


def _told(one: Ranked) -> str:
    about = METRICS[one.metric]
    a, b = (amount(each.mean, about) for each in (one.change.a, one.change.b))
    relative = relative_text(one.relative)
    return f"{label_of(about, _of(one))} {a} → {b}{f' ({relative})' if relative else ''}"


def _of(one: Ranked) -> str:
    return flows_of(one.group or "", one.part)


def _badly_served(difference: Difference) -> list[str]:
    """Name groups that are badly served in one of the two alone, as advice judges.

    Before them those that get nothing in one of the two alone.
    """
    a, b = unhappy(difference.a), unhappy(difference.b)
    none_a, none_b = _without_anything(difference.a), _without_anything(difference.b)
    kept = difference.groups
    parts = []
    for word, only in (
        ("Nothing gets through in B alone", none_b - none_a),
        ("Nothing gets through in A alone", none_a - none_b),
        ("Badly served in B alone", b - a - none_b),
        ("Badly served in A alone", a - b - none_a),
    ):
        names = sorted(f"{group} {part}s" for group, part in only if group in kept)
        if names:
            parts.append(f"{word}: {', '.join(names)}.")
    return parts


def _without_anything(result: SimulationResult) -> set[tuple[str, str]]:
    """Return the groups and directions in which people wait and nothing arrives."""
    scopes = Reading(result).scopes
    return {(scope.group, scope.part) for scope in scopes if gets_nothing(scope)}
