"""Make the tables of paper-h.md: transfer times, paper H's model, and the causes of differences.

The scenario is that of `airtcp reproduce H`. Seeds are fixed, so every run gives the
same tables.

    .venv/bin/python docs/make_paper_h.py         # all tables, some minutes
    .venv/bin/python docs/make_paper_h.py cycle   # one of them
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import airtcp_papers
import tables
from airtcp import simulate
from airtcp.results import Simulation
from airtcp.stats import Interval
from airtcp_papers.common.bench import Bench, Settings
from airtcp_papers.hoekstra.model import Parameters, cycle_time, effective_service_time
from airtcp_papers.hoekstra.standards import PHYS, parameters_of
from airtcp_papers.hoekstra.testbed import (
    GAPS_S,
    LAWS,
    STATED,
    Point,
    gaps,
    observe,
    service_s,
)

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "papers" / "paper-h.md"
FOLDER = Path(airtcp_papers.__file__).parent / "hoekstra"

#: The deviations from the scenario file, one at a time.
VARIATIONS: Mapping[str, Mapping[str, Any]] = {
    "as in the scenario": {},
    "no beacons, here and in the model": {"mac": {}},
    "initial window of 3 segments (RFC 5681)": {"flows.client.tcp.initial_window": 3},
    "initial window of 1 segment (RFC 2001)": {"flows.client.tcp.initial_window": 1},
    "the same, delayed-ACK timer of 40 ms": {
        "flows.client.tcp.initial_window": 1,
        "flows.client.tcp.delayed_ack": {"every": 2, "timeout": "40 ms"},
    },
    "a backoff before every frame": {"mac.rules": {"immediate_access": False}},
    "no dialogue": {"flows.client.application.control": False},
}
#: Seconds for the cycles of an endless download.
_ENDLESS = {
    "flows.client.application": {"kind": "bulk"},
    "run.warmup": "10 s",
    "run.duration": "200 s",
    "run.replications": 10,
}


@cache
def _bench(*, quick: bool = False) -> Bench:
    store = tempfile.mkdtemp(prefix="airtcp-paper-h-")
    return Bench(
        FOLDER, Path(store), Settings(quick=quick, replications=5 if quick else None, threads=1)
    )


def point(law: str, gap_s: float) -> Point:
    """Return a size distribution at one load."""
    return observe(_bench(), law, gap_s)


def varied_point(law: str, variation: str) -> Point:
    """Return a size distribution at the fifth load with changes, as a quick run."""
    return observe(_bench(quick=True), law, gaps(law)[STATED], varied=VARIATIONS[variation])


def relative(one: Point, *, beacons: bool = True) -> Interval:
    """Return the mean transfer time relative to (29), minus one."""
    beta = service_s(one.law, beacons=beacons)
    model = beta / (1.0 - beta / one.gap_s)
    found = one.adjusted
    assert found.mean is not None
    assert found.low is not None
    assert found.high is not None
    return Interval(found.mean / model - 1, found.low / model - 1, found.high / model - 1, found.n)


def means_table() -> str:
    """Return the deviation of means from (29): eight loads, four size distributions."""
    head = ["1/lambda of 200 kB", "rho_eff", "(29)"]
    head += [law for law in LAWS if law != "deterministic"]
    head += ["1/lambda of 1 MB", "rho_eff", "(29)", "deterministic"]
    rows = []
    for number in range(len(GAPS_S[200e3])):
        cells = []
        for laws in (("exponential", "hyperexponential", "Pareto-2"), ("deterministic",)):
            points = [point(law, gaps(law)[number]) for law in laws]
            first = points[0]
            cells += [f"{first.gap_s:.2f} s", f"{first.rho:.3f}", f"{first.model_s:.3f} s"]
            cells += [_percent(relative(one)) for one in points]
        rows.append(cells)
    return tables.markdown(head, rows)


def variations_table() -> str:
    """Return the deviation of means from (29) at the fifth load, with one change at a time."""
    laws = ("exponential", "hyperexponential", "deterministic")
    rows = []
    for name in VARIATIONS:
        beacons = "no beacons" not in name
        rows.append(
            [
                name,
                *(_percent(relative(varied_point(law, name), beacons=beacons)) for law in laws),
            ]
        )
    return tables.markdown(["varied", *laws], rows)


@cache
def endless(beacons: bool = True) -> Simulation:
    """Return one endless download in the testbed."""
    changes = dict(_ENDLESS) if beacons else {**_ENDLESS, "mac": {}}
    return simulate(_bench().scenario("downloads", changes), threads=1).simulation


def cycle_s(simulation: Simulation) -> float:
    """Return the duration of two full segments and their TCP ACK."""
    goodput = simulation.metrics["goodput_bps"].mean
    assert goodput is not None
    return float(2 * Parameters.testbed().mss_bits / goodput)


def cycle_table() -> str:
    """Return the parts of the cycle (4), in the model and in the simulation."""
    testbed = Parameters.testbed()
    simulation = endless(beacons=False)
    found, model = cycle_s(simulation), cycle_time(testbed)
    exchanges = simulation.counts["mac_exchanges"]
    collisions = 3.0 * simulation.counts["collisions"] / exchanges
    longest = testbed.slot_s * testbed.cw_min
    cw = testbed.cw_min
    backoff = longest / 2 + longest * (4 * cw + 5) / (6 * (cw + 1))
    factor = cycle_s(endless()) / found
    service = effective_service_time(200_000, testbed)
    rows = [
        ["T_cycle (4)", f"{1e3 * model:.3f} ms", f"{1e3 * found:.3f} ms"],
        ["backoff in a cycle", f"{1e3 * backoff:.3f} ms", f"{1e3 * idle_s():.3f} ms"],
        ["collisions in a cycle", f"{1 / (cw + 1):.4f}", f"{collisions:.4f}"],
        ["stretched by beacons (22)", f"{service.beacon_factor:.4f}", f"{factor:.4f}"],
    ]
    return tables.markdown(["", "model", "simulation"], rows)


def idle_s() -> float:
    """Return the idle time of a cycle minus the spaces of three exchanges: backoff.

    It includes the colliders' delay beyond DIFS after a collision, 222 us in one of 19 cycles.
    """
    testbed = Parameters.testbed()
    simulation = endless(beacons=False)
    spaces = 3.0 * (testbed.difs_s + testbed.sifs_s + 2.0 * testbed.propagation_s)
    return simulation.airtime["idle"] * cycle_s(simulation) - spaces


def cycles_table() -> str:
    """Return the cycle (4) in three standards, and (29) and the simulated time at a load of 0.9."""
    columns = []
    for standard in ("802.11a", "802.11b", "802.11g"):
        scenario = _bench().scenario("downloads", PHYS[standard])
        stated, shorter = (parameters_of(scenario, eifs=eifs) for eifs in (True, False))
        changes = {key: value for key, value in PHYS[standard].items() if "mac" not in key}
        changes |= {**_ENDLESS, "mac": {}}
        simulation = simulate(_bench().scenario("downloads", changes), threads=1).simulation
        found, counts = cycle_s(simulation), simulation.counts
        service, less = (effective_service_time(200_000, one) for one in (stated, shorter))
        beta_s = (less.est_s + less.cycles * (found - less.cycle_s)) * less.beacon_factor
        load = 0.9 * beta_s / service.est_with_beacons_s
        columns.append(
            [
                standard,
                *(f"{1e3 * one:.3f} ms" for one in (service.cycle_s, less.cycle_s, found)),
                f"{1 / (stated.cw_min + 1):.4f}",
                f"{3.0 * counts['collisions'] / counts['mac_exchanges']:.4f}",
                f"{1e3 * beta_s / (1.0 - load):.0f} ms",
            ]
        )
    names = ["", "T_cycle (4)", "the same, without EIFS", "simulated cycle", "collisions in (4)"]
    names += ["simulated collisions", "(29) with the simulated cycle"]
    head, *rows = map(list, zip(names, *columns, strict=True))
    return tables.markdown(head, rows)


def _percent(interval: Interval) -> str:
    assert interval.mean is not None
    assert interval.half_width is not None
    return f"{100 * interval.mean:+.1f} ± {100 * interval.half_width:.1f} %"


TABLES: Mapping[str, Callable[[], str]] = {
    "means": means_table,
    "cycle": cycle_table,
    "cycles": cycles_table,
    "variations": variations_table,
}


if __name__ == "__main__":
    tables.remake(PAGE, TABLES, sys.argv[1:])
