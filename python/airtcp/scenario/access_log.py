"""Read files of values: a CSV column, or the sizes in a web server's access log.

Files may be plain or compressed with gzip. Only the lines named below are skipped silently.

Access log: Common Log Format, or Combined, which adds two fields. A line counts if its status is
200 and its size is above 0. Partial responses, redirects, errors and empty responses do not count.
A line in neither format is skipped. If most lines are, the file is not an access log.

Files are read as streams, which may be pipes. The limits are 1 GiB of uncompressed bytes, lines of
1 MiB, and a million different values. A file beyond them is rejected, except that a too long line
of a log is skipped, because it is in no format. A file of ordinary size is parsed once: a cache
recognizes its content when it is read again, as in sweeps.
"""

from __future__ import annotations

import csv
import gzip
import hashlib
import io
import math
import re
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

from ..distributions import Empirical
from .errors import phrase

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

MOST_BYTES: Final = 2**30
LONGEST_LINE: Final = 2**20
MOST_VALUES: Final = 1_000_000

#: Files up to this size are cached, and at most this number of them.
_KNOWN_BYTES: Final = 16 * 2**20
_MOST_KNOWN: Final = 16
_known: Final[dict[tuple[object, ...], Empirical]] = {}

# host ident user [time] "request" status size, and whatever follows. A user may contain spaces. The
# time has no bracket and the request never backtracks, so each character is read once.
_LOG_LINE = re.compile(
    rb'\S+ \S+ .+? \[[^\[\]]*\] "(?:[^"\\]|\\.)*+" (\d{3}) (\d{1,15}|-)(?:\s.*)?', re.DOTALL
)
# The form of a column name. Headers of other files, named by mistake, are not shown.
_COLUMN = re.compile(r"[\w .()/%-]{1,40}")
_MOST_COLUMNS_SHOWN = 20


class DataFileError(Exception):
    """A file of values cannot be used: the text says why, and `key` names the scenario's key."""

    def __init__(self, message: str, key: str = "file") -> None:
        super().__init__(message)
        self.key = key


def lines_of(path: Path) -> Iterator[bytes]:
    """Yield the lines of a file, plain or compressed with gzip, within the limits for all files.

    Lines longer than 1 MiB are truncated. Raises DataFileError.
    """
    with _opened(path) as file:
        yield from _lines(path, _uncompressed(path, file))


def read_access_log(path: Path) -> Empirical:
    """Return the sizes in bytes of the responses with status 200 and a size above 0.

    Raises:
        DataFileError: unreadable, empty, too large, not an access log, or without any such
            response.
    """
    return _read(path, ("log",), lambda file: _sizes_of_log(path, file))


def _sizes_of_log(path: Path, file: io.BufferedIOBase) -> Empirical:
    requests = skipped = 0
    sizes: Counter[int] = Counter()
    for line in _lines(path, file):
        line = line.strip()
        if not line:
            continue
        match = _LOG_LINE.fullmatch(line) if len(line) <= LONGEST_LINE else None
        if match is None:
            skipped += 1
            continue
        requests += 1
        status, size = match.groups()
        if status == b"200" and size != b"-":
            sizes[int(size)] += 1
            _check_count(path, sizes)
    del sizes[0]
    if not requests + skipped:
        raise DataFileError(phrase("log.empty", path=path))
    if requests < skipped:
        raise DataFileError(
            phrase("log.not_a_log", path=path, skipped=skipped, requests=requests + skipped)
        )
    if not sizes:
        raise DataFileError(phrase("log.no_sizes", path=path))
    return _empirical({float(size): count for size, count in sizes.items()})


def read_csv_column(path: Path, column: str, *, zero_allowed: bool, most: float) -> Empirical:
    """Return the numbers in a column of a CSV file with a header line.

    Raises:
        DataFileError: unreadable, empty, too large, without that column or with two of that name,
            or with a value that is no number, negative, above `most`, or 0 and not `zero_allowed`;
            the message gives its line.
    """
    return _read(
        path,
        (column, zero_allowed, most),
        lambda file: _values_of_column(path, file, column, zero_allowed, most),
    )


def _values_of_column(
    path: Path, file: io.BufferedIOBase, column: str, zero_allowed: bool, most: float
) -> Empirical:
    values: Counter[float] = Counter()
    rows = csv.reader(_text(path, file))
    try:
        index = _index(path, [name.strip() for name in next(rows, [])], column)
        for row in rows:
            if any(cell.strip() for cell in row):
                cell = row[index].strip() if index < len(row) else ""
                value, wrong = _number(cell, zero_allowed, most)
                if wrong:
                    raise DataFileError(f'"{path}", line {rows.line_num}: {wrong}')
                values[value] += 1
                _check_count(path, values)
    except csv.Error as error:
        raise DataFileError(
            phrase("log.not_csv", path=path, line=rows.line_num, error=error)
        ) from error
    if not values:
        raise DataFileError(phrase("log.no_values", path=path, column=column))
    return _empirical(values)


