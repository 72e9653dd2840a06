"""A result in words and short rows of text, for the terminal and for the report.

Knows which of the many numbers a reader wants first, and how they are put. Knows nothing about
terminals or HTML, and computes no results.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, TypeVar

from airtcp.amounts import duration, percent, quantity, quantity_with_interval
from airtcp.choices import (
    ACCESS_SCHEMES,
    APPLICATIONS,
    CONGESTION,
    DISCIPLINES,
    RECOVERY,
    SCHEDULERS,
    SLOW_STARTS,
)
from airtcp.metrics import METRICS, metric
from airtcp.results import (
    Comparison,
    Model,
    Predicted,
    Prediction,
    Row,
    Simulation,
    SimulationResult,
)
from airtcp.results.glance import SOURCE
from airtcp.results.objects import HEADLINES as IN_A_LINE
from airtcp.standards import EDCA_CATEGORIES
from airtcp.units import format_rate, format_size, format_time_ns, format_time_s

if TYPE_CHECKING:
    from airtcp.distributions import Distribution
    from airtcp.results.testbed import Beside
    from airtcp.scenario import ResolvedScenario
    from airtcp.scenario.keys.mac import AccessParameters
    from airtcp.scenario.keys.queue import Queue
    from airtcp.scenario.keys.receiver import Receiver
    from airtcp.scenario.keys.tcp import Tcp
    from airtcp.scenario.keys.traffic import Flow, Page
    from airtcp.standards import AccessCategory

_Told = TypeVar("_Told", Comparison, Prediction)

#: A gain below this many times the runs is not told.
WORTH_TELLING: Final = 1.2

#: Metrics shown even where no model has a value for them, if the simulation has one.
HEADLINES: Final = (
    "goodput_bps",
    "flow_goodput_bps",
    "transfer_time_s",
    "transfer_time_to_last_ack_s",
    "transfer_time_p50_s",
    "transfer_time_p90_s",
    "transfer_time_p99_s",
    "page_time_s",
    "page_time_p50_s",
    "page_time_p90_s",
    "r_factor",
    "active_flows",
    "collision_probability",
    "ap_queue_drop_probability",
)

#: Further metrics of a glance that a table has.
_GLANCED: Final = ("packet_delay_s", "packet_loss", "rtt_s")

#: A model's probability that is as good as none.
NEGLIGIBLE: Final = 1e-6


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a table: metric and simulation are empty where they repeat the line above."""

    metric: str
    simulation: str
    model: str = ""
    source: str = ""
    difference: str = ""
    verdict: str = ""
    testbed: str = ""
    testbed_difference: str = ""
    testbed_verdict: str = ""

    def columns(self) -> list[str]:
        """Its cells as tables have them, those of a testbed last."""
        of_models = [self.metric, self.model, self.source, self.simulation]
        of_testbed = [self.testbed, self.testbed_difference, self.testbed_verdict]
        return [*of_models, self.difference, self.verdict, *of_testbed]


def subject(scenario: ResolvedScenario) -> list[str]:
    """Describe the scenario in a few short lines: network, access categories, kinds of flow."""
    phy, mac = scenario.phy, scenario.mac
    threshold = mac.rts_threshold_bytes
    rts = "no RTS/CTS" if threshold is None else f"RTS/CTS above {format_size(threshold)}"
    if threshold == 0:
        rts = "RTS/CTS before every frame"
    stations = sum(group.count for group in scenario.stations)
    network = [
        f"{phy.standard} at {format_rate(phy.data_rate.bps)}",
        rts,
        f"{stations} station{'s' if stations > 1 else ''}",
        _queue(scenario.ap.queue),
    ]
    scheduler = scenario.ap.scheduler
    if scheduler is not None and SCHEDULERS[scheduler.kind].phrase:
        network.append(SCHEDULERS[scheduler.kind].phrase)
    if ACCESS_SCHEMES[scenario.ap.access.scheme].phrase:
        network.append(ACCESS_SCHEMES[scenario.ap.access.scheme].phrase)
    if mac.beacon is not None:
        network.append(f"a beacon every {format_time_ns(mac.beacon.interval_ns)}")
    if mac.pcf is not None:
        network.append(
            f"contention-free for {format_time_ns(mac.pcf.max_duration_ns)} at most every "
            f"{format_time_ns(mac.pcf.interval_ns)}"
        )
    flows = (_flow(scenario, flow) for flow in scenario.flows)
    return [", ".join(network), *_categories(scenario), *flows]


