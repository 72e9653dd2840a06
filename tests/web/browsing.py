"""The page in a browser: actions of a person, done with Playwright.

Opens pages, waits for answers, and checks accessibility. The tests check what a page shows.
"""

import base64
import json
import re
import shutil
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

CHROMIUM = shutil.which("chromium")

#: Axe's rules file, which `make setup-system` fetches from npm.
AXE = Path(__file__).parents[2] / ".venv" / "axe" / "axe.min.js"


#: Opens everything that is folded, like a person who wants to see it all.
UNFOLD = """new MutationObserver(() => {
    for (const one of document.querySelectorAll('.fold:not([data-seen]), .more:not([data-seen])')) {
        one.dataset.seen = '';
        one.open = true;
    }
}).observe(document, { childList: true, subtree: true })"""

#: The number of visible words, and the height of the page in window heights.
SEEN = """() => {
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    let words = 0;
    while (walker.nextNode()) {
        const parent = walker.currentNode.parentElement;
        const hidden = parent.closest('.visually-hidden, .skip, noscript, title');
        const isChosen = parent.tagName !== 'OPTION' || parent.selected;
        const box = parent.closest('select') ?? parent;
        if (!isChosen || hidden || !box.checkVisibility()) continue;
        words += walker.currentNode.data.split(/\\s+/).filter(Boolean).length;
    }
    return [words, document.documentElement.scrollHeight / innerHeight];
}"""


class Page:
    """A page, and its console errors. With `folded`, folded parts stay folded."""

    def __init__(self, browser: Any, url: str, *, folded: bool = False, **options: Any) -> None:
        self.context = browser.new_context(**options)
        self.page = self.context.new_page()
        self.page.set_default_timeout(300_000)
        self.complaints: list[str] = []
        self.hosts: set[str] = set()
        self.release: Callable[[], None] = lambda: None
        self.page.on("console", self._said)
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("request", lambda request: self.hosts.add(request.url.split("/")[2]))
        if not folded:
            self.page.add_init_script(UNFOLD)
        self.page.goto(url)

    def _said(self, message: Any) -> None:
        # A refused request has a status, which the browser logs too.
        if message.type in ("error", "warning") and "status of 422" not in message.text:
            self.complaints.append(message.text)

    def answer(self) -> str:
        lead = self.page.locator("#answer:not([aria-busy]) .lead:not(.loading)")
        lead.wait_for()
        return str(lead.first.inner_text())

    def until(self, text: str) -> None:
        """Wait until the answer contains a text."""
        self.page.locator("#answer .lead", has_text=text).wait_for()

    def option(self, name: str, about: str) -> None:
        """Choose an entry from the menu of a target."""
        button = self.page.locator(f'[aria-label^="{name}: {about}"]').first
        self.page.locator(".menu", has=button).first.locator("summary").click()
        button.click()

    def slide(self, path: str, text: str) -> None:
        """Move a slider by keyboard until it shows a text."""
        self.page.evaluate(
            "document.querySelectorAll('.section').forEach((one) => one.open = true)"
        )
        slider = self.page.locator(f'input[type="range"][data-path="{path}"]').first
        slider.focus()
        self.page.keyboard.press("Home")
        for _ in range(300):
            if slider.get_attribute("aria-valuetext") == text:
                return
            self.page.keyboard.press("ArrowRight")
        raise AssertionError(f"{path} has no {text}")


def link(page: Page) -> str:
    """Return the fragment of the address once it has settled."""
    page.page.wait_for_timeout(400)
    return "#" + str(page.page.url).partition("#")[2]


def packed(state: dict[str, Any]) -> str:
    """Return the fragment of an address that holds a state, packed as the page packs it."""
    packer = zlib.compressobj(wbits=-15)
    content = packer.compress(json.dumps(state).encode()) + packer.flush()
    return "#1" + base64.urlsafe_b64encode(content).decode().rstrip("=")


def choose(page: Page, text: str, name: str = "quick.toml") -> None:
    """Choose a file in the upload dialog."""
    page.page.set_input_files(
        "#upload", {"name": name, "mimeType": "text/plain", "buffer": text.encode()}
    )


def text_of(page: Page) -> str:
    """Return the scenario file once the page has written the latest change into it.

    The verdict of a scenario that was simulated before appears earlier than its file.
    """
    page.page.wait_for_function(
        "() => document.getElementById('toml')?.closest('[aria-busy]') === null"
    )
    return str(page.page.locator("#toml").input_value())


def put(page: Page, text: str, name: str = "quick.toml") -> None:
    """Open a file, and wait until the page shows its title or an error.

    Otherwise the test's next action would go to the previous scenario.
    """
    choose(page, text, name)
    titled = re.search(r'^title = "(.*)"$', text, re.MULTILINE)
    if titled:
        page.page.wait_for_function(
            "(title) => document.title.startsWith(title)"
            " || document.querySelector('.problem .notice, .bad-field .line')",
            arg=titled[1],
        )


def serious(page: Page) -> None:
    """Ask axe-core for violations of WCAG 2 A and AA that are serious or critical."""
    page.page.evaluate(AXE.read_text(encoding="utf-8"))
    found = page.page.evaluate("axe.run({runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa']})")
    bad = [
        (one["id"], [node["html"][:200] for node in one["nodes"]][:3])
        for one in found["violations"]
        if one["impact"] in ("serious", "critical")
    ]
    assert not bad
