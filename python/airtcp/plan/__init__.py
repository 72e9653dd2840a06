"""The capacity of a scenario: the last value that meets every target, and what raises it.

    capacity      the order of the work
    axis          what is varied, and its values in order from good to bad
    search        chooses the values to simulate, and finds where a target is first missed
    channels      plans for cells: the channel, power and position of each access point
    assignments   the ways to assign channels
    settings      the powers and positions that access points may have
    candidates    combinations of both, and the most promising ones
    halving       which of many plans may still be the best
    shares        estimates of their results by a Markov chain
    objective     what to optimize

The answers are in `airtcp.results.plans`, their words in `airtcp.messages.plan`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final, Literal, overload

from airtcp.exceptions import QuestionError
from airtcp.phrases import phrase

# `import airtcp` imports this module, so slow imports are local.
if TYPE_CHECKING:
    from pathlib import Path

    from airtcp.results.channel_plans import ChannelPlan
    from airtcp.results.plans import Plan
    from airtcp.scenario import Scenario

__all__ = ["LIMIT_S", "plan"]

#: The default time limit of a plan: eight minutes.
LIMIT_S: Final = 480.0


@overload
def plan(  # type: ignore[overload-overlap]
    scenario: Scenario | str | Path,
    *,
    vary: Literal["channels", "powers", "positions"],
    channels: Sequence[int] | None = None,
    powers: Sequence[str] | None = None,
    grid: str | None = None,
    objective: str | None = None,
    seed: int | None = None,
    replications: int | None = None,
    threads: int | None = None,
    limit_s: float = LIMIT_S,
    progress: Callable[[float], None] | None = None,
    tell: Callable[[str], None] | None = None,
) -> ChannelPlan: ...


@overload
def plan(
    scenario: Scenario | str | Path,
    *,
    vary: str = "stations",
    until: str | Sequence[str] = (),
    begin: Any | None = None,
    end: Any | None = None,
    seed: int | None = None,
    replications: int | None = None,
    threads: int | None = None,
    remedies: bool | Sequence[str] = True,
    limit_s: float = LIMIT_S,
    progress: Callable[[float], None] | None = None,
    tell: Callable[[str], None] | None = None,
) -> Plan: ...


@overload
def plan(
    scenario: Scenario | str | Path,
    *,
    vary: str = "stations",
    until: str | Sequence[str],
    channels: Sequence[int] | None,
    objective: str | None,
    powers: Sequence[str] | None = None,
    grid: str | None = None,
    begin: Any | None = None,
    end: Any | None = None,
    seed: int | None = None,
    replications: int | None = None,
    threads: int | None = None,
    remedies: bool | Sequence[str] = True,
    limit_s: float = LIMIT_S,
    progress: Callable[[float], None] | None = None,
    tell: Callable[[str], None] | None = None,
) -> Plan | ChannelPlan: ...


def plan(
    scenario: Scenario | str | Path,
    *,
    vary: str = "stations",
    until: str | Sequence[str] = (),
    channels: Sequence[int] | None = None,
    powers: Sequence[str] | None = None,
    grid: str | None = None,
    objective: str | None = None,
    begin: Any | None = None,
    end: Any | None = None,
    seed: int | None = None,
    replications: int | None = None,
    threads: int | None = None,
    remedies: bool | Sequence[str] = True,
    limit_s: float = LIMIT_S,
    progress: Callable[[float], None] | None = None,
    tell: Callable[[str], None] | None = None,
) -> Plan | ChannelPlan:
    """Find the last value of `vary` that meets every target, or the best settings of cells.

    Args:
        scenario: the scenario to start from, or any argument of `airtcp.load`.
        vary: `"stations"` (the default) varies all groups in proportion. A key path varies one key,
            such as `"stations.laptop.count"`, `"flows.laptop.application.think_time.mean"`. With
            `"channels"`, `"powers"`, `"positions"`, or several of them separated by commas, the
            answer is a `ChannelPlan`: the settings of the access point of each cell.
        until: stop conditions such as `"p90 transfer_time > 2 s"`. They are added to the targets of
            the scenario or of its traffic, and replace targets about the same metric. Not for
            channels.
        channels: the channels to use; by default the first four of the band that do not overlap.
        powers: the powers to try, such as `["11 dBm", "14 dBm"]`; by default the current power of
            each access point and 3, 6 and 9 dB less.
        grid: the spacing of the positions to try for access points, by default `"5 m"`. The grid
            covers the rectangle around the nodes of the cell and includes the current position.
        objective: what to optimize. `"least"`: the lowest goodput of a cell. `"sum"`: the goodput
            of all cells. `"targets"`: the smallest margin of the scenario's targets, or of the
            default targets of its traffic; this is the default if there are targets or not all
            flows are endless. Or a metric: `"p90 transfer_time"`.
        begin: the first value, as in a file. No stop condition may hold there.
        end: the last value. Numbers of stations need neither.
        seed: replaces the scenario's seed.
        replications: the most replications per value. The default is the scenario's number, or 40
            if it has a precision.
        threads: replications to run at a time; does not change any number.
        remedies: whether to try changes that may raise the capacity: all of `airtcp.remedies`, or
            those with these names.
        limit_s: the time limit in seconds. After it, the plan has what is known so far, with
            `stopped` set to "time".
        progress: called regularly with the progress of the current runs, 0 to 1.
        tell: called with a description of the next runs.

    On Ctrl-C the plan has what is known so far, with `stopped` set to "interrupted".

    Raises:
        QuestionError: a condition is invalid, or never or always holds; an axis has no bounds; no
            channels are allowed, or the objective is unknown.
        ScenarioError: a key path does not exist.
        SimulationError: a run failed.
        KeyboardInterrupt: interrupted before any result.

    With the `cafe` of `airtcp.load`:

    >>> answer = airtcp.plan(
    ...     cafe, vary="stations", until="flow_goodput < 500 kb/s", remedies=False
    ... )
    >>> answer.answer.value
    49
    """
    from airtcp.plan.channels import VARIED, channel_plan, varied
    from airtcp.scenario import as_scenario
    from airtcp.units import parse_length_m, parse_power_dbm

    scenario = as_scenario(scenario)
    asked = varied(vary)
    if asked:
        if until or begin is not None or end is not None or not isinstance(remedies, bool):
            raise QuestionError(phrase("plan.options.not_used_together", vary=vary))
        return channel_plan(
            scenario,
            vary=asked,
            channels=channels,
            powers_dbm=None
            if powers is None
            else [_read(parse_power_dbm, one, "--powers") for one in powers],
            grid_m=None if grid is None else _read(parse_length_m, grid, "--grid"),
            objective=objective,
            seed=seed,
            replications=replications,
            threads=threads,
            limit_s=limit_s,
            progress=progress,
            tell=tell,
        )
    of_cells = {
        "--channels": channels,
        "--powers": powers,
        "--grid": grid,
        "--objective": objective,
    }
    for option, given in of_cells.items():
        if given is not None:
            raise QuestionError(phrase("plan.options.only_with", option=option, varied=VARIED))
    from airtcp.plan.capacity import capacity

    return capacity(
        scenario,
        vary=vary,
        until=until,
        begin=begin,
        end=end,
        seed=seed,
        replications=replications,
        threads=threads,
        remedies=remedies,
        limit_s=limit_s,
        progress=progress,
        tell=tell,
    )


def _read(parse: Callable[[object], float], value: object, option: str) -> float:
    """Parse a quantity of an option. Raises QuestionError."""
    from airtcp.exceptions import UnitError

    try:
        found = parse(value)
    except UnitError as error:
        raise QuestionError(f"{option} {value}: {error}") from None
    if option == "--grid" and not found:
        raise QuestionError(phrase("plan.options.no_grid"))
    return found
