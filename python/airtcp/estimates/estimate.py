"""One estimate: which estimator a metric has, and the numbers that it gives.

Knows metrics by name. Does not know how controls are subtracted (`regression`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

import numpy as np

from airtcp.estimates.laws import pause_s
from airtcp.estimates.quantiles import PERCENTILES, percentile
from airtcp.estimates.regression import adjusted
from airtcp.estimates.skewness import skewed_interval
from airtcp.estimates.steadiness import Steadiness
from airtcp.estimates.traffic import Run, Traffic
from airtcp.stats import Interval, student_interval

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from airtcp.scenario import ResolvedScenario

    Array = NDArray[np.float64]

#: Ways to an estimate: the mean over replications; sums freed from what was drawn; Little's law
#: (mean number in progress over rate) of such sums; the same where users think, transfer, and
#: think again, so that the rate, the time to think and the transfer time determine each other.
Estimator = Literal["plain", "controls", "little", "closed loop"]

#: Windows of each replication: many enough for three coefficients, and long beside a transfer.
_WINDOWS: Final = 4
_WINDOWS_OF_FEW: Final = 10
_FEW: Final = 5

_STEADY: Final = Steadiness("steady")


@dataclass(frozen=True, slots=True)
class Estimate:
    """An estimate of a metric; `airtcp.estimates` says what its fields are."""

    metric: str
    interval: Interval
    plain: Interval
    estimator: Estimator
    gain: float | None
    values: tuple[float | None, ...]
    steadiness: Steadiness


def estimate(
    runs: Sequence[Run],
    scenario: ResolvedScenario,
    metric: str,
    *,
    group: str | None = None,
    part: str = "all",
    confidence: float | None = None,
) -> Estimate:
    """Estimate a metric of everything, or of a group and a part of it, from replications.

    Raises KeyError for a metric, group or part that the runs do not have, ValueError without a run.
    """
    if not runs:
        raise ValueError("there is no replication to estimate from")
    level = scenario.run.confidence if confidence is None else confidence
    samples = [_measured(run, metric, group, part) for run in runs]
    plain = student_interval(samples, level)
    traffic = Traffic(runs, scenario, group, part)
    improved = _improved(traffic, metric) if plain.n == len(runs) > 1 else None
    if improved is None or not np.isfinite(improved[1]).all():
        return Estimate(metric, plain, plain, "plain", None, tuple(samples), _STEADY)
    estimator, values = improved
    if traffic.is_heavy:
        interval = skewed_interval(values, level, plain.half_width)
    else:
        interval = student_interval(values.tolist(), level)
    return Estimate(
        metric,
        interval,
        plain,
        estimator,
        _gain(plain, interval),
        tuple(values.tolist()),
        _STEADY,
    )


def _measured(run: Run, metric: str, group: str | None, part: str) -> float | None:
    answer = run.answer
    metrics = answer["metrics"]
    if group is not None:
        metrics = next(one for one in answer["groups"] if one["name"] == group)[part]
    value: float | None = metrics[metric]
    return value


def _gain(plain: Interval, interval: Interval) -> float | None:
    if not plain.half_width or not interval.half_width:
        return None
    return (plain.half_width / interval.half_width) ** 2


#: The columns that are freed from controls, by the names of the books.
_COLUMNS: Final = ("units", "begun", "active_s")
_UNITS, _BEGUN, _ACTIVE, _DELIVERED = range(4)


def _improved(traffic: Traffic, metric: str) -> tuple[Estimator, Array] | None:
    """The estimator of a metric and its values; None where there is but the plain one."""
    if not traffic.has_books or not traffic.is_recurrent:
        return None
    windows = _WINDOWS if len(traffic.runs) >= _FEW else _WINDOWS_OF_FEW
    if metric in PERCENTILES:
        roots = percentile(traffic, PERCENTILES[metric], windows)
        return None if roots is None else ("controls", roots)
    if metric not in _FORMULAS:
        return None
    estimator, formula = _FORMULAS[metric](traffic)
    if formula is None:
        return None
    totals = [traffic.sums(name, traffic.recurrent, windows) for name in _COLUMNS]
    totals.append(traffic.sums("delivered_bytes", traffic.entries, windows))
    freed = adjusted(np.stack(totals, axis=2), traffic.controls(windows))
    with np.errstate(divide="ignore", invalid="ignore"):
        return estimator, freed.pseudo_values(formula)


_Formula = Callable[["Array"], "Array"]


def _goodput(traffic: Traffic) -> tuple[Estimator, _Formula | None]:
    return "controls", lambda sums: 8.0 * sums[..., _DELIVERED] / traffic.measured_s


def _flow_goodput(traffic: Traffic) -> tuple[Estimator, _Formula | None]:
    flows = sum(map(traffic.users, traffic.entries))
    return "controls", lambda sums: 8.0 * sums[..., _DELIVERED] / (traffic.measured_s * flows)


def _active(traffic: Traffic) -> tuple[Estimator, _Formula | None]:
    if len(traffic.recurrent) < len(traffic.entries):
        # Endless transfers are in progress too, and are in no entry of the books' sums.
        return "plain", None
    return "controls", lambda sums: sums[..., _ACTIVE] / traffic.measured_s


def _transfer_time(traffic: Traffic) -> tuple[Estimator, _Formula | None]:
    word: Estimator = "closed loop" if traffic.is_closed else "little"
    return word, lambda sums: sums[..., _ACTIVE] / sums[..., _BEGUN]


def _page_time(traffic: Traffic) -> tuple[Estimator, _Formula | None]:
    if not traffic.has_pages or len(traffic.recurrent) != 1:
        return "plain", None
    entry = traffic.recurrent[0]
    think_s = pause_s(traffic.scenario.flows[entry]) or 0.0
    user_s = traffic.users(entry) * traffic.measured_s
    return "closed loop", lambda sums: user_s / sums[..., _UNITS] - think_s


_FORMULAS: Final[dict[str, Callable[[Traffic], tuple[Estimator, _Formula | None]]]] = {
    "goodput_bps": _goodput,
    "flow_goodput_bps": _flow_goodput,
    "active_flows": _active,
    "transfer_time_s": _transfer_time,
    "page_time_s": _page_time,
}
