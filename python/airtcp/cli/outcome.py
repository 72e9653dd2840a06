"""How a command ends: errors become one message on stderr and an exit status."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import typer

from airtcp.cli.process import Status, forget_stdout, note
from airtcp.exceptions import (
    AirtcpError,
    OutputError,
    PluginError,
    QuestionError,
    ScenarioError,
    UnitError,
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
    except typer.BadParameter as error:
        error.message = _plain(error)
        raise
    except (ScenarioError, QuestionError, PluginError, OutputError) as error:
        raise _end(str(error), Status.WRONG_INPUT) from error
    except AirtcpError as error:
        raise _end(str(error), Status.FAILED) from error
    except KeyboardInterrupt as error:
        raise _end("interrupted", Status.INTERRUPTED) from error
    except BrokenPipeError as error:
        forget_stdout()
        raise typer.Exit(Status.DONE) from error


def parsed(text: str, parse: Callable[[str], float], option: str) -> float:
    """Parse the quantity of an option. Ends the command if the text is invalid."""
    try:
        return parse(text)
    except UnitError as error:
        raise typer.BadParameter(str(error), param_hint=option) from error


def _plain(error: typer.BadParameter) -> str:
    """Return the message of an error, in the words of other messages if pydantic found it."""
    details: list[dict[str, Any]] = getattr(error.__cause__, "errors", list)()
    if not details:
        return error.message
    detail = details[0]
    given, bound = detail["input"], detail.get("ctx", {})
    match detail["type"]:
        case "greater_than_equal":
            return f"must be {bound['ge']:g} or more (got {given})"
        case "less_than_equal":
            return f"must be {bound['le']:g} or less (got {given})"
        case "int_parsing" | "int_type" | "int_from_float":
            return f"must be a whole number (got {given!r})"
        case "float_parsing" | "float_type":
            return f"must be a number (got {given!r})"
        case _:
            return error.message


def _end(message: str, status: Status) -> typer.Exit:
    note(message)
    return typer.Exit(status)
