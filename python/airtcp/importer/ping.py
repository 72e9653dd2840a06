"""Logs of ping and fping: round trips of a path."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from airtcp.importer.draft import Draft, Said, time_text
from airtcp.importer.source import Source, phrase
from airtcp.results.measured import Measurement

#: A number, with the decimal point or comma of the language, and milliseconds.
_NUMBER: Final = r"\d+(?:[.,]\d+)?"
#: The time of a response. Words differ by language; `=` or `<` and the unit stay.
_TRIP: Final = re.compile(rf"\w\s?[=<]\s?({_NUMBER})\s?(?:ms|мс(?:ек)?|毫秒|ミリ秒)(?!\w)")
#: Other parts of a response: of Linux and BSD, of Windows, and of Windows over IPv6.
_RESPONSE: Final = re.compile(
    rf"(?i)\b(?:ttl|hlim|seq|icmp_[rs]eq)=\d|: \w+[=<]{_NUMBER}ms\s*$|time[=<]"
)
_SEQUENCE: Final = re.compile(r"\b(?:icmp_)?[rs]eq=(\d+)")
#: A line of fping -l or -c, of fping -e, and a host's line of fping -C.
_FPING: Final = re.compile(
    rf"^(?:\[[\d.]+\] )?(\S+)\s*(?:: \[\d+\], (?:\d+ bytes, ({_NUMBER}) ms|timed out)"
    rf"|is alive \(({_NUMBER}) ms\)|is unreachable\s*$)"
)
_FPING_ROW: Final = re.compile(r"^(\S+)\s+:((?: (?:\d+(?:\.\d+)?|-))+)\s*$")
#: Packets sent and received: of Windows, of ping with a share of lost ones, of fping.
_SUMMARY: Final = re.compile(
    r"= (\d+)\D+= ?(\d+)\D+= ?\d+|^\D*(\d+)\D+?[,，]\D*(\d+)\D+?[,，].*\d\s?%|= (\d+)/(\d+)/\d+%"
)
#: The shortest, mean and longest round trip of a summary.
_EXTREMES: Final = re.compile(rf"min/avg/max\S* = ({_NUMBER})/({_NUMBER})/({_NUMBER})")
_HOST: Final = re.compile(r"^PING (\S+)")
_LOST: Final = re.compile(r"(?i)no answer yet|request timed out|request timeout|unreachable")
#: A shorter round trip is only the wireless link: there is no path behind it.
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


def _number(text: str) -> float:
    return float(text.replace(",", "."))


def _answer(line: str) -> float | None:
    """Return the round trip in ms of a response; None if the line is none."""
    found = _TRIP.findall(line) if _RESPONSE.search(line) else []
    return _number(found[0]) if len(found) == 1 else None


def _is_line(line: str) -> bool:
    known = any(one.search(line) for one in (_FPING, _FPING_ROW, _EXTREMES, _HOST))
    return known or _answer(line) is not None


def _unanswered(text: str) -> int:
    """Return the pings of Windows without a response: the other lines below a head."""
    count = 0
    for paragraph in re.split(r"\n\s*\n", text):
        came = [_answer(line) is not None for line in paragraph.strip().splitlines()]
        if any(came) and not _SEQUENCE.search(paragraph):
            last = len(came) - came[::-1].index(True)
            count += last - sum(came) - (not came[0])
            count += 0 if _SUMMARY.search(text) else len(came) - last
    return count


def read_ping(source: Source) -> Pings:
    """Return the round trips. Raises ScenarioError without any, or for several hosts."""
    trips: list[float] = []
    hosts: set[str] = set()
    numbers: set[int] = set()
    means: list[tuple[float, int]] = []
    lost = summed = 0
    summary: int | None = None
    for line in source.text.splitlines():
        trip = _answer(line)
        if match := _HOST.match(line):
            hosts.add(match[1])
        elif trip is not None:
            if "(DUP!)" not in line:
                trips.append(trip)
                numbers |= {int(one) for one in _SEQUENCE.findall(line)}
        elif match := _FPING.match(line):
            hosts.add(match[1])
            took = match[2] or match[3]
            trips += [_number(took)] if took else []
            lost += not took
        elif match := _FPING_ROW.match(line):
            hosts.add(match[1])
            words = match[2].split()
            trips += [float(word) for word in words if word != "-"]
            lost += words.count("-")
        elif not _TRIP.search(line) and (
            (match := _SUMMARY.search(line)) or _EXTREMES.search(line)
        ):
            # fping -Q repeats its summary.
            sent, came = (int(one) for one in match.groups() if one) if match else (0, 0)
            summary = (summary or 0) + sent - came if match else summary
            summed += sent
            if (end := _EXTREMES.search(line)) and (not trips or means):
                means.append((_number(end[2]), came or 1))
                trips += [_number(end[1]), _number(end[3])]
        elif _LOST.search(line):
            lost += 1
    if len(hosts) > 1:
        raise source.error("", phrase("ping.several_hosts", hosts=len(hosts)))
    if not trips:
        raise source.error("", phrase("ping.no_response"))
    total = sum(count for _, count in means)
    mean = sum(mean * count for mean, count in means) / total if means else None
    if numbers and summary is None:
        lost = max(lost, max(numbers) - min(numbers) + 1 - len(numbers))
    elif not numbers:
        # Windows counts "unreachable" replies of routers as received.
        lost = max(_unanswered(source.text), lost if summary is None else summary)
    else:
        lost = summary or 0
    return Pings(source, tuple(sorted(trips)), max(lost, 0), mean, summed)


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
        rest = f"median {_shown(pings.at(0.5))}, p95 {_shown(pings.at(0.95))}"
    text = f"pings: shortest {least}, {rest}, {pings.lost} of {count} lost"
    return Measurement(pings.source.short, {}, others=(text,))


def path_of(name: str, least_ms: float) -> Said | None:
    """Return half of the shortest ping of a file as a path; None if there is no path."""
    if least_ms < _LEAST_MS:
        return None
    why = phrase("ping.half_of_ping", name=name, least=least_ms)
    return Said([{"delay": time_text(least_ms / 2e3)}], why)


def add_path(pings: Pings, draft: Draft) -> None:
    """Write half of the minimum round trip as the path delay of flows without one."""
    draft.names.append(pings.source.short)
    least = pings.at(0.0)
    path = path_of(pings.source.short, least)
    if path is None:
        draft.unknown.append(phrase("ping.no_path", short=pings.source.short, least=least))
        return
    for flow in draft.flows:
        flow.setdefault("path", path)
