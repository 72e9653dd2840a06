"""Make the screenshot of the page in its guide: a simulated example, in Chromium.

Chromium renders text differently from version to version, so no test compares pixels.

    .venv/bin/python docs/make_web.py
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from PIL import Image

ROOT = Path(__file__).parents[1]
PICTURE = ROOT / "docs" / "images" / "web.png"
EXAMPLE = "office-wifi6"
WIDTH, HEIGHT = 1200, 860
#: Number of colours in the palette of the stored picture.
COLOURS = 256
#: Timeout for a run and its remedies on a machine with one core.
PATIENCE_MS = 600_000


def main() -> None:
    """Serve the page, use it, and take the screenshot."""
    chromium = shutil.which("chromium")
    if chromium is None:
        sys.exit("chromium is not here: docs/images/web.png stays as it is")
    from playwright.sync_api import sync_playwright

    command = [sys.executable, "-m", "airtcp", "web", "--port", "0"]
    # Remove the user's token, which the page would ask for.
    environment = {name: one for name, one in os.environ.items() if name != "AIRTCP_WEB_TOKEN"}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as server:
        assert server.stdout is not None
        address = server.stdout.readline().strip()
        try:
            with sync_playwright() as playwright:
                browser = playwright.chromium.launch(
                    executable_path=chromium, args=["--no-sandbox"]
                )
                page = browser.new_page(
                    viewport={"width": WIDTH, "height": HEIGHT}, color_scheme="light"
                )
                page.set_default_timeout(PATIENCE_MS)
                page.goto(address)
                page.select_option("#example", EXAMPLE)
                # The run starts automatically, then the page tries changes.
                page.locator('.first[data-depth="simulation"]').wait_for()
                page.evaluate("document.activeElement.blur(); scrollTo(0, 0)")
                page.screenshot(path=PICTURE)
                compress(PICTURE)
                browser.close()
        finally:
            server.terminate()
    print(f"{PICTURE.relative_to(ROOT)}: {PICTURE.stat().st_size / 1e3:.0f} kB")


def compress(picture: Path) -> None:
    """Store a picture with a palette; the page has few colours."""
    with Image.open(picture) as taken:
        few = taken.convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE)
    few.save(picture, optimize=True)


if __name__ == "__main__":
    main()
