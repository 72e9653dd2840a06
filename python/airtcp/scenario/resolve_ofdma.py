"""Check `[mac.ofdma]`: what OFDMA supports."""

from __future__ import annotations

from typing import Final

from ..amendments import AMENDMENTS
from ..choices import DISCIPLINES
from .errors import Path, invalid, quoted
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
    _unfit(mac, scenario)
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


def _unfit_schedule(mac: Written, scenario: ResolvedScenario) -> None:
    schedule = mac.ofdma.schedule
    if mac.ofdma.scheduler != "fixed":
        if schedule is not None:
            raise invalid(_SCHEDULE, "ofdma.round_robin_schedule")
        return
    if schedule is None:
        names = quoted(group.name for group in scenario.stations)
        raise invalid(_SCHEDULE, "ofdma.no_schedule", names=names)
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
                raise invalid(
                    here,
                    "ofdma.unknown_station",
                    name=name,
                    allowed=allowed,
                    name_=scenario.stations[0].name,
                )
                return
        users = [one for name in turn for one in stations[name]]
        if len(set(users)) < len(users):
            raise invalid(here, "ofdma.station_twice")
        if len(users) > most:
            raise invalid(
                here,
                "ofdma.too_many_stations",
                users=len(users),
                most=most,
                width=rate.channel_width_mhz,
            )
    named = {one for turn in schedule for name in turn for one in stations[name]}
    for group in scenario.stations:
        if not named.issuperset(stations[group.name]):
            raise invalid(_SCHEDULE, "ofdma.left_out", name=group.name)


def _unfit(mac: Written, scenario: ResolvedScenario) -> None:
    amendment = AMENDMENTS.get(scenario.phy.standard)
    having = [name for name, one in AMENDMENTS.items() if one.user_signal is not None]
    if amendment is None or amendment.user_signal is None:
        names = " or ".join(f'"{name}"' for name in having)
        raise invalid(_HERE, "ofdma.standard", standard=scenario.phy.standard, names=names)
        return
    if mac.rts_threshold is not None:
        raise invalid(("mac", "rts_threshold"), "ofdma.rts")
    assert scenario.mac.aggregation is not None, "802.11n and later have it"
    if not scenario.mac.aggregation.ampdu_bytes:
        raise invalid(("mac", "aggregation", "ampdu"), "ofdma.no_ampdu")
    _unfit_cells(scenario)
    _unfit_uplink(scenario)
    _unfit_access_point(scenario)
    _unfit_stations(scenario, sorted(amendment.user_signal.common_bits))
    _unfit_schedule(mac, scenario)


def _unfit_cells(scenario: ResolvedScenario) -> None:
    # It imports NumPy, which only cells need.
    from .hearing import are_even, are_isolated

    assert scenario.mac.ofdma is not None
    if scenario.air is not None and not are_even(scenario):
        raise invalid(_HERE, "ofdma.hearing")
    if (
        scenario.air is not None
        and scenario.mac.ofdma.uplink == "trigger"
        and not are_isolated(scenario)
    ):
        raise invalid((*_HERE, "uplink"), "ofdma.triggers_of_cells")
    if scenario.mac.ofdma.scheduler == "fixed" and len(scenario.cells or ()) > 1:
        raise invalid((*_HERE, "scheduler"), "ofdma.schedule_of_cells")


def _unfit_uplink(scenario: ResolvedScenario) -> None:
    ofdma, classify = scenario.mac.ofdma, scenario.classify
    assert ofdma is not None
    if ofdma.uplink == "edca":
        if ofdma.access_interval_ns is not None:
            raise invalid((*_HERE, "access_interval"), "ofdma.no_triggers")
        return
    used = {classify.tcp_ack, classify.tcp_data, classify.udp}
    if len(used) > 1:
        raise invalid((*_HERE, "uplink"), "ofdma.categories", used=sorted(used))


def _unfit_access_point(scenario: ResolvedScenario) -> None:
    ap = scenario.ap
    if ap.scheduler is not None and ap.scheduler.kind != "oldest":
        raise invalid(("ap", "scheduler"), "ofdma.scheduler")
    discipline = DISCIPLINES[ap.queue.word]
    if not discipline.leaves_stations:
        leaving = [f'"{name}"' for name, one in DISCIPLINES.items() if one.leaves_stations]
        raise invalid(
            ("ap", "queue", "discipline"),
            "ofdma.discipline",
            name=discipline.in_file,
            allowed=leaving,
        )
    if ap.queue.mac_limit is not None:
        raise invalid(("ap", "queue", "mac_limit"), "ofdma.ring")
    categories = scenario.mac.edca.ap if scenario.mac.edca is not None else {}
    classify = scenario.classify
    used = {classify.tcp_ack, classify.tcp_data, classify.udp}
    for name, category in categories.items():
        if name in used and category.txop_limit_ns:
            raise invalid(("mac", "edca", "ap", name, "txop_limit"), "ofdma.txop_limit")


def _unfit_stations(scenario: ResolvedScenario, widths: list[int]) -> None:
    first = scenario.stations[0].data_rate.high
    for index, group in enumerate(scenario.stations):
        rate = group.data_rate.high
        if group.pair is not None or rate is None or first is None:
            raise invalid(("stations", index, "standard"), "ofdma.other_standard", name=group.name)
            return
        if group.rate_control is not None:
            raise invalid(("stations", index, "rate_control"), "ofdma.rate_control")
        if rate.channel_width_mhz not in widths:
            raise invalid(
                ("phy", "channel_width"),
                "ofdma.width",
                width=rate.channel_width_mhz,
                allowed=", ".join(f'"{width} MHz"' for width in widths),
            )
        for key, own, one in (
            ("channel_width", rate.channel_width_mhz, first.channel_width_mhz),
            ("guard_interval", rate.guard_interval_ns, first.guard_interval_ns),
        ):
            if own != one:
                raise invalid(
                    ("stations", index, key),
                    "ofdma.unequal",
                    value=key.replace("_", " "),
                    name=scenario.stations[0].name,
                )
