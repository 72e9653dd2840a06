"""Keep Ctrl-C and other termination signals until the program checks for them."""

from __future__ import annotations

import signal
import threading
from types import FrameType

#: Interrupts and termination requests. Not every system has all of them.
_SIGNALS = tuple(
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
)
#: After this many signals the user does not want to wait for a clean end.
_PATIENCE = 2


class Interruption:
    """Keeps a signal from entry until `check` is called.

    KeyboardInterrupt while a lock is held would leave it locked for ever, and the threads that run
    replications need their locks; in the middle of an answer, half of it would be lost. Only the
    third signal raises KeyboardInterrupt at once. This applies to signals whose handler raises
    KeyboardInterrupt, and only in the main thread, which is the only one to receive signals.
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
        """Whether a signal was received."""
        return self._signals > 0

    def check(self) -> None:
        """Raise KeyboardInterrupt if a signal was received."""
        if self.asked:
            raise KeyboardInterrupt

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        self._signals += 1
        if self._signals > _PATIENCE:
            signal.default_int_handler(number, frame)
