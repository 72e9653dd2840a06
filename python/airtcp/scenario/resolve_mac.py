"""Resolve `[mac]`: rules, access categories, classification, beacons.

This computes AIFS from AIFSN, and rejects access categories, beacons and bursts that contradict the
rest of the scenario.
"""

from __future__ import annotations

from .. import standards
from ..airtime import exchange_ns, needs_rts, ppdu_ns
from ..amendments import AMENDMENTS
from ..choices import DISCIPLINES, own_word
from ..standards import AccessCategory
from .declare import written
from .errors import Path, above, invalid, refuse_together
from .keys.mac import AccessParameters, Beacon, Classify, Edca, EdcaCategories, Mac, Ofdma, Rules
from .keys.phy import Phy
from .keys.queue import (
    Access,
    AdaptiveBurst,
    AirtimeScheduler,
    AnyScheduler,
    FixedBurst,
    OwnScheduler,
    Scheduler,
    StandardAccess,
)
from .quantities import Written
from .resolve_high_rate import resolve_aggregation
from .resolve_pcf import Side, packets, resolve_pcf, with_beacons
from .resolve_phy import beacon_rate
from .resolved import ResolvedScenario


def resolve_mac(mac: Written, phy: Phy, written_phy: Written) -> Mac:
    """Return the resolved `[mac]`; AIFS and contention windows of categories follow from the PHY.

    Raises:
        InvalidError: an access category that contradicts itself, or beacons that cannot be sent.
    """
    mac = with_beacons(mac)
    edca = mac.edca
    return Mac.of(
        mac,
        rules=_rules(mac.rules),
        edca=None
        if edca is None
        else Edca.of(
            edca,
            ap=_categories(edca, "ap", phy),
            stations=_categories(edca, "stations", phy),
        ),
        beacon=None if mac.beacon is None else _beacon(mac.beacon, phy, written_phy),
        pcf=resolve_pcf(mac),
        aggregation=resolve_aggregation(mac, phy, written_phy),
        ofdma=None if mac.ofdma is None else Ofdma.of(mac.ofdma),
        cf_end_rate=beacon_rate(written_phy, None, ("phy",)),
    )


def with_categories(mac: Written, standard: str) -> Written:
    """Return `[mac]` with the access categories that 802.11n and later have by default."""
    if standard not in AMENDMENTS:
        return mac
    return mac.filled(edca=Edca.written_default())


def resolve_scheduler(ap: Written, phy: Phy) -> AnyScheduler | None:
    """Return the scheduler; None if packets go one by one.

    Raises:
        InvalidError: before 802.11n, a scheduler other than airtime; or a scheduler whose queue
            leaves it no choice.
    """
    if ap.scheduler == "airtime" or isinstance(ap.scheduler, Written):
        return _airtime(ap)
    if phy.standard in AMENDMENTS and own_word("scheduler", ap.scheduler):
        _check_leaves_stations(ap)
        return OwnScheduler(kind="own", name=ap.scheduler)
    if phy.standard in AMENDMENTS:
        return Scheduler(kind=ap.scheduler or "oldest")
    if ap.scheduler is not None:
        raise invalid(("ap", "scheduler"), "mac.one_packet", standard=phy.standard)
    return None


def _airtime(ap: Written) -> AirtimeScheduler:
    scheduler = (
        AirtimeScheduler.of(ap.scheduler)
        if isinstance(ap.scheduler, Written)
        else AirtimeScheduler.of(written(AirtimeScheduler).model_validate({"kind": "airtime"}))
    )
    _check_leaves_stations(ap)
    if scheduler.aql_ns is not None and ap.queue.mac_limit is not None:
        raise invalid(("ap", "queue", "mac_limit"), "mac.ring_or_aql")
    return scheduler


def _check_leaves_stations(ap: Written) -> None:
    """Raise InvalidError if the queue leaves a scheduler no choice of stations."""
    discipline = DISCIPLINES[ap.queue.discipline]
    if not discipline.leaves_stations:
        what = "it chooses packets itself" if discipline.resolved else "flows take turns"
        raise invalid(
            ("ap", "scheduler"),
            "mac.discipline_of_scheduler",
            name=discipline.in_file,
            what=what,
        )


def _rules(rules: Written) -> Rules:
    if rules.after_collision == "eifs+difs":
        # It implies that the senders of the collided frames hear the collision, too.
        rules = rules.filled(colliders="as-heard")
    return Rules.of(rules)


def _beacon(beacon: Written, phy: Phy, written_phy: Written) -> Beacon:
    here = ("mac", "beacon")
    resolved = Beacon.of(beacon, rate=beacon_rate(written_phy, beacon.rate, (*here, "rate")))
    ppdu = ppdu_ns(phy, resolved.size_bits, resolved.rate)
    needed = phy.difs_ns + ppdu + phy.propagation_delay_ns
    if resolved.interval_ns <= needed:
        raise invalid(
            (*here, "interval"),
            "mac.beacon",
            interval=resolved.interval_ns,
            bits=resolved.size_bits,
            needed=needed,
        )
    return resolved


