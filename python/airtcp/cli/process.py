"""The process of a command: streams that tell when they fail, and signals that end it tidily.

Knows stdin, stdout, stderr, signals and exit statuses; does not know commands. Imports nothing that
takes time, so that a user who interrupts the start of a command has no traceback for it.
"""

from __future__ import annotations

import gc
import io
import os
import signal
import sys
from collections.abc import Callable
from enum import IntEnum
from typing import NoReturn, Self

from airtcp.exceptions import AirtcpError, one_line


class Status(IntEnum):
    """Exit statuses, the same for every command.

    A target that fails, and one of which the runs do not tell, are statuses of `run --check` alone.
    """

    DONE = 0
    FAILED = 1
    WRONG_INPUT = 2
    TARGET_FAILS = 3
    CANNOT_TELL = 4
    INTERRUPTED = 130


class StdoutError(AirtcpError):
    """Nothing more can be written to stdout: a full disk, or it is closed."""


class _Stdout(io.TextIOWrapper):
    """stdout that says what failed. A reader that has left is no failure: BrokenPipeError."""

    _replaced: io.TextIOWrapper

    @classmethod
    def instead_of(cls, stream: io.TextIOWrapper) -> Self:
        """The same stream; a character that its encoding has not becomes a mark."""
        stdout = cls(
            stream.buffer,
            encoding=stream.encoding,
            errors="replace",
            line_buffering=stream.line_buffering,
        )
        # It would close what both write to when nobody knows it any more.
        stdout._replaced = stream
        return stdout

    def write(self, text: str, /) -> int:
        try:
            return super().write(text)
        except OSError as error:
            _refuse(error)

    def flush(self) -> None:
        try:
            super().flush()
        except OSError as error:
            _refuse(error)


def _refuse(error: OSError) -> NoReturn:
    if isinstance(error, BrokenPipeError):
        raise error
    raise StdoutError(f"cannot write to stdout: {error.strerror or error}") from error


def run(command: Callable[[], None]) -> NoReturn:
    """Run a command in this process and exit with its status."""
    status: object = Status.DONE
    try:
        _prepare_streams()
        _prepare_signals()
        command()
    except SystemExit as end:
        status = end.code
    except KeyboardInterrupt:
        note("interrupted")
        status = Status.INTERRUPTED
    except StdoutError as error:
        status = _lost(error)
    _leave_signals()
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        forget_stdout()
    except StdoutError as error:
        status = _lost(error)
    replications = sys.modules.get("airtcp.run.replications")
    if replications is not None and replications.left_behind:
        end_at_once(Status.INTERRUPTED)
    # Files are closed, and what is left ends with the process: Python would look through it once
    # more for garbage, which takes a fifth of a short command. DuckDB's binding would print all of
    # that as leaked.
    if "duckdb" not in sys.modules:
        gc.freeze()
    sys.exit(status)  # type: ignore[arg-type]  # as it was


def note(message: str) -> None:
    """A line on stderr that is not part of a result."""
    for line in message.split("\n"):
        print(f"airtcp: {one_line(line)}", file=sys.stderr)


def end_at_once(status: Status) -> NoReturn:
    """End the process with what threads of it are doing, which may listen to nobody."""
    sys.stderr.flush()
    os._exit(status)


def forget_stdout() -> None:
    """Let what is still buffered for stdout, and what follows, go nowhere."""
    with open(os.devnull, "wb") as nowhere:
        os.dup2(nowhere.fileno(), 1)


def _lost(error: StdoutError) -> Status:
    forget_stdout()
    note(str(error))
    return Status.FAILED


def _prepare_streams() -> None:
    """Have stdout say what fails; let a terminal show a mark for a character that it has not."""
    # Python has None for a stream that is closed, and the next file that is opened would be it.
    if sys.stderr is None:
        _open_nowhere(2, os.O_WRONLY)
        sys.stderr = open(2, "w", closefd=False)  # noqa: SIM115
    if sys.stdout is None:
        # A stream that cannot be written to fails as a closed one does.
        _open_nowhere(1, os.O_RDONLY)
        sys.stdout = open(1, "w", closefd=False)  # noqa: SIM115
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout = _Stdout.instead_of(sys.stdout)
    if isinstance(sys.stderr, io.TextIOWrapper):
        sys.stderr.reconfigure(errors="replace")


def _open_nowhere(number: int, flags: int) -> None:
    nowhere = os.open(os.devnull, flags)
    if nowhere != number:
        os.dup2(nowhere, number)
        os.close(nowhere)


def _leave_signals() -> None:
    """Let a signal end the process at once, without a traceback: its command has ended."""
    for name in ("SIGINT", "SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) is signal.default_int_handler:
            signal.signal(number, signal.SIG_DFL)


def _prepare_signals() -> None:
    # Signals that ask a command to end act as Ctrl-C: finished work is shown, no half file is left.
    for name in ("SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, signal.default_int_handler)
