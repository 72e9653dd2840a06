"""The map of cells: who hears whom, the chain's shares, and moving an access point.

The shares of a row of three by hand: with the odds of sending r = .9 / .1 = 9 the sets of cells
that send at once weigh 1 (none), 9 (one, three times) and 81 (the outer two), 109 in all. The
middle one sends 9/109 of the time, an outer one (9 + 81)/109, and each .9 alone.
"""

import re
from io import BytesIO
from typing import Any

import airtcp
import pytest
from airtcp.document.page import tabled
from airtcp.examples import directory
from airtcp.present.cells import by_cell, sentences
from airtcp.scenario import Scenario, loads
from airtcp.web import floor
from bases import BULK, two_cells
from browsing import Page, packed, text_of
from PIL import Image
from test_judged import told_by

DOWN = f"application = {BULK}"


def example(name: str) -> Scenario:
    return airtcp.load(str(directory() / f"{name}.toml"))


def test_a_row_of_three_has_the_shares_that_are_reckoned_by_hand() -> None:
    told = floor.told(example("three-cells"))
    assert told["hears"] == [[0, 1], [1, 2]]
    assert not told["placed"]
    shares = [cell["share"] for cell in told["cells"]]
    assert shares == pytest.approx([90 / 109 / 0.9, 9 / 109 / 0.9, 90 / 109 / 0.9])


def test_cells_on_channels_of_their_own_keep_all() -> None:
    apart = {f"cells.{name}.channel": 36 + 4 * place for place, name in enumerate(["law", "tax"])}
    told = floor.told(example("three-offices").vary(apart | {"cells.art.channel": 44}))
    assert told["hears"] == []
    assert [cell["share"] for cell in told["cells"]] == pytest.approx([1, 1, 1])
    assert told["placed"]
    nodes = told["nodes"]
    assert [(node["x"], node["y"]) for node in nodes[:3]] == [(0, 0), (14, 0), (28, 0)]
    assert all((one["x"] - 14 * one["cell"]) ** 2 + one["y"] ** 2 <= 25 for one in nodes[3:])
    # Hidden pairs of stations are listed; one cell without hidden stations has no map.
    told = floor.told(example("hidden-uploads"))
    deaf = [[told["nodes"][one]["name"] for one in pair] for pair in told["deaf"]]
    assert deaf == [["near-wall/0", "behind-wall/0"]]
    assert [cell["share"] for cell in told["cells"]] == [None]
    assert floor.told(example("office-wifi6")) is None


def test_a_run_tells_the_cells_beside_each_other_and_why() -> None:
    changes = {"run.duration": "2 s", "run.warmup": "1 s", "run.replications": 3}
    source = {"example": "three-cells", "changes": changes}
    told = told_by({"kind": "run", "source": source})[-1]["result"]["cells"]
    scenario = example("three-cells").vary(changes)
    simulation = airtcp.compare(scenario).simulation
    why = sentences(scenario, simulation.cells)
    cells = by_cell(simulation.cells)
    assert cells is not None
    table = tabled(cells, "Results by cell")
    assert told["part"][3:] == [table, *(["p", {}, line] for line in why)]
    assert "defers to left and right" in why[0]


@pytest.mark.parametrize(
    ("name", "changes", "reason"),
    [
        ("three-offices", {}, "802.11ax aggregates frames"),
        ("three-cells", {"phy.standard": "802.11n"}, "802.11n aggregates frames"),
    ],
)
def test_the_chain_is_silent_where_the_closed_form_is(
    name: str, changes: dict[str, Any], reason: str
) -> None:
    scenario = example(name).vary(changes)
    told = floor.told(scenario)
    assert [cell["share"] for cell in told["cells"]] == [None, None, None]
    assert reason in told["silence"]
    assert airtcp.predict(scenario).uncovered == f"chain of clusters: {told['silence']}"


def test_the_chain_answers_where_powers_are_as_good_as_a_graph() -> None:
    rows: list[Any] = [["left", "reader", -50], ["right", "clerk", -50], ["left", "right", -50]]
    only = loads(two_cells(f"received = {rows}", reader=DOWN, clerk=DOWN))
    told = floor.told(only)
    assert [cell["share"] for cell in told["cells"]] == [None, None]
    assert "some nodes" in told["silence"]

    rows += [["left", "clerk", -50], ["right", "reader", -50], ["reader", "clerk", -50]]
    alike = loads(two_cells(f"received = {rows}", reader=DOWN, clerk=DOWN))
    told = floor.told(alike)
    # Everybody receives everybody equally: .9 / 1.9 of the time each, of .9 alone.
    assert told["silence"] is None
    assert [cell["share"] for cell in told["cells"]] == pytest.approx([1 / 1.9, 1 / 1.9])


