"""Questions in SQL: what they can access, and that they stop when interrupted."""

import gzip
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any
from unittest.mock import MagicMock, Mock

import duckdb
import pyarrow as pa
import pytest
from airtcp.exceptions import QuestionError
from airtcp.results.query import Results
from airtcp.results.query import open as opened
from airtcp.results.sql import answer
from airtcp.results.table import AxisColumn, Contents, Writer
from children import CpuOfChildren, cpu_s
from commands import call
from pyarrow import parquet
from typer.testing import Result

#: A cross join that would take days, and a function that ignores interrupts for a minute.
LONG = (
    "SELECT count(*) FROM range(100000000) a, range(1000000000) b WHERE a.range * b.range % 7 = 3"
)
DEAF = "SELECT levenshtein(repeat('a', 200000), repeat('b', 200000))"
#: Maximum time from a signal to the end of the process.
SOON_S = 2.0


def stored(folder: Path, goodputs: dict[int, float]) -> Path:
    """Write the store of a sweep over `count`, with one row for each value."""
    contents = Contents("1.0", "abc", (AxisColumn("count", "count"),), ("goodput_bps",), 0.95, "{}")
    points = [f"point-{count}" for count in goodputs]
    with Writer.open(folder, contents) as writer:
        writer.add_points(pa.table({"point": points, "count": list(goodputs)}))
        same = {"replication": [0] * len(points), "seed": [1] * len(points)}
        writer.add({"point": points, **same, "goodput_bps": list(goodputs.values())})
    return folder


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return stored(tmp_path / "store", {1: 3.0, 2: 5.0})


@pytest.mark.parametrize(
    ("most", "listed"),
    [
        (30, []),
        (31, ["1 more point. The axes:", "  count: 1, 2, 3, 4, 5, 6, 7, ... 31 (31 in all)"]),
    ],
)
def test_thirty_points_are_shown_and_steps_of_an_axis_are_listed_beyond(
    tmp_path: Path, most: int, listed: list[str]
) -> None:
    stored(tmp_path, dict.fromkeys(range(1, most + 1), 1e6))
    head, *lines = call("results", tmp_path, columns=120).stdout.splitlines()
    assert head.split() == ["count", "goodput"]
    assert [one.split() for one in lines[:30]] == [[f"{n}", "1.000", "Mb/s"] for n in range(1, 31)]
    assert lines[31:-1] == listed


@pytest.mark.parametrize("name", ["rows.csv", "rows.parquet"])
def test_rows_and_answers_go_to_tables_that_questions_read(
    store: Path, tmp_path: Path, name: str
) -> None:
    out = tmp_path / "made" / name
    doubled = "SELECT point, 2 * goodput_bps AS twice FROM results"

    def asked(*arguments: object) -> Result:
        return call("results", store, *arguments)

    def written(column: str) -> Any:
        return opened(store).sql(f"SELECT * FROM '{out}'", [out])[column].to_pylist()

    assert asked("--out", out).stdout == f"table of 2 rows: {out}\n"
    assert written("goodput_bps") == [3.0, 5.0]
    refused = asked("--out", out, "--sql", doubled)
    assert refused.exit_code == 2
    assert "airtcp did not write it" in refused.stderr
    assert asked("--out", out, "--sql", doubled, "--force").exit_code == 0
    assert written("twice") == [6.0, 10.0]
    assert asked("--out", out.with_suffix(".txt")).exit_code == 2
    assert asked("--out", out, "--json").exit_code == 2


@pytest.fixture
def found(store: Path) -> Results:
    return opened(store)


