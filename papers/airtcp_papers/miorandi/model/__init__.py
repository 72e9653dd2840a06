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

from airtcp_papers.miorandi.model import appendix as _appendix
from airtcp_papers.miorandi.model import contention as _contention
from airtcp_papers.miorandi.model import parameters as _parameters
from airtcp_papers.miorandi.model import session as _session
from airtcp_papers.miorandi.model import throughput as _throughput
from airtcp_papers.miorandi.model.appendix import *
from airtcp_papers.miorandi.model.contention import *
from airtcp_papers.miorandi.model.parameters import *
from airtcp_papers.miorandi.model.session import *
from airtcp_papers.miorandi.model.throughput import *

__all__ = [
    *_appendix.__all__,
    *_contention.__all__,
    *_parameters.__all__,
    *_session.__all__,
    *_throughput.__all__,
]
