"""Targets, remedies and curves in a browser: setting, trying and applying give equal numbers.

`test_judged.py` compares the numbers themselves with Python's.
"""

from collections.abc import Callable
from typing import Any

import airtcp
import pytest
from airtcp.amounts import quantity_with_interval
from airtcp.judge.verdicts import glanced, verdict
from airtcp.messages import words
from airtcp.messages.run import groups, headline, ordered
from airtcp.metrics import METRICS
from browsing import Page, choose, put, text_of
from test_judged import SEEDS, random_text

#: Calls behind endless downloads in one queue: they are late, and known remedies help.
MIX = """
title = "Mix"

[phy]
standard = "802.11n"

[ap]
queue = { limit = 1000 }  # long

[[stations]]
name = "desk"
count = 8

[[stations]]
name = "call"
count = 2

[[flows]]
stations = "desk"
direction = "download"
application = { kind = "bulk" }

[[flows]]
stations = "call"
direction = "download"
application = { kind = "udp", packet = "200 B", rate = "100 kb/s" }

[run]
warmup = "1 s"
duration = "3 s"
replications = 5

[targets]
"desk flow_goodput" = "> 1 Mb/s"
"""


def shown(page: Page) -> str:
    """Return the headline of the verdict."""
    return str(page.page.locator(".verdict-head .headline").inner_text())


def has(page: Page, text: str) -> None:
    """Wait until the file contains a text: the targets' lights may update earlier."""
    page.page.wait_for_function(
        "(text) => document.getElementById('toml')?.value.includes(text)", arg=text
    )


def simulated(page: Page) -> None:
    """Wait for the run that starts by itself, with its trials."""
    page.page.locator('.first[data-depth="simulation"]').wait_for()
    page.page.get_by_role("button", name="Simulate", exact=True).wait_for()


def held_back(page: Page, address: str, wanted: Callable[[Any], bool]) -> Callable[[], None]:
    """Hold back requests whose body is wanted, until the returned function is called."""
    released = False
    held: list[Any] = []

    def hold(route: Any) -> None:
        if released or not wanted(route.request.post_data_json):
            route.continue_()
        else:
            held.append(route)

    def release() -> None:
        nonlocal released
        released = True
        for route in held:
            route.continue_()

    page.context.route(address, hold)
    return release


def begun(opened: Any, held: str = "") -> Page:
    """Open the mix; requests to an address are held back until `page.release()`."""
    page: Page = opened()
    page.answer()
    if held:
        page.release = held_back(page, held, lambda _: True)
    put(page, MIX)
    page.page.locator(".lights li", has_text="desk").wait_for()
    return page


def test_a_target_is_set_by_keyboard_changed_and_removed(opened: Any) -> None:
    page = begun(opened)
    page.page.get_by_role("button", name="Set a target").focus()
    page.page.keyboard.press("Enter")
    page.page.locator(".editor fieldset:enabled").wait_for()
    # The first choice has the focus.
    page.page.keyboard.type("call")
    assert page.page.get_by_label("Metric", exact=True).input_value() == "packet_delay"
    assert page.page.get_by_label("Statistic", exact=True).input_value() == "p95"
    # A call has no transfers that end, so none is offered.
    offered = page.page.get_by_label("Metric", exact=True).locator("option")
    assert "transfer_time" not in [one.get_attribute("value") for one in offered.all()]
    bound = page.page.get_by_label("Bound", exact=True)
    bound.fill("-5")
    assert "never below 0" in page.page.locator(".editor .bad-field").first.inner_text()
    assert bound.get_attribute("aria-invalid") == "true"
    bound.fill("50")
    page.page.keyboard.press("Enter")
    page.page.locator(".lights li.fails", has_text="call packet delay, p95").wait_for()
    has(page, "call p95 packet_delay")

    targets = airtcp.load(text_of(page)).targets
    assert {one.text for one in targets} == {
        "desk flow_goodput > 1 Mb/s",
        "call p95 packet_delay < 50 ms",
    }
    assert "# long" in text_of(page)
    page.option("Change", "call packet delay, p95")
    page.page.locator(".editor fieldset:enabled").wait_for()
    assert bound.input_value() == "50"
    bound.fill("20")
    page.page.get_by_role("button", name="Change this target").click()
    page.page.locator(".lights li", has_text="< 20 ms").wait_for()
    page.option("Remove", "call packet delay, p95")
    page.page.locator(".lights li", has_text="packet delay").wait_for(state="detached")
    page.page.wait_for_function(
        "() => !document.getElementById('toml')?.value.includes('packet_delay')"
    )
    assert [one.text for one in airtcp.load(text_of(page)).targets] == [
        "desk flow_goodput > 1 Mb/s"
    ]
    page.page.get_by_role("button", name="Undo", exact=True).click()
    page.page.locator(".lights li", has_text="< 20 ms").wait_for()


