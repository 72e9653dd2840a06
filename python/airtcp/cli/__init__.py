"""The command `airtcp`.

Knows commands, options and exit statuses: 0 done, 1 the run failed or its answer could not be
written, 2 the input was wrong, 130 interrupted. Everything that a command does, it does through the
public Python of airtcp. What a result looks like on a terminal is in `show`.

    commands                   the list of them
    ask, reproduce, examples   what they do
    scenarios                  what they are about
    outputs                    files that they write, and whether they may
    outcome, process           how they end: messages, statuses, streams, signals
    show, progress             terminals
"""

from __future__ import annotations

import gc
import os
from typing import Final

from airtcp.cli.process import run

__all__ = ["main"]

_OBJECTS_BETWEEN_COLLECTIONS: Final = 500_000


def main() -> None:
    """The entry point: run the command of this process's arguments and exit with its status."""
    run(_commands)


def _commands() -> None:
    # Looking for plugins would read the metadata of every package that is installed.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "1")
    # NumPy would start a thread for each processor; nothing here multiplies large matrices.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    # The imported objects, some 90,000, stay: looking through them again and again for garbage
    # takes a tenth of a short command. A long one still collects what it leaves behind.
    gc.set_threshold(_OBJECTS_BETWEEN_COLLECTIONS)
    # Not before signals are looked after: imports take most of the time of a short command.
    from airtcp.cli.commands import app

    app(prog_name="airtcp")
