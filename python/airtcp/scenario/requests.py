"""Read requests from a file: an access log (Common, Combined, JSON lines) or a CSV file of sizes.

Files are streams with the limits of `access_log`; the extension .gz means gzip.
"""

from __future__ import annotations

import csv
import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from itertools import chain
from pathlib import Path
from typing import Any, Final

from ..exceptions import QuestionError
from .access_log import DataFileError, lines_of
from .errors import phrase

_LINE: Final = re.compile(
    r'(\S+) \S+ .+? \[([^\[\]]*)\] "(?:[^"\\]|\\.)*+" (\d{3}) (\d{1,15}|-)(?:\s.*)?', re.DOTALL
)
_TIME: Final = "%d/%b/%Y:%H:%M:%S %z"
#: The latest time in a log, in seconds. A run can represent 292 years.
_MOST_TIME_S: Final = 1e12

#: Names of a field in servers' JSON (nginx, Apache, Caddy, Traefik) and in CSV files.
_SIZES: Final = ("body_bytes_sent", "bytes_sent", "size", "bytes", "DownstreamContentSize")
_TIMES: Final = (
    "time",
    "timestamp",
    "@timestamp",
    "time_iso8601",
    "time_local",
    "ts",
    "msec",
    "StartUTC",
    "start",
)
_CLIENTS: Final = ("client", "remote_addr", "client_ip", "ip", "host", "ClientHost")
_STATUSES: Final = ("status", "DownstreamStatus")


@dataclass
class Requests:
    """Responses with their size in bytes and, if known, their time (seconds since 1970) and client.

    `skipped` counts the unused lines by reason.
    """

    form: str
    sizes: list[float] = field(default_factory=list)
    times_s: list[float | None] = field(default_factory=list)
    clients: list[str] = field(default_factory=list)
    skipped: Counter[str] = field(default_factory=Counter)

    @property
    def lines(self) -> int:
        """The number of lines, used or not."""
        return len(self.sizes) + sum(self.skipped.values())


def is_access_log(path: Path) -> bool:
    """Whether the first line of a file is in Common or Combined Log Format."""
    try:
        return _LINE.fullmatch(next(_lines(path), "")) is not None
    except DataFileError:
        return False


def read_requests(path: Path) -> Requests:
    """Return the requests of a file.

    Raises QuestionError if it is unreadable or has none of use.
    """
    try:
        lines = _lines(path)
        first = next(lines, None)
        if first is None:
            raise QuestionError(phrase("requests.empty", path=path))
        found = _of_form(first, chain([first], lines))
    except DataFileError as error:
        raise QuestionError(str(error)) from error
    if not found.sizes:
        reasons = "; ".join(f"{count} {why}" for why, count in found.skipped.most_common())
        raise QuestionError(
            phrase("requests.no_line", path=path, reasons=reasons or "no line at all")
        )
    return found


def _lines(path: Path) -> Iterator[str]:
    for line in lines_of(path):
        if text := line.decode("utf-8", "replace").strip():
            yield text.lstrip("\ufeff")


def _of_form(first: str, lines: Iterator[str]) -> Requests:
    if first.startswith("{"):
        return _collected(Requests(phrase("requests.json_lines")), lines, _json)
    if _LINE.fullmatch(first) is None and any(
        name in [name.strip() for name in first.split(",")] for name in _SIZES
    ):
        return _csv(lines)
    return _collected(Requests("access log"), lines, _log)


_Record = tuple[float, float | None, str]


def _collected(
    found: Requests, lines: Iterator[str], record: Callable[[str], _Record | str]
) -> Requests:
    for line in lines:
        one = record(line)
        if isinstance(one, str):
            found.skipped[one] += 1
        else:
            _add(found, one)
    return found


def _add(found: Requests, record: _Record) -> None:
    size, time_s, client = record
    found.sizes.append(size)
    found.times_s.append(time_s)
    found.clients.append(client)


def _log(line: str) -> _Record | str:
    match = _LINE.fullmatch(line)
    if match is None:
        return "in no known format"
    client, when, status, size = match.groups()
    if status != "200":
        return phrase("requests.bad_status")
    if size in ("-", "0"):
        return "without a size"
    try:
        time_s: float | None = datetime.strptime(when, _TIME).timestamp()
    except ValueError:
        time_s = None
    return float(size), time_s, client


def _json(line: str) -> _Record | str:
    try:
        data = json.loads(line)
    except ValueError:
        return "in no known format"
    if not isinstance(data, dict):
        return "in no known format"
    request = data.get("request")
    if isinstance(request, dict):
        data = request | data
    return _fields(data)


def _fields(data: Mapping[str, Any]) -> _Record | str:
    status = _of(data, _STATUSES)
    if status is not None and str(status).strip() != "200":
        return "with a status other than 200"
    try:
        size = float(_of(data, _SIZES))
    except (TypeError, ValueError):
        return "without a size"
    if not 0.0 < size < 1e15:
        return "without a size"
    client = _of(data, (*_CLIENTS, "remote_ip"))
    return size, _time_s(_of(data, _TIMES)), "" if client is None else str(client)


def _csv(lines: Iterator[str]) -> Requests:
    rows = csv.DictReader(lines)
    rows.fieldnames = [name.strip() for name in rows.fieldnames or []]
    found = Requests("CSV")
    try:
        for row in rows:
            one = _fields({key: value for key, value in row.items() if isinstance(value, str)})
            if isinstance(one, str):
                found.skipped[one] += 1
            else:
                _add(found, one)
    except csv.Error as error:
        raise QuestionError(phrase("requests.not_csv", line=rows.line_num, error=error)) from error
    return found


def _of(data: Mapping[str, Any], names: tuple[str, ...]) -> Any:
    return next((data[name] for name in names if data.get(name) not in (None, "")), None)


def _time_s(value: Any) -> float | None:
    try:
        time_s = float(value)
    except (TypeError, ValueError, OverflowError):
        pass
    else:
        return time_s if abs(time_s) < _MOST_TIME_S else None
    for read in (datetime.fromisoformat, lambda text: datetime.strptime(text, _TIME)):
        try:
            return read(str(value)).timestamp()
        except (ValueError, OverflowError):
            continue
    return None
