"""Stations with one radio for several links (eMLSR): arithmetic, and laws of their networks."""

from __future__ import annotations

import random
from itertools import pairwise
from pathlib import Path
from statistics import fmean
from typing import Any, Final

import airtcp
import bases
import numpy as np
import pytest
from airtcp.results.trace import Ppdus
from airtcp.scenario import loads
from bases import cell
from test_pcap_ofdma import KIND, TRIGGER
from witness_tools import malformed, needs_tshark, tshark

#: 802.11be in 5 and 6 GHz, in us: SIFS, a slot, and AIFS of AC_BE (AIFSN 3).
SIFS: Final = 16.0
SLOT: Final = 9.0
AIFS: Final = SIFS + 3 * SLOT
CW_MIN: Final = 15
#: A single-user EHT PPDU at MCS 9 in 20 MHz: 234 subcarriers of 8 bits at 5/6 in 13.6 us.
SYMBOL: Final = 13.6
SYMBOL_BITS: Final = 234 * 8 * 5 // 6
#: A packet of 1500 bytes in an A-MPDU: delimiter, header and FCS, LLC.
MPDU_BITS: Final = 8 * (4 + 30 + 8 + 1500 + 2)
PAYLOAD_BITS: Final = 8 * (1500 - 28)
PACKETS: Final = '{ kind = "udp", packet = "1000 B", rate = "20 Mb/s" }'


