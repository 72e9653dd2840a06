"""The real ns-3 (3.44) with two links of 802.11be (STR), and laws of several links.

`tests/reference/ns3_links.csv` and `validation/ns3/links.csv` hold the rows. The rules are those of
the preset `ns-3`.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from statistics import fmean
from typing import Any

import airtcp
import bases
import pytest
from airtcp.scenario import loads
from airtcp.testbed.site import site_of
from bases import cell, refused
from captures import records
from peers.ns3_modern import ROWS_LINKS, at
from peers.references import Point
from peers.samples import Answer
from witness_tools import beyond_rows

#: By ns-3's name of a metric: airtcp's name, and the largest relative difference. A value may also
#: lie within the interval of the row. In saturated runs only backoffs are random.
SATURATED = {
    "goodput_bps": ("goodput_bps", 0.005),
    "mpdus_per_data_ppdu_ap": ("mpdus_per_ppdu_ap", 0.005),
    "mean_cw_ap": ("mean_cw_ap", 0.0),
    "failed_ppdu_ratio_ap": ("failed_ppdu_ratio_ap", 0.0),
    "ap_data_sojourn_s": ("ap_queue_delay_s", 0.1),
}
TCP = {
    "goodput_bps": ("goodput_bps", 0.04),
    "mpdus_per_data_ppdu_ap": ("mpdus_per_ppdu_ap", 0.04),
    "mpdus_per_data_ppdu_stations": ("mpdus_per_ppdu_stations", 0.04),
    "mpdus_per_tcpack_ppdu_ap": ("mpdus_per_ack_ppdu_ap", 0.04),
    "mpdus_per_tcpack_ppdu_stations": ("mpdus_per_ack_ppdu_stations", 0.04),
    "failed_ppdu_ratio_ap": ("failed_ppdu_ratio_ap", 0.1),
    "failed_ppdu_ratio_stations": ("failed_ppdu_ratio_stations", 0.1),
    "mean_cw_ap": ("mean_cw_ap", 0.04),
    "mean_cw_stations": ("mean_cw_stations", 0.04),
    "mean_rtt_s": ("rtt_s", 0.1),
}


@pytest.fixture(scope="module", params=ROWS_LINKS, ids=lambda row: row.parameters)
def row(request: pytest.FixtureRequest) -> tuple[Point, list[Answer]]:
    return request.param, at(request.param)


def test_two_links_give_ns3s_rows(row: tuple[Point, list[Answer]]) -> None:
    point, runs = row
    bounds = SATURATED if "udp" in point.settings else TCP
    assert list(beyond_rows(ROWS_LINKS[point], runs, bounds)) == []


def _network(ap: str, stations: str, flows: str = "", phy: str = "mcs = 9") -> str:
    return cell(
        standard="802.11be",
        phy=phy,
        tables=f"[ap]\n{ap}",
        name="sta",
        group=stations,
        application=bases.SATURATED,
        flow=flows,
        warmup="100 ms",
        duration="1 s",
        replications=2,
        seed=3,
    )


BOTH = 'links = ["5 GHz/20 MHz", "6 GHz/80 MHz"]'
UPLOADS = """
[[flows]]
stations = "sta"
direction = "upload"
application = { kind = "bulk" }
"""


def _metrics(text: str) -> list[dict[str, Any]]:
    runs = airtcp.simulate(loads(text), threads=1).simulation.runs
    return [run.answer["metrics"] for run in runs]


@pytest.mark.parametrize(
    ("band", "own"), [("5 GHz", ""), ("2.4 GHz", ""), ("2.4 GHz", 'standard = "802.11b"\n')]
)
def test_stations_with_one_of_two_links_are_a_network_with_that_link(band: str, own: str) -> None:
    """The other link may lack the station's rates: 802.11b has DSSS, and 6 GHz does not."""
    links = f'links = ["{band}/20 MHz", "6 GHz/80 MHz"]'
    linked = _metrics(_network(links, f'{own}links = ["{band}/20 MHz"]\n', UPLOADS))
    alone = _metrics(
        _network("", own, UPLOADS, f'mcs = 9\nband = "{band}"\nchannel_width = "20 MHz"')
    )

    for one, other in zip(linked, alone, strict=True):
        shares = [name for name in one if name.endswith(("airtime_share", "idle"))]
        assert {n: v for n, v in one.items() if n not in shares} == {
            n: v for n, v in other.items() if n not in shares
        }


def test_the_link_rate_is_that_of_all_links() -> None:
    """MCS 9 of EHT: 114.7 Mb/s in 20 MHz and 480.4 Mb/s in 80 MHz (Table 36-71)."""
    for own, rate in (("", 114.7 + 480.4), ('links = ["6 GHz/80 MHz"]\n', 480.4)):
        scenario = loads(_network(BOTH, own))
        assert scenario.link_rate_bps(scenario.stations[0]) == pytest.approx(1e6 * rate, rel=1e-3)


