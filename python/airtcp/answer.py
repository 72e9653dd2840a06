"""The complete result for a scenario: simulation, verdict, causes and recommendation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from airtcp.compare import compare
from airtcp.judge.recommend import EFFORT, advise
from airtcp.judge.verdicts import verdict

if TYPE_CHECKING:
    from airtcp.results import Comparison
    from airtcp.scenario import ResolvedScenario


def run(
    scenario: ResolvedScenario | str | Path,
    *,
    effort: float = EFFORT,
    seed: int | None = None,
    replications: int | None = None,
    threads: int | None = None,
    progress: Callable[[float], None] | None = None,
) -> Comparison:
    """Simulate a scenario, check it against targets, and recommend a change, as `airtcp run` does.

    `effort` has the meaning it has in `airtcp.advise`; 0 tries no changes. The other arguments are
    passed to `airtcp.compare`, which also defines the errors raised.

    With the `cafe` of `airtcp.load`:

    >>> airtcp.run(cafe).advice.recommended is None
    True
    """
    result = compare(
        scenario, seed=seed, replications=replications, threads=threads, progress=progress
    )
    result = replace(result, verdict=verdict(result, growth=effort > 0.0))
    return replace(result, advice=advise(result, effort=effort, threads=threads))
