"""What happens on the medium in words: a sentence for each moment of a timeline."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from typing import Any, Final

Json = Mapping[str, Any]

#: Names of frames.
KINDS: Final = {
    "data": "data", "tcp ack": "TCP ACK", "syn": "SYN", "rts": "RTS", "cts": "CTS", "ack": "ACK",
    "block ack": "Block ACK", "block ack request": "BAR", "beacon": "beacon", "cf-end": "CF-End",
    "cf-poll": "CF-Poll", "cf-ack": "CF-Ack", "null": "Null", "other": "frame",
}  # fmt: skip
#: The most nodes whose backoff a sentence names.
_MOST_COUNTING: Final = 4


def moments(told: Json) -> list[list[Any]]:
    """Return when something begins or ends, in microseconds, each with a sentence.

    Backoff counters change with each slot, so that each slot is a moment.
    """
    frames, gaps, length = told["frames"], told["gaps"], told["length_us"]
    slot = told["slot_us"]
    edges = [0.0, length, *(one[end] for one in frames for end in ("begin", "end"))]
    for gap in gaps:
        slots = int((gap["end"] - gap["count"]) / slot) if gap["left"] else 0
        edges += [gap["begin"], *(gap["count"] + slot * one for one in range(slots + 1))]
    times = sorted({one for one in edges if 0 <= one <= length})
    begins = [one["begin"] for one in frames]
    longest = max((one["end"] - one["begin"] for one in frames), default=0.0)
    found = []
    for time in times:
        # Frames are in order of their begin, so that only the last few can still be on air.
        last = bisect_right(begins, time)
        first = bisect_right(begins, time - longest - 1.0)
        now = [one for one in frames[first:last] if one["end"] > time]
        gap = next((one for one in gaps if one["begin"] <= time < one["end"]), None)
        found.append([time, _sentence(told, time, now, gap, is_over=last == len(frames))])
    return found


def steps(told: Json) -> list[float]:
    """Return the moments at which a frame begins or ends, or a backoff begins."""
    edges = [one[end] for one in told["frames"] for end in ("begin", "end")]
    edges += [one["count"] for one in told["gaps"]]
    return sorted({one for one in edges if 0 <= one <= told["length_us"]})


def _sentence(
    told: Json, time: float, now: Sequence[Json], gap: Json | None, *, is_over: bool
) -> str:
    if len(now) > 1 and "heard" not in now[0]:
        names = " and ".join(told["nodes"][one["node"]] for one in now)
        return f"{names} transmit at the same time and collide."
    if now:
        return f"{'; '.join(sent(told, one) for one in now)}."
    if gap is None:
        if any("heard" in one for one in told["frames"]):
            return "no transmission."
        return "no further transmission." if is_over else "SIFS before the response."
    if time < gap["count"]:
        spaces = "DIFS or AIFS (EIFS after an undecodable frame)"
        return f"the channel is idle; all nodes wait for {spaces}."
    passed = int((time - gap["count"]) / told["slot_us"] + 1e-6)
    counting = sorted(gap["left"].items(), key=lambda one: one[1])[:_MOST_COUNTING]
    left = (f"{told['nodes'][int(node)]} has {max(0, one - passed)} left" for node, one in counting)
    return f"idle slots pass; {', '.join(left)}."


def sent(told: Json, one: Json) -> str:
    """Describe a frame: sender, content, receiver, rate, airtime, fate."""
    to = "everyone" if one["to"] is None else told["nodes"][one["to"]]
    several = one["mpdus"] > 1
    what = KINDS[one["kind"]] + (f", {one['mpdus']} MPDUs" if several else "")
    if one["text"]:
        what += f" ({'the first: ' if several else ''}{one['text']})"
    rate = f" at {one['rate'] / 1e6:g} Mb/s" if one["rate"] else ""
    took_us = one["end"] - one["begin"]
    took = f"{took_us:.1f} µs" if took_us < 1000 else f"{took_us / 1000:.2f} ms"
    fate = f"{', retransmission' if one['retry'] else ''}{', lost' if one['bad'] else ''}"
    return (
        f"{told['nodes'][one['node']]} sends {what} to {to}{rate}, {took}{fate}{_ears(told, one)}"
    )


def _ears(told: Json, one: Json) -> str:
    """Name the nodes that hear a frame, if not all nodes hear each other."""
    if "heard" not in one:
        return ""
    words = []
    for key, text in (("heard", "it too"), ("lost", "it but cannot decode it")):
        names = [told["nodes"][node] for node in one[key] if node != one["to"]]
        if names:
            words.append(f"; {', '.join(names)} {'hear' if len(names) > 1 else 'hears'} {text}")
    return "".join(words)
