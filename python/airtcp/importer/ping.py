"""Logs of ping and fping: round trips of a path."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from airtcp.importer.draft import Draft, Said, time_text
from airtcp.importer.source import Source
from airtcp.results.measured import Measurement

#: A response line of ping (Linux, BSD, Windows in English), and of Windows in any language.
_ANSWER: Final = re.compile(r"\btime\s*[=<]\s*(\d+(?:\.\d+)?)\s*ms\b")
_ANY_ANSWER: Final = re.compile(r"\b\w{1,20}[=<](\d+)\s?ms\b")
#: A line of fping -l or -c, and a host's line of fping -C.
_FPING: Final = re.compile(
    r"^(?:\[[\d.]+\] )?\S+\s*: \[\d+\], (?:\d+ bytes, (\d+(?:\.\d+)?) ms|timed out)"
)
_FPING_ROW: Final = re.compile(r"^\S+\s+:((?: (?:\d+(?:\.\d+)?|-))+)\s*$")
_SUMMARY: Final = re.compile(
    r"(\d+) packets transmitted, (\d+)(?: packets)? received|"
    r"xmt/rcv/%loss = (\d+)/(\d+)/|= (\d+), [^=]*= (\d+), [^=]*= \d+ \("
)
#: The least, mean and longest round trip of a summary.
_EXTREMES: Final = re.compile(r"min/avg/max\S* = (\d+(?:\.\d+)?)/(\d+(?:\.\d+)?)/(\d+(?:\.\d+)?)")
_LOST: Final = re.compile(r"(?i)no answer yet|request timed out|request timeout|unreachable")
#: A shorter round trip is only the wireless link.
_LEAST_MS: Final = 5.0


@dataclass(frozen=True)
class Pings:
    """Round trips in ms, sorted, and the number of pings without a response."""

    source: Source
    trips_ms: tuple[float, ...]
    lost: int
    #: The mean, and the number of pings, if the log has only a summary.
    mean_ms: float | None = None
    summed: int = 0

    def at(self, part: float) -> float:
        """Return a quantile in ms."""
        return self.trips_ms[min(int(part * len(self.trips_ms)), len(self.trips_ms) - 1)]


def is_ping(source: Source) -> bool:
    """Whether a text has a response of ping or fping."""
    return any(map(_is_line, source.text.splitlines()[:200]))


def _answer(line: str) -> re.Match[str] | None:
    """Return the response in a line."""
    return _ANSWER.search(line) or (_ANY_ANSWER.search(line) if "TTL=" in line else None)


def _is_line(line: str) -> bool:
    known = _answer(line) or _FPING.match(line) or _FPING_ROW.match(line)
    return bool(known or _EXTREMES.search(line))


def read_ping(source: Source) -> Pings:
    """Return the round trips. Raises ScenarioError without any."""
    trips: list[float] = []
    lost = summed = 0
    mean = summary = None
    for line in source.text.splitlines():
        if match := _answer(line):
            trips.append(float(match[1]))
        elif match := _FPING.match(line):
            trips += [float(match[1])] if match[1] else []
            lost += not match[1]
        elif match := _FPING_ROW.match(line):
            words = match[1].split()
            trips += [float(word) for word in words if word != "-"]
            lost += words.count("-")
        elif (match := _SUMMARY.search(line)) or _EXTREMES.search(line):
            if match:
                summed, came = (int(one) for one in match.groups() if one)
                summary = summed - came
            if (end := _EXTREMES.search(line)) and not trips:
                mean = float(end[2])
                trips = [float(end[1]), float(end[3])]
        elif _LOST.search(line):
            lost += 1
    if not trips:
        raise source.error("", "has no answer of a ping")
    lost = max(lost if summary is None else summary, 0)
    return Pings(source, tuple(sorted(trips)), lost, mean, summed)


def _shown(time_ms: float) -> str:
    return f"{time_ms:.0f} ms" if time_ms >= 1000.0 else f"{time_ms:.3g} ms"


def measurement(pings: Pings) -> Measurement:
    """Return the round trips as sentences, because no metric covers pings."""
    least = _shown(pings.at(0.0))
    if pings.mean_ms is not None:
        count = pings.summed
        rest = f"mean {_shown(pings.mean_ms)}, longest {_shown(pings.at(1.0))}"
    else:
        count = len(pings.trips_ms) + pings.lost
        rest = f"half within {_shown(pings.at(0.5))}, 95 % within {_shown(pings.at(0.95))}"
    text = f"pings: least {least}, {rest}, {pings.lost} of {count} lost"
    return Measurement(pings.source.short, {}, others=(text,))


def add_path(pings: Pings, draft: Draft) -> None:
    """Write half of the minimum round trip as the path delay of flows without one."""
    draft.names.append(pings.source.short)
    least = pings.at(0.0)
    if least < _LEAST_MS:
        draft.unknown.append(
            f"{pings.source.short}: the least ping takes {least:.3g} ms: no path behind the air"
        )
        return
    why = f"{pings.source.short}: half of the least ping, {least:.3g} ms"
    for flow in draft.flows:
        flow.setdefault("path", Said([{"delay": time_text(least / 2e3)}], why))
