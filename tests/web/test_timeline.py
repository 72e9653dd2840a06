"""A few milliseconds of the channel, checked against the counted airtime and the rules."""

import itertools
import re
from typing import Any

import pytest
from airtcp import simulate
from airtcp.examples import directory, examples
from airtcp.scenario import Scenario, load
from airtcp.web import timeline as module
from airtcp.web.sentences import KINDS
from airtcp.web.timeline import timeline
from browsing import Page, packed
from test_judged import told_by


def example(name: str) -> Scenario:
    return load(str(directory() / f"{name}.toml"))


@pytest.mark.parametrize("name", ["persistent-downloads", "office-uploads", "saturated-stations"])
def test_frames_take_the_airtime_that_the_simulator_counts(name: str) -> None:
    scenario = example(name)
    length_s = 0.3
    shown = timeline(scenario, 0.0, length_s)
    run = scenario.with_run(replications=1, warmup_ns=0, duration_ns=round(length_s * 1e9))
    counted = simulate(run).simulation.airtime

    took = {"data": 0.0, "tcp ack": 0.0, "control": 0.0}
    for frame in shown["frames"]:
        if not frame["bad"]:
            kind = "tcp ack" if frame["kind"] == "syn" else frame["kind"]
            kind = kind if kind in took else "control"
            took[kind] += min(frame["end"], 1e6 * length_s) - frame["begin"]
    assert took["data"] / (1e6 * length_s) == pytest.approx(counted["data"], abs=1e-9)
    assert took["tcp ack"] / (1e6 * length_s) == pytest.approx(counted["tcp_ack"], abs=1e-9)
    assert took["control"] / (1e6 * length_s) == pytest.approx(counted["control"], abs=1e-9)


def test_polls_are_shown_with_what_they_are() -> None:
    """The six milliseconds after the first beacon are in a contention-free period of 50 ms."""
    scenario = example("persistent-downloads").vary({"mac.pcf": {}})
    frames = timeline(scenario, 0.1074, 0.006)["frames"]

    assert {"data", "cf-ack"} <= {frame["kind"] for frame in frames}
    assert {*module._TYPES.values()} <= KINDS.keys()
    for one, after in itertools.pairwise(frames):
        assert after["begin"] - one["end"] == pytest.approx(10.0)
        assert one["node"] != after["node"]


def test_an_aggregate_is_one_frame_and_is_answered_after_sifs() -> None:
    shown = timeline(example("home-wifi6"), 0.5, 0.05)
    frames = shown["frames"]

    large = [one for one in frames if one["mpdus"] > 1 and one["kind"] == "data"]
    assert large
    for one in large:
        after = next((other for other in frames if other["begin"] >= one["end"]), None)
        if after is not None and not one["bad"]:
            assert after["kind"] == "block ack"
            assert after["node"] == one["to"]
            assert after["begin"] - one["end"] == pytest.approx(16.0)


def test_counters_are_what_backoff_can_have_drawn() -> None:
    """After a success a saturated station draws its backoff from 0 .. CWmin: 31 in 802.11b."""
    scenario = example("saturated-stations")
    begin_s, length_s = 1.0, 0.4
    shown = timeline(scenario, begin_s, length_s)
    nodes = shown["nodes"]
    seen = []
    for gap in shown["gaps"]:
        before = [one for one in shown["frames"] if one["end"] <= gap["begin"] + 1e-6]
        if len(before) < 2 or before[-1]["kind"] != "ack":
            continue
        node = before[-2]["node"]
        left = gap["left"].get(str(node))
        if left is not None:
            seen.append(left)
    assert nodes[0] == "ap"
    assert len(seen) > 100
    assert max(seen) <= 31
    assert min(seen) == 0
    # The mean of 0 .. 31 is 15.5, its standard error 9.24 / sqrt(n): the tolerance is five of them.
    mean = sum(seen) / len(seen)
    assert mean == pytest.approx(15.5, abs=5 * 9.24 / len(seen) ** 0.5)


def test_a_cell_that_waits_has_a_row_with_what_it_hears() -> None:
    """The middle cell gets a twentieth of its isolated goodput: it may send nothing in 20 ms."""
    shown = timeline(example("three-cells"), 1.0, 0.02)

    assert shown["nodes"][:3] == ["left", "middle", "right"]
    assert 1 not in {frame["node"] for frame in shown["frames"]}
    assert any(1 in (*frame["heard"], *frame["lost"]) for frame in shown["frames"])


@pytest.mark.parametrize(
    ("name", "bars", "never"),
    [("three-offices", "hears another", "counts down"), ("home-wifi6", "counts down", "hears")],
)
def test_the_key_and_the_words_are_those_of_what_is_drawn(
    opened: Any, name: str, bars: str, never: str
) -> None:
    """For an A-MPDU the packet numbers are those of its first packet."""
    page: Page = opened(packed({"example": name, "view": "timeline"}))
    page.page.get_by_role("button", name="Show", exact=True).click()
    now = page.page.locator(".now")
    now.wait_for()
    legend = page.page.locator(".legend").first.inner_text()
    assert bars in legend
    assert never not in legend
    for _ in range(40):
        if "MPDUs (" in now.inner_text():
            break
        page.page.get_by_role("button", name="Step ▶").click()
    assert re.search(r"data, \d+ MPDUs \(the first: TCP \d+ to \d+\)", now.inner_text())


@pytest.mark.parametrize("name", [one.name for one in examples()])
def test_each_example_has_a_timeline(name: str) -> None:
    asked = {"kind": "timeline", "source": {"example": name}, "begin_ms": 1000.0, "length_ms": 20.0}
    shown = told_by(asked)[-1]["result"]

    assert shown["frames"]
    # Web users have finished connections, which no longer have a window.
    assert all(window["cwnd"] for window in shown["windows"])
