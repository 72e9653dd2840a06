"""Report broken assumptions of paper M about TCP windows, and their effects.

See `assumptions` for the form of the sentences.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from airtcp.predict.facts import tcp_of
from airtcp.predict.wording import OF_HEAVY_TAILS, OPTIMISTIC, PESSIMISTIC, segments
from airtcp.units import format_size, format_time_ns

from airtcp_papers.miorandi.predict.connections import Connections
from airtcp_papers.miorandi.predict.transfers import request_bytes

#: Within this range of the squared coefficient of variation W* > 1 matters little.
SPREAD: Final = 2.0
LITTLE_SPREAD: Final = 0.5
#: Disciplines that serve flows in turn.
_IN_TURN: Final = ("per-flow", "per-scenario-flow", "fq-codel")


def endless_window(connections: Connections) -> Iterator[str]:
    """Report windows other than W* = d with several endless downloads."""
    windows, d = connections.windows, connections.every
    if all(window == d for window in windows):
        return
    if min(windows) < d:
        yield (
            f"W* = d; here the window is {segments(min(windows))}, fewer than the {d:.3g} "
            f"that an ACK needs: every window ends with the delayed-ACK timer; {OPTIMISTIC}"
        )
    else:
        yield (
            f"W* = d = {d:.3g}; here W* is {_range(windows)} segments: goodput hardly depends "
            "on it, because stations with downloads collide only a little less often than "
            "with W* = d; the effect is small"
        )


def lone_window(connections: Connections) -> Iterator[str]:
    """Report that the window of the only endless download is not much larger than d."""
    window, d = connections.windows[0], connections.every
    if window < 10 * d:
        yield (
            f"W* is much larger than d = {d:g}; here W* is only {segments(window)}: access "
            "point and station do not always contend, so there are fewer collisions, but "
            "fewer backoffs run in parallel; the collision probability is too high, goodput "
            "off by little"
        )


def web_window(connections: Connections, scv: float) -> Iterator[str]:
    """Report windows other than W* = 1 for web transfers; `scv` is Var/mean^2 of the sizes."""
    windows = connections.windows
    if all(window == 1 for window in windows):
        return
    here = f"W* = 1; here W* is {_range(windows)} segments"
    if connections.count == 1:
        yield (
            f"{here}: access point and station contend, so their backoffs overlap; {PESSIMISTIC}"
        )
    elif connections.scenario.ap.queue.discipline in _IN_TURN:
        yield (
            f"{here}, but the access point's queue serves flows in turn: transfers share it "
            "as equally as with W* = 1; the effect is small"
        )
    elif scv > SPREAD:
        spread = (
            "without bound"
            if scv == float("inf")
            else (f"{scv:.3g} times that of an exponential distribution")
        )
        yield (
            f"{here}, and sizes are heavy-tailed (variance {spread}): large files fill the "
            "access point's queue, many small files wait behind them, and the mean time "
            f"depends on the distribution of sizes; {OF_HEAVY_TAILS}"
        )
    elif scv < LITTLE_SPREAD:
        yield (
            f"{here}, and all sizes are similar: the access point's queue serves transfers "
            f"nearly one after the other, which is faster for all; {PESSIMISTIC}"
        )
    else:
        yield (
            f"{here}: transfers share the access point's queue in proportion to their "
            "windows, not equally; sizes vary little, so the effect on means is small"
        )


def web_transfers(connections: Connections) -> Iterator[str]:
    """Report what the paper's own reading of (13) to (17) leaves out of a transfer."""
    flows = connections.flows
    waiting = [tcp_of(flow).delayed_ack for flow in flows if tcp_of(flow).delayed_ack.every > 1]
    if waiting:
        timeout = format_time_ns(max(ack.timeout_ns for ack in waiting))
        yield (
            f"each segment has an ACK; here one ACK covers {connections.every:.3g} segments: "
            "fewer ACKs leave more airtime for data (times too high), but if fewer segments "
            f"than that remain at the end, the last ACK waits for the {timeout} timer (times "
            "to the last ACK too low)"
        )
    requests = [request_bytes(flow) for flow in flows]
    handshakes = {tcp_of(flow).handshake for flow in flows}
    if any(requests) or handshakes != {"two-way"}:
        what = " or ".join(sorted(handshakes)).replace("none", "no")
        request = max(requests)
        asked = f" and a request of {format_size(request)}" if request else ""
        effect = "too high" if handshakes == {"none"} and not request else "too low"
        yield (
            f"two header-only packets precede the data; here {what} handshake{asked}; times "
            f"are {effect}, by about a packet's time"
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
            "TCP starts without delay; here the initial window is smaller than the number of "
            f"segments that an ACK needs: each transfer starts with the {timeout} timer; "
            "times are too low"
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
            "windows equal the receive window; here slow start ends at "
            f"{segments(round(threshold, 2))}, and then a window grows by "
            f"{segments(increase)} per round trip: the effect is small at the access point, "
            "where two segments are enough, and large over a path with delay; times are too "
            "low"
        )


def _range(windows: tuple[int, ...]) -> str:
    low, high = min(windows), max(windows)
    return f"{low}" if low == high else f"{low} to {high}"
