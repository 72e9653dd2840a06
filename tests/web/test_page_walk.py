"""The walk of someone who has an office to judge, from the start page to an applied remedy.

It uses only clicks, keys and text. The command line runs the resulting file and gives the same
numbers as the page.
"""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import product
from pathlib import Path

import airtcp
import pytest
from browsing import CHROMIUM
from hands import FIREFOX, Browser, Chromium, Keys, Mouse, firefox
from serving import Web

MOST_CLICKS = 12
MOST_S = 120.0


@contextmanager
def opened_in(name: str, web: Web, width: int) -> Iterator[Browser]:
    """Open the start page in a browser; check at the end that the console is empty."""
    if name == "firefox":
        if FIREFOX is None:
            pytest.skip("firefox is not here (make setup-system installs it)")
        with firefox() as one:
            one.open(web.url, width, 900)
            yield one
            assert one.complaints == []
        return
    if CHROMIUM is None:
        pytest.skip("chromium is not here (make setup-system installs it)")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": width, "height": 900})
        complaints: list[str] = []
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.goto(web.url)
        yield Chromium(page)
        assert complaints == []


TEXT = "document.getElementById('toml')?.value"


#: The walk of each test run: all other tests of the page use Chromium. `make verify` takes all.
USUAL = {("firefox", Mouse, 390)}
WALKS = [
    pytest.param(*walk, marks=[] if walk in USUAL else pytest.mark.verify)
    for walk in product(("chromium", "firefox"), (Mouse, Keys), (1280, 390))
]


@pytest.mark.parametrize(("name", "hand", "width"), WALKS)
def test_from_the_start_page_to_the_best_remedy_in_twelve_clicks_and_two_minutes(
    web: Web, name: str, hand: type[Mouse], width: int, tmp_path: Path
) -> None:
    with opened_in(name, web, width) as browser:
        _walk(browser, hand(browser), tmp_path)


def _walk(browser: Browser, by: Mouse, folder: Path) -> None:
    begin = time.monotonic()
    # 40 laptops.
    by.press("button", "Blank")
    by.until("document.activeElement?.dataset.key?.endsWith('.count')")
    browser.type("40")
    # 10 calls.
    by.choose("Which", "meeting-laptop")
    by.fill("How many", "10")
    browser.press("Enter")
    by.until(f"{TEXT}.includes('count = 10')")
    assert "count = 40" in browser.evaluate(TEXT)
    # Choose an older standard for the access point.
    by.press("button", "Explore")
    by.press("summary", "Change values")
    by.choose("Standard", "802.11n (Wi-Fi 4)")
    by.until(f"{TEXT}.includes('802.11n')")
    # Wait for the simulated verdict.
    by.until("Boolean(document.querySelector('.first[data-depth=simulation] .best'))")
    by.until("!document.querySelector('.decision progress')")
    said = browser.evaluate("document.querySelector('.headline').textContent")
    assert browser.evaluate("document.querySelector('.verdict-head').matches('.fails')"), said
    text = str(browser.evaluate(TEXT))
    # Apply the best remedy: its trial already has the verdict.
    title = browser.evaluate("document.querySelector('.changes .best').textContent")
    by.press("button", f"Apply: {title}", ".changes")
    by.until(f"{TEXT} !== {text!r}")
    by.until(f"document.querySelector('.headline')?.textContent !== {said!r}")
    # Plan, and share.
    by.press("button", "Plan")
    by.until("document.querySelector('.asked')?.textContent.includes('--until')")
    by.press("button", "Copy link")
    by.until("/Cop(ied|y it)/.test(document.getElementById('share').textContent)")
    assert len(browser.evaluate("location.hash")) > 50
    assert browser.evaluate("document.documentElement.scrollWidth <= innerWidth")
    took = time.monotonic() - begin
    print(f"{by.clicks} clicks, {took:.0f} s: {said} {title}")
    assert by.clicks <= MOST_CLICKS
    assert took <= MOST_S
    changed = airtcp.load(str(browser.evaluate(TEXT)))

    # The command line gives equal numbers for the files.
    path = folder / "office.toml"
    path.write_text(text)
    command = [sys.executable, "-m", "airtcp", "run", str(path), "--no-advice"]
    wide = os.environ | {"COLUMNS": "300"}
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=wide)
    assert said in " ".join(done.stdout.split())
    remedies = airtcp.run(airtcp.load(text)).advice
    assert remedies is not None
    assert remedies.best is not None
    assert remedies.best.title == title
    assert changed.hash() == airtcp.load(text).vary(remedies.best.set).hash()
