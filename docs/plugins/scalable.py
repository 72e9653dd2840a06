"""Scalable TCP: the window grows by a hundredth of what is acknowledged, and loses an eighth.

T. Kelly, "Scalable TCP: improving performance in highspeed wide area networks", ACM SIGCOMM CCR
33(2), 2003.
"""

import airtcp
from airtcp.congestion import Event, Window


class Scalable(airtcp.congestion.Reno):
    """Reno but for the growth of congestion avoidance and what a loss leaves."""

    def avoid(self, window: Window, event: Event) -> None:
        """Add a byte for each hundred that are acknowledged; the rest counts at the next ACK."""
        gained, self._fraction = divmod(self._fraction + event.acked, 100)
        window.cwnd += gained

    def on_loss(self, window: Window, event: Event) -> None:
        """Leaves seven eighths of what is under way, at least two segments."""
        window.ssthresh = max((event.flight_size or 0) * 7 // 8, 2 * event.mss)
        self._fraction = 0


airtcp.congestion.register("scalable", Scalable)