def extent(simulation: Simulation) -> str:
    """Tell how much was simulated, how fast, and why it ended."""
    n = simulation.replications
    speed = simulation.simulated_s / max(simulation.wall_s, 1e-9)
    why = {
        "replications": "",
        "precision": "; the intervals are as narrow as asked",
        "cap": "; stopped at the cap, before the intervals were as narrow as asked",
        "interrupted": "; interrupted: only what had ended is shown",
    }[simulation.stopped]
    return (
        f"{n} replication{'s' if n > 1 else ''}, {duration(simulation.simulated_s)} simulated in "
        f"{duration(simulation.wall_s)} ({speed:,.0f} simulated seconds per second){why}"
        f"{_gains(simulation)}"
    )


def _gains(simulation: Simulation) -> str:
    """Tell how much narrower than those of means over replications the first intervals are."""
    known = simulation.estimates
    gains = [
        f"{quantity(known[name].gain, '', 2)} times the runs ({metric(name).label})"
        for name in IN_A_LINE
        if name in known and (known[name].gain or 0.0) >= WORTH_TELLING
    ]
    return f"; intervals as narrow as {', '.join(gains)}" if gains else ""


def comparison_lines(result: Comparison) -> list[Line]:
    """The comparison: every model's value of a metric, and headline metrics without a model.

    Beside them what a testbed has measured, if there was one.

    Events so rare that neither model nor simulation has any to show are left out.
    """
    simulation = result.simulation
    rows = [row for row in result.comparison if row.simulation.mean or abs(row.model) > NEGLIGIBLE]
    testbed = (
        {} if result.testbed is None else {one.metric: one for one in result.testbed.comparison}
    )
    lines = []
    for name in _in_order(row.metric for row in rows):
        label, unit = metric(name).label, metric(name).unit
        shown = quantity_with_interval(simulation.metrics[name], unit)
        for row in (row for row in rows if row.metric == name):
            lines.append(
                Line(
                    metric=label,
                    simulation=shown,
                    model=quantity(row.model, unit),
                    source=row.source,
                    difference=percent(row.difference, signed=True),
                    verdict=row.verdict,
                )
            )
            if label and name in testbed:
                lines[-1] = _beside(lines[-1], testbed[name])
            label, shown = "", ""
    compared = {row.metric for row in result.comparison}
    for name in (name for name in headlines_of(simulation) if name not in compared):
        interval = simulation.metrics.get(name)
        if interval is not None and interval.is_known:
            shown = quantity_with_interval(interval, metric(name).unit)
            line = Line(metric(name).label, shown, model="–")
            lines.append(_beside(line, testbed[name]) if name in testbed else line)
    return lines


def headlines_of(simulation: Simulation) -> list[str]:
    """The headline metrics that say something of this simulation."""
    if simulation.counts["transfers"]:
        return list(HEADLINES)
    return [name for name in HEADLINES if name != "active_flows"]


def _beside(line: Line, row: Beside) -> Line:
    """The line with what a testbed says of its metric."""
    return replace(
        line,
        testbed=quantity(row.testbed, metric(row.metric).unit),
        testbed_difference=percent(row.difference, signed=True),
        testbed_verdict=row.verdict,
    )


def prediction_lines(prediction: Prediction) -> list[Line]:
    """Every model's value of every metric, distributions left out, and after these a glance's."""
    seen = {} if prediction.glance is None else dict(prediction.glance.shown())
    tabled = [name for name in seen if name in HEADLINES or name in _GLANCED]
    lines = []
    for name in _in_order([*prediction.model, *tabled]):
        label = metric(name).label
        for entry in prediction.model.get(name, ()):
            if isinstance(entry.value, list):
                continue
            value = quantity(entry.value, metric(name).unit)
            lines.append(Line(label, "", model=value, source=entry.source))
            label = ""
        if name in tabled:
            lines.append(Line(label, "", model=seen[name], source=SOURCE))
    return lines


