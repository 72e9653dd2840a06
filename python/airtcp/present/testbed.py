"""What is said of a testbed: how late its packets were, and whether it is to be trusted."""

from __future__ import annotations

from airtcp.amounts import quantity
from airtcp.results.testbed import Lag

__all__ = ["lateness", "trust"]


def trust(lag: Lag) -> str:
    """In a word, whether the air kept up with the clock."""
    return "trusted" if lag.trusted else "not trusted"


def lateness(lag: Lag) -> str:
    """How late packets were, in a line."""
    if lag.p99_s is None:
        return "no packet came through"
    bound = quantity(lag.bound_s, "s", 2)
    return (
        f"99 % of {lag.packets} packets at most {quantity(lag.p99_s, 's', 2)} late, the latest "
        f"{quantity(lag.max_s, 's', 2)}; {100 * lag.share_above:.2g} % later than {bound}"
        + ("" if lag.real_time else "; without real-time priority")
    )
