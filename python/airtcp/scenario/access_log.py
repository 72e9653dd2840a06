"""Files of values: a CSV column, or the sizes in a web server's access log.

Knows both formats, plain or compressed with gzip, and what makes such a file useless. Does not know
what the values are for. Nothing is dropped silently but what the rules below name.

Access log: Common Log Format, or Combined, which adds two fields. What counts is a line with status
200 and a size above 0: partial answers, redirects, errors and empty answers do not. A line that is
in neither format is skipped; if most lines are, the file is not an access log.
"""

from __future__ import annotations

import csv
import gzip
import io
import math
import re
import zlib
from collections import Counter
from pathlib import Path

from ..distributions import Empirical

__all__ = ["DataFileError", "read_access_log", "read_csv_column"]

# host ident user [time] "request" status size, and whatever follows.
_LOG_LINE = re.compile(r'\S+ \S+ .+? \[[^\]]*\] "(?:[^"\\]|\\.)*" (\d{3}) (\d{1,15}|-)(?:\s.*)?')


class DataFileError(Exception):
    """A file of values cannot be used; the text says why, `key` which key of the scenario it is."""

    def __init__(self, message: str, key: str = "file") -> None:
        super().__init__(message)
        self.key = key


def read_access_log(path: Path) -> Empirical:
    """The sizes in bytes of the answers with status 200 and a size above 0.

    Raises:
        DataFileError: unreadable, empty, not an access log, or without any such answer.
    """
    text = _read(path).decode("utf-8", errors="replace")
    lines = [line for line in text.splitlines() if line.strip()]
    if not lines:
        raise DataFileError(f'"{path}" is empty; allowed: an access log with at least one request')
    matches = [match for line in lines if (match := _LOG_LINE.fullmatch(line.strip()))]
    if 2 * len(matches) < len(lines):
        raise DataFileError(
            f'"{path}" is not an access log: {len(lines) - len(matches)} of {len(lines)} lines '
            "are not in Common or Combined Log Format; "
            "allowed: such a log, or a CSV file with its `column`"
        )
    sizes = Counter(
        int(size)
        for status, size in (match.groups() for match in matches)
        if status == "200" and size != "-" and int(size) > 0
    )
    if not sizes:
        raise DataFileError(
            f'"{path}" has no sizes; '
            "allowed: a log with at least one answer of status 200 and a size above 0"
        )
    return _empirical({float(size): count for size, count in sizes.items()})


def read_csv_column(path: Path, column: str, *, zero_allowed: bool) -> Empirical:
    """The numbers in a column of a CSV file with a header line.

    Raises:
        DataFileError: unreadable, empty, without that column, or with a value that is no number,
            negative, not finite, or 0 and not `zero_allowed`; the message gives its line.
    """
    try:
        text = _read(path).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise DataFileError(
            f'"{path}" is not UTF-8: {error.reason}; allowed: a CSV file'
        ) from error
    rows = csv.reader(io.StringIO(text, newline=""))
    try:
        header = [name.strip() for name in next(rows, [])]
        if not header:
            raise DataFileError(f'"{path}" is empty; allowed: a CSV file with a header line')
        if column not in header:
            raise DataFileError(
                f'"{path}" has no column "{column}"; allowed: {", ".join(header)}', key="column"
            )
        index = header.index(column)
        values: Counter[float] = Counter()
        for row in rows:
            if any(cell.strip() for cell in row):
                cell = row[index].strip() if index < len(row) else ""
                values[_number(path, rows.line_num, cell, zero_allowed)] += 1
    except csv.Error as error:
        raise DataFileError(
            f'"{path}", line {rows.line_num}: {error}; allowed: a CSV file'
        ) from error
    if not values:
        raise DataFileError(f'"{path}" has no values in column "{column}"; allowed: at least one')
    return _empirical(values)


def _number(path: Path, line: int, cell: str, zero_allowed: bool) -> float:
    allowed = "a number of 0 or more" if zero_allowed else "a number above 0"
    try:
        value = float(cell)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise DataFileError(f'"{path}", line {line}: "{cell}" is not a number; allowed: {allowed}')
    if value < 0 or (value == 0 and not zero_allowed):
        raise DataFileError(f'"{path}", line {line}: {cell} is too small; allowed: {allowed}')
    return value


def _empirical(counts: dict[float, int]) -> Empirical:
    values = sorted(counts)
    return Empirical(values=tuple(values), counts=tuple(counts[value] for value in values))


def _read(path: Path) -> bytes:
    try:
        content = path.read_bytes()
        return gzip.decompress(content) if path.suffix == ".gz" else content
    except FileNotFoundError as error:
        raise DataFileError(
            f'there is no file "{path}"; allowed: a file that can be read'
        ) from error
    except IsADirectoryError as error:
        raise DataFileError(f'"{path}" is a directory; allowed: a file') from error
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise DataFileError(
            f'"{path}" is not in gzip format: {error}; allowed: a whole .gz file'
        ) from error
    except ValueError as error:  # a null byte in the name
        raise DataFileError(
            f'"{path}" is not a file name: {error}; allowed: a file name'
        ) from error
    except OSError as error:
        reason = error.strerror or str(error)
        raise DataFileError(
            f'"{path}" cannot be read: {reason}; allowed: a file that can be read'
        ) from error
