"""Report broken assumptions of paper M about TCP windows, and their effects.

See `assumptions` for the form of the sentences.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from airtcp.predict.facts import Connections, tcp_of
from airtcp.predict.transfers import request_bytes
from airtcp.predict.wording import OF_HEAVY_TAILS, OPTIMISTIC, PESSIMISTIC, segments
from airtcp.units import format_size, format_time_ns

#: Within this range of the squared coefficient of variation W* > 1 matters little.
SPREAD: Final = 2.0
LITTLE_SPREAD: Final = 0.5


def endless_window(connections: Connections) -> Iterator[str]:
    """Report windows other than W* = d with several endless downloads."""
    windows, d = connections.windows, connections.every
    if all(window == d for window in windows):
        return
    if min(windows) < d:
        yield (
            f"W* = d; here the window is {segments(min(windows))} and an ACK waits for {d:.3g}: "
            f"every window ends with the delayed-ACK timer; {OPTIMISTIC}"
        )
    else:
        yield (
            f"W* = d = {d:.3g}; here W* is {_range(windows)} segments: goodput hardly depends on "
            "it, stations with downloads collide a little less often than with W* = d; the effect "
            "is small"
        )


def lone_window(connections: Connections) -> Iterator[str]:
    """Report windows that are not W* >> d with one endless download."""
    window, d = connections.windows[0], connections.every
    if window < 10 * d:
        yield (
            f"W* is much larger than d = {d:g}; here W* is {segments(window)}: access point and "
            "station do not always contend, there are fewer collisions but more backoff is waited "
            "out alone; the collision probability is too high, goodput off by little"
        )


def web_window(connections: Connections, scv: float) -> Iterator[str]:
    """Report windows other than W* = 1 for web transfers; `scv` is Var/mean^2 of the sizes."""
    windows = connections.windows
    if all(window == 1 for window in windows):
        return
    here = f"W* = 1; here W* is {_range(windows)} segments"
    if connections.count == 1:
        yield (f"{here}: access point and station contend, so that backoffs overlap; {PESSIMISTIC}")
    elif connections.scenario.ap.queue.discipline in ("per-flow", "fq-codel"):
        yield (
            f"{here}, but flows take turns at the access point's queue: transfers share it as "
            "equally as with W* = 1; the effect is small"
        )
    elif scv > SPREAD:
        spread = "without bound" if scv == float("inf") else f"{scv:.3g} times the exponential's"
        yield (
            f"{here}, and sizes are heavy-tailed (variance {spread}): large files fill the access "
            "point's queue, the many small ones wait behind them, and the mean time depends on the "
            f"law of sizes; {OF_HEAVY_TAILS}"
        )
    elif scv < LITTLE_SPREAD:
        yield (
            f"{here}, and sizes hardly differ: the access point's queue serves transfers nearly "
            f"one after the other, which is better for all than to share; {PESSIMISTIC}"
        )
    else:
        yield (
            f"{here}: the access point's queue is shared by windows, not equally; with sizes as "
            "little spread as these the effect on means is small"
        )


def web_transfers(connections: Connections) -> Iterator[str]:
    """Report what the paper's own reading of (13) to (17) leaves out of a transfer."""
    flows = connections.flows
    waiting = [tcp_of(flow).delayed_ack for flow in flows if tcp_of(flow).delayed_ack.every > 1]
    if waiting:
        timeout = format_time_ns(max(ack.timeout_ns for ack in waiting))
        yield (
            f"one ACK per segment; here one for every {connections.every:.3g}: fewer ACKs leave "
            "more room for data (times too high), but where less than that is left over at the "
            f"end the last ACK waits for the timer of {timeout} (times to the last ACK too low)"
        )
    requests = [request_bytes(flow) for flow in flows]
    handshakes = {tcp_of(flow).handshake for flow in flows}
    if any(requests) or handshakes != {"two-way"}:
        what = " or ".join(sorted(handshakes)).replace("none", "no")
        request = max(requests)
        asked = f" and a request of {format_size(request)}" if request else ""
        effect = "too high" if handshakes == {"none"} and not request else "too low"
        yield (
            "two packets of headers before the data; here "
            f"{what} handshake{asked}; times are {effect}, by about a packet's time"
        )


def web_first_ack(connections: Connections) -> Iterator[str]:
    """Report that the first segments wait because the initial window is below one ACK's worth."""
    stuck = [
        tcp_of(flow)
        for flow in connections.flows
        if tcp_of(flow).initial_window_bytes
        < (tcp_of(flow).delayed_ack.every_at_first - 1) * tcp_of(flow).mss_bytes + 1
    ]
    if stuck:
        timeout = format_time_ns(max(tcp.delayed_ack.timeout_ns for tcp in stuck))
        yield (
            "TCP starts at once; here the initial window is less than the segments that an ACK "
            f"waits for: each transfer starts with the timer of {timeout}; times are too low"
        )


def window_opens(connections: Connections) -> Iterator[str]:
    """Report transfers whose window does not open to W* by slow start."""
    slow = [
        flow
        for flow in connections.flows
        if tcp_of(flow).initial_ssthresh_bytes is not None
        and (tcp_of(flow).initial_ssthresh_bytes or 0) < tcp_of(flow).receive_window_bytes
    ]
    if slow:
        tcp = tcp_of(slow[0])
        threshold = (tcp.initial_ssthresh_bytes or 0) / tcp.mss_bytes
        increase = tcp.aimd.increase
        yield (
            "windows stand at the receive window; here slow start ends at "
            f"{segments(round(threshold, 2))}, and from there on a window grows by "
            f"{segments(increase)} a round trip: the effect is small at the access point, where "
            "two segments are enough, and large over a path with delay; times are too low"
        )


def _range(windows: tuple[int, ...]) -> str:
    low, high = min(windows), max(windows)
    return f"{low}" if low == high else f"{low} to {high}"
