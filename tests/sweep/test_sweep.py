"""Sweeps: every point has the wanted replications, once, with the numbers of a simulation."""

import json
import random
import signal
import time
from pathlib import Path
from typing import Any

import airtcp
import pyarrow as pa
import pytest
from airtcp import _core
from airtcp.exceptions import OutputError, SimulationError
from airtcp.results import table
from airtcp.results.query import Results
from airtcp.results.query import open as opened
from airtcp.run import HEADLINES, numbers
from airtcp.scenario import Scenario
from airtcp.sweep import execute
from airtcp.sweep.chunk import run_chunk
from airtcp.sweep.spec import sweep_of
from airtcp.sweep.workers import LocalCrew, Lost
from children import Children
from commands import call
from sweeping import long_sweep, under_way

AXES: dict[str, Any] = {"stations.laptop.count": [1, 2], "ap.queue.limit": [10, 100]}


def rows(found: Results) -> list[dict[str, Any]]:
    """Return all columns except version and core."""
    made = ("version", "core")
    return [{k: v for k, v in row.items() if k not in made} for row in found.table.to_pylist()]


def test_a_sweep_has_the_numbers_of_simulations(base: Scenario, tmp_path: Path) -> None:
    of_group = "laptop.download.flow_goodput_bps"
    metrics = ["goodput_bps", "transfer_time_s", of_group]
    found = airtcp.sweep(base, AXES, tmp_path, metrics=metrics, threads=1)

    assert len(found) == 4 * 2
    assert found.metrics == tuple(metrics)
    changes = {"stations.laptop.count": 2, "ap.queue.limit": 10}
    alone = airtcp.simulate(base.vary(changes), threads=1).simulation
    mine = [row for row in rows(found) if all(row[column] == changes[column] for column in changes)]
    for metric in ("goodput_bps", "transfer_time_s"):
        expected = alone.values(metric) if metric in alone.metrics else [None, None]
        assert [row[metric] for row in mine] == expected, metric
    expected = alone.values("flow_goodput_bps", "laptop", "download")
    assert [row[of_group] for row in mine] == expected
    assert [(row["replication"], row["seed"]) for row in mine] == [(0, 1), (1, 1)]


def test_runs_that_are_in_the_store_are_not_made_again(base: Scenario, tmp_path: Path) -> None:
    three = AXES | {"stations.laptop.count": [1, 2, 3]}
    # The base has a limit of 100 packets, so these points have the hash of points in the store.
    seeds = {"stations.laptop.count": [1, 2], "ap.queue.limit": [100], "run.seed": [1, 2]}
    before: list[dict[str, Any]] = []
    for axes, replications, made in (
        (AXES, 2, (8, 0)),
        (AXES, 2, (0, 8)),
        (AXES, 3, (4, 8)),
        (three, 3, (6, 12)),
        (seeds, 3, (6, 6)),
    ):
        wanted = sweep_of(base, axes, replications=replications)
        done = execute.execute(wanted, tmp_path, crew=LocalCrew(1))
        assert (done.runs, done.there) == made
        after = rows(opened(tmp_path))
        kept = [{key: row[key] for key in before[0]} for row in after] if before else []
        assert all(row in kept for row in before)
        before = after
    assert len(after) == 12 + 6 + 6


def counts(found: Results) -> dict[int, int]:
    """Return the number of replications for each station count."""
    column = found.table["stations.laptop.count"].to_pylist()
    return {count: column.count(count) for count in column}


def simulated(base: Scenario, precision: str, most: int) -> dict[int, Any]:
    how = {"run.precision": precision, "run.max_replications": most, "run.replications": None}
    return {
        count: airtcp.simulate(base.vary(how | {"stations.laptop.count": count})).simulation
        for count in (1, 3)
    }


def _users(base: Scenario) -> Scenario:
    """Return users that think and transfer, whose intervals come from estimators."""
    law = {"distribution": "exponential", "mean": "20 kB"}
    pause = {"distribution": "exponential", "mean": "0.5 s"}
    web = {"kind": "web", "size": law, "think_time": pause}
    return base.vary({"flows.laptop.application": web, "run.duration": "30 s"})


