"""Sentences of the page while it waits, and where a question has no answer: in its own words.

Knows the page as a person sees it. Does not know what the command line says (`test_plan`).
"""

from typing import Any

from airtcp.examples import directory
from airtcp.web import planned
from browsing import put
from serving import Web


def test_nothing_is_said_of_a_scenario_that_is_not_read_yet(opened: Any) -> None:
    page = opened()
    page.answer()
    held: list[Any] = []
    page.page.route("**/api/scenario", lambda route: held.append(route))
    page.page.reload()

    page.page.get_by_text("Reading the scenario").wait_for()

    assert not page.page.get_by_text("no slider").count()
    assert not page.page.get_by_role("button", name="Save report").is_visible()
    held[0].continue_()
    page.page.get_by_label("All stations").first.wait_for()


def test_a_search_is_between_numbers(opened: Any) -> None:
    """A queue may be unbounded, which no search ends at."""
    page = opened()
    page.answer()
    page.page.select_option("#example", "persistent-downloads")
    page.until("All flows")
    page.page.get_by_role("button", name="Plan").click()
    page.page.select_option("#plan-axis", "ap.queue.limit")

    last = page.page.locator("#plan-to option:checked").inner_text()

    assert int(last) > 5
    page.page.locator(".asked", has_text=f'--from "5" --to "{last}"').wait_for()


def test_a_time_that_is_out_of_range_is_held_at_its_field(opened: Any) -> None:
    page = opened()
    page.answer()
    page.page.get_by_role("button", name="Timeline").click()
    begin = page.page.get_by_label("From (ms after the start)")
    for wrong in ("9000", "-5", ""):
        begin.fill(wrong)
        page.page.keyboard.press("Tab")
        page.page.get_by_text("allowed: 0 to 5000 ms").wait_for()
        assert begin.input_value() == wrong
        page.page.get_by_role("button", name="Show").click()
        page.page.locator("main .notice", has_text="The start time is not valid").wait_for()
    begin.fill("200")
    page.page.keyboard.press("Tab")

    assert begin.get_attribute("aria-invalid") == "false"
    assert not page.page.get_by_text("allowed: 0 to 5000 ms").count()


def test_no_table_is_cut_off_beside_the_sliders(opened: Any) -> None:
    """The widest one has calls, pages and round trips."""
    page = opened()
    page.answer()
    text = (directory() / "office-wifi6.toml").read_text(encoding="utf-8")
    put(page, text + '[run]\nwarmup = "1 s"\nduration = "2 s"\nreplications = 2\n')
    page.page.get_by_text("The simulation says").wait_for()

    for width in (400, 660, 800, 970, 1100):
        page.page.set_viewport_size({"width": width, "height": 900})
        cut = page.page.locator("main .scroll").evaluate_all(
            "(all) => all.filter((one) => one.scrollWidth > one.clientWidth)"
            ".map((one) => one.querySelector('table').textContent.slice(0, 80))"
        )
        assert cut == [], width


def test_a_number_of_devices_that_is_left_out_is_asked_for(opened: Any) -> None:
    page = opened()
    page.answer()
    page.page.get_by_role("button", name="Scenario", exact=True).click()
    many = page.page.get_by_label("How many")
    many.fill("")
    page.page.get_by_role("button", name="Add", exact=True).click()

    assert many.evaluate("(one) => one.validity.valueMissing")
    page.page.wait_for_timeout(500)
    assert not page.page.get_by_text("does not fit").count()


def test_options_of_the_command_are_called_as_on_the_page() -> None:
    ends = '--until "x < 1": holds at 20; allowed: a condition that holds, or another --from'
    same = "--vary ap.queue.limit: --from and --to are both 3; allowed: two values"

    assert planned.refusal(ends, chosen=True) == (
        '"x < 1": holds at 20; allowed: a condition that holds, or another "from"'
    )
    assert planned.refusal(ends, chosen=False).endswith("allowed: a condition that holds")
    assert planned.refusal(same, chosen=True) == (
        'ap.queue.limit: "from" and "to" are both 3; allowed: two values'
    )


def test_a_name_that_is_none_is_refused_in_words(web: Web) -> None:
    edit = {"op": "rename", "path": "stations.station", "name": "-1"}
    body = {"source": {"example": "persistent-downloads"}, "edit": edit}
    status, told = web.ask("api/edit", body)

    assert status == 422
    assert told["problem"]["message"].startswith('"-1" is not a name; allowed: up to 60 letters')
