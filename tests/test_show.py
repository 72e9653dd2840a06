"""`airtcp show`: what it prints is the scenario, with everything that profiles set."""

import json
import tomllib
from pathlib import Path

import airtcp
import pytest
from airtcp.examples import directory
from airtcp.scenario.profiles import devices, traffic
from commands import call

VALID = Path(__file__).parent / "scenarios" / "valid"
EXAMPLES = Path(str(directory()))
FILES = sorted([*VALID.glob("*.toml"), *EXAMPLES.glob("*.toml")])
HOME = """
phy = { standard = "802.11ax" }
stations = [{ profile = "phone", traffic = ["web", "call"] }, { profile = "tv", place = "far" }]
"""


@pytest.mark.parametrize("path", FILES, ids=[path.stem for path in FILES])
def test_what_is_shown_loads_again_to_the_same_scenario(path: Path) -> None:
    scenario = airtcp.load(path)
    again = airtcp.load(scenario.to_toml())
    assert again.to_json() == scenario.to_json()


def test_each_profile_is_shown_with_its_sources() -> None:
    groups = ", ".join(
        f'{{ profile = "{name}", traffic = {json.dumps(sorted(traffic()))} }}' for name in devices()
    )
    text = f'phy = {{ standard = "802.11be" }}\nstations = [{groups}]\n'
    scenario = airtcp.load(text)
    shown = scenario.to_toml()
    assert airtcp.load(shown).to_json() == scenario.to_json()
    assert "profile" not in str(tomllib.loads(shown))
    assert max(map(len, shown.splitlines())) <= 130
    for name, device in devices().items():
        assert f"# device {name}: {device.meaning}\n[[stations]]" in shown


def test_the_answer_is_there_as_json() -> None:
    result = call("show", "-", "--json", stdin=HOME)
    found = json.loads(result.stdout)
    assert set(found) == {"written", "sources", "purposes", "scenario"}
    # -67 dBm in 80 MHz: MCS 3 needs -68, MCS 4 -64; -75 dBm: MCS 0 needs -76, MCS 1 -73.
    assert found["written"]["stations"][0]["mcs"] == 3
    assert found["sources"]["stations.0.mcs"] == "place edge, -67 dBm in 80 MHz"
    assert found["purposes"]["tv-video"] == "video"
    assert found["written"]["stations"][1]["mcs"] == 0
    # A key that was set has no profile as source; -67 dBm just suffice for MCS 4 in 40 MHz.
    changes = ("--set", "stations.tv.mcs=5", "--set", "phy.channel_width=40 MHz")
    changed = call("show", "-", *changes, stdin=HOME).stdout
    assert "mcs = 5\n" in changed
    assert "mcs = 4  # place edge, -67 dBm in 40 MHz" in changed
    mac = found["scenario"]["mac"]
    assert (mac["short_retry_limit"], mac["long_retry_limit"]) == (7, 4)


def test_files_are_named_from_where_the_reader_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "sizes.csv").write_text("size\n1000\n3000\n")
    text = f'{HOME}[[flows]]\nstations = "tv"\ndirection = "download"\n' + (
        'application = { kind = "ftp", interarrival = "2 s", size = { distribution = "empirical", '
        'file = "sizes.csv", column = "size" } }\n'
    )
    (tmp_path / "in" / "home.toml").write_text(text)
    monkeypatch.chdir(tmp_path)
    result = call("show", "in/home.toml")
    assert 'file = "in/sizes.csv"' in result.stdout
    (tmp_path / "here.toml").write_text(result.stdout)
    assert airtcp.load("here.toml").to_json() == airtcp.load("in/home.toml").to_json()


@pytest.mark.parametrize("name", ["a", "b", "c"])
def test_cells_and_links_keep_their_order_where_one_has_no_room_in_a_line(name: str) -> None:
    queue = {"discipline": "fq-codel", "limit": 500, "target": "5 ms", "interval": "100 ms"}
    queue |= {"quantum": "1514 B", "ack_filter": True}
    wide = {one: {"queue": queue} if one == name else {} for one in "abc"}
    flow = {"direction": "download", "application": {"kind": "bulk"}, "path": ["a", "c"]}
    scenario = airtcp.load(
        {
            "phy": {"standard": "802.11a"},
            "cells": {one: {"ap": wide[one]} for one in "abc"},
            "links": {one: {"delay": "1 ms", "rate": "9 Mb/s"} | wide[one] for one in "abc"},
            "air": {"heard": [["a", "b"], ["b", "c"]]},
            "stations": [{"name": 2 * one, "count": 1, "cell": one} for one in "abc"],
            "flows": [{"stations": "aa", **flow}],
        }
    )
    again = airtcp.load(scenario.to_toml())
    assert [cell.name for cell in again.cells or ()] == ["a", "b", "c"]
    assert again.hash() == scenario.hash()


def test_the_schema_needs_no_file_and_all_else_does() -> None:
    assert call("show", "--schema").stdout == call("schema").stdout != ""
    assert call("show").exit_code == 2
