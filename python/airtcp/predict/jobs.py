"""Transfers as jobs of a processor that they share: capacities, service, set-up, arrivals.

Knows which transfers can be seen so, and where their capacities C_k come from (paper M, (12),
corrected). Knows neither closed forms of the sharing (`web`, `arrivals`) nor its simulation.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from airtcp.models.miorandi import CORRECTED, capacity, single_station
from airtcp.predict.transfers import Transfers

if TYPE_CHECKING:
    from airtcp.models._checks import Values

#: Stations beyond which C_k no longer changes: (9) has one of them backlogged on average.
_MOST_STATIONS: Final = 64


@dataclass(frozen=True, slots=True)
class Jobs:
    """The work that each transfer brings to the processor, and how fast the processor is.

    `capacities_bps` has C_1, C_2, ... of goodput in whole segments; `service_bits` the mean of what
    a transfer takes of it; `setup_s` what goes before the data, in which nothing is shared.
    """

    capacities_bps: Values
    service_bits: float
    setup_s: float

    @property
    def service_s(self) -> float:
        """The mean time of a transfer's data alone, at C_1."""
        return self.service_bits / float(self.capacities_bps[0])

    def load(self, rate_per_s: float) -> float:
        """The load of `rate_per_s` arrivals: their work over the last capacity."""
        return rate_per_s * self.service_bits / float(self.capacities_bps[-1])


def of_sources(transfers: Transfers) -> Jobs:
    """The jobs of stations that think between transfers: at most one of each is in progress."""
    connections = transfers.connections
    capacities = capacity(
        connections.count, connections.parameters, transfers.variant, d=connections.every
    )
    return _jobs(transfers, np.asarray(capacities))


def of_arrivals(transfers: Transfers) -> Jobs:
    """The jobs of transfers that begin whether others have ended or not.

    Several of one station have but one node to answer for them.
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
