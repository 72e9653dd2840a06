"""Delay-based congestion control similar to TCP Vegas: it keeps a few segments queued.

L. Brakmo, L. Peterson, "TCP Vegas: end to end congestion avoidance on a global Internet", IEEE JSAC
13(8), 1995, with alpha = 2 and beta = 4 segments. It needs the round-trip times of single segments
(`variant = "rack"`), and behaves like Reno without them.
"""

import airtcp
from airtcp.congestion import Event, Window


class DelayBased(airtcp.congestion.Reno):
    """Control the number of queued segments: cwnd (1 - minimum RTT / RTT)."""

    def __init__(self) -> None:
        super().__init__()
        self._least_ns: int | None = None
        self._next_ns = 0

    def on_ack(self, window: Window, event: Event) -> None:
        """Update the minimum RTT; change the window by at most a segment per round trip."""
        if event.rtt_ns is None:
            super().on_ack(window, event)
            return
        self._least_ns = min(event.rtt_ns, self._least_ns or event.rtt_ns)
        waiting = window.cwnd * (event.rtt_ns - self._least_ns) // event.rtt_ns
        if window.in_slow_start and waiting < event.mss:
            super().on_ack(window, event)
            return
        window.ssthresh = min(window.cwnd, window.ssthresh or window.cwnd)
        if event.now_ns < self._next_ns:
            return
        self._next_ns = event.now_ns + event.rtt_ns
        if waiting < 2 * event.mss and event.was_full:
            window.cwnd += event.mss
        elif waiting > 4 * event.mss:
            window.cwnd = max(window.cwnd - event.mss, 2 * event.mss)


airtcp.congestion.register("delay-based", DelayBased)
