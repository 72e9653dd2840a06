"""Report broken assumptions of paper M about TCP windows, and their effects.

See `assumptions` for the form of the sentences.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from airtcp.predict.facts import tcp_of
from airtcp.units import format_size, format_time_ns

from airtcp_papers.common.cards import segments
from airtcp_papers.miorandi.predict import sentence
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
        yield sentence("window_below_d", windows=segments(min(windows)), d=d)
    else:
        yield sentence("other_window", d=d, windows=_range(windows))


def lone_window(connections: Connections) -> Iterator[str]:
    """Report that the window of the only endless download is not much larger than d."""
    window, d = connections.windows[0], connections.every
    if window < 10 * d:
        yield sentence("small_lone_window", d=d, window=segments(window))


def web_window(connections: Connections, scv: float) -> Iterator[str]:
    """Report windows other than W* = 1 for web transfers; `scv` is Var/mean^2 of the sizes."""
    windows = connections.windows
    if all(window == 1 for window in windows):
        return
    here = f"W* = 1; here W* is {_range(windows)} segments"
    if connections.count == 1:
        yield sentence("lone_overlap", here=here)
    elif connections.scenario.ap.queue.discipline in _IN_TURN:
        yield sentence("served_in_turn", here=here)
    elif scv > SPREAD:
        spread = (
            "without bound"
            if scv == float("inf")
            else (f"{scv:.3g} times that of an exponential distribution")
        )
        yield sentence("heavy_tails_in_queue", here=here, spread=spread)
    elif scv < LITTLE_SPREAD:
        yield sentence("similar_in_queue", here=here)
    else:
        yield sentence("proportional", here=here)


def web_transfers(connections: Connections) -> Iterator[str]:
    """Report what the paper's own reading of (13) to (17) leaves out of a transfer."""
    flows = connections.flows
    waiting = [tcp_of(flow).delayed_ack for flow in flows if tcp_of(flow).delayed_ack.every > 1]
    if waiting:
        timeout = format_time_ns(max(ack.timeout_ns for ack in waiting))
        yield sentence("delayed_acks", every=connections.every, timeout=timeout)
    requests = [request_bytes(flow) for flow in flows]
    handshakes = {tcp_of(flow).handshake for flow in flows}
    if any(requests) or handshakes != {"two-way"}:
        what = " or ".join(sorted(handshakes)).replace("none", "no")
        request = max(requests)
        asked = f" and a request of {format_size(request)}" if request else ""
        effect = "too high" if handshakes == {"none"} and not request else "too low"
        yield sentence("other_setup", what=what, asked=asked, effect=effect)


def web_first_ack(connections: Connections) -> Iterator[str]:
    """Report that the first segments wait because the initial window is below one ACK's worth."""
    stuck = [
        tcp_of(flow)
        for flow in connections.flows
        if tcp_of(flow).initial_window_bytes
        < (tcp_of(flow).delayed_ack.thresholds[0][1] - 1) * tcp_of(flow).mss_bytes + 1
    ]
    if stuck:
        timeout = format_time_ns(max(tcp.delayed_ack.timeout_ns for tcp in stuck))
        yield sentence("stuck_start", timeout=timeout)


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
        yield sentence(
            "slow_opening", threshold=segments(round(threshold, 2)), increase=segments(increase)
        )


def _range(windows: tuple[int, ...]) -> str:
    low, high = min(windows), max(windows)
    return f"{low}" if low == high else f"{low} to {high}"
