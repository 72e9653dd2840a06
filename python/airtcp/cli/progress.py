"""Progress bars on stderr, shown only if stderr is a terminal.

Commands define the columns. Rich is imported only when a bar is shown.
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
    """Yield progress bars that vanish at the end; None with `quiet` or without a terminal."""
    if quiet or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(*columns(), console=Console(stderr=True), transient=True) as shown:
        yield shown
