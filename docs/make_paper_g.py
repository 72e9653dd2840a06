"""Make the tables of paper-g.md: what uploads gain from skipped ACKs, and what changes that.

The scenario is that of `airtcp reproduce G`. Seeds are fixed, so every run gives the
same tables.

    .venv/bin/python docs/make_paper_g.py
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import airtcp_papers
import tables
from airtcp import simulate
from airtcp.stats import Interval
from airtcp_papers.common.bench import Bench, Settings
from airtcp_papers.gopal.observed import Uploads, gain

ROOT = Path(__file__).parents[1]
# The rows of ns-2, and the code that reads them, are not in the package.
sys.path.insert(0, str(ROOT / "validation"))
from peers.references import VALIDATION, Rows, by_point, read  # noqa: E402

PAGE = ROOT / "docs" / "papers" / "paper-g.md"
FOLDER = Path(airtcp_papers.__file__).parent / "gopal"

TCP = "flows.node.tcp"
SKIPS = (0, 1, 2, 3, 4)
#: The paper's cases: transmissions of a frame, simultaneous uploads, MB of each.
CASES = [(limit, flows, megabytes) for limit in (1, 7) for flows in (1, 3) for megabytes in (1, 10)]
#: The deviations from the scenario file, one at a time.
VARIATIONS: Mapping[str, Mapping[str, Any]] = {
    "as in the scenario": {},
    "rules of RFC 5681": {f"{TCP}.rules": {"preset": "standard"}},
    "rules of RFC 5681, receive window of 10 segments": {
        f"{TCP}.rules": {"preset": "standard"},
        f"{TCP}.receive_window": {"segments": 10},
    },
    "rules of RFC 5681, receive window of 8 segments": {
        f"{TCP}.rules": {"preset": "standard"},
        f"{TCP}.receive_window": {"segments": 8},
    },
    "a loss halves FlightSize": {f"{TCP}.rules": {"preset": "ns-2", "loss_window": "flight-size"}},
    "any number of fast retransmits": {
        f"{TCP}.rules": {"preset": "ns-2", "fast_retransmit_once_per_window": False}
    },
    "NewReno": {f"{TCP}.variant": "newreno"},
    "SACK": {f"{TCP}.variant": "sack"},
    "least RTO of 0.2 s": {f"{TCP}.min_rto": "200 ms"},
    "threshold of 20 segments at first": {f"{TCP}.initial_ssthresh": {"segments": 20}},
    "MAC ACK at 2 Mb/s": {"phy.control_rate": "2 Mb/s"},
    "rules of the standard's MAC": {"mac.rules": {"preset": "standard"}},
    "wired delay of 15 ms": {
        "flows.node.path": [{"rate": "100 Mb/s", "delay": "15 ms", "queue": 50}]
    },
}


def polled(milliseconds: int, idle: int = 0) -> Mapping[str, Any]:
    """Return contention-free periods of limited length, each beacon, with some idle stations."""
    duration = f"{milliseconds} ms"
    changes: dict[str, Any] = {"mac.pcf": {"interval": "102.4 ms", "max_duration": duration}}
    if idle:
        node = {"name": "node", "count": 1, "queue": {"limit": 50}}
        changes["stations"] = [node, {"name": "idle", "count": idle}]
    return changes


#: Return the contention-free fraction of the time, and the number of idle polled stations.
POLLING: Mapping[str, Mapping[str, Any]] = {
    "never": {},
    "25 of 102.4 ms": polled(25),
    "50 of 102.4 ms": polled(50),
    "75 of 102.4 ms": polled(75),
    "100 of 102.4 ms": polled(100),
    "100 of 102.4 ms, 1 idle station": polled(100, 1),
    "100 of 102.4 ms, 9 idle stations": polled(100, 9),
    "100 of 102.4 ms, 19 idle stations": polled(100, 19),
}


@cache
def _bench() -> Bench:
    # Each simulation runs once, so no results are cached.
    return Bench(FOLDER, FOLDER, Settings(threads=1))


def run(
    skip: int,
    changes: Mapping[str, Any] | None = None,
    *,
    limit: int = 1,
    flows: int = 1,
    megabytes: int = 10,
) -> Uploads:
    """Return the uploads of a case of the paper, with changes."""
    varied = {
        "mac.short_retry_limit": limit,
        "stations.node.count": flows,
        "flows.node.application.size": f"{megabytes} MB",
        f"{TCP}.ack_skip": {"skip": skip, "after_segment": 50},
        **(changes or {}),
    }
    return Uploads(simulate(_bench().scenario("uploads", varied), threads=1).simulation, megabytes)


def skips_table() -> str:
    """Return goodput per flow in Mb/s and the finished fraction, by case and skipped ACKs."""
    rows = []
    for limit, flows, megabytes in CASES:
        case = f"{flows} x {megabytes} MB, {'no MAC retries' if limit == 1 else 'MAC retries'}"
        uploads = [run(skip, limit=limit, flows=flows, megabytes=megabytes) for skip in SKIPS]
        cells = []
        for one in uploads:
            share = one.finished().mean
            assert share is not None
            ends = "" if share == 1.0 else f" ({100 * share:.0f} %)"
            cells.append(tables.shown(one.goodputs()) + ends)
        rows.append([case, *cells])
    return tables.markdown(["uploads", *(f"skip {skip}" for skip in SKIPS)], rows)


def variations_table() -> str:
    """Return goodput, timeouts and the gain of skipping one ACK for one upload of 10 MB."""
    head = ["varied", "no retries, Mb/s", "timeouts", "gain", "retries, Mb/s", "timeouts", "gain"]
    rows = []
    for name, changes in VARIATIONS.items():
        cells = [name]
        for limit in (1, 7):
            none, one = (run(skip, changes, limit=limit) for skip in (0, 1))
            timeouts = none.timeouts().mean
            assert timeouts is not None
            cells += [tables.shown(none.goodputs()), f"{timeouts:.1f}", _percent(gain(one, none))]
        rows.append(cells)
    return tables.markdown(head, rows)


def polling_table() -> str:
    """Return goodput, timeouts and simultaneous transmissions for one 10 MB upload with polling."""
    head = [
        "polled", "no retries, Mb/s", "timeouts", "simultaneous sends", "retries, Mb/s",
        "simultaneous sends",
    ]  # fmt: skip
    rows = []
    for name, changes in POLLING.items():
        cells = [name]
        for limit in (1, 7):
            uploads = run(0, changes, limit=limit)
            counts = uploads.simulation.counts
            cells.append(tables.shown(uploads.goodputs()))
            if limit == 1:
                cells.append(tables.shown(uploads.timeouts(), 1))
            cells.append(f"{counts['simultaneous_sends'] / len(uploads.simulation.runs):.0f}")
        rows.append(cells)
    return tables.markdown(head, rows)


def peer(delay: str, skip: int, *, retries: bool) -> Uploads:
    """Return the uploads of an ns-2 row, as far as an unmodified ns-2 can skip ACKs."""
    changes = {
        # Uploaded packets have DSDV's header of 20 bytes, which is no payload; ACKs do not.
        f"{TCP}.mss": "1020 B",
        "flows.node.application.size": "10.2 MB",
        "flows.node.path": [{"rate": "100 Mb/s", "delay": delay, "queue": 50}],
        f"{TCP}.ack_skip": {"skip": skip, "after_segment": 0},
        "phy.cw_min": 30,
        "phy.cw_max": 1022,
    }
    return run(skip, changes, limit=7 if retries else 1)


def peer_rows(defaults: str) -> Rows:
    """Read the ns-2 points with the defaults of 2.35, or of 2002."""
    rows = by_point(read(VALIDATION / "ns2" / "uploads.csv"))
    return {
        point: metrics
        for point, metrics in rows.items()
        if point.settings.get("defaults", "2.35") == defaults
    }


def ns2_2002_table() -> str:
    """Return an upload's goodput and the gain of one skip in ns-2, with both sets of defaults."""
    head = ["upload", "ns-2", "skip 0, Mb/s", "skip 1, Mb/s", "gain"]
    rows = []
    for retries in ("off", "on"):
        for delay in ("2ms", "5ms", "15ms"):
            for defaults in ("2.35", "2002"):
                plain, skipping = (
                    metrics["goodput_bps"]
                    for point, metrics in peer_rows(defaults).items()
                    if (point.settings["retries"], point.settings["delay"]) == (retries, delay)
                )
                over = skipping.mean / plain.mean
                wide = over * math.hypot(*(one.half_width / one.mean for one in (plain, skipping)))
                rows.append(
                    [
                        f"{'MAC retries' if retries == 'on' else 'no MAC retries'}, "
                        f"{delay.replace('ms', ' ms')}",
                        "2.35" if defaults == "2.35" else "as of 2002",
                        *(
                            f"{one.mean / 1e6:.3f} ± {one.half_width / 1e6:.3f}"
                            for one in (plain, skipping)
                        ),
                        f"{100 * (over - 1):+.0f} ± {100 * wide:.0f} %",
                    ]
                )
    return tables.markdown(head, rows)


