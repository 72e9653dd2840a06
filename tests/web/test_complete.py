"""Completion of keys and values in the text of a scenario, in Python and on the page."""

import random
from pathlib import Path
from typing import Any

import pytest
from airtcp.examples import directory
from airtcp.web.complete import complete
from browsing import AXE, Page, packed, serious, text_of
from test_page_targets import has


def texts(before: str) -> list[str]:
    return [one["text"] for one in complete(before)["options"]]


@pytest.mark.parametrize(
    ("before", "first", "typed"),
    [
        ("ph", "phy", 2),
        ("[ap.q", "queue", 1),
        ("phy = { st", "standard", 2),
        ('[phy]\nstandard = "802.11a', "802.11a", 8),
        ('stations = [\n  # "a" {\n  { profile = "meet', "meeting-laptop", 5),
        ('stations = [\n  { profile = "far", traffic = ["web", ', "web", 0),
        ("[[flows]]\ntcp.congestion = ", "reno", 0),
        ("[cells.east]\nap.queue = { disc", "discipline", 4),
        ('title = """\n[mac]\n"""\nru', "run", 2),
    ],
)
def test_what_may_stand_at_a_place_is_offered(before: str, first: str, typed: int) -> None:
    told = complete(before)
    assert told["options"][0]["text"] == first
    assert told["typed"] == typed


@pytest.mark.parametrize(
    "before", ["# [ph", "[phy] ", '[phy]\nstandard = "802.11n" ', "[nothing]\nst", "]]}{[", "a.b.c"]
)
def test_nothing_is_offered_where_nothing_fits(before: str) -> None:
    assert texts(before) == []


def test_only_keys_that_fit_are_offered_with_values_in_quotes() -> None:
    assert set(texts("[m")) >= {"mac"}
    assert "title" not in texts("[t")
    assert complete("[mac]\nrts_threshold = ")["options"][0]["insert"].startswith('"')
    assert {"true", "false"} <= {
        one["insert"] for one in complete("[ap]\nqueue = { ecn = ")["options"]
    }


def test_every_place_of_the_examples_is_answered() -> None:
    picked = random.Random(57)
    for path in sorted(Path(str(directory())).glob("*.toml")):
        text = path.read_text(encoding="utf-8")
        for place in picked.sample(range(len(text)), 25):
            told = complete(text[:place])
            assert 0 <= told["typed"] <= place


@pytest.mark.parametrize("width", [390, pytest.param(1280, marks=pytest.mark.verify)])
def test_keys_and_values_are_completed_by_keyboard_and_mouse(opened: Any, width: int) -> None:
    page: Page = opened(
        packed({"example": "office-wifi6", "view": "scenario"}),
        viewport={"width": width, "height": 800},
    )
    page.page.locator(".group").nth(3).wait_for()
    before = text_of(page)
    area = page.page.get_by_label("Scenario file (TOML)")
    options = page.page.locator(".completions [role=option]")
    area.focus()
    keys = page.page.keyboard
    # By keyboard: an arrow key chooses, Enter accepts.
    keys.press("Control+a")
    keys.type("[ap]\nqueue.dis")
    options.filter(has_text="discipline").wait_for()
    keys.press("ArrowDown")
    assert area.get_attribute("aria-activedescendant") == options.first.get_attribute("id")
    if AXE.is_file():
        serious(page)
    keys.press("Enter")
    # By mouse: a click accepts; after a key its values follow.
    page.page.locator('.completions code:text-is("fq-codel")').click()
    assert text_of(page) == '[ap]\nqueue.discipline = "fq-codel"'
    assert area.evaluate("(one) => one === document.activeElement")
    # Escape closes the list; Enter without a choice begins a new line.
    keys.type("\nqueue.")
    options.first.wait_for()
    keys.press("Escape")
    assert not options.first.is_visible()
    keys.type("l")
    options.first.wait_for()
    keys.press("Enter")
    assert text_of(page).endswith("queue.l\n")
    # Ctrl-Space opens it without a letter; the browser's own undo reverts a completion.
    keys.press("Control+Space")
    options.first.wait_for()
    keys.press("Escape")
    assert page.page.evaluate("document.documentElement.scrollWidth") <= width
    page.page.fill("#toml", before.replace("count = 6", "count = 0"))
    # The error is shown once, and its line is marked even though longer lines wrap.
    has(page, "count = 0")
    page.page.locator(".code-area mark", has_text='name = "caller", count = 0').wait_for()
    assert page.page.get_by_text("0 is too small").filter(visible=True).count() == 1
    mark = page.page.locator(".code-area mark").bounding_box()
    assert mark["height"] > 30 if width == 390 else mark["height"] > 10
    assert area.evaluate("(one) => one.scrollWidth <= one.clientWidth")
