"""The diagram of the network: groups, links, and editing a group there."""

from pathlib import Path
from typing import Any

import airtcp
import pytest
from airtcp.examples import directory
from airtcp.web import work
from airtcp.web.network import loads
from browsing import Page, packed, put, text_of
from test_page_targets import MIX, has, simulated


def network(**source: Any) -> Any:
    told = work.question("scenario", {"source": source}, Path(), {})
    return told["structure"]["network"]


def test_groups_are_as_far_as_their_place_their_distance_or_their_rate() -> None:
    office = {one["name"]: one for one in network(example="office-wifi6")["groups"]}
    assert [one["count"] for one in office.values()] == [20, 6, 1, 1]
    far = office["far"]
    assert far["moves"]["path"] == "stations.far.place"
    assert [one["value"] for one in far["moves"]["steps"]] == ["near", "room", "edge", "far"]
    assert far["moves"]["place"] == 3
    assert far["far"] == 1.0 > office["desk"]["far"] > 0.0
    assert (far["speed"], office["desk"]["speed"]) == (0, 2)

    by_rate = network(example="home-wifi6")["groups"]
    assert [one["moves"] for one in by_rate] == [None] * 3
    assert by_rate[0]["far"] == 0.0
    assert by_rate[0]["far"] < by_rate[1]["far"] < by_rate[2]["far"] <= 1.0

    path_loss = MIX.replace("count = 8\n", 'count = 8\ndistance = "12 m"\n')
    path_loss = path_loss.replace("count = 2\n", 'count = 2\ndistance = "3 m"\n')
    near, nearer = network(text=path_loss)["groups"]
    steps = [one["value"] for one in near["moves"]["steps"]]
    assert steps[near["moves"]["place"]] == "12 m"
    assert {"1 m", "10 m", "14 m", "100 m"} < set(steps)
    assert nearer["far"] < near["far"]


def test_several_cells_have_a_map_instead() -> None:
    assert network(example="three-offices") is None
    assert network(example="hidden-uploads") is None


def test_a_link_has_its_goodput_over_its_rate() -> None:
    short = {"run.warmup": "1 s", "run.duration": "3 s", "run.replications": 2}
    scenario = airtcp.load(str(directory() / "home-evening.toml")).vary(short)
    result = airtcp.simulate(scenario)
    groups = result.simulation.groups
    sums = [
        sum(parts[part]["goodput_bps"].mean or 0.0 for parts in groups.values() if part in parts)
        for part in ("download", "upload")
    ]
    rate = scenario.links["line"].rate_bps
    assert loads(scenario, result.simulation)["line"] == pytest.approx(max(sums) / rate)


def test_a_station_is_added_and_a_group_is_moved_by_click_drag_and_keys(opened: Any) -> None:
    page: Page = opened(packed({"example": "office-wifi6"}), folded=True)
    far = page.page.locator('.stations[data-path="stations.far"]')
    far.click()
    page.page.locator(".stations text", has_text="2 far").wait_for()
    far.press("Enter")
    page.page.locator(".stations text", has_text="3 far").wait_for()
    assert far.evaluate("(one) => one === document.activeElement")
    far.press("-")
    page.page.locator(".stations text", has_text="2 far").wait_for()
    box = far.locator(".sta").first.bounding_box()
    page.page.mouse.move(box["x"] + 3, box["y"] + 3)
    page.page.mouse.down()
    page.page.mouse.move(box["x"] - 60, box["y"], steps=4)
    page.page.mouse.up()
    has(page, 'place = "edge"')
    assert "count = 2" in text_of(page)
    page.page.locator('[aria-label*="2 far"][aria-label*="edge"]').wait_for()
    far.press("ArrowLeft")
    has(page, 'place = "room"')
    assert airtcp.load(text_of(page)).group("far").count == 2


def test_who_misses_a_target_has_a_mark(opened: Any) -> None:
    page: Page = opened("")
    page.answer()
    put(page, MIX.replace("> 1 Mb/s", "> 900 Mb/s"))
    simulated(page)
    missed = page.page.locator(".stations.missed")
    assert missed.locator("text").first.text_content() == "✗ 8 desk "
    assert "misses a target" in str(missed.get_attribute("aria-label"))
    ring = page.page.locator(".ring-data").get_attribute("stroke-dasharray")
    assert float(str(ring).split()[0]) > 0
