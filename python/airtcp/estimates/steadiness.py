"""Decide whether replications are in steady state: bytes in progress do not grow.

Consider users who think, transfer, and think again. In a run that has not reached steady state, the
rate X of transfers lies between two measurable rates. Delivered bytes over E[S] give a rate that
rises. Begun transfers give a rate that falls. With n users the transfer time is n / X - E[Z]. So
delivered bytes give at least, and begun transfers at most, the transfer time of a long run. A
saturated network delivers its steady-state goodput long before it is in steady state.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

import numpy as np

from airtcp.amounts import duration
from airtcp.estimates.regression import adjusted
from airtcp.phrases import phrase
from airtcp.stats import Interval, student_interval

if TYPE_CHECKING:
    from airtcp.estimates.traffic import Traffic

#: Whether runs are long enough for their traffic, too short, or too few to decide.
State = Literal["steady", "unsteady", "cannot tell"]

#: Fewer replications than this do not show their own spread.
_FEW: Final = 5
#: The confidence level at which bytes in progress count as growing.
_SURE: Final = 0.99
#: A smaller relative difference between the two transfer times does no harm, nor does a smaller
#: share of open traffic that stays in progress.
_HARMLESS: Final = 0.05
_HARMLESS_SHARE: Final = 0.01
#: Allowed relative difference after the recommended measured time.
_LEFT: Final = 0.025


@dataclass(frozen=True, slots=True)
class Steadiness:
    """The verdict about the steady state of some runs.

    `reason` says in words what is not steady, or why that cannot be decided. `at_least` is a lower
    bound of the metric in its unit. `simulate_s` is a measured time in seconds that would be long
    enough. Both are None if unknown.
    """

    state: State
    reason: str | None = None
    at_least: float | None = None
    simulate_s: float | None = None

    @property
    def advice(self) -> str:
        """The reason in words, and the measured time that would be long enough."""
        about = self.reason or "not steady"
        enough_s = self.simulate_s
        return about if enough_s is None else f"{about}; simulate {duration(enough_s)}"


@dataclass(frozen=True, slots=True)
class Judgement:
    """A verdict, and the ratio of the rate by bytes to the rate by begun transfers.

    `rates` is None if there is no growth, or nothing to compare.
    """

    steadiness: Steadiness
    rates: float | None = None


STEADY: Final = Judgement(Steadiness("steady"))


def judge(traffic: Traffic) -> Judgement:
    """Judge whether a traffic is in a steady state."""
    if not traffic.has_accounts or not traffic.is_recurrent or not traffic.has_true_sizes:
        return STEADY
    growth = _growth(traffic)
    wanted = float(traffic.begun_bytes.mean())
    if growth.low is None or growth.high is None or growth.low <= 0.0 <= growth.high or not wanted:
        return STEADY
    share = (growth.mean or 0.0) / wanted
    in_progress = np.mean(
        [len(run.accounts.under_way_age_s) for run in traffic.runs if run.accounts]
    )
    reason = phrase(
        "estimates.drift.in_progress",
        share="more" if share > 0.0 else "fewer",
        share_2=abs(share),
        in_progress=in_progress,
    )
    if not traffic.is_closed:
        state: State = "unsteady" if abs(share) > _HARMLESS_SHARE else "steady"
        return Judgement(Steadiness(state, reason if state == "unsteady" else None))
    witnesses = _transfer_times(traffic)
    if witnesses is None:
        # Next to nothing ended, or began, so no length can be recommended.
        return Judgement(Steadiness("unsteady", reason))
    by_begun, by_bytes, rates = witnesses
    off = abs(by_bytes / by_begun - 1.0)
    if not off > _HARMLESS:
        return Judgement(STEADY.steadiness, rates)
    enough_s = rounded_up(traffic.measured_s * off / _LEFT)
    return Judgement(Steadiness("unsteady", reason, simulate_s=enough_s), rates)


def _growth(traffic: Traffic) -> Interval:
    """Return the interval of a window's growth of bytes in progress, less the part of draws.

    A single large transfer is no growth. With few replications, windows are treated as independent.
    That is conservative: in steady state a later window takes away what an earlier one adds, so
    their sum varies less.
    """
    if len(traffic.runs) < _FEW:
        grown = traffic.begun_bytes - traffic.sums("delivered_bytes", traffic.recurrent)
        return student_interval(grown.ravel().tolist(), _SURE)
    freed = adjusted(traffic.growth[..., None], traffic.draws)
    values = freed.pseudo_values(lambda sums: sums[..., 0] / traffic.windows)
    return student_interval(values.tolist(), _SURE)


def _transfer_times(traffic: Traffic) -> tuple[float, float, float] | None:
    """Return transfer times by begun transfers and by bytes, and the ratio of the rates.

    None if next to nothing began or ended, so that the rates do not exist.
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
    """Round up to one digit; None if no finite time is enough."""
    if not math.isfinite(seconds):
        return None
    digit = 10.0 ** math.floor(math.log10(seconds))
    return math.ceil(seconds / digit) * digit
