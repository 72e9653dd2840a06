"""Check `[mac.ofdma]`: what OFDMA supports."""

from __future__ import annotations

from collections.abc import Iterator

from ..amendments import AMENDMENTS
from ..choices import DISCIPLINES
from .errors import InvalidError, Path
from .quantities import Written
from .resolved import ResolvedScenario

_HERE: Path = ("mac", "ofdma")


def check_ofdma(mac: Written, scenario: ResolvedScenario) -> None:
    """Reject a scenario whose PPDUs to several stations airtcp does not simulate.

    Raises:
        InvalidError: the first key that does not fit, why, and what is allowed.
    """
    if scenario.mac.ofdma is None:
        return
    for path, found, allowed in _unfit(mac, scenario):
        raise InvalidError(path, f"{found}; allowed: {allowed}")


def _unfit(mac: Written, scenario: ResolvedScenario) -> Iterator[tuple[Path, str, str]]:
    amendment = AMENDMENTS.get(scenario.phy.standard)
    having = [name for name, one in AMENDMENTS.items() if one.user_signal is not None]
    if amendment is None or amendment.user_signal is None:
        names = " or ".join(f'"{name}"' for name in having)
        yield (
            _HERE,
            f"{scenario.phy.standard} has no OFDMA",
            f"no such table, or phy.standard = {names}",
        )
        return
    if mac.rts_threshold is not None:
        yield (
            ("mac", "rts_threshold"),
            "RTS and CTS before a PPDU to several stations are not simulated",
            "without this key, or without mac.ofdma",
        )
    assert scenario.mac.aggregation is not None, "802.11n and later have it"
    if not scenario.mac.aggregation.ampdu_bytes:
        yield (
            ("mac", "aggregation", "ampdu"),
            "PPDUs to several stations carry A-MPDUs",
            'more than "0 B", or without mac.ofdma',
        )
    yield from _unfit_uplink(scenario)
    yield from _unfit_access_point(scenario)
    yield from _unfit_stations(scenario, sorted(amendment.user_signal.common_bits))


def _unfit_uplink(scenario: ResolvedScenario) -> Iterator[tuple[Path, str, str]]:
    ofdma, classify = scenario.mac.ofdma, scenario.classify
    assert ofdma is not None
    if ofdma.uplink == "edca":
        if ofdma.access_interval_ns is not None:
            yield (
                (*_HERE, "access_interval"),
                "without triggers the access point has nothing to send in such an access",
                'without this key, or uplink = "trigger"',
            )
        return
    used = {classify.tcp_ack, classify.tcp_data, classify.udp}
    if len(used) > 1:
        yield (
            (*_HERE, "uplink"),
            f"triggers for several access categories ({', '.join(sorted(used))}) are not simulated",
            'one category for all traffic in mac.classify, or uplink = "edca"',
        )


def _unfit_access_point(scenario: ResolvedScenario) -> Iterator[tuple[Path, str, str]]:
    ap = scenario.ap
    if ap.scheduler is not None and ap.scheduler.kind != "oldest":
        yield (
            ("ap", "scheduler"),
            "mac.ofdma chooses the stations of a PPDU",
            "without this key, or without mac.ofdma",
        )
    if not DISCIPLINES[ap.queue.discipline].leaves_stations:
        leaving = [f'"{name}"' for name, one in DISCIPLINES.items() if one.leaves_stations]
        yield (
            ("ap", "queue", "discipline"),
            f'"{ap.queue.discipline}" leaves mac.ofdma no choice of stations',
            ", ".join(leaving),
        )
    if ap.queue.mac_limit is not None:
        yield (
            ("ap", "queue", "mac_limit"),
            "mac.ofdma takes packets of any station from the queue, and a driver's ring is in "
            "order of arrival",
            "without this key, or without mac.ofdma",
        )
    categories = scenario.mac.edca.ap if scenario.mac.edca is not None else {}
    classify = scenario.classify
    used = {classify.tcp_ack, classify.tcp_data, classify.udp}
    for name, category in categories.items():
        if name in used and category.txop_limit_ns:
            yield (
                ("mac", "edca", "ap", name, "txop_limit"),
                "an access with OFDMA has one PPDU",
                '"0 us", or without mac.ofdma',
            )


def _unfit_stations(
    scenario: ResolvedScenario, widths: list[int]
) -> Iterator[tuple[Path, str, str]]:
    first = scenario.stations[0].data_rate.high
    for index, group in enumerate(scenario.stations):
        rate = group.data_rate.high
        if group.pair is not None or rate is None or first is None:
            yield (
                ("stations", index, "standard"),
                f"OFDMA needs stations of one standard, and {group.name} has another",
                "without this key, or without mac.ofdma",
            )
            return
        if group.rate_control is not None:
            yield (
                ("stations", index, "rate_control"),
                "rate control in resource units is not simulated",
                "without this key, or without mac.ofdma",
            )
        if rate.channel_width_mhz not in widths:
            yield (
                ("phy", "channel_width"),
                f"resource units in {rate.channel_width_mhz} MHz are not simulated",
                ", ".join(f'"{width} MHz"' for width in widths),
            )
        for key, own, one in (
            ("channel_width", rate.channel_width_mhz, first.channel_width_mhz),
            ("guard_interval", rate.guard_interval_ns, first.guard_interval_ns),
        ):
            if own != one:
                yield (
                    ("stations", index, key),
                    f"all stations that share a PPDU have the same {key.replace('_', ' ')}",
                    f"the one of {scenario.stations[0].name}, or without mac.ofdma",
                )
