"""A progress bar on stderr, shown only if stderr is a terminal. Rich is imported only then."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any


@contextmanager
def bar(quiet: bool, what: str, *columns: str, **task: Any) -> Iterator[Callable[..., None] | None]:
    """Show a bar for a task until the end. Yields the function that updates the task.

    Columns are names of parts, or texts with fields such as `{task.description}`. Yields None with
    `quiet` or without a terminal. `task` has further fields, and the total if it is not 1.
    """
    if quiet or not sys.stderr.isatty():
        yield None
        return
    from rich import progress
    from rich.console import Console

    parts: dict[str, Callable[[], progress.ProgressColumn]] = {
        "bar": progress.BarColumn,
        "short bar": partial(progress.BarColumn, bar_width=20),
        "share": progress.TaskProgressColumn,
        "count": progress.MofNCompleteColumn,
        "elapsed": progress.TimeElapsedColumn,
        "time left": progress.TimeRemainingColumn,
    }
    made = [parts[one]() if one in parts else progress.TextColumn(one) for one in columns]
    with progress.Progress(*made, console=Console(stderr=True), transient=True) as shown:
        yield partial(shown.update, shown.add_task(what, **{"total": 1.0} | task))


@contextmanager
def progress_bar(quiet: bool, what: str = "simulating") -> Iterator[Callable[[float], None] | None]:
    """Show a progress bar with the remaining time."""
    columns = ("{task.description}", "bar", "share", "time left", "left")
    with bar(quiet, what, *columns) as update:
        yield update and (lambda fraction: update(completed=fraction))
