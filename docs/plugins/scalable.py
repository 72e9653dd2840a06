"""Scalable TCP: the window grows by a hundredth of acknowledged bytes, and shrinks by an eighth.

T. Kelly, "Scalable TCP: improving performance in highspeed wide area networks", ACM SIGCOMM CCR
33(2), 2003.
"""

import airtcp
from airtcp.congestion import Event, Window


class Scalable(airtcp.congestion.Reno):
    """Reno with another congestion avoidance and another reduction after a loss."""

    def avoid(self, window: Window, event: Event) -> None:
        """Add a byte per hundred acknowledged bytes; the remainder counts at the next ACK."""
        gained, self._fraction = divmod(self._fraction + event.acked, 100)
        window.cwnd += gained

    def on_loss(self, window: Window, event: Event) -> None:
        """Keep seven eighths of the bytes in flight, at least two segments."""
        window.ssthresh = max((event.flight_size or 0) * 7 // 8, 2 * event.mss)
        self._fraction = 0


airtcp.congestion.register("scalable", Scalable)