def test_a_slider_of_the_scenario_before_leaves_the_new_one_as_it_is(
    opened: Any,
) -> None:
    """The slider's key is not in the new file, so moving it would make that file invalid."""
    page: Page = opened()
    page.answer()
    release = held_back(page, "**/api/scenario", lambda _: True)
    choose(page, MIX)
    page.page.locator(".lights li", has_text="desk").wait_for()
    page.page.locator(".main-slider input").press("ArrowRight")
    page.page.locator('#controls input[type="range"]').first.press("ArrowRight")
    release()
    page.page.wait_for_function("() => document.title.startsWith('Mix')")
    assert text_of(page) == MIX
    assert page.page.locator(".main-slider output").inner_text() == "10"


def test_the_curve_of_a_target_has_its_bound_and_becomes_sharper(
    opened: Any,
) -> None:
    page = begun(opened)
    # A longer simulation waits until the first one has been read.
    release = held_back(page, "**/api/curve", lambda asked: asked["times"] > 1)
    page.option("Curve", "desk goodput per flow")
    chart = page.page.locator(".picture .chart")
    chart.locator(".boundname", has_text="1 Mb/s").wait_for()
    sharper = page.page.locator(".depth-told", has_text="Refining")
    sharper.wait_for(timeout=120_000)
    # From 8 and 2: totals of 5, 10, 15 and so on, four of five at desks.
    seen = page.page.locator(".picture .points circle title")
    first = seen.all_text_contents()
    assert len(first) > 4
    release()
    sharper.wait_for(state="hidden", timeout=120_000)
    assert seen.all_text_contents() != first
    page.page.locator(".values summary").click()
    numbers = page.page.locator(".values tbody tr td:first-child").all_text_contents()
    assert all(int(number) % 5 == 0 for number in numbers)


def test_points_of_runs_too_short_are_bounds_or_hollow(opened: Any) -> None:
    """Pages of 3 MB in four seconds: a few stations give bounds, many are not in steady state."""
    web = 'kind = "web", size = { distribution = "exponential", mean = "3 MB" }'
    think = 'think_time = { distribution = "exponential", mean = "1 s" }'
    text = MIX[: MIX.index("[targets]")].replace('kind = "bulk"', f"{web}, {think}")
    page = opened()
    page.answer()
    put(page, text.replace('"802.11n"', '"802.11n"\nmcs = 1'))
    page.page.get_by_role("button", name="Simulate the curve").click()
    page.page.locator(".picture .points.simulated").wait_for()
    page.page.get_by_role("button", name="Simulate the curve").wait_for()
    page.page.select_option("#metric", "transfer_time_s")
    points = page.page.locator(".picture .points.simulated")
    points.locator(".at-least, .unsteady").first.wait_for(state="attached")
    page.page.locator(".values summary").click()
    # Read in one step: the run that starts by itself adds a point.
    told, at_least, unsteady = page.page.evaluate(
        """() => {
            const all = (selector) => [...document.querySelectorAll(selector)];
            const points = '.picture .points.simulated';
            return [
                all('.values tbody td:nth-child(4)').map((one) => one.innerText),
                all(`${points} .at-least`).length,
                all(`${points} .unsteady`).length,
            ];
        }"""
    )
    bounds = [one for one in told if one.startswith("at least")]
    hollow = [one for one in told if one.endswith("(not steady)") and one not in bounds]
    assert at_least == len(bounds)
    assert unsteady == len(hollow)
    assert bounds or hollow
    fill = "(one) => getComputedStyle(one).fill"
    for one in points.locator(".unsteady circle").all():
        card = page.page.evaluate(
            "getComputedStyle(document.querySelector('.card')).backgroundColor"
        )
        assert one.evaluate(fill) == card


