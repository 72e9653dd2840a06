"""Two browsers for the same walk: Chromium by Playwright, Firefox by WebDriver BiDi.

Both can evaluate an expression, click a place, press keys and type. Elements are found by role and
name, as a person finds them, and each action is counted.
"""

import json
import re
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any, Protocol

from children import children

FIREFOX = shutil.which("firefox-esr") or shutil.which("firefox")

#: Keys without a character, as WebDriver names them.
KEYS = {"Shift": "\ue008", "Control": "\ue009", "Tab": "\ue004", "Enter": "\ue007"}
#: Firefox contacts no other servers.
PREFERENCES = """user_pref("app.normandy.enabled", false);
user_pref("services.settings.server", "data:,");
user_pref("toolkit.telemetry.server", "data:,");
"""

#: Finds visible elements by role and name; the name of a field is its label.
FIND = """(role, name, within) => {
    const tags = { button: 'button', summary: 'summary', field: 'input, select, textarea' };
    const called = (one) => one.ariaLabel ?? one.labels?.[0]?.textContent ?? one.textContent;
    const scopes = [...document.querySelectorAll(within)];
    return scopes.flatMap((scope) => [...scope.querySelectorAll(tags[role])]).find((one) =>
        one.checkVisibility() && !one.closest(':disabled') && called(one).trim().startsWith(name));
}"""


class Browser(Protocol):
    """The browser functions that a user action needs."""

    def evaluate(self, expression: str) -> Any: ...
    def click(self, x: float, y: float) -> None: ...
    def press(self, *keys: str) -> None: ...
    def type(self, text: str) -> None: ...


class Chromium:
    """A page of Playwright."""

    def __init__(self, page: Any) -> None:
        self._page = page

    def evaluate(self, expression: str) -> Any:
        return self._page.evaluate(expression)

    def click(self, x: float, y: float) -> None:
        self._page.mouse.click(x, y)

    def press(self, *keys: str) -> None:
        self._page.keyboard.press("+".join(keys))

    def type(self, text: str) -> None:
        self._page.keyboard.type(text)


class Firefox:
    """A Firefox with one page, controlled through its WebDriver BiDi socket."""

    def __init__(self, socket: Any) -> None:
        self._socket, self._numbers = socket, count(1)
        self.complaints: list[str] = []
        self._told("session.new", capabilities={})
        # The first window has no focus.
        self._page = self._told("browsingContext.create", type="window")["context"]
        self._told("session.subscribe", events=["log.entryAdded"])

    def open(self, url: str, width: int, height: int) -> None:
        size = {"width": width, "height": height}
        self._told("browsingContext.setViewport", context=self._page, viewport=size)
        self._told("browsingContext.navigate", context=self._page, url=url, wait="complete")

    def evaluate(self, expression: str) -> Any:
        told = self._told(
            "script.evaluate",
            expression=f"(async () => JSON.stringify((await ({expression})) ?? null))()",
            target={"context": self._page},
            awaitPromise=True,
        )
        assert told["type"] == "success", told
        return json.loads(told["result"]["value"])

    def click(self, x: float, y: float) -> None:
        move = {"type": "pointerMove", "x": round(x), "y": round(y)}
        press = [{"type": kind, "button": 0} for kind in ("pointerDown", "pointerUp")]
        self._act({"type": "pointer", "id": "mouse", "actions": [move, *press]})

    def press(self, *keys: str) -> None:
        values = [KEYS.get(key, key) for key in keys]
        down = [{"type": "keyDown", "value": one} for one in values]
        up = [{"type": "keyUp", "value": one} for one in reversed(values)]
        self._act({"type": "key", "id": "keys", "actions": down + up})

    def type(self, text: str) -> None:
        for letter in text:
            self.press(letter)

    def _act(self, source: dict[str, Any]) -> None:
        self._told("input.performActions", context=self._page, actions=[source])

    def _told(self, method: str, **params: Any) -> Any:
        number = next(self._numbers)
        self._socket.send(json.dumps({"id": number, "method": method, "params": params}))
        while (told := json.loads(self._socket.recv(timeout=120))).get("id") != number:
            entry = told.get("params", {})
            if entry.get("level") in ("error", "warn"):
                self.complaints.append(entry["text"])
        assert told["type"] == "success", told
        return told["result"]


