"""The screen of `airtcp run`: the decision first, then targets, groups and the changes tried."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean
from typing import TYPE_CHECKING, Any, Final

from airtcp.amounts import duration, percent, quantity
from airtcp.document import Code, Column, Heading, Lines, Note, Part, Table
from airtcp.judge.verdicts import glanced, starved_runs
from airtcp.messages import words
from airtcp.messages.access_point import access_point_words
from airtcp.metrics import METRICS
from airtcp.results import Comparison, Prediction, SimulationResult
from airtcp.results.least import endless_goodputs
from airtcp.scenario.keys.traffic import is_endless
from airtcp.scenario.toml_text import option_text
from airtcp.stats import Interval, jain_index

if TYPE_CHECKING:
    from airtcp.document.tree import State
    from airtcp.results.advice import Advice, Effect, Trial
    from airtcp.results.verdict import Judged, Verdict
    from airtcp.scenario import ResolvedScenario

Simulated = Comparison | SimulationResult

#: Maximum numbers of targets and changes listed; the rest is counted.
_TARGETS: Final = 8
_CHANGES: Final = 4
#: Longer configurations are folded.
_LINES: Final = 6
_STATES: Final[Mapping[str, State]] = {"holds": "good", "fails": "bad", "unknown": "open"}
#: Thresholds above which latency under load, unevenness, and airtime versus goodput get a line.
_LATENCY_S: Final = 0.1
_UNEVEN: Final = 0.8
_AIRTIME: Final = 0.4
_OUT_OF_LINE: Final = 2.0
_PARTS: Final = {
    "data": "data",
    "collision": "collisions",
    "idle": "idle",
    "tcp_ack": "TCP ACKs",
    "control": "control",
}


def parts(result: Simulated, *, everything: bool = False) -> Iterator[Part]:
    """Yield the screen of a run or a simulation; `everything` shows folded rows, too."""
    verdict = result.verdict if isinstance(result, Comparison) else None
    advice = result.advice if isinstance(result, Comparison) else None
    yield heading(result)
    yield decision(result, verdict, advice)
    if verdict is not None and verdict.targets:
        yield from targets(verdict, everything=everything)
    yield groups(result)
    if advice is not None:
        yield from changes(advice, everything=everything)


def heading(result: Simulated) -> Heading:
    """Return the title with a short description of the network."""
    scenario = result.scenario
    stations = sum(group.count for group in scenario.stations)
    told = [words.plural(stations, "station"), radio(scenario), access_point_words(scenario)]
    if scenario.cells is not None and len(scenario.cells) > 1:
        told.insert(0, f"{len(scenario.cells)} cells")
    told.append(words.plural(result.simulation.replications, "run"))
    return Heading(scenario.title or "Untitled scenario", " · ".join(told))


def radio(scenario: ResolvedScenario) -> str:
    """Return the standard with the channel widths of its links: "802.11ax 40 MHz"."""
    links = scenario.ap.links
    phys = [scenario.phy] if links is None else [link.phy for link in links]
    highs = [phy.data_rate.high for phy in phys]
    widths = " + ".join(str(high.channel_width_mhz) for high in highs if high is not None)
    return f"{scenario.phy.standard}{f' {widths} MHz' if widths else ''}"


def headline(verdict: Verdict | None) -> tuple[str, State]:
    """Return the verdict in one line."""
    if verdict is None or not verdict.targets:
        return "No default target applies to this traffic. Set your own in [targets].", "bold"
    states = [one.state for one in verdict.targets]
    missed, unknown, of = states.count("fails"), states.count("unknown"), len(states)
    if missed:
        more = f" ({unknown} inconclusive)" if unknown else ""
        which = "its target" if of == 1 else f"{missed} of {of} targets"
        return f"✗ MISSES {which}{more}", "bad"
    if unknown:
        met = f", {of - unknown} met" if unknown < of else ""
        return f"? INCONCLUSIVE: {unknown} of {words.plural(of, 'target')} open{met}", "open"
    which = {1: "its target", 2: "both targets"}.get(of, f"all {of} targets")
    return f"✓ MEETS {which}", "good"


def decision(result: Simulated, verdict: Verdict | None, advice: Advice | None) -> Lines:
    """Return the verdict, the worst target, the cause, the fix and its cost."""
    lines = [headline(verdict)]
    labels: list[str | None] = [None]

    def add(label: str, text: str, state: State = "") -> None:
        labels.append(f"  {label}" if label else "")
        lines.append((text, state))

    worst = None if verdict is None else verdict.nearest
    if worst is not None and worst.state != "holds":
        add("Worst", _sentence(worst))
    elif worst is not None:
        add("Tightest", _sentence(worst))
    if advice is not None and advice.causes:
        add(words.cause_label(advice.causes[0]), words.cause(advice.causes[0]))
    if advice is not None and advice.recommended is not None:
        _fix(advice, advice.recommended, add)
    elif advice is not None and advice.opportunity is not None:
        for one in advice.trials:
            add("Better", f"{one.title}, which costs nothing")
            if one.wins:
                add("", "; ".join(effect(each) for each in one.wins[:2]))
    elif advice is not None and verdict is not None and advice.tried and verdict.state == "fails":
        is_costly = any(one.met > advice.as_is[0] for one in advice.trials)
        at_cost = " without a large cost to others" if is_costly else ""
        add("Fix", f"none of the {advice.tried} changes tried meets more targets{at_cost}")
    for text in [
        *words.out_of_range(result.scenario),
        *([] if verdict is None else [*starvation(verdict, result), *growth(verdict)]),
        *observations(result),
    ]:
        add("Note", text)
    return Lines(lines, labels if len(labels) > 1 else ())


def starvation(verdict: Verdict, result: Simulated) -> Iterator[str]:
    """Yield goodput targets whose mean hides starved flows."""
    for one in verdict.targets:
        condition = one.target.condition
        found = starved_runs(result.simulation, condition, result.scenario)
        if found and (one.interval.mean or 0.0) > condition.bound:
            least = condition.about.format(min(found))
            yield (
                f"a {condition.group or 'flow'} flow starves in {len(found)} of "
                f"{words.plural(result.simulation.replications, 'run')} (down to {least})"
            )


def growth(verdict: Verdict) -> list[str]:
    """Return the largest number of stations that meets the targets, by quick simulations."""
    one = verdict.growth
    if one is None:
        return []
    about = words.about(one.target)
    if one.holds_at >= one.present:
        return [
            f"Room to grow: about {words.plural(one.holds_at, 'station')}; at {one.fails_at} "
            f"{about} fails first (quick simulations; airtcp plan finds the number)"
        ]
    if one.holds_at:
        return [
            f"Would meet it with about {words.plural(one.holds_at, 'station')} (quick simulations)"
        ]
    return []


def _fix(advice: Advice, one: Trial, add: Any) -> None:
    of = one.met + one.missed + one.open
    met = f"{one.met}–{one.met + one.open}" if one.open else f"{one.met}"
    counted = f"{met} of {of} targets met"
    if of == 1:
        counted = "the target is " + ("met" if one.met else "missed" if one.missed else "open")
    is_known = None not in (one.before.mean, one.after.mean)
    if one.metric and is_known and one.met <= advice.as_is[0]:
        # No target more is met for sure, so the sentence says what the change improves.
        change = words.change(one.before.mean, one.after.mean, one.metric)
        counted += f"; {words.metric_label(METRICS[one.metric])} {change}"
    add("Fix", f"{one.title}: {counted}")
    costs = [text for text in (words.COSTS[one.cost], *map(effect, one.loses[:2])) if text]
    if costs:
        add("Cost", "; ".join(costs))
    if one.missed:
        left = [change.target for change in one.targets if change.state == "fails"]
        add("Still", f"missed: {words.listed([words.about(text) for text in left])}")
    if advice.odds is not None and advice.odds > 0.5:
        add("Odds", f"best of {advice.tried} changes tried, with probability {_odds(advice.odds)}")


def _odds(odds: float) -> str:
    return "over 99 %" if odds > 0.99 else f"{100.0 * odds:.0f} %"


def _sentence(one: Judged) -> str:
    condition = one.target.condition
    about = " ".join(words.target_about(condition).split())
    now = words.measured(one.interval, condition.about)
    now = "too little measured" if now == "–" else now
    return f"{about}: {now} (target {words.wanted(condition)})"


def effect(one: Effect) -> str:
    """Return what a group gains or loses: "down ↓ 9.00 → 15.8 Mb/s"."""
    name = "" if one.metric == "goodput_bps" else f"{words.short(METRICS[one.metric])} "
    change = words.change(one.before, one.after, one.metric)
    return f"{words.scope(one.group, one.part)} {name}{change}"


def ordered(verdict: Verdict) -> list[Judged]:
    """Return the targets, the missed ones first, each state by its margin."""
    order = {"fails": 0, "unknown": 1, "holds": 2}
    return sorted(
        verdict.targets,
        key=lambda one: (order[one.state], 0.0 if one.margin is None else one.margin),
    )


def targets(verdict: Verdict, *, everything: bool) -> Iterator[Part]:
    """Yield the table of targets, the missed ones first, and the number of targets that are met."""
    rows = ordered(verdict)
    shown = rows if everything else folded(rows)
    head = "target" if verdict.written else "target (defaults; set your own in [targets])"
    level = f"{100.0 * verdict.confidence:.3g} % CI"
    columns = [
        Column(f"  {head}"),
        Column("want", rank=1),
        Column("measured", right=True),
        Column(level, rank=2),
    ]
    rest = len(rows) - len(shown)
    met = sum(one.state == "holds" for one in rows) - sum(one.state == "holds" for one in shown)
    more = f"✓ {met} more met" if met == rest else f"{rest} more"
    yield Table(
        columns,
        [
            (
                f"{words.MARKS[one.state]} {words.target_about(one.target.condition)}",
                words.wanted(one.target.condition),
                words.measured(one.interval, one.target.condition.about),
                words.spread(one.interval, one.target.condition.about)
                or ("run longer" if one.interval.mean is None and one.interval.low is None else ""),
            )
            for one in shown
        ],
        [_STATES[one.state] for one in shown],
        [(f"{more} (--details)", "dim")] if rest else [],
    )


def folded(rows: Sequence[Judged]) -> list[Judged]:
    """Fold targets that are met if others are not, and those beyond a screenful."""
    bad = [one for one in rows if one.state != "holds"]
    if bad and len(rows) - len(bad) > 1:
        return bad[:_TARGETS]
    return list(rows[:_TARGETS])


def groups(result: Simulated) -> Table:
    """Return the goodput, delays and losses of every group, with a row for each direction."""
    scenario, simulation = result.scenario, result.simulation
    counts = {group.name: group for group in scenario.stations}
    done = {(job.group, job.part): job for job in simulation.jobs}
    rows: list[list[str]] = []
    metrics = (
        ("goodput_bps", "goodput", 0),
        ("page_time_p50_s", "page p50", 3),
        ("transfer_time_p50_s", "transfer p50", 4),
        ("path_rtt_s", "RTT", 5),
        ("packet_delay_p95_s", "delay p95", 3),
        ("packet_loss", "loss", 4),
        ("r_factor", "R", 6),
        ("airtime_share", "airtime", 2),
    )
    scopes = [
        (name, part, simulation.groups[name][part])
        for name in simulation.groups
        for part in ("download", "upload")
        if part in simulation.groups[name]
    ]
    shown = [
        one
        for one in metrics
        if any(each[one[0]].is_known for _, _, each in scopes if one[0] in each)
    ]
    pages = any(name == "page_time_p50_s" for name, _, _ in shown)
    shown = [one for one in shown if not (pages and one[0] == "transfer_time_p50_s")]
    for name, part, each in scopes:
        group = counts[name]
        count = f" ×{group.count}" if group.count > 1 else ""
        job = done.get((name, part))
        if job is not None:
            # The mean over the measured time counts the idle time after the end, too.
            each = each | {"goodput_bps": job.goodput_bps}
        rows.append(
            [
                f"{words.scope(name, part)}{count}",
                quantity(result.scenario.link_rate_bps(group), "b/s", 3),
                *(_cell(each[metric], metric) if metric in each else "" for metric, _, _ in shown),
            ]
        )
        if done:
            rows[-1].append("" if job is None else _cell(job.end_s, "transfer_time_s"))
    columns = [Column("group"), Column("link rate", right=True, rank=1)]
    columns += [Column(head, right=True, rank=rank) for _, head, rank in shown]
    if done:
        columns.append(Column("all done after", right=True, rank=1))
    airtime = _airtime_line(result)
    return Table(columns, rows, foot=[(airtime, "")] if airtime else [])


def _cell(interval: Interval, metric: str) -> str:
    if not interval.is_known:
        return ""
    if metric == "airtime_share":
        return "" if interval.mean is None else percent(interval.mean)
    if metric == "r_factor":
        return "" if interval.mean is None else f"{interval.mean:.0f}"
    told = words.measured(interval, METRICS[metric])
    return "" if told == "–" else told


def simulated(result: SimulationResult) -> Iterator[Part]:
    """Yield the screen of `airtcp simulate`: the results of every group."""
    yield heading(result)
    yield groups(result)


def predicted(result: Prediction) -> Iterator[Part]:
    """Yield the first lines of `airtcp predict`: what a quick simulation decides."""
    scenario = result.scenario
    stations = sum(group.count for group in scenario.stations)
    yield Heading(
        scenario.title or "Untitled scenario",
        " · ".join(
            [words.plural(stations, "station"), radio(scenario), access_point_words(scenario)]
        ),
    )
    verdict = None if result.glance is None else glanced(scenario, result.glance)
    if verdict is not None and verdict.targets:
        text, state = headline(verdict)
        yield Lines([(f"{text} (quick simulation); use airtcp run", state)])


def _airtime_line(result: Simulated) -> str:
    """Return the shares of the airtime, the largest first; with several cells a line for each."""
    if len(result.simulation.cells) > 1:
        return ""
    shares = sorted(result.simulation.airtime.items(), key=lambda one: -one[1])
    told = [f"{_PARTS[name]} {percent(share)}" for name, share in shares if name in _PARTS]
    return f"Airtime: {', '.join(told)}"


def observations(result: Simulated) -> Iterator[str]:
    """Yield remarks on endless transfers: airtime, latency under load, uneven shares."""
    scenario, simulation = result.scenario, result.simulation
    endless = [
        (flow.stations, flow.direction)
        for flow in scenario.flows
        if flow.tcp is not None and is_endless(flow)
    ]
    if not endless:
        return
    total = simulation.metrics["goodput_bps"].mean or 0.0
    for name, part in dict.fromkeys(endless):
        each = simulation.groups[name][part]
        share = each["airtime_share"].mean if "airtime_share" in each else None
        goodput = each["goodput_bps"].mean
        if not share or goodput is None or not total or share < _AIRTIME:
            continue
        if share > _OUT_OF_LINE * goodput / total:
            yield (
                f"{words.scope(name, part)} uses {percent(share)} of the airtime for "
                f"{percent(goodput / total)} of the goodput"
            )
    slow = [
        (each["path_rtt_s"].mean or 0.0, name, part)
        for name, part in dict.fromkeys(endless)
        if "path_rtt_s" in (each := simulation.groups[name][part])
    ]
    if slow and max(slow)[0] > _LATENCY_S:
        rtt, name, part = max(slow)
        who = words.scope(name, part)
        yield f"latency under load: {who} RTT is {quantity(rtt, 's', 3)}"
    # Count in each replication, because a different flow may starve in each.
    shared = [endless_goodputs(run.answer, scenario) for run in simulation.runs]
    known = [one for one in shared if len(one) > 1 and any(one)]
    if not known:
        return
    jain = fmean(jain_index(one) or 1.0 for one in known)
    if jain < _UNEVEN:
        few = fmean(sum(each < 0.5 * fmean(one) for each in one) for one in known)
        yield (
            f"unequal shares: {max(1.0, few):.0f} of {len(known[0])} endless transfers get less "
            f"than half the mean (Jain index {jain:.2f})"
        )


def changes(advice: Advice, *, everything: bool) -> Iterator[Part]:
    """Yield the changes that were tried, the best first, and how to make the first one."""
    best = advice.best
    if advice.recommended is not None or (advice.trials and advice.opportunity is None):
        helpful = [one for one in advice.trials if one.outcome in ("helps", "costs others")]
        shown = advice.trials if everything else helpful[:_CHANGES]
        rest = advice.tried - len(shown)
        if shown:
            yield _table(
                advice,
                shown,
                [(f"{words.plural(rest, 'more change')} tried, with less or no gain", "dim")]
                * (rest > 0),
            )
    if best is not None:
        yield Lines([(f"Apply: {best.title}", "bold")])
        yield Code(
            [settings(best.set), *configuration(best.apply, best.notes, everything=everything)]
        )


def configuration(
    apply: Mapping[str, Sequence[str]], notes: Sequence[str], *, everything: bool
) -> list[str]:
    """Return the configuration lines of a change; long ones only with `everything`."""
    lines = equipment(apply, notes)
    if everything or len(lines) <= _LINES:
        return lines
    return [f"# {len(lines)} lines for {', '.join(apply) or 'equipment'}: --details"]


def _table(advice: Advice, shown: Sequence[Trial], foot: Sequence[tuple[str, State]]) -> Table:
    metric = next((one.metric for one in shown if one.metric is not None), None)
    head = "" if metric is None else words.short(METRICS[metric])
    columns = [
        Column("  change", least=44),
        Column("targets met", right=True),
        Column(head, right=True, rank=1),
        Column("costs", least=19),
    ]
    rows = []
    for place, one in enumerate(shown, 1):
        of = one.met + one.missed + one.open
        after = (
            ""
            if one.after.mean is None or metric != one.metric or metric is None
            else METRICS[metric].format(one.after.mean)
        )
        met = f"{one.met}–{one.met + one.open}" if one.open else f"{one.met}"
        title = one.title.replace("the access point", "the AP")
        rows.append((f"{place} {title}", f"{met} of {of}", after, costs(one)))
    return Table(columns, rows, ["good" if one.outcome == "helps" else "" for one in shown], foot)


def costs(one: Trial) -> str:
    """Return what a change costs: a target that it breaks, what it takes, or what a group loses."""
    if one.breaks:
        return f"misses {words.about(one.breaks[0])}"
    return words.COSTS[one.cost] or words.lost(one.loses)


def settings(changed: Mapping[str, Any]) -> str:
    """Return the command-line options that make changes, given by key path."""
    return " ".join(
        f"--set {shlex.quote(f'{path}={option_text(value)}')}" for path, value in changed.items()
    )


def equipment(apply: Mapping[str, Sequence[str]], notes: Sequence[str]) -> list[str]:
    """Return the configuration lines under the name of each program, then notes."""
    lines = [line for tool, told in apply.items() for line in (f"# {tool}", *told)]
    return lines + [f"# note: {note}" for note in notes]


def notes(texts: Sequence[str]) -> Iterator[Part]:
    """Yield cautions, one fact each."""
    if texts:
        yield Lines([(f"! {text[0].upper()}{text[1:]}", "open") for text in texts])


def engine(result: Simulated) -> list[Note]:
    """Return the engine of the simulator that computed the run, if it is known."""
    name = result.provenance.engine
    return [] if name is None else [Note(f"Engine: {name}.")]


def footer(result: Simulated) -> Note:
    """Return the simulated time, the time that took, and where to find more."""
    simulation = result.simulation
    return Note(
        f"{duration(simulation.simulated_s)} simulated in {duration(simulation.wall_s)}. "
        "More: --details"
    )
