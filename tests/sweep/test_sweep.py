"""Sweeps: every point as often as wanted, once, with the numbers that a simulation gives."""

import json
import random
import signal
import time
from pathlib import Path
from typing import Any

import airtcp
import pyarrow as pa
import pytest
from airtcp.exceptions import OutputError, SimulationError
from airtcp.results.query import Results
from airtcp.results.query import open as opened
from airtcp.run import HEADLINES
from airtcp.scenario import Scenario
from airtcp.sweep.estimate import MANY_RUNS
from children import Children
from commands import call
from sweeping import long_sweep, under_way, wait_for_rows

AXES: dict[str, Any] = {"stations.laptop.count": [1, 2], "ap.queue.limit": [10, 100]}


def rows(found: Results) -> list[dict[str, Any]]:
    """All columns but those that say who made them."""
    made = ("version", "core")
    return [{k: v for k, v in row.items() if k not in made} for row in found.table.to_pylist()]


def test_a_sweep_has_the_numbers_of_simulations(base: Scenario, tmp_path: Path) -> None:
    found = airtcp.sweep(base, AXES, tmp_path, threads=1)

    assert len(found) == 4 * 2
    changes = {"stations.laptop.count": 2, "ap.queue.limit": 10}
    alone = airtcp.simulate(base.vary(changes), threads=1).simulation
    mine = [row for row in rows(found) if all(row[column] == changes[column] for column in changes)]
    for metric in found.metrics:
        expected = alone.values(metric) if metric in alone.metrics else [None, None]
        assert [row[metric] for row in mine] == expected, metric
    assert [row["replication"] for row in mine] == [0, 1]
    assert {row["seed"] for row in mine} == {1}


def test_metrics_of_groups_can_be_kept(base: Scenario, tmp_path: Path) -> None:
    metrics = ["goodput_bps", "laptop.download.flow_goodput_bps"]

    found = airtcp.sweep(base, {"run.seed": [3]}, tmp_path, metrics=metrics, threads=1)

    alone = airtcp.simulate(base, seed=3, threads=1).simulation
    assert found.metrics == tuple(metrics)
    column = found.table["laptop.download.flow_goodput_bps"].to_pylist()
    assert column == alone.values("flow_goodput_bps", "laptop", "download")


def test_what_is_there_is_not_run_again(base: Scenario, tmp_path: Path) -> None:
    from airtcp.sweep.execute import execute
    from airtcp.sweep.spec import sweep_of
    from airtcp.sweep.workers import LocalCrew

    def run(axes: dict[str, Any], replications: int) -> tuple[int, int]:
        wanted = sweep_of(base, axes, replications=replications)
        done = execute(wanted, tmp_path, crew=LocalCrew(1))
        return done.runs, done.there

    assert run(AXES, 2) == (8, 0)
    before = rows(opened(tmp_path))
    assert run(AXES, 2) == (0, 8)
    assert run(AXES, 3) == (4, 8)
    assert run(AXES | {"stations.laptop.count": [1, 2, 3]}, 3) == (6, 12)
    # 100 packets are what the base has: those points are there.
    more = {"stations.laptop.count": [1, 2], "ap.queue.limit": [100], "run.seed": [1, 2]}
    assert run(more, 3) == (6, 6)

    after = rows(opened(tmp_path))
    kept = [{key: row[key] for key in before[0]} for row in after]
    assert all(row in kept for row in before)
    assert len(after) == 12 + 6 + 6


