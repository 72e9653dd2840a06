"""The metrics: what they are called, what they mean, and how people read their values.

Knows names, labels, units and the writing of numbers. Does not know how a metric comes about:
the simulator measures it (`airtcp.simulate`), a model computes it (`airtcp.predict`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

from airtcp.stats import Interval


@dataclass(frozen=True, slots=True)
class Metric:
    """One metric: `name` is the key in results, `label` what people read, `unit` its unit."""

    name: str
    label: str
    unit: str
    meaning: str


_CATALOGUE = (
    Metric(
        "goodput_bps",
        "goodput, all flows",
        "b/s",
        "payload delivered in order to the applications, all flows together",
    ),
    Metric("flow_goodput_bps", "goodput per flow", "b/s", "mean over flows of their goodput"),
    Metric(
        "jain_index",
        "Jain fairness index",
        "",
        "fairness of the flows' goodputs: 1 for equal shares, 1/n when one takes all",
    ),
    Metric(
        "transfer_time_s",
        "transfer time, mean",
        "s",
        "from the first packet of a transfer to the last byte at the receiver",
    ),
    Metric(
        "transfer_time_to_last_ack_s",
        "transfer time to last ACK, mean",
        "s",
        "from the first packet of a transfer to the last TCP ACK at the sender",
    ),
    Metric("transfer_time_p50_s", "transfer time, median", "s", "half of the transfers take less"),
    Metric(
        "transfer_time_p90_s",
        "transfer time, 90th percentile",
        "s",
        "nine transfers out of ten take less",
    ),
    Metric(
        "transfer_time_p99_s",
        "transfer time, 99th percentile",
        "s",
        "99 transfers out of 100 take less",
    ),
    Metric(
        "active_flows",
        "transfers in progress, mean",
        "",
        "time average of the number of transfers in progress",
    ),
    Metric(
        "collision_probability",
        "collision probability",
        "",
        "attempts that collide over attempts, all nodes",
    ),
    Metric(
        "collision_probability_ap",
        "collision probability, AP",
        "",
        "attempts that collide over attempts, access point alone",
    ),
    Metric(
        "collision_probability_stations",
        "collision probability, stations",
        "",
        "attempts that collide over attempts, stations alone",
    ),
    Metric(
        "simultaneous_send_probability",
        "simultaneous-send probability",
        "",
        "collisions of AP and the station that it sends to, over exchanges and collisions",
    ),
    Metric(
        "drop_probability_mac",
        "MAC drop probability",
        "",
        "frames given up at the retry limit over frames served",
    ),
    Metric("mean_cw_ap", "mean contention window, AP", "slots", "mean CW over backoff draws"),
    Metric(
        "mean_cw_stations",
        "mean contention window, stations",
        "slots",
        "mean CW over backoff draws",
    ),
    Metric(
        "active_stations_after_ap_success",
        "stations with a packet after an AP success",
        "",
        "stations whose queue is not empty when a transmission of the AP succeeds",
    ),
    Metric(
        "mean_backlogged_nodes",
        "backlogged nodes, mean",
        "",
        "time average of the number of nodes with a packet to send",
    ),
    Metric("ap_queue_packets", "AP queue, mean", "packets", "time average of the AP's queue"),
    Metric(
        "ap_queue_drop_probability",
        "AP queue drop probability",
        "",
        "packets dropped at the AP's full queue over packets that came",
    ),
    Metric("tcp_retransmissions", "TCP retransmissions", "", "TCP segments sent again"),
    Metric("tcp_timeouts", "TCP timeouts", "", "expiries of TCP's retransmission timer"),
    Metric(
        "channel_utilization", "channel utilization", "", "time of successful payload over time"
    ),
)

#: Every metric by its name, in the order in which tables show them.
METRICS: Final[dict[str, Metric]] = {metric.name: metric for metric in _CATALOGUE}

_DECIMAL_PREFIXES: Final = ((1e9, "G"), (1e6, "M"), (1e3, "k"), (1.0, ""))
_SECOND_PREFIXES: Final = ((1.0, "s"), (1e-3, "ms"), (1e-6, "us"), (1e-9, "ns"))


def metric(name: str) -> Metric:
    """The metric of that name; one that the catalogue does not hold is labelled by its name."""
    return METRICS.get(name) or Metric(name, name.replace("_", " "), "", "")


def scaled(value: float, unit: str) -> tuple[float, str]:
    """The factor and the prefixed unit in which people read `value`: 2.3e6 b/s gives 1e6, "Mb/s".

    Values are divided by the factor. Seconds and bits per second take prefixes, others none.
    """
    size = abs(value)
    if unit == "b/s":
        for factor, prefix in _DECIMAL_PREFIXES:
            if size >= factor:
                return factor, f"{prefix}b/s"
        return 1.0, "b/s"
    if unit == "s" and size > 0.0:
        for factor, name in _SECOND_PREFIXES:
            if size >= factor:
                return factor, name
        return 1e-9, "ns"
    return 1.0, unit


def quantity(value: float | None, unit: str, significant: int = 4) -> str:
    """`value` with its unit as people read it: 2312345.0 and "b/s" give "2.312 Mb/s".

    None is shown as a dash.
    """
    if value is None:
        return "–"
    factor, name = scaled(value, unit)
    return _join(_plain(value / factor, _decimals(value / factor, significant)), name)


def quantity_with_interval(interval: Interval, unit: str) -> str:
    """A mean and its half width as people read them, like "2.312 ± 0.004 Mb/s".

    The half width gets two significant digits and the mean as many decimals; without an interval
    the mean stands alone.
    """
    mean, half_width = interval.mean, interval.half_width
    if mean is None or half_width is None:
        return quantity(mean, unit)
    factor, name = scaled(mean, unit)
    mean, half_width = mean / factor, half_width / factor
    if half_width == 0.0:
        return _join(f"{_plain(mean, _decimals(mean, 4))} ± 0", name)
    decimals = min(_decimals(half_width, 2), max(_decimals(mean, 4), 4))
    return _join(f"{_plain(mean, decimals)} ± {_plain(half_width, decimals)}", name)


def percent(fraction: float | None, signed: bool = False) -> str:
    """A fraction as a percentage with one decimal ("+3.1 %"); two below one per cent."""
    if fraction is None:
        return "–"
    value = 100.0 * fraction
    decimals = 2 if abs(value) < 1.0 else 1
    if abs(value) >= 1000.0:
        decimals = 0
    return f"{value:+.{decimals}f} %" if signed else f"{value:.{decimals}f} %"


def duration(seconds: float) -> str:
    """A stretch of time as people read it: "0.42 s", "1 min 20 s", "2 h 05 min"."""
    if seconds < 10.0:
        return f"{seconds:.2f} s" if seconds >= 0.1 else f"{1e3 * seconds:.1f} ms"
    whole = round(seconds)
    if whole < 120:
        return f"{whole} s"
    minutes, rest = divmod(whole, 60)
    if minutes < 120:
        return f"{minutes} min {rest:02d} s" if rest else f"{minutes} min"
    hours, rest = divmod(minutes, 60)
    return f"{hours} h {rest:02d} min"


def _decimals(value: float, significant: int) -> int:
    if value == 0.0:
        return 0
    return max(0, significant - 1 - math.floor(math.log10(abs(value))))


def _plain(value: float, decimals: int) -> str:
    if value != 0.0 and abs(value) < 1e-4 and decimals > 6:
        return f"{value:.2e}"
    return f"{value:.{decimals}f}"


def _join(number: str, unit: str) -> str:
    return f"{number} {unit}" if unit else number