def glanced(prediction: Prediction) -> str | None:
    """Say why there was a glance, and how much it saw; None where there was none."""
    glance = prediction.glance
    if glance is None:
        return None
    why = ""
    if prediction.uncovered is not None:
        why = f"No closed form has an answer: {prediction.uncovered}. "
    seen = (
        f"{why}A glance: {duration(glance.simulation.simulated_s)} simulated, "
        f"{100 * glance.simulation.confidence:g} % intervals"
    )
    if not glance.reached:
        own_s = (prediction.scenario.run.warmup_ns or 0) + prediction.scenario.run.duration_ns
        seen += f", of {duration(own_s / 1e9)} that the scenario has"
    if not glance.settled:
        seen += "; transfers take too long for so short a look: times are told from below"
    return f"{seen}; a simulation has narrower ones."


def simulation_lines(simulation: Simulation) -> list[Line]:
    """Every metric that has a value and is no detail, with its interval.

    What fails without errors has collided: it is not said twice.
    """
    metrics = simulation.metrics
    hidden = {name for name in metrics if metric(name).detail or not metrics[name].is_known}
    if not metrics["mpdu_error_ratio"].mean:
        hidden |= {name for name in metrics if name.startswith("failed_ppdu_ratio")}
        hidden.add("mpdu_error_ratio")
    return [
        Line(metric(name).label, quantity_with_interval(metrics[name], metric(name).unit))
        for name in _in_order(metrics)
        if name not in hidden
    ]


def best_alone(result: _Told) -> _Told:
    """Keep one model for each metric, the best."""
    model = {name: entries[:1] for name, entries in result.model.items()}
    if isinstance(result, Prediction):
        return replace(result, model=model)
    rows: dict[str, Row] = {}
    for row in result.comparison:
        rows.setdefault(row.metric, row)
    return replace(result, model=model, comparison=list(rows.values()))


def in_short(sentence: str) -> str:
    """Say what is broken, without what that does: the first part of such a sentence."""
    return sentence.partition("; ")[0]


def broken(model: Model) -> list[tuple[str, list[str]]]:
    """Say what the scenario breaks of the assumptions: each sentence once.

    With it come the sources that it is about, none when it is about all of them.
    """
    return _collect(model, lambda entry: entry.broken)


def assumed(model: Model) -> list[tuple[str, list[str]]]:
    """Say what the models assume: each sentence once, with sources as in `broken`."""
    return _collect(model, lambda entry: entry.assumes)


def sanity(result: Comparison | SimulationResult) -> list[tuple[str, str]]:
    """Numbers that show at a glance whether a simulation makes sense: name and text."""
    simulation = result.simulation
    parts = [
        f"{label} {percent(simulation.airtime[key])}"
        for key, label in (
            ("data", "data"),
            ("tcp_ack", "TCP ACK"),
            ("control", "control"),
            ("collision", "collisions"),
            ("idle", "idle"),
        )
    ]
    counts = simulation.counts
    block = [("airtime", ", ".join(parts))]
    stations = [station for station in simulation.stations if station.name != "ap"]
    least = min(stations, key=lambda station: station.goodput_bps)
    most = max(stations, key=lambda station: station.goodput_bps)
    jain = simulation.metrics.get("jain_index")
    block.append(
        (
            "per station",
            f"least {quantity(least.goodput_bps, 'b/s', 3)} ({least.name}), "
            f"most {quantity(most.goodput_bps, 'b/s', 3)} ({most.name})"
            + (
                f", Jain index {quantity(jain.mean, '', 3)}"
                if jain and jain.mean is not None
                else ""
            ),
        )
    )
    starved = sum(flow.starved for flow in simulation.flows)
    if starved:
        block.append(("starved", f"{starved} of {len(simulation.flows)} flows"))
    block.append(
        (
            "MAC",
            f"{counts['mac_exchanges']:,} exchanges, {counts['mac_attempts']:,} attempts, "
            f"{counts['collisions']:,} collisions ({counts['simultaneous_sends']:,} simultaneous "
            f"sends), {counts['mac_drops']:,} drops at the limit"
            + (
                f", {counts['beacons']:,} beacons ({counts['beacon_collisions']:,} collided)"
                if counts["beacons"]
                else ""
            ),
        )
    )
    if counts["contention_free_periods"]:
        block.append(
            (
                "polling",
                f"{counts['contention_free_periods']:,} contention-free periods, "
                f"{counts['polls']:,} polls ({counts['polls_without_data']:,} answered without "
                f"data), {counts['contention_free_exchanges']:,} of the exchanges",
            )
        )
    drops = counts["ap_queue_drops"] + counts["station_queue_drops"] + counts["wired_drops"]
    if counts["tcp_segments"]:
        block.append(
            (
                "TCP",
                f"{counts['tcp_segments']:,} segments, {counts['tcp_retransmissions']:,} "
                f"retransmissions, {counts['tcp_timeouts']:,} timeouts",
            )
        )
    block.append(
        (
            "queues",
            f"{drops:,} packets dropped: {counts['ap_queue_drops']:,} at the AP, "
            f"{counts['station_queue_drops']:,} at stations, {counts['wired_drops']:,} on wires",
        )
    )
    if counts["transfers"]:
        block.append(("transfers", f"{counts['transfers']:,} ended in the measured time"))
    block.append(("run", extent(simulation)))
    return block