def test_threads_change_no_row(
    base: Scenario, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from airtcp.sweep import execute

    axes = {"run.seed": {"from": 1, "to": 30, "step": 1}}
    one = airtcp.sweep(base, axes, tmp_path / "one", threads=1)
    # Short chunks, so that each thread has its share.
    monkeypatch.setattr(execute, "_FIRST_S", 0.001)
    monkeypatch.setattr(execute, "_SHORTEST_S", 0.001)
    three = airtcp.sweep(base, axes, tmp_path / "three", threads=3)
    assert three.table.equals(one.table)


def test_a_precision_stops_each_point_where_a_simulation_does(
    base: Scenario, tmp_path: Path
) -> None:
    """No transfer ends here, so that estimates are what rows have."""
    saturated = {"kind": "udp", "packet": "1500 B", "rate": "saturated"}
    base = base.vary(
        {
            "flows.laptop.application": saturated,
            "flows.laptop.direction": "upload",
            "flows.laptop.start_spread": "0 s",
        }
    )
    axes = {"stations.laptop.count": [1, 3]}
    how: dict[str, Any] = {"precision": "1 %", "max_replications": 40}
    found = airtcp.sweep(base, axes, tmp_path, threads=1, metrics=["jain_index"], **how)

    counts = found.sql(
        'SELECT "stations.laptop.count" AS count, count(*) AS n FROM results GROUP BY ALL'
    ).to_pylist()
    for row in counts:
        changes = {
            "stations.laptop.count": row["count"],
            "run.precision": "1 %",
            "run.max_replications": 40,
            "run.replications": None,
        }
        assert row["n"] == airtcp.simulate(base.vary(changes)).simulation.replications
    assert len({row["n"] for row in counts}) == 2
    # It needs them to know.
    assert found.metrics == ("jain_index", "goodput_bps", "transfer_time_s")
    assert len(airtcp.sweep(base, axes, tmp_path, metrics=["jain_index"], **how)) == len(found)


def _users(base: Scenario) -> Scenario:
    """Users that think and transfer, whose intervals are those of estimates."""
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

    rows = found.sql(
        'SELECT "stations.laptop.count" AS count, count(*) AS n FROM results GROUP BY ALL'
    ).to_pylist()
    precise = {"run.precision": "3 %", "run.max_replications": 60, "run.replications": None}
    simulated = {
        row["count"]: airtcp.simulate(base.vary(precise | {"stations.laptop.count": row["count"]}))
        for row in rows
    }
    assert {row["count"]: row["n"] for row in rows} == {
        count: one.simulation.replications for count, one in simulated.items()
    }
    # Rows alone would not have been enough: intervals of their means are wider.
    for one in simulated.values():
        assert one.simulation.stopped == "precision"
        plain = [one.simulation.estimates[name].plain for name in HEADLINES]
        assert max(interval.relative_half_width or 0.0 for interval in plain) > 0.03

    # Chunks that end between two replications, and stores that go on, decide the same.
    from airtcp.sweep import execute

    monkeypatch.setattr(execute, "_FIRST_S", 1e-6)
    monkeypatch.setattr(execute, "_LONGEST_S", 1e-6)
    assert airtcp.sweep(base, axes, tmp_path / "two", **how).table.equals(found.table)
    airtcp.sweep(base, axes, tmp_path / "three", replications=7, threads=1)
    assert airtcp.sweep(base, axes, tmp_path / "three", **how).table.equals(found.table)


def test_a_sweep_that_goes_on_runs_nothing_that_is_decided(
    base: Scenario, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from airtcp.run import numbers

    base = _users(base)
    axes = {"stations.laptop.count": [1, 3]}
    how: dict[str, Any] = {"precision": "3 %", "max_replications": 60, "threads": 1}
    table = airtcp.sweep(base, axes, tmp_path, **how).table
    with monkeypatch.context() as patch:
        patch.setattr(numbers.Numbers, "recorded", None)
        assert airtcp.sweep(base, axes, tmp_path, **how).table.equals(table)
    # Without the file what has a row is run again, and nothing comes to it.
    for damaged in (None, "{", '{"version": 1}'):
        (tmp_path / "precision.json").unlink()
        if damaged is not None:
            (tmp_path / "precision.json").write_text(damaged)
        assert airtcp.sweep(base, axes, tmp_path, **how).table.equals(table)
    wider = airtcp.sweep(base, axes, tmp_path, **how | {"precision": "10 %"})
    assert wider.table.equals(table)


def test_a_point_that_fails_is_named_and_the_others_are_there(
    base: Scenario, tmp_path: Path
) -> None:
    # No steady state in 100 ms of one station that sends all the time in slow start.
    axes = {"run.warmup": ["0 s", "auto"], "flows.laptop.application.kind": ["bulk"]}
    with pytest.MonkeyPatch.context() as patch:
        from airtcp.run import numbers

        def refuse(resolved: str) -> str:
            raise SimulationError("no steady state")

        patch.setattr(numbers, "_with_warmup", refuse)
        with pytest.raises(SimulationError, match=r"1 points have .* run\.warmup = auto"):
            airtcp.sweep(base, axes, tmp_path, threads=1)

    assert opened(tmp_path).table["run.warmup"].to_pylist() == ["0 s", "0 s"]


def test_two_sweeps_into_one_store_do_no_harm(base: Scenario, tmp_path: Path) -> None:
    from airtcp.results.lock import locked

    airtcp.sweep(base, AXES, tmp_path, threads=1)
    before = opened(tmp_path).table

    # flock holds between two files that are open, in one process too.
    with locked(tmp_path / "lock", tmp_path), pytest.raises(OutputError, match="is being written"):
        airtcp.sweep(base, AXES, tmp_path, replications=3, threads=1)

    assert opened(tmp_path).table.equals(before)


def test_a_disk_that_becomes_full_is_a_failure_and_harms_nothing(
    base: Scenario, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from airtcp.results import table

    airtcp.sweep(base, AXES, tmp_path, threads=1)
    before = opened(tmp_path).table
    write = table._write

    def full(file: Path, content: pa.Table) -> None:
        if file.name.startswith("rows"):
            raise OutputError(f"cannot write to {file}: No space left on device")
        write(file, content)

    with monkeypatch.context() as patch:
        patch.setattr(table, "_write", full)
        with pytest.raises(SimulationError, match=r"No space left .* are in the store"):
            airtcp.sweep(base, AXES, tmp_path, replications=3, threads=1)

    assert opened(tmp_path).table.equals(before)
    assert len(airtcp.sweep(base, AXES, tmp_path, replications=3, threads=1)) == 12


def test_the_command_runs_and_asks(sweep_file: Path, tmp_path: Path) -> None:
    store = tmp_path / "store"

    done = call("sweep", sweep_file, "--to", store, "--json")

    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["runs"] == 12
    assert (
        "6 points: 0 runs made, 12 already in the store"
        in call("sweep", sweep_file, "--to", store).stdout
    )
    about = call("results", store)
    assert about.stdout.startswith("6 points, 12 rows\nstations.laptop.count: 1, 2, 3\n")
    assert json.loads(call("results", store, "--json").stdout)["rows"] == 12
    question = 'SELECT "ap.queue.limit" AS q, count(*) AS n FROM results GROUP BY ALL ORDER BY 1'
    answer = call("results", store, "--sql", question)
    assert answer.stdout == "  q  n\n 10  6\n100  6\n"
    answer = call("results", store, "--json", "--sql", question)
    assert json.loads(answer.stdout) == [{"q": 10, "n": 6}, {"q": 100, "n": 6}]


def test_a_directory_with_files_of_others_is_no_store(sweep_file: Path) -> None:
    there = sorted(sweep_file.parent.iterdir())
    (sweep_file.parent / "notes.txt").write_text("mine")

    done = call("sweep", sweep_file, "--to", sweep_file.parent)

    assert done.exit_code == 2
    assert "has other files, such as" in done.stderr
    assert sorted(sweep_file.parent.iterdir()) == sorted([*there, sweep_file.parent / "notes.txt"])


def test_a_table_that_is_too_wide_stands_upright(
    sweep_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    call("sweep", sweep_file, "--to", tmp_path / "store")
    monkeypatch.setenv("COLUMNS", "40")

    shown = call(
        "results", tmp_path / "store", "--sql", "SELECT * EXCLUDE point FROM results"
    ).stdout

    assert max(map(len, shown.splitlines())) <= 45
    assert shown.count("goodput_bps\n") + shown.count("goodput_bps ") >= 12


def test_a_dry_run_says_how_much_and_writes_nothing(sweep_file: Path, tmp_path: Path) -> None:
    store = tmp_path / "store"

    done = call("sweep", sweep_file, "--dry-run", "--to", store, "--json", "--threads", "2")

    found = json.loads(done.stdout)
    assert (found["points"], found["runs"], found["there"]) == (6, 12, 0)
    assert found["cpu_s"] == pytest.approx(12 * found["run_s"])
    assert found["wall_s"] == pytest.approx(found["cpu_s"] / 2)
    assert not store.exists()
    call("sweep", sweep_file, "--to", store)
    again = call("sweep", sweep_file, "--dry-run", "--to", store, "--replications", "5").stdout
    assert again.startswith("6 points, 30 runs, 12 of them in the store\na run takes ")


def test_one_of_a_thing_is_told_as_one(sweep_file: Path, tmp_path: Path) -> None:
    """A point of one run, of a rate whose value a question in SQL may have."""
    one = (sweep_file.with_name("base.toml"), "--axis", 'phy.data_rate=["11 Mb/s"]')
    once = (*one, "--replications", "1", "--threads", "1")

    assert call("sweep", *once, "--dry-run").stdout.startswith("1 point, 1 run\n")
    assert call("sweep", *once, "--to", tmp_path / "store").stdout.startswith("1 point: 1 run made")
    about = call("results", tmp_path / "store").stdout
    assert about.startswith("1 point, 1 row\nphy.data_rate: 11000000 b/s\n")
    kind = call("plot", tmp_path / "store", "--y", "goodput_bps", "--kind", "pie")
    assert "Invalid value for --kind: 'pie' is unknown" in " ".join(kind.stderr.split())
    where = call("plot", tmp_path / "store", "--y", "goodput_bps", "--where", "nothing = 1")
    assert where.stderr.startswith("airtcp: --where: Binder Error")


def test_very_many_runs_are_asked_for_twice(sweep_file: Path, tmp_path: Path) -> None:
    text = 'scenario = "base.toml"\n[axes]\n"run.seed" = { from = 1, to = 60000, step = 1 }'
    sweep_file.write_text(text)

    done = call("sweep", sweep_file, "--to", tmp_path / "store")

    assert done.exit_code == 2
    assert "120,000 runs exceed the limit" in done.stderr
    assert f"limit of {MANY_RUNS:,}" in done.stderr
    assert not (tmp_path / "store").exists()


def test_ctrl_c_keeps_what_had_ended(sweep_file: Path, tmp_path: Path, started: Children) -> None:
    store = tmp_path / "store"
    # Far from done when the first rows are seen, on a fast machine too.
    process = under_way(started, long_sweep(sweep_file, "2000 s"), store)
    wait_for_rows(store)

    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)

    assert process.returncode == 130
    assert "interrupted: finished points are in the store; run the same command to continue" in said
    found = opened(store)
    assert 0 < len(found) < 250


def kill_and_resume(sweep_file: Path, tmp_path: Path, started: Children, kills: int) -> None:
    """Kill a sweep at random moments, go on once, and compare with one that nobody killed."""
    store = tmp_path / "store"
    file = long_sweep(sweep_file)
    draw = random.Random(7)
    killed = 0
    for _ in range(kills):
        process = under_way(started, file, store)
        # From the first moments, in which the store is made, to some files later.
        time.sleep(draw.uniform(0.0, 2.0))
        process.kill()
        process.communicate()
        killed += process.returncode == -signal.SIGKILL
        if (store / "store.json").exists():
            # Whatever the moment was, the store opens, and no row is there twice.
            found = opened(store)
            assert len(found.table.group_by(["point", "replication"]).aggregate([])) == len(found)
    assert killed
    # The end of it, in this process; workers of the dead may still be about to notice.
    done = call("sweep", file, "--to", store, "--json", "--threads", "1")
    assert done.exit_code == 0, done.output
    found = opened(store).table
    assert found["run.seed"].to_pylist() == list(range(1, 251))
    assert len(list(store.glob("rows-*"))) == 1
    assert not list(store.glob(".*"))
    assert found.equals(clean(file, tmp_path / "clean"))


def clean(file: Path, store: Path) -> pa.Table:
    assert call("sweep", file, "--to", store, "--threads", "1").exit_code == 0
    return opened(store).table


def test_a_killed_sweep_goes_on(sweep_file: Path, tmp_path: Path, started: Children) -> None:
    kill_and_resume(sweep_file, tmp_path, started, kills=3)


@pytest.mark.verify
def test_a_sweep_that_is_killed_twenty_times_goes_on(
    sweep_file: Path, tmp_path: Path, started: Children
) -> None:
    kill_and_resume(sweep_file, tmp_path, started, kills=20)
