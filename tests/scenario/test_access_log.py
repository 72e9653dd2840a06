"""Files of values: valid lines of a log, and valid columns of a CSV file."""

import gzip
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from airtcp.distributions import Empirical
from airtcp.scenario import access_log
from airtcp.scenario.access_log import LONGEST_LINE, DataFileError, read_access_log, read_csv_column
from hypothesis import given
from hypothesis import strategies as st

COMMON = '10.0.0.1 - - [17/May/2015:10:05:03 +0000] "GET /a HTTP/1.1" 200 1500'


def written(path: Path, *lines: str) -> Path:
    path.write_bytes(("\n".join(lines) + "\n").encode(errors="surrogateescape"))
    return path


def read(path: Path, column: str | None = None) -> Empirical | str:
    """Return the values of a log or of a column of a CSV file, or the error message."""
    try:
        if column is None:
            return read_access_log(path)
        return read_csv_column(path, column, zero_allowed=False, most=1e15)
    except DataFileError as error:
        return str(error)


@pytest.mark.parametrize(
    ("line", "counted"),
    [
        (COMMON + ' "http://example.org/" "Browser/1.0 (X; Y) [z]"', True),
        (COMMON + ' "-" "-" 0.003 extra', True),
        (COMMON.replace("- - [", "- Jane Doe ["), True),
        (COMMON.replace("/a", '/say?\\"hi\\"'), True),
        (COMMON.replace("GET /a HTTP/1.1", "-"), True),
        (COMMON.replace("/a", "/200 404"), True),
        (COMMON.replace("/a", "/\udcff\udcfe\x00"), True),
        ("  " + COMMON + "\r", True),
        *((COMMON.replace("200 1500", one), False) for one in ("200 -", "200 0", "206 7", "500 7")),
        (COMMON.replace("1500", "9" * 5000), False),
        # Each bracket may begin the time: rescanning the rest for each would take hours.
        ("10.0.0.1 - - " + "[ " * 400_000, False),
        ("10.0.0.1 - - " + '[] "' * 200_000, False),
        ('10.0.0.1 - - [] "' + '\\"' * 400_000, False),
        ("x" * (3 * LONGEST_LINE), False),
    ],
    ids=range(17),
)
def test_lines_that_count(line: str, counted: bool, tmp_path: Path) -> None:
    path = written(tmp_path / "access.log", COMMON, line, COMMON)
    assert read(path) == Empirical(values=(1500.0,), counts=(2 + counted,))


def test_torn_lines_are_skipped_up_to_half(tmp_path: Path) -> None:
    half = written(tmp_path / "half.log", COMMON, "torn", "", "torn", COMMON)
    more = written(tmp_path / "more.log", COMMON, "torn", "torn", COMMON, "torn")
    assert read(half) == Empirical(values=(1500.0,), counts=(2,))
    assert "3 of 5 lines" in str(read(more))


@pytest.mark.parametrize("name", ["sizes.csv", "sizes.csv.gz"])
def test_csv_with_a_byte_order_mark_and_quotes(name: str, tmp_path: Path) -> None:
    content = b'\xef\xbb\xbfsize,"what, then"\r\n" 3 ",x\r\n\r\n3,"a\nb"\r\n1e3,\r\n'
    (tmp_path / name).write_bytes(gzip.compress(content) if name.endswith("gz") else content)
    assert read(tmp_path / name, "size") == Empirical(values=(3.0, 1000.0), counts=(2, 1))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('what,size\n"a\nb",1\nc,abc\n', 'line 4: "abc" is not a number'),
        ("size\n-1\n", "line 2: -1 is too small"),
        ("size\n0\n", "line 2: 0 is too small; allowed: a number above 0"),
        ("size\n1e15\n1e300\n", "line 3: 1e300 is too large; allowed: 1e+15 at most"),
        ("\n\n", "is empty"),
        ("size\n", 'has no values in column "size"'),
        ("size\n" + "1" * 200_000 + "\n", "field larger than field limit"),
        ("size,what,size\n1,a,2\n", 'has 2 columns "size"; allowed: one of that name'),
        # An error shows only lines that look like a header.
        ("bytes, time (s),x_2\n1\n", 'has no column "size"; allowed: bytes, time (s), x_2'),
        ("root:x:0:0:root:/root:/bin/bash\n1\n", "allowed: a column of its first line"),
        ("secret=hunter2\n1\n", "allowed: a column of its first line"),
        ("\x1b[31m,sizes\n1\n", "allowed: a column of its first line"),
        ("a" * 41 + "\n1\n", "allowed: a column of its first line"),
        (",".join(f"c{n}" for n in range(21)), "allowed: a column of its first line"),
    ],
)
def test_csv_files_that_are_refused(content: str, message: str, tmp_path: Path) -> None:
    assert message in str(read(written(tmp_path / "sizes.csv", content[:-1]), "size"))


