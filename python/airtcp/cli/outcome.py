"""How a command ends: errors become one message on stderr and an exit status."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

import typer

from airtcp.cli.process import Status, forget_stdout, note
from airtcp.exceptions import (
    AirtcpError,
    OutputError,
    PluginError,
    QuestionError,
    ScenarioError,
)


@contextmanager
def outcome() -> Iterator[None]:
    """Turn an early end of a command into a message and an exit status.

    A traceback therefore always means a bug in airtcp. A reader that closes the pipe (`airtcp run
    ... | head`) is not a failure. An output file that cannot be written counts as wrong input if
    that is detected before the work.
    """
    try:
        yield
        sys.stdout.flush()
    except (ScenarioError, QuestionError, PluginError, OutputError) as error:
        raise _end(str(error), Status.WRONG_INPUT) from error
    except AirtcpError as error:
        raise _end(str(error), Status.FAILED) from error
    except KeyboardInterrupt as error:
        raise _end("interrupted", Status.INTERRUPTED) from error
    except BrokenPipeError as error:
        forget_stdout()
        raise typer.Exit(Status.DONE) from error


def _end(message: str, status: Status) -> typer.Exit:
    note(message)
    return typer.Exit(status)
