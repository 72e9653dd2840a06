"""Questions in SQL: what they may reach, and that they end when they are told to."""

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

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

#: A cross join that would take days, and a function that listens to no interruption for a minute.
LONG = (
    "SELECT count(*) FROM range(100000000) a, range(1000000000) b WHERE a.range * b.range % 7 = 3"
)
DEAF = "SELECT levenshtein(repeat('a', 200000), repeat('b', 200000))"
#: From a signal to the end of the process.
SOON_S = 2.0


@pytest.fixture
def store(tmp_path: Path) -> Path:
    folder = tmp_path / "store"
    axes = (AxisColumn("count", "count"),)
    with Writer.open(folder, Contents("1.0", "abc", axes, ("goodput_bps",), 0.95, "{}")) as writer:
        writer.add_points(pa.table({"point": ["a", "b"], "count": [1, 2]}))
        for point, goodput in (("a", 3.0), ("b", 5.0)):
            row = {"point": point, "replication": 0, "seed": 1, "goodput_bps": goodput}
            writer.add({key: [value] for key, value in row.items()})
    return folder


@pytest.mark.parametrize("name", ["rows.csv", "rows.parquet"])
def test_rows_and_answers_go_to_tables_that_questions_read(
    store: Path, tmp_path: Path, name: str
) -> None:
    out = tmp_path / "made" / name
    doubled = "SELECT point, 2 * goodput_bps AS twice FROM results"

    def asked(*arguments: object) -> Result:
        return call("results", store, *arguments)

    assert asked("--out", out).stdout == f"table of 2 rows: {out}\n"
    again = opened(store).sql(f"SELECT * FROM '{out}'", [out])
    assert again.column("goodput_bps").to_pylist() == [3.0, 5.0]
    refused = asked("--out", out, "--sql", doubled)
    assert refused.exit_code == 2
    assert "file exists, and airtcp did not write it" in refused.stderr
    assert asked("--out", out, "--sql", doubled, "--force").exit_code == 0
    again = opened(store).sql(f"SELECT * FROM '{out}'", [out])
    assert again.column("twice").to_pylist() == [6.0, 10.0]
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
    assert "allowed: the view results, and files given with --file" in done.stderr
    assert done.stdout == ""
    assert everything(tmp_path) == before


def test_tables_in_memory_are_no_files(found: Results, store: Path) -> None:
    """What SQL needs on the way to an answer stays allowed, and goes to no file."""
    query = "CREATE TABLE t AS SELECT max(goodput_bps) AS most FROM results; SELECT * FROM t"

    assert found.sql(query).to_pylist() == [{"most": 5.0}]
    assert found.sql("PIVOT results ON count USING avg(goodput_bps)").num_rows == 2
    asked = "SELECT value FROM duckdb_settings() WHERE name = 'temp_directory'"
    assert found.sql(asked).to_pylist() == [{"value": ""}]
    with pytest.raises(QuestionError, match=r"^--sql: Parser Error: [^\n]*$"):
        found.sql("SELECT 1 +")
    # Columns of one name are all shown.
    two = call("results", store, "--sql", "SELECT 1 AS a, 2 AS a").stdout
    assert two.split()[-2:] == ["1", "2"]


@pytest.mark.parametrize("name", ["measured.csv", "measured.csv.gz", "measured.parquet"])
def test_files_that_are_named_are_read(
    name: str, store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import gzip

    monkeypatch.chdir(tmp_path)
    content = b"count,measured\n1,30.5\n2,50.5\n"
    if name.endswith(".parquet"):
        parquet.write_table(pa.table({"count": [1, 2], "measured": [30.5, 50.5]}), name)
    else:
        Path(name).write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    before = everything(tmp_path)
    query = f"SELECT count, measured - goodput_bps AS more FROM results JOIN '{name}' USING (count)"

    done = call("results", store, "--file", name, "--sql", f"{query} ORDER BY count")
    refused = call("results", store, "--file", name, "--sql", f"COPY results TO '{name}'")

    assert done.stdout == "count  more\n    1  27.5\n    2  45.5\n", done.stderr
    assert refused.exit_code == 2
    assert everything(tmp_path) == before


def test_files_that_cannot_be_read_are_named(store: Path, tmp_path: Path) -> None:
    (tmp_path / "a.parquet").write_text("not a table")
    (tmp_path / "a.txt").write_text("not a table")
    for name, said in (
        ("a.parquet", "cannot be read as .parquet"),
        ("a.txt", "is not a table; allowed: .csv, .csv.gz, .parquet"),
        ("nowhere.csv", "file not found"),
    ):
        done = call("results", store, "--file", tmp_path / name, "--sql", "SELECT 1")
        assert done.exit_code == 2
        assert name in done.stderr
        assert said in done.stderr
        assert done.stderr.count("\n") == 1
    assert call("results", store, "--file", tmp_path / "a.parquet").exit_code == 2


@pytest.mark.usefixtures("interruptible")
def test_a_signal_ends_a_question(found: Results) -> None:
    """In the process that asks; the connection takes no more time afterwards."""
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
            # The query runs: imports take half a second.
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


class Ending:
    """A connection whose question has ended: it is closed, and its thread goes on for a moment."""

    def __init__(self) -> None:
        self.connection = duckdb.connect()
        self.is_closed, self.is_released = threading.Event(), threading.Event()
        self.execute, self.sql = self.connection.execute, self.connection.sql
        self.interrupt = self.connection.interrupt

    def __enter__(self) -> "Ending":
        return self

    def __exit__(self, *_: object) -> None:
        self.connection.close()
        self.is_closed.set()
        assert self.is_released.wait(10)


def test_an_interruption_of_a_question_that_has_just_ended_is_nothing_else(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ending, joins = Ending(), []

    def join(_: threading.Thread, timeout: float | None = None) -> None:
        joins.append(timeout)
        if len(joins) == 1:
            assert ending.is_closed.wait(10)
            raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(threading.Thread, "join", join)
        with pytest.raises(KeyboardInterrupt):
            answer(ending, "SELECT 1")  # type: ignore[arg-type]
    ending.is_released.set()
    assert len(joins) > 1


@pytest.mark.slow
def test_a_query_says_nothing_on_stderr(store: Path) -> None:
    """DuckDB's binding would name all its objects as leaked if no garbage was collected."""
    query = ["results", str(store), "--sql", "SELECT count(*) AS n FROM results"]
    done = subprocess.run(
        [sys.executable, "-m", "airtcp", *query], capture_output=True, text=True, check=True
    )

    assert (done.stdout.split(), done.stderr) == (["n", "2"], "")
