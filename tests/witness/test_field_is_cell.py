"""The medium of several cells is that of one, in law, if stations hear each other at one power.

Saturated stations are compared in Rust (`crates/wlan/tests/field/saturated.rs`), twelve scenarios,
also exchange by exchange; here are eight with TCP. Cells that hear each other all are one medium of
the kind of one cell unless powers are known: five of these.
"""

import math

import airtcp
import pytest
from airtcp.results import Simulation
from airtcp.scenario import Scenario, loads
from airtcp.stats import Interval
from bases import BULK, reading

WEB = reading("200 kB", "200 ms")
LINUX = 'tcp = { preset = "linux" }'

#: Standard, groups with counts and rates, flows, and lines of `[mac]`.
Case = tuple[str, list[tuple[str, int, str]], list[tuple[str, str, str, str]], str]
CASES: dict[str, Case] = {
    "b-downloads": ("802.11b", [("s", 5, "")], [("s", "download", BULK, "")], ""),
    "g-uploads": ("802.11g", [("s", 5, "")], [("s", "upload", BULK, "")], ""),
    "a-both": ("802.11a", [("s", 4, "")], [("s", "both", BULK, "")], ""),
    "n-downloads": ("802.11n", [("s", 5, "mcs = 5")], [("s", "download", BULK, LINUX)], ""),
    "ac-uploads": ("802.11ac", [("s", 5, "mcs = 5")], [("s", "upload", BULK, LINUX)], ""),
    "ax-two-rates": (
        "802.11ax",
        [("s", 4, "mcs = 7"), ("p", 3, "mcs = 3")],
        [("s", "download", BULK, LINUX), ("p", "upload", BULK, LINUX)],
        "",
    ),
    "n-rts": (
        "802.11n",
        [("s", 6, "mcs = 4")],
        [("s", "upload", BULK, "")],
        'rts_threshold = "0 B"',
    ),
    "g-web": ("802.11g", [("s", 10, "")], [("s", "download", WEB, "")], ""),
}


def scenario(case: Case, *, field: bool) -> Scenario:
    """A case; as a `field` its powers are written down, so that each station senses for itself.

    Who begins with another knows of no preamble, and waits DIFS after a collision.
    """
    standard, groups, flows, mac = case
    lines = ["[phy]", f'standard = "{standard}"', "[mac]", mac]
    lines += ["[mac.rules]", 'after_collision = "difs"']
    if field:
        nodes = ["ap", *(f"{name}/{one}" for name, count, _ in groups for one in range(count))]
        rows = [f'["{one}", "{other}", -50]' for one in nodes for other in nodes if one != other]
        lines += ["[air]", f"received = [{', '.join(rows)}]", "[cells.ap]"]
    for name, count, rate in groups:
        lines += ["[[stations]]", f'name = "{name}"', f"count = {count}", rate]
        lines += ['cell = "ap"'] if field else []
    for name, direction, application, tcp in flows:
        lines += ["[[flows]]", f'stations = "{name}"', f'direction = "{direction}"']
        lines += [f"application = {application}", tcp]
    lines += ["[run]", 'warmup = "2 s"', 'duration = "60 s"', "replications = 16"]
    return loads("\n".join(lines))


def both(case: Case) -> tuple[Simulation, Simulation]:
    of_cell, of_field = (scenario(case, field=field) for field in (False, True))
    assert of_cell.air is None
    assert of_field.air is not None
    return airtcp.simulate(of_cell, seed=1).simulation, airtcp.simulate(of_field, seed=2).simulation


def apart(one: Interval, other: Interval) -> tuple[float, float]:
    """The difference by which `other` lies above `one`, and its half width."""
    return other.mean - one.mean, math.hypot(one.half_width or 0.0, other.half_width or 0.0)


@pytest.mark.verify
@pytest.mark.timeout(600)
@pytest.mark.parametrize("name", CASES)
def test_where_all_hear_all_a_field_is_a_cell(name: str) -> None:
    cell, field = both(CASES[name])

    goodput = cell.metrics["goodput_bps"]
    moved, width = apart(goodput, field.metrics["goodput_bps"])
    collide = "collision_probability"
    more, chance = apart(cell.metrics[collide], field.metrics[collide])
    print(f"{name}: goodput {100 * moved / goodput.mean:+.2f} %, collisions {more:+.4f}")
    assert abs(moved) <= max(0.01 * (goodput.mean or 0.0), width)
    assert abs(more) <= max(0.003, chance)