def law(distribution: Distribution, unit: str) -> str:
    """A distribution of sizes ("B"), times ("s") or counts ("") in words, with its mean."""
    mean = distribution.mean()
    if unit == "":
        shown = f"{mean:.3g}"
    else:
        shown = format_size(mean, 3) if unit == "B" else format_time_s(mean, 3)
    if distribution.kind == "deterministic":
        return shown
    if distribution.kind == "empirical":
        return f"{shown} on average ({sum(distribution.counts):,} measured values)"
    detail = f", shape {distribution.shape:g}" if distribution.kind == "pareto" else ""
    return f"{shown} on average ({distribution.kind}{detail})"


def _queue(queue: Queue) -> str:
    words = (
        "AP queue without limit" if queue.limit is None else f"AP queue of {queue.limit} packets"
    )
    words += DISCIPLINES[queue.discipline].phrase
    if queue.mac_limit is not None:
        words += f", {queue.mac_limit} of them in the driver"
    return f"{words}, {queue.ack_filter} ACK filter" if queue.ack_filter is not None else words


def _categories(scenario: ResolvedScenario) -> Iterable[str]:
    """A line for each access category in use, with those who mostly use it; none under the DCF."""
    edca, classify = scenario.mac.edca, scenario.classify
    if edca is None:
        return
    uses: set[tuple[AccessCategory, str, str]] = set()
    for flow in scenario.flows:
        sender, receiver = "AP", "stations"
        if flow.direction == "upload":
            sender, receiver = receiver, sender
        if flow.tcp is None:
            uses.add((classify.udp, "UDP", sender))
        else:
            uses |= {
                (classify.tcp_data, "TCP data", sender),
                (classify.tcp_ack, "TCP ACKs", receiver),
            }
    for category in EDCA_CATEGORIES:
        kinds = sorted({kind for used, kind, _ in uses if used == category})
        sides = sorted({side for used, _, side in uses if used == category})
        parameters = {"AP": edca.ap[category], "stations": edca.stations[category]}
        if kinds:
            how = "; ".join(f"{side} {_access(parameters[side])}" for side in sides)
            yield f"EDCA {category}, {' and '.join(kinds)}: {how}"


def _access(parameters: AccessParameters) -> str:
    words = f"AIFS {format_time_ns(parameters.aifs_ns)}, CW {parameters.cw_min}"
    if parameters.cw_max != parameters.cw_min:
        words += f" to {parameters.cw_max}"
    limit = parameters.txop_limit_ns
    return f"{words}, TXOP {format_time_ns(limit)}" if limit else words


def _flow(scenario: ResolvedScenario, flow: Flow) -> str:
    group = scenario.group(flow.stations)
    app = flow.application
    what = APPLICATIONS[app.kind].name
    words = f"{group.count} x {what} {flow.direction} ({group.name}"
    if group.data_rate != scenario.phy.data_rate:
        words += f" at {format_rate(group.data_rate.bps)}"
    words += "): "
    if app.kind == "web":
        words += (
            f"{law(app.size, 'B') if app.page is None else _page(app.page)}, "
            f"think time {law(app.think_time, 's')}"
        )
    elif app.kind == "ftp":
        words += f"{law(app.size, 'B')}, one every {law(app.interarrival, 's')}"
        words += "" if app.control is None else ", with dialogue"
    elif app.kind == "udp":
        rate = "saturated" if app.rate_bps is None else format_rate(app.rate_bps)
        words += f"{rate}, packets of {app.packet_bytes} bytes"
        words += "" if app.voice is None else " with speech"
    elif app.kind == "replay":
        words += f"{sum(map(len, app.transfers))} transfers of a log at their times"
    else:
        words += "endless" if app.size is None else law(app.size, "B")
    if flow.tcp is not None:
        window = flow.tcp.receive_window_bytes
        segments = window / flow.tcp.mss_bytes
        words += (
            f"; {RECOVERY[flow.tcp.variant].name}, MSS {flow.tcp.mss_bytes} bytes, window "
            f"{_window(window)} ({segments:.3g} segment{'s' if segments != 1 else ''})"
        )
        words += "".join(f", {what}" for what in _tcp_extras(flow.tcp))
    links = scenario.path_links(flow)
    if links:
        delay = sum(link.delay_ns for link in links)
        words += f"; wired path of {format_time_ns(delay)}"
    return words


