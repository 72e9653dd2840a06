"""The catalogue of metrics: names, labels, units, definitions and scopes.

The simulator (`airtcp.run`) measures them and the models (`airtcp.predict`) compute them. The
documentation page on results is generated from this catalogue.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

#: What a metric can be measured for: all flows, a station group, one direction of its flows, the
#: queues of an access category, or a cell.
Scope = Literal["all", "group", "direction", "category", "cell"]

#: Which values are better; None if that depends on the goal.
Better = Literal["higher", "lower"] | None

_PARTS_OF_ONE: Final = re.compile("probability|share|ratio|loss|utilization")

#: Suffixes of names, by unit. Users may omit them.
_SUFFIXES: Final = {"s": "_s", "b/s": "_bps"}


@dataclass(frozen=True, slots=True)
class Metric:
    """One metric: `name` is the key in results, `label` the name for people, `unit` its unit.

    `meaning` defines it, `better` says which values are better, and `scopes` lists what it is
    measured for; the list is empty for metrics that only models have. A `detail` appears in results
    but not in the tables for people.
    """

    name: str
    label: str
    unit: str
    meaning: str
    better: Better = None
    scopes: tuple[Scope, ...] = ("all",)
    detail: bool = False

    @property
    def is_part(self) -> bool:
        """Whether the value is a fraction, which is shown as a percentage."""
        return not self.unit and bool(_PARTS_OF_ONE.search(self.name))

    @property
    def read_in(self) -> str:
        """The unit for display: "%" for fractions."""
        return "%" if self.is_part else self.unit

    @property
    def short(self) -> str:
        """The name without its unit suffix, as conditions use it: `transfer_time`."""
        return self.name.removesuffix(_SUFFIXES.get(self.unit, ""))


#: Measured for all flows, a group, and one direction of a group.
_FLOWS: Final[tuple[Scope, ...]] = ("all", "group", "direction")
#: The same, and for each of several cells.
_CELLS: Final[tuple[Scope, ...]] = (*_FLOWS, "cell")
#: Measured for attempts of access point and stations together; for a group, of its stations.
_MAC: Final[tuple[Scope, ...]] = ("all", "category")
_STATIONS: Final[tuple[Scope, ...]] = ("all", "group", "category")


def _delays(
    name: str,
    label: str,
    meaning: str,
    shown: Sequence[str] = ("p90", "p99"),
    within: str = ", within 0.8 % of it",
) -> tuple[Metric, ...]:
    """Return the mean and the quantiles of a packet delay. Quantiles not in `shown` are details."""
    words = {"p50": "median"} | {f"p{n}": f"{n}th percentile" for n in (90, 95, 99)}
    quantiles = (
        Metric(
            f"{name}_{short}_s",
            f"{label}, {word}",
            "s",
            f"{word} of the times of `{name}_s`{within}",
            better="lower",
            scopes=_FLOWS,
            detail=short not in shown,
        )
        for short, word in words.items()
    )
    mean = Metric(f"{name}_s", f"{label}, mean", "s", meaning, better="lower", scopes=_FLOWS)
    return (mean, *quantiles)


_CATALOGUE: Final = (
    Metric(
        "goodput_bps",
        "goodput, all flows",
        "b/s",
        "payload delivered in order to the applications per measured time, all flows: TCP and "
        "UDP payload without headers and retransmissions",
        better="higher",
        scopes=_CELLS,
    ),
    Metric(
        "flow_goodput_bps",
        "goodput per flow",
        "b/s",
        "mean goodput over flows",
        better="higher",
        scopes=_FLOWS,
    ),
    Metric(
        "cell_goodput_bps",
        "goodput of each cell",
        "b/s",
        "`goodput_bps` of each cell, in order, from models; the simulation reports it in "
        "`simulation.cells`",
        better="higher",
        scopes=(),
    ),
    Metric(
        "share_of_alone",
        "share of its isolated goodput",
        "",
        "`goodput_bps` of a cell over its goodput without the other cells, on common random "
        "numbers",
        better="higher",
        scopes=("cell",),
    ),
    Metric(
        "jain_index",
        "Jain fairness index",
        "",
        "(Σ x)² / (n Σ x²) over the goodputs x of the n flows: 1 for equal shares, 1/n if one "
        "flow has all",
        better="higher",
        scopes=_FLOWS,
    ),
    Metric(
        "transfer_time_s",
        "transfer time, mean",
        "s",
        "mean over the transfers that end in the measured time, from the moment a transfer begins "
        "(its SYN or first packet is handed to the sender's queue) to the last byte at the "
        "receiver; of FTP with a dialogue from PASV to the reply 226 at the station",
        better="lower",
        scopes=_FLOWS,
    ),
    Metric(
        "transfer_time_to_last_ack_s",
        "transfer time to last ACK, mean",
        "s",
        "the same to the TCP ACK of the last byte at the sender, as paper M measures it; for "
        "FTP with a dialogue to the TCP ACK of the reply 226 at the server, which waits for the "
        "station's delayed-ACK timer",
        better="lower",
        scopes=_FLOWS,
    ),
    Metric(
        "transfer_time_p50_s",
        "transfer time, median",
        "s",
        "median of the times of `transfer_time_s`",
        better="lower",
        scopes=_FLOWS,
    ),
    Metric(
        "transfer_time_p90_s",
        "transfer time, 90th percentile",
        "s",
        "their 90th percentile",
        better="lower",
        scopes=_FLOWS,
    ),
    Metric(
        "transfer_time_p95_s",
        "transfer time, 95th percentile",
        "s",
        "their 95th percentile",
        better="lower",
        scopes=_FLOWS,
        detail=True,
    ),
    Metric(
        "transfer_time_p99_s",
        "transfer time, 99th percentile",
        "s",
        "their 99th percentile",
        better="lower",
        scopes=_FLOWS,
    ),
    *_delays(
        "page_time",
        "page time",
        "mean over the pages that load in the measured time, from the request (the SYN for the "
        "document) to the last byte of the last object at the station; for `web` with `page`",
        shown=("p50", "p90"),
        within="",
    ),
    *_delays(
        "rtt",
        "round-trip time",
        "mean time from sending a TCP segment with payload to the TCP ACK that covers it, at "
        "the sender of the flow's data, over segments sent once (Karn). It includes the "
        "receiver's delay of ACKs and the queue of the sending station or access point",
    ),
    *_delays(
        "path_rtt",
        "round-trip time of the path",
        "the same, but until the first acknowledgment of the segment, by a TCP ACK or a SACK "
        "block: it leaves out the time to recover earlier losses. Without SACK it equals "
        "`rtt_s`",
    ),
    *_delays(
        "ap_queue_delay",
        "AP queue delay",
        "mean time of packets of these flows in the queue of the access point, from arrival to "
        "their MAC ACK, over packets that are acknowledged; `ap_queue_packets` counts the same "
        "packets. For uploads these are the TCP ACKs",
    ),
    *_delays(
        "packet_delay",
        "packet delay",
        "mean one-way time of UDP datagrams from the sending application to the receiver; for a "
        "saturated source from the moment when the queue has room",
    ),
    Metric(
        "packet_loss",
        "packet loss",
        "",
        "UDP datagrams lost in queues, on links or at the retry limit over datagrams lost or "
        "received",
        better="lower",
        scopes=_FLOWS,
    ),
    Metric(
        "jitter_s",
        "jitter",
        "s",
        "interarrival jitter of UDP datagrams as RFC 3550 (6.4.1) estimates it for each flow; the "
        "mean of the estimate over the datagrams received",
        better="lower",
        scopes=_FLOWS,
    ),
    Metric(
        "r_factor",
        "R factor of calls",
        "",
        "R of the E-model (ITU-T G.107), mean over the flows of speech (`codec`): 94.77 - 1.41 "
        "- Idte - Idle - Idd - Ie,eff with the recommendation's defaults, the one-way delay "
        "from the first sound of a packet until it is played, and random losses. The receiver "
        "uses the best fixed playout delay; later packets are lost. The best value is 93; above "
        "80 users are satisfied, below 60 nearly all are dissatisfied (G.109)",
        better="higher",
        scopes=_FLOWS,
    ),
    Metric(
        "active_flows",
        "transfers in progress, mean",
        "",
        "time average of the number of transfers in progress, from a transfer's beginning to its "
        "end as in `transfer_time_s`; an endless one always counts",
        scopes=_FLOWS,
    ),
    Metric(
        "collision_probability",
        "collision probability",
        "",
        "attempts that collide over attempts, all nodes. An attempt is an RTS, a data frame "
        "without RTS, or a beacon, and counts when it ends. Attempts in contention-free "
        "periods, which cannot collide, count, too",
        better="lower",
        scopes=_MAC,
    ),
    Metric(
        "collision_probability_ap",
        "collision probability, AP",
        "",
        "the same, only the access point",
        better="lower",
        scopes=_MAC,
    ),
    Metric(
        "collision_probability_stations",
        "collision probability, stations",
        "",
        "the same, all stations together",
        better="lower",
        scopes=_STATIONS,
    ),
    Metric(
        "simultaneous_send_probability",
        "simultaneous-send probability",
        "",
        "simultaneous transmissions over frame exchanges and collisions: (1) of paper G for one "
        "station. A simultaneous transmission is a collision of a frame of the access point "
        "with one of the station that it is for; neither receives the other's",
        better="lower",
    ),
    Metric(
        "contention_free_share",
        "time in contention-free periods",
        "",
        "share of the measured time from the beginning of the beacon that begins a contention-free "
        "period to the end of its CF-End; null without `mac.pcf`",
    ),
    Metric(
        "drop_probability_mac",
        "MAC drop probability",
        "",
        "frames dropped at the retry limit over frames dropped or acknowledged; for a group the "
        "frames of its stations",
        better="lower",
        scopes=_STATIONS,
    ),
    Metric(
        "failed_ppdu_ratio",
        "failed PPDUs",
        "",
        "PPDUs (data, TCP ACKs, Block ACK requests) without a response over all of them; each "
        "attempt counts when it ends. An RTS counts for the PPDU that it announces; beacons "
        "need no response",
        better="lower",
        scopes=_MAC,
    ),
    Metric(
        "failed_ppdu_ratio_ap",
        "failed PPDUs, AP",
        "",
        "the same, only the access point",
        better="lower",
        scopes=_MAC,
    ),
    Metric(
        "failed_ppdu_ratio_stations",
        "failed PPDUs, stations",
        "",
        "the same, all stations together",
        better="lower",
        scopes=_STATIONS,
    ),
    Metric(
        "mpdu_error_ratio",
        "MPDU error ratio",
        "",
        "MPDUs with errors over MPDUs sent, in PPDUs that did not collide; for a group the "
        "MPDUs of its stations",
        better="lower",
        scopes=_STATIONS,
    ),
    Metric(
        "mpdus_per_ppdu_ap",
        "MPDUs in a PPDU, AP",
        "",
        "mean number of MPDUs per PPDU of the access point, over PPDUs that carry more than "
        "bare TCP ACKs (a SYN counts as more) and all attempts, including collisions; for a "
        "group the PPDUs to its stations. `null` without aggregation",
        scopes=_STATIONS,
    ),
    Metric(
        "mpdus_per_ppdu_stations",
        "MPDUs in a PPDU, stations",
        "",
        "the same for the PPDUs of stations",
        scopes=_STATIONS,
    ),
    Metric(
        "mpdus_per_ack_ppdu_ap",
        "MPDUs in a PPDU of TCP ACKs, AP",
        "",
        "the same for the access point's other PPDUs, which carry only bare TCP ACKs",
        scopes=_STATIONS,
    ),
    Metric(
        "mpdus_per_ack_ppdu_stations",
        "MPDUs in a PPDU of TCP ACKs, stations",
        "",
        "the same for the stations' other PPDUs",
        scopes=_STATIONS,
    ),
    *_delays(
        "reorder_delay",
        "reorder delay",
        "mean time of frames in the receiver's reorder buffer, waiting for earlier ones (Block "
        "ACK); frames that need not wait count with zero. `null` without aggregation",
        shown=(),
    ),
    Metric(
        "mean_cw_ap",
        "mean contention window, AP",
        "slots",
        "mean of CW over the backoffs drawn, access point. The mean backoff is half of it",
        scopes=_MAC,
    ),
    Metric(
        "mean_cw_stations",
        "mean contention window, stations",
        "slots",
        "the same over the draws of all stations",
        scopes=_STATIONS,
    ),
    Metric(
        "active_stations_after_ap_success",
        "stations with a packet after an AP success",
        "",
        "mean number of stations with a packet in their queue when an exchange of the access point "
        "has just succeeded, the answer to this very packet included",
    ),
    Metric(
        "mean_backlogged_nodes",
        "backlogged nodes, mean",
        "",
        "time average of the number of nodes with a packet in their queue, access point included",
    ),
    Metric(
        "ap_queue_packets",
        "AP queue, mean",
        "packets",
        "time average of the access point's queue, the packet being sent included",
        better="lower",
    ),
    Metric(
        "ap_queue_drop_probability",
        "AP queue drop probability",
        "",
        "packets that found the access point's queue full over packets that came",
        better="lower",
    ),
    Metric(
        "station_queue_drop_probability",
        "station queue drop probability",
        "",
        "packets that found a station's queue full over packets that came, all stations",
        better="lower",
        scopes=("all", "group"),
    ),
    Metric(
        "tcp_retransmissions",
        "TCP retransmissions",
        "",
        "TCP segments sent again, per replication",
        better="lower",
        scopes=_FLOWS,
    ),
    Metric(
        "tcp_timeouts",
        "TCP timeouts",
        "",
        "expiries of TCP's retransmission timer, per replication",
        better="lower",
        scopes=_FLOWS,
    ),
    Metric(
        "channel_utilization",
        "channel utilization",
        "",
        "time that the payload of data frames received would take at the data rate, without "
        "headers and preambles, over the measured time",
        better="higher",
        scopes=_FLOWS,
    ),
    Metric(
        "airtime_share",
        "share of airtime",
        "",
        "share of the measured time with frames of exchanges that carry packets of these flows, "
        "in both directions: data, TCP ACKs, control frames. Collisions are not included, "
        "because they belong to several flows",
        scopes=("group", "direction"),
    ),
    Metric(
        "best_target_active",
        "best number of active stations, m*",
        "stations",
        "no measurement but a value of `target_active` of `access`: the number of stations with a "
        "TCP ACK at which most of them get through per second (paper B, section 3.1)",
        scopes=(),
    ),
    Metric(
        "best_cw_min_stations",
        "best CWmin of stations",
        "slots",
        "no measurement but a value of `cw_min` of the stations' data: the one at which all "
        "uploads together get most through (paper L, end of section 4)",
        scopes=(),
    ),
)

#: Every metric by its name, in the order of tables.
METRICS: Final[dict[str, Metric]] = {metric.name: metric for metric in _CATALOGUE}


def metrics_of(scope: Scope) -> dict[str, Metric]:
    """Return the metrics that are measured for `scope`."""
    return {name: metric for name, metric in METRICS.items() if scope in metric.scopes}


def metric(name: str) -> Metric:
    """Return the metric with this name. Unknown metrics get their name as the label."""
    return METRICS.get(name) or Metric(name, name.replace("_", " "), "", "")
