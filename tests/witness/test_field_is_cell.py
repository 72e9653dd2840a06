"""A medium of several cells acts like that of one cell if all nodes receive equal powers.

Rust tests compare twelve scenarios of saturated stations, also exchange by exchange
(`crates/wlan/tests/field/saturated.rs`); these are eight with TCP. Cells that all hear each other
use the medium of one cell unless powers are given: five of these scenarios.
"""

import math

import airtcp
import pytest
from airtcp.scenario import Scenario, loads
from airtcp.stats import Interval
from bases import BULK, reading
from bases import cell as one_cell

WEB = reading("200 kB", "200 ms")
LINUX = 'tcp = { preset = "linux" }'

#: The standard; for each cell its groups of stations (count, rate, direction, application, TCP);
#: and lines of `[mac]`.
Case = tuple[str, list[list[tuple[int, str, str, str, str]]], str]
CASES: dict[str, Case] = {
    "b-downloads": ("802.11b", [[(5, "", "download", BULK, "")]], ""),
    "g-uploads": ("802.11g", [[(5, "", "upload", BULK, "")]], ""),
    "a-both": ("802.11a", [[(4, "", "both", BULK, "")]], ""),
    "n-downloads": ("802.11n", [[(5, "mcs = 5", "download", BULK, LINUX)]], ""),
    "ac-uploads": ("802.11ac", [[(5, "mcs = 5", "upload", BULK, LINUX)]], ""),
    "ax-two-rates": (
        "802.11ax",
        [[(4, "mcs = 7", "download", BULK, LINUX), (3, "mcs = 3", "upload", BULK, LINUX)]],
        "",
    ),
    "n-rts": ("802.11n", [[(6, "mcs = 4", "upload", BULK, "")]], 'rts_threshold = "0 B"'),
    "g-web": ("802.11g", [[(10, "", "download", WEB, "")]], ""),
}


def scenario(case: Case, *, field: bool) -> Scenario:
    """Return a case; as a `field` its powers are given, so each station senses on its own.

    In a single cell colliding senders hear no preamble, and wait DIFS after a collision.
    """
    standard, cells, mac = case
    names = [f"c{cell}" for cell in range(len(cells))]
    groups = {
        f"s{at}{of}": (at, one) for at, all_ in enumerate(cells) for of, one in enumerate(all_)
    }
    lines = ["[phy]", f'standard = "{standard}"', "[mac]", mac]
    if len(cells) == 1:
        lines += ["[mac.rules]", 'after_collision = "difs"']
    if field:
        stations = [f"{name}/{at}" for name, (_, one) in groups.items() for at in range(one[0])]
        nodes = [*names, *stations]
        rows = [f'["{one}", "{other}", -50]' for one in nodes for other in nodes if one < other]
        lines += ["[air]", f"received = [{', '.join(rows)}]"]
    elif len(cells) > 1:
        rows = [f'["{one}", "{other}"]' for one in names for other in names if one < other]
        lines += ["[air]", f"heard = [{', '.join(rows)}]"]
    lines += [f"[cells.{name}]" for name in names]
    for name, (at, (count, rate, direction, application, tcp)) in groups.items():
        lines += ["[[stations]]", f'name = "{name}"', f"count = {count}", rate, f'cell = "c{at}"']
        lines += ["[[flows]]", f'stations = "{name}"', f'direction = "{direction}"']
        lines += [f"application = {application}", tcp]
    lines += ["[run]", 'warmup = "2 s"', 'duration = "60 s"', "replications = 32"]
    found = loads("\n".join(lines))
    assert (found.air is None) == (not field and len(cells) == 1)
    return found


def apart(one: Interval, other: Interval) -> tuple[float, float]:
    """Return how far `other` lies above `one`, and the half width of the difference."""
    return other.mean - one.mean, math.hypot(one.half_width or 0.0, other.half_width or 0.0)