def test_a_server_that_is_gone_says_what_is_kept(opened: Any) -> None:
    page = begun(opened)
    before = shown(page)
    page.context.route("**/api/**", lambda route: route.abort())
    page.page.get_by_role("button", name="Set a target").click()
    page.page.locator(".editor [role=alert]", has_text="keeps the scenario").wait_for()
    assert shown(page) == before
    page.page.get_by_role("button", name="Simulate", exact=True).click()
    page.page.locator(".run .notice.bad", has_text="Restart airtcp web").wait_for()
    page.context.unroute("**/api/**")
    page.page.get_by_role("button", name="Simulate", exact=True).click()
    simulated(page)
    # The browser itself logs failed requests.
    page.complaints[:] = [one for one in page.complaints if "ERR_FAILED" not in one]


#: Number of seeds in a normal test run; `make verify` uses all.
_QUICK_SEEDS = 1


@pytest.mark.parametrize(
    "seed",
    [
        pytest.param(seed, marks=[] if place < _QUICK_SEEDS else pytest.mark.verify)
        for place, seed in enumerate(SEEDS)
    ],
)
def test_the_page_prints_the_numbers_of_the_python(opened: Any, seed: int) -> None:
    """Groups, metrics, verdict, lights and trials of runs of random scenarios."""
    text = random_text(seed)
    page = opened()
    page.answer()
    put(page, text)
    page.page.wait_for_function(f"() => document.title.startsWith('Number {seed}')")
    page.answer()
    scenario = airtcp.load(text)
    result = airtcp.compare(scenario)
    judged = verdict(result)
    simulated(page)
    assert printed(page, "Results by group") == [list(row) for row in groups(result).rows]
    # Each simulated row has its metric's estimate, as the command line prints it.
    labels = {one.label: name for name, one in METRICS.items()}
    simulation = result.simulation.metrics
    numbers = printed(page, "Models and simulation")
    assert len(numbers) > 2
    for row in numbers:
        label, told = row[0], row[3 if len(row) > 2 else 1]
        if label == "goodput of the least flow":
            continue  # below goodput per flow, if flows differ (tests/test_least.py)
        name = labels[label]
        assert told == quantity_with_interval(simulation[name], METRICS[name].unit)
    if judged is None:
        assert page.page.locator(".verdict-head").inner_text() == headline(None)[0]
        return
    # A quick simulation may decide more than runs of 400 ms: then its verdict stays.
    if page.page.locator(".verdict-head", has_text="Quick simulation").count():
        quick = glanced(scenario, airtcp.glance(scenario))
        assert quick is not None
        pairs = zip(judged.targets, quick.targets, strict=True)
        assert any(now.state == "unknown" and then.state == "holds" for now, then in pairs)
        judged = quick
    assert shown(page) == headline(judged)[0]
    lights = page.page.locator(".lights li").all_inner_texts()
    for one in ordered(judged):
        about = one.target.condition
        parts_ = (words.target_about(about), words.wanted(about))
        told_of = [*(" ".join(part.split()) for part in parts_)]
        told_of.append(words.measured(one.interval, about.about))
        assert any(all(part in light for part in told_of) for light in lights)
    cards = " ".join(page.page.locator(".remedy").all_inner_texts()).lower()
    assert all(trial.title.lower() in cards for trial in airtcp.advise(result).trials)


def printed(page: Page, caption: str) -> list[list[str]]:
    """Return the cells of a table on the page, row by row."""
    table = page.page.locator("table", has=page.page.locator("caption", has_text=caption))
    rows = table.locator("tbody tr").all()
    return [row.locator("td").all_text_contents() for row in rows]


@pytest.mark.parametrize("what", ["metric", "axis"])
def test_the_focus_stays_at_a_choice_that_an_answer_makes_anew(
    opened: Any,
    what: str,
) -> None:
    page = opened()
    page.answer()
    late: list[Any] = []
    page.page.route("**/api/lights", lambda route: late.append(route))
    page.page.select_option("#example", "web-hotspot")
    page.until("All flows")
    page.page.wait_for_function("() => document.querySelectorAll('.lights li').length === 0")
    # The previous example may also have sent one.
    while not any("web-hotspot" in (one.request.post_data or "") for one in late):
        page.page.wait_for_timeout(50)
    choice = page.page.locator(f"#{what}").element_handle()
    choice.focus()
    for route in late:
        route.continue_()
    page.page.locator(".lights li").wait_for()
    page.page.wait_for_function("one => !one.isConnected", arg=choice)
    assert page.page.evaluate("document.activeElement.id") == what
