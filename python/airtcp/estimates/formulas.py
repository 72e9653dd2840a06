"""The estimators of metrics from sums over transfers: what to compute from the adjusted sums."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from airtcp.estimates.laws import pause_s
from airtcp.estimates.loops import loops
from airtcp.estimates.percentiles import PERCENTILES
from airtcp.estimates.told import Estimator
from airtcp.estimates.traffic import Traffic

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

#: The columns that are adjusted for controls, as named in `Accounts`.
COLUMNS: Final = ("units", "begun", "active_s")
UNITS, BEGUN, ACTIVE, DELIVERED = range(4)
Formula = Callable[["Array"], "Array"]


def _goodput(traffic: Traffic) -> tuple[Estimator, Formula | None]:
    return "controls", lambda sums: 8.0 * sums[..., DELIVERED] / traffic.measured_s


def _flow_goodput(traffic: Traffic) -> tuple[Estimator, Formula | None]:
    flows = traffic.users(traffic.entries)
    return "controls", lambda sums: 8.0 * sums[..., DELIVERED] / (traffic.measured_s * flows)


def _active(traffic: Traffic) -> tuple[Estimator, Formula | None]:
    if len(traffic.recurrent) < len(traffic.entries):
        # Endless transfers are in progress too, and no entry of the sums counts them.
        return "plain", None
    return "controls", lambda sums: sums[..., ACTIVE] / traffic.measured_s


def _transfer_time(traffic: Traffic) -> tuple[Estimator, Formula | None]:
    is_loop = traffic.is_closed and not traffic.of_pages
    word: Estimator = "closed loop" if is_loop else "little"
    return word, lambda sums: sums[..., ACTIVE] / sums[..., BEGUN]


def _page_time(traffic: Traffic) -> tuple[Estimator, Formula | None]:
    if not traffic.of_pages or len(traffic.recurrent) != 1 or not traffic.has_true_sizes:
        return "plain", None
    if all(one.is_short for one in loops(traffic, as_came=True)):
        # A short page time would be the difference of two long times, which is less precise than
        # the plain mean.
        return "plain", None
    think_s = pause_s(traffic.flow(traffic.recurrent[0])) or 0.0
    user_s = traffic.users(traffic.recurrent) * traffic.measured_s
    return "closed loop", lambda sums: user_s / sums[..., UNITS] - think_s


FORMULAS: Final[dict[str, Callable[[Traffic], tuple[Estimator, Formula | None]]]] = {
    "goodput_bps": _goodput,
    "flow_goodput_bps": _flow_goodput,
    "active_flows": _active,
    "transfer_time_s": _transfer_time,
    "page_time_s": _page_time,
}

#: The metrics with an estimator other than the plain mean.
IMPROVED: Final = (*FORMULAS, *PERCENTILES)
