"""Check `[mac.ofdma]`: what OFDMA supports."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ..amendments import AMENDMENTS
from ..choices import DISCIPLINES
from .errors import InvalidError, Path, quoted
from .quantities import Written
from .resolved import ResolvedScenario

_HERE: Path = ("mac", "ofdma")
_SCHEDULE: Path = (*_HERE, "schedule")
#: The number of resource units of 26 tones by channel width in MHz (IEEE 802.11ax-2021, Table
#: 27-8).
_MOST_USERS: Final = {20: 9, 40: 18, 80: 37, 160: 74}


def with_ofdma(mac: Written, scenario: ResolvedScenario) -> ResolvedScenario:
    """Return a scenario with the schedule of its PPDUs to several stations, if it has one.

    Raises:
        InvalidError: the first key that does not fit, why, and what is allowed.
    """
    if scenario.mac.ofdma is None:
        return scenario
    for path, found, allowed in _unfit(mac, scenario):
        raise InvalidError(path, f"{found}; allowed: {allowed}")
    if mac.ofdma.schedule is None:
        return scenario
    ofdma = scenario.mac.ofdma.model_copy(update={"turns": _turns(mac, scenario)})
    own = scenario.mac.model_copy(update={"ofdma": ofdma})
    return scenario.model_copy(update={"mac": own})


def _turns(mac: Written, scenario: ResolvedScenario) -> tuple[tuple[int, ...], ...]:
    """Return the schedule with stations as numbers from 0 in the order of groups."""
    stations = _stations(scenario)
    return tuple(
        tuple(one for name in turn for one in stations[name]) for turn in mac.ofdma.schedule
    )


def _stations(scenario: ResolvedScenario) -> dict[str, range]:
    """Return the numbers of each group, and of each station by `group/index`."""
    known: dict[str, range] = {}
    first = 0
    for group in scenario.stations:
        known[group.name] = range(first, first + group.count)
        known |= {
            f"{group.name}/{at}": range(first + at, first + at + 1) for at in range(group.count)
        }
        first += group.count
    return known


def _unfit_schedule(mac: Written, scenario: ResolvedScenario) -> Iterator[tuple[Path, str, str]]:
    schedule = mac.ofdma.schedule
    if mac.ofdma.scheduler != "fixed":
        if schedule is not None:
            yield (
                _SCHEDULE,
                "round-robin has no schedule",
                'without this key, or scheduler = "fixed"',
            )
        return
    if schedule is None:
        names = quoted(group.name for group in scenario.stations)
        yield _SCHEDULE, "is missing", f"a list for each PPDU, such as [[{names}]]"
        return
    stations = _stations(scenario)
    rate = scenario.stations[0].data_rate.high
    assert rate is not None, "stations of OFDMA have such rates"
    most = _MOST_USERS[rate.channel_width_mhz]
    for place, turn in enumerate(schedule):
        here = (*_SCHEDULE, place)
        for name in turn:
            if name not in stations:
                allowed = quoted(group.name for group in scenario.stations)
                yield (
                    here,
                    f'"{name}" is no station',
                    f'{allowed}, or one of them as in "{scenario.stations[0].name}/0"',
                )
                return
        users = [one for name in turn for one in stations[name]]
        if len(set(users)) < len(users):
            yield here, "a station is named twice", "each station once in a PPDU"
        if len(users) > most:
            yield (
                here,
                f"{len(users)} stations",
                f"at most {most}, the resource units in {rate.channel_width_mhz} MHz",
            )
    named = {one for turn in schedule for name in turn for one in stations[name]}
    for group in scenario.stations:
        if not named.issuperset(stations[group.name]):
            yield (
                _SCHEDULE,
                f"the lists leave out stations of {group.name}, which would wait for the others",
                "lists with all stations",
            )


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
    yield from _unfit_cells(scenario)
    yield from _unfit_uplink(scenario)
    yield from _unfit_access_point(scenario)
    yield from _unfit_stations(scenario, sorted(amendment.user_signal.common_bits))
    yield from _unfit_schedule(mac, scenario)


def _unfit_cells(scenario: ResolvedScenario) -> Iterator[tuple[Path, str, str]]:
    # It imports NumPy, which only cells need.
    from .hearing import are_even, are_isolated

    assert scenario.mac.ofdma is not None
    if scenario.air is not None and not are_even(scenario):
        yield (
            _HERE,
            "PPDUs to several stations are simulated only in cells in which all nodes hear each "
            "other, and all or none of another cell",
            "cells that hear each other, or not, as a whole, without hears and powers",
        )
    elif (
        scenario.air is not None
        and scenario.mac.ofdma.uplink == "trigger"
        and not are_isolated(scenario)
    ):
        yield (
            (*_HERE, "uplink"),
            "triggers are simulated only in cells that hear no other cell",
            '"edca", or cells on channels of their own',
        )
    elif scenario.mac.ofdma.scheduler == "fixed" and len(scenario.cells or ()) > 1:
        yield (*_HERE, "scheduler"), "a schedule for several cells", '"round-robin", or one cell'


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
    discipline = DISCIPLINES[ap.queue.word]
    if not discipline.leaves_stations:
        leaving = [f'"{name}"' for name, one in DISCIPLINES.items() if one.leaves_stations]
        yield (
            ("ap", "queue", "discipline"),
            f'"{discipline.in_file}" leaves mac.ofdma no choice of stations',
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
