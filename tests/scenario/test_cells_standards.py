"""Cells of several standards and widths: features shared with stations, and overlap."""

from __future__ import annotations

from typing import Any

import pytest
from airtcp import ScenarioError
from airtcp.scenario import Scenario, loads

TEXT = """
phy = { standard = "802.11ax", channel_width = "80 MHz" }
cells = { new = { channel = 36 }, old = { channel = 44 } }
air = { heard = [["new", "old"]] }
stations = [{ name = "a", count = 2, cell = "new" }, { name = "b", count = 2, cell = "old" }]
run = { warmup = "100 ms", duration = "1 s", replications = 1 }
[[flows]]
stations = "a"
direction = "download"
application = { kind = "udp", packet = "1500 B", rate = "saturated" }
[[flows]]
stations = "b"
direction = "upload"
application = { kind = "udp", packet = "1500 B", rate = "saturated" }
"""


def network(**changes: Any) -> Scenario:
    return loads(TEXT).vary({key.replace("__", "."): value for key, value in changes.items()})


def test_the_older_of_cell_and_station_decides() -> None:
    old = network(cells__old__standard="802.11n")
    assert old.stations == network(stations__b__standard="802.11n").stations
    assert [group.pair and group.pair.standard for group in old.stations] == [None, "802.11n"]
    mixed = network(cells__old__standard="802.11ac", stations__b__standard="802.11n")
    newer = network(cells__old__standard="802.11n", stations__b__standard="802.11ax")
    assert mixed.stations[1].pair.standard == "802.11n"
    assert newer.stations == old.stations
    legacy = network(cells__old__standard="802.11a").stations[1]
    assert legacy.data_rate.bps == 54_000_000


@pytest.mark.parametrize(
    ("old", "new", "widths", "heard"),
    [
        ("80 MHz", "80 MHz", [80, 80], True),
        ("20 MHz", "80 MHz", [80, 20], True),
        ("20 MHz", "40 MHz", [40, 20], False),
    ],
)
def test_a_width_of_a_cell_is_that_of_its_frames_and_of_its_channel(
    old: str, new: str, widths: list[int], heard: bool
) -> None:
    """36 to 48 is one channel of 80 MHz; 44 does not overlap 36 only if both cells are narrow."""
    of = network(cells__old__channel_width=old, cells__new__channel_width=new)
    assert [group.data_rate.high.channel_width_mhz for group in of.stations] == widths
    assert (of.air is None or all(None not in row for row in of.air.received_dbm)) is heard


@pytest.mark.parametrize(
    ("changes", "key", "said"),
    [
        ({"standard": "802.11be"}, "standard", "newer than 802.11ax, the standard of [phy]"),
        ({"standard": "802.11g"}, "standard", "no channel in 5 GHz"),
        ({"channel_width": "160 MHz"}, "channel_width", '"20 MHz", "40 MHz", "80 MHz"'),
        (
            {"standard": "802.11n", "channel_width": "80 MHz"},
            "channel_width",
            '"20 MHz", "40 MHz"',
        ),
        ({"standard": "802.11a", "channel_width": "20 MHz"}, "channel_width", "no such key"),
    ],
)
def test_a_cell_that_cannot_be_is_refused_with_the_reason(
    changes: dict[str, str], key: str, said: str
) -> None:
    with pytest.raises(ScenarioError) as refused:
        network(**{f"cells__old__{name}": value for name, value in changes.items()})
    assert f"cells.old.{key}: " in str(refused.value)
    assert said in str(refused.value)


@pytest.mark.parametrize(("standard", "mb"), [("802.11ac", 200), ("802.11n", 150), ("802.11a", 54)])
def test_older_stations_have_their_own_link_in_any_order(standard: str, mb: int) -> None:
    """40 MHz at the highest MCS of each standard. Its missing 6 GHz may be the first link."""
    own = "5 GHz/40 MHz"
    for links in ([own, "6 GHz/20 MHz"], ["6 GHz/20 MHz", own]):
        text = f"""
phy.standard = "802.11be"
ap.links = {links}
stations = [{{ name = "a", count = 1, standard = "{standard}", links = ["{own}"] }}]
flows = [{{ stations = "a", direction = "download", application = {{ kind = "bulk" }} }}]
"""
        assert loads(text).stations[0].data_rate.bps == mb * 10**6
