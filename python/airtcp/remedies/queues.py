"""Write queues and schedulers: tc for disciplines, iw and debugfs for those of mac80211.

A `tc` line replaces the discipline above a driver's ring. The ring stays. Only AQL of mac80211
limits what is queued in the driver.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from airtcp.choices import DISCIPLINES
from airtcp.phrases import phrase
from airtcp.scenario.keys.queue import (
    AccessPoint,
    AirtimeScheduler,
    CodelQueue,
    FqCodelQueue,
    Queue,
    RedQueue,
)

if TYPE_CHECKING:
    from airtcp.scenario import Scenario

#: Placeholder for the name of the wireless interface.
INTERFACE: Final = "wlan0"
_PHY: Final = "phy0"
_DEBUGFS: Final = f"/sys/kernel/debug/ieee80211/{_PHY}"
#: RED of tc counts bytes. This is the mean packet size in bytes.
_PACKET_BYTES: Final = 1000
#: tc needs a limit. For unlimited queues, this is the largest limit that all disciplines accept.
_NO_LIMIT: Final = 100_000
#: Maximum number of packets in Linux's sfq: of all flows, and of each flow.
_SFQ_LIMIT: Final = 65_535
_SFQ_FLOW_PACKETS: Final = 127


@dataclass
class Lines:
    """Configuration lines by program, and notes on what the lines cannot express."""

    by_tool: dict[str, list[str]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def add(self, tool: str, *lines: str) -> None:
        """Add lines for a program."""
        self.by_tool.setdefault(tool, []).extend(lines)

    def add_of(self, cell: str, other: Lines) -> None:
        """Add the lines of a cell's access point, under the cell's name."""
        for tool, told in other.by_tool.items():
            self.add(f"{tool} of {cell}", *told)
        self.notes.extend(note for note in other.notes if note not in self.notes)


def of_access_points(lines: Lines, new: Scenario, old: Scenario) -> None:
    """Write the access points' queues: once if all are equal, else for each that changes."""
    first = new.ap.queue
    if all(ap.queue == first for ap in new.access_points):
        _queue(lines, f"dev {INTERFACE} root", first, new.phy.data_rate.bps)
        return
    pairs = zip(new.access_points, old.access_points, strict=True)
    for cell, (ap, before) in zip(new.cells or (), pairs, strict=True):
        if ap.queue != before.queue:
            one = Lines()
            _queue(one, f"dev {INTERFACE} root", ap.queue, new.phy.data_rate.bps)
            lines.add_of(cell.name, one)


def of_clients(lines: Lines, new: Scenario, _: Scenario) -> None:
    """Write the queue of the stations."""
    _queue(lines, f"dev {INTERFACE} root", new.stations[0].queue, new.phy.data_rate.bps)


def of_links(lines: Lines, new: Scenario, _: Scenario) -> None:
    """Write the queue of each link, below a shaper that makes the link the bottleneck.

    A link with two rates has a shaper for each.
    """
    links = [link for flow in new.flows for link in new.path_links(flow)]
    each = [(rate, link.queue) for link in links for rate in (link.rate_bps, link.up_rate_bps)]
    rated = [(rate, queue) for rate, queue in each if rate is not None]
    for place, (rate, queue) in enumerate(dict.fromkeys(rated)):
        device = f"eth{place}"
        burst = max(5000, rate // 8 // 250)  # tokens for one period of a 250 Hz timer
        lines.add(
            "tc",
            f"tc qdisc replace dev {device} root handle 1: tbf rate {rate}bit burst {burst} "
            "limit 1000000",
        )
        _queue(lines, f"dev {device} parent 1:1", queue, rate)
    if rated:
        lines.notes.append(phrase("remedies.notes.shaper"))


def of_schedulers(lines: Lines, new: Scenario, _: Scenario) -> None:
    """Write the scheduler of the access points."""
    _scheduler(lines, new.ap)
    _needs_mac80211(lines)


def of_mac80211(lines: Lines, new: Scenario, _: Scenario) -> None:
    """Write the queue and the scheduler of mac80211, which work below any discipline of tc."""
    queue = new.ap.queue
    assert isinstance(queue, FqCodelQueue)
    lines.add("tc", f"tc qdisc replace dev {INTERFACE} root noqueue")
    lines.add(
        "iw",
        f"iw phy {_PHY} set txq limit {queue.limit or _NO_LIMIT}",
        f"iw phy {_PHY} set txq quantum {queue.fq.quantum_bytes}",
    )
    _scheduler(lines, new.ap)
    _needs_mac80211(lines)


def _needs_mac80211(lines: Lines) -> None:
    lines.notes.append(phrase("remedies.notes.needs_mac80211"))


def _scheduler(lines: Lines, ap: AccessPoint) -> None:
    scheduler = ap.scheduler
    # Bits of airtime_flags: 1 counts transmitted airtime, 2 received airtime.
    flags = 3 if isinstance(scheduler, AirtimeScheduler) else 0
    lines.add("debugfs", f"echo {flags} > {_DEBUGFS}/airtime_flags")
    if isinstance(scheduler, AirtimeScheduler) and scheduler.aql_ns is not None:
        limit = scheduler.aql_ns // 1000
        lines.add("debugfs", f"echo 1 > {_DEBUGFS}/aql_enable")
        for category in range(4):
            lines.add("debugfs", f"echo '{category} {limit} {limit}' > {_DEBUGFS}/aql_txq_limit")


def _queue(lines: Lines, where: str, queue: Queue, rate_bps: float) -> None:
    begin = f"tc qdisc replace {where}"
    limit = queue.limit or _NO_LIMIT
    discipline = DISCIPLINES[queue.word]
    if queue.ack_filter is not None:
        lines.add("tc", f"{begin} cake unlimited ack-filter")
    elif discipline.qdisc is None:
        lines.notes.append(phrase("remedies.notes.not_in_tc", name=discipline.name))
    elif isinstance(queue, CodelQueue | FqCodelQueue):
        codel = queue.codel
        times = f"target {codel.target_ns // 1000}us interval {codel.interval_ns // 1000}us"
        words = f"{discipline.qdisc} limit {limit} {times}"
        if isinstance(queue, FqCodelQueue):
            words += f" quantum {queue.fq.quantum_bytes}"
        lines.add("tc", f"{begin} {words} {'ecn' if codel.ecn else 'noecn'}")
    elif isinstance(queue, RedQueue):
        red = queue.red
        low, high = (round(one * _PACKET_BYTES) for one in (red.min_threshold, red.max_threshold))
        # tc's rule of thumb, (2 min + max) / (3 avpkt).
        burst = max(1, round((2 * low + high) / (3 * _PACKET_BYTES)))
        lines.add(
            "tc",
            f"{begin} red limit {max(limit * _PACKET_BYTES, 2 * high)} min {low} max {high} "
            f"avpkt {_PACKET_BYTES} burst {burst} probability {red.max_probability:g} "
            f"bandwidth {max(1, round(rate_bps / 1e6))}Mbit",
        )
    elif not discipline.leaves_stations:
        lines.add("tc", f"{begin} {discipline.qdisc} limit {min(limit, _SFQ_LIMIT)} perturb 10")
        if limit > _SFQ_FLOW_PACKETS:
            lines.notes.append(phrase("remedies.notes.sfq", most=_SFQ_FLOW_PACKETS))
    else:
        lines.add("tc", f"{begin} {discipline.qdisc} limit {limit}")
