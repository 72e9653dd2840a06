"""The deciding run starts by itself, and the best verdict of a scenario stays."""

import re
from typing import Any

from browsing import Page, put
from serving import Web
from test_page_targets import MIX, begun, has, held_back, shown, simulated

LONG = MIX.replace('"3 s"', '"100000 s"')


def asked(page: Page) -> list[str]:
    """Return a list that collects the addresses of runs that the page starts or leaves."""
    found: list[str] = []
    page.page.on(
        "request",
        lambda one: found.append(one.url) if one.method == "POST" and "/jobs" in one.url else None,
    )
    return found


def test_a_change_that_was_tried_has_its_verdict_at_once_and_undo_has_the_one_before(
    opened: Any,
) -> None:
    page = begun(opened)
    put(page, MIX + '"call p95 packet_delay" = "< 50 ms"\n', "two.toml")
    simulated(page)
    before = shown(page)
    assert "MISSES" in before
    # The run of the changed scenario is held back.
    release = held_back(page, "**/api/jobs", lambda _: True)
    said: list[str] = []
    page.page.expose_function("said", lambda text: said.append(text))
    page.page.evaluate(
        """new MutationObserver(() => said(document.querySelector('.headline')?.textContent ?? ''))
        .observe(document.querySelector('.verdict-head'), { childList: true, subtree: true })"""
    )
    best = page.page.locator(".remedy", has=page.page.locator(".best"))
    best.get_by_role("button", name="Apply").click()
    page.page.locator(".verdict-head.holds").wait_for()
    assert "MEETS" in shown(page)
    page.page.locator(".verdict-head", has_text="Trial of this change").wait_for()
    page.page.locator("progress").wait_for()
    release()
    simulated(page)
    assert "MEETS" in shown(page)
    assert not [one for one in said if "INCONCLUSIVE" in one]
    posted = asked(page)
    page.page.get_by_role("button", name="Undo", exact=True).click()
    page.page.locator('.first[data-depth="simulation"] .verdict-head.fails').wait_for()
    page.page.wait_for_timeout(1500)
    assert shown(page) == before
    assert posted == []


def test_a_run_that_started_by_itself_is_asked_for_again_while_there_is_no_room(
    opened: Any,
) -> None:
    page: Page = opened()
    page.answer()
    refused = {"problem": {"message": "too many users request runs at a time"}}
    page.context.route("**/api/jobs", lambda route: route.fulfill(status=503, json=refused))
    put(page, LONG)
    for _ in range(2):
        with page.page.expect_request(re.compile("/api/jobs$")):
            pass
    page.context.unroute_all()
    page.page.locator("progress").wait_for()
    with page.page.expect_response(re.compile("/api/jobs/[^/]*seen=")) as polled:
        pass
    assert polled.value.ok
    # The browser itself logs failed requests.
    page.complaints[:] = [one for one in page.complaints if "503" not in one]


def test_a_run_that_started_by_itself_ends_with_the_next_edit_and_with_the_tab(
    opened: Any, web: Web
) -> None:
    page: Page = opened()
    page.answer()
    put(page, LONG)
    for count in (12, 16):
        page.page.locator("progress").wait_for()
        page.page.wait_for_timeout(500)
        left = asked(page)
        # From 8 and 2 stations the next mix is 12 and 3.
        page.page.locator(".main-slider input").press("ArrowRight")
        has(page, f"count = {count}")
        page.page.locator("progress").wait_for()
        assert left[0].endswith("/stop")
    with page.page.expect_response(re.compile("/api/jobs/[^/]*seen=")) as polled:
        pass
    page.page.goto("about:blank")
    job = polled.value.url.rpartition("/")[2].partition("?")[0]
    # Only the page has left the job; this test's requests keep it known.
    assert web.ended(job, 20.0)["state"] == "stopped"


def test_a_verdict_gives_way_to_a_better_one_alone(opened: Any) -> None:
    page: Page = opened()
    page.answer()
    told = page.page.evaluate(
        """async () => {
            const { keep, best } = await import('/static/best.js');
            const of = (...states) => ({
                state: ['fails', 'unknown', 'holds'].find((one) => states.includes(one)),
                targets: states.map((state, index) => ({ target: `${index}`, state })),
            });
            const seen = [];
            const put = (...now) => { keep('key', ...now); seen.push(best('key').depth); };
            put(of('unknown', 'unknown'), 'glance');
            put(of('holds', 'unknown'), 'trial');
            put(of('unknown', 'unknown'), 'simulation');
            put(of('holds', 'holds'), 'glance');
            put(of('unknown', 'fails'), 'sofar');
            put(of('holds', 'fails'), 'simulation');
            return seen;
        }"""
    )
    assert told == ["glance", "trial", "trial", "trial", "sofar", "simulation"]


def test_the_focus_stays_at_its_button_while_the_answer_sharpens(opened: Any) -> None:
    page = begun(opened, held="**/api/jobs/**")
    page.page.get_by_label("Options: desk").click()
    button = page.page.get_by_role("button", name=re.compile("^Change: .*desk"))
    button.wait_for()
    page.page.locator("progress").wait_for()
    # Results of the run are held back until the button has the focus.
    focused = "document.activeElement.ariaLabel?.startsWith('Change: ')"
    # A better quick answer may replace the button before it gets the focus.
    while not page.page.evaluate(focused):
        button.focus()
    held = button.element_handle()
    page.release()
    page.page.get_by_text("The simulation says").wait_for()
    # The button was replaced, and the new one has the focus.
    assert not held.evaluate("(one) => one.isConnected")
    assert page.page.evaluate(focused)


def test_the_focus_goes_back_from_stop_to_simulate_when_a_run_has_ended(opened: Any) -> None:
    page = begun(opened)
    simulated(page)
    start = page.page.get_by_role("button", name="Simulate", exact=True)
    # The run must not end before the Stop button appears.
    release = held_back(page, "**/api/jobs/**", lambda _: True)
    start.press("Enter")
    page.page.get_by_role("button", name="Stop", exact=True).wait_for()
    release()
    start.wait_for()
    assert page.page.evaluate("document.activeElement.innerText") == "Simulate"