def ns2_table() -> str:
    """Return goodput and timeouts of a 10 MB upload over a wired link, by ns-2 and airtcp."""
    head = ["upload", "theirs, Mb/s", "ours, Mb/s", "difference", "timeouts, theirs", "ours"]
    rows = []
    for point, metrics in peer_rows("2.35").items():
        given = point.settings
        retries = given["retries"] == "on"
        delay = given["delay"].replace("ms", " ms")
        uploads = peer(delay, int(given["skip"]), retries=retries)
        theirs, ours = metrics["goodput_bps"], uploads.goodputs()
        timeouts = metrics["tcp_timeouts"]
        assert ours.mean is not None
        rows.append(
            [
                f"{'MAC retries' if retries else 'no MAC retries'}, {delay}, skip {given['skip']}",
                f"{theirs.mean / 1e6:.3f} ± {theirs.half_width / 1e6:.3f}",
                tables.shown(ours),
                f"{100 * (1e6 * ours.mean / theirs.mean - 1):+.1f} %",
                f"{timeouts.mean:.1f} ± {timeouts.half_width:.1f}",
                tables.shown(uploads.timeouts(), 1),
            ]
        )
    return tables.markdown(head, rows)


def _percent(interval: Interval) -> str:
    assert interval.mean is not None
    assert interval.half_width is not None
    return f"{100 * interval.mean:+.0f} ± {100 * interval.half_width:.0f} %"


TABLES: Mapping[str, Callable[[], str]] = {
    "skips": skips_table,
    "variations": variations_table,
    "polling": polling_table,
    "ns-2": ns2_table,
    "ns-2-2002": ns2_2002_table,
}


if __name__ == "__main__":
    tables.remake(PAGE, TABLES, sys.argv[1:])
