"""Model transfers as jobs of a shared processor: capacities, service, setup, arrivals.

The capacities C_k come from paper M, (12), corrected. The closed forms of processor sharing are in
`web` and `arrivals`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from airtcp_papers.miorandi.model import CORRECTED, capacity, single_station
from airtcp_papers.miorandi.predict.transfers import Transfers

if TYPE_CHECKING:
    from airtcp.models.checks import Values

#: C_k is constant beyond this many stations: by (9) one of them is backlogged on average.
_MOST_STATIONS: Final = 64


@dataclass(frozen=True, slots=True)
class Jobs:
    """The work that each transfer brings to the processor, and the processor's speed.

    `capacities_bps` are C_1, C_2, ..., as goodput in whole segments; `service_bits` is the mean
    work of a transfer; `setup_s` is the time before the data, during which nothing is shared.
    """

    capacities_bps: Values
    service_bits: float
    setup_s: float

    @property
    def service_s(self) -> float:
        """The mean time of a transfer's data alone, at C_1."""
        return self.service_bits / float(self.capacities_bps[0])

    def load(self, rate_per_s: float) -> float:
        """Return the load of `rate_per_s` arrivals: their work over the last capacity."""
        return rate_per_s * self.service_bits / float(self.capacities_bps[-1])


def of_sources(transfers: Transfers) -> Jobs:
    """Return the jobs of stations that think between transfers: at most one each in progress."""
    connections = transfers.connections
    capacities = capacity(
        connections.count, connections.parameters, transfers.variant, d=connections.every
    )
    return _jobs(transfers, np.asarray(capacities))


def of_arrivals(transfers: Transfers) -> Jobs:
    """Return the jobs of transfers that start independently of each other.

    Several transfers of one station share a single node, which sends their ACKs.
    """
    connections, parameters = transfers.connections, transfers.connections.parameters
    d = connections.every
    contending = float(single_station(d, parameters, CORRECTED).goodput_bps)
    turns = float(capacity(1, parameters, CORRECTED, d=d)[0])
    alone = contending if connections.smallest_window > d else turns
    if connections.count == 1:
        return _jobs(transfers, np.array([alone, contending]))
    most = min(connections.count, _MOST_STATIONS)
    more = capacity(most, parameters, CORRECTED, d=d)[1:]
    return _jobs(transfers, np.array([alone, *more]))


def _jobs(transfers: Transfers, capacities: Values) -> Jobs:
    service_bits = transfers.service_bits(float(capacities[0]))
    return Jobs(capacities, service_bits, transfers.setup_s())
