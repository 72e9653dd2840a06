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

from airtcp_papers.leith.model import hold as _hold
from airtcp_papers.leith.model import parameters as _parameters
from airtcp_papers.leith.model import throughput as _throughput
from airtcp_papers.leith.model.hold import *
from airtcp_papers.leith.model.parameters import *
from airtcp_papers.leith.model.throughput import *

__all__ = [
    *_hold.__all__,
    *_parameters.__all__,
    *_throughput.__all__,
]