def test_an_access_point_is_moved_and_the_chain_follows(opened: Any) -> None:
    changes = {"cells.art.channel": 40}
    page: Page = opened(
        packed({"example": "three-offices", "changes": changes, "view": "scenario"})
    )
    shares = page.page.locator(".shares")
    card = page.page.locator("section", has=shares)
    card.get_by_text("The Markov chain does not apply: 802.11ax").wait_for()
    assert "(Markov chain)" not in shares.inner_text()
    grip = page.page.get_by_role("button", name=re.compile("^Access point of law"))
    grip.scroll_into_view_if_needed()
    box = grip.bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.page.mouse.move(x, y)
    page.page.mouse.down()
    page.page.mouse.move(x - 1500, y, steps=4)
    # Far away it meets no other cell, so the chain is sure; the text updates during the drag.
    shares.get_by_text("law 100 % (Markov chain)").wait_for()
    shares.get_by_text("tax 100 % (Markov chain)").wait_for()
    card.get_by_text("No access point hears another one.").wait_for()
    assert card.get_by_text("The Markov chain does not apply").count() == 0
    page.page.mouse.up()
    moved = airtcp.load(text_of(page))
    told = floor.told(moved)
    # A pixel is as many metres as on the last map drawn during the drag.
    assert told["nodes"][0]["x"] < -20
    assert "# 40: a separate channel" in text_of(page)

    # The keyboard moves it too, and the new position stays.
    before = text_of(page)
    grip.focus()
    page.page.keyboard.press("ArrowDown")
    page.page.wait_for_function(
        "(old) => document.getElementById('toml')?.value !== old",
        arg=before,
    )
    after = floor.told(airtcp.load(text_of(page)))
    assert after["nodes"][0]["y"] == told["nodes"][0]["y"] + 1
    page.page.wait_for_timeout(200)
    assert page.page.evaluate("document.activeElement.ariaLabel").startswith("Access point of law")


def test_two_clicks_draw_a_wall_into_the_file(opened: Any) -> None:
    page: Page = opened(
        packed({"example": "three-offices"}), viewport={"width": 1280, "height": 900}
    )
    page.answer()
    box = page.page.locator(".floor .ap").first.bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.page.get_by_role("button", name="Draw a wall").click()
    page.page.mouse.click(x + 30, y - 40)
    page.page.mouse.move(x + 30, y + 20)
    page.page.locator(".floor .drawn").wait_for(state="attached")
    page.page.mouse.click(x + 30, y + 40)
    page.page.locator(".floor .lines .wall").nth(2).wait_for(state="attached")
    drawn = airtcp.load(text_of(page))
    told = floor.told(drawn)
    (*others, (x1, y1, x2, y2, loss)) = told["walls"]
    assert len(others) == 2
    assert (x1, loss) == (x2, "8 dB")
    assert y1 < 0 < y2
    assert page.page.locator(".floor .drawn").count() == 0
    page.page.get_by_role("button", name="Undo", exact=True).click()
    page.page.locator(".floor .lines .wall").nth(2).wait_for(state="detached")


def test_a_floor_plan_lies_below_the_map_at_its_size_in_metres(opened: Any) -> None:
    """Law and tax are 14 m apart, so a plan 14 m wide reaches from one to the other."""
    page: Page = opened(packed({"example": "three-offices"}))
    page.page.locator(".floor .ap").first.wait_for()
    content = BytesIO()
    Image.new("RGB", (70, 20), "orange").save(content, "PNG")
    page.page.set_input_files(
        "input[type=file][accept='image/*']",
        {"name": "plan.png", "mimeType": "image/png", "buffer": content.getvalue()},
    )
    page.page.get_by_label("Width in metres").fill("14")
    page.page.keyboard.press("Tab")
    plan = page.page.locator(".floor image")
    plan.wait_for(state="attached")
    law, tax = (
        float(page.page.locator(".floor .ap").nth(place).get_attribute("x") or "")
        for place in (0, 1)
    )
    assert float(plan.get_attribute("width") or "") == pytest.approx(tax - law, rel=1e-6)
    assert float(plan.get_attribute("x") or "") == pytest.approx(law + 8, abs=1e-6)