def everything(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize(
    "query",
    [
        "COPY results TO 'new.csv'",
        "COPY results TO 'mine.txt'",
        "EXPLAIN ANALYZE COPY results TO 'new.csv'",
        "EXPORT DATABASE 'new'",
        "ATTACH 'new.db'",
        "INSTALL httpfs",
        "LOAD httpfs",
        "FROM 'https://localhost:9/new.parquet'",
        "FROM read_csv('/etc/passwd')",
        "FROM read_text('mine.txt')",
        "FROM glob('*')",
        "FROM 'store/rows-000001.parquet'",
        "SET threads = 1",
        "SET enable_external_access = true",
        "PRAGMA enable_profiling = 'json'",
        "SELECT 1; COPY results TO 'new.csv'; SELECT 2",
    ],
)
def test_a_question_reaches_nothing_but_the_store(
    query: str, store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("mine.txt").write_text("mine")
    before = everything(tmp_path)

    done = call("results", store, "--sql", query)

    assert done.exit_code == 2
    assert done.stderr.startswith("airtcp: --sql: ")
    assert done.stderr.count("\n") == 1
    assert "the view results" in done.stderr
    assert done.stdout == ""
    assert everything(tmp_path) == before


def test_tables_in_memory_are_no_files(found: Results, store: Path) -> None:
    """SQL may create tables in memory on the way to an answer, but no files."""
    query = "CREATE TABLE t AS SELECT max(goodput_bps) AS most FROM results; SELECT * FROM t"

    assert found.sql(query).to_pylist() == [{"most": 5.0}]
    assert found.sql("PIVOT results ON count USING avg(goodput_bps)").num_rows == 2
    asked = "SELECT value FROM duckdb_settings() WHERE name = 'temp_directory'"
    assert found.sql(asked).to_pylist() == [{"value": ""}]
    with pytest.raises(QuestionError, match="Parser Error"):
        found.sql("SELECT 1 +")
    # Columns with the same name are all shown.
    two = call("results", store, "--sql", "SELECT 1 AS a, 2 AS a").stdout
    assert two.split()[-2:] == ["1", "2"]


CONTENT = b"count,measured\n1,30.5\n2,50.5\n"
ALLOWED = "is not a table; allowed: .csv, .csv.gz, .parquet"


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("measured.csv", CONTENT, None),
        ("measured.CSV.gz", gzip.compress(CONTENT, mtime=0), None),
        ("measured.parquet", None, None),
        ("broken.parquet", b"not a table", "cannot be read as .parquet"),
        ("measured.txt", CONTENT, ALLOWED),
        ("nowhere.csv", b"", "file not found"),
    ],
)
def test_files_that_are_named_are_read_or_refused_by_name(
    name: str,
    content: bytes | None,
    said: str | None,
    store: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    if content is None:
        parquet.write_table(pa.table({"count": [1, 2], "measured": [30.5, 50.5]}), name)
    elif content:
        Path(name).write_bytes(content)
    before = everything(tmp_path)
    query = f"SELECT count, measured - goodput_bps AS more FROM results JOIN '{name}' USING (count)"

    done = call("results", store, "--file", name, "--sql", f"{query} ORDER BY count")
    refused = call("results", store, "--file", name, "--sql", f"COPY results TO '{name}'")

    if said is None:
        assert done.stdout == "count  more\n    1  27.5\n    2  45.5\n", done.stderr
    else:
        assert done.exit_code == 2
        assert name in done.stderr
        assert said in done.stderr
        assert done.stderr.count("\n") == 1
    assert refused.exit_code == 2
    assert call("results", store, "--file", name).exit_code == 2
    assert everything(tmp_path) == before


@pytest.mark.usefixtures("interruptible")
def test_a_signal_ends_a_question(found: Results) -> None:
    """In this process; the connection uses no more CPU time afterwards."""
    sent: list[float] = []

    def send() -> None:
        sent.append(time.process_time())
        os.kill(os.getpid(), signal.SIGINT)

    timer = threading.Timer(0.5, send)
    timer.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            found.sql(LONG)
    finally:
        timer.join()

    assert time.process_time() - sent[0] < SOON_S
    asked = [one for one in threading.enumerate() if one.name == "airtcp query"]
    assert not any(one.is_alive() for one in asked)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "number"),
    [
        (("results", "--sql", LONG), signal.SIGINT),
        (("results", "--sql", DEAF), signal.SIGTERM),
        (("results", "--json", "--sql", "SELECT * FROM range(30000000)"), signal.SIGINT),
        (("plot", "--y", "goodput_bps", "--where", f"({LONG}) > 0"), signal.SIGTERM),
    ],
    ids=["long", "deaf", "much", "plot"],
)
def test_a_command_that_is_interrupted_ends_without_a_traceback(
    arguments: tuple[str, ...], number: signal.Signals, store: Path, tmp_path: Path
) -> None:
    verb, *rest = arguments
    started = subprocess.Popen(
        [sys.executable, "-m", "airtcp", verb, str(store), *rest],
        cwd=tmp_path,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(number, signal.SIG_DFL),
    )
    with CpuOfChildren() as cpu:
        try:
            # Wait until the query runs: imports take half a second.
            end = time.monotonic() + 60
            while cpu_s(started.pid) <= 1.5:
                assert time.monotonic() < end, "it does not work"
                time.sleep(0.02)
            started.send_signal(number)
            cpu.mark(started.pid)
            _, said = started.communicate(timeout=50)
        finally:
            started.kill()
            started.communicate()

    assert started.returncode == 130, said
    assert said == "airtcp: interrupted\n"
    assert cpu.spent_s < SOON_S


def test_an_interrupt_after_the_end_of_a_query_is_only_an_interrupt(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The query has closed its connection, and interrupting that raises an error in DuckDB."""
    ended = MagicMock(**{"interrupt.side_effect": duckdb.ConnectionException("closed")})
    with monkeypatch.context() as patched:
        patched.setattr(threading.Thread, "is_alive", Mock(side_effect=[True, False]))
        patched.setattr(threading.Thread, "join", Mock(side_effect=[KeyboardInterrupt, None]))
        with pytest.raises(KeyboardInterrupt):
            answer(ended, "SELECT 1")
    ended.interrupt.assert_called_once()


@pytest.mark.slow
def test_a_query_prints_nothing_on_stderr(store: Path) -> None:
    """Without garbage collection DuckDB's binding reports its objects as leaked."""
    query = ["results", str(store), "--sql", "SELECT count(*) AS n FROM results"]
    done = subprocess.run(
        [sys.executable, "-m", "airtcp", *query], capture_output=True, text=True, check=True
    )

    assert (done.stdout.split(), done.stderr) == (["n", "2"], "")
