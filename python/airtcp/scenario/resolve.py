"""From the written form to the resolved form: defaults, names, tables checked together.

Knows what depends on what between tables. Does not know the bounds of single keys (`written`), the
numbers of the standards, nor where the text came from.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path as FilePath
from typing import TypeVar

from .. import distributions, standards
from ..units import SIZE, TIME
from . import resolved, written, written_traffic
from .access_log import DataFileError, read_access_log, read_csv_column
from .declare import written as written_form
from .errors import InvalidError
from .keys.tcp import Tcp
from .resolve_mac import (
    check_txop_limits,
    mac_preset,
    resolve_access,
    resolve_classify,
    resolve_mac,
)
from .resolve_phy import resolve_phy, station_rates
from .resolve_queue import resolve_queue
from .resolve_tcp import resolve_tcp

__all__ = ["resolve_scenario"]

Path = tuple[str | int, ...]
T = TypeVar("T")

MAX_STATIONS = 100_000
MIN_DURATION_NS = 1_000_000


def resolve_scenario(
    scenario: written.Scenario, *, title: str, base: FilePath
) -> resolved.ResolvedScenario:
    """The resolved form.

    Args:
        scenario: the written form.
        title: the title if the scenario has none.
        base: the directory that file names in the scenario are relative to.

    Raises:
        InvalidError: keys that do not fit together, or a data file that cannot be used.
    """
    mac = scenario.mac or written.Mac()
    phy = resolve_phy(
        scenario.phy, scenario.stations, edca=mac.edca is not None, preset=mac_preset(mac)
    )
    groups = _groups(scenario, phy, mac)
    links = {name: _link(link, ("links", name)) for name, link in (scenario.links or {}).items()}
    ap = scenario.ap or written.Ap()
    ap_queue = resolve_queue(
        ap.queue, ("ap", "queue"), phy, mac.rts_threshold, phy.data_rate, phy.control_rate
    )
    result = resolved.ResolvedScenario(
        title=_or(scenario.title, title),
        phy=phy,
        mac=resolve_mac(mac, phy, scenario.phy),
        classify=resolve_classify(mac),
        ap=resolved.AccessPoint(queue=ap_queue, access=resolve_access(ap.access, mac, phy)),
        stations=groups,
        links=links,
        flows=_flows(scenario, phy, links, base),
        run=_run(scenario.run or written.Run()),
    )
    check_txop_limits(mac, result)
    return result


def _groups(
    scenario: written.Scenario, phy: resolved.Phy, mac: written.Mac
) -> tuple[resolved.StationGroup, ...]:
    groups: dict[str, resolved.StationGroup] = {}
    total = 0
    for index, group in enumerate(scenario.stations):
        if group.name == "ap":
            raise InvalidError(
                ("stations", index, "name"),
                '"ap" is the access point; allowed: another name',
            )
        if group.name in groups:
            raise InvalidError(
                ("stations", index, "name"),
                f'a second group is called "{group.name}"; allowed: a name of its own for each',
            )
        total += group.count
        if total > MAX_STATIONS:
            raise InvalidError(
                ("stations", index, "count"),
                f"{total} stations are too many; allowed: {MAX_STATIONS} in all",
            )
        data_rate, control_rate = station_rates(scenario.phy, group)
        groups[group.name] = resolved.StationGroup(
            name=group.name,
            count=group.count,
            data_rate=data_rate,
            control_rate=control_rate,
            queue=resolve_queue(
                group.queue,
                ("stations", index, "queue"),
                phy,
                mac.rts_threshold,
                data_rate,
                control_rate,
            ),
        )
    return tuple(groups.values())


def _link(link: written_traffic.Link, path: Path) -> resolved.Link:
    if link.rate is None and link.delay is None:
        raise InvalidError(path, "does nothing; allowed: a link with a rate, a delay, or both")
    if link.queue is not None and link.rate is None:
        raise InvalidError(
            (*path, "queue"),
            "a link without a rate never queues; allowed: a queue together with a rate",
        )
    return resolved.Link(rate_bps=link.rate, delay_ns=_or(link.delay, 0), queue=link.queue)


def _flows(
    scenario: written.Scenario,
    phy: resolved.Phy,
    links: dict[str, resolved.Link],
    base: FilePath,
) -> tuple[resolved.Flow, ...]:
    names = _flow_names(scenario.flows)
    groups = [group.name for group in scenario.stations]
    flows = []
    for index, flow in enumerate(scenario.flows):
        here: Path = ("flows", index)
        if flow.stations not in groups:
            raise InvalidError(
                (*here, "stations"),
                f'there is no station group "{flow.stations}"; allowed: {_quoted(groups)}',
            )
        application = _application(flow.application, (*here, "application"), base)
        udp = isinstance(application, resolved.Udp)
        if isinstance(application, resolved.Udp):
            _check_udp(flow, application, scenario, here)
        tcp = None if udp else resolve_tcp(flow.tcp or written_form(Tcp)(), (*here, "tcp"))
        _check_dialogue(application, tcp, here)
        _check_msdu(phy, application, tcp, here)
        flows.append(
            resolved.Flow(
                name=names[index],
                stations=flow.stations,
                direction=flow.direction,
                application=application,
                tcp=tcp,
                path=tuple(_path(flow.path or [], links, (*here, "path"))),
            )
        )
    return tuple(flows)


def _check_udp(
    flow: written_traffic.Flow,
    application: resolved.Udp,
    scenario: written.Scenario,
    here: Path,
) -> None:
    if flow.tcp is not None:
        raise InvalidError((*here, "tcp"), "a udp flow has no TCP; allowed: no such key")
    if application.rate_bps is not None:
        return
    if flow.direction == "download" and flow.path:
        raise InvalidError(
            (*here, "path"),
            "a saturated source of downloads sits at the access point's queue, with no path before "
            "it; allowed: no such key, or a udp flow with a rate",
        )
    groups = {group.name: group for group in scenario.stations}
    sender = scenario.ap if flow.direction == "download" else groups[flow.stations]
    if sender is not None and sender.queue is not None and sender.queue.discipline == "red":
        raise InvalidError(
            (*here, "application", "rate"),
            "a saturated source offers packets until its queue takes one, however often early "
            "detection drops them; allowed: a rate, or a queue without early detection",
        )


def _flow_names(flows: list[written_traffic.Flow]) -> list[str]:
    """The flows' names: their own, or the group's with -2, -3, ... where needed."""
    taken: set[str] = set()
    for index, flow in enumerate(flows):
        if flow.name is not None and flow.name in taken:
            raise InvalidError(
                ("flows", index, "name"),
                f'a second flow is called "{flow.name}"; allowed: a name of its own for each flow',
            )
        if flow.name is not None:
            taken.add(flow.name)
    names = []
    for flow in flows:
        name = flow.name
        if name is None:
            candidates = (
                flow.stations if n == 1 else f"{flow.stations}-{n}"
                for n in range(1, len(flows) + 2)
            )
            name = next(candidate for candidate in candidates if candidate not in taken)
            taken.add(name)
        names.append(name)
    return names


def _path(
    path: list[str | written_traffic.Link], links: dict[str, resolved.Link], here: Path
) -> Iterator[resolved.Link | str]:
    for index, element in enumerate(path):
        if isinstance(element, written_traffic.Link):
            yield _link(element, (*here, index))
        elif element in links:
            yield element
        else:
            allowed = (
                _quoted(list(links)) if links else f"a link that is defined by [links.{element}]"
            )
            raise InvalidError((*here, index), f'there is no link "{element}"; allowed: {allowed}')


def _application(
    application: written_traffic.Application, here: Path, base: FilePath
) -> resolved.Application:
    if isinstance(application, written_traffic.Bulk):
        size, start = application.size, application.start
        return resolved.Bulk(
            kind="bulk",
            size=None if size is None else _distribution(size, (*here, "size"), base, of="size"),
            start=distributions.Deterministic(value=0.0)
            if start is None
            else _distribution(start, (*here, "start"), base, of="time"),
        )
    if isinstance(application, written_traffic.Web):
        return resolved.Web(
            kind="web",
            size=_distribution(application.size, (*here, "size"), base, of="size"),
            think_time=_distribution(
                application.think_time, (*here, "think_time"), base, of="time"
            ),
            request_bytes=_or(application.request, 0),
        )
    if isinstance(application, written_traffic.Ftp):
        return _ftp(application, here, base)
    if application.packet <= standards.UDP_IP_HEADER_BYTES:
        raise InvalidError(
            (*here, "packet"),
            f"{application.packet} B leave nothing beside the headers; "
            f"allowed: more than {standards.UDP_IP_HEADER_BYTES} B",
        )
    rate = application.rate
    return resolved.Udp(
        kind="udp",
        packet_bytes=application.packet,
        rate_bps=rate if isinstance(rate, int) else None,
    )


def _ftp(application: written_traffic.Ftp, here: Path, base: FilePath) -> resolved.Ftp:
    interarrival = _distribution(application.interarrival, (*here, "interarrival"), base, of="time")
    if interarrival.mean() <= 0:
        raise InvalidError(
            (*here, "interarrival"),
            "transfers would begin all at once and without end; allowed: a mean above 0 s",
        )
    return resolved.Ftp(
        kind="ftp",
        interarrival=interarrival,
        size=_distribution(application.size, (*here, "size"), base, of="size"),
        control=resolved.FtpMessages(**asdict(standards.FTP)) if application.control else None,
    )


def _check_dialogue(
    application: resolved.Application, tcp: resolved.Tcp | None, here: Path
) -> None:
    has_dialogue = isinstance(application, resolved.Ftp) and application.control is not None
    if has_dialogue and tcp is not None and tcp.handshake == "two-way":
        raise InvalidError(
            (*here, "tcp", "handshake"),
            "with the dialogue of FTP the client opens the data connection, and not the sender of "
            'the data; allowed: "three-way", "none"',
        )


def _check_msdu(
    phy: resolved.Phy,
    application: resolved.Application,
    tcp: resolved.Tcp | None,
    here: Path,
) -> None:
    """A packet must fit into one MSDU: nothing here fragments."""
    if isinstance(application, resolved.Udp):
        key: Path = (*here, "application", "packet")
        packet_bits = application.packet_bytes * 8
    else:
        assert tcp is not None
        key = (*here, "tcp", "mss")
        packet_bits = tcp.mss_bytes * 8 + tcp.header_bits
    room_bits = standards.MAX_MSDU_BYTES * 8 - phy.llc_bits
    if packet_bits > room_bits:
        raise InvalidError(
            key,
            f"a packet of {math.ceil(packet_bits / 8)} B does not fit into a frame; "
            f"allowed: packets of up to {room_bits // 8} B (MSDU of {standards.MAX_MSDU_BYTES} B)",
        )


def _run(run: written.Run) -> resolved.Run:
    default = standards.RUN
    if run.precision is not None and run.replications is not None:
        raise InvalidError(
            ("run", "precision"),
            "stands beside replications; allowed: one of the two",
        )
    if run.max_replications is not None and run.precision is None:
        raise InvalidError(
            ("run", "max_replications"),
            "has no meaning without precision; allowed: together with precision",
        )
    if run.precision is not None and run.precision >= 1:
        raise InvalidError(
            ("run", "precision"),
            f"{run.precision:.0%} says nothing; allowed: less than 100 %",
        )
    duration = _or(run.duration, default.duration_ns)
    if duration < MIN_DURATION_NS:
        raise InvalidError(("run", "duration"), 'is too short; allowed: "1 ms" or more')
    replications = _or(run.replications, default.replications)
    return resolved.Run(
        warmup_ns=None if run.warmup == "auto" else _or(run.warmup, default.warmup_ns),
        duration_ns=duration,
        seed=_or(run.seed, default.seed),
        confidence=_or(run.confidence, default.confidence),
        replications=None if run.precision is not None else replications,
        precision=run.precision,
        max_replications=_or(run.max_replications, default.max_replications),
    )


def _distribution(
    written_form: written_traffic.Distribution, here: Path, base: FilePath, *, of: str
) -> distributions.Distribution:
    """The resolved distribution of a size (bytes) or a time (seconds)."""
    match written_form:
        case written_traffic.Deterministic(value=value, mean=mean):
            if value is not None and mean is None:
                return distributions.Deterministic(value=float(value))
            if mean is not None and value is None:
                return distributions.Deterministic(value=float(mean))
            raise InvalidError((*here, "value"), "must be given; allowed: either value or mean")
        case written_traffic.Exponential(mean=mean):
            return distributions.Exponential(mean=mean)
        case written_traffic.Pareto(mean=mean, shape=shape):
            return distributions.Pareto(shape=float(shape), scale=mean * (shape - 1) / shape)
        case written_traffic.Hyperexponential(mean=mean, scv=scv):
            # Balanced means: p m1 = (1 - p) m2 = mean / 2. With r = sqrt((scv-1)/(scv+1)) it is
            # p = (1 + r) / 2, and 1 - p = 1 / ((scv + 1)(1 + r)) without cancellation.
            root = math.sqrt((scv - 1) / (scv + 1))
            return distributions.Hyperexponential(
                probability=(1 + root) / 2,
                mean_1=mean / (1 + root),
                mean_2=mean * (scv + 1) * (1 + root) / 2,
            )
        case written_traffic.Lognormal(mean=mean, scv=scv):
            variance = math.log1p(scv)
            return distributions.Lognormal(
                mu=math.log(mean) - variance / 2, sigma=math.sqrt(variance)
            )
        case written_traffic.Uniform(low=low, high=high):
            if low >= high:
                raise InvalidError((*here, "high"), "is not above low; allowed: low < high")
            return distributions.Uniform(low=float(low), high=high)
        case written_traffic.Empirical():
            return _empirical(written_form, here, base, of=of)


def _empirical(
    written_form: written_traffic.Empirical, here: Path, base: FilePath, *, of: str
) -> distributions.Empirical:
    file = base / written_form.file
    try:
        if written_form.column is not None:
            quantity = TIME if of == "time" else SIZE
            return read_csv_column(
                file,
                written_form.column,
                zero_allowed=of == "time",
                most=float(quantity.most),
            )
        if of == "time" or file.name.lower().endswith((".csv", ".csv.gz")):
            raise InvalidError(
                (*here, "column"),
                "is missing: "
                f"{'an access log has no times' if of == 'time' else 'a CSV file needs it'}; "
                "allowed: the name of a column of a CSV file",
            )
        return read_access_log(file)
    except DataFileError as error:
        raise InvalidError((*here, error.key), str(error)) from error


def _or(given: T | None, default: T) -> T:
    return default if given is None else given


def _quoted(names: list[str]) -> str:
    return ", ".join(f'"{name}"' for name in names)
