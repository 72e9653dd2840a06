"""A report in a browser: tables show all of their columns.

`test_report` tests the words.
"""

from dataclasses import replace
from pathlib import Path
from typing import Any

from airtcp.compare import compare, with_testbed
from airtcp.judge.verdicts import verdict
from airtcp.present import report
from airtcp.results import Lag, TestbedResult
from airtcp.run.simulate import simulate
from airtcp.scenario import loads
from bases import two_cells
from browsing import Page

FLOW = (
    'application = { kind = "bulk" }\n'
    'path = [{ rate = "1 Gb/s", delay = "5 ms" }]\ntcp = { preset = "linux" }'
)


def test_no_table_of_a_report_is_cut_off(browser: Any, tmp_path: Path) -> None:
    """The widest tables have a testbed next to models, and the verdicts of targets."""
    air = 'heard = [["left", "right"]]'
    text = two_cells(air, reader=FLOW, clerk=FLOW, warmup="1 s", duration="2 s", replications=4)
    one = simulate(loads(text), seed=9, replications=1)
    lag = Lag(10, 1e-5, 1e-5, 1e-3, 5e-4, 0.0, True, 0, 0)
    testbed = TestbedResult(one.scenario, one.provenance, one.simulation, lag, ())
    result = with_testbed(compare(loads(text)), testbed)
    report.write(replace(result, verdict=verdict(result)), tmp_path, text)
    page = Page(
        browser, (tmp_path / "report.html").as_uri(), viewport={"width": 1280, "height": 800}
    )
    first = page.page.locator("figure svg").first.bounding_box()
    assert first["y"] + first["height"] <= 800, "the first picture is above the fold"

    for width in (400, 800, 1280):
        page.page.set_viewport_size({"width": width, "height": 900})
        cut = page.page.locator(".scroll").evaluate_all(
            "(all) => all.filter((one) => one.scrollWidth > one.clientWidth)"
            ".map((one) => one.querySelector('th').textContent)"
        )
        assert cut == [], width
        # Charts are 7.2 inches wide with 9 pt text; below 9 px it is hard to read on a phone.
        pictures = page.page.locator("figure svg").evaluate_all(
            "(all) => all.map((one) => one.getBoundingClientRect().width)"
        )
        assert min(pictures) * 9 / (72 * 7.2) >= 9, width
        assert page.page.evaluate("document.documentElement.scrollWidth") == width
    # Paper cannot scroll sideways.
    page.page.emulate_media(media="print")
    page.page.set_viewport_size({"width": 500, "height": 900})
    held = page.page.locator("figure").evaluate_all(
        "(all) => all.every((one) => one.scrollWidth <= one.clientWidth)"
    )
    assert held
    assert not page.complaints
    page.context.close()
