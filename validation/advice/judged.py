"""The judgement of advice on planted faults: the first problem named, and the first remedy tried.

A remedy mends a fault if the group that feels it gets back half of what it lost, or more, on the
scale of logarithms and at a seed that advice has not seen. Knows faults and advice; the table is
made by `docs/make_advice.py`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import airtcp
from airtcp.remedies import named
from faults import Fault, measured
from networks import Written

#: The seed at which remedies are judged; trials have that of the network.
FRESH = 1001
#: The part of the loss that a remedy gets back, at least.
MENDS = 0.5


@dataclass(frozen=True)
class Judgement:
    """The advice for a fault, and what it is worth; values are those of the group that feels it."""

    fault: Fault
    problem: str
    remedy: str
    healthy: float
    faulty: float
    mended: float | None

    @property
    def is_named(self) -> bool:
        """Tell whether the first problem is the planted one."""
        return self.problem == self.fault.cause

    @property
    def is_mended(self) -> bool:
        """Tell whether the first remedy mends it."""
        if self.mended is None:
            return False
        lost, got = (_log(self.faulty) - _log(one) for one in (self.healthy, self.mended))
        return got / lost >= MENDS


def judge(fault: Fault) -> Judgement:
    """Run a network with a fault, take its advice, and judge it at a fresh seed."""
    scenario = airtcp.load(fault.faulty)
    advice = airtcp.advise(airtcp.simulate(scenario))
    healthy, faulty = (
        measured(one, fault.feels, seed=FRESH) for one in (fault.healthy, fault.faulty)
    )
    first = advice.problems[0] if advice.problems else None
    if first is None or not first.remedies:
        problem = "" if first is None else first.finding.problem
        return Judgement(fault, problem, "", healthy, faulty, None)
    remedy = first.remedies[0]
    mended = measured(named(scenario).vary(remedy.set).written, fault.feels, seed=FRESH)
    return Judgement(fault, first.finding.problem, remedy.name, healthy, faulty, mended)


def alarms(network: Written) -> list[str]:
    """Run a healthy network, and name its problems."""
    advice = airtcp.advise(airtcp.simulate(airtcp.load(network)), most=0)
    return [one.finding.problem for one in advice.problems]


def _log(value: float) -> float:
    return math.log(min(max(value, 1e-9), 1e9))
