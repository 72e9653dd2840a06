"""Trials of remedies in lines of text, for the terminal and for the report.

Knows how a remedy that was simulated is told: before and after, who else wins or loses, how to try
it by hand, and what equipment wants. Finds and tries nothing.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final

from airtcp.amounts import percent
from airtcp.labels import flows_of, label_of
from airtcp.metrics import METRICS
from airtcp.present.verdict import about as about_target
from airtcp.present.verdict import amount
from airtcp.results.advice import Advice, Advised, Effect, Trial
from airtcp.scenario.toml_text import option_text

if TYPE_CHECKING:
    from airtcp.results.plans import Gain

#: The targets, and the effects on others, that are told of a remedy, of each kind.
_TOLD: Final = 3

_OUTCOMES: Final = {
    "helps": "helps",
    "costs others": "helps, and brings another problem",
    "no gain": "no gain",
    "cannot tell": "cannot tell yet: more replications are needed",
    "harms": "harms",
}


def headline(advised: Advised) -> str:
    """Tell a problem: whom it concerns, and the evidence."""
    found = advised.finding
    return f"{found.title} ({', '.join(found.groups)}): {found.evidence}"


def outcome(trial: Trial) -> str:
    """Tell the outcome of a trial in words."""
    return _OUTCOMES[trial.outcome]


def effect_line(advised: Advised, trial: Trial) -> str:
    """Tell what a remedy does to the metric of its problem, from how many runs, and the outcome."""
    goal = advised.finding.goal
    about = METRICS[goal.metric]
    n = trial.difference.n
    runs = f"{n} run{'s' if n != 1 else ''}"
    if trial.before.mean is None or trial.after.mean is None:
        both = f"no run has a value of {about.label} both without and with it"
        return f"{trial.title}: {outcome(trial)} ({both})"
    before, after = (amount(one.mean, about) for one in (trial.before, trial.after))
    label = label_of(about, goal.whose)
    return f"{trial.title}: {label} {before} → {after} ({runs}); {outcome(trial)}"


def others(trial: Trial | Gain) -> list[str]:
    """Tell whether targets hold then, and who else wins or loses by a remedy."""
    lines = []
    if isinstance(trial, Trial):
        suffices = targets_line(trial)
        lines = [*shares_lines(trial), *([] if suffices is None else [suffices])]
        missed = [about_target(one) for one in trial.targets if one.state == "fails"]
        hurt = [one for one in trial.hurts if one not in missed]
        if hurt and trial.outcome == "costs others":
            lines.append(f"Badly served then: {_listed(hurt, ', ')}.")
    for word, effects in (("Also better", trial.wins), ("Worse", trial.loses)):
        if effects:
            lines.append(f"{word}: {_listed([_effect(one) for one in effects], '; ')}.")
    return lines


def shares_lines(trial: Trial) -> list[str]:
    """Tell what cells get of what they have alone, before and after, where that was simulated."""
    return [
        f"Cell {cell} gets {percent(before.mean)} → {percent(after.mean)} of what it has alone."
        for cell, (before, after) in trial.shares_of_alone.items()
        if before.mean is not None and after.mean is not None
    ]


def targets_line(trial: Trial) -> str | None:
    """Tell of a remedy that helps whether it suffices; None where no target was judged."""
    if not trial.targets or trial.outcome not in ("helps", "costs others"):
        return None
    missed, open_ = (
        [about_target(one) for one in trial.targets if one.state == state]
        for state in ("fails", "unknown")
    )
    of = len(trial.targets)
    hold = of - len(missed) - len(open_)
    if hold == of:
        return (
            "The target holds then."
            if of == 1
            else f"{'Both' if of == 2 else f'All {of}'} targets hold then."
        )
    told = [
        f"{words} {_listed(names, ', ')}"
        for words, names in (("missed then:", missed), ("cannot tell yet:", open_))
        if names
    ]
    line = "; ".join(told) + (f" ({hold} of {of} targets hold)." if of > 1 else ".")
    return line[0].upper() + line[1:]


def _listed(told: list[str], between: str) -> str:
    """Join what is told, as much of it as is told one by one."""
    more = len(told) - _TOLD
    return between.join(told[:_TOLD]) + (f" and {more} more" if more > 0 else "")


def settings(changes: Mapping[str, Any]) -> str:
    """Return the options of a command line that make changes by key path."""
    return " ".join(
        f"--set {shlex.quote(f'{path}={option_text(value)}')}" for path, value in changes.items()
    )


def equipment(apply: Mapping[str, Iterable[str]], notes: Iterable[str]) -> list[str]:
    """Return the lines that equipment wants, under the name of each program, then notes."""
    lines = [line for tool, told in apply.items() for line in (f"# {tool}", *told)]
    return lines + [f"# note: {note}" for note in notes]


def told(advice: Advice) -> list[Advised]:
    """Return the problems against which something was tried, or cannot be."""
    return [one for one in advice.problems if one.remedies or one.unfit]


def unfit(problems: Iterable[Advised]) -> list[str]:
    """Tell which remedies do not fit here, and why."""
    return [f"{name}: {why}" for one in problems for name, why in (one.unfit or {}).items()]


def _effect(effect: Effect) -> str:
    about = METRICS[effect.metric]
    before, after = (amount(one, about) for one in (effect.before, effect.after))
    whose = flows_of(effect.group, effect.part)
    return f"{label_of(about, whose)} {before} → {after}"
