"""Resolve `[mac.pcf]`: contention-free periods, and the packets for which they must have room."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from ..airtime import exchange_ns, mpdu_bits, needs_rts, ppdu_ns
from ..amendments import AMENDMENTS
from ..standards import AccessCategory
from ..units import format_time_ns
from .errors import Path, invalid
from .keys.mac import Beacon, Classify, Pcf
from .keys.phy import Phy
from .keys.traffic import Flow
from .quantities import Written
from .resolved import ResolvedScenario

_HERE: Path = ("mac", "pcf")

#: A beacon with the CF Parameter Set: header and FCS, fixed fields, an empty SSID, the element
#: (IEEE 802.11-2016, 9.3.3.3 and 9.4.2.5).
_LEAST_BEACON_BITS = 8 * (28 + 12 + 2 + 8)
#: A CF-End (IEEE 802.11-2016, 9.3.1.6).
_CF_END_BITS = 160


def with_beacons(mac: Written) -> Written:
    """Return `[mac]` with the beacons that start contention-free periods."""
    if mac.pcf is None or mac.beacon is not None:
        return mac
    beacon = Beacon.written_default()
    if mac.pcf.given("interval"):
        beacon = beacon.model_copy(update={"interval": mac.pcf.interval})
    return mac.filled(beacon=beacon)


def resolve_pcf(mac: Written) -> Pcf | None:
    """Return the resolved table of a `[mac]` with beacons; None without contention-free periods.

    Raises:
        InvalidError: periods that do not begin with a beacon.
    """
    if mac.pcf is None:
        return None
    beacons: int = mac.beacon.interval
    pcf = mac.pcf.filled(interval=beacons, max_duration=beacons // 2)
    if pcf.interval % beacons:
        raise invalid((*_HERE, "interval"), "pcf.interval", interval=pcf.interval, beacons=beacons)
    return Pcf.of(pcf)


def check_pcf(mac: Written, scenario: ResolvedScenario) -> None:
    """Reject contention-free periods that do not fit the rest of the scenario.

    Raises:
        InvalidError: contention-free periods with access categories, aggregation or bursts, with a
            beacon too short to announce them, or too short or too long for the packets of the
            flows.
    """
    pcf, beacon, phy = scenario.mac.pcf, scenario.mac.beacon, scenario.phy
    if pcf is None:
        return
    assert beacon is not None, "they begin with beacons"
    if phy.standard in AMENDMENTS:
        raise invalid(_HERE, "pcf.standard", standard=phy.standard)
    if scenario.mac.edca is not None:
        raise invalid(_HERE, "pcf.edca")
    if scenario.ap.access.scheme != "standard":
        raise invalid(_HERE, "pcf.bursts", scheme=scenario.ap.access.scheme)
    if beacon.size_bits < _LEAST_BEACON_BITS:
        raise invalid(
            ("mac", "beacon", "size_bits"),
            "pcf.beacon_size",
            size=beacon.size_bits,
            least=_LEAST_BEACON_BITS,
        )
    _check_duration(mac, scenario, pcf, beacon)


def _check_duration(mac: Written, scenario: ResolvedScenario, pcf: Pcf, beacon: Beacon) -> None:
    phy = scenario.phy
    frame, exchange = _longest(scenario)
    hop = phy.sifs_ns + phy.propagation_delay_ns
    # IEEE 802.11-2016, 10.4.4, CFPMaxDuration limit: a packet each way, the beacon and the CF-End.
    least = (
        _ppdu(phy, beacon.size_bits, beacon.rate)
        + 2 * (hop + frame)
        + (hop + phy.slot_time_ns + _ppdu(phy, _CF_END_BITS, scenario.mac.cf_end_rate))
        + phy.propagation_delay_ns
    )
    # Same clause: one exchange contends between the end of a period and the next beacon.
    most = beacon.interval_ns - (phy.difs_ns + phy.cw_min * phy.slot_time_ns + exchange)
    is_given = mac.pcf.given("max_duration")
    here = (*_HERE, "max_duration") if is_given else _HERE
    said = f"{'' if is_given else 'max_duration '}is {format_time_ns(pcf.max_duration_ns)}"
    if least > most:
        raise invalid(_HERE, "pcf.no_room", interval=beacon.interval_ns, least=least)
    if pcf.max_duration_ns < least:
        raise invalid(here, "pcf.too_short", said=said, least=least)
    if pcf.max_duration_ns > most:
        raise invalid(here, "pcf.too_long", said=said, interval=beacon.interval_ns, most=most)


def _longest(scenario: ResolvedScenario) -> tuple[int, int]:
    """Return the duration of the longest frame of the flows, and of the longest exchange."""
    phy = scenario.phy
    frames, exchanges = [0], [0]
    for flow in scenario.flows:
        group = scenario.group(flow.stations)
        for _, _, bits in packets(flow, scenario.classify):
            rts = needs_rts(phy, bits, scenario.mac.rts_threshold_bytes)
            frames.append(_ppdu(phy, mpdu_bits(phy, bits), group.data_rate))
            exchanges.append(
                int(exchange_ns(phy, bits, group.data_rate, group.control_rate, rts=rts))
            )
    return max(frames), max(exchanges)


def _ppdu(phy: Phy, bits: int, rate: object) -> int:
    return int(ppdu_ns(phy, bits, rate))  # type: ignore[arg-type]


Side = Literal["ap", "stations"]

_SIDES: tuple[Side, ...] = ("ap", "stations")


def packets(flow: Flow, classify: Classify) -> Iterator[tuple[Side, AccessCategory, int]]:
    """Yield the largest packets of a flow in each category: their sender, category and bits.

    The bits do not include MAC and LLC headers.
    """
    sender, receiver = _SIDES if flow.direction == "download" else _SIDES[::-1]
    application, tcp = flow.application, flow.tcp
    if application.kind == "udp":
        yield sender, classify.udp, 8 * application.packet_bytes
        return
    assert tcp is not None, "transfers go over TCP"
    request = application.request_bytes if application.kind == "web" else 0
    yield sender, classify.tcp_data, 8 * tcp.mss_bytes + tcp.header_bits
    yield sender, classify.tcp_ack, tcp.header_bits
    # A SYN, or a request.
    yield receiver, classify.tcp_data, 8 * min(request, tcp.mss_bytes) + tcp.header_bits
    yield receiver, classify.tcp_ack, tcp.header_bits
