"""The page in a browser, used like a person does: Playwright with Debian's Chromium."""

import re
from pathlib import Path
from typing import Any

import airtcp
import pytest
from airtcp.amounts import quantity
from airtcp.examples import directory
from airtcp.scenario import Scenario
from bases import cell
from browsing import link, packed, put, text_of
from serving import Web
from wing import with_papers


def goodput(scenario: Scenario) -> str:
    """Return the models' prediction as the page prints it."""
    best = airtcp.predict(scenario).best("goodput_bps")
    assert isinstance(best.value, float)
    return quantity(best.value, "b/s")


def test_a_slider_shows_the_number_that_the_python_gives(opened: Any) -> None:
    page = opened()
    page.answer()
    page.page.select_option("#example", "persistent-downloads")
    page.until("All flows")
    page.slide("stations.station.count", "30")

    scenario = airtcp.load(str(directory() / "persistent-downloads.toml"))
    page.until(goodput(scenario.vary({"stations.station.count": 30})))
    # A slider other than that of the curve's axis.
    page.slide("flows.station.tcp.receive_window.segments", "4")
    changes = {"stations.station.count": 30, "flows.station.tcp.receive_window.segments": 4}
    expected = goodput(scenario.vary(changes))
    page.until(expected)
    # The table of the curve has the same number.
    page.page.locator(".values summary").click()
    row = page.page.locator(".values tr", has_text=re.compile(r"^30"))
    row.filter(has_text=expected).wait_for()


def test_a_link_that_names_no_example_means_the_one_that_came_first_once(opened: Any) -> None:
    page = opened(packed({"changes": {"stations.laptop.count": 3}}))
    page.answer()
    assert page.page.locator("#example").input_value() == "web-hotspot"
    # A new link names the example that it shows.
    page = opened("")
    page.answer()
    assert page.page.locator("#example").input_value() == "office-wifi6"
    # The address follows the choice.
    for chosen in ("home-wifi6", "office-wifi6"):
        before = link(page)
        page.page.select_option("#example", chosen)
        page.page.wait_for_function("(hash) => '#' + location.hash.slice(1) !== hash", arg=before)
    again = opened(link(page))
    again.answer()
    assert again.page.locator("#example").input_value() == "office-wifi6"


#: Broken addresses and the page's message: a link that cannot be unpacked, one with other content,
#: one that the server rejects, and some that a view uses in part.
LINKS: list[tuple[dict[str, Any] | str, str]] = [
    ("#1nonsense", "link is broken"),
    ({"timeline": {"at": "x"}}, "link is broken"),
    ({"changes": {"stations.laptop.count": -3}}, "stations[0] (laptop).count: -3 is too small"),
    ({"view": "papers", "paper": "nope", "paperValues": {"w0": "x"}}, ""),
    ({"view": "store", "store": {"name": "no", "where": {}}}, 'There is no store "no"'),
]
#: More links like these, for `make verify`.
MORE_LINKS: list[tuple[dict[str, Any] | str, str]] = [
    ("#9abc", "link is broken"),
    ("#1%00", "link is broken"),
    ({"example": 7}, "link is broken"),
    ({"view": "nope"}, "link is broken"),
    ({"changes": [1]}, "link is broken"),
    ({"example": "web-hotspot", "past": [{"what": "x", "source": {}}]}, "link is broken"),
    ({"example": "web-hotspot", "tried": [7]}, "link is broken"),
    ({"example": "nope"}, 'there is no example "nope"'),
    ({"changes": {"no.such": 1}}, "no.such: is not a key"),
    ({"text": "[phy"}, "is not TOML"),
    ({"files": {"a": "zz"}}, "source.files.a"),
    ({"stations": 99999}, "source.stations"),
    ({"metric": "nope", "axis": "nope", "planAxis": "nope", "paper": "nope"}, ""),
    ({"view": "plan", "until": "x", "planAxis": "y"}, ""),
]


@pytest.mark.parametrize(
    ("state", "text"),
    [*LINKS, *(pytest.param(*one, marks=pytest.mark.verify) for one in MORE_LINKS)],
)
def test_a_link_to_what_is_not_there_says_so_once(
    opened: Any, state: dict[str, Any] | str, text: str
) -> None:
    page = opened(state if isinstance(state, str) else packed(state))
    if text:
        notice = page.page.locator(".notice.bad")
        notice.first.wait_for()
        page.page.wait_for_timeout(300)
        assert notice.count() == 1
        assert text in notice.inner_text()
    else:
        page.page.locator("#views button[aria-current]").wait_for()
        page.page.wait_for_timeout(1000)
        assert page.page.locator("main").inner_text().strip()
    # After that everything works.
    page.page.get_by_role("button", name="Explore", exact=True).click()
    page.page.select_option("#example", "fair-uploads")
    page.until("All flows")


