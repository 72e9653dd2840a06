"""How a command ends: errors to one message on stderr and an exit status."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from enum import IntEnum

import typer

from airtcp.exceptions import AirtcpError, OutputError, ScenarioError


class Status(IntEnum):
    """Exit statuses, the same for every command."""

    DONE = 0
    FAILED = 1
    WRONG_INPUT = 2
    INTERRUPTED = 130


@contextmanager
def outcome() -> Iterator[None]:
    """Turn what ends a command early into a message and a status; a traceback means a bug of ours.

    A reader that closes the pipe (`airtcp run ... | head`) has what it wanted: that is no failure.
    """
    try:
        yield
        sys.stdout.flush()
    except (ScenarioError, OutputError) as error:
        raise _end(str(error), Status.WRONG_INPUT) from error
    except AirtcpError as error:
        raise _end(str(error), Status.FAILED) from error
    except KeyboardInterrupt as error:
        raise _end("interrupted", Status.INTERRUPTED) from error
    except BrokenPipeError as error:
        # What is still buffered must not fail again when the interpreter closes stdout.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise typer.Exit(Status.DONE) from error


def note(message: str) -> None:
    """A line on stderr that is not part of a result."""
    print(f"airtcp: {message}", file=sys.stderr)


def _end(message: str, status: Status) -> typer.Exit:
    note(message)
    return typer.Exit(status)
