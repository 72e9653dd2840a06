"""Wires behind the access point: what they lose and what waits in them, and what mends it."""

from __future__ import annotations

from typing import Any

import airtcp
import pytest
from airtcp.advice.problems import findings
from airtcp.advice.trials import advise
from airtcp.remedies import catalogue, changed, named


def network(**changes: Any) -> dict[str, Any]:
    return {
        "phy": {"standard": "802.11ac", "channel_width": "40 MHz", "mcs": 7},
        "stations": [{"name": "pc", "count": 1}],
        "run": {"warmup": "3 s", "duration": "10 s", "replications": 4},
    } | changes


def bulk(stations: str, direction: str, path: list[Any], **keys: Any) -> dict[str, Any]:
    return {
        "stations": stations,
        "direction": direction,
        "application": {"kind": "bulk"},
        "tcp": {"preset": "linux"},
        "path": path,
    } | keys


PAGES = {
    "stations": "reader",
    "direction": "download",
    "profile": "web",
    "tcp": {"preset": "linux"},
    "path": ["line"],
}


def test_what_a_short_queue_drops_is_no_loss_of_the_wire() -> None:
    """A queue of 4 packets at a wire on a path of 60 ms, which holds 100 packets."""
    short = network(
        links={"line": {"rate": "20 Mb/s", "delay": "30 ms", "queue": 4}},
        flows=[bulk("pc", "upload", ["line"], connections=8)],
    )
    advice = advise(airtcp.simulate(airtcp.load(short)))
    assert [one.finding.problem for one in advice.problems] == ["short-wire-queue"]
    assert advice.best is not None
    assert advice.best.name == "wire-fq-codel"


@pytest.mark.parametrize("path", [["line"], [{"delay": "25 ms", "loss": "0.1 %"}]])
def test_few_losses_are_told_where_nothing_else_holds_an_endless_flow_back(path: list[Any]) -> None:
    """Of 1000 packets one is lost: below the threshold, but Reno's window is 39 segments."""
    lossy = network(
        links={"line": {"delay": "25 ms", "loss": {"every": 1000}}} if path == ["line"] else {},
        flows=[bulk("pc", "download", path)],
    )
    advice = advise(airtcp.simulate(airtcp.load(lossy)))
    first = advice.problems[0]
    assert first.finding.problem == "lossy-wire"
    assert advice.best is not None
    assert advice.best.name == "sound-wire"
    key = "links.line.loss" if path == ["line"] else "flows.pc.path.0.loss"
    assert dict(advice.best.set) == {key: "none"}
    mended = airtcp.load(lossy).vary(advice.best.set)
    assert all(reading is None for reading in (link.loss for link in _links(mended)))


def _links(scenario: airtcp.Scenario) -> list[Any]:
    used = scenario.flows[0].path
    return [scenario.links[one] if isinstance(one, str) else one for one in used]


@pytest.mark.parametrize("part", ["download", "upload"])
def test_pages_wait_behind_what_others_send_over_the_wire_either_way(part: str) -> None:
    """The requests and ACKs of downloads wait in the wire's queue of uploads."""
    bloated = network(
        links={"line": {"rate": "20 Mb/s", "delay": "8 ms", "queue": 300}},
        stations=[{"name": "reader", "count": 2}, {"name": "pc", "count": 1}],
        flows=[PAGES, bulk("pc", part, ["line"])],
        targets={"reader p90 page_time": "< 2 s"},
        run={"warmup": "5 s", "duration": "30 s", "replications": 4},
    )
    advice = advise(airtcp.simulate(airtcp.load(bloated)))
    first = advice.problems[0]
    assert first.finding.problem == "wire"
    assert "reader" in first.finding.groups
    assert f"of that by pc {part}s" in first.finding.evidence
    assert advice.best is not None
    assert advice.best.name in ("wire-fq-codel", "faster-wire")


def test_who_waits_behind_uploads_is_who_is_to_be_helped() -> None:
    """A wire without a limit holds megabytes of uploads: their own wait is the least of it."""
    bloated = network(
        links={"line": {"rate": "20 Mb/s", "delay": "8 ms"}},
        stations=[{"name": "reader", "count": 2}, {"name": "cloud", "count": 2}],
        flows=[PAGES, bulk("cloud", "upload", ["line"])],
        run={"warmup": "10 s", "duration": "30 s", "replications": 3},
    )
    (first,) = findings(airtcp.simulate(airtcp.load(bloated)))

    assert first.problem == "wire"
    assert set(first.groups) == {"reader", "cloud"}
    assert first.goal.group == "reader"


@pytest.mark.parametrize("part", ["download", "upload"])
def test_what_waits_in_a_wire_is_not_said_to_wait_elsewhere(part: str) -> None:
    """Also of five uploads, of which some node has a packet at most times."""
    bloated = network(
        links={"line": {"rate": "50 Mb/s", "delay": "8 ms", "queue": 2000}},
        stations=[{"name": "pc", "count": 5}],
        flows=[bulk("pc", part, ["line"])],
    )
    advice = advise(airtcp.simulate(airtcp.load(bloated)))

    (tried,) = advice.problems
    assert tried.finding.problem == "wire"
    assert tried.finding.goal.metric == "path_rtt_s"
    assert advice.best is not None
    assert advice.best.name == "wire-fq-codel"


def test_a_wire_in_the_path_of_a_flow_is_a_wire_as_one_with_a_name_is() -> None:
    slow = network(
        stations=[{"name": "pc", "count": 2}],
        flows=[bulk("pc", "download", [{"rate": "8 Mb/s", "delay": "10 ms"}])],
    )
    found = findings(airtcp.simulate(airtcp.load(slow)))
    assert [one.problem for one in found][:1] == ["wire"]
    # Each of the two has a wire for itself.
    assert "a wire of pc of 8.00 Mb/s is in use" in found[0].evidence
    base = named(airtcp.load(slow))
    faster = next(one for one in catalogue() if one.name == "faster-wire")
    new = changed(base, faster)
    assert not isinstance(new, str)
    assert new.changes == {"flows.pc.path.0.rate": "80 Mb/s"}


@pytest.mark.parametrize(("delay", "told"), [("100 ms", True), ("40 ms", False)])
def test_a_delay_that_the_wires_alone_have_is_told_as_such(delay: str, told: bool) -> None:
    """A call on a path of 100 ms one way, of which 100 ms are wanted; of 40 ms it is well."""
    call = {"stations": "pc", "profile": "call", "path": [{"delay": delay}]}
    found = findings(airtcp.simulate(airtcp.load(network(flows=[call]))))

    assert [one.problem for one in found] == (["way"] if told else [])
    assert not told or "the wires alone take 100 ms" in found[0].evidence


def test_a_film_that_stalls_is_a_complaint_about_the_wire_it_comes_over() -> None:
    """Segments that play for 6 s have to come within them, and not within the minute of a file."""
    films = network(
        links={"line": {"rate": "12 Mb/s", "delay": "8 ms", "queue": 20}},
        stations=[{"name": "tablet", "count": 3}],
        flows=[{"stations": "tablet", "profile": "video", "path": ["line"]}],
        run={"warmup": "5 s", "duration": "30 s", "replications": 2},
    )
    (found,) = findings(airtcp.simulate(airtcp.load(films)))

    assert found.problem == "wire"
    assert found.goal.group == "tablet"
    assert found.evidence.startswith("one in twenty transfers of tablet downloads takes more than")
