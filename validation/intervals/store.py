"""Store blocks of replications, so that estimates can be judged again without simulating.

Each system has one SQLite file with the inputs of estimators. A block is stored completely or not
at all, so an interrupted run resumes. Times are float32, which moves a percentile by one part in
10^7.
"""

from __future__ import annotations

import pickle
import sqlite3
import zlib
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import fields
from functools import cache
from pathlib import Path
from typing import Any

import airtcp
import numpy as np
from airtcp.estimates.accounts import SUMS, Accounts
from airtcp.results import Replication
from intervals import sharing
from intervals.cells import REPLICATIONS, System, Window

#: Varying results of a system's replications, besides times and accounts.
_KEPT = ("metrics", "groups", "counts", "active_flows_distribution", "goodput_series_bps")


def simulate(
    system: System,
    block: int,
    *,
    threads: int = 1,
    replications: int = REPLICATIONS[-1],
    window: Window | None = None,
) -> list[Replication]:
    """Simulate a block, or other replications over another window with its seed."""
    if system.is_processor:
        return _shared(system, block, replications, window or system.window)
    scenario = system.scenario(block, replications=replications, window=window)
    return list(airtcp.simulate(scenario, threads=threads).simulation.runs)


class Store:
    """The blocks of a system in a file of a folder, created if missing."""

    def __init__(self, folder: Path, system: System) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._system = system
        self._path = folder / f"{system.name}.sqlite"
        with closing(self._open()) as file, file:
            file.execute("CREATE TABLE IF NOT EXISTS blocks (block INTEGER PRIMARY KEY, rows BLOB)")
            file.execute("CREATE TABLE IF NOT EXISTS first (answer BLOB)")

    def blocks(self) -> list[int]:
        """Return the stored blocks."""
        with closing(self._open()) as file:
            found = file.execute("SELECT block FROM blocks ORDER BY block").fetchall()
        return [block for (block,) in found]

    def put(self, block: int, runs: Sequence[Replication]) -> None:
        """Write a block."""
        rows = [_row(run) for run in runs]
        with closing(self._open()) as file, file:
            if file.execute("SELECT 1 FROM first").fetchone() is None:
                file.execute("INSERT INTO first VALUES (?)", [_packed(dict(runs[0].answer))])
            file.execute("INSERT INTO blocks VALUES (?, ?)", [block, _packed(rows)])

    def read(self) -> Iterator[tuple[int, list[Replication]]]:
        """Read all blocks; values that are not stored come from the first replication."""
        with closing(self._open()) as file:
            first = file.execute("SELECT answer FROM first").fetchone()
            answer = _unpacked(first[0]) if first else {}
            for block, packed in file.execute("SELECT block, rows FROM blocks ORDER BY block"):
                rows = enumerate(_unpacked(packed))
                yield block, [_replication(index, answer, row) for index, row in rows]

    def _open(self) -> sqlite3.Connection:
        return sqlite3.connect(self._path)


def _shared(system: System, block: int, replications: int, window: Window) -> list[Replication]:
    """Return replications of the processor in the format of the packet simulator."""
    sizes, thinks = system.laws()
    dress = _dress(system)
    nothing = dict.fromkeys(dress["metrics"])
    runs = []
    for index in range(replications):
        rng = np.random.default_rng([system.seed(block), index])
        seen = sharing.observe(
            sizes, thinks, system.laptops, system.place.bulk_bps / 8.0, *window, rng
        )
        answer = {**dress, "metrics": nothing | seen.metrics}
        answer["counts"] = {**dress["counts"], "transfers": len(seen.times_s)}
        places = [place for place, _ in seen.carried_over]
        # The processor simulates no pages.
        without_pages = [(0, 0), (0, len(SUMS) - seen.sums.shape[1])]
        accounts = Accounts(
            sums=np.pad(seen.sums, without_pages)[:, None, :],
            carried_over_index=np.array(places, dtype=np.int64),
            carried_over_age_s=np.array([age_s for _, age_s in seen.carried_over]),
            under_way_entry=np.zeros(len(seen.under_way_s), dtype=np.int64),
            under_way_age_s=seen.under_way_s,
            scopes=np.zeros(len(seen.times_s), dtype=np.uint32),
        )
        runs.append(Replication(index, answer, seen.times_s, accounts=accounts))
    return runs


@cache
def _dress(system: System) -> dict[str, Any]:
    """Return a result of the core in which nothing happened."""
    still = system.scenario(0, replications=1, window=Window(0.0, 0.001))
    (run,) = airtcp.simulate(still, threads=1).simulation.runs
    return dict(run.answer)


def _row(run: Replication) -> dict[str, Any]:
    accounts = run.accounts
    assert accounts is not None
    return {
        "answer": {key: run.answer[key] for key in _KEPT},
        "times_s": run.transfer_times_s.astype(np.float32),
        "accounts": {field.name: getattr(accounts, field.name) for field in fields(accounts)},
    }


def _replication(index: int, first: dict[str, Any], row: dict[str, Any]) -> Replication:
    times_s = row["times_s"].astype(np.float64)
    return Replication(index, first | row["answer"], times_s, accounts=Accounts(**row["accounts"]))


def _packed(value: Any) -> bytes:
    return zlib.compress(pickle.dumps(value), 1)


def _unpacked(packed: bytes) -> Any:
    # A local file, written by `put`.
    return pickle.loads(zlib.decompress(packed))
