"""A progress bar for a sweep, in a terminal or a notebook."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Final

from airtcp.amounts import duration

if TYPE_CHECKING:
    from airtcp.sweep.execute import Progress

#: The columns of the bar, as in `airtcp.cli.progress`. The sweep estimates the remaining time.
COLUMNS: Final = ("{task.description}", "bar", "share", "{task.fields[left]}")


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
    from rich.progress import BarColumn, TaskProgressColumn
    from rich.progress import Progress as Bars

    columns = (COLUMNS[0], BarColumn(), TaskProgressColumn(), COLUMNS[-1])
    with Bars(*columns, console=Console(stderr=True), transient=True) as bars:
        yield on(partial(bars.update, bars.add_task("sweeping", total=1.0, left="")))


def on(update: Callable[..., None] | None) -> Callable[[Progress], None] | None:
    """Return the function to call with the progress of a sweep, which updates its bar."""
    if update is None:
        return None

    def report(progress: Progress) -> None:
        left = "" if progress.left_s is None else f"{duration(progress.left_s)} left"
        update(completed=progress.share, left=left)

    return report
