"""Contention-free periods against arithmetic, and their frames as Wireshark reads them.

802.11b at 11 Mb/s with the long preamble: a PPDU lasts 192 us plus its bits, rounded up to whole
microseconds; SIFS is 10 us.
"""

import itertools
from pathlib import Path
from typing import Any

import pytest
from airtcp import simulate
from airtcp.scenario import loads
from witness_tools import fields, needs_tshark

SIFS = 10
#: The interval between targets, and the number of periods within a run.
INTERVAL_US, PERIODS = 102_400, 99
LONGEST_US = 50_000


def ppdu(mpdu_bytes: int, mbps: int = 11) -> int:
    """Return the microseconds of a frame, header and FCS included."""
    return 192 + -(-8 * mpdu_bytes // mbps)


#: At the lowest rate, 1 Mb/s.
BEACON, CF_END = ppdu(73, 1), ppdu(20, 1)
#: Null, CF-Ack or CF-Poll: only header and FCS.
EMPTY = ppdu(28)
#: A packet of 1500 bytes with LLC, header and FCS; and one of 40, a bare TCP ACK.
FULL, ACK = ppdu(1536), ppdu(76)


def text(flow: str, stations: int = 1) -> str:
    return f"""
    phy = {{ standard = "802.11b" }}
    mac = {{ pcf = {{ max_duration = "{LONGEST_US} us" }} }}
    stations = [{{ name = "laptop", count = {stations} }}]
    run.warmup = "0 s"
    run.duration = "{(PERIODS + 1) * INTERVAL_US} us"
    run.replications = 1
    run.seed = 1
    [[flows]]
    stations = "laptop"
    {flow}
    """


def answer(scenario: str, **options: Any) -> dict[str, Any]:
    result = simulate(loads(scenario), threads=1, **options)
    return dict(result.simulation.runs[0].answer)


UDP = 'application = { kind = "udp", packet = "1500 B", rate = "saturated" }'
TCP = (
    'application = { kind = "bulk" }\n'
    'tcp = { handshake = "none", delayed_ack = { every = 1 }, receive_window = { segments = 40 } }'
)
#: Traffic, stations, and frame times of the access point and of stations.
CASES = {
    "UDP down": (f'direction = "download"\n{UDP}', 1, FULL, EMPTY),
    "UDP up": (f'direction = "upload"\n{UDP}', 3, EMPTY, FULL),
    "TCP down": (f'direction = "download"\n{TCP}', 1, FULL, ACK),
    "TCP up": (f'direction = "upload"\n{TCP}', 2, ACK, FULL),
}


@pytest.mark.parametrize("name", CASES)
def test_the_time_of_periods_is_that_of_their_frames(name: str) -> None:
    """To the microsecond: a beacon, polls and responses a SIFS apart, and a CF-End."""
    flow, stations, down, up = CASES[name]
    found = answer(text(flow, stations))
    counts = found["counts"]
    polls = counts["polls"]
    with_data_up = polls - counts["polls_without_data"]
    with_data_down = counts["contention_free_exchanges"] - with_data_up

    assert counts["contention_free_periods"] == PERIODS
    assert 0 <= with_data_down <= polls
    spent_us = (
        PERIODS * (BEACON + SIFS + CF_END)
        + with_data_down * down
        + (polls - with_data_down) * EMPTY
        + with_data_up * up
        + (polls - with_data_up) * EMPTY
        + 2 * polls * SIFS
    )
    share = found["metrics"]["contention_free_share"]
    assert share * (PERIODS + 1) * INTERVAL_US == pytest.approx(spent_us, abs=0.01)


@pytest.mark.parametrize("name", CASES)
def test_a_full_period_carries_what_fits(name: str) -> None:
    """As many frames with data get through as there is time for.

    An exchange and a PIFS may delay a period, so the number may be two polls lower. With TCP both
    directions have data: a short frame may fit where a long one does not. Sometimes one direction
    has no packet, because a TCP ACK goes with the next poll at the earliest.
    """
    flow, stations, down, up = CASES[name]
    counts = answer(text(flow, stations))["counts"]
    around = BEACON + SIFS + 30 + CF_END
    fits = (LONGEST_US - around) // (down + up + 2 * SIFS)
    carried = counts["contention_free_exchanges"] / PERIODS

    if name.startswith("UDP"):
        assert fits - 2 <= carried <= fits
    else:
        assert 0.93 * 2 * fits <= carried <= 2 * fits + 2


#: Types and subtypes of IEEE 802.11-2016, Table 9-1, as tshark writes them.
KINDS = {
    0x08: "beacon", 0x20: "data", 0x21: "data", 0x22: "data", 0x23: "data",
    0x24: "empty", 0x25: "empty", 0x26: "empty", 0x27: "empty", 0x1E: "end", 0x1F: "end",
    0x1D: "ack",
}  # fmt: skip
CF_ACKS = (0x21, 0x23, 0x25, 0x27, 0x1F)


@needs_tshark
def test_wireshark_reads_the_frames(tmp_path: Path) -> None:
    """In a period each frame begins a SIFS after the one before; CF-Ack follows only data."""
    path = tmp_path / "polls.pcap"
    found = answer(text(CASES["TCP up"][0], 2), pcap=path)
    seen: dict[str, int] = {}
    period: list[tuple[int, float, float]] = []
    polls = periods = 0
    names = ("wlan.fc.type_subtype", "frame.time_epoch", "frame.len", "radiotap.length")
    for row in fields(path, *names, "radiotap.datarate", "_ws.malformed"):
        subtype, epoch, length, header, rate, malformed = row
        assert not malformed, row
        kind = int(subtype, 0)
        seen[KINDS[kind]] = seen.get(KINDS[kind], 0) + 1
        begin = 1e6 * float(epoch)
        end = begin + ppdu(int(length) - int(header), int(float(rate)))
        polls += kind in (0x22, 0x23, 0x26, 0x27)
        if KINDS[kind] == "beacon":
            period = []
        elif not period:
            continue
        period.append((kind, begin, end))
        if KINDS[kind] == "end":
            periods += 1
            for (before, _, ended), (after, begun, _) in itertools.pairwise(period):
                assert begun == pytest.approx(ended + SIFS, abs=0.01)
                if after in CF_ACKS:
                    assert KINDS[before] == "data"
                elif KINDS[after] != "beacon":
                    assert KINDS[before] != "data"
            period = []
    assert periods == found["counts"]["contention_free_periods"]
    assert polls == found["counts"]["polls"]
    assert set(seen) == set(KINDS.values())


@needs_tshark
def test_who_is_acknowledged_understands_the_rate(tmp_path: Path) -> None:
    """A poll that also acknowledges another station's 802.11b packet goes at its rate."""
    path = tmp_path / "rates.pcap"
    flow = 'direction = "upload", application = { kind = "bulk" }'
    answer(
        f"""
        phy = {{ standard = "802.11g" }}
        mac = {{ pcf = {{}} }}
        stations = [
          {{ name = "new", count = 2 }},
          {{ name = "old", count = 1, data_rate = "11 Mb/s" }},
        ]
        flows = [{{ stations = "new", {flow} }}, {{ stations = "old", {flow} }}]
        run = {{ warmup = "0 s", duration = "2 s", replications = 1 }}
        """,
        pcap=path,
    )
    rows = fields(path, "wlan.fc.type_subtype", "wlan.ta", "wlan.ra", "radiotap.datarate")
    old = "02:00:00:00:00:03"
    rates: dict[tuple[bool, bool], set[float]] = {}
    for before, after in itertools.pairwise(rows):
        subtype, _, receiver, rate = after
        if int(subtype, 0) in (0x23, 0x27):
            key = before[1] == old, receiver == old
            rates.setdefault(key, set()).add(float(rate))
    assert rates.pop((True, True), {11}) == {11}
    assert rates == {(False, False): {54}, (False, True): {11}, (True, False): {11}}
