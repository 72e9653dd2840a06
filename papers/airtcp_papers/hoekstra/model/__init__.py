"""Model paper H: file downloads over 802.11 as processor sharing, by effective service time.

G. J. Hoekstra, R. D. van der Mei, N. Diaz-Feraren, "Engineering elastic traffic in TCP-based
networks: processor sharing and effective service time". FTP downloads through one access point,
basic access, a TCP ACK per two segments.

- `parameters`: Tables I and II, `Parameters` (of these, or of any resolved scenario), `Variant`,
  `PAPER`, `CORRECTED`
- `service_time`: (1) to (22), the effective service time of a file, basic and refined
- `load`: (27) to (29), the effective load and the mean transfer time

(23) to (26) and (30), which need only a load, are in `airtcp.models.processor_sharing`.
"""

from airtcp_papers.hoekstra.model import load as _load
from airtcp_papers.hoekstra.model import parameters as _parameters
from airtcp_papers.hoekstra.model import service_time as _service_time
from airtcp_papers.hoekstra.model.load import *
from airtcp_papers.hoekstra.model.parameters import *
from airtcp_papers.hoekstra.model.service_time import *

__all__ = [
    *_load.__all__,
    *_parameters.__all__,
    *_service_time.__all__,
]
