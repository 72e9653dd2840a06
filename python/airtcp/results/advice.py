"""Advice: problems of a simulation and what was tried; its attributes are the keys of its JSON.

Knows the shape of advice. Finds nothing and tries nothing: that is `airtcp.advice`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from airtcp.labels import flows_of
from airtcp.results.verdict import Judged
from airtcp.stats import Interval

#: The outcome of a trial: the remedy helps; it does and somebody else has a problem then; it
#: changes little; more runs are needed to tell; it makes things worse.
Outcome = Literal["helps", "costs others", "no gain", "cannot tell", "harms"]


@dataclass(frozen=True)
class Goal:
    """The metric that a problem spoils: of a group and one of its parts; no group: of all flows.

    Jain's index may also be one `among` the flows of some groups, where there are others.
    """

    metric: str
    group: str
    part: str
    among: tuple[str, ...] = ()

    @property
    def whose(self) -> str:
        """The flows that it is of, in words: a group, with its direction if that matters."""
        if self.among:
            return f"flows of {', '.join(self.among)}"
        if not self.group:
            return "all flows"
        return flows_of(self.group, self.part)


@dataclass(frozen=True)
class Finding:
    """A problem that a simulation has: its name, the groups that feel it, the evidence in words.

    A remedy is a change that betters `goal`.
    """

    problem: str
    title: str
    groups: tuple[str, ...]
    evidence: str
    goal: Goal


@dataclass(frozen=True)
class Effect:
    """The effect of a remedy on one metric of a group in one direction: means before and after."""

    metric: str
    group: str
    part: str
    before: float
    after: float

    def to_dict(self) -> dict[str, Any]:
        """Keys `metric`, `group`, `part`, `before`, `after`."""
        return {
            "metric": self.metric,
            "group": self.group,
            "part": self.part,
            "before": self.before,
            "after": self.after,
        }


@dataclass(frozen=True)
class Trial:
    """A remedy that was simulated on the random numbers of the run itself.

    `set` has its changes by key path, None for a key that is taken out; of `research` no equipment
    has it. `before`, `after` and
    `difference` are of the problem's metric, over the replications that both have; `wins` and
    `loses` are what others feel of it, `hurts` names the groups that are badly served and the
    targets that are missed with it alone, and `left` the problems that remain or are new. `targets`
    are those of the scenario, or of its profiles of traffic, as its own runs judge them; empty
    where there are none, or a single run. `shares_of_alone` are, before and after, those of cells
    that the problem or a target is about, each of what the cell has alone in its own scenario.
    """

    name: str
    title: str
    source: str
    where: tuple[str, ...]
    research: bool
    set: Mapping[str, Any]
    outcome: Outcome
    before: Interval
    after: Interval
    difference: Interval
    wins: tuple[Effect, ...]
    loses: tuple[Effect, ...]
    left: tuple[str, ...]
    apply: Mapping[str, tuple[str, ...]]
    notes: tuple[str, ...]
    targets: tuple[Judged, ...] = ()
    hurts: tuple[str, ...] = ()
    shares_of_alone: Mapping[str, tuple[Interval, Interval]] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """The trial as it stands in the JSON."""
        return {
            "name": self.name,
            "title": self.title,
            "source": self.source,
            "where": list(self.where),
            "research": self.research,
            "set": dict(self.set),
            "outcome": self.outcome,
            "before": self.before.to_dict(),
            "after": self.after.to_dict(),
            "difference": self.difference.to_dict(),
            "wins": [one.to_dict() for one in self.wins],
            "loses": [one.to_dict() for one in self.loses],
            "hurts": list(self.hurts),
            "left": list(self.left),
            "apply": {tool: list(lines) for tool, lines in self.apply.items()},
            "notes": list(self.notes),
            "targets": [one.to_dict() for one in self.targets],
            "shares_of_alone": {
                cell: {"before": before.to_dict(), "after": after.to_dict()}
                for cell, (before, after) in self.shares_of_alone.items()
            },
        }


@dataclass(frozen=True)
class Advised:
    """A problem with the remedies that were tried against it, the best first.

    `unfit` says of remedies why they cannot be tried here.
    """

    finding: Finding
    remedies: tuple[Trial, ...] = ()
    unfit: Mapping[str, str] | None = None

    def to_dict(self) -> dict[str, Any]:
        """Keys `problem`, `title`, `groups`, `evidence`, `metric`, `remedies`, `unfit`."""
        found = self.finding
        return {
            "problem": found.problem,
            "title": found.title,
            "groups": list(found.groups),
            "evidence": found.evidence,
            "metric": {
                "name": found.goal.metric,
                "group": found.goal.group,
                "part": found.goal.part,
                **({"among": list(found.goal.among)} if found.goal.among else {}),
            },
            "remedies": [one.to_dict() for one in self.remedies],
            "unfit": dict(self.unfit or {}),
        }


@dataclass(frozen=True, repr=False)
class Advice:
    """The problems of a simulation, the one to look at first at the head."""

    problems: tuple[Advised, ...]
    #: Ctrl-C came before all trials had ended.
    interrupted: bool = False

    def __repr__(self) -> str:
        told = [f"{one.finding.title} ({', '.join(one.finding.groups)})" for one in self.problems]
        best = "" if self.best is None else f"; try {self.best.title}"
        return f"<Advice: {'; '.join(told) or 'nothing stands out as wrong'}{best}>"

    @property
    def best(self) -> Trial | None:
        """The remedy to take: the first that helps, and nobody else pays for."""
        for problem in self.problems:
            for trial in problem.remedies:
                if trial.outcome == "helps":
                    return trial
        return None

    def to_dict(self) -> list[dict[str, Any]]:
        """The problems as they stand in the JSON."""
        return [one.to_dict() for one in self.problems]
