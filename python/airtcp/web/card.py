"""A result as a card to share: question, verdict, three numbers, and their reliability.

Each text also appears on the command line.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from airtcp.amounts import duration, quantity_with_interval
from airtcp.messages import run, words
from airtcp.metrics import METRICS
from airtcp.present import summary
from airtcp.present.cautions import cautions
from airtcp.present.subject import subject

if TYPE_CHECKING:
    from airtcp.results import Comparison
    from airtcp.results.verdict import Verdict
    from airtcp.scenario import ResolvedScenario

_NUMBERS: Final = 3

Json = dict[str, Any]


def of_comparison(result: Comparison) -> Json:
    """Return the card of a simulation."""
    simulation, verdict = result.simulation, result.verdict
    numbers = [
        {
            "label": " ".join(words.target_about(one.target.condition).split()),
            "text": words.measured(one.interval, one.target.condition.about),
            "wanted": f"target {words.wanted(one.target.condition)}",
        }
        for one in ([] if verdict is None else run.ordered(verdict))
    ]
    numbers += [
        {"label": metric.label, "text": quantity_with_interval(one, metric.unit), "wanted": ""}
        for name in summary.HEADLINES
        if (one := simulation.metrics.get(name)) is not None and one.is_known
        for metric in (METRICS[name],)
    ]
    n = simulation.replications
    sure = (
        f"Simulated: {n} replication{'s' if n > 1 else ''} of "
        f"{duration(result.scenario.run.duration_ns / 1e9)}, "
        f"{100 * simulation.confidence:g} % intervals, seed {result.provenance.seed}, "
        f"airtcp {result.provenance.version}."
    )
    card = {
        "title": result.scenario.title,
        "about": _about(result.scenario),
        "question": _question(verdict),
        "state": "" if verdict is None else verdict.state,
        "verdict": "" if verdict is None else run.headline(verdict)[0],
        "numbers": numbers[:_NUMBERS],
        "sure": " ".join([sure, *_care(cautions(result))]),
    }
    return card | {"text": text(card)}


def text(card: Json) -> str:
    """Return the card as lines of text."""
    lines = [f"{card['title']}: {card['about']}", card["question"], card["verdict"]]
    for one in card["numbers"]:
        wanted = f", {one['wanted']}" if one["wanted"] else ""
        lines.append(f"- {one['label']}: {one['text']}{wanted}")
    return "\n".join([*filter(None, lines), card["sure"]]) + "\n"


def _about(scenario: ResolvedScenario) -> str:
    """Describe the network, and its groups if there are several."""
    network, groups = subject(scenario)[0], scenario.stations
    if len(groups) == 1:
        return network
    return f"{network}; {', '.join(f'{one.count} {one.name}' for one in groups)}"


def _question(verdict: Verdict | None) -> str:
    if verdict is None or not verdict.targets:
        return "How does it perform?"
    if not verdict.written:
        kinds = dict.fromkeys(one.target.profile for one in verdict.targets)
        return f"Does it meet the default targets of its traffic ({', '.join(kinds)})?"
    return "Does it meet its targets?"


def _care(sentences: Sequence[str]) -> list[str]:
    """Return the first caution up to its first semicolon, if there is one."""
    return [f"Note: {one.partition(';')[0].removesuffix('.')}." for one in sentences[:1]]
