"""The work of `airtcp.plan` for channels: a chain ranks all plans, the simulator the best of them.

Knows the order of the work, and which plans may still be the best (`halving`). Does not know which
plans there are (`assignments`), nor what is wanted (`objective`).

All plans run on common random numbers, so that their differences are paired. Those that surely are
not the best by a hundredth of it are dropped on the way; the best, the second and today's plan have
most replications.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from airtcp.plan.assignments import (
    Chain,
    Graph,
    Plan,
    allowed_channels,
    on_one_channel,
    plans,
    present_channels,
    with_channels,
)
from airtcp.plan.halving import survivors
from airtcp.plan.objective import Objective, objective_of
from airtcp.plan.search import MOST
from airtcp.plan.trial import OWN
from airtcp.remedies.apply import channel_lines
from airtcp.results import Provenance
from airtcp.results.channel_plans import ChannelPlan, TriedPlan
from airtcp.run.points import Points, TimeIsOver
from airtcp.scenario.alone import cell_alone
from airtcp.stats import Interval, student_interval

if TYPE_CHECKING:
    from airtcp.results.plans import PlanStopped
    from airtcp.scenario import Scenario

#: The plans that are simulated, beside today's: those that the chain holds for the best.
SIMULATED: Final = 32
_FIRST: Final = 2
_MORE: Final = 1.5
#: Plans that are nearer than this part of the best are as good.
_NEAR: Final = 0.01
#: Steps of the guess within which plans are held for equal, and the quieter comes first.
_STEPS: Final = 50

#: A plan of channels, or the place of a cell that is simulated alone.
_Key = tuple[str, tuple[int | None, ...]]


def channel_plan(
    scenario: Scenario,
    *,
    channels: Sequence[int] | None,
    objective: str | None,
    seed: int | None,
    replications: int | None,
    threads: int | None,
    limit_s: float,
    progress: Callable[[float], None] | None,
    tell: Callable[[str], None] | None,
) -> ChannelPlan:
    """The work of `airtcp.plan`, which says what the arguments are."""
    allowed = allowed_channels(scenario, channels)
    asked = scenario if seed is None else scenario.with_run(seed=seed)
    together = on_one_channel(asked, allowed[0])
    goal = objective_of(asked, objective)
    run = asked.run
    most = replications or run.replications or min(run.max_replications, MOST)
    present = present_channels(asked)
    every = plans(len(asked.cells or ()), allowed, present)
    started, cpu = time.perf_counter(), time.process_time()
    points: Points[_Key] = Points(run.seed, threads=threads, progress=progress)
    provenance = Provenance.of(asked, seed=run.seed, generator=points.generator)
    race = _Race(asked, goal, points, most, tell)
    stopped: PlanStopped = "done"
    with points:
        points.deadline = time.monotonic() + limit_s
        try:
            race.alone()
            race.choose(together, every, present)
            race.run()
        except (KeyboardInterrupt, TimeIsOver) as over:
            if not race.known():
                raise KeyboardInterrupt from None
            stopped = "time" if isinstance(over, TimeIsOver) else "interrupted"
    if points.interrupted:
        stopped = "interrupted"
    tried = race.told()
    best = tried[0]
    behind = tried[1].behind.low if len(tried) > 1 else None
    today = next(one for one in tried if tuple(one.channels.values()) == race.today)
    changed = asked if best is today else race.scenario_of(tuple(best.channels.values()))
    lines = {
        cell.name: channel_lines(changed, place)
        for place, cell in enumerate(changed.cells or ())
        if best.channels[cell.name] != today.channels[cell.name]
    }
    return ChannelPlan(
        scenario=asked,
        provenance=provenance,
        objective=goal.name,
        label=goal.label,
        unit=goal.unit,
        better="higher" if goal.sign > 0 else "lower",
        allowed=tuple(allowed),
        plans=len(every),
        tried=tuple(tried),
        today=today,
        real=behind is not None and behind > 0.0,
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


class _Race:
    """The plans under trial, today's among them, and what has been seen of each."""

    def __init__(
        self,
        scenario: Scenario,
        goal: Objective,
        points: Points[_Key],
        most: int,
        tell: Callable[[str], None] | None,
    ) -> None:
        self.today: tuple[int | None, ...] = tuple(cell.channel for cell in scenario.cells or ())
        self._scenario = scenario
        self._goal = goal
        self._points = points
        self._most = most
        self._tell = tell
        self._guesses: dict[tuple[int | None, ...], float] = {}
        self._warmup_ns = 0

    def alone(self) -> None:
        """Simulate each cell with no other about."""
        self._say("cells alone")
        self._warmup_ns = self._points.warmed_up(self._scenario)
        keys: list[_Key] = []
        for place in range(len(self.today)):
            keys.append(("alone", (place,)))
            alone = cell_alone(self._scenario, place).with_run(warmup_ns=self._warmup_ns)
            self._points.add(keys[-1], alone)
        self._points.run({key: min(_FIRST, self._most) for key in keys})

    def goodputs_alone(self) -> dict[str, float]:
        """Return the goodput of each cell alone, in b/s."""
        found = {}
        for place, cell in enumerate(self._scenario.cells or ()):
            runs = self._points.ended(("alone", (place,)))
            goodputs = [run.answer["cells"][0]["goodput_bps"] for run in runs]
            if goodputs:
                found[cell.name] = math.fsum(goodputs) / len(goodputs)
        return found

    def choose(self, together: Scenario, every: Sequence[Plan], present: Plan | None) -> None:
        """Rank all plans by the chain, and take the best, and today's."""
        answers = [
            self._points.ended(("alone", (place,)))[0].answer for place in range(len(self.today))
        ]
        graph = Graph(together)
        chain = Chain(graph, [answer["cells"][0]["airtime"]["own"] for answer in answers])
        guesses = {plan: self._goal.guess(answers, chain.shares(plan)) for plan in every}
        step = max(map(abs, guesses.values())) / _STEPS or 1.0

        def rank(plan: Plan) -> tuple[float, float, Plan]:
            return -round(self._goal.sign * guesses[plan] / step), graph.louder(plan), plan

        chosen: list[Plan] = sorted(every, key=rank)[:SIMULATED]
        for plan in chosen:
            self._guesses[plan] = guesses[plan]
            self._add(plan)
        if self.today not in self._guesses:
            now = present or (every[0][0],) * len(self.today)
            if now in self._guesses:
                # All on one channel without a number is all on one that has one.
                self._guesses = {
                    (self.today if plan == now else plan): guess
                    for plan, guess in self._guesses.items()
                }
            else:
                self._guesses[self.today] = self._goal.guess(answers, chain.shares(now))
            self._add(self.today)

    def run(self) -> None:
        """Simulate, and drop what cannot be the best, until one is left or replications end."""
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
            # More runs may bring another plan to the second place, once.
            self._simulate([*self._ranked()[:2], self.today], n)

    def known(self) -> bool:
        """Tell whether anything is known of today's plan and another."""
        return bool(self._guesses) and bool(self._samples(self.today))

    def told(self) -> list[TriedPlan]:
        """Return the plans that were simulated, the best first."""
        order = self._ranked()
        level = self._scenario.run.confidence
        best = self._samples(order[0])
        found = []
        for plan in order:
            runs, values = self._points.ended(("plan", plan)), self._samples(plan)
            behind = [
                self._goal.sign * (best[run] - values[run])
                for run in sorted(best.keys() & values.keys())
            ]
            cells = self._scenario.cells or ()
            found.append(
                TriedPlan(
                    channels={cell.name: number for cell, number in zip(cells, plan, strict=True)},
                    guess=self._guesses[plan],
                    value=student_interval(values.values(), level),
                    behind=Interval(0.0, 0.0, 0.0, len(best))
                    if plan == order[0]
                    else student_interval(behind, level),
                    cells={
                        cell.name: student_interval(
                            [run.answer["cells"][place]["goodput_bps"] for run in runs], level
                        )
                        for place, cell in enumerate(cells)
                    },
                )
            )
        return found

    def scenario_of(self, plan: tuple[int | None, ...]) -> Scenario:
        """Return the scenario with the channels of a plan."""
        numbers = tuple(number for number in plan if number is not None)
        if plan == self.today or len(numbers) < len(plan):
            return self._scenario
        return with_channels(self._scenario, numbers)

    def _add(self, plan: tuple[int | None, ...]) -> None:
        scenario = self.scenario_of(plan).with_run(warmup_ns=self._warmup_ns)
        self._points.add(("plan", plan), scenario)

    def _simulate(self, wanted: Sequence[tuple[int | None, ...]], n: int) -> None:
        self._say(f"{len(set(wanted))} plans, {n} replications")
        self._points.run({("plan", plan): n for plan in wanted})

    def _ranked(self) -> list[tuple[int | None, ...]]:
        """Return the plans with a run, the best first; of equals what moves fewest cells.

        Those that were dropped have fewer runs, and only their mean to be judged by.
        """
        means = {plan: self._mean(plan) for plan in self._guesses if self._samples(plan)}
        order = list(means)
        return sorted(
            order,
            key=lambda plan: (
                -self._goal.sign * means[plan],
                sum(one != now for one, now in zip(plan, self.today, strict=True)),
                order.index(plan),
            ),
        )

    def _survivors(self, left: Sequence[tuple[int | None, ...]]) -> list[tuple[int | None, ...]]:
        now = self._samples(self.today)
        samples = {}
        for plan in left:
            values = self._samples(plan)
            samples[plan] = {
                run: -self._goal.sign * (values[run] - now[run])
                for run in sorted(values.keys() & now.keys())
            }
        margin = _NEAR * max(abs(self._mean(plan)) for plan in left)
        return survivors(samples, margin, keep=1)

    def _samples(self, plan: tuple[int | None, ...]) -> Mapping[int, float]:
        return {
            run.index: self._goal.value(run.answer) for run in self._points.ended(("plan", plan))
        }

    def _mean(self, plan: tuple[int | None, ...]) -> float:
        values = self._samples(plan).values()
        return math.fsum(values) / len(values)

    def _say(self, words: str) -> None:
        if self._tell is not None:
            self._tell(words)
