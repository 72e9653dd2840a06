"""The command `airtcp`: commands, options and exit statuses.

Exit statuses: 0 success, 1 the run failed or its result could not be written, 2 wrong input, 130
interrupted. Commands only use the public Python API of airtcp.

    commands                   the list of commands
    ask, plan, examples, ...   what they do
    scenarios                  reading the scenario of a command
    outputs                    output files, and checks before they are overwritten
    outcome, process           messages, exit statuses, streams, signals
    show, progress             terminal output
"""

from __future__ import annotations

import gc
import os
from typing import Final

from airtcp.cli.process import run

__all__ = ["main"]

_OBJECTS_BETWEEN_COLLECTIONS: Final = 500_000


def main() -> None:
    """Run the command of this process's arguments and exit with its status."""
    run(_commands)


def _commands() -> None:
    # Searching for plugins would read the metadata of every installed package.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "1")
    # NumPy would start one thread per processor, but no command multiplies large matrices.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    # About 90,000 imported objects stay alive. Scanning them repeatedly for garbage takes a tenth
    # of a short command. Long commands still collect their own garbage.
    gc.set_threshold(_OBJECTS_BETWEEN_COLLECTIONS)
    # Import only after signals are handled: imports take most of the time of a short command.
    from airtcp.cli.commands import app

    app(prog_name="airtcp")
