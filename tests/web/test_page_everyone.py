"""The page for everyone: axe-core on all views, states and both themes, and nothing cut off.

A view can be empty, running, ended, failed or offline. Other tests check the numbers that are
shown.
"""

import re
from collections.abc import Callable
from typing import Any

import pytest
from bases import cell
from browsing import AXE, Page, packed, put

pytestmark = pytest.mark.skipif(
    not AXE.is_file(), reason="axe-core is not here (make setup-system)"
)

VIEWS = ("Scenario", "Explore", "Plan", "Timeline", "Papers", "Store")
SHORT = cell(3, title="Short", warmup="1 s", duration="2 s", replications=3)
#: Widths in pixels of a phone and two laptops.
PHONE, LAPTOP, WIDE = 390, 1280, 1440
#: By theme: the widths to check for overflow, and those to check by axe-core.
SIZES = {"light": ((PHONE, LAPTOP), (PHONE,)), "dark": ((PHONE, LAPTOP, WIDE), (PHONE, LAPTOP))}


def view(page: Page, name: str) -> None:
    page.page.locator("#views button", has_text=name).click()


def judged(page: Page, rules: str = "") -> list[str]:
    """Return the findings of axe-core, with all or some of its rules."""
    found = page.page.evaluate(f"axe.run({rules})")
    return [
        f"{one['id']}: {node['html'][:200]}"
        for one in found["violations"]
        for node in one["nodes"][:3]
    ]


def findings(page: Page, width: int, *, is_judged: bool) -> list[str]:
    """Return overflow of the window, and the findings of axe-core if `is_judged`."""
    page.page.wait_for_timeout(200)
    bad = judged(page) if is_judged else []
    wide = page.page.evaluate("document.documentElement.scrollWidth")
    ends = page.page.locator("#views button").evaluate_all(
        "(all) => all.map((one) => one.getBoundingClientRect().right)"
    )
    if max(ends) > width:
        bad.append(f"a view's name ends at {max(ends)} px")
    return bad + ([f"{wide} px wide"] if wide > width else [])


#: Choices whose text is cut off: a list with only this choice would be wider.
CUT = """(all) => all.filter((one) => {
    const free = one.cloneNode(false);
    free.append(one.selectedOptions[0].cloneNode(true));
    Object.assign(free.style, { width: 'max-content', maxWidth: 'none', position: 'absolute' });
    one.after(free);
    const wanted = free.getBoundingClientRect().width;
    free.remove();
    return wanted > one.getBoundingClientRect().width + 1;
}).map((one) => one.selectedOptions[0].textContent)"""


def empty(page: Page) -> list[str]:
    """A new scenario: no traffic chosen, nothing simulated."""
    page.page.get_by_role("button", name="Blank", exact=True).click()
    page.page.wait_for_function("() => document.getElementById('toml')?.value.includes('laptop')")
    return list(VIEWS)


def running(page: Page) -> list[str]:
    """A running job in each view that has one, the explorer's last."""
    put(page, SHORT.replace('"2 s"', '"100000 s"'))
    page.until("All flows")
    return ["Explore", "Plan", "Timeline", "Papers"]


def ended(page: Page) -> list[str]:
    """A scenario whose runs all end within seconds."""
    put(page, SHORT)
    page.until("All flows")
    return ["Explore", "Plan", "Timeline", "Scenario", "Store"]


def failed(page: Page) -> list[str]:
    """A file that has become invalid."""
    put(page, SHORT)
    page.until("All flows")
    put(page, SHORT.replace("count = 3", "count = 0"))
    page.page.locator(".problem .notice").wait_for()
    return list(VIEWS)


def offline(page: Page) -> list[str]:
    """A server that does not respond."""
    page.page.locator(".picture svg").first.wait_for()
    page.context.route("**/api/**", lambda route: route.abort())
    return list(VIEWS)


ON_THE_WAY = {
    "state": "running",
    "progress": 0.3,
    "words": "replication 1",
    "place": 0,
    "seen": 0,
    "messages": [],
}


def cells(page: Page) -> list[str]:
    """Three access points on a floor plan."""
    page.page.select_option("#example", "three-offices")
    page.page.locator(".floor .ap").first.wait_for()
    return ["Scenario", "Explore", "Timeline"]


STARTS = {"Explore": "Simulate", "Plan": "Find the capacity", "Timeline": "Show"}


def begin(page: Page, name: str) -> None:
    """Press the button that starts a view's run."""
    label = STARTS.get(name, "Simulate the paper's points")
    page.page.get_by_role("button", name=label, exact=True).click()


