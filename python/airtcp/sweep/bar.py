"""A bar that shows how far a sweep is, in a terminal and in a notebook. Knows Rich alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from airtcp.amounts import duration

if TYPE_CHECKING:
    from rich.progress import Progress as Bars
    from rich.progress import ProgressColumn

    from airtcp.sweep.execute import Progress


@contextmanager
def shown(wanted: bool | Callable[[Progress], None]) -> Iterator[Callable[[Progress], None] | None]:
    """What to call with how far it is: what is given, or a bar that goes when the block ends."""
    if not isinstance(wanted, bool):
        yield wanted
        return
    if not wanted:
        yield None
        return
    from rich.console import Console
    from rich.progress import Progress as Bars

    with Bars(*columns(), console=Console(stderr=True), transient=True) as bars:
        yield on(bars)


def on(bars: Bars | None) -> Callable[[Progress], None] | None:
    """What to call so that it is seen on the bars."""
    if bars is None:
        return None
    task = bars.add_task("sweeping", total=1.0, left="")

    def report(progress: Progress) -> None:
        left = "" if progress.left_s is None else f"{duration(progress.left_s)} left"
        bars.update(task, completed=progress.share, left=left)

    return report


def columns() -> tuple[ProgressColumn, ...]:
    """What stands on the bar. The time left is told by the sweep, which knows what is left."""
    from rich.progress import BarColumn, TaskProgressColumn, TextColumn

    return (
        TextColumn("sweeping"),
        BarColumn(),
        TaskProgressColumn(),
        TextColumn("{task.fields[left]}"),
    )
