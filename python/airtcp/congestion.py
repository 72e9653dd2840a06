"""Custom congestion controls: write a Python class and name it in a scenario.

The core still detects and repairs losses.

A class has `on_ack(window, event)`, `on_loss(window, event)`, `on_timeout(window, event)` and
`on_idle(window, event)`. airtcp creates one instance per connection, without arguments. `window`
has `cwnd` and `ssthresh` in bytes, which the methods set (integers; `ssthresh` is None before the
first loss), and `in_slow_start`. `event` has

    now_ns           the simulated time, nanoseconds
    mss              SMSS, bytes
    initial_window   IW, bytes
    srtt_ns, rtt_ns  the smoothed RTT, and the newest RTT with variant = "rack"; or None
    acked            bytes newly acknowledged by this ACK
    was_full         whether the window was full in the last round trip
    was_half_used    whether more than half of it was used
    flight_size      bytes in flight at a loss or timeout; None if the timer fires again for the
                     same segment

Fast recovery itself sets `cwnd`, based on the `ssthresh` that `on_loss` leaves (RFC 5681, 3.2).

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

_KIND: Final = Kind(
    "congestion control",
    CONGESTION,
    ("on_ack", "on_loss", "on_timeout", "on_idle"),
    "airtcp.congestion.Reno",
    "register_congestion",
    lambda name, word: Congestion(word=word, name=name, label=name),
)


class Window(Protocol):
    """The congestion state of a connection (RFC 5681), in bytes."""

    cwnd: int
    ssthresh: int | None

    @property
    def in_slow_start(self) -> bool:
        """Whether the window is below the slow start threshold."""


class Event(Protocol):
    """An event of a connection and its context."""

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
    """The congestion control of one connection."""

    def on_ack(self, window: Window, event: Event) -> None:
        """Handle an ACK of new data outside fast recovery."""

    def on_loss(self, window: Window, event: Event) -> None:
        """Handle a loss detected without the timer: set `ssthresh`."""

    def on_timeout(self, window: Window, event: Event) -> None:
        """Handle a retransmission timeout: set `ssthresh`."""

    def on_idle(self, window: Window, event: Event) -> None:
        """Handle new data after an idle period longer than the RTO."""


class Reno:
    """The congestion control of RFC 5681, section 3.1, to subclass for variants.

    The results equal `congestion = "reno"` bit for bit.
    """

    #: The remainder of the last division in `avoid`. A class attribute, so that a subclass need not
    #: call this class's `__init__`.
    _fraction = 0

    def on_ack(self, window: Window, event: Event) -> None:
        """Grow by the acknowledged bytes, at most one segment, in slow start; then by `avoid`."""
        if window.in_slow_start:
            if event.was_half_used:
                window.cwnd += min(event.acked, event.mss)
        elif event.was_full:
            self.avoid(window, event)

    def avoid(self, window: Window, event: Event) -> None:
        """Grow by SMSS^2 / cwnd. The remainder of the division counts at the next ACK."""
        growth = event.mss**2 + self._fraction
        gained, self._fraction = divmod(growth, window.cwnd)
        window.cwnd += gained

    def on_loss(self, window: Window, event: Event) -> None:
        """Set the threshold to half of the flight size, at least two segments."""
        assert event.flight_size is not None
        window.ssthresh = max(event.flight_size // 2, 2 * event.mss)
        self._fraction = 0

    def on_timeout(self, window: Window, event: Event) -> None:
        """Set the threshold as for a loss, unless the timer fires again for the same segment."""
        if event.flight_size is not None:
            window.ssthresh = max(event.flight_size // 2, 2 * event.mss)
        self._fraction = 0

    def on_idle(self, window: Window, event: Event) -> None:
        """Shrink to the restart window, min(IW, cwnd): RFC 5681, section 4.1."""
        window.cwnd = min(window.cwnd, event.initial_window)
        self._fraction = 0


def register(name: str, control: type[Control]) -> str:
    """Register a class as a congestion control, to be used as `tcp = { congestion = "NAME" }`.

    Registering the same class again has no effect. Returns the name in the
    resolved scenario. Raises the errors of `airtcp.plugins.registered`.
    """
    return registered(_KIND, name, control)