def _page(page: Page) -> str:
    size = "" if page.size is None else f"{law(page.size, 'B')} in "
    return (
        f"pages of {size}{law(page.objects, '')} objects over up to {page.connections} "
        f"connection{'s' if page.connections != 1 else ''}"
    )


def _receiving(end: Receiver) -> Iterator[str]:
    """Say how the end of a connection receives that sends the data."""
    yield f"window {_window(end.receive_window_bytes)}"
    yield from _acks(end)


def _acks(tcp: Tcp | Receiver) -> Iterator[str]:
    """Say which ACKs are sent if not one for each segment."""
    (_, first), *later = tcp.delayed_ack.thresholds
    if first > 1 or later:
        words = f"an ACK for every {first} segments" if first > 1 else "an ACK for every segment"
        yield words + "".join(f", for every {every} from {begin} on" for begin, every in later)
    if tcp.ack_skip is not None and tcp.ack_skip.skip > 0:
        skip, begin = tcp.ack_skip.skip, tcp.ack_skip.after_segment
        most = "up to " if tcp.ack_skip.adaptive is not None else ""
        yield f"{most}{skip} of {skip + 1} ACKs left out" + (
            f" after segment {begin}" if begin > 0 else ""
        )
    if tcp.tack is not None:
        yield f"TACK ({tcp.tack.every} segments, {tcp.tack.beta} in a least round trip)"
    if tcp.delayed_ack.adaptive:
        yield "quick ACKs at first"


def _tcp_extras(tcp: Tcp) -> Iterator[str]:
    """Say what of a connection is not as plain as can be."""
    yield from _acks(tcp)
    if tcp.mac_feedback is not None:
        kept = ", the window kept" if tcp.mac_feedback.give_up == "freeze" else ""
        yield f"told of frames given up{kept}"
    if tcp.rules.preset != "standard":
        yield f"rules of {tcp.rules.preset}"
    if tcp.congestion != "reno":
        yield CONGESTION[tcp.congestion].name
    if tcp.slow_start != "standard":
        yield SLOW_STARTS[tcp.slow_start].name
    if tcp.pacing:
        yield "pacing"
    if tcp.timestamps:
        yield "timestamps"
    if tcp.ecn:
        yield "ECN"
    if tcp.small_queue:
        yield "little in its station's queue"
    if tcp.sending_end is not None:
        yield f"another receiver at its sending end ({', '.join(_receiving(tcp.sending_end))})"
    if tcp.aimd != type(tcp.aimd).default():
        yield f"AIMD {tcp.aimd.increase:g} and {tcp.aimd.decrease:g}"


def _window(size_bytes: int) -> str:
    """Windows are mostly powers of two: "64 KiB" rather than "65.5 kB"."""
    if size_bytes >= 1024 and size_bytes % 1024 == 0:
        return f"{size_bytes // 1024} KiB"
    return format_size(size_bytes, 3)


def _collect(
    model: Model, sentences: Callable[[Predicted], Iterable[str]]
) -> list[tuple[str, list[str]]]:
    sources: dict[str, list[str]] = {}
    everyone = set()
    for name in _in_order(model):
        for entry in model[name]:
            everyone.add(entry.source)
            for sentence in sentences(entry):
                known = sources.setdefault(sentence, [])
                if entry.source not in known:
                    known.append(entry.source)
    return [
        (sentence, [] if set(known) == everyone else known) for sentence, known in sources.items()
    ]


def _in_order(names: Iterable[str]) -> list[str]:
    """Names without repetition, in the order of the catalogue; unknown ones last, by name."""
    order = {name: index for index, name in enumerate(METRICS)}
    return sorted(set(names), key=lambda name: (order.get(name, len(order)), name))
