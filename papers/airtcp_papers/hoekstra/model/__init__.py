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

from airtcp_papers.hoekstra.model.load import EffectiveLoad, effective_load
from airtcp_papers.hoekstra.model.parameters import (
    CORRECTED,
    PAPER,
    TABLE_1,
    TABLE_1_PROVENANCE,
    TIME_UNIT_S,
    Beacon,
    Dialogue,
    Parameters,
    Radio,
    Variant,
    frame_time,
)
from airtcp_papers.hoekstra.model.service_time import (
    ServiceTime,
    ack_time,
    acknowledged_time,
    beacon_time,
    collision_time,
    cycle_time,
    data_time,
    effective_service_time,
    ftp_get_time,
    ftp_retrieve_time,
    ftp_setup_time,
    last_cycle_time,
    overhead_time,
    tcp_close_time,
    tcp_setup_time,
)

__all__ = [
    "CORRECTED",
    "PAPER",
    "TABLE_1",
    "TABLE_1_PROVENANCE",
    "TIME_UNIT_S",
    "Beacon",
    "Dialogue",
    "EffectiveLoad",
    "Parameters",
    "Radio",
    "ServiceTime",
    "Variant",
    "ack_time",
    "acknowledged_time",
    "beacon_time",
    "collision_time",
    "cycle_time",
    "data_time",
    "effective_load",
    "effective_service_time",
    "frame_time",
    "ftp_get_time",
    "ftp_retrieve_time",
    "ftp_setup_time",
    "last_cycle_time",
    "overhead_time",
    "tcp_close_time",
    "tcp_setup_time",
]
