"""A control by delay, in the way of TCP Vegas: it holds a few segments in the queues of the path.

L. Brakmo, L. Peterson, "TCP Vegas: end to end congestion avoidance on a global Internet", IEEE JSAC
13(8), 1995, with alpha = 2 and beta = 4 segments. It knows the round trip of single segments with
`variant = "rack"` alone, and is Reno without.
"""

import airtcp
from airtcp.congestion import Event, Window


class DelayBased(airtcp.congestion.Reno):
    """The window follows the segments that wait: cwnd (1 - least RTT / RTT)."""

    def __init__(self) -> None:
        super().__init__()
        self._least_ns: int | None = None
        self._next_ns = 0

    def on_ack(self, window: Window, event: Event) -> None:
        """Note the least round trip; move the window by a segment once in a round trip."""
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
