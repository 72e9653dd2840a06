"""From the written `[mac]` to the resolved one: rules, access categories, classification, beacons.

Knows how AIFS follows from AIFSN, and what of an access category, of beacons, or of an access
point's bursts contradicts the rest of the scenario. Does not know the numbers of the standards.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, TypeVar

from .. import standards
from ..airtime import exchange_ns, needs_rts, ppdu_ns
from ..standards import AccessCategory
from ..units import format_size, format_time_ns
from . import resolved, written
from .errors import InvalidError
from .resolve_phy import beacon_rate

__all__ = ["check_txop_limits", "mac_preset", "resolve_access", "resolve_classify", "resolve_mac"]

Side = Literal["ap", "stations"]
T = TypeVar("T")

_SIDES: tuple[Side, ...] = ("ap", "stations")


def mac_preset(mac: written.Mac) -> standards.Preset:
    """The named set of rules that the keys of `[mac.rules]` change."""
    return (mac.rules or written.Rules()).preset or "standard"


def resolve_mac(mac: written.Mac, phy: resolved.Phy, written_phy: written.Phy) -> resolved.Mac:
    """The resolved `[mac]`; AIFS and the windows of access categories follow from the PHY.

    Raises:
        InvalidError: an access category that contradicts itself, or beacons that cannot be sent.
    """
    rules = mac.rules or written.Rules()
    preset = mac_preset(mac)
    named = standards.MAC_RULES[preset]
    colliders = named.colliders
    if rules.after_collision == "eifs+difs":
        colliders = "as-heard"  # what "eifs+difs" stands for: the colliders hear the collision too
    edca = mac.edca
    return resolved.Mac(
        rts_threshold_bytes=mac.rts_threshold,
        short_retry_limit=_or(mac.short_retry_limit, standards.SHORT_RETRY_LIMIT),
        long_retry_limit=_or(mac.long_retry_limit, standards.LONG_RETRY_LIMIT),
        rules=resolved.Rules(
            preset=preset,
            immediate_access=_or(rules.immediate_access, named.immediate_access),
            post_backoff=_or(rules.post_backoff, named.post_backoff),
            post_backoff_after_drop=_or(
                rules.post_backoff_after_drop, named.post_backoff_after_drop
            ),
            after_collision=_or(rules.after_collision, named.after_collision),
            colliders=_or(rules.colliders, colliders),
            arrival_before_own_ack=_or(rules.arrival_before_own_ack, named.arrival_before_own_ack),
        ),
        edca=None
        if edca is None
        else resolved.Edca(
            ap=_categories(edca, "ap", phy), stations=_categories(edca, "stations", phy)
        ),
        beacon=None if mac.beacon is None else _beacon(mac.beacon, phy, written_phy),
    )


def _beacon(beacon: written.Beacon, phy: resolved.Phy, written_phy: written.Phy) -> resolved.Beacon:
    here = ("mac", "beacon")
    interval = _or(beacon.interval, standards.BEACON.interval_ns)
    size_bits = _or(beacon.size_bits, standards.BEACON.size_bits)
    rate = beacon_rate(written_phy, beacon.rate, (*here, "rate"))
    needed = phy.difs_ns + ppdu_ns(phy, size_bits, rate) + phy.propagation_delay_ns
    if interval <= needed:
        raise InvalidError(
            (*here, "interval"),
            f"is {format_time_ns(interval)}, and DIFS and a beacon of {size_bits} bits take "
            f"{format_time_ns(needed)}; allowed: more than that",
        )
    return resolved.Beacon(interval_ns=interval, size_bits=size_bits, rate=rate)


def resolve_access(
    access: written.Access | None, mac: written.Mac, phy: resolved.Phy
) -> resolved.Access:
    """How the access point gets at the medium.

    Raises:
        InvalidError: bursts beside access categories, keys of bursts without them, or more
            stations that are to contend than there are slots.
    """
    here = ("ap", "access")
    access = access or written.Access()
    if access.scheme != "adaptive-burst":
        for key in ("window_slots", "target_active"):
            if getattr(access, key) is not None:
                raise InvalidError(
                    (*here, key),
                    'means nothing to the scheme "standard"; '
                    'allowed: together with scheme = "adaptive-burst"',
                )
        return resolved.StandardAccess(scheme="standard")
    if mac.edca is not None:
        raise InvalidError(
            (*here, "scheme"),
            '"adaptive-burst" is for an access point with one queue under the DCF, and [mac.edca] '
            "gives it a queue for each access category; allowed: one of the two",
        )
    slots = _or(access.window_slots, phy.cw_min + 1)
    target = _or(access.target_active, max(slots // 4, 1))
    if target > slots:
        raise InvalidError(
            (*here, "target_active" if access.target_active is not None else "window_slots"),
            f"target_active is {target} and window_slots {slots}: not even every second station "
            "would succeed; allowed: target_active <= window_slots",
        )
    return resolved.AdaptiveBurst(scheme="adaptive-burst", window_slots=slots, target_active=target)


def resolve_classify(mac: written.Mac) -> resolved.Classify:
    """Which traffic goes into which access category.

    Raises:
        InvalidError: a classification without access categories.
    """
    if mac.classify is not None and mac.edca is None:
        raise InvalidError(
            ("mac", "classify"),
            "has no meaning without access categories; allowed: together with [mac.edca]",
        )
    classify = mac.classify or written.Classify()
    return resolved.Classify(
        tcp_ack=_or(classify.tcp_ack, "AC_BE"),
        tcp_data=_or(classify.tcp_data, "AC_BE"),
        udp=_or(classify.udp, "AC_BE"),
    )


def _categories(
    edca: written.Edca, side: Side, phy: resolved.Phy
) -> dict[AccessCategory, resolved.AccessParameters]:
    return {
        category: _category(_given(edca, side, category), category, side, phy)
        for category in standards.EDCA_CATEGORIES
    }


def _given(edca: written.Edca, side: Side, category: AccessCategory) -> written.EdcaCategory:
    """What is written of a category; all keys are left out if it is not."""
    categories: written.EdcaCategories | None = getattr(edca, side)
    given: written.EdcaCategory | None = getattr(categories, category, None)
    return given or written.EdcaCategory()


def _category(
    given: written.EdcaCategory, category: AccessCategory, side: Side, phy: resolved.Phy
) -> resolved.AccessParameters:
    here = ("mac", "edca", side, category)
    default = standards.edca_defaults(
        standards.STANDARDS[phy.standard],
        category,
        ap=side == "ap",
        cw_min=phy.cw_min,
        cw_max=phy.cw_max,
    )
    if given.aifs is not None and given.aifsn is not None:
        raise InvalidError((*here, "aifs"), "stands beside aifsn; allowed: one of the two")
    # IEEE 802.11-2016, 10.3.2.3.6: AIFS[AC] = AIFSN[AC] aSlotTime + aSIFSTime.
    aifs = _or(given.aifs, phy.sifs_ns + _or(given.aifsn, default.aifsn) * phy.slot_time_ns)
    pifs = phy.sifs_ns + phy.slot_time_ns
    if aifs < pifs:
        raise InvalidError(
            (*here, "aifs"),
            f"is {format_time_ns(aifs)}; after a SIFS of {format_time_ns(phy.sifs_ns)} come MAC "
            "ACKs and the next frames of a TXOP, which others need a slot to hear; allowed: "
            f"{format_time_ns(pifs)} (PIFS) or more",
        )
    cw_min, cw_max = _or(given.cw_min, default.cw_min), _or(given.cw_max, default.cw_max)
    if cw_min > cw_max:
        raise InvalidError(
            (*here, "cw_min" if given.cw_min is not None else "cw_max"),
            f"cw_min is {cw_min} and cw_max {cw_max}; allowed: cw_min <= cw_max",
        )
    return resolved.AccessParameters(
        aifs_ns=aifs,
        cw_min=cw_min,
        cw_max=cw_max,
        txop_limit_ns=_or(given.txop_limit, default.txop_limit_ns),
    )


def check_txop_limits(mac: written.Mac, scenario: resolved.ResolvedScenario) -> None:
    """Refuses a written TXOP limit in which not even one frame of a flow has room.

    A frame that the standard's own limit has no room for is sent alone: nothing here fragments.

    Raises:
        InvalidError: such a limit.
    """
    if mac.edca is None:
        return
    for flow in scenario.flows:
        group = scenario.group(flow.stations)
        for side, category, packet_bits in _packets(flow, scenario.classify):
            limit = _given(mac.edca, side, category).txop_limit
            if not limit:
                continue
            needed = exchange_ns(
                scenario.phy,
                packet_bits,
                group.data_rate,
                group.control_rate,
                rts=needs_rts(scenario.phy, packet_bits, scenario.mac.rts_threshold_bytes),
            )
            if limit < needed:
                raise InvalidError(
                    ("mac", "edca", side, category, "txop_limit"),
                    f"is {format_time_ns(limit)}, and a packet of {format_size(packet_bits / 8)} "
                    f"of flow {flow.name} takes {format_time_ns(needed)} with its MAC ACK; "
                    'allowed: that or more, or "0 us" for one frame at a time',
                )


def _packets(
    flow: resolved.Flow, classify: resolved.Classify
) -> Iterator[tuple[Side, AccessCategory, int]]:
    """The largest packets of a flow in each category: who sends them, and their bits."""
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


def _or(given: T | None, default: T) -> T:
    return default if given is None else given
