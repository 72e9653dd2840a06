"""Editing a scenario in a browser: groups, traffic, keys and the file."""

import tomllib
from typing import Any

import airtcp
import pytest
from browsing import Page, link, packed, put, text_of
from test_page_targets import has


@pytest.fixture
def office(opened: Any) -> Page:
    """Open the scenario view of an office."""
    page: Page = opened(packed({"example": "office-wifi6", "view": "scenario"}))
    page.page.locator(".group").nth(3).wait_for()
    return page


def counts(page: Page) -> dict[str, int]:
    return {group.name: group.count for group in airtcp.load(text_of(page)).stations}


def test_a_scenario_is_made_of_nothing(opened: Any) -> None:
    page = opened()
    page.page.get_by_role("button", name="Blank", exact=True).click()
    has(page, 'name = "laptop"')
    page.page.get_by_role("spinbutton", name="Stations", exact=True).fill("40")
    page.page.keyboard.press("Tab")
    has(page, "count = 40")
    page.page.get_by_label("Which").select_option("meeting-laptop")
    page.page.get_by_label("How many").fill("10")
    page.page.get_by_role("button", name="Add", exact=True).click()
    has(page, 'profile = "meeting-laptop", count = 10')
    assert counts(page) == {"laptop": 40, "meeting-laptop": 10}
    # A link restores all of it.
    other = Page(page.context.browser, page.page.url.partition("#")[0] + link(page))
    other.page.locator(".group").nth(1).wait_for()
    has(other, 'profile = "meeting-laptop", count = 10')
    assert counts(other) == {"laptop": 40, "meeting-laptop": 10}
    assert not other.complaints
    other.context.close()


def test_groups_and_traffic_come_and_go_and_comments_stay(office: Page) -> None:
    before = text_of(office)
    office.page.get_by_role("button", name="Copy desk", exact=True).click()
    has(office, '"desk-2"')
    office.page.get_by_role("button", name="Remove backup", exact=True).click()
    office.page.wait_for_function(
        "() => !document.getElementById('toml')?.value.includes('\"backup\"')"
    )
    assert counts(office) == {"desk": 20, "caller": 6, "far": 1, "desk-2": 20}
    assert before.partition("title")[0] == text_of(office).partition("title")[0]
    office.page.get_by_role("button", name="Remove caller-call", exact=True).click()
    has(office, 'traffic = ["web"]')
    # Undo reverts the changes one by one.
    for _ in range(3):
        office.page.get_by_role("button", name="Undo", exact=True).click()
        office.page.wait_for_timeout(200)
    office.page.wait_for_function(
        "(text) => document.getElementById('toml')?.value === text", arg=before
    )


def test_a_value_out_of_range_is_held_at_its_field_with_the_reason(office: Page) -> None:
    before = text_of(office)
    count = office.page.locator('.maker [data-key="stations.desk.count"]')
    for wrong, said in (("0", "0 is too small; allowed: 1 or more"), ("2.5", "whole number")):
        count.fill(wrong)
        office.page.keyboard.press("Tab")
        field = office.page.locator(".entry.bad", has=office.page.locator("[data-key]"))
        field.get_by_text(said).wait_for()
        assert count.get_attribute("aria-invalid") == "true"
        assert count.input_value() == wrong
        assert text_of(office) == before
    # No other error is shown, and the correct values apply.
    assert not office.page.locator(".problem .notice, .layout.stale").count()
    count.fill("7")
    office.page.keyboard.press("Tab")
    has(office, 'name = "desk", count = 7')
    assert not office.page.locator(".entry.bad").count()


def test_a_bad_file_greys_what_was_there_and_marks_the_line(office: Page) -> None:
    right = text_of(office)
    office.page.fill("#toml", right.replace("count = 6", "count = 0"))
    office.page.locator(".layout.stale").wait_for()
    office.page.get_by_role("button", name="Line 11", exact=True).click()
    told = office.page.locator(".file-card .bad-field")
    assert "stations[1] (caller).count: 0 is too small" in told.inner_text()
    chosen = office.page.evaluate(
        "(() => { const one = document.getElementById('toml');"
        " return one.value.slice(one.selectionStart, one.selectionEnd); })()"
    )
    assert chosen == '  { profile = "meeting-laptop", name = "caller", count = 0 },'
    assert office.page.locator("#toml").get_attribute("aria-invalid") == "true"
    office.page.fill("#toml", right.replace("count = 6", "count = 8"))
    office.page.locator(".layout:not(.stale)").wait_for()
    assert not told.count()
    count = office.page.locator('.maker [data-key="stations.caller.count"]')
    assert count.input_value() == "8"
    # The same goes for a file that is not a scenario, or not the image that its name says.
    put(office, 'title = "x"\nnothing = 1\n', "no.toml")
    told.filter(has_text="nothing: unknown key").wait_for()
    assert text_of(office) == 'title = "x"\nnothing = 1\n'
    assert office.page.get_by_role("button", name="Line 2", exact=True).count() == 1
    put(office, "\x89PNG\r\n\x1a\n", "picture.toml")
    told.filter(has_text="is not TOML").wait_for()
    office.page.select_option("#example", "office-wifi6")
    office.page.locator(".layout:not(.stale)").wait_for()


def test_every_key_is_found_and_set(office: Page) -> None:
    office.page.fill("#key-search", "rts threshold")
    field = office.page.get_by_label("mac.rts_threshold", exact=True)
    office.page.locator(".keys summary", has_text="mac.rts_threshold").click()
    field.wait_for()
    field.fill("three")
    office.page.keyboard.press("Tab")
    office.page.locator(".keys .entry.bad", has_text='"three"').wait_for()
    field.fill("500 B")
    office.page.keyboard.press("Tab")
    has(office, 'rts_threshold = "500 B"')
    assert airtcp.load(text_of(office)).mac.rts_threshold_bytes == 500
    office.page.fill("#key-search", "desk-web congestion")
    office.page.locator(".keys summary", has_text="flows.desk-web.tcp.congestion").first.click()
    office.page.get_by_label("flows.desk-web.tcp.congestion", exact=True).select_option("cubic")
    has(office, 'congestion = "cubic"')
    assert tomllib.loads(text_of(office))["flows"] == [
        {"name": "desk-web", "tcp": {"congestion": "cubic"}}
    ]


def test_the_keyboard_alone_makes_a_scenario(office: Page) -> None:
    keyboard = office.page.keyboard
    office.page.locator('.maker [data-key="stations.desk.name"]').focus()
    keyboard.press("Tab")
    keyboard.type("40")
    keyboard.press("Tab")
    has(office, 'name = "desk", count = 40')
    # Each element that Tab reaches from there has a name and is visible.
    reached = []
    for _ in range(80):
        label, width = office.page.evaluate(
            """() => {
              const one = document.activeElement, box = one.getBoundingClientRect();
              return [one.labels?.[0]?.innerText ?? one.ariaLabel ?? one.innerText, box.width];
            }"""
        )
        assert label.strip()
        assert width > 0
        reached.append(label)
        if label == "Remove caller-call":
            keyboard.press("Enter")
            has(office, 'traffic = ["web"]')
            # The focused element is gone; the focus does not return to the start of the page.
            assert office.page.evaluate("document.activeElement !== document.body")
        if label == "Scenario file (TOML)":
            break
        keyboard.press("Tab")
    assert reached[-1] == "Scenario file (TOML)"
    assert "Add traffic to far" in reached
