"""Infer the rules of ns-2's 802.11 from the times in its trace, and print the findings.

README.md in this folder is based on these findings.

    python3 rules.py
"""

from __future__ import annotations

import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).parents[1]))
from ns2.run import ns_trace, require_ns

SLOT, DIFS, EIFS = 20.0, 50.0, 364.0
RTS, CONTROL, SIFS = 272.0, 248.0, 10.0
DATA = 192.0 + 8 * 1074 / 11
FARTHEST = 2.0  # the propagation delay in ns-2's timeouts
LINK_LAYER = 25.0  # ns-2's LL delays a packet by 25 us on its way down
DRAWS = 31  # CWMin_ 31 in ns-2: a backoff is uniform on 0 .. 30


class Line(NamedTuple):
    """A line of the trace, with the time in microseconds."""

    event: str
    us: float
    node: int
    layer: str
    reason: str
    kind: str
    text: str


def lines_of(**settings: object) -> Iterator[Line]:
    """Return the trace of one run."""
    with ns_trace(require_ns(), settings) as trace:
        for text in trace:
            parts = text.split()
            if parts[0] not in ("s", "r", "D"):
                continue
            node = int(parts[2][1:-1])
            layer, reason, kind = parts[3], parts[4], parts[6]
            yield Line(parts[0], float(parts[1]) * 1e6, node, layer, reason, kind, text)


def slots(us: float) -> float:
    """Convert a duration to slots."""
    return us / SLOT


def off_grid(values: list[float]) -> float:
    """Return the largest distance of these numbers from a whole number of slots."""
    return max(abs(value - round(value)) for value in values)


def arrival_on_an_idle_medium() -> None:
    """Measure files of one packet every 50 ms: each SYN finds the medium long idle."""
    with tempfile.TemporaryDirectory() as folder:
        workload = Path(folder) / "workload"
        workload.write_text("0.05 1 " * 3000 + "\n")
        waits: list[float] = []
        handed_down: float | None = None
        for line in lines_of(stations=1, workload=workload, seed=1):
            if line.event != "s" or line.node != 0:
                continue
            if line.layer == "AGT" and "] [0 0] " in line.text:
                handed_down = line.us + LINK_LAYER
            elif line.kind == "RTS" and handed_down is not None:
                waits.append(slots(line.us - handed_down - DIFS))
                handed_down = None
            elif line.kind == "ARP":
                handed_down = None
    mean = sum(waits) / len(waits)
    print("Arrival on an idle medium: RTS starts at arrival + DIFS + k slots")
    print(
        f"  {len(waits)} SYNs: k from {min(waits):.3f} to {max(waits):.3f}, mean {mean:.2f}", end=""
    )
    print(f", off the grid by at most {off_grid(waits):.3f} slot")
    print(f"  a draw of 0 .. {DRAWS - 1} for each would have mean {(DRAWS - 1) / 2}")


def inherited_law() -> list[float]:
    """Return the slots before a frame if two nodes alternate and inherit a post-backoff.

    One node's post-backoff b (0 .. 30) runs while the other waits K slots. If b > K,
    b - K remain for the next frame; if not, the frame draws a new one. The distribution of K is a
    fixed point.
    """
    law = [1 / DRAWS] * DRAWS
    for _ in range(200):
        expired = sum(law[k] * (k + 1) / DRAWS for k in range(DRAWS))
        law = [
            expired / DRAWS
            + (sum(law[k] / DRAWS for k in range(DRAWS - left)) if left > 0 else 0.0)
            for left in range(DRAWS)
        ]
    return law


def post_backoff() -> None:
    """Measure one download with a window of one packet: AP and station alternate."""
    waits: list[float] = []
    end: float | None = None
    for line in lines_of(stations=1, window=1, duration=60, seed=1):
        if line.event != "s" or line.layer != "MAC" or line.node != 0:
            continue
        if line.kind == "ACK":
            end = line.us + CONTROL
        elif line.kind == "RTS" and end is not None:
            waits.append(slots(line.us - end - DIFS))
            end = None
    seen = Counter(round(wait) for wait in waits)
    law = inherited_law()
    mean_law = sum(k * share for k, share in enumerate(law))
    mean = sum(waits) / len(waits)
    print("Post-backoff: slots between the AP's MAC ACK + DIFS and its next RTS")
    print(
        f"  {len(waits)} RTS: mean {mean:.2f}, off the grid by at most {off_grid(waits):.3f} slot"
    )
    print(f"  inherited if not expired, else drawn afresh: {mean_law:.2f}; always afresh: 15.00")
    for k in (0, 1, 10, 20, 30):
        share = seen[k] / len(waits)
        print(f"  P(k = {k:2d}) {share:.4f}  inherited {law[k]:.4f}  afresh {1 / DRAWS:.4f}")


