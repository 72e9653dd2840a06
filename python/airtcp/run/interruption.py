"""Ctrl-C, and whatever else ends a command as it does, as a question asked at safe points.

Knows signals; does not know what they interrupt.
"""

from __future__ import annotations

import signal
import threading
from types import FrameType

#: Interrupts, and requests to end that may be handled in the same way; not every system has all.
_SIGNALS = tuple(
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
)
#: The user who asks so often does not want to wait for what is left to be done.
_PATIENCE = 2


class Interruption:
    """A signal that is kept while this is entered, until `check` is called.

    KeyboardInterrupt in the middle of a lock would leave it held for ever, and the threads that
    run replications need theirs; in the middle of an answer half of it would be lost. Only the
    third signal is the usual exception. Taken over are signals whose handler raises
    KeyboardInterrupt, and only in the main thread, which alone gets signals.
    """

    def __init__(self) -> None:
        self._signals = 0
        self._installed: list[signal.Signals] = []

    def __enter__(self) -> Interruption:
        if threading.current_thread() is threading.main_thread():
            for number in _SIGNALS:
                if signal.getsignal(number) is signal.default_int_handler:
                    signal.signal(number, self._on_signal)
                    self._installed.append(number)
        return self

    def __exit__(self, *_: object) -> None:
        for number in self._installed:
            signal.signal(number, signal.default_int_handler)
        self._installed.clear()

    @property
    def asked(self) -> bool:
        """Tell whether there was a signal."""
        return self._signals > 0

    def check(self) -> None:
        """Raise KeyboardInterrupt if there was a signal."""
        if self.asked:
            raise KeyboardInterrupt

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        self._signals += 1
        if self._signals > _PATIENCE:
            signal.default_int_handler(number, frame)
