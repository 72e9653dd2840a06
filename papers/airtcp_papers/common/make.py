"""Make items and write their picture, data and record. Existing items are not made again.

An item's record (FIG.json) is written last, so an item with a record is complete. The record has a
fingerprint of everything that the item depends on: version, code, its paper's scenario files, the
core, seed, replications, and whether the run was quick.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, Final, Protocol

from airtcp import __version__
from airtcp.exceptions import AirtcpError, OutputError, QuestionError
from airtcp.files import prepare, read_text, write_files
from airtcp.present import drawing
from airtcp.results import canonical_json
from airtcp.results.provenance import core_digest
from airtcp.stats import Interval

from airtcp_papers.common.bench import STORE, Bench, Settings
from airtcp_papers.common.catalogue import SOURCES
from airtcp_papers.common.claims import is_firm, load_claims
from airtcp_papers.common.item import Cell, Item, Outcome, Value
from airtcp_papers.common.runs import keep
from airtcp_papers.common.store import code_digest

#: The largest record that is read, bytes.
_MOST_BYTES: Final = 2**28
#: Factors on the replications. An item with a claim that is not firm is made again with more.
_TIMES: Final = (1, 2, 4, 8, 16)
#: A quick run repeats once, with four times as many replications, which halves the intervals.
_QUICK_TIMES: Final = (1, 4)
#: A quick run repeats only if the first took at most this many events: six seconds of CPU time.
_CHEAP_EVENTS: Final = 60_000_000

#: A record as it is stored on disk.
Record = dict[str, Any]


class Progress(Protocol):
    """Receiver of progress messages."""

    def begin(self, item: Item) -> None:
        """Report that an item has begun."""

    def run(self, fraction: float) -> None:
        """Report the progress of the item's simulation, 0 to 1."""

    def end(self, item: Item, how: str) -> None:
        """Report that an item has ended: "made", "kept", "failed" or "not made"."""


@dataclass(frozen=True, slots=True)
class Made:
    """The outcome of an item: "made", "kept" (it existed already), "failed" or "not made".

    "not made" means that this machine lacks something, such as a testbed. "failed" and "not made"
    have a reason.
    """

    item: Item
    how: str
    reason: str | None = None


def make(
    items: Iterable[Item], settings: Settings, out: Path, progress: Progress | None = None
) -> list[Made]:
    """Make items in the folder `out`, one after the other.

    If the model or simulation of an item fails, the others are still made. Raises OutputError if
    something cannot be written, and KeyboardInterrupt. Items that ended before are complete.
    """
    prepare(out)
    done = []
    for item in items:
        if progress is not None:
            progress.begin(item)
        done.append(_decided(item, settings, out, progress))
        if progress is not None:
            progress.end(item, done[-1].how)
    return done


def fingerprint(item: Item, settings: Settings) -> str:
    """Return the hash of everything that an item's numbers and picture depend on."""
    parts = [
        item.name,
        __version__,
        code_digest("airtcp", "airtcp_papers"),
        _files_digest(item.paper),
        core_digest(),
        settings.quick,
        settings.seed,
        settings.replications,
        settings.times,
    ]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def record_of(item: Item, out: Path) -> Record | None:
    """Return the record of an item in the folder `out`; None if it was never made there.

    Raises OutputError if the record exists and cannot be read.
    """
    file = out / item.paper / f"{item.stem}.json"
    try:
        record: Record = json.loads(read_text(file, _MOST_BYTES))
    except FileNotFoundError:
        return None
    except ValueError as error:
        raise OutputError(f"{file}: is not a record of an item; remove it") from error
    except OSError as error:
        raise OutputError(f"cannot read {file}: {error.strerror or error}") from error
    return record


def value_of(kept: Any) -> Value:
    """Return a value from its form in a record."""
    return Interval(**kept) if isinstance(kept, dict) else float(kept)