def is_running(page: Page, name: str) -> None:
    if name not in ("Explore", "Plan"):
        # These runs end within a second, so their status is faked as still running.
        page.context.route("**/api/jobs/*", lambda route: route.fulfill(json=ON_THE_WAY))
    if name != "Explore":
        begin(page, name)
    page.page.locator("progress").first.wait_for()


def has_ended(page: Page, name: str) -> None:
    """Make everything that a view can show."""
    if name == "Explore":
        page.page.get_by_role("button", name=re.compile("Set a target")).click()
        page.page.locator(".editor fieldset:enabled").wait_for()
        page.page.get_by_label("Bound", exact=True).fill("-5")
        page.page.get_by_text("The simulation says").wait_for()
        page.page.get_by_role("button", name="Simulate", exact=True).wait_for()
        page.page.locator(".switch input").first.check()
        page.page.get_by_role("button", name="Try: simulate before and after").click()
        page.page.get_by_text("pairs of replications").first.wait_for(state="attached")
        page.page.get_by_role("button", name="Simulate the curve").click()
        page.page.locator(".picture .points.simulated").wait_for()
        page.page.get_by_role("button", name="Simulate the curve").wait_for()
    elif name == "Plan":
        begin(page, name)
        page.page.locator("main .depth", has_text="Result").wait_for(timeout=120_000)
    elif name == "Timeline":
        begin(page, name)
        page.page.locator(".now").wait_for()
    elif name == "Store":
        page.page.get_by_label("As", exact=True).select_option("heat")
        page.page.locator(".heat .cell").first.wait_for()
    page.page.evaluate("document.querySelectorAll('details').forEach((one) => one.open = true)")


def has_failed(page: Page, name: str) -> None:
    """Start a run nevertheless."""
    if name in STARTS:
        begin(page, name)
        page.page.locator(".run .notice.bad").first.wait_for()


STATES: dict[str, tuple[Callable[[Page], list[str]], Callable[[Page, str], Any]]] = {
    "empty": (empty, lambda page, name: None),
    "running": (running, is_running),
    "ended": (ended, has_ended),
    "failed": (failed, has_failed),
    "cells": (cells, lambda page, name: None),
    "offline": (offline, has_failed),
}


SEEN = [
    pytest.param(scheme, state, marks=() if scheme == "light" else pytest.mark.verify)
    for state in STATES
    for scheme in ("light", "dark")
]
#: A theme changes only colours, and an ended view shows all of them.
OF_COLOURS = '{ runOnly: ["color-contrast"] }'


@pytest.mark.parametrize(("scheme", "state"), SEEN)
def test_every_view_is_for_everyone_in_every_state(opened: Any, scheme: str, state: str) -> None:
    prepare, do = STATES[state]
    page: Page = opened(
        packed({"example": "web-hotspot"}),
        color_scheme=scheme,
        viewport={"width": LAPTOP, "height": 900},
    )
    page.answer()
    page.page.evaluate(AXE.read_text(encoding="utf-8"))
    found: list[str] = []
    for name in prepare(page):
        view(page, name)
        do(page, name)
        widths, of_axe = SIZES[scheme]
        for width in widths:
            page.page.set_viewport_size({"width": width, "height": 900})
            if width == PHONE:
                # A phone folds the sliders: check them unfolded.
                page.page.evaluate(
                    "document.querySelectorAll('.all-controls').forEach((one) => one.open = true)"
                )
            wrong = findings(page, width, is_judged=width in of_axe)
            found += [f"{name}, {width} px: {one}" for one in wrong]
            if (scheme, state, width) == ("light", "ended", PHONE):
                page.page.emulate_media(color_scheme="dark", reduced_motion="reduce")
                found += [f"{name}, dark: {one}" for one in judged(page, OF_COLOURS)]
                page.page.emulate_media(color_scheme="light")
        if state == "running":
            page.context.unroute_all()
            # A run that has ended has no Stop button.
            page.page.evaluate("document.querySelectorAll('.stop').forEach((one) => one.click())")
            page.page.locator(".stop").first.wait_for(state="detached")
    assert not found, "\n".join(found)
    if state == "offline":
        # The browser itself logs failed requests.
        page.complaints[:] = [one for one in page.complaints if "ERR_FAILED" not in one]


@pytest.mark.parametrize("width", [390, 800, 1280])
def test_what_a_group_is_made_of_is_read_in_full(opened: Any, width: int) -> None:
    """Lists are wide enough for names of devices and places."""
    page: Page = opened(
        packed({"example": "three-offices", "view": "scenario"}),
        viewport={"width": width, "height": 900},
    )
    page.page.locator(".group-keys select").first.wait_for()
    assert page.page.locator(".group-keys select").evaluate_all(CUT) == []
