"""Several cells: who hears whom by names, powers or positions, and rates from signals."""

from pathlib import Path
from typing import Any

import pytest
from airtcp import channels
from airtcp.error_rates import Receiver
from airtcp.exceptions import ScenarioError
from airtcp.scenario import Scenario, load, loads, resolve

VALID = Path(__file__).parents[1] / "scenarios" / "valid"


def scenario(
    groups: dict[str, dict[str, Any]],
    *,
    standard: str = "802.11a",
    phy: dict[str, Any] | None = None,
    **tables: Any,
) -> Scenario:
    """Return a scenario with endless downloads by each group."""
    bulk = {"kind": "bulk"}
    own = {
        "phy": {"standard": standard, **(phy or {})},
        "stations": [{"name": name, "count": 1, **keys} for name, keys in groups.items()],
        "flows": [{"stations": n, "direction": "download", "application": bulk} for n in groups],
    }
    return resolve(own | tables)


def hears(of: Scenario) -> set[tuple[str, str]]:
    """Return the ordered pairs of access points and groups whose second member hears the first."""
    names = [cell.name for cell in of.cells]
    nodes = dict(zip(names, of.air.classes, strict=False))
    place = len(names)
    for group in of.stations:
        nodes[group.name] = of.air.classes[place]
        place += group.count
    return {
        (one, other)
        for one, row in nodes.items()
        for other, column in nodes.items()
        if one != other and of.air.received_dbm[row][column] is not None
    }


def both_ways(*pairs: tuple[str, str]) -> set[tuple[str, str]]:
    return {way for one, other in pairs for way in ((one, other), (other, one))}


def test_where_all_hear_all_the_resolved_form_says_nothing_of_cells() -> None:
    plain = scenario({"a": {}}, ap={"queue": {"limit": 50}})
    named = scenario({"a": {"cell": "hall"}}, cells={"hall": {"ap": {"queue": {"limit": 50}}}})
    assert plain.to_dict() == named.to_dict()
    assert not {"cells", "air"} & plain.to_dict().keys()
    assert not {"cell", "needs"} & plain.to_dict()["stations"][0].keys()


def test_only_paired_cells_hear_each_other() -> None:
    row = scenario(
        {"x": {"cell": "a"}, "y": {"cell": "b"}, "z": {"cell": "c"}},
        cells={"a": {}, "b": {}, "c": {}},
        air={"heard": [["a", "b"], ["b", "c"]]},
    )
    left = [("a", "x"), ("a", "b"), ("a", "y"), ("x", "b"), ("x", "y")]
    right = [("c", "z"), ("c", "b"), ("c", "y"), ("z", "b"), ("z", "y")]
    assert hears(row) == both_ways(*left, *right, ("b", "y"))
    assert [group.cell for group in row.stations] == [0, 1, 2]
    assert not row.air.powers_known


@pytest.mark.parametrize(
    ("left", "right", "hear_near"),
    # "near" excludes no group, but both groups exclude it. One exclusion separates two groups.
    [({"hears": []}, {"hears": []}, []), ({"hears": ["near"]}, {}, ["left", "right"])],
)
def test_groups_that_leave_each_other_out_are_hidden(
    left: dict[str, Any], right: dict[str, Any], hear_near: list[str]
) -> None:
    of_ap = [("ap", name) for name in ("left", "right", "near")]
    found = hears(scenario({"left": left, "right": right, "near": {}}))
    assert found == both_ways(*of_ap, *((name, "near") for name in hear_near))


def test_cells_on_other_channels_do_not_hear_each_other() -> None:
    groups = {"x": {"cell": "a"}, "y": {"cell": "b"}}
    cells = {"a": {"channel": 36}, "b": {"channel": 40}}
    apart = scenario(groups, cells=cells)
    together = scenario(groups, standard="802.11ac", cells=cells, air={"heard": [["a", "b"]]})
    assert hears(apart) == both_ways(("a", "x"), ("b", "y"))
    # At 80 MHz both numbers belong to one channel.
    assert len(hears(together)) == 12


CHANNELS = [
    (2.4, 20, 1, 6, False),
    (2.4, 20, 1, 5, None),  # 20 MHz apart, 25 MHz are needed
    (2.4, 20, 13, 14, None),
    (2.4, 40, 1, 9, None),
    (2.4, 40, 1, 10, False),
    (5, 20, 64, 100, False),
    (5, 40, 36, 40, True),
    (5, 40, 40, 44, False),
    (5, 80, 36, 48, True),
    (5, 160, 36, 64, True),
    (6, 320, 1, 61, True),
    (6, 320, 61, 65, False),
]