def _ofdm(size_bytes: int, rate_mbps: int) -> float:
    """Return the airtime of an 802.11a frame: 20 us, and symbols of 4 us."""
    return 20.0 + 4.0 * -(-(16 + 8 * size_bytes + 6) // (4 * rate_mbps))


def _data(scenario: airtcp.scenario.ResolvedScenario) -> tuple[int, float]:
    """Return the MPDUs of the longest PPDU, and its airtime with SIFS and Block ACK."""
    high = scenario.phy.data_rate.high
    assert high is not None
    preamble = high.preamble_time_ns / 1e3
    symbols = int((5484.0 - preamble) / SYMBOL)
    mpdus = (symbols * SYMBOL_BITS - 16) // MPDU_BITS
    airtime = preamble + SYMBOL * -(-(16 + mpdus * MPDU_BITS) // SYMBOL_BITS)
    # 1,024 bits do not fit: a window of this many MPDUs has a bitmap of 64 or 256.
    aggregation = scenario.mac.aggregation
    assert aggregation is not None
    block_ack = _ofdm(aggregation.block_ack_bits // 8, 24)
    return mpdus, airtime + SIFS + block_ack


def _network(group: str, direction: str = "download", **run: Any) -> str:
    return cell(
        standard="802.11be",
        phy="mcs = 9",
        tables='[ap]\nlinks = ["5 GHz/20 MHz", "6 GHz/20 MHz"]',
        name="sta",
        group=group,
        direction=direction,
        application=bases.SATURATED,
        **{"warmup": "100 ms", "duration": "2 s", "replications": 2, "seed": 3, **run},
    )


def _goodput_bps(text: str) -> float:
    return fmean(
        run.answer["metrics"]["goodput_bps"]
        for run in airtcp.simulate(loads(text), threads=1).simulation.runs
    )


@pytest.mark.parametrize("padding", [0, 32, 256])
def test_a_download_changes_the_link_with_each_exchange(padding: int) -> None:
    """The backoff of the other link has ended, so it sends at its next slot boundary.

    Before the data come an MU-RTS of 33 bytes at 6 Mb/s, with 3 bytes for each microsecond of
    padding, and a CTS. A link's slots begin AIFS after the end of its own last exchange.
    """
    text = _network(f'emlsr = {{ padding = "{padding} us", switch = "0 us" }}\n')
    mpdus, exchange = _data(loads(text))
    exchange += _ofdm(33, 6) + padding + SIFS + _ofdm(14, 6) + SIFS
    starts = [0.0, exchange + 3.0]
    for _ in range(1000):
        boundary = starts[-2] + exchange + AIFS
        slots = -(-(starts[-1] + exchange - boundary) // SLOT)
        starts.append(boundary + SLOT * slots)
    cycle = (starts[-1] - starts[1]) / (len(starts) - 2)

    assert _goodput_bps(text) == pytest.approx(1e6 * mpdus * PAYLOAD_BITS / cycle, rel=2e-3)


@pytest.mark.parametrize("switch", [0, 64, 256])
def test_an_upload_has_the_shorter_of_two_backoffs(switch: int) -> None:
    """After each exchange and the switch: AIFS, and the rest of the backoff of either link.

    The other link has counted one slot for each that passed, and one for the boundary at the end of
    AIFS.
    """
    text = _network(f'emlsr = {{ switch = "{switch} us" }}\n', "upload", duration="5 s")
    mpdus, exchange = _data(loads(text))
    of_rest = np.full(CW_MIN + 1, 1.0 / (CW_MIN + 1))
    for _ in range(200):
        slots, then = 0.0, np.zeros(CW_MIN + 1)
        for drawn in range(CW_MIN + 1):
            for rest, share in enumerate(of_rest):
                slots += min(drawn, rest) * share / (CW_MIN + 1)
                then[max(abs(drawn - rest) - 1, 0)] += share / (CW_MIN + 1)
        of_rest = then
    cycle = exchange + switch + AIFS + SLOT * slots

    assert _goodput_bps(text) == pytest.approx(1e6 * mpdus * PAYLOAD_BITS / cycle, rel=3e-3)


def test_one_radio_carries_less_than_one_of_its_links_alone() -> None:
    one, both, switched = (
        _goodput_bps(_network(keys)) for keys in ('links = ["5 GHz/20 MHz"]\n', "", "emlsr = {}\n")
    )
    assert both == pytest.approx(2 * one, rel=5e-3)
    assert 0.9 * one < switched < one


def test_a_narrow_link_takes_as_many_turns_as_a_wide_one() -> None:
    """One link alone has 105 Mb/s, the other 438; one radio on both has only 268."""
    text = _network("emlsr = {}\n").replace("6 GHz/20", "6 GHz/80")
    assert _goodput_bps(text) == pytest.approx(268e6, rel=2e-3)


@needs_tshark
@pytest.mark.parametrize(("width", "bandwidth", "unit"), [(20, 0, 61), (80, 2, 67), (160, 3, 68)])
def test_tshark_reads_the_trigger_of_each_exchange(
    width: int, bandwidth: int, unit: int, tmp_path: Path
) -> None:
    """tshark finds MU-RTS (type 3) of 68 + 256 us; the station responds in its whole channel."""
    file = tmp_path / "one-radio.pcap"
    text = _network('emlsr = { padding = "256 us" }\n', duration="100 ms", replications=1)
    airtcp.simulate(loads(text.replace("GHz/20", f"GHz/{width}")), pcap=file)
    names = ("trigger_type", "ul_bw", "ru_allocation")
    fields = [f"wlan.trigger.he.{name}" for name in names] + ["wlan_radio.duration", "wlan.ra"]
    shown = [option for field in fields for option in ("-e", field)]
    rows = set(tshark(file, "-Y", f"{KIND} == {TRIGGER}", "-T", "fields", *shown))
    assert rows == {f"3\t{bandwidth}\t{unit}\t324\t02:00:00:00:00:01"}
    assert malformed(file) == []


def _drawn(seed: int) -> str:
    """Two phones with one radio and one with two, which download and upload over TCP or UDP."""
    pick = random.Random(seed)
    delays = f'padding = "{pick.choice([0, 32, 256])} us", switch = "{pick.choice([16, 64])} us"'
    flows = [
        f'{{ stations = "{group}", direction = "{pick.choice(["download", "upload", "both"])}", '
        f"application = {pick.choice([bases.BULK, bases.SATURATED, PACKETS])} }}"
        for group in ("sta", "other")
    ]
    return f"""
phy = {{ standard = "802.11be", mcs = {pick.choice([3, 9])} }}
ap.links = ["5 GHz/80 MHz", "{pick.choice(["2.4 GHz/20 MHz", "6 GHz/160 MHz"])}"]
mac.rules.preset = "{pick.choice(["standard", "ns-3"])}"
stations = [
  {{ name = "sta", count = 2, emlsr = {{ {delays} }} }},
  {{ name = "other", count = 1 }},
]
flows = [{", ".join(flows)}]
run = {{ warmup = "200 ms", duration = "1 s", replications = 1, seed = {seed} }}
"""


def _of(ppdus: Ppdus, station: str) -> list[tuple[float, float]]:
    """Return start and end of the PPDUs from and to a station, in order."""
    is_its = (ppdus.receiver == station) | np.char.startswith(ppdus.queue, f"{station} ")
    starts = ppdus.time_s[is_its]
    return list(zip(starts, starts + ppdus.airtime_s[is_its], strict=True))


def _gaps_s(text: str) -> list[float]:
    """Return the times between the PPDUs of each station of the first group, from end to start."""
    scenario = loads(text)
    (run,) = airtcp.simulate(scenario, trace=True, threads=1).simulation.runs
    assert run.trace is not None
    ppdus = run.trace.ppdus()
    found: list[float] = []
    for station in range(scenario.stations[0].count):
        own = _of(ppdus, f"sta/{station}")
        found += [start - end for (_, end), (start, _) in pairwise(own)]
    return found


@pytest.mark.parametrize("seed", range(6))
def test_a_station_with_one_radio_is_on_one_link_at_a_time(seed: int) -> None:
    """It switches between any two of its PPDUs, even after a collision."""
    text = _drawn(seed)
    switch = loads(text).stations[0].emlsr
    assert switch is not None
    gaps = _gaps_s(text)
    assert len(gaps) > 50
    assert min(gaps) > switch.switch_ns / 1e9


def test_a_station_with_two_radios_is_on_two_links_at_a_time() -> None:
    assert min(_gaps_s(_network("", replications=1))) < 0
