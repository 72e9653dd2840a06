"""Finished work is made once, and again when one of its inputs changes."""

import gzip
from pathlib import Path

import pytest
from airtcp import simulate
from airtcp.exceptions import OutputError
from airtcp.results import Simulation
from airtcp.scenario import ResolvedScenario, loads
from airtcp_papers.common.store import Store, code_digest, key_of
from bases import cell

SCENARIO = cell(
    2,
    name="a",
    application='{ kind = "web", size = "3 kB", think_time = "0.5 s" }',
    warmup="0 s",
    duration="2 s",
    replications=2,
)


def test_every_file_of_a_package_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    inner = tmp_path / "of_a_test" / "inner"
    inner.mkdir(parents=True)
    for file in (inner.parent / "__init__.py", inner / "__init__.py", inner / "code.py"):
        file.write_text("41 + 1")
    code_digest.cache_clear()
    digests = {code_digest("of_a_test"), code_digest("of_a_test.inner.code")}
    (inner / "code.py").write_text("41 + 2")
    code_digest.cache_clear()
    digests |= {code_digest("of_a_test"), code_digest("of_a_test.inner.code")}

    assert len(digests) == 4


def test_an_answer_is_computed_once(tmp_path: Path) -> None:
    store, computed = Store(tmp_path / "runs"), []

    def compute() -> list[float]:
        computed.append(1)
        return [0.1, 2.0]

    key = key_of("test", 1)
    assert store.answer(key, compute) == store.answer(key, compute) == [0.1, 2.0]
    assert len(computed) == 1
    assert store.answer(key_of("test", 2), compute) == [0.1, 2.0]
    assert len(computed) == 2

    file = tmp_path / "runs" / f"{key}.json.gz"
    file.write_bytes(file.read_bytes()[:-5])
    assert store.answer(key, compute) == [0.1, 2.0]
    assert len(computed) == 3


def test_a_simulation_comes_back_as_it_was(tmp_path: Path) -> None:
    scenario, seeds = loads(SCENARIO), []

    def run(scenario: ResolvedScenario) -> Simulation:
        seeds.append(scenario.run.seed)
        return simulate(scenario, threads=1).simulation

    store = Store(tmp_path)
    whole = run(scenario)
    kept = [store.simulation(scenario, run, transfer_times=True) for _ in range(2)]

    for one in kept:
        assert [run.answer for run in one.runs] == [run.answer for run in whole.runs]
        assert sorted(one.transfer_times_s()) == sorted(whole.transfer_times_s())
        # Histograms and blocks are not stored, so intervals differ.
        for name in ("goodput_bps", "transfer_time_s", "rtt_s"):
            assert one.metrics[name].mean == whole.estimates[name].plain.mean, name
    store.simulation(scenario.with_run(seed=7), run)
    assert seeds == [1, 1, 7]


def test_an_interrupted_simulation_is_not_kept(tmp_path: Path) -> None:
    def interrupted(scenario: ResolvedScenario) -> Simulation:
        simulation = simulate(scenario, threads=1).simulation
        return Simulation.gather(
            simulation.runs,
            confidence=0.95,
            simulated_s=1.0,
            wall_s=1.0,
            cpu_s=1.0,
            stopped="interrupted",
        )

    with pytest.raises(KeyboardInterrupt):
        Store(tmp_path).simulation(loads(SCENARIO), interrupted)

    assert not list(tmp_path.iterdir())


def test_an_answer_is_bounded_by_its_content(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("airtcp_papers.common.store._MOST_BYTES", 2**20)
    (tmp_path / "kept.json.gz").write_bytes(gzip.compress(b"1\n" * 2**20))

    with pytest.raises(OutputError, match="larger than 1 MiB"):
        Store(tmp_path).answer("kept", lambda: 1)