def test_a_collision_counts_for_all_that_collide() -> None:
    """Not for the later ones alone, nor as a loss without a cause: frames have no other here."""
    case = CASES["g-uploads"]
    short = {"run.duration": "5 s", "run.replications": 2}
    cell, field = (
        airtcp.simulate(scenario(case, field=field).vary(short)).simulation
        for field in (False, True)
    )

    of_field = field.metrics["collision_probability"].mean
    assert of_field == pytest.approx(cell.metrics["collision_probability"].mean, rel=0.1)
    assert of_field == pytest.approx(field.metrics["failed_ppdu_ratio"].mean)
    assert field.cells["ap"].failures.total == pytest.approx(of_field, rel=0.001)


#: Standard, the groups and flows of cells that hear each other all, and lines of `[mac]`.
Cells = tuple[str, list[tuple[int, str, str, str, str]], str]
SHARED: dict[str, Cells] = {
    "a-downloads": ("802.11a", 3 * [(3, "", "download", BULK, "")], ""),
    "g-both": ("802.11g", [(3, "", "download", BULK, ""), (2, "", "upload", BULK, "")], ""),
    "ax-two-rates": (
        "802.11ax",
        [(3, "mcs = 7", "download", BULK, LINUX), (2, "mcs = 3", "upload", BULK, LINUX)],
        "",
    ),
    "n-rts": ("802.11n", 2 * [(4, "mcs = 4", "upload", BULK, "")], 'rts_threshold = "0 B"'),
    "a-web": ("802.11a", 2 * [(6, "", "download", WEB, "")], ""),
}


def cells(case: Cells, *, field: bool) -> Scenario:
    """A case; as a `field` with its powers written down."""
    standard, each, mac = case
    lines = ["[phy]", f'standard = "{standard}"', "[mac]", mac, "[air]"]
    names = [f"c{cell}" for cell in range(len(each))]
    if field:
        nodes = [
            *names,
            *(f"s{cell}/{one}" for cell, (count, *_) in enumerate(each) for one in range(count)),
        ]
        rows = [f'["{one}", "{other}", -50]' for one in nodes for other in nodes if one < other]
        lines += [f"received = [{', '.join(rows)}]"]
    else:
        rows = [f'["{one}", "{other}"]' for one in names for other in names if one < other]
        lines += [f"heard = [{', '.join(rows)}]"]
    lines += [f"[cells.{name}]" for name in names]
    for cell, (count, rate, direction, application, tcp) in enumerate(each):
        lines += ["[[stations]]", f'name = "s{cell}"', f"count = {count}", rate]
        lines += [f'cell = "c{cell}"', "[[flows]]", f'stations = "s{cell}"']
        lines += [f'direction = "{direction}"', f"application = {application}", tcp]
    lines += ["[run]", 'warmup = "2 s"', 'duration = "60 s"', "replications = 16"]
    return loads("\n".join(lines))


@pytest.mark.verify
@pytest.mark.timeout(600)
@pytest.mark.parametrize("name", SHARED)
def test_cells_that_hear_each_other_all_are_a_field_in_law(name: str) -> None:
    shared, field = (
        airtcp.simulate(cells(SHARED[name], field=field), seed=seed).simulation
        for field, seed in ((False, 1), (True, 2))
    )

    more, chance = apart(*(one.metrics["collision_probability"] for one in (shared, field)))
    assert abs(more) <= max(0.003, chance)
    for cell, of_shared in shared.cells.items():
        of_field = field.cells[cell]
        moved, width = apart(of_shared.goodput_bps, of_field.goodput_bps)
        told = 100 * moved / (of_shared.goodput_bps.mean or math.nan)
        parts = ("own", "heard", "idle")
        between = [
            getattr(of_field.airtime, part) - getattr(of_shared.airtime, part) for part in parts
        ]
        print(f"{name}, {cell}: {told:+.2f} %, {more:+.4f}, {[round(one, 4) for one in between]}")
        assert abs(moved) <= max(0.01 * (of_shared.goodput_bps.mean or 0.0), width)
        assert all(abs(one) < 0.006 for one in between)