def after_a_collision() -> None:
    """Measure five downloads: the first RTS after a collision, by its sender."""
    by_role: dict[str, list[float]] = {"collider": [], "third party": []}
    colliders: set[int] = set()
    last: Line | None = None
    for line in lines_of(stations=5, window=1, duration=100, seed=1):
        if line.event != "s" or line.kind != "RTS":
            continue
        if last is not None and line.us - last.us < 2.0:
            colliders |= {last.node, line.node}
        else:
            if colliders and last is not None:
                role = "collider" if line.node in colliders else "third party"
                by_role[role].append(slots(line.us - (last.us + RTS) - EIFS - DIFS))
            colliders = set()
        last = line
    print("After a collision: next RTS at the end of the collided RTS + EIFS + DIFS + k slots")
    for role, waits in by_role.items():
        print(f"  {role}: {len(waits)} times, k from {min(waits):.3f}", end="")
        print(f", off the grid by at most {off_grid(waits):.3f} slot (propagation: 0.03)")


def after_a_collision_of_unequal_frames() -> None:
    """Measure collisions without RTS between a segment of the AP and a shorter TCP ACK."""
    timeout = SIFS + CONTROL + 2 * FARTHEST
    by_role: dict[str, list[float]] = {"its sender": [], "the other sender": []}
    at: Line | None = None
    collided: tuple[Line, Line] | None = None
    for line in lines_of(stations=1, window=50, duration=100, seed=1, rts=3000):
        if line.event != "s" or line.layer != "MAC" or line.kind not in ("tcp", "ack"):
            continue
        if collided is not None:
            longer, shorter = collided
            waited = line.us - longer.us - DATA
            if line.node == longer.node:
                by_role["its sender"].append(slots(waited - timeout - DIFS))
            elif line.node == shorter.node:
                by_role["the other sender"].append(slots(waited - EIFS - DIFS))
            collided = None
        elif at is not None and line.us - at.us < 2.0:
            pair = (at, line) if at.kind == "tcp" else (line, at)
            collided = pair if pair[0].kind != pair[1].kind else None
        at = line
    print("After a collision of a segment with a TCP ACK, k slots from the end of the segment and")
    print(f"  {timeout + DIFS:.0f} us (answer and DIFS) or {EIFS + DIFS:.0f} us (EIFS and DIFS)")
    for role, waits in by_role.items():
        print(f"  {role}: {len(waits)} times, k from {min(waits):.3f}", end="")
        print(f", off the grid by at most {off_grid(waits):.3f} slot")


def retry_limit() -> None:
    """Measure nine nodes with backoffs of 0 or 1, which collide until they drop frames."""
    counts: Counter[int] = Counter()
    gaps: dict[str, Counter[int]] = {"retry": Counter(), "next frame after a drop": Counter()}
    tries = 0
    end_us: float | None = None  # of the AP's last RTS, until another node sends
    dropped = False
    for line in lines_of(stations=8, window=50, duration=30, seed=1, cwmin=2, cwmax=2):
        if line.layer != "MAC":
            continue
        if line.node != 0:
            # The colliding RTS starts within a microsecond and does not count.
            if line.event == "s" and end_us is not None and line.us > end_us:
                end_us = None
        elif line.event == "s" and line.kind not in ("CTS", "ACK"):
            if end_us is not None:
                name = "next frame after a drop" if dropped else "retry"
                gap_us = round(line.us - end_us)
                # Longer gaps: the queue was empty, and TCP resumed after a timeout.
                gaps[name][gap_us] += gap_us < 1000
            dropped, end_us = False, None
            if line.kind == "RTS":
                tries, end_us = tries + 1, line.us + RTS
        elif line.event == "r" and line.kind == "CTS":
            tries, end_us = 0, None
        elif line.event == "D" and line.reason == "RET" and line.kind in ("tcp", "ack"):
            counts[tries] += 1
            tries, dropped = 0, True
    print("Retry limit 7, all backoffs 0 or 1: RTS of the AP before it drops a packet")
    print(f"  {dict(counts)} (number of RTS: how often)")
    for name, values in gaps.items():
        print(f"  {name}: us from the end of an RTS, how often: {dict(+values)}")
    print(f"  EIFS + DIFS is {EIFS + DIFS:.0f} us")


if __name__ == "__main__":
    arrival_on_an_idle_medium()
    post_backoff()
    after_a_collision()
    after_a_collision_of_unequal_frames()
    retry_limit()
