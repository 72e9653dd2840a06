"""A progress bar for a sweep, in a terminal or a notebook."""

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
    """Yield the function to call with the progress: the given one, or one that moves a bar."""
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
    """Return the function to call with the progress, so that it shows on the bars."""
    if bars is None:
        return None
    task = bars.add_task("sweeping", total=1.0, left="")

    def report(progress: Progress) -> None:
        left = "" if progress.left_s is None else f"{duration(progress.left_s)} left"
        bars.update(task, completed=progress.share, left=left)

    return report


def columns() -> tuple[ProgressColumn, ...]:
    """Return the columns of the bar. The sweep itself estimates the remaining time."""
    from rich.progress import BarColumn, TaskProgressColumn, TextColumn

    return (
        TextColumn("sweeping"),
        BarColumn(),
        TaskProgressColumn(),
        TextColumn("{task.fields[left]}"),
    )
