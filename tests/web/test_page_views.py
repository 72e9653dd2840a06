"""No view is empty: each has a picture without a click."""

import tempfile
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from airtcp.web.stores import listed, look
from browsing import Page, packed
from serving import Web, ended, started

#: By view: the picture that it shows at first.
PICTURES = {
    "plan": ".picture svg .points, .picture svg .line",
    "timeline": ".film .air-frame",
    "store": ".picture svg .points",
}
if find_spec("airtcp_papers") is not None:
    PICTURES["papers"] = ".picture svg .diamond"


@pytest.fixture(scope="module")
def bare() -> Iterator[Web]:
    """A server without stores."""
    with tempfile.TemporaryDirectory() as folder:
        server = started(folder=Path(folder))
        yield server
        ended(server)


@pytest.mark.parametrize("view", PICTURES)
def test_a_view_has_a_picture_without_a_click(browser: Any, bare: Web, view: str) -> None:
    page = Page(browser, bare.url + packed({"example": "office-wifi6", "view": view}), folded=True)
    page.page.locator(PICTURES[view]).first.wait_for(state="attached")
    assert not page.page.locator("main .notice.bad").count()
    assert not page.complaints
    page.context.close()


def test_without_a_store_a_sample_is_shown_and_a_named_store_replaces_it(store: Path) -> None:
    told = listed({})
    (sample,) = told["stores"]
    assert told["sample"]
    assert (sample["points"], sample["rows"], sample["problem"]) == (8, 24, None)
    asked = {"store": "sample", "y": "goodput_bps", "x": "stations.station.count", "by": None}
    assert len(look(asked, {})["series"][0]["data"]) == 4
    named = listed({"small": store})
    assert not named["sample"]
    assert [one["name"] for one in named["stores"]] == ["small"]


def test_a_press_that_is_half_done_when_points_arrive_is_not_lost(opened: Any) -> None:
    """Chromium drops a click if its element is removed between button down and button up."""
    page = opened(packed({"example": "persistent-downloads"}))
    page.page.locator(".values tr").nth(1).wait_for(state="attached")
    summary = page.page.locator(".values summary")
    is_open = page.page.locator(".values").evaluate("(one) => one.open")
    summary.hover()
    page.page.mouse.down()
    # Another metric redraws the chart and the table.
    page.page.locator("#metric").evaluate(
        "(one) => { one.value = 'flow_goodput_bps'; one.dispatchEvent(new Event('change')); }"
    )
    page.page.locator("#metric option[value=flow_goodput_bps]:checked").wait_for(state="attached")
    page.page.mouse.up()
    assert page.page.locator(".values").evaluate("(one) => one.open") is not is_open


def test_a_capacity_is_searched_once_its_condition_is_known(opened: Any) -> None:
    page = opened(packed({"example": "web-hotspot"}))
    held: list[Any] = []
    is_held = True

    def hold(route: Any) -> None:
        if is_held:
            held.append(route)
        else:
            route.continue_()

    page.page.route("**/api/conditions", hold)
    page.page.locator("#views button", has_text="Plan").click()
    search = page.page.get_by_role("button", name="Find the capacity")
    search.wait_for()
    assert search.is_disabled()
    is_held = False
    for one in held:
        one.continue_()
    page.page.locator("button:enabled", has_text="Find the capacity").wait_for()