@contextmanager
def firefox() -> Iterator[Firefox]:
    """Start a headless Firefox with its own profile."""
    from websockets.sync.client import connect

    assert FIREFOX is not None  # tests without it are skipped
    with tempfile.TemporaryDirectory() as folder, children() as mine:
        (Path(folder) / "user.js").write_text(PREFERENCES)
        said = Path(folder) / "stderr"
        command = [FIREFOX, "--headless", "--no-remote", "--remote-debugging-port", "0"]
        with said.open("w") as stderr:
            home = {"HOME": folder}
            mine.start(
                [*command, "--profile", folder], stdout=subprocess.DEVNULL, stderr=stderr, env=home
            )
        until = time.monotonic() + 60
        while (found := re.search(r"ws://\S+", said.read_text())) is None:
            assert time.monotonic() < until, said.read_text()
            time.sleep(0.1)
        with connect(f"{found[0]}/session", max_size=None) as socket:
            yield Firefox(socket)
            socket.send(json.dumps({"id": 0, "method": "browser.close", "params": {}}))


class Mouse:
    """A user with a mouse, who types after clicking a field; `clicks` counts clicks."""

    def __init__(self, browser: Browser) -> None:
        self.browser, self.clicks = browser, 0

    def until(self, condition: str, seconds: float = 90.0) -> None:
        """Wait until an expression is true."""
        end = time.monotonic() + seconds
        while not self.browser.evaluate(condition):
            assert time.monotonic() < end, f"{condition} is not true after {seconds} s"
            time.sleep(0.05)

    def press(self, role: str, name: str, within: str = "body") -> None:
        self.until(f"Boolean({_found(role, name, within)})")
        self._press(_found(role, name, within))

    def fill(self, name: str, text: str, within: str = "body") -> None:
        """Click a field and replace its text."""
        self.press("field", name, within)
        self.browser.press("Control", "a")
        self.browser.type(text)

    def choose(self, name: str, label: str, within: str = "body") -> None:
        """Click a list and one of its options; both clicks count."""
        self.clicks += 2
        self.until(f"Boolean({_found('field', name, within)})")
        self.browser.evaluate(
            f"""((one) => {{
                one.selectedIndex = [...one.options].findIndex((o) => o.text === {label!r});
                one.dispatchEvent(new Event('change', {{ bubbles: true }}));
            }})({_found("field", name, within)})"""
        )

    def _press(self, found: str) -> None:
        self.clicks += 1
        place = f"""((one) => {{
            one.scrollIntoView({{ block: 'center', behavior: 'instant' }});
            const {{ x, y, width, height }} = one.getBoundingClientRect();
            return [x + width / 2, y + height / 2];
        }})({found})"""
        # Wait until the element has stopped moving.
        before, now = None, self.browser.evaluate(place)
        while now != before:
            time.sleep(0.2)
            before, now = now, self.browser.evaluate(place)
        x, y = now
        self.browser.click(x, y)


class Keys(Mouse):
    """A user with a keyboard: Tab to an element, Enter, letters."""

    def press(self, role: str, name: str, within: str = "body") -> None:
        self.until(f"Boolean({_found(role, name, within)})")
        found = _found(role, name, within)
        for _ in range(150):
            # 0: it has the focus; 2: it comes before the focused element; 4: after it.
            way = self.browser.evaluate(f"document.activeElement.compareDocumentPosition({found})")
            if way == 0:
                if role != "field":
                    self.browser.press("Enter")
                return
            self.browser.press(*(("Shift", "Tab") if way & 2 else ("Tab",)))
        raise AssertionError(f"{role} {name} is not reached by Tab")

    def choose(self, name: str, label: str, within: str = "body") -> None:
        """Type the first letters of an option."""
        self.press("field", name, within)
        self.browser.type(label)
        shown = "document.activeElement.selectedOptions[0].textContent"
        assert self.browser.evaluate(shown) == label


def _found(role: str, name: str, within: str) -> str:
    return f"({FIND})({role!r}, {name!r}, {within!r})"
