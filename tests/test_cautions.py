"""Cautions of an answer: what a reader should know before trusting it."""

import re

import airtcp
import pytest
from airtcp.present.cautions import _polling, cautions
from airtcp.scenario import loads


@pytest.mark.parametrize(
    ("standard", "count", "said"),
    [("802.11ax", 10, True), ("802.11ax", 9, False), ("802.11ac", 10, False)],
)
def test_missing_ofdma_is_told_where_it_matters(standard: str, count: int, said: bool) -> None:
    text = f"""
        phy = {{ standard = "{standard}", channel_width = "40 MHz" }}
        stations = [{{ name = "s", count = {count} }}]
        flows = [{{ stations = "s", direction = "both", application = {{ kind = "call" }} }}]
        run = {{ warmup = "0 s", duration = "200 ms", replications = 2 }}
    """

    result = airtcp.simulate(loads(text))

    assert any("OFDMA" in one for one in cautions(result)) == said


@pytest.mark.parametrize(
    ("carried", "exchanges", "vain", "said"),
    [
        (99, 10_000, 0, "hardly any effect"),
        (100, 10_000, 0, ""),
        (100, 10_000, 90, ""),
        (100, 10_000, 91, "91.0 % of polls"),
        (0, 0, 0, "hardly any effect"),
    ],
)
def test_contention_free_periods_that_do_little_are_told(
    carried: int, exchanges: int, vain: int, said: str
) -> None:
    counts = {
        "contention_free_exchanges": carried,
        "mac_exchanges": exchanges,
        "polls": 100,
        "polls_without_data": vain,
    }
    told = _polling(counts)

    assert len(told) == bool(said)
    assert said in "".join(told)


@pytest.mark.parametrize(("path", "unused"), [("path = ['line']", []), ("", ["line"])])
def test_a_link_that_no_flow_crosses_is_told(path: str, unused: list[str]) -> None:
    text = f"""
        phy = {{ standard = "802.11ax" }}
        links = {{ line = {{ rate = "50 Mb/s" }} }}
        stations = [{{ name = "s", count = 1 }}]
        run = {{ warmup = "0 s", duration = "100 ms", replications = 2 }}
        [[flows]]
        stations = "s"
        direction = "upload"
        application = {{ kind = "bulk" }}
        {path}
    """

    told = cautions(airtcp.simulate(loads(text)))

    assert ["line"] * any("link line" in one for one in told) == unused


@pytest.mark.parametrize(
    ("target", "told"),
    [
        ("s/upload flow_goodput > 2.1 Mb/s", "send 2.00 Mb/s"),
        ("s/upload goodput > 4.1 Mb/s", "send 4.00 Mb/s"),
        ("s/upload goodput > 3.9 Mb/s", ""),
        ("s/upload flow_goodput < 9 Mb/s", ""),
        # Of the five flows of both groups two are TCP.
        ("flow_goodput > 2.1 Mb/s", "5 flows, of which 3 send less"),
        ("flow_goodput > 1.9 Mb/s", "5 flows, of which 1 send less"),
        ("flow_goodput > 0.9 Mb/s", ""),
    ],
)
def test_a_target_beyond_what_the_flows_send_is_told(target: str, told: str) -> None:
    name, bound = re.split(" (?=[<>])", target)
    text = f"""
        phy = {{ standard = "802.11ax" }}
        stations = [{{ name = "s", count = 2 }}, {{ name = "t", count = 1 }}]
        run = {{ warmup = "0 s", duration = "100 ms", replications = 2 }}
        targets = {{ "{name}" = "{bound}" }}
        [[flows]]
        stations = "s"
        direction = "upload"
        application = {{ kind = "udp", rate = "2 Mb/s", packet = "1000 B" }}
        [[flows]]
        stations = "t"
        direction = "upload"
        application = {{ kind = "udp", rate = "1 Mb/s", packet = "1000 B" }}
        [[flows]]
        stations = "s"
        direction = "download"
        application = {{ kind = "bulk" }}
    """
    said = [one for one in cautions(airtcp.simulate(loads(text))) if target in one]

    assert len(said) == bool(told)
    assert told in "".join(said)
