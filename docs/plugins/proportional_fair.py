"""The proportional-fair scheduler: the station whose rate is highest beside what it has had.

P. Viswanath, D. Tse, R. Laroia, "Opportunistic beamforming using dumb antennas", IEEE Transactions
on Information Theory 48(6), 2002, section II. At rates that stay, all stations get equal airtime.
"""

from collections import defaultdict
from collections.abc import Sequence

import airtcp
from airtcp.schedulers import Candidate

WINDOW_NS = 1_000_000_000


class ProportionalFair:
    """Serves the largest rate / (bits served, exponentially forgotten over a second of airtime)."""

    def __init__(self) -> None:
        self._rates: dict[int, int] = {}
        self._served: defaultdict[int, float] = defaultdict(float)

    def choose(self, candidates: Sequence[Candidate]) -> Candidate:
        """Return the candidate with the largest quotient; of equals the one of lowest number."""
        self._rates.update((one.receiver, one.rate_bps or 1) for one in candidates)

        def quotient(one: Candidate) -> float:
            return one.weight * self._rates[one.receiver] / (self._served[one.receiver] + 1.0)

        return max(candidates, key=quotient)

    def on_airtime(self, receiver: int, airtime_ns: int) -> None:
        """Note what the airtime carries at the station's rate, and forget a part of all."""
        kept = 1.0 - min(1.0, airtime_ns / WINDOW_NS)
        for one in self._served:
            self._served[one] *= kept
        self._served[receiver] += self._rates.get(receiver, 1) * airtime_ns / 1e9


airtcp.schedulers.register("proportional-fair", ProportionalFair)