QUICK = cell(3, title="Quick", warmup="1 s", duration="DURATION", replications=3)


def test_a_simulation_is_stopped(opened: Any, web: Web) -> None:
    page = opened()
    page.answer()
    put(page, QUICK.replace("DURATION", "100000 s"))
    page.until("All flows")
    for again in (True, False):
        page.page.locator("progress").wait_for()
        page.page.wait_for_timeout(500)
        page.page.get_by_role("button", name="Stop").click()
        page.page.locator(".first", has_text="Stopped").wait_for()
        # It does not restart by itself.
        page.page.wait_for_timeout(1500)
        if again:
            page.page.get_by_role("button", name="Simulate", exact=True).click()


def test_an_error_is_shown_at_its_control(opened: Any) -> None:
    page = opened()
    page.answer()
    text = QUICK.replace("DURATION", "5 s")
    put(page, text)
    page.until("All flows")
    # 802.11b has no 54 Mb/s: the control of the rate is marked as wrong.
    put(page, text.replace('"802.11b"', '"802.11b"\ndata_rate = "54 Mb/s"'))
    page.page.locator(".problem .notice", has_text="data_rate").wait_for()
    field = page.page.locator(".field.bad")
    assert field.locator("select").get_attribute("aria-invalid") == "true"
    assert "54 Mb/s" in field.inner_text()


def test_the_file_is_taken_along_changed_and_used(opened: Any, tmp_path: Path) -> None:
    page = opened()
    page.answer()
    page.page.select_option("#example", "fair-uploads")
    count = page.page.locator('.controls [data-path$=".count"]').first
    count.wait_for()
    page.until("All flows")
    page.page.get_by_role("button", name="Scenario", exact=True).click()
    page.page.wait_for_function("() => document.getElementById('toml')?.value.includes('fair')")
    with page.page.expect_download() as taken:
        page.page.get_by_role("button", name="Download").click()
    path = tmp_path / taken.value.suggested_filename
    taken.value.save_as(path)
    text = path.read_text()
    assert text == text_of(page)
    original = airtcp.load(str(directory() / "fair-uploads.toml"))
    assert airtcp.load(text).hash() == original.hash()

    changed = re.sub(r"count *= *\d+", "count = 3", text)
    page.page.fill("#toml", changed)
    page.page.wait_for_function("() => document.getElementById('example')?.value === ''")
    page.page.get_by_role("button", name="Explore", exact=True).click()
    page.until(goodput(airtcp.load(changed)))
    assert page.page.locator("#example").input_value() == ""
    page.page.get_by_role("button", name="Scenario", exact=True).click()
    page.page.fill("#toml", "[phy")
    page.page.locator(".file-card .bad-field", has_text="is not TOML").wait_for()
    assert page.page.get_by_text("is not TOML").count() == 1


def test_a_log_takes_the_place_of_the_sizes(opened: Any) -> None:
    page = opened(packed({"example": "web-hotspot"}))
    page.answer()
    line = '10.0.0.1 - - [10/Oct/2025:13:55:36 +0000] "GET / HTTP/1.1" 200 {}\n'
    put(page, "".join(line.format(size) for size in (20000, 40000)), "my.log")
    page.page.locator("#answer", has_text="30 kB on average (2 measured values)").wait_for()
    page.page.locator(".files", has_text="my.log is in the scenario").wait_for()
    # A table has columns to choose from, so the page shows how a scenario refers to it.
    put(page, "size\n1000\n", "sizes.csv")
    page.page.locator(".files", has_text='file = "sizes.csv"').wait_for()


def test_the_air_is_played_and_stepped_through(opened: Any) -> None:
    page = opened()
    page.answer()
    page.page.select_option("#example", "saturated-stations")
    page.until("All flows")
    page.page.get_by_role("button", name="Timeline").click()
    page.page.get_by_role("button", name="Show").click()
    told = page.page.locator(".now")
    told.wait_for()
    assert page.page.locator(".air-frame.k-data").count() > 3

    page.page.get_by_role("button", name="Step ▶").click()
    first = told.inner_text()
    page.page.get_by_role("button", name="Step ▶").click()
    assert told.inner_text() != first
    page.page.get_by_role("button", name="Step back").click()
    assert told.inner_text() == first
    for _ in range(40):
        if "sends data" in told.inner_text():
            break
        page.page.get_by_role("button", name="Step ▶").click()
    assert re.search(r"sensor/\d sends data \(UDP, 1472 B\) to ap", told.inner_text())

    slider = page.page.get_by_label("Time", exact=True)
    before = float(slider.input_value())
    page.page.get_by_role("button", name="Play").click()
    page.page.wait_for_timeout(400)
    page.page.get_by_role("button", name="Pause").click()
    assert float(slider.input_value()) > before