def test_a_precision_is_that_of_estimates_as_in_a_simulation(
    base: Scenario, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    base = _users(base)
    axes = {"stations.laptop.count": [1, 3]}
    how: dict[str, Any] = {"precision": "3 %", "max_replications": 60, "threads": 1}
    found = airtcp.sweep(base, axes, tmp_path / "one", **how)

    alone = simulated(base, "3 %", 60)
    assert counts(found) == {count: one.replications for count, one in alone.items()}
    # Plain means would have wider intervals and need more replications.
    for one in alone.values():
        assert one.stopped == "precision"
        plain = [one.estimates[name].plain for name in HEADLINES]
        assert max(interval.relative_half_width or 0.0 for interval in plain) > 0.03

    # A decided point is not run again.
    with monkeypatch.context() as patch:
        patch.setattr(numbers.Numbers, "recorded", None)
        assert airtcp.sweep(base, axes, tmp_path / "one", **how).table.equals(found.table)
    # Without the file, points with rows are run again, and no rows are added.
    for damaged in (None, "{", '{"version": 1}'):
        (tmp_path / "one" / "precision.json").unlink()
        if damaged is not None:
            (tmp_path / "one" / "precision.json").write_text(damaged)
        assert airtcp.sweep(base, axes, tmp_path / "one", **how).table.equals(found.table)
    wider = airtcp.sweep(base, axes, tmp_path / "one", **how | {"precision": "10 %"})
    assert wider.table.equals(found.table)

    # Chunks that end between two replications, and resumed stores, decide the same.
    monkeypatch.setattr(execute, "_FIRST_S", 1e-6)
    monkeypatch.setattr(execute, "_LONGEST_S", 1e-6)
    assert airtcp.sweep(base, axes, tmp_path / "two", **how).table.equals(found.table)
    airtcp.sweep(base, axes, tmp_path / "three", replications=7, threads=1)
    assert airtcp.sweep(base, axes, tmp_path / "three", **how).table.equals(found.table)


def test_a_point_that_fails_is_named_and_the_others_are_there(
    base: Scenario, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(resolved: str) -> str:
        raise SimulationError("no steady state")

    monkeypatch.setattr(numbers, "_with_warmup", refuse)
    with pytest.raises(SimulationError, match=r"1 points .* auto"):
        airtcp.sweep(base, {"run.warmup": ["0 s", "auto"]}, tmp_path, threads=1)

    assert opened(tmp_path).table["run.warmup"].to_pylist() == ["0 s", "0 s"]


class Mortal:
    """A pool with one worker that dies in its first chunks."""

    threads = places = 1

    def __init__(self, deaths: int) -> None:
        self._deaths = deaths

    def more(self, hired: int, work: Any, ended: Any) -> list[Any]:
        self._work, self._ended = work, ended
        return [] if hired else [self]

    def submit(self, chunk: Any) -> None:
        self._deaths -= 1
        done: Any = Lost("worker 7 has died")
        if self._deaths < 0:
            done = run_chunk(self._work, chunk, _core.RunControl())
        self._ended.put((self, done))

    def stop(self) -> None:
        """Nothing runs, so there is nothing to stop."""


def test_a_point_that_has_cost_three_workers_is_named(base: Scenario, tmp_path: Path) -> None:
    wanted = sweep_of(base, {"stations.laptop.count": [1]}, replications=1)

    assert execute.execute(wanted, tmp_path / "two", crew=Mortal(2)).runs == 1
    said = r"worker 7 has died, as 2 before it, at stations\.laptop\.count = 1"
    with pytest.raises(SimulationError, match=said):
        execute.execute(wanted, tmp_path / "three", crew=Mortal(3))


def test_a_store_that_cannot_be_written_is_not_harmed(
    base: Scenario, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    airtcp.sweep(base, AXES, tmp_path, threads=1)
    before = opened(tmp_path).table
    write = table._write

    def full(file: Path, content: pa.Table) -> None:
        if file.name.startswith("rows"):
            raise OutputError(f"cannot write to {file}: No space left on device")
        write(file, content)

    # flock works between two open files even in one process.
    with (
        table.locked(tmp_path / "lock", tmp_path),
        pytest.raises(OutputError, match="is being written"),
    ):
        airtcp.sweep(base, AXES, tmp_path, replications=3, threads=1)
    assert opened(tmp_path).table.equals(before)
    with monkeypatch.context() as patch:
        patch.setattr(table, "_write", full)
        with pytest.raises(SimulationError, match="No space left"):
            airtcp.sweep(base, AXES, tmp_path, replications=3, threads=1)
    assert opened(tmp_path).table.equals(before)
    assert len(airtcp.sweep(base, AXES, tmp_path, replications=3, threads=1)) == 12


def test_the_command_runs_and_asks(sweep_file: Path, tmp_path: Path) -> None:
    store = tmp_path / "store"

    done = call("sweep", sweep_file, "--to", store, "--json")

    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["runs"] == 12
    again = call("sweep", sweep_file, "--to", store).stdout
    assert "6 points: 0 runs made" in again
    about = call("results", store)
    head, *points = about.stdout.splitlines()[:7]
    assert [one.split()[:2] for one in points] == [[n, q] for n in "123" for q in ("10", "100")]
    assert head.split()[:4] == ["stations.laptop.count", "ap.queue.limit", "goodput", "Jain"]
    assert json.loads(call("results", store, "--json").stdout)["rows"] == 12
    question = 'SELECT "ap.queue.limit" AS q, count(*) AS n FROM results GROUP BY ALL ORDER BY 1'
    assert call("results", store, "--sql", question).stdout == "  q  n\n 10  6\n100  6\n"
    answer = call("results", store, "--json", "--sql", question)
    assert json.loads(answer.stdout) == [{"q": 10, "n": 6}, {"q": 100, "n": 6}]
    # A table that is too wide is transposed.
    wide = call("results", store, "--sql", "SELECT * EXCLUDE point FROM results", columns=40)
    assert max(map(len, wide.stdout.splitlines())) <= 45
    assert wide.stdout.count("goodput_bps") >= 12


def test_a_dry_run_says_how_much_and_writes_nothing(sweep_file: Path, tmp_path: Path) -> None:
    store = tmp_path / "store"
    estimate = ["sweep", sweep_file, "--dry-run", "--to", store]
    # More workers than runs do not help.
    for threads, busy in ((2, 2), (50, 12)):
        found = json.loads(call(*estimate, "--json", "--threads", threads).stdout)
        assert (found["points"], found["runs"], found["there"]) == (6, 12, 0)
        assert found["cpu_s"] == pytest.approx(12 * found["run_s"])
        assert found["wall_s"] == pytest.approx(found["cpu_s"] / busy)
    assert not store.exists()
    call("sweep", sweep_file, "--to", store)
    for replications, said in ((5, "30 runs, 12"), (1, "6 runs, 6")):
        again = call(*estimate, "--replications", replications).stdout
        assert again.startswith(f"6 points, {said} of them")
    # With a precision, the estimate counts the runs of the first round, or the limit if it is
    # less.
    text = sweep_file.read_text()
    sweep_file.write_text(f"precision = '5 %'\nmax_replications = 3\n{text}")
    assert call(*estimate).stdout.startswith("6 points, at least 18")


def test_very_many_runs_are_asked_for_twice(sweep_file: Path, tmp_path: Path) -> None:
    text = 'scenario = "base.toml"\n[axes]\n"run.seed" = { from = 1, to = 60000, step = 1 }'
    sweep_file.write_text(text)

    done = call("sweep", sweep_file, "--to", tmp_path / "store")

    assert done.exit_code == 2
    assert all(part in done.stderr for part in ("120,000", "100,000"))
    assert not (tmp_path / "store").exists()


@pytest.mark.parametrize("kills", [3, pytest.param(20, marks=pytest.mark.verify)])
def test_a_killed_sweep_goes_on(
    sweep_file: Path, tmp_path: Path, started: Children, kills: int
) -> None:
    """Kill a sweep at random moments, resume it once, and compare with an undisturbed one."""
    store = tmp_path / "store"
    file = long_sweep(sweep_file)
    draw = random.Random(7)
    killed = 0
    for _ in range(kills):
        process = under_way(started, file, store)
        # From the creation of the store to some files later.
        time.sleep(draw.uniform(0.0, 2.0))
        process.kill()
        process.communicate()
        killed += process.returncode == -signal.SIGKILL
        if (store / "store.json").exists():
            # Whenever it was killed, the store opens and has no duplicate rows.
            found = opened(store)
            assert len(found.table.group_by(["point", "replication"]).aggregate([])) == len(found)
    assert killed
    # Finish both in this process; orphaned workers may still be about to end.
    for folder in (store, tmp_path / "clean"):
        done = call("sweep", file, "--to", folder, "--threads", "1")
        assert done.exit_code == 0, done.output
    table = opened(store).table
    assert table["run.seed"].to_pylist() == list(range(1, 251))
    assert len(list(store.glob("rows-*"))) == 1
    assert not list(store.glob(".*"))
    assert table.equals(opened(tmp_path / "clean").table)
