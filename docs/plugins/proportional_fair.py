"""Proportional-fair scheduler: serve the station with the best rate relative to its past service.

P. Viswanath, D. Tse, R. Laroia, "Opportunistic beamforming using dumb antennas", IEEE Transactions
on Information Theory 48(6), 2002, section II. At constant rates all stations get equal airtime.
"""

from collections import defaultdict
from collections.abc import Sequence

import airtcp
from airtcp.schedulers import Candidate

WINDOW_NS = 1_000_000_000


class ProportionalFair:
    """Serve the largest rate / (bits served, exponentially averaged over a second of airtime)."""

    def __init__(self) -> None:
        self._rates: dict[int, int] = {}
        self._served: defaultdict[int, float] = defaultdict(float)

    def choose(self, candidates: Sequence[Candidate]) -> Candidate:
        """Return the candidate with the largest quotient; the lowest number wins a tie."""
        self._rates.update((one.receiver, one.rate_bps or 1) for one in candidates)

        def quotient(one: Candidate) -> float:
            return one.weight * self._rates[one.receiver] / (self._served[one.receiver] + 1.0)

        return max(candidates, key=quotient)

    def on_airtime(self, receiver: int, airtime_ns: int) -> None:
        """Add the bits of this airtime at the station's rate, and decay the averages."""
        kept = 1.0 - min(1.0, airtime_ns / WINDOW_NS)
        for one in self._served:
            self._served[one] *= kept
        self._served[receiver] += self._rates.get(receiver, 1) * airtime_ns / 1e9


airtcp.schedulers.register("proportional-fair", ProportionalFair)
