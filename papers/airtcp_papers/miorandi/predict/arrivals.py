"""Predict FTP: transfers that start independently, at the capacities of paper M.

This is processor sharing with Poisson arrivals: the weights of M (16) without its factor for a
finite number of sources, with the speed C_n of (12) for n transfers. `effective` has the same with
paper H's service times.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import numpy as np
from airtcp.models.processor_sharing import limited, limited_distribution, stable_load
from airtcp.predict.answers import Answers

from airtcp_papers.miorandi.predict import CARDS, assumed_windows, assumptions
from airtcp_papers.miorandi.predict.assumed_sharing import near_one, not_poisson, unequal_shares
from airtcp_papers.miorandi.predict.jobs import of_arrivals
from airtcp_papers.miorandi.predict.transfers import Transfers, arrival_rate

if TYPE_CHECKING:
    from airtcp.scenario import ResolvedScenario

_SOURCE: Final = "M (16), Poisson arrivals"
_CARD: Final = CARDS["arrivals"]
#: Drop the states beyond which the total probability is below this; keep at most this many.
_NEGLIGIBLE: Final = 1e-12
_MOST_STATES: Final = 5000


def predict(scenario: ResolvedScenario, answers: Answers) -> None:
    """Predict transfer times, transfers in progress and goodput."""
    transfers = Transfers(scenario)
    broken = [
        *assumptions.network(transfers.connections),
        *assumed_windows.web_first_ack(transfers.connections),
        *assumed_windows.window_opens(transfers.connections),
        *not_poisson(transfers),
        *unequal_shares(transfers),
    ]
    with answers.attempt(_SOURCE):
        _open(transfers, broken, answers)


def _open(transfers: Transfers, broken: Sequence[str], answers: Answers) -> None:
    rate, jobs = arrival_rate(transfers), of_arrivals(transfers)
    capacities, service_s = jobs.capacities_bps, jobs.service_s
    busiest = float(stable_load("load (arrivals times size over capacity)", jobs.load(rate)))
    most = max(capacities.size, math.ceil(math.log(_NEGLIGIBLE) / math.log(busiest)))
    most = min(most, _MOST_STATES)
    speeds = np.full(most, capacities[-1] / capacities[0])
    speeds[: capacities.size] = capacities / capacities[0]
    said = limited(rate * service_s, most, service_s, speeds=speeds)
    pi = limited_distribution(rate * service_s, most, speeds=speeds)
    setup = jobs.setup_s
    sojourn = float(said.mean_sojourn_s) + setup
    goodput = 8.0 * transfers.mean_size_bytes * rate
    answers.add(
        _CARD.origin(_SOURCE, [*broken, *near_one(busiest)]),
        {
            "transfer_time_s": sojourn - transfers.last_ack_s,
            "transfer_time_to_last_ack_s": sojourn + transfers.timer_s,
            "active_flows": rate * (sojourn - transfers.last_ack_s),
            "goodput_bps": goodput,
            "flow_goodput_bps": goodput / transfers.connections.count,
            "active_flows_distribution": pi.tolist(),
        },
    )