def resolve_access(access: Written, mac: Written, phy: Phy) -> Access:
    """Return the access point's channel access.

    Raises:
        InvalidError: bursts with access categories, keys of bursts without bursts, or more
            contending stations than slots.
    """
    here: Path = ("ap", "access")
    schemes = {"adaptive-burst": AdaptiveBurst, "fixed-burst": FixedBurst}
    for word, table in schemes.items():
        of_this = schemes.get(access.scheme)
        known = set() if of_this is None else {*written(of_this).allowed_keys(), "window_slots"}
        for key in written(table).allowed_keys():
            if access.given(key) and key not in known:
                raise invalid((*here, key), "mac.not_of_scheme", scheme=access.scheme, word=word)
    if access.scheme == "standard":
        return StandardAccess.of(access)
    if mac.edca is not None:
        raise invalid((*here, "scheme"), "mac.scheme_and_edca", scheme=access.scheme)
    access = access.filled(window_slots=phy.cw_min + 1)
    if access.scheme == "fixed-burst":
        access = access.filled(packets=max(access.window_slots // 2, 1))
        return FixedBurst.of(access, scheme="fixed-burst")
    access = access.filled(target_active=max(access.window_slots // 4, 1))
    slots, target = access.window_slots, access.target_active
    if target > slots:
        raise invalid(
            (*here, "target_active" if access.given("target_active") else "window_slots"),
            "mac.target_active",
            target=target,
            slots=slots,
        )
    return AdaptiveBurst.of(access, scheme="adaptive-burst")


def resolve_classify(mac: Written) -> Classify:
    """Return which traffic goes into which access category.

    Raises:
        InvalidError: a classification without access categories.
    """
    if mac.given("classify") and mac.edca is None:
        raise invalid(("mac", "classify"), "mac.no_categories")
    return Classify.of(mac.classify)


def _categories(edca: Written, side: Side, phy: Phy) -> dict[AccessCategory, AccessParameters]:
    return {
        category: _category(_given(edca, side, category), category, side, phy, edca)
        for category in standards.EDCA_CATEGORIES
    }


def _given(edca: Written, side: Side, category: AccessCategory) -> Written:
    """Return the written table of a category, without any keys if the file has none."""
    categories: EdcaCategories = getattr(edca, side)
    return getattr(categories, category) or written(AccessParameters)()


def _category(
    given: Written, category: AccessCategory, side: Side, phy: Phy, edca: Written
) -> AccessParameters:
    here = ("mac", "edca", side, category)
    default = standards.edca_defaults(
        standards.STANDARDS[phy.standard],
        category,
        ap=side == "ap",
        cw_min=phy.cw_min,
        cw_max=phy.cw_max,
    )
    if given.given("aifs"):
        refuse_together(here, "aifs", {"aifsn": given.given("aifsn")})
    announced = edca.preset or ("wmm" if phy.standard in AMENDMENTS else "standard")
    no_limit = announced == "wmm" and category in ("AC_BE", "AC_BK")
    given = given.filled(
        aifsn=default.aifsn,
        cw_min=default.cw_min,
        cw_max=default.cw_max,
        txop_limit=0 if no_limit else default.txop_limit_ns,
    )
    # IEEE 802.11-2020, 10.3.2.3.6: AIFS[AC] = AIFSN[AC] aSlotTime + aSIFSTime.
    given = given.filled(aifs=phy.sifs_ns + given.aifsn * phy.slot_time_ns)
    pifs = phy.sifs_ns + phy.slot_time_ns
    if given.aifs < pifs:
        raise invalid((*here, "aifs"), "mac.aifs", aifs=given.aifs, sifs=phy.sifs_ns, pifs=pifs)
    if given.cw_min > given.cw_max:
        raise above(given, here, "cw_min", "cw_max")
    return AccessParameters.of(given)


def check_txop_limits(mac: Written, scenario: ResolvedScenario) -> None:
    """Reject a written TXOP limit that has no room for a single frame of a flow.

    If the standard's own limit has no room for a frame, the frame is sent alone, without
    fragmentation.

    Raises:
        InvalidError: such a limit.
    """
    if mac.edca is None:
        return
    groups = {group.name: group for group in scenario.stations}
    for flow in scenario.flows:
        group = groups[flow.stations]
        for side, category, packet_bits in packets(flow, scenario.classify):
            limit = _given(mac.edca, side, category).txop_limit
            if not limit:
                continue
            needed = exchange_ns(
                scenario.phy_of(group),
                packet_bits,
                group.data_rate,
                group.control_rate,
                rts=needs_rts(scenario.phy, packet_bits, scenario.mac.rts_threshold_bytes),
            )
            if limit < needed:
                raise invalid(
                    ("mac", "edca", side, category, "txop_limit"),
                    "mac.txop_limit",
                    limit=limit,
                    size=packet_bits / 8,
                    name=flow.name,
                    needed=needed,
                )
