"""The process of a command: streams that report errors, signals, and exit statuses.

Imports nothing slow, so that an interruption during startup shows no traceback.
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

    Only `run --check` uses TARGET_FAILS (a target is missed) and CANNOT_TELL (the runs are
    inconclusive).
    """

    DONE = 0
    FAILED = 1
    WRONG_INPUT = 2
    TARGET_FAILS = 3
    CANNOT_TELL = 4
    INTERRUPTED = 130


class StdoutError(AirtcpError):
    """stdout cannot be written: the disk is full, or the stream is closed."""


class _Stdout(io.TextIOWrapper):
    """stdout that raises clear errors.

    BrokenPipeError means that the reader has left; not a failure.
    """

    _replaced: io.TextIOWrapper

    @classmethod
    def instead_of(cls, stream: io.TextIOWrapper) -> Self:
        """Wrap a stream. Characters that its encoding lacks become "?"."""
        stdout = cls(
            stream.buffer,
            encoding=stream.encoding,
            errors="replace",
            line_buffering=stream.line_buffering,
        )
        # The old object would close the shared buffer when it is garbage-collected.
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
    # Files are closed and the process ends, so skip Python's last garbage collection, which takes a
    # fifth of a short command. DuckDB's binding would report the frozen objects as leaks.
    if "duckdb" not in sys.modules:
        gc.freeze()
    sys.exit(status)  # type: ignore[arg-type]  # as it was


def note(message: str) -> None:
    """Print a line on stderr that is not part of a result."""
    for line in message.split("\n"):
        print(f"airtcp: {one_line(line)}", file=sys.stderr)


def end_at_once(status: Status) -> NoReturn:
    """End the process together with its threads, which may not react to signals."""
    sys.stderr.flush()
    os._exit(status)


def forget_stdout() -> None:
    """Discard buffered and future output to stdout."""
    with open(os.devnull, "wb") as nowhere:
        os.dup2(nowhere.fileno(), 1)


def _lost(error: StdoutError) -> Status:
    forget_stdout()
    note(str(error))
    return Status.FAILED


def _prepare_streams() -> None:
    """Make stdout report errors; replace characters that the terminal's encoding lacks."""
    # A closed stream is None in Python, and the next opened file would take its number.
    if sys.stderr is None:
        _open_nowhere(2, os.O_WRONLY)
        sys.stderr = open(2, "w", closefd=False)  # noqa: SIM115
    if sys.stdout is None:
        # Open it read-only, so that writing fails as on a closed stream.
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
    """Let a signal end the process at once, without a traceback, after the command has ended."""
    for name in ("SIGINT", "SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) is signal.default_int_handler:
            signal.signal(number, signal.SIG_DFL)


def _prepare_signals() -> None:
    # Termination signals act like Ctrl-C: finished work is shown, and no partial file is left.
    for name in ("SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, signal.default_int_handler)
