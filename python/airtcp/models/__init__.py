"""The models: closed forms that take plain numbers and arrays, and return small result objects.

- `airtime`: durations of frames and exchanges, from the `phy` section of a resolved scenario
- `bianchi`: saturated DCF, basic access and RTS/CTS, with and without a retry limit
- `max_throughput`: theoretical maximum throughput of a lone sender
- `miorandi`: paper M, TCP downloads: contention, throughput, session delay

Every model raises `ValueError` naming an argument that cannot be, and `ConvergenceError` rather
than return a number that did not converge. Models never import the simulator.
"""

from airtcp.models import airtime, bianchi, max_throughput, miorandi

__all__ = ["airtime", "bianchi", "max_throughput", "miorandi"]
