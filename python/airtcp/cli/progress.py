"""Bars on stderr that show how far long work is, if a person is looking there.

Knows when to show one. What stands on a bar is the command's business; Rich is imported only then.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import Progress, ProgressColumn


@contextmanager
def bars(quiet: bool, columns: Callable[[], Sequence[ProgressColumn]]) -> Iterator[Progress | None]:
    """Bars with these columns, gone when the work is done; None where nobody would see them."""
    if quiet or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(*columns(), console=Console(stderr=True), transient=True) as shown:
        yield shown