def _decided(item: Item, settings: Settings, out: Path, progress: Progress | None) -> Made:
    """Make an item, with more replications while one of its claims is not firm.

    With given replications it is made once. A quick run repeats at most once, and only a cheap
    item. An item on disk that has more replications is kept.
    """
    record = record_of(item, out)
    often = _QUICK_TIMES if settings.quick else _TIMES
    tried = [replace(settings, times=times) for times in often]
    if settings.replications is not None:
        tried = tried[:1]
    there = None if record is None else record["fingerprint"]
    begin = next((place for place, one in enumerate(tried) if fingerprint(item, one) == there), 0)
    for number, one in enumerate(tried[begin:], begin + 1):
        made = _one(item, one, out, progress)
        if made.reason is not None or number == len(tried) or _is_firm(item, out):
            break
        if settings.quick and not _is_cheap(item, out):
            break
    return made


def _is_cheap(item: Item, out: Path) -> bool:
    """Return whether an item is cheap enough for a quick run with more replications."""
    record = record_of(item, out)
    return record is not None and record["events"] <= _CHEAP_EVENTS


def _is_firm(item: Item, out: Path) -> bool:
    """Return whether all claims of an item on disk are firm."""
    record = record_of(item, out)
    if record is None:
        return True
    values = {name: value_of(kept) for name, kept in record["values"].items()}
    return all(is_firm(claim, values) for claim in load_claims() if claim.item == item.name)


def _one(item: Item, settings: Settings, out: Path, progress: Progress | None) -> Made:
    wanted = fingerprint(item, settings)
    record = record_of(item, out)
    if record is not None and record["fingerprint"] == wanted and _whole(record, out / item.paper):
        return Made(item, "kept")
    bench = Bench(
        folder=SOURCES[item.paper].folder,
        store=out / STORE,
        settings=settings,
        on_run=None if progress is None else progress.run,
    )
    try:
        outcome = item.make(bench)
    except OutputError:
        raise
    except QuestionError as error:
        return Made(item, "not made", str(error))
    except AirtcpError as error:
        return Made(item, "failed", str(error))
    keep(out / STORE, item.paper, bench.simulated)
    _write(item, outcome, bench, settings, wanted, out)
    return Made(item, "made")


def _whole(record: Record, folder: Path) -> bool:
    return all((folder / name).exists() for name in record["files"])


def _write(
    item: Item, outcome: Outcome, bench: Bench, settings: Settings, wanted: str, out: Path
) -> None:
    folder = out / item.paper
    prepare(folder)
    files = {f"{item.stem}.csv": _csv(outcome.data.columns, outcome.data.rows)}
    if outcome.figure is not None:
        files[f"{item.stem}.svg"] = drawing.svg(outcome.figure).encode()
        files[f"{item.stem}.png"] = drawing.png(outcome.figure)
    record: Record = {
        "item": item.name,
        "paper": item.paper,
        "title": item.title,
        "found": outcome.found,
        "values": {name: _kept(value) for name, value in outcome.values.items()},
        "columns": list(outcome.data.columns),
        "rows": [list(row) for row in outcome.data.rows],
        "figure": outcome.figure is not None,
        "scenarios": bench.used,
        "events": bench.events,
        "files": sorted(files),
        "fingerprint": wanted,
        "version": __version__,
        "quick": settings.quick,
        "seed": settings.seed,
        "replications": settings.replications,
    }
    write_files(folder, files)
    write_files(folder, {f"{item.stem}.json": (canonical_json(record) + "\n").encode()})


def _kept(value: Value) -> Any:
    return value.to_dict() if isinstance(value, Interval) else float(value)


def _csv(columns: Iterable[str], rows: Iterable[Iterable[Cell]]) -> bytes:
    with io.StringIO(newline="") as text:
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(rows)
        return text.getvalue().encode()


@cache
def _files_digest(letter: str) -> str:
    """Return the SHA-256 of a paper's scenario files, and of the words of its items."""
    paper, digest = SOURCES[letter], hashlib.sha256()
    for file in (*paper.scenarios, paper.folder / "items.toml"):
        digest.update(file.name.encode())
        digest.update(file.read_bytes())
    return digest.hexdigest()
