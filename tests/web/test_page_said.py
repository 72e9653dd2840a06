"""Texts of the page while it waits, and for questions without an answer.

`test_plan` tests the texts of the command line.
"""

import json
from typing import Any

import pytest
from airtcp.examples import directory
from airtcp.web import planned
from browsing import choose, put
from serving import Web


def test_nothing_is_said_of_a_scenario_that_is_not_read_yet(opened: Any) -> None:
    page = opened("")
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
    """A queue may be unlimited, but a search cannot end there."""
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
    """The widest table has calls, pages and round trips."""
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


MARKUP = (
    '<img src=x onerror="hit=1">',
    "<svg onload=hit=1>",
    "<script>hit=1</script>",
    "</title><script>hit=1</script>",
    '"><b onmouseover=hit=1 style=position:fixed;inset:0>',
    "'><iframe srcdoc='<script>parent.hit=1</script>'>",
    "javascript:hit=1",
    "&lt;img src=x onerror=hit=1&gt;",
    "{{hit=1}}${hit=1}",
    "]]><a href=javascript:hit=1>",
)
PHY = "phy = {{ standard = '802.11ax' }}\n"
DESK = "[[stations]]\nprofile = 'office-laptop'\n"
#: Scenarios with a name in different places; all but the first two are invalid.
NAMED = (
    f"title = {{name}}\n{PHY}{DESK}",
    f"{PHY}links = {{{{ {{name}} = {{{{ rate = '9 Mb/s' }}}} }}}}\n{DESK}"
    "[[flows]]\nstations = 'office-laptop'\ndirection = 'upload'\n"
    "application = {{ kind = 'bulk' }}\npath = [{name}]\n",
    f"{PHY}{DESK}name = {{name}}\n",
    f"{PHY}[[stations]]\nprofile = {{name}}\n",
    f"{{name}} = 1\n{PHY}{DESK}",
    f"phy = {{{{ standard = {{name}} }}}}\n{DESK}",
    f"{PHY}[targets]\n{{name}} = '< 1 s'\n{DESK}",
    f"{PHY}[run]\nduration = {{name}}\n{DESK}",
)


@pytest.mark.parametrize(
    "markup", [MARKUP[0], *(pytest.param(one, marks=pytest.mark.verify) for one in MARKUP[1:])]
)
def test_names_with_markup_are_shown_as_text(opened: Any, markup: str) -> None:
    page = opened()
    page.answer()
    shown = 0
    for place in NAMED:
        text = place.format(name=json.dumps(markup))
        with page.page.expect_response("**/api/scenario"):
            choose(page, text, f"{markup.replace('/', '')}.toml")
        page.page.wait_for_timeout(700)
        # Neither an element nor a script from the name is there.
        assert page.page.evaluate("window.hit") is None, text
        made = "img[src=x], [onload], [onerror], [onmouseover], iframe, [href^=javascript]"
        assert not page.page.locator(made).count(), text
        shown += markup in page.page.locator("body").inner_text()
    assert shown == len(NAMED) - 1  # The first name is in the title of the tab.
