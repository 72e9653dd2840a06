"""CUBIC by RFC 9438 in Python: a second implementation with the same bits as the core's.

Windows are in segments, times in seconds, both in binary64. Operations have the order of the core.
"""

import math
from fractions import Fraction
from itertools import pairwise

import airtcp

BETA = 0.7
C = 0.4
ALPHA = 3.0 * (1.0 - BETA) / (1.0 + BETA)


def cbrt(x: float) -> float:
    """Return the cube root, rounded to nearest like the core's library: libm may be an ulp off."""
    root: float = x ** (1 / 3)
    around = (math.nextafter(root, 0.0), root, math.nextafter(root, math.inf))
    for low, high in pairwise(around):
        middle = (Fraction(low) + Fraction(high)) / 2
        if middle**3 > Fraction(x):
            return low
    return around[-1]


class Cubic(airtcp.congestion.Reno):
    """The window of RFC 9438, section 4."""

    def __init__(self) -> None:
        super().__init__()
        self.w_max = 0.0
        self.cwnd_prior = 0.0
        self.idle_since: int | None = None
        self.fraction = 0.0
        self.start: int | None = None
        self.k = self.origin = self.w_est = 0.0

    def on_ack(self, window: airtcp.congestion.Window, event: airtcp.congestion.Event) -> None:
        """Grow in slow start like Reno, then along the curve, unless the window is not full."""
        if window.in_slow_start:
            super().on_ack(window, event)
        elif not event.was_full:
            if self.idle_since is None:
                self.idle_since = event.now_ns
        else:
            cwnd = window.cwnd / event.mss
            growth = self.growth(event, cwnd + self.fraction, event.acked / event.mss)
            growth += self.fraction
            gained = int(growth * event.mss)
            self.fraction = growth - gained / event.mss
            window.cwnd += gained

    def growth(self, event: airtcp.congestion.Event, cwnd: float, acked: float) -> float:
        """Return the segments by which the window grows: sections 4.2 to 4.5 and 5.8."""
        if self.start is None:
            self.start, self.w_est = event.now_ns, cwnd
            below = cwnd < self.w_max
            self.k = cbrt((self.w_max - cwnd) / C) if below else 0.0
            self.origin = self.w_max if below else cwnd
        if self.idle_since is not None:
            self.start += max(event.now_ns - max(self.idle_since, self.start), 0)
            self.idle_since = None
        t = max(event.now_ns - self.start, 0) * 1e-9
        self.w_est += (ALPHA if self.w_est < self.cwnd_prior else 1.0) * acked / cwnd
        if self.w_cubic(t) < self.w_est:
            return max(self.w_est - cwnd, 0.0)
        target = min(max(self.w_cubic(t + (event.srtt_ns or 0) * 1e-9), cwnd), 1.5 * cwnd)
        return (target - cwnd) / cwnd * acked

    def w_cubic(self, t: float) -> float:
        """Return W_cubic of Figure 1."""
        d = t - self.k
        return C * d * d * d + self.origin

    def reduce(
        self, window: airtcp.congestion.Window, event: airtcp.congestion.Event, flight: int
    ) -> None:
        """Keep seven tenths of the flight size, with fast convergence: sections 4.6 and 4.7."""
        cwnd = window.cwnd / event.mss
        self.cwnd_prior = cwnd
        self.w_max = cwnd * (1.0 + BETA) / 2.0 if cwnd + 1.0 <= self.w_max else cwnd
        window.ssthresh = max(int(flight * BETA), 2 * event.mss)
        self.start, self.fraction = None, 0.0

    def on_loss(self, window: airtcp.congestion.Window, event: airtcp.congestion.Event) -> None:
        """Reduce the window."""
        assert event.flight_size is not None
        self.reduce(window, event, event.flight_size)

    def on_timeout(self, window: airtcp.congestion.Window, event: airtcp.congestion.Event) -> None:
        """Reduce the window; afterwards there is no plateau: section 4.8."""
        if event.flight_size is not None:
            self.reduce(window, event, event.flight_size)
        self.w_max, self.start = 0.0, None

    def on_idle(self, window: airtcp.congestion.Window, event: airtcp.congestion.Event) -> None:
        """Begin from the restart window, with a new epoch."""
        window.cwnd = min(window.cwnd, event.initial_window)
        self.start, self.fraction = None, 0.0


airtcp.congestion.register("cubic-twin", Cubic)