def test_channels_share_all_or_nothing_or_a_part() -> None:
    for band, width, one, other, shared in CHANNELS:
        assert channels.share(band, width, one, other) is shared, (band, width, one, other)
        assert channels.share(band, width, other, one) is shared, (band, width, other, one)
    # IEEE 802.11-2020, Table E-4: 149 to 177 hold two of 80 MHz; 132 to 144 hold none of 160 MHz.
    assert channels.channels(5, 80)[-4:] == [165, 169, 173, 177]
    wide = [*range(36, 65, 4), *range(100, 129, 4), *range(149, 178, 4)]
    assert channels.channels(5, 160) == wide
    assert channels.channels(6, 20)[:2] == [1, 5]


def test_received_powers_go_both_ways_unless_both_are_written() -> None:
    rows = [["ap", "x", -50], ["ap", "y", -60], ["y", "ap", -70], ["x", "y", -90]]
    air = scenario({"x": {}, "y": {}}, air={"received": rows}).air
    assert air.received_dbm == ((None, -50, -60), (-50, None, -90), (-70, -90, None))
    assert air.powers_known


THREE = (VALID / "minimal.toml").read_text().replace("laptop", "x").replace("= 1", "= 3")


def test_a_row_of_one_station_parts_it_from_its_group(tmp_path: Path) -> None:
    (tmp_path / "powers.csv").write_text("from,to,dbm\nap,x/1,-60\nap,x,-50\nx,x,-40\n")
    of = loads(THREE + '[air]\nreceived = "powers.csv"\n', base=tmp_path)
    assert of.air.classes == (0, 1, 2, 3)
    assert of.air.received_dbm[0] == (None, -50.0, -60.0, -50.0)
    assert of.air.received_dbm[1] == (-50.0, -40.0, -40.0, -40.0)
    # In any order; and the printed text gives the same scenario.
    rows = [["ap", "x", -50], ["x", "x", -40], ["ap", "x/1", -60]]
    assert scenario({"x": {"count": 3}}, air={"received": rows}).air == of.air
    again = tmp_path / "again.toml"
    again.write_text(of.to_toml().replace(str(tmp_path), "."))
    assert load(again) == of


FAULTS = [
    ("z,x,-70", 'there is no node "z"; allowed: a cell'),
    ("x/3,ap,-70", 'there is no node "x/3"'),
    ("ap,x/1,-6o", '"-6o" is not a received power; allowed: dBm such as -50'),
    ("ap,x/1,", '"" is not a received power'),
    ("ap,x/1", "has 2 fields; allowed: as many as the header line, with from, to, dbm"),
    ("ap,x/1,-60,-61", "has 4 fields; allowed: as many as the head"),
    ("ap,x,-51", 'repeats the power of "ap" at "x"; allowed: once'),
    ("ap,ap,-51", 'gives the power of "ap" at itself; allowed: two nodes, or a group'),
    ("x/1,x/1,-51", 'gives the power of "x/1" at itself'),
]


def test_a_fault_in_powers_is_told_with_its_place(tmp_path: Path) -> None:
    file = tmp_path / "powers.csv"
    files = [(f"from,to,dbm\nap,x,-50\n\n{line}\n", f", line 4: {said}") for line, said in FAULTS]
    for content, said in [*files, ("", " is empty; allowed: from, to, dbm")]:
        file.write_text(content)
        with pytest.raises(ScenarioError) as caught:
            loads(THREE + '[air]\nreceived = "powers.csv"\n', base=tmp_path)
        assert caught.value.key == "air.received"
        assert f'powers.csv"{said}' in str(caught.value)
    with pytest.raises(ScenarioError, match=r"air\.received\[1\]"):
        scenario({"x": {}}, air={"received": [["ap", "x", -50], ["ap", "x", -51]]})


def test_powers_fall_with_distance_and_behind_walls() -> None:
    """20 dBm less 40 dB at the first metre, 30 dB for 10 m, and 7 dB for the wall at x = 5."""
    walls = [{"from": [5, -1], "to": [5, 1], "loss": "7 dB"}]
    of = scenario(
        {"x": {"cell": "a", "positions": [[10, 0]]}, "y": {"cell": "a", "positions": [[0, 10]]}},
        cells={"a": {"position": [0, 0]}},
        air={"path_loss": {"at_1m": "40 dB", "exponent": 3, "walls": walls}},
    )
    ap, x, y = of.air.received_dbm
    assert (ap[1], x[0], ap[2]) == (-57.0, -57.0, -50.0)
    # 14.14 m cost 30 log10(14.14) = 34.52 dB; this path passes above the wall's end.
    assert x[2] == y[1] == -54.52


