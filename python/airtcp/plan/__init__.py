"""The capacity of a scenario: the last value at which every target is met, and what raises it.

    capacity      the order of the work
    axis          what is varied, and its values in the order from good to bad
    search        which values are simulated, and where a target is missed first
    channels      the other question: which channel, power and place each cell is to have
    assignments   the ways of giving channels
    settings      the powers and places that access points may have
    candidates    the ways of giving both, and which look best
    halving       which of many plans may still be the best
    shares        what a chain says of them
    objective     what is to be best

The answers are `airtcp.results.plans`, their words `airtcp.messages.plan`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final, Literal, overload

from airtcp.exceptions import QuestionError

# `import airtcp` imports this module: what costs time is imported where it is used.
if TYPE_CHECKING:
    from pathlib import Path

    from airtcp.results.channel_plans import ChannelPlan
    from airtcp.results.plans import Plan
    from airtcp.scenario import Scenario

__all__ = ["LIMIT_S", "plan"]

#: The time that a plan takes at most, if the caller does not say: eight minutes.
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
    """Find the last value of `vary` at which every target is met, or the best cells.

    Args:
        scenario: where to start from, or what `airtcp.load` takes.
        vary: `"stations"`, all groups in proportion, which is the default, or a key path such as
            `"stations.laptop.count"`, `"flows.laptop.application.think_time.mean"`. With
            `"channels"`, `"powers"`, `"positions"`, or some of them with commas between, the answer
            is a `ChannelPlan`: what the access point of each of several cells is to have.
        until: conditions that must not hold, `"p90 transfer_time > 2 s"`, beside the targets of the
            scenario or of its traffic, and in the place of those about the same metric; not with
            channels.
        channels: the channels that cells may have, instead of the first four of the band that do
            not overlap.
        powers: the powers that access points may have, such as `["11 dBm", "14 dBm"]`, instead of
            that of each and 3, 6 and 9 dB less.
        grid: the distance of the points where access points may stand, `"5 m"` if it is not given:
            within the rectangle that holds the nodes of the cell, one of them where each stands.
        objective: what the best plan is best in: `"least"`, the goodput of the cell that has
            least; `"sum"`, that of all; `"targets"`, the smallest margin of the scenario's targets,
            or of those that its traffic usually has, the default where it has some or not all
            flows are endless; or a metric, `"p90 transfer_time"`.
        begin: where the axis begins, as in a file: where no condition holds.
        end: where it ends. Numbers of stations need neither.
        seed: instead of the scenario's.
        replications: at most so many at a value, instead of the scenario's number (or 40 where it
            has a precision).
        threads: replications under way at a time; no number depends on it.
        remedies: try what may carry it further, too: all of `airtcp.remedies`, or those of these
            names.
        limit_s: seconds after which no more is run, and the plan says what is known so far, with
            `stopped` set to "time".
        progress: is told now and then how far the runs that are under way are, 0 to 1.
        tell: is told what is run next.

    On Ctrl-C the plan says what is known so far, with `stopped` set to "interrupted".

    Raises:
        QuestionError: a condition that cannot be asked or that never or always holds; an axis
            without bounds; no channels that may be given, or no such objective.
        ScenarioError: a key path that is none.
        SimulationError: a run failed.
        KeyboardInterrupt: before anything had ended.

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
            raise QuestionError(
                f"--vary {vary}: has no --until, --from, --to or --remedy; allowed: --objective, "
                "--channels, --powers, --grid"
            )
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
            raise QuestionError(
                f"{option}: is of --vary {', '.join(VARIED)}; allowed: beside these alone"
            )
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
    """Read a quantity of an option. Raises QuestionError."""
    from airtcp.exceptions import UnitError

    try:
        found = parse(value)
    except UnitError as error:
        raise QuestionError(f"{option} {value}: {error}") from None
    if option == "--grid" and not found:
        raise QuestionError("--grid: is 0 m; allowed: more")
    return found
