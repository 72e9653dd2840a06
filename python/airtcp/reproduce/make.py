"""Makes items and writes them: picture, data, record. What is there already is not made again.

An item's record (FIG.json) is written last, so that an item with a record is whole. It carries a
fingerprint of all that the item depends on: version, the code that its module leads to, its paper's
scenario files, the core, seed, replications, and whether the run was quick. Knows no figure and no
page.
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

from airtcp._version import __version__
from airtcp.exceptions import AirtcpError, OutputError, QuestionError
from airtcp.files import prepare, read_text, write_files
from airtcp.present import drawing
from airtcp.reproduce.bench import STORE, Bench, Settings
from airtcp.reproduce.catalogue import SOURCES
from airtcp.reproduce.claims import is_firm, load_claims
from airtcp.reproduce.item import Cell, Item, Outcome, Value
from airtcp.reproduce.runs import keep
from airtcp.results import canonical_json
from airtcp.results.store import code_digest, core_digest
from airtcp.stats import Interval

#: The size of a record.
_MOST_BYTES: Final = 2**28
#: An item with a claim that is not firm is made again with twice, four, ... as many replications.
_TIMES: Final = (1, 2, 4, 8, 16)
#: A quick run does so once, with four times as many, which halve the intervals.
_QUICK_TIMES: Final = (1, 4)
#: It does so where the first took no more events than this: six seconds of CPU time.
_CHEAP_EVENTS: Final = 60_000_000

#: One record as it lies on disk.
Record = dict[str, Any]


class Progress(Protocol):
    """Who wants to hear how far the work is."""

    def begin(self, item: Item) -> None:
        """An item is begun."""

    def run(self, fraction: float) -> None:
        """A simulation of the item has come so far, 0 to 1."""

    def end(self, item: Item, how: str) -> None:
        """An item has ended: "made", "kept", "failed" or "not made"."""


@dataclass(frozen=True, slots=True)
class Made:
    """What became of an item: "made", "kept" (it was there), "failed" or "not made".

    What is not made needs what this machine does not have, such as a testbed; then as after a
    failure there is a reason.
    """

    item: Item
    how: str
    reason: str | None = None


def make(
    items: Iterable[Item], settings: Settings, out: Path, progress: Progress | None = None
) -> list[Made]:
    """Make items in the folder `out`, one after the other.

    An item whose model or simulation fails does not keep the others from being made. Raises
    OutputError if something cannot be written, and KeyboardInterrupt; what ended before is whole.
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
    """The hash of all that an item's numbers and picture depend on."""
    parts = [
        item.name,
        __version__,
        code_digest(item.make.__module__),
        code_digest(__name__, follow=()),
        _scenarios_digest(_folder(item)),
        core_digest(),
        settings.quick,
        settings.seed,
        settings.replications,
        settings.times,
    ]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def record_of(item: Item, out: Path) -> Record | None:
    """The record of an item in the folder `out`; None if it was never made there.

    Raises OutputError if it is there and cannot be read.
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
    """A value as a record keeps it, as it was."""
    return Interval(**kept) if isinstance(kept, dict) else float(kept)


def _decided(item: Item, settings: Settings, out: Path, progress: Progress | None) -> Made:
    """Makes an item, with more replications while a claim of it is not firm.

    Not where replications are given, and in a quick run once, if the item is cheap. An item that
    has more is kept as it is.
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
    """Says whether a quick run can afford to make an item that was made several times as often."""
    record = record_of(item, out)
    return record is not None and record["events"] <= _CHEAP_EVENTS


def _is_firm(item: Item, out: Path) -> bool:
    """Says whether all claims of an item that was made are firm."""
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
        folder=_folder(item),
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


def _folder(item: Item) -> Path:
    """Where the scenario files of an item's paper are."""
    return Path(__file__).parent / SOURCES[item.paper].package


@cache
def _scenarios_digest(folder: Path) -> str:
    """SHA-256 of the scenario files in a folder."""
    digest = hashlib.sha256()
    for file in sorted(folder.glob("*.toml")):
        digest.update(file.name.encode())
        digest.update(file.read_bytes())
    return digest.hexdigest()
