"""Model paper L: TCP uploads through an access point that prioritizes TCP ACKs.

D. J. Leith, P. Clifford, "Using the 802.11e EDCF to achieve TCP upload fairness over WLAN links",
2005. The access point sends TCP ACKs with a shorter AIFS and a smaller CWmin than the stations have
for data, so that the stations share the channel evenly and their queues never become empty.

- `parameters`: `Parameters` (times, from lengths, a PHY or a resolved scenario), `Variant`, `PAPER`
- `hold`: the chain with hold states, closed form and transition matrix: (5), L1, L2, L3
- `throughput`: (1) to (9), S_TCP, the simplified model, the CWmin with the largest throughput

Section 5, TCP at a wired bottleneck, is `leith.aimd`. Every function takes a `Variant`; the
default is the paper's own reading.
"""

from airtcp_papers.leith.model.hold import (
    hold_probability,
    state_distribution,
    state_distribution_by_chain,
    transition_matrix,
    visits_per_hold,
)
from airtcp_papers.leith.model.parameters import CORRECTED, PAPER, Parameters, Variant
from airtcp_papers.leith.model.throughput import (
    BestWindow,
    Contention,
    Throughput,
    best_window,
    contention,
    simplified_throughput,
    throughput,
)

__all__ = [
    "CORRECTED",
    "PAPER",
    "BestWindow",
    "Contention",
    "Parameters",
    "Throughput",
    "Variant",
    "best_window",
    "contention",
    "hold_probability",
    "simplified_throughput",
    "state_distribution",
    "state_distribution_by_chain",
    "throughput",
    "transition_matrix",
    "visits_per_hold",
]
