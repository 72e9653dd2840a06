"""`airtcp.plan` for cells: a Markov chain ranks plans, and the simulator tries the best.

`candidates`, `assignments` and `settings` generate the plans, `objective` defines the goal, and
`halving` drops losing plans.

All plans run on common random numbers, so that their differences are paired. A plan is dropped
early once it is certain that it is not better than the leading one by a hundredth or more. The
best, the second and the current plan get the most replications.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from airtcp.exceptions import QuestionError
from airtcp.phrases import phrase
from airtcp.plan.assignments import allowed_channels, on_one_channel, present_channels
from airtcp.plan.candidates import Candidate, Space
from airtcp.plan.halving import survivors
from airtcp.plan.objective import Objective, objective_of
from airtcp.plan.settings import GRID_M, Settings, setting_changes
from airtcp.plan.shares import Chain, Graph
from airtcp.predict.cells import declined
from airtcp.remedies.apart import channel_changes
from airtcp.remedies.apply import cell_lines
from airtcp.remedies.queues import Lines
from airtcp.results import Provenance
from airtcp.results.channel_plans import ChannelPlan, TriedPlan
from airtcp.run.points import Points, TimeIsOver
from airtcp.scenario.alone import cell_alone
from airtcp.stats import Interval, student_interval

if TYPE_CHECKING:
    from airtcp.results.plans import PlanStopped
    from airtcp.scenario import ResolvedScenario, Scenario

#: The number of plans to simulate in addition to the current one: the best by the chain.
SIMULATED: Final = 32
_FIRST: Final = 2
#: The least replications of the best and the current plan; and the most, if a file has a precision.
OWN: Final = 5
MOST: Final = 40
_MORE: Final = 1.5
#: Plans within this fraction of the best are equally good.
_NEAR: Final = 0.01

#: Words of `vary` that ask for a plan of cells.
VARIED: Final = ("channels", "powers", "positions")
_SINGULAR: Final = {word.removesuffix("s"): word for word in VARIED}

#: A plan; or a cell that is simulated alone, with the part of its setting that matters there.
_Key = tuple[str, Candidate | str]


def varied(vary: str) -> tuple[str, ...]:
    """Return the properties of cells that a text asks to vary; empty if it asks for something else.

    Raises:
        QuestionError: it mixes properties of cells with others.
    """
    words = [word.strip() for word in vary.split(",")]
    if words[0] in _SINGULAR and len(words) == 1:
        word = _SINGULAR[words[0]]
        raise QuestionError(phrase("plan.options.unknown_key", words=words[0], word=word))
    if not set(words) & set(VARIED):
        return ()
    for word in words:
        if word not in VARIED:
            raise QuestionError(
                phrase("plan.options.not_of_cells", vary=vary, word=word, varied=VARIED)
            )
    return tuple(word for word in VARIED if word in words)


def channel_plan(
    scenario: Scenario,
    *,
    vary: Sequence[str],
    channels: Sequence[int] | None,
    powers_dbm: Sequence[float] | None,
    grid_m: float | None,
    objective: str | None,
    seed: int | None,
    replications: int | None,
    threads: int | None,
    limit_s: float,
    progress: Callable[[float], None] | None,
    tell: Callable[[str], None] | None,
) -> ChannelPlan:
    """Do the work of `airtcp.plan`, which documents the arguments."""
    for option, given, word in (
        ("--channels", channels, "channels"),
        ("--powers", powers_dbm, "powers"),
        ("--grid", grid_m, "positions"),
    ):
        if given is not None and word not in vary:
            raise QuestionError(phrase("plan.options.only_with_cells", option=option, word=word))
    asked = scenario if seed is None else scenario.with_run(seed=seed)
    cells, present = asked.cells or (), present_channels(asked)
    allowed = allowed_channels(scenario, channels) if "channels" in vary else None
    together = on_one_channel(asked, allowed[0]) if allowed else asked
    if len(cells) < 2 and allowed is None:
        raise QuestionError(phrase("plan.options.one_cell", vary=",".join(vary)))
    goal = objective_of(asked, objective)
    settings = Settings(
        asked,
        ([] if powers_dbm is None else powers_dbm) if "powers" in vary else None,
        (GRID_M if grid_m is None else grid_m) if "positions" in vary else None,
    )
    run = asked.run
    most = replications or run.replications or min(run.max_replications, MOST)
    space = Space(len(cells), allowed, present, settings.allowed)
    started, cpu = time.perf_counter(), time.process_time()
    points: Points[_Key] = Points(run.seed, threads=threads, progress=progress)
    provenance = Provenance.of(asked, seed=run.seed, generator=points.generator)
    race = _Race(asked, goal, points, most, settings, tell)
    stopped: PlanStopped = "done"
    with points:
        points.deadline = time.monotonic() + limit_s
        try:
            race.alone()
            race.choose(together, space)
            race.run()
        except (KeyboardInterrupt, TimeIsOver) as over:
            if not race.known():
                raise KeyboardInterrupt from None
            stopped = "time" if isinstance(over, TimeIsOver) else "interrupted"
    if points.interrupted:
        stopped = "interrupted"
    order = race.ranked()
    tried = race.told(order)
    best, today = tried[0], tried[order.index(race.today)]
    behind = tried[1].behind.low if len(tried) > 1 else None
    lines = _lines(asked, race.scenario_of(order[0]), best, today)
    return ChannelPlan(
        scenario=asked,
        provenance=provenance,
        objective=goal.name,
        label=goal.label,
        unit=goal.unit,
        better="higher" if goal.sign > 0 else "lower",
        vary=tuple(vary),
        allowed=tuple(allowed or ()),
        plans=space.size,
        ranked=race.seen,
        left_out=settings.left_out,
        silence=race.silence,
        tried=tuple(tried),
        today=today,
        real=behind is not None and behind > 0.0,
        changes=race.changes_of(order[0]),
        alone=race.goodputs_alone(),
        apply={
            name: {tool: tuple(told) for tool, told in one.by_tool.items()}
            for name, one in lines.items()
        },
        notes=tuple(dict.fromkeys(note for one in lines.values() for note in one.notes)),
        runs=points.runs,
        simulated_s=points.simulated_s,
        wall_s=time.perf_counter() - started,
        cpu_s=time.process_time() - cpu,
        stopped=stopped,
    )


def _lines(
    before: Scenario, after: Scenario, best: TriedPlan, today: TriedPlan
) -> dict[str, Lines]:
    """Return the device settings for each cell whose channel or power changes."""
    return {
        cell.name: cell_lines(
            after,
            place,
            channel=best.channels[cell.name] != today.channels[cell.name],
            power_dbm=None
            if best.powers_dbm[cell.name] == today.powers_dbm[cell.name]
            else best.powers_dbm[cell.name],
        )
        for place, cell in enumerate(before.cells or ())
        if (best.channels[cell.name], best.powers_dbm[cell.name])
        != (today.channels[cell.name], today.powers_dbm[cell.name])
    }


def _alike(alone: ResolvedScenario) -> str:
    """Return a text that is equal for isolated cells with equal hearing and rates.

    The powers then only matter for capture of colliding frames, which a guess ignores.
    """
    air = alone.air
    assert air is not None, "cells and [air] come together"
    heard = tuple(
        tuple(None if power is None else float(power >= air.sense_dbm) for power in row)
        for row in air.received_dbm
    )
    return alone.model_copy(
        update={"air": air.model_copy(update={"received_dbm": heard})}
    ).to_json()


class _Race:
    """The plans under trial, including the current one, and their results.

    `seen` counts the plans ranked by the chain. `silence` says why the chain has no value for some.
    """

    def __init__(
        self,
        scenario: Scenario,
        goal: Objective,
        points: Points[_Key],
        most: int,
        settings: Settings,
        tell: Callable[[str], None] | None,
    ) -> None:
        cells = scenario.cells or ()
        self.today = Candidate(tuple(cell.channel for cell in cells), (0,) * len(cells))
        self.seen = 0
        self.silence: str | None = None
        self._scenario = scenario
        self._goal = goal
        self._points = points
        self._most = most
        self._settings = settings
        self._tell = tell
        #: The objective of each plan by the chain; None if the chain cannot compute it, with the
        #: reason in `silence`.
        self._guesses: dict[Candidate, float | None] = {}
        self._warmup_ns = 0
        #: For each setting of each cell, the key of its isolated simulation.
        self._alone: list[list[str]] = []

    def alone(self) -> None:
        """Simulate each cell alone, with each of its settings that differ there."""
        self._say("cells alone")
        self._warmup_ns = self._points.warmed_up(self._scenario)
        runs: dict[_Key, int] = {}
        for place, settings in enumerate(self._settings.each):
            self._alone.append([])
            for setting in settings:
                changes = setting_changes(self._scenario, place, setting)
                alone = cell_alone(self._scenario.vary(changes), place)
                name = _alike(alone)
                self._alone[-1].append(name)
                self._points.add(("alone", name), alone.with_run(warmup_ns=self._warmup_ns))
                runs.setdefault(("alone", name), 1 if changes else min(_FIRST, self._most))
        self._points.run(runs)

    def goodputs_alone(self) -> dict[str, float]:
        """Return the current isolated goodput of each cell, in b/s."""
        found = {}
        for cell, names in zip(self._scenario.cells or (), self._alone, strict=False):
            runs = self._points.ended(("alone", names[0]))
            goodputs = [run.answer["cells"][0]["goodput_bps"] for run in runs]
            if goodputs:
                found[cell.name] = math.fsum(goodputs) / len(goodputs)
        return found

    def choose(self, together: Scenario, space: Space) -> None:
        """Rank plans by the chain, and keep the best ones and the current one."""
        answers = [
            [self._points.ended(("alone", name))[0].answer for name in names]
            for names in self._alone
        ]
        graph = Graph(together, self._settings.each)
        busy = [[one["cells"][0]["airtime"]["own"] for one in of] for of in answers]
        chain = Chain(graph, busy)

        def guess(plan: Candidate) -> float:
            of = [has[setting] for has, setting in zip(answers, plan.settings, strict=True)]
            return self._goal.guess(of, chain.shares(*plan))

        now = self.today
        if space.channels is not None and space.present is None:
            # Cells on one unnumbered channel are equivalent to cells on one numbered channel.
            now = now._replace(channels=(space.channels[0],) * len(now.channels))

        def tie(plan: Candidate) -> tuple[float, int, Candidate]:
            return graph.louder(*plan), sum(map(bool, plan.settings)), plan

        chosen, self.seen = space.best(lambda plan: self._goal.sign * guess(plan), tie, SIMULATED)
        for plan in dict.fromkeys([*chosen, now]):
            known = self.today if plan == now else plan
            scenario = self.scenario_of(known)
            why = declined(scenario)
            self.silence = self.silence or why
            self._guesses[known] = None if why else guess(plan)
            self._points.add(("plan", known), scenario.with_run(warmup_ns=self._warmup_ns))

    def run(self) -> None:
        """Simulate and drop losing plans, until one is left or replications run out."""
        left = [plan for plan in self._guesses if plan != self.today]
        n = min(_FIRST, self._most)
        while left:
            self._simulate([*left, self.today], n)
            left = self._survivors(left)
            if n >= self._most or len(left) <= 1:
                break
            n = min(math.ceil(_MORE * n), self._most)
        n = min(max(n, OWN), self._most)
        for _ in range(2):
            # More runs may move another plan to second place, once.
            self._simulate([*self.ranked()[:2], self.today], n)

    def known(self) -> bool:
        """Whether the current plan and another one have results."""
        return bool(self._guesses) and bool(self._samples(self.today))

    def told(self, order: Sequence[Candidate]) -> list[TriedPlan]:
        """Return the simulated plans in this order, the best first."""
        level = self._scenario.run.confidence
        best = self._samples(order[0])
        names = [cell.name for cell in self._scenario.cells or ()]
        found = []
        for plan in order:
            runs, values = self._points.ended(("plan", plan)), self._samples(plan)
            behind = [
                self._goal.sign * (best[run] - values[run])
                for run in sorted(best.keys() & values.keys())
            ]
            settings = [of[one] for of, one in zip(self._settings.each, plan.settings, strict=True)]
            found.append(
                TriedPlan(
                    channels=dict(zip(names, plan.channels, strict=True)),
                    powers_dbm={
                        name: one.power_dbm for name, one in zip(names, settings, strict=True)
                    },
                    positions={
                        name: one.position for name, one in zip(names, settings, strict=True)
                    },
                    guess=self._guesses[plan],
                    value=student_interval(values.values(), level),
                    behind=Interval(0.0, 0.0, 0.0, len(best))
                    if plan == order[0]
                    else student_interval(behind, level),
                    cells={
                        name: student_interval(
                            [run.answer["cells"][place]["goodput_bps"] for run in runs], level
                        )
                        for place, name in enumerate(names)
                    },
                )
            )
        return found

    def changes_of(self, plan: Candidate) -> dict[str, Any]:
        """Return the changes, by key path, that turn the scenario into a plan."""
        changes: dict[str, Any] = {}
        for place, setting in enumerate(plan.settings):
            changes |= setting_changes(self._scenario, place, self._settings.each[place][setting])
        numbers = [number for number in plan.channels if number is not None]
        if plan.channels != self.today.channels and len(numbers) == len(plan.channels):
            changes = channel_changes(self._scenario, numbers) | changes
        return changes

    def scenario_of(self, plan: Candidate) -> Scenario:
        """Return the scenario with a plan."""
        changes = self.changes_of(plan)
        return self._scenario.vary(changes) if changes else self._scenario

    def _simulate(self, wanted: Sequence[Candidate], n: int) -> None:
        self._say(f"{len(set(wanted))} plans, {n} replications")
        self._points.run({("plan", plan): n for plan in wanted})

    def ranked(self) -> list[Candidate]:
        """Return the simulated plans, best first; among equals, the one that moves fewest cells.

        Dropped plans have fewer runs, so only their mean is used.
        """
        means = {plan: self._mean(plan) for plan in self._guesses if self._samples(plan)}
        order = list(means)
        return sorted(
            order,
            key=lambda plan: (
                -self._goal.sign * means[plan],
                self._moved(plan),
                order.index(plan),
            ),
        )

    def _moved(self, plan: Candidate) -> int:
        """Count the cells that differ from the current plan."""
        each = zip(plan.channels, plan.settings, self.today.channels, strict=True)
        return sum(bool(setting) or channel != now for channel, setting, now in each)

    def _survivors(self, left: Sequence[Candidate]) -> list[Candidate]:
        now = self._samples(self.today)
        samples = {}
        for plan in left:
            values = self._samples(plan)
            samples[plan] = {
                run: -self._goal.sign * (values[run] - now[run])
                for run in sorted(values.keys() & now.keys())
            }
        margin = _NEAR * max(abs(self._mean(plan)) for plan in left)
        return survivors(samples, margin)

    def _samples(self, plan: Candidate) -> Mapping[int, float]:
        return {
            run.index: self._goal.value(run.answer) for run in self._points.ended(("plan", plan))
        }

    def _mean(self, plan: Candidate) -> float:
        values = self._samples(plan).values()
        return math.fsum(values) / len(values)

    def _say(self, words: str) -> None:
        if self._tell is not None:
            self._tell(words)
