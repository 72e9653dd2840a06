"""Resolve a whole scenario: turn its written form into the resolved form.

This module handles dependencies between tables. `keys` checks single keys.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path as FilePath

from ..airtime import Rate
from .errors import Path, invalid, refuse_together
from .keys.air import Cell
from .keys.mac import Aggregation
from .keys.phy import Phy
from .keys.queue import AccessPoint
from .keys.run import Run
from .keys.stations import ControlledRate, FrameErrors, RateControl, StationGroup
from .keys.traffic import Link, is_job
from .profiles import access_points
from .quantities import Written, over
from .resolve_air import Hearing, check_cells, check_detection, resolve_hearing
from .resolve_high_rate import error_rates, receiver_of
from .resolve_mac import (
    check_txop_limits,
    resolve_access,
    resolve_classify,
    resolve_mac,
    resolve_scheduler,
    with_categories,
)
from .resolve_ofdma import with_ofdma
from .resolve_pair import check_standards, phy_of, resolve_pair, within_cells
from .resolve_pcf import check_pcf
from .resolve_phy import controlled_rates, station_cw_min, station_rates
from .resolve_queue import Network, on_air_ns, resolve_link, resolve_queue
from .resolve_radio_links import (
    check_hearing,
    on_first_link,
    phy_on_first_link,
    resolve_links,
    with_links,
)
from .resolve_signal import check_rates, needs_of, with_rates, within_range
from .resolve_traffic import resolve_flows
from .resolved import ResolvedScenario

MAX_STATIONS = 100_000
MIN_DURATION_NS = 1_000_000
#: A rate of rate control needs the SINR at which noise alone corrupts this share of frames. Below
#: that SINR interference corrupts every frame. Errors by noise alone are drawn.
_HALF = 0.5
#: With less than this probability of success, no packet gets through in any run.
_NOTHING = 1e-6


def resolve_scenario(scenario: Written, *, title: str, base: FilePath) -> ResolvedScenario:
    """Return the resolved form, with its fields not yet validated.

    Args:
        scenario: the written form.
        title: the title if the scenario has none.
        base: the directory that file names in the scenario are relative to.

    Raises:
        InvalidError: keys that do not fit together, or a data file that cannot be used.
    """
    mac = scenario.mac
    scenario = with_links(scenario)
    if scenario.ap.links is None:
        check_standards(scenario.phy, scenario.stations)
    scenario = within_cells(scenario)
    hearing = resolve_hearing(scenario, base)
    check_hearing(scenario, is_heard=hearing is not None)
    if hearing is not None:
        hearing = within_range(scenario, hearing)
        check_cells(scenario)
    scenario = with_rates(scenario, hearing)
    mac = with_categories(mac, scenario.phy.standard)
    phy = phy_on_first_link(scenario, mac)
    check_detection(None if hearing is None else hearing.air, phy)
    resolved_mac = resolve_mac(mac, phy, scenario.phy)
    groups = _groups(scenario, phy, resolved_mac.aggregation, hearing)
    check_rates(hearing, groups)
    links: dict[str, Link] = {
        name: resolve_link(link, ("links", name)) for name, link in scenario.links.items()
    }
    radio_links = resolve_links(scenario, mac, resolved_mac.aggregation)
    cells = _cells(scenario, mac, phy, hearing)
    aps = [cell.ap for cell in cells]
    result = ResolvedScenario.of(
        scenario.filled(title=title),
        phy=phy,
        mac=resolved_mac,
        classify=resolve_classify(mac),
        ap=aps[0].model_copy(update={"links": radio_links}),
        cells=None if hearing is None else cells,
        air=None if hearing is None else hearing.air,
        stations=groups,
        links=links,
        flows=resolve_flows(
            scenario, phy, Network(tuple(ap.queue for ap in aps), groups, links), base
        ),
        run=_run(scenario.run),
    )
    if not scenario.run.given("warmup") and all(map(is_job, result.flows)):
        # Jobs are measured from their beginning, because they have no steady state.
        result = result.with_run(warmup_ns=0)
    check_txop_limits(mac, result)
    check_pcf(mac, result)
    return with_ofdma(mac, result)


def _cells(scenario: Written, mac: Written, phy: Phy, hearing: Hearing | None) -> tuple[Cell, ...]:
    """Return the cells. Without written cells there is one with the access point of `[ap]`."""
    written_cells: Mapping[str, Written] = scenario.cells
    if not written_cells:
        path: Path = ("ap",)
        only = Cell.written_default()
        return (Cell.of(only, name="ap", ap=_access_point(scenario.ap, path, scenario, mac, phy)),)
    return tuple(
        Cell.of(
            cell,
            name=name,
            streams=None if place else "ap",
            ap=_access_point(over(scenario.ap, cell.ap), ("cells", name, "ap"), scenario, mac, phy),
        )
        for place, (name, cell) in enumerate(written_cells.items())
    )


def _access_point(
    ap: Written, path: Path, scenario: Written, mac: Written, phy: Phy
) -> AccessPoint:
    return AccessPoint.of(
        ap,
        queue=resolve_queue(
            ap.queue,
            (*path, "queue"),
            lambda: on_air_ns(phy, mac.rts_threshold, phy.data_rate, phy.control_rate),
            at_access_point=True,
            fifo_packets=_fifo_packets(scenario, phy),
        ),
        access=resolve_access(ap.access, mac, phy),
        scheduler=resolve_scheduler(ap, phy),
        links=None,
    )


def _fifo_packets(scenario: Written, phy: Phy) -> int | None:
    """Return the default limit of a FIFO at an access point; None means unlimited.

    Commercial access points have the limit of the profile `vendor`. With 802.11a, b and g, and with
    the rules of other simulators, there is no limit, as the papers assume.
    """
    is_sold = phy.high_rate is not None and scenario.mac.rules.preset == "standard"
    return access_points()["vendor"].keys["queue"]["limit"] if is_sold else None


def _groups(
    scenario: Written, phy: Phy, aggregation: Aggregation | None, hearing: Hearing | None
) -> tuple[StationGroup, ...]:
    groups: dict[str, StationGroup] = {}
    total = 0
    for index, group in enumerate(scenario.stations):
        if group.name == "ap":
            raise invalid(("stations", index, "name"), "stations.ap_is_taken")
        if group.name in groups:
            raise invalid(("stations", index, "name"), "stations.name_twice", name=group.name)
        total += group.count
        if total > MAX_STATIONS:
            raise invalid(
                ("stations", index, "count"),
                "stations.too_many",
                total=total,
                most=MAX_STATIONS,
            )
        scenario = on_first_link(scenario, group)
        data_rate, control_rate = station_rates(
            scenario.phy, group, scenario.mac.rules, ("stations", index)
        )
        pair = resolve_pair(scenario.phy, scenario.mac.rules, aggregation, group, control_rate)
        of_pair = phy.shared_with(pair)
        receiver = receiver_of(phy_of(scenario.phy, group), scenario.mac.rules)
        groups[group.name] = StationGroup.of(
            group,
            pair=pair,
            data_rate=data_rate,
            control_rate=control_rate,
            cell=None if hearing is None else hearing.index_of(index),
            out_of_range=(hearing.out_of_range[index] or None)
            if hearing and hearing.out_of_range
            else None,
            needs=needs_of(hearing, receiver, data_rate, control_rate),
            cw_min=station_cw_min(scenario.phy, group),
            frame_errors=_frame_errors(scenario, group, data_rate, ("stations", index)),
            rate_control=_rate_control(scenario, group, ("stations", index), hearing),
            queue=resolve_queue(
                group.queue,
                ("stations", index, "queue"),
                partial(on_air_ns, of_pair, scenario.mac.rts_threshold, data_rate, control_rate),
            ),
        )
    return tuple(groups.values())


def _frame_errors(
    scenario: Written, group: Written, data_rate: Rate, path: Path
) -> FrameErrors | None:
    """Return the frame errors of a fixed rate, or those that apply to every rate."""
    by_mcs = error_rates(phy_of(scenario.phy, group), scenario.mac.rules, group, path)
    errors = group.frame_errors
    if by_mcs and group.rate_control == "fixed":
        assert data_rate.high is not None, "error rates by MCS are for 802.11n and later"
        rate = by_mcs[data_rate.high.mcs]
        if rate >= 1.0 - _NOTHING:
            raise invalid(
                (*path, "snr" if group.given("snr") else "error_table"),
                "stations.loses_all_of_mcs",
                mcs=data_rate.high.mcs,
            )
        return FrameErrors(rate=rate, of_bytes=1_500, least_bytes=0) if rate else None
    if errors is None:
        return None
    if isinstance(errors, float):
        resolved = FrameErrors(rate=errors, of_bytes=None, least_bytes=0)
    else:
        resolved = FrameErrors.of(errors)
    if resolved.rate >= 1.0:
        raise invalid((*path, "frame_errors"), "stations.loses_all")
    return resolved


def _rate_control(
    scenario: Written, group: Written, path: Path, hearing: Hearing | None
) -> RateControl | None:
    if group.rate_control == "fixed":
        return None
    pair_phy = phy_of(scenario.phy, group)
    by_mcs = error_rates(pair_phy, scenario.mac.rules, group, path)
    if not by_mcs:
        raise invalid((*path, "rate_control"), "stations.minstrel")
    rates = controlled_rates(scenario.phy, group, scenario.mac.rules, path)
    receiver = receiver_of(pair_phy, scenario.mac.rules)
    found = tuple(
        ControlledRate(
            rate=data,
            control_rate=control,
            error_rate=by_mcs[data.high.mcs],
            needs_db=receiver.needed_db(data.high.mcs, _HALF)
            if hearing and hearing.signal_dbm
            else None,
        )
        for data, control in rates
        if data.high is not None
    )
    if min(one.error_rate for one in found) >= 1.0 - _NOTHING:
        raise invalid(
            (*path, "snr" if group.given("snr") else "error_table"), "stations.loses_all_of_any"
        )
    as_ns3 = scenario.mac.rules.preset == "ns-3"
    return RateControl(rates=found, rules="ns-3" if as_ns3 else "linux")


def _run(run: Written) -> Run:
    if run.precision is not None:
        refuse_together(("run",), "precision", {"replications": run.given("replications")})
    if run.given("max_replications") and run.precision is None:
        raise invalid(("run", "max_replications"), "stations.no_precision")
    if run.precision is not None and run.precision >= 1:
        raise invalid(("run", "precision"), "stations.precision_too_wide", precision=run.precision)
    if run.duration < MIN_DURATION_NS:
        raise invalid(("run", "duration"), "stations.too_short")
    return Run.of(
        run,
        warmup_ns=None if run.warmup == "auto" else run.warmup,
        replications=None if run.precision is not None else run.replications,
    )