@pytest.mark.verify
@pytest.mark.timeout(600)
@pytest.mark.parametrize("name", CASES)
def test_where_all_hear_all_a_field_is_a_cell(name: str) -> None:
    cell, field = (
        airtcp.simulate(scenario(CASES[name], field=is_field), seed=seed).simulation
        for is_field, seed in ((False, 1), (True, 2))
    )

    goodput = cell.metrics["goodput_bps"]
    moved, width = apart(goodput, field.metrics["goodput_bps"])
    collide = "collision_probability"
    more, chance = apart(cell.metrics[collide], field.metrics[collide])
    print(f"{name}: goodput {100 * moved / goodput.mean:+.2f} %, collisions {more:+.4f}")
    assert abs(moved) <= max(0.01 * (goodput.mean or 0.0), width)
    assert abs(more) <= max(0.003, chance)


def test_a_collision_counts_for_all_that_collide() -> None:
    """Not only for the later ones, nor as an unexplained loss: no other frames are lost here."""
    case = CASES["g-uploads"]
    short = {"run.duration": "5 s", "run.replications": 2}
    cell, field = (
        airtcp.simulate(scenario(case, field=field).vary(short)).simulation
        for field in (False, True)
    )

    of_field = field.metrics["collision_probability"].mean
    assert of_field == pytest.approx(cell.metrics["collision_probability"].mean, rel=0.1)
    assert of_field == pytest.approx(field.metrics["failed_ppdu_ratio"].mean)
    assert field.cells["c0"].failures.total == pytest.approx(of_field, rel=0.001)


def test_two_nodes_in_a_field_are_a_cell_however_mpdus_are_delivered() -> None:
    """The access point and a station: with no third node, both know all about a collision."""
    path_loss = '[air]\npath_loss = { at_1m = "40 dB", exponent = 3 }'
    acks = {}
    for delivery in ("ppdu", "mpdu"):
        rules = f'[mac]\nrules = {{ preset = "ns-3", delivery = "{delivery}" }}\n'
        alone, apart = (
            airtcp.simulate(
                loads(
                    one_cell(
                        standard="802.11ax",
                        phy="mcs = 3",
                        tables=rules + air,
                        group=place,
                        flow=LINUX,
                        duration="3 s",
                    )
                )
            ).simulation.runs
            for air, place in (("", ""), (path_loss, 'distance = "3 m"'))
        )
        for name in ("goodput_bps", "rtt_s", "mpdus_per_ppdu_ap", "mpdus_per_ack_ppdu_stations"):
            assert [run.answer["metrics"][name] for run in alone] == [
                run.answer["metrics"][name] for run in apart
            ]
        acks[delivery] = alone[0].answer["metrics"]["mpdus_per_ack_ppdu_stations"]
    # The first TCP ACK finds the medium busy and draws a backoff, during which more ACKs join it.
    assert acks["mpdu"] > acks["ppdu"]


#: Cells that all hear each other.
SHARED: dict[str, Case] = {
    "a-downloads": ("802.11a", 3 * [[(3, "", "download", BULK, "")]], ""),
    "g-both": ("802.11g", [[(3, "", "download", BULK, "")], [(2, "", "upload", BULK, "")]], ""),
    "ax-two-rates": (
        "802.11ax",
        [[(3, "mcs = 7", "download", BULK, LINUX)], [(2, "mcs = 3", "upload", BULK, LINUX)]],
        "",
    ),
    "n-rts": ("802.11n", 2 * [[(4, "mcs = 4", "upload", BULK, "")]], 'rts_threshold = "0 B"'),
    "a-web": ("802.11a", 2 * [[(6, "", "download", WEB, "")]], ""),
}


@pytest.mark.verify
@pytest.mark.timeout(600)
@pytest.mark.parametrize("name", SHARED)
def test_cells_that_hear_each_other_all_are_a_field_in_law(name: str) -> None:
    shared, field = (
        airtcp.simulate(scenario(SHARED[name], field=is_field), seed=seed).simulation
        for is_field, seed in ((False, 1), (True, 2))
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