@with_papers
def test_a_figure_of_a_paper_follows_its_sliders(opened: Any) -> None:
    from airtcp_papers.common.view import figure

    page = opened()
    page.answer()
    page.page.get_by_role("button", name="Papers").click()
    lead = page.page.locator("main .lead")
    page.page.locator("main .lead", has_text=figure("M.fig1", {})["words"]).wait_for()
    page.slide("w0", "64")
    page.page.locator("main .lead", has_text=figure("M.fig1", {"w0": 64})["words"]).wait_for()
    page.page.select_option("#figure", "G.eq1")
    page.page.locator("main .lead", has_text=figure("G.eq1", {})["words"]).wait_for()
    page.page.select_option("#figure", "H.table1")
    page.page.locator("main .lead", has_text="No sliders").wait_for()
    page.page.select_option("#figure", "G.eq1")

    other = opened(link(page))
    other.page.locator("main .lead", has_text=str(lead.inner_text())).wait_for()


@with_papers
def test_the_scenario_behind_a_figure_opens_in_the_explorer(opened: Any) -> None:
    from airtcp_papers.common.sliders import figures

    page = opened()
    page.answer()
    page.page.get_by_role("button", name="Papers").click()
    page.page.select_option("#figure", "G.fig3")
    page.page.locator("main .lead", has_text="Only a simulation makes this figure").wait_for()
    page.slide("skip", "2")
    page.slide("flows", "3")
    page.page.get_by_role("button", name="Open the scenario in the explorer").click()
    page.page.get_by_role("heading", name="Along one slider").wait_for()
    page.page.locator("#answer .muted", has_text="3 stations").wait_for()

    figure = figures()["G.fig3"]
    taken = figure.taken({"skip": 2, "flows": 3})
    page.page.get_by_role("button", name="Scenario", exact=True).click()
    told = text_of(page)
    page.page.get_by_role("button", name="Explore", exact=True).click()
    expected = airtcp.scenario.loads(figure.text()).vary(figure.quick() | figure.changes(taken))
    assert airtcp.scenario.loads(told).hash() == expected.hash()
    assert page.page.locator("#metric").input_value() == "flow_goodput_bps"


def test_a_store_is_looked_at(opened: Any, web: Web) -> None:
    page = opened()
    page.answer()
    page.page.get_by_role("button", name="Store", exact=True).click()
    asked = {"store": "small", "y": "goodput_bps", "x": "stations.station.count"}
    asked["by"] = "phy.data_rate"
    told = web.ask("api/look", asked)[1]
    page.page.locator("main .points circle").nth(7).wait_for()
    page.page.get_by_text("The values as a table").click()
    shown = page.page.locator("main table").inner_text()
    for row in told["rows"]:
        assert row[2] in shown

    page.page.get_by_label("As", exact=True).select_option("heat")
    page.page.locator(".heat rect title").nth(7).wait_for(state="attached")
    titles = page.page.locator(".heat rect title").all_text_contents()
    assert f"phy.data_rate 2 Mb/s, stations.station.count 1: {told['rows'][0][2]}" in titles
    page.page.get_by_label("Over", exact=True).select_option("phy.data_rate")
    command = page.page.locator("main .code pre", has_text="--x phy.data_rate")
    assert "--by stations.station.count --kind heat" in command.inner_text()

    other = opened(link(page))
    other.page.locator("main .code pre", has_text="--x phy.data_rate").wait_for()
    assert other.page.get_by_label("As", exact=True).input_value() == "heat"


def test_a_view_may_be_chosen_before_there_is_an_answer(opened: Any) -> None:
    page = opened(packed({"example": "saturated-stations"}))
    page.page.get_by_role("button", name="Store", exact=True).click()
    page.page.locator("main .points circle").nth(7).wait_for()
    page.page.get_by_role("button", name="Explore", exact=True).click()
    page.page.locator('.first[data-depth="simulation"]').wait_for()
    said = page.answer()
    page.page.get_by_role("button", name="Plan", exact=True).click()
    page.page.get_by_role("button", name="Explore", exact=True).click()
    assert page.answer() == said


def test_the_first_answer_is_there_in_two_seconds(opened: Any) -> None:
    opened("").answer()  # the first request also starts the workers
    page = opened("")
    page.answer()
    paint = page.page.evaluate(
        "performance.getEntriesByName('first-contentful-paint')[0].startTime"
    )
    assert paint < 2000
    # The first Tab stop skips everything above the answer.
    page.page.keyboard.press("Tab")
    assert page.page.evaluate("document.activeElement.className") == "skip"
    page.page.keyboard.press("Enter")
    assert page.page.evaluate("document.activeElement.id") == "main"
