"""Model paper M: a queueing model for HTTP traffic over IEEE 802.11 WLANs.

D. Miorandi, A. A. Kherani, E. Altman, "A queueing model for HTTP traffic over IEEE 802.11 WLANs",
Computer Networks 50(1), 2006. Downloads through one access point, RTS/CTS or basic access.

- `parameters`: `Parameters` (Table 1, or any resolved scenario), `Variant`, `PAPER`, `CORRECTED`
- `contention`: (1) to (6), collisions among n_b backlogged nodes
- `throughput`: (7) to (12), endless downloads
- `session`: (13) to (17), short downloads: one station, and many with think times
- `appendix`: (A.1) to (A.3), one connection with a window of W* packets

Every function takes a `Variant`; the default is the paper's own reading. The numerical effects of
each reading are in `docs/papers/models-paper-m.md`.
"""

from airtcp_papers.miorandi.model.appendix import (
    phi,
    window_distribution,
    window_throughput,
    window_throughput_by_chain,
)
from airtcp_papers.miorandi.model.contention import (
    Contention,
    collision_probability,
    contention,
    mean_backoff_slots,
)
from airtcp_papers.miorandi.model.parameters import CORRECTED, PAPER, Parameters, Variant
from airtcp_papers.miorandi.model.session import (
    Sessions,
    SizeLaw,
    active_distribution,
    affine_session_time,
    mean_session_time,
    processor_sharing,
    session_delay,
    session_time,
    setup_time,
)
from airtcp_papers.miorandi.model.throughput import (
    Throughput,
    backlogged_distribution,
    capacity,
    single_station,
    throughput,
)

__all__ = [
    "CORRECTED",
    "PAPER",
    "Contention",
    "Parameters",
    "Sessions",
    "SizeLaw",
    "Throughput",
    "Variant",
    "active_distribution",
    "affine_session_time",
    "backlogged_distribution",
    "capacity",
    "collision_probability",
    "contention",
    "mean_backoff_slots",
    "mean_session_time",
    "phi",
    "processor_sharing",
    "session_delay",
    "session_time",
    "setup_time",
    "single_station",
    "throughput",
    "window_distribution",
    "window_throughput",
    "window_throughput_by_chain",
]
