"""The first screen: few words, few window heights, and no findings of axe-core."""

from typing import Any

import pytest
from browsing import AXE, SEEN, Page, packed
from test_page_everyone import judged
from test_page_targets import simulated

MOST_WORDS = 250
#: The maximum page height in window heights, by window size.
MOST_HEIGHTS = {(1280, 800): 2.0, (390, 844): 4.0}


@pytest.mark.parametrize(
    "example",
    [
        "office-wifi6",
        *(pytest.param(one, marks=pytest.mark.verify) for one in ("web-hotspot", "three-offices")),
    ],
)
def test_the_first_screen_is_short_before_and_after_a_simulation(opened: Any, example: str) -> None:
    page: Page = opened(packed({"example": example}), folded=True)
    page.page.locator(".verdict-head .headline").wait_for()
    for depth in ("quick", "simulated"):
        if depth == "simulated":
            simulated(page)
        for (width, height), most in MOST_HEIGHTS.items():
            page.page.set_viewport_size({"width": width, "height": height})
            page.page.wait_for_timeout(200)
            words, heights = page.page.evaluate(SEEN)
            print(f"{example}, {depth}, {width} px: {words} words, {heights:.2f} heights")
            assert words <= MOST_WORDS
            assert heights <= most
            assert page.page.evaluate("document.documentElement.scrollWidth") <= width
            if not AXE.is_file():
                continue
            page.page.evaluate(AXE.read_text(encoding="utf-8"))
            for scheme in ("dark", "light"):
                page.page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
                assert judged(page) == []
