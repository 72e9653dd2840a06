"""ACKs by time: at most one in 5 ms, however many segments have arrived.

A window is acknowledged in few ACKs then, and the sender answers each by a burst; compare
`tack` (T. Li et al., "TACK: Improving wireless transport performance by taming acknowledgments",
ACM SIGCOMM 2020), which takes a part of the round trip instead.
"""

import airtcp
from airtcp.acks import Arrival

INTERVAL_NS = 5_000_000


class ByTime:
    """Lets an ACK wait until 5 ms have gone by since the last one."""

    def delay_ns(self, arrival: Arrival) -> int:
        """Return the rest of the 5 ms."""
        if arrival.since_ack_ns is None:
            return 0
        return max(0, INTERVAL_NS - arrival.since_ack_ns)


airtcp.acks.register("by-time", ByTime)