def _index(path: Path, header: list[str], column: str) -> int:
    """Return the index of a column in the header line."""
    if not header:
        raise DataFileError(phrase("log.no_header", path=path))
    if header.count(column) > 1:
        raise DataFileError(
            phrase("log.same_columns", path=path, count=header.count(column), column=column),
            key="column",
        )
    if column not in header:
        allowed = phrase("log.a_column")
        if len(header) <= _MOST_COLUMNS_SHOWN and all(map(_COLUMN.fullmatch, header)):
            allowed = ", ".join(header)
        raise DataFileError(
            phrase("log.no_column", path=path, column=column, allowed=allowed),
            key="column",
        )
    return header.index(column)


def _number(cell: str, zero_allowed: bool, most: float) -> tuple[float, str]:
    """Return the number in a cell, and a description of its error, or ""."""
    allowed = f"a number {'of 0 or more' if zero_allowed else 'above 0'}"
    try:
        value = float(cell)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        return value, phrase("log.not_a_number", cell=cell[:40], allowed=allowed)
    if value < 0 or (value == 0 and not zero_allowed):
        return value, f"{cell} is too small; allowed: {allowed}"
    return value, phrase("log.number_too_large", cell=cell, most=most) if value > most else ""


def _check_count(path: Path, values: Counter[int] | Counter[float]) -> None:
    if len(values) > MOST_VALUES:
        raise DataFileError(phrase("log.too_many_values", path=path, most=MOST_VALUES))


def _empirical(counts: dict[float, int]) -> Empirical:
    values = sorted(counts)
    return Empirical(values=tuple(values), counts=tuple(counts[value] for value in values))


def _lines(path: Path, file: io.BufferedIOBase) -> Iterator[bytes]:
    """Yield lines; truncate too long ones just beyond the limit, so that callers can detect them.

    Raises DataFileError if there are too many bytes.
    """
    total = 0
    begun = False
    while line := file.readline(LONGEST_LINE + 1):
        total += len(line)
        if total > MOST_BYTES:
            raise DataFileError(phrase("log.too_many_bytes", path=path, most=MOST_BYTES // 2**30))
        if not begun:
            yield line
        begun = not line.endswith(b"\n")


def _text(path: Path, file: io.BufferedIOBase) -> Iterator[str]:
    """Yield the lines of a CSV file as text."""
    for number, line in enumerate(_lines(path, file), 1):
        if len(line) > LONGEST_LINE:
            raise DataFileError(
                phrase("log.long_line", path=path, number=number, most=LONGEST_LINE)
            )
        try:
            yield line.decode("utf-8-sig" if number == 1 else "utf-8")
        except UnicodeDecodeError as error:
            raise DataFileError(phrase("log.not_utf8", path=path, reason=error.reason)) from error


def _read(
    path: Path, what: tuple[object, ...], values: Callable[[io.BufferedIOBase], Empirical]
) -> Empirical:
    """Return the values of a file, from the cache if content and `what` are the same."""
    with _opened(path) as file:
        begin = file.read(_KNOWN_BYTES + 1)
        if len(begin) > _KNOWN_BYTES:
            return values(_uncompressed(path, io.BufferedReader(_Joined(begin, file))))
        key = (hashlib.sha256(begin).digest(), path.suffix, *what)
        found = _known.get(key)
        if found is None:
            found = values(_uncompressed(path, io.BytesIO(begin)))
            while len(_known) >= _MOST_KNOWN:
                _known.pop(next(iter(_known)))
            _known[key] = found
        return found


class _Joined(io.RawIOBase):
    """A stream of bytes already read, followed by the rest of a file that may be a pipe."""

    def __init__(self, begin: bytes, rest: io.BufferedIOBase) -> None:
        self._parts = [io.BytesIO(begin), rest]

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer) -> int:
        while self._parts:
            if count := self._parts[0].readinto(buffer):
                return count
            del self._parts[0]
        return 0


def _uncompressed(path: Path, file: io.BufferedIOBase) -> io.BufferedIOBase:
    return gzip.GzipFile(fileobj=file) if path.suffix == ".gz" else file


@contextmanager
def _opened(path: Path) -> Iterator[io.BufferedReader]:
    """Open a file for reading bytes. Raises DataFileError if the system cannot open it."""
    if "\0" in str(path):
        raise DataFileError(phrase("log.not_a_name", path=path))
    try:
        with path.open("rb") as file:
            yield file
    except FileNotFoundError as error:
        raise DataFileError(phrase("log.not_found", path=path)) from error
    except IsADirectoryError as error:
        raise DataFileError(phrase("log.directory", path=path)) from error
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise DataFileError(phrase("log.not_gzip", path=path, error=error)) from error
    except OSError as error:
        reason = error.strerror or str(error)
        raise DataFileError(phrase("log.not_readable", path=path, reason=reason)) from error