def test_a_disc_is_drawn_once_and_for_all() -> None:
    def powers(count: int, seed: int, run: int) -> tuple[float | None, ...]:
        of = scenario(
            {"x": {"cell": "a", "count": count, "positions": {"disc": "8 m", "seed": seed}}},
            cells={"a": {"position": [3, 4]}},
            air={"path_loss": {}},
            run={"seed": run},
        )
        return of.air.received_dbm[0][1:]

    few = powers(5, 1, 1)
    assert few == powers(5, 1, 2) == powers(9, 1, 1)[:5]
    assert few != powers(5, 2, 1)
    # All are within 8 m, so at least 20 - 46.4 - 35 log10(8) = -58.01 dBm.
    assert all(power is not None and power >= -58.01 for power in powers(200, 1, 1))
    # Uniform over the area: half are beyond 8 / sqrt(2) m, below -52.74 dBm; 100 +- 3 sqrt(50).
    beyond = sum(power < -52.74 for power in powers(200, 1, 1) if power is not None)
    assert 100 - 22 <= beyond <= 100 + 22


@pytest.mark.parametrize(
    ("standard", "signal", "expected"),
    [
        ("802.11a", -73.6, 54_000_000),  # 18.38 dB over -92 dBm: 2 dB are implementation loss
        ("802.11a", -73.7, 48_000_000),
        ("802.11a", -82.2, 24_000_000),  # 9.71 dB
        ("802.11a", -88.5, 9_000_000),  # 3.5 dB: 9 Mb/s needs 3.44, 12 Mb/s 3.95
        ("802.11b", -84.0, 11_000_000),  # 10 dB
        ("802.11b", -84.5, 2_000_000),
        ("802.11g", -73.0, 54_000_000),
        ("802.11ax", -64.0, 8),  # 22 dB over -92 + 6 dBm in 80 MHz; MCS 8 needs 21.68 dB
        ("802.11ax", -64.5, 7),
    ],
)
def test_the_rate_is_the_highest_that_the_signal_allows(
    standard: str, signal: float, expected: int
) -> None:
    of = scenario(
        {"x": {}}, standard=standard, air={"received": [["ap", "x", signal]], "sense": "-95 dBm"}
    )
    (group,) = of.stations
    high = group.data_rate.high
    assert (high.mcs if high else group.data_rate.bps) == expected
    receiver = Receiver("tables", "ldpc", 2.0)
    # 802.11g has no LDPC, which needs less: 16.49 dB for this modulation.
    assert receiver.needed_db_at(54_000_000) == 18.38
    assert receiver.needed_db(6) == 16.49
    needs = receiver.needed_db(expected) if high else receiver.needed_db_at(expected)
    assert group.needs.data_db == needs


@pytest.mark.parametrize(
    ("weakest", "phy", "own", "mbps"),
    [
        # 22 dB above noise: 54 Mb/s needs 18.4 dB; -78 dBm is 14 dB above, enough for 36 Mb/s.
        (-70, {}, {}, 54),
        (-78, {}, {}, 36),
        # A given rate overrides the rate of the signal.
        (-70, {}, {"data_rate": "6 Mb/s"}, 6),
        (-70, {"data_rate": "9 Mb/s"}, {}, 9),
    ],
)
def test_the_weakest_station_of_a_group_decides_on_its_rate(
    weakest: int, phy: dict[str, str], own: dict[str, str], mbps: int
) -> None:
    rows = [["ap", "x", -50], ["ap", "x/2", weakest]]
    (group,) = scenario({"x": {"count": 3, **own}}, phy=phy, air={"received": rows}).stations
    assert group.data_rate.bps == mbps * 10**6


def test_minstrel_has_its_errors_from_the_signal() -> None:
    keys: dict[str, Any] = {"standard": "802.11n", "phy": {"channel_width": "20 MHz"}}
    minstrel = {"rate_control": "minstrel-ht"}
    of = scenario({"x": minstrel}, air={"received": [["ap", "x", -74]]}, **keys)
    alike = scenario({"x": minstrel | {"snr": "20 dB"}}, **keys)
    ours, others = of.stations[0].rate_control.rates, alike.stations[0].rate_control.rates
    assert [one.error_rate for one in ours] == [one.error_rate for one in others]
    # Losses near the noise are drawn; interference adds from the 50 % loss point.
    needed = [Receiver("tables", "bcc", 2.0).needed_db(mcs, 0.5) for mcs in range(8)]
    assert [one.needs_db for one in ours] == needed
    assert [one.needs_db for one in others] == [None] * 8