@given(st.binary(max_size=200))
def test_any_file_is_read_or_refused(
    tmp_path_factory: pytest.TempPathFactory, content: bytes
) -> None:
    path = tmp_path_factory.mktemp("any") / "file"
    path.write_bytes(content)
    for column in (None, "a"):
        assert isinstance(read(path, column), Empirical | str)


def test_files_and_values_are_read_up_to_a_bound(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Like a file of a megabyte that expands to a gigabyte of zeros: here 4 MiB and 20 kB."""
    monkeypatch.setattr(access_log, "MOST_BYTES", 4 * 2**20)
    monkeypatch.setattr(access_log, "MOST_VALUES", 3)
    bomb = tmp_path / "access.log.gz"
    bomb.write_bytes(gzip.compress(bytes(5 * 2**20)))
    assert "has too many bytes" in str(read(bomb))
    assert "has too many bytes" in str(read(Path("/dev/zero")))
    assert "line 1 is too long" in str(read(Path("/dev/zero"), "size"))
    most = written(tmp_path / "most.csv", "size", "1", "2", "3", "3")
    assert read(most, "size") == Empirical(values=(1.0, 2.0, 3.0), counts=(1, 1, 2))
    table = written(tmp_path / "sizes.csv", "size", "1", "2", "3", "3", "4")
    log = written(tmp_path / "sizes.log", *(COMMON.replace("1500", n) for n in "12334"))
    for found in (read(table, "size"), read(log)):
        assert "allowed: 3 at most" in str(found)


def test_a_file_is_taken_apart_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A parsed file is recognized by its content, whatever its name."""
    one, other = tmp_path / "one.log", tmp_path / "other.log"
    one.write_text(COMMON + "\n")
    first = read_access_log(one)
    one.rename(other)
    again = Empirical(values=(1.0,), counts=(1,))
    monkeypatch.setattr(access_log, "_sizes_of_log", lambda *log: again)
    assert read_access_log(other) is first
    # Same length, and written within the same tick of the file system's clock.
    times = other.stat()
    other.write_text(COMMON.replace("1500", "1501") + "\n")
    os.utime(other, ns=(times.st_atime_ns, times.st_mtime_ns))
    assert read_access_log(other) == again


def test_a_column_of_a_known_file_is_not_another(tmp_path: Path) -> None:
    path = written(tmp_path / "a.csv", "x,y", "1,2")
    for column, zero, value in (("x", True, 1.0), ("y", True, 2.0), ("x", False, 1.0)):
        assert read_csv_column(path, column, zero_allowed=zero, most=9.0).values == (value,)
    with pytest.raises(DataFileError, match="too large"):
        read_csv_column(path, "y", zero_allowed=True, most=1.0)


@pytest.mark.parametrize("lines", [1, 2000])
def test_a_large_file_is_read_in_pieces(
    lines: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """This includes a pipe, which cannot be read twice."""
    monkeypatch.setattr(access_log, "_KNOWN_BYTES", 100)
    content = "".join(COMMON.replace("1500", str(n)) + "\n" for n in range(1, lines + 1))
    pipe, packed = tmp_path / "log", tmp_path / "log.gz"
    os.mkfifo(pipe)
    packed.write_bytes(gzip.compress(content.encode()))
    with ThreadPoolExecutor(1) as pool:
        pool.submit(pipe.write_text, content)
        found = [read_access_log(pipe), read_access_log(packed)]
    assert [one.values for one in found] == 2 * [tuple(map(float, range(1, lines + 1)))]
