"""The radio of a capture: standard, band, width, and the rate of each station."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import Any, Final

from airtcp.amendments import AMENDMENTS, SCHEMES
from airtcp.importer.capture.network import Network
from airtcp.importer.capture.radiotap import Sent
from airtcp.importer.capture.stations import ServiceSet, Station
from airtcp.importer.draft import Draft
from airtcp.importer.source import phrase
from airtcp.units import format_time_ns

_FORMS: Final = ("dsss", "ofdm", "ht", "vht", "he", "eht")
_STANDARDS: Final = {"ht": "802.11n", "vht": "802.11ac", "he": "802.11ax", "eht": "802.11be"}
#: Formats of control frames and beacons that a scenario accepts, by standard; otherwise OFDM only.
_LEGACY: Final = {"dsss": ("dsss",), "ofdm": ("ofdm", "dsss")}
_RATES: Final = {
    "dsss": (1000, 2000, 5500, 11000),
    "ofdm": (6000, 9000, 12000, 18000, 24000, 36000, 48000, 54000),
}
#: Elements of beacons by the standard that introduced them (IEEE 802.11-2020, 9.4.2.1, and later).
_ELEMENTS: Final = ((256 + 108, "eht"), (256 + 35, "he"), (191, "vht"), (45, "ht"))
_TIME_UNIT_NS: Final = 1_024_000
#: A rate with at least this share of the bytes represents a station; otherwise the mean does.
_MOST: Final = 0.5


def mbps(kbps: int) -> str:
    """Format a rate as in a scenario."""
    return f"{kbps / 1000:g} Mb/s"


def words(sent: Sent) -> str:
    """Format a rate as in a comment."""
    if sent.form in _RATES:
        return mbps(sent.kbps)
    streams = f"{sent.streams} stream{'s' if sent.streams > 1 else ''}"
    return f"{sent.form.upper()} MCS {sent.mcs}, {streams}, {sent.width_mhz} MHz"


def by_bytes(stations: Iterable[Station]) -> dict[Sent, int]:
    """Return the bytes of data frames by rate, for rates that a standard has."""
    found: dict[Sent, int] = {}
    for station in stations:
        for way in station.sent:
            for sent, (_, size) in way.items():
                if sent.form not in _RATES or sent.kbps in _RATES[sent.form]:
                    found[sent] = found.get(sent, 0) + size
    return found


def form_of(one: ServiceSet) -> str:
    """Return the PPDU format that determines the standard; "" if unknown."""
    used = by_bytes(one.stations.values())
    if used:
        # Ignore formats with only a few stray frames.
        total = sum(used.values())
        forms = [
            form
            for form in _FORMS
            if sum(size for sent, size in used.items() if sent.form == form) > 0.01 * total
        ]
        return forms[-1]
    return next((form for element, form in _ELEMENTS if element in one.elements), "")


def _speed(sent: Sent) -> float:
    """Return the approximate rate in b/s, to weight airtime."""
    if sent.form in _RATES:
        return 1000.0 * sent.kbps
    scheme = SCHEMES[min(sent.mcs, len(SCHEMES) - 1)]
    per_symbol = scheme.coded_bits * Fraction(scheme.coding) * sent.streams
    return float(per_symbol) * sent.width_mhz * 0.72e6


def choice_of(station: Station, form: str) -> Sent | None:
    """Return the rate that represents a station: the rate of most bytes, or nearest to the mean."""
    used = by_bytes([station])
    own = {sent: size for sent, size in used.items() if sent.form == form} or used
    if not own:
        return None
    total = sum(own.values())
    most = max(own, key=lambda sent: own[sent])
    if own[most] >= _MOST * total:
        return most
    # The mean over airtime, so that the average packet takes as long.
    mean = total / sum(size / _speed(sent) for sent, size in own.items())
    slower = [sent for sent in own if _speed(sent) <= mean]
    return max(slower, key=_speed) if slower else min(own, key=_speed)


def say_radio(network: Network, one: ServiceSet, draft: Draft, name: str) -> str:
    """Write `[phy]` and `[mac]`. Return the format, "" if the capture does not show one."""
    form = form_of(one)
    if not form:
        return ""
    used = by_bytes(one.stations.values())
    megahertz = max(network.channels, key=lambda mhz: network.channels[mhz], default=0)
    band = "" if not megahertz else "2.4" if megahertz < 3000 else "5" if megahertz < 5925 else "6"
    counts = f"{sum(sum(station.frames) for station in one.stations.values())} data frames"
    if form in _STANDARDS:
        standard, why = (
            _STANDARDS[form],
            phrase("capture.format_of_data", name=name, upper=form.upper()),
        )
        if not used:
            why = phrase("capture.format_announced", name=name)
    elif form == "ofdm":
        standard = "802.11g" if band == "2.4" else "802.11a"
        why = (
            phrase("capture.ofdm_channel", name=name, megahertz=megahertz)
            if band
            else phrase("capture.ofdm_rates", name=name)
        )
    else:
        standard, why = "802.11b", phrase("capture.dsss_rates", name=name)
    draft.say("phy", "standard", standard, f"{why}; {counts}")
    if form in _STANDARDS:
        if band:
            bands = [f"{ghz} GHz" for ghz in AMENDMENTS[standard].widest_mhz]
            if f"{band} GHz" in bands:
                draft.say(
                    "phy",
                    "band",
                    f"{band} GHz",
                    phrase("capture.channel", name=name, megahertz=megahertz),
                )
        _say_format(used, form, draft, name)
    _say_control(network, form, draft, name)
    _say_mac(network, one, form, draft, name)
    return form


def _say_format(used: dict[Sent, int], form: str, draft: Draft, name: str) -> None:
    """Write the channel width and the guard interval of PPDU formats that have several."""
    own = {sent: size for sent, size in used.items() if sent.form == form}
    if not own:
        return
    widest = max(sent.width_mhz for sent in own)
    draft.say("phy", "channel_width", f"{widest} MHz", phrase("capture.widest", name=name))
    guards: dict[int, int] = {}
    for sent, size in own.items():
        guards[sent.gi_ns] = guards.get(sent.gi_ns, 0) + size
    guard_ns = max(guards, key=lambda one: guards[one])
    amendment = AMENDMENTS[_STANDARDS[form]]
    if guard_ns in amendment.guard_intervals_ns:
        share = 100 * guards[guard_ns] / sum(guards.values())
        draft.say(
            "phy",
            "guard_interval",
            f"{guard_ns} ns",
            phrase("capture.share_of_bytes", name=name, share=share),
        )


def _say_control(network: Network, form: str, draft: Draft, name: str) -> None:
    """Write the rates of control responses, and the DSSS preamble."""
    for counts, key in ((network.control, "control_rate"), (network.block_acks, "block_ack_rate")):
        legal = {
            sent: count for sent, count in counts.items() if sent.kbps in _RATES.get(sent.form, ())
        }
        wanted = _LEGACY.get(form, ("ofdm",))
        legal = {sent: count for sent, count in legal.items() if sent.form in wanted}
        total = sum(legal.values())
        often = [sent.kbps for sent, count in legal.items() if count >= 0.05 * total]
        if not often or (key == "block_ack_rate" and form not in _STANDARDS):
            continue
        text = phrase("capture.control_frames") if key == "control_rate" else "Block ACKs"
        more = "" if len(often) == 1 else ", the highest of several"
        draft.say("phy", key, mbps(max(often)), f"{name}: {total} {text}{more}")
    has_dsss = draft.tables["phy"]["standard"].value in ("802.11b", "802.11g")
    if network.short_preambles + network.long_preambles and has_dsss:
        is_short = network.short_preambles > network.long_preambles
        why = f"{name}: {network.short_preambles + network.long_preambles} DSSS frames"
        draft.say("phy", "preamble", "short" if is_short else "long", why)


#: MAC header, fixed fields, an empty network name and the FCS (IEEE 802.11-2020, 9.3.3.2).
_LEAST_BEACON_BITS: Final = 336


def _say_mac(network: Network, one: ServiceSet, form: str, draft: Draft, name: str) -> None:
    """Write RTS, beacons, access categories and aggregation."""
    stations = one.stations.values()
    frames = sum(sum(station.frames) for station in stations)
    if one.with_rts < 1 << 20:
        if one.without < one.with_rts:
            why = phrase("capture.rts_sizes", name=name, with_rts=one.with_rts)
            draft.say("mac", "rts_threshold", f"{one.without} B", why)
        else:
            draft.unknown.append(phrase("capture.rts_unknown"))
    if one.beacons and one.beacon_units >= 1:
        beacon: dict[str, Any] = {
            "interval": format_time_ns(one.beacon_units * _TIME_UNIT_NS),
        }
        # A beacon without a network name is damaged.
        if 8 * one.beacon_bytes >= _LEAST_BEACON_BITS:
            beacon["size_bits"] = 8 * one.beacon_bytes
        sent = one.beacon_radio.sent if one.beacon_radio else None
        allowed = _LEGACY.get(form, ("ofdm",))
        if draft.tables["phy"]["standard"].value == "802.11a":
            allowed = ("ofdm",)
        if sent and sent.form in allowed and sent.kbps in _RATES.get(sent.form, ()):
            beacon["rate"] = mbps(sent.kbps)
        draft.say("mac", "beacon", beacon, f"{name}: {one.beacons} beacons")
    if form not in _STANDARDS:
        if frames and sum(station.qos for station in stations) > frames // 2:
            draft.say("mac.edca", "preset", "wmm", phrase("capture.qos", name=name))
            draft.unknown.append(phrase("capture.wmm_defaults"))
        return
    draft.unknown.append(phrase("capture.edca_defaults"))
    amsdu = max((station.amsdu_bytes for station in stations), default=0)
    if amsdu:
        draft.say(
            "mac.aggregation",
            "amsdu",
            f"{amsdu} B",
            phrase("capture.largest_amsdu", name=name),
        )
    if form == "ht" and frames > 500 and not any(station.aggregated for station in stations):
        draft.say(
            "mac.aggregation",
            "ampdu",
            "0 B",
            phrase("capture.no_ampdu", name=name, frames=frames),
        )
