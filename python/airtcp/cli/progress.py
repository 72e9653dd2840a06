"""A progress bar on stderr, shown only if stderr is a terminal.

Commands define the columns. Rich is imported only when a bar is shown.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.progress import ProgressColumn


@contextmanager
def bar(
    quiet: bool, what: str, columns: Callable[[], Sequence[ProgressColumn]], **task: Any
) -> Iterator[Callable[..., None] | None]:
    """Show a bar for a task until the end. Yields the function that updates the task.

    Yields None with `quiet` or without a terminal. `task` has further columns, and the total if it
    is not 1.
    """
    if quiet or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(*columns(), console=Console(stderr=True), transient=True) as shown:
        yield partial(shown.update, shown.add_task(what, **{"total": 1.0} | task))
