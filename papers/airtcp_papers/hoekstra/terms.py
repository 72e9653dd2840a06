"""Paper H, section II: terms of the effective service time against packets, without load."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

from airtcp.results import Simulation
from airtcp.stats import Interval

from airtcp_papers.common.bench import Bench
from airtcp_papers.common.chart import ends
from airtcp_papers.common.described import Found, item
from airtcp_papers.common.item import Cell, Data, Value
from airtcp_papers.common.measure import changed, gap, mean, most, off, over_runs, words
from airtcp_papers.hoekstra.model import Parameters, cycle_time, effective_service_time
from airtcp_papers.hoekstra.testbed import service_of

_ENDLESS: Final[dict[str, Any]] = {
    "flows.client.application": {"kind": "bulk"},
    "run.warmup": "10 s",
    "run.duration": "200 s",
    "run.replications": 10,
}
#: Downloads this far apart never overlap.
_SELDOM: Final = {"distribution": "deterministic", "value": "10 s"}
_SIZES: Final = {"20 kB": 20e3, "200 kB": 200e3, "1 MB": 1e6}
#: One segment. Nearly all of its time is the dialogue, the handshake and the close: (6), (14) to
#: (18).
_SEGMENT: Final = {"1460 B": 1460.0}
_EVERY_ACK: Final[dict[str, Any]] = {"flows.client.tcp.delayed_ack": {"every": 1}}


@item("H.terms")
def terms(bench: Bench) -> Found:
    testbed = Parameters.testbed()
    with_beacons, without = _cycle(bench), _cycle(bench, mac={})
    beacons = _beacons_sent(bench)
    model = cycle_time(testbed)
    factor = effective_service_time(200_000, testbed).beacon_factor
    stretched = changed(with_beacons, lambda cycle_s: cycle_s / mean(without))
    sizes = _SEGMENT | _SIZES
    alone = {name: _alone(bench, name) for name in sizes}
    gaps = {name: gap(service_of(sizes[name], beacons=False), time) for name, time in alone.items()}
    undelayed = replace(testbed, segments_per_ack=1)
    each = 2.0 * cycle_time(undelayed)
    each_found = _cycle(bench, mac={}, **_EVERY_ACK)
    each_est = float(effective_service_time(_SIZES["1 MB"], undelayed).est_s)
    each_alone = _alone(bench, "1 MB", **_EVERY_ACK)
    told: list[tuple[str, float, Interval]] = [
        ("T_cycle (4), s", model, without),
        ("stretched by beacons (22)", factor, stretched),
        *(
            (f"EST (19), {name}, s", service_of(sizes[name], beacons=False), alone[name])
            for name in alone
        ),
        ("T_cycle, an ACK for each segment, s", each, each_found),
        ("EST, an ACK for each segment, 1 MB, s", each_est, each_alone),
    ]
    told.append(("beacons sent over those due on a busy channel", 1.0, beacons))
    rows: list[list[Cell]] = [[name, number, *ends(ours)] for name, number, ours in told]
    values: dict[str, Value] = {
        "cycle_off": gap(model, without),
        "beacons_off": gap(factor - 1.0, changed(stretched, lambda ratio: ratio - 1.0)),
        "alone_off": most(gaps[name] for name in _SIZES),
        "overhead_off": gaps["1460 B"],
        # (19) with X_file - X_MSS, as the text of (16) says (erratum H2), is a quarter of a cycle
        # less.
        "overhead_off_text": gap(
            service_of(_SEGMENT["1460 B"], beacons=False) - model / 4.0, alone["1460 B"]
        ),
        "undelayed_off": gap(each, each_found),
        "undelayed_alone_off": gap(each_est, each_alone),
        "alone_off_large": gaps["1 MB"],
        "beacons_late": off(beacons),
    }
    return Found(
        data=Data(["term", "model", "simulation", "low", "high"], rows),
        values=values,
        told={
            "each": "; ".join(
                f"{name}: {number:.5g}, here {words(ours)}" for name, number, ours in told
            )
        },
    )


def _cycle(bench: Bench, **changes: Any) -> Interval:
    """Return the time of two full segments and their TCP ACK in an endless download, seconds."""
    simulation = bench.simulate("downloads", {**_ENDLESS, **changes}, quick={})
    bits = 2.0 * Parameters.testbed().mss_bits
    return changed(simulation.metrics["goodput_bps"], lambda goodput: bits / goodput)


def _beacons_sent(bench: Bench) -> Interval:
    """Return the beacons of an endless download over those that the nominal interval has due."""
    scenario = bench.scenario("downloads", _ENDLESS, {})
    beacon = scenario.mac.beacon
    assert beacon is not None, "the test bed has beacons"
    due = scenario.run.duration_ns / beacon.interval_ns
    simulation = bench.simulate("downloads", _ENDLESS, quick={})
    return over_runs(simulation, lambda answer: answer["counts"]["beacons"] / due)


def _alone(bench: Bench, size: str, **changes: Any) -> Interval:
    """Return the mean time of downloads without beacons that never overlap, seconds."""
    simulation: Simulation = bench.simulate(
        "downloads",
        {
            "mac": {},
            "flows.client.application.size": {"distribution": "deterministic", "value": size},
            "flows.client.application.interarrival": _SELDOM,
            **changes,
        },
        quick={},
    )
    return simulation.metrics["transfer_time_s"]
