"""Congestion controls of one's own: a class of Python beside those that are built in.

Knows which methods such a class has, and under which words scenarios name it. Does not know how the
sender finds and repairs losses, which is the core's.

A class has `on_ack(window, event)`, `on_loss(window, event)`, `on_timeout(window, event)` and
`on_idle(window, event)`, and is made without arguments for each connection. `window` has `cwnd` and
`ssthresh` in bytes, which the methods set (integers; `ssthresh` is None before the first loss), and
`in_slow_start`. `event` has

    now_ns           the time of the simulation, nanoseconds
    mss              SMSS, bytes
    initial_window   IW, bytes
    srtt_ns, rtt_ns  the smoothed round trip, and the newest one with variant = "rack"; or None
    acked            bytes that an ACK is the first to acknowledge
    was_full         whether the window was full in the last round trip
    was_half_used    whether more than half of it was used
    flight_size      bytes outstanding at a loss or timeout; None where the timer repeats a segment

Fast recovery sets `cwnd` itself, from the `ssthresh` that `on_loss` leaves (RFC 5681, 3.2).

    class Mine(airtcp.congestion.Reno):
        def avoid(self, window, event):
            window.cwnd += event.acked // 50

    airtcp.congestion.register("mine", Mine)
"""

from __future__ import annotations

from typing import Final, Protocol

from .choices import CONGESTION, Congestion
from .plugins import Kind, registered

__all__ = ["Control", "Event", "Reno", "Window", "register"]

_METHODS: Final = ("on_ack", "on_loss", "on_timeout", "on_idle")


class Window(Protocol):
    """The variables of RFC 5681 of a connection, in bytes."""

    cwnd: int
    ssthresh: int | None

    @property
    def in_slow_start(self) -> bool:
        """Tells whether the window is below the threshold."""


class Event(Protocol):
    """An event of a connection, and its circumstances."""

    now_ns: int
    mss: int
    initial_window: int
    srtt_ns: int | None
    rtt_ns: int | None
    acked: int
    was_full: bool
    was_half_used: bool
    flight_size: int | None


class Control(Protocol):
    """A congestion control of one connection."""

    def on_ack(self, window: Window, event: Event) -> None:
        """Takes an ACK of new data outside of fast recovery."""

    def on_loss(self, window: Window, event: Event) -> None:
        """Takes a loss that was found in another way than by the timer: sets `ssthresh`."""

    def on_timeout(self, window: Window, event: Event) -> None:
        """Takes the end of the retransmission timer: sets `ssthresh`."""

    def on_idle(self, window: Window, event: Event) -> None:
        """Takes data after a pause of more than the retransmission timeout."""


class Reno:
    """The window of RFC 5681, section 3.1: a base for controls that differ from it in some method.

    It gives the outcomes of `congestion = "reno"` bit for bit.
    """

    #: The part of a byte that `avoid` has left; of the class, for an `__init__` that does not call
    #: that of its base.
    _fraction = 0

    def on_ack(self, window: Window, event: Event) -> None:
        """Grows in slow start by what is acknowledged, a segment at most, and then by `avoid`."""
        if window.in_slow_start:
            if event.was_half_used:
                window.cwnd += min(event.acked, event.mss)
        elif event.was_full:
            self.avoid(window, event)

    def avoid(self, window: Window, event: Event) -> None:
        """Grows by SMSS^2 / cwnd; what is left of the division counts at the next ACK."""
        growth = event.mss**2 + self._fraction
        gained, self._fraction = divmod(growth, window.cwnd)
        window.cwnd += gained

    def on_loss(self, window: Window, event: Event) -> None:
        """Sets the threshold to half of what is under way, at least two segments."""
        assert event.flight_size is not None
        window.ssthresh = max(event.flight_size // 2, 2 * event.mss)
        self._fraction = 0

    def on_timeout(self, window: Window, event: Event) -> None:
        """Does as at a loss, but leaves the threshold where the timer repeats a segment."""
        if event.flight_size is not None:
            window.ssthresh = max(event.flight_size // 2, 2 * event.mss)
        self._fraction = 0

    def on_idle(self, window: Window, event: Event) -> None:
        """Shrinks to the restart window, min(IW, cwnd): RFC 5681, section 4.1."""
        window.cwnd = min(window.cwnd, event.initial_window)
        self._fraction = 0


def register(name: str, control: type[Control]) -> str:
    """Registers a class as a congestion control, which `tcp = { congestion = "NAME" }` names.

    Returns the word of the resolved form: the name, "@" and a hash of the class's code, so that
    results and stores tell which code they are of. To register it once more does nothing.

    Raises:
        PluginError: a name that is taken or no word, a class without one of the methods, or one
            whose code cannot be read.
    """
    from . import _core

    kind = Kind("congestion control", CONGESTION, _METHODS, "airtcp.congestion.Reno")
    return registered(
        kind,
        name,
        control,
        _core.register_congestion,
        lambda word: Congestion(word=word, name=name, label=name, kernel=None),
    )
