"""The steady state of replications: as much is in progress at their end as at their beginning.

Knows sums of replications, and what a growth of what is in progress means for them. Does not know
percentiles, nor what is told of it.

Where users think, transfer, and think again, the rate X of transfers lies in a steady state
between two rates of a run that has not reached it: that of the bytes delivered over E[S], which
rises, and that of transfers begun, which falls. With n users the transfer time is n / X - E[Z], so
that both give one: the first is at most, the second at least what a long run gives. A saturated
network delivers what it delivers in the steady state long before it is there.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

import numpy as np

from airtcp.amounts import duration, percent
from airtcp.estimates.regression import adjusted
from airtcp.stats import Interval, student_interval

if TYPE_CHECKING:
    from airtcp.estimates.traffic import Traffic

#: The words for runs that are long enough for their traffic, too short, or too few to tell.
State = Literal["steady", "unsteady", "cannot tell"]

#: So few replications do not tell their own spread.
_FEW: Final = 5
#: The confidence at which a growth of what is in progress is one.
_SURE: Final = 0.99
#: A difference between the two transfer times, or a share of open traffic that stays in progress,
#: which is smaller does no harm.
_HARMLESS: Final = 0.05
_HARMLESS_SHARE: Final = 0.01
#: The difference that is left after the time that is advised.
_LEFT: Final = 0.025


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

    @property
    def advice(self) -> str:
        """The reason in words, and the measured time that would do."""
        about = self.reason or "not steady"
        enough_s = self.simulate_s
        return about if enough_s is None else f"{about}; simulate {duration(enough_s)}"


@dataclass(frozen=True, slots=True)
class Judgement:
    """The meaning of a growth: the verdict, and the rate by bytes over that by begun transfers.

    `rates` is None where there is no growth, or nothing to compare.
    """

    steadiness: Steadiness
    rates: float | None = None


STEADY: Final = Judgement(Steadiness("steady"))


def judge(traffic: Traffic) -> Judgement:
    """Judge whether a traffic is in a steady state."""
    if not traffic.has_books or not traffic.is_recurrent or not traffic.has_true_sizes:
        return STEADY
    growth = _growth(traffic)
    wanted = float(traffic.begun_bytes.mean())
    if growth.low is None or growth.high is None or growth.low <= 0.0 <= growth.high or not wanted:
        return STEADY
    share = (growth.mean or 0.0) / wanted
    in_progress = np.mean([len(run.books.under_way_age_s) for run in traffic.runs if run.books])
    reason = (
        f"{'more' if share > 0.0 else 'fewer'} bytes are in progress at the end than at the "
        f"beginning, by {percent(abs(share))} of those wanted, in {in_progress:.0f} transfers"
    )
    if not traffic.is_closed:
        state: State = "unsteady" if abs(share) > _HARMLESS_SHARE else "steady"
        return Judgement(Steadiness(state, reason if state == "unsteady" else None))
    witnesses = _transfer_times(traffic)
    if witnesses is None:
        # Next to nothing ended, or began: no length can be told from that.
        return Judgement(Steadiness("unsteady", reason))
    by_begun, by_bytes, rates = witnesses
    off = abs(by_bytes / by_begun - 1.0)
    if not off > _HARMLESS:
        return Judgement(STEADY.steadiness, rates)
    enough_s = rounded_up(traffic.measured_s * off / _LEFT)
    return Judgement(Steadiness("unsteady", reason, simulate_s=enough_s), rates)


def _growth(traffic: Traffic) -> Interval:
    """The interval of what a window adds to the bytes in progress.

    Less what the draws explain: a large transfer alone is no growth. Of few replications windows
    are taken for independent: in a steady state what one adds another takes away, so that their sum
    is known better than that.
    """
    if len(traffic.runs) < _FEW:
        grown = traffic.begun_bytes - traffic.sums("delivered_bytes", traffic.recurrent)
        return student_interval(grown.ravel().tolist(), _SURE)
    freed = adjusted(traffic.growth[..., None], traffic.draws)
    values = freed.pseudo_values(lambda sums: sums[..., 0] / traffic.windows)
    return student_interval(values.tolist(), _SURE)


def _transfer_times(traffic: Traffic) -> tuple[float, float, float] | None:
    """Transfer times by the rate of beginnings and by bytes, and the ratio of these rates.

    None where next to nothing began or came, so that there are no such rates.
    """
    columns = (
        traffic.sums("units", traffic.recurrent),
        traffic.begun_bytes,
        traffic.thought_s,
        traffic.sums("delivered_bytes", traffic.recurrent),
    )
    freed = adjusted(np.stack(columns, axis=2), traffic.draws)
    units, begun_bytes, thought_s, delivered = freed.whole
    user_s = traffic.users(traffic.recurrent) * traffic.measured_s
    if min(units, begun_bytes, delivered, user_s - thought_s) <= 0.0:
        return None
    rates = float(delivered / begun_bytes)
    return (
        float((user_s - thought_s) / units),
        float((user_s - thought_s * rates) / (units * rates)),
        rates,
    )


def rounded_up(seconds: float) -> float | None:
    """Round up to one digit; None where no time would do."""
    if not math.isfinite(seconds):
        return None
    digit = 10.0 ** math.floor(math.log10(seconds))
    return math.ceil(seconds / digit) * digit
