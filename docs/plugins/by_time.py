"""ACKs by time: at most one per 5 ms, however many segments have arrived.

A window is then acknowledged by few ACKs, and the sender responds to each with a burst. Compare
`tack` (T. Li et al., "TACK: Improving wireless transport performance by taming acknowledgments",
ACM SIGCOMM 2020), which uses a fraction of the round-trip time instead.
"""

import airtcp
from airtcp.acks import Arrival

INTERVAL_NS = 5_000_000


class ByTime:
    """Delay an ACK until 5 ms after the previous one."""

    def delay_ns(self, arrival: Arrival) -> int:
        """Return the remainder of the 5 ms."""
        if arrival.since_ack_ns is None:
            return 0
        return max(0, INTERVAL_NS - arrival.since_ack_ns)


airtcp.acks.register("by-time", ByTime)
