"""Sharing a result: its card, its report, a link with its history, and a print."""

import random
from dataclasses import replace
from html import escape
from pathlib import Path
from typing import Any

import airtcp
import pytest
from airtcp.amounts import quantity_with_interval
from airtcp.compare import compare
from airtcp.judge.verdicts import verdict
from airtcp.messages import words
from airtcp.messages.run import headline, ordered
from airtcp.web import sources, views
from airtcp.web.bodies import Source
from browsing import Page, link, put, text_of
from PIL import Image
from test_page_targets import MIX, has, simulated

PNG = b"\x89PNG\r\n\x1a\n"


@pytest.mark.parametrize("targets", [True, False])
def test_a_card_has_question_verdict_three_numbers_and_how_sure(
    targets: bool, tmp_path: Path
) -> None:
    text = MIX if targets else MIX.partition("[targets]")[0]
    result = compare(sources.read(Source(text=text), tmp_path).scenario)
    judged = verdict(result)
    card = views.comparison(replace(result, verdict=judged))["card"]
    assert judged is not None
    assert card["verdict"] == headline(judged)[0]
    first = ordered(judged)[0]
    about = first.target.condition.about
    assert card["numbers"][0]["text"] == words.measured(first.interval, about)
    assert len(card["numbers"]) == 3
    assert card["question"].endswith("?")
    assert f"seed {result.provenance.seed}" in card["sure"]
    assert f"{result.simulation.replications} replications" in card["sure"]
    for one in (card["title"], card["question"], card["verdict"], card["sure"]):
        assert one in card["text"]
    for one in card["numbers"]:
        assert f"{one['label']}: {one['text']}" in card["text"]


def test_a_card_is_copied_and_saved_by_one_click_and_by_one_key(opened: Any) -> None:
    page: Page = opened(permissions=["clipboard-read", "clipboard-write"])
    put(page, MIX)
    sent = page.page.locator("#copy-card")
    assert not sent.is_visible()
    sent.wait_for()
    told = page.page.locator(".verdict-head .headline").text_content()
    for press in (sent.click, lambda: (sent.focus(), page.page.keyboard.press("Enter"))):
        page.page.evaluate("navigator.clipboard.writeText('')")
        press()
        page.page.locator("#copy-card", has_text="Copied").wait_for()
        text = page.page.evaluate("navigator.clipboard.readText()")
        assert told in text
        assert "5 replications of 3.00 s" in text
        kinds = page.page.evaluate(
            "navigator.clipboard.read().then((all) => all.flatMap((one) => one.types))"
        )
        assert set(kinds) == {"image/png", "text/plain"}
        page.page.locator("#copy-card", has_text="Copy card").wait_for()
    with page.page.expect_download() as saved:
        page.page.locator("#save-card").click()
    picture = Path(saved.value.path()).read_bytes()
    assert saved.value.suggested_filename == "mix.png"
    assert picture[:8] == PNG
    assert [int.from_bytes(picture[at : at + 4]) for at in (16, 20)] == [1200, 630]
    # Below the numbers is the diagram of the network, with lines and dots in several colours.
    with Image.open(saved.value.path()) as card:
        colours = card.convert("RGB").crop((60, 290, 1140, 550)).getcolors(1 << 20)
        assert sum(count > 40 for count, _ in colours) > 4


def test_a_report_is_that_of_the_command_line_with_the_file_in_it(opened: Any) -> None:
    page: Page = opened()
    put(page, MIX)
    make = page.page.get_by_role("button", name="Save report")
    assert not make.is_visible()
    simulated(page)
    with page.page.expect_download(timeout=120_000) as saved:
        make.click()
    assert saved.value.suggested_filename == "mix.html"
    report = Path(saved.value.path()).read_text()
    result = airtcp.compare(airtcp.load(MIX))
    judged = verdict(result)
    assert judged is not None
    assert escape(headline(judged)[0]) in report
    known = quantity_with_interval(result.simulation.metrics["goodput_bps"], "b/s")
    assert known in report
    assert escape('application = { kind = "bulk" }', quote=True) in report
    assert "<img" in report or "<svg" in report


def test_a_link_has_what_was_changed_and_tried_and_undo_goes_back_there(opened: Any) -> None:
    page: Page = opened("")
    put(page, MIX)
    page.page.locator(".main-slider input").press("ArrowRight")
    has(page, "count = 12")
    other: Page = opened(link(page))
    has(other, "count = 12")
    history = other.page.locator(".history")
    other.page.get_by_role("button", name="Undo", exact=True).click()
    has(other, "count = 8")
    assert text_of(other) == MIX
    # Both have the same file, so the history goes on.
    history.wait_for(state="attached")
    other.page.get_by_role("button", name="Undo", exact=True).click()
    other.page.wait_for_function("() => !document.title.startsWith('Mix')")
    assert other.page.locator("#example").input_value() == "office-wifi6"


def test_a_link_that_programs_cut_off_is_told_of_and_its_history_left_out(opened: Any) -> None:
    page: Page = opened(permissions=["clipboard-read", "clipboard-write"])
    chance = random.Random(1)
    noise = "".join(f"# {chance.getrandbits(256):x}\n" for _ in range(200))
    put(page, MIX + noise)
    page.page.locator("#share").click()
    told = page.page.locator(".problem .notice", has_text="many programs truncate it")
    told.wait_for()
    address = page.page.evaluate("navigator.clipboard.readText()")
    assert f"{len(address)} characters" in told.inner_text()
    other: Page = opened("#" + address.partition("#")[2])
    has(other, noise[-40:].strip())
    assert not other.page.get_by_role("button", name="Undo", exact=True).is_enabled()


def test_on_paper_a_dark_page_is_light_and_has_nothing_to_press(opened: Any) -> None:
    page: Page = opened(color_scheme="dark")
    put(page, MIX)
    page.page.locator(".picture svg").first.wait_for()
    colour = "getComputedStyle(document.querySelector('.card')).backgroundColor"
    assert page.page.evaluate(colour) != "rgb(255, 255, 255)"
    page.page.emulate_media(media="print", color_scheme="dark")
    assert page.page.evaluate(colour) == "rgb(255, 255, 255)"
    assert page.page.locator(".on-paper").inner_text().startswith("Mix; 802.11n")
    pressed = page.page.locator("button, input, select, textarea")
    assert [one.inner_text() for one in pressed.all() if one.is_visible()] == []


def test_on_a_phone_no_button_covers_another(opened: Any) -> None:
    page: Page = opened(viewport={"width": 390, "height": 844})
    put(page, MIX)
    simulated(page)
    shown = page.page.locator(".actions button, .decision button")
    found = [one.bounding_box() for one in shown.all() if one.is_visible()]
    boxes = [
        (one["x"], one["y"], one["x"] + one["width"], one["y"] + one["height"]) for one in found
    ]
    assert len(boxes) == 5
    for at, (left, top, right, bottom) in enumerate(boxes):
        assert right <= 390
        for other in boxes[:at]:
            beside = left >= other[2] or other[0] >= right
            assert beside or top >= other[3] or other[1] >= bottom
