"""The steady state of replications: as much is in progress at their end as at their beginning.

Knows sums of replications. Does not know what is estimated from them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

#: The words for runs that are long enough for their traffic, too short, or too few to tell.
State = Literal["steady", "unsteady", "cannot tell"]


@dataclass(frozen=True, slots=True)
class Steadiness:
    """The verdict about the steady state of some runs.

    `reason` says in words what is not steady, or why that cannot be told; `at_least` is a lower
    bound of the metric in its unit, and `simulate_s` a measured time in seconds that would do, both
    None where there is none.
    """

    state: State
    reason: str | None = None
    at_least: float | None = None
    simulate_s: float | None = None
