"""How a command ends: errors to one message on stderr and an exit status."""

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
    """Turn what ends a command early into a message and a status; a traceback means a bug of ours.

    A reader that closes the pipe (`airtcp run ... | head`) has what it wanted: that is no failure.
    A file that cannot be written is wrong input if that is said before the work.
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