@pytest.mark.parametrize(
    "own",
    [
        'links = ["5 GHz/20 MHz"]\n',
        'links = ["2.4 GHz/20 MHz"]\n',
        'links = ["2.4 GHz/20 MHz"]\nstandard = "802.11b"\n',
    ],
)
def test_each_link_has_the_spaces_of_its_band(own: str) -> None:
    """2.4 GHz: SIFS of 10 us and a signal extension of 6 us. A lone sender never collides: an
    exchange is AIFS, a mean backoff of 7.5 slots, the PPDU, SIFS and the Block ACK, in any order of
    links."""
    both = ['"5 GHz/20 MHz"', '"2.4 GHz/20 MHz"']
    one, other = (
        fmean(
            run["goodput_bps"] for run in _metrics(_network(f"links = [{', '.join(order)}]", own))
        )
        for order in (both, both[::-1])
    )
    assert one == pytest.approx(other, rel=2e-3)


def test_two_saturated_links_carry_the_sum() -> None:
    goodputs = {
        links: fmean(one["goodput_bps"] for one in _metrics(_network(BOTH, links)))
        for links in ("", 'links = ["5 GHz/20 MHz"]\n', 'links = ["6 GHz/80 MHz"]\n')
    }
    both, first, second = goodputs.values()

    assert both == pytest.approx(first + second, rel=5e-3)


def test_a_packet_goes_on_the_idle_link_at_once() -> None:
    """Every 1.2 ms a packet of 1.5 ms at MCS 0: each finds a link idle, and none waits."""
    text = _network(BOTH.replace("80", "20"), "").replace("mcs = 9", "mcs = 0")
    for run in _metrics(text.replace('"saturated"', '"10 Mb/s"')):
        assert run["mpdus_per_ppdu_ap"] == 1.0
        assert 1.4e-3 < run["packet_delay_p99_s"] < 1.7e-3


def test_both_links_serve_the_station_whose_packet_came_first() -> None:
    """Its packets in flight on the first link are still waiting for their Block ACK (FIFO)."""
    text = _network(BOTH, "").replace("count = 1", "count = 4")
    (run, _) = airtcp.simulate(loads(text), trace=True, threads=1).simulation.runs
    assert run.trace is not None
    ppdus = run.trace.ppdus("ap AC_BE")

    first, second = ppdus.receiver[:2]
    assert ppdus.time_s[1] < ppdus.time_s[0] + ppdus.airtime_s[0]
    assert first == second


@pytest.mark.parametrize(
    ("links", "count", "tolerance"),
    [
        ('"5 GHz/20 MHz", "6 GHz/80 MHz"', 1, 2e-3),
        ('"2.4 GHz/20 MHz", "5 GHz/80 MHz"', 4, 5e-3),
        ('"5 GHz/80 MHz", "2.4 GHz/40 MHz", "6 GHz/160 MHz"', 4, 5e-3),
    ],
)
def test_the_closed_form_is_the_sum_of_links(links: str, count: int, tolerance: float) -> None:
    longer = {"run.warmup": "300 ms", "run.duration": "2 s", "stations.sta.count": count}
    scenario = loads(_network(f"links = [{links}]", "")).vary(longer)
    said = airtcp.predict(scenario).best("goodput_bps")
    found = airtcp.simulate(scenario).metrics["goodput_bps"]
    assert not said.broken
    assert found.mean == pytest.approx(said.value, rel=tolerance)


def test_a_shared_block_ack_window_breaks_the_closed_form() -> None:
    """80 and 320 MHz at MCS 9 could send 1,055 MPDUs in 5.484 ms; the window has 1,024."""
    scenario = loads(_network('links = ["5 GHz/80 MHz", "6 GHz/320 MHz"]', ""))
    said = airtcp.predict(scenario).best("goodput_bps")
    found = airtcp.simulate(scenario).metrics["goodput_bps"]
    assert any("Block ACK window of 1024" in one for one in said.broken)
    assert found.mean is not None
    assert found.mean < 0.985 * said.value


def test_a_capture_names_the_channel_of_each_link(tmp_path: Path) -> None:
    """The radiotap header has the frequency: channel 1 in 2.4 GHz, channel 36 in 5 GHz."""
    links = 'links = ["2.4 GHz/20 MHz", "5 GHz/80 MHz"]'
    file = tmp_path / "links.pcap"
    airtcp.simulate(loads(_network(links, "", UPLOADS)), pcap=file)
    found = Counter(
        (int.from_bytes(frame.fields[3][:2], "little"), frame.mpdu[0] >> 2 & 3)
        for frame in records(file.read_bytes())
    )
    channels = {channel for channel, _ in found}
    assert channels == {2412, 5180}
    # Both links carry data (type 2), and Block ACKs (type 1) for about as many PPDUs.
    for channel in channels:
        assert found[channel, 2] > found[channel, 1] > 20


def test_what_knows_one_link_says_so() -> None:
    scenario = loads(_network(BOTH, ""))

    with refused("testbed.site.links"):
        site_of(scenario, name="links")
    tcp = loads(_network(BOTH, "", UPLOADS))
    assert "models cover only" in (airtcp.predict(tcp, glance=False).uncovered or "")
