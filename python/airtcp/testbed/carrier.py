"""The thread that carries packets through the simulated medium in real time."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from airtcp.exceptions import OutputError, SimulationError
from airtcp.files import aside
from airtcp.phrases import phrase
from airtcp.results.testbed import LAG_BOUND_US, Lag

if TYPE_CHECKING:
    from airtcp import _core

#: Above real-time threads with the lowest priority; the kernel's own threads have 50.
_PRIORITY: Final = 20


class Carrier:
    """The simulated medium of a scenario between devices. As a context manager it runs in a thread.

    `servers` has for each flow entry the address of its server, the purpose of its connections, and
    the port of dialogues; None if the entry is simulated. A `capture` records packets that enter
    and leave the nodes, and frames on the medium.
    """

    def __init__(
        self,
        core: _core.Simulation,
        seed: int,
        devices: Sequence[int],
        stations: Sequence[str | None],
        servers: Sequence[tuple[str, str, int | None] | None],
        capture: _core.TestbedCapture | None = None,
    ) -> None:
        from airtcp import _core

        self._arguments = (core, seed, list(devices), list(stations), list(servers))
        self._control = _core.TestbedControl()
        self._capture = capture
        self._thread = threading.Thread(target=self._run, name="airtcp air", daemon=True)
        self._is_real_time = False
        self._failure: BaseException | None = None
        self._answer: tuple[str, bytes] | None = None
        self.epoch_ns = 0

    def __enter__(self) -> Carrier:
        self.epoch_ns = time.monotonic_ns()
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._control.stop()
        self._thread.join()

    def _run(self) -> None:
        from airtcp import _core

        try:
            os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(_PRIORITY))
            self._is_real_time = True
        except OSError:
            # Not allowed: the lag then shows the effect.
            pass
        try:
            self._answer = _core.run_testbed(
                *self._arguments, self.epoch_ns, self._control, self._capture
            )
        except BaseException as error:
            self._failure = error

    @property
    def now_s(self) -> float:
        """The time in seconds on the clock of the simulation."""
        return (time.monotonic_ns() - self.epoch_ns) / 1e9

    def is_over(self) -> bool:
        """Whether the scenario has ended."""
        return not self._thread.is_alive()

    def progress(self) -> dict[str, Any]:
        """Return the counters so far."""
        return self._control.progress(LAG_BOUND_US)

    def lag(self) -> Lag:
        """Return the lateness of packets so far."""
        return Lag.of(self.progress(), real_time=self._is_real_time)

    def answer(self) -> tuple[str, bytes]:
        """Return the core's result after the end of the scenario. Raises SimulationError."""
        from airtcp import _core

        self._thread.join()
        if isinstance(self._failure, _core.SimulationFailed):
            raise SimulationError(
                phrase("testbed.network.failed", failure=self._failure)
            ) from self._failure
        if self._failure is not None:
            raise self._failure
        if self._answer is None:
            raise KeyboardInterrupt
        return self._answer


@contextmanager
def captured(
    path: Path | None,
    names: Sequence[str],
    air: Sequence[str],
    snaplen: int,
    lost: list[OutputError],
) -> Iterator[_core.TestbedCapture | None]:
    """Yield a capture with these interfaces of nodes and of the medium; None without a file.

    The file is complete if the block ends without an error. If writing fails, only `lost` gets the
    error, because the measurement must not be lost. Raises OutputError before the block.
    """
    from airtcp import _core

    if path is None:
        yield None
        return
    with aside(path) as beside:
        # The capture writes in its own thread, without the carrier's priority.
        capture = _core.TestbedCapture(str(beside), list(names), list(air), snaplen)
        try:
            yield capture
        finally:
            failure = _finished(capture)
        if failure is not None:
            beside.unlink()
            # Cut off the error number that follows.
            why, _, _ = str(failure).partition(" (os error")
            lost.append(OutputError(phrase("testbed.network.cannot_write", path=path, why=why)))


def _finished(capture: _core.TestbedCapture) -> OSError | None:
    """Wait until everything is written. Return the error, if any."""
    try:
        capture.finish()
    except OSError as error:
        return error
    return None
