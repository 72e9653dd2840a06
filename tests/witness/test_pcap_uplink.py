"""Captures of uplink OFDMA: triggers, the stations' responses, and their Block ACK."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import cache
from math import ceil
from pathlib import Path
from tempfile import TemporaryDirectory

import airtcp
import pytest
from aggregates import OF_SEVERAL, intact, ppdus
from airtcp.scenario import loads
from captures import Frame
from test_pcap_ofdma import KIND, SIFS_NS, TRIGGER, TRIGGERED, place, word
from witness_tools import malformed, needs_tshark, tshark

BASIC, BSRP, ALL_RECEIVED = 0, 4, 0xE800
#: Octets for each user by type of trigger.
USER_BYTES = {BASIC: 6, BSRP: 5}
#: TCP both ways; or datagrams of 200 bytes, for which triggers find most queues empty.
CALLS = '{ kind = "udp", packet = "200 B", rate = "1 Mb/s" }'
VARIANTS = {
    "loads": OF_SEVERAL["mu-bar"],
    "calls": OF_SEVERAL["mu-bar"].replace('{ kind = "bulk" }', CALLS),
    "two streams": OF_SEVERAL["mu-bar"].replace("[mac]", "spatial_streams = 2\n[mac]"),
}


@cache
def _captured(name: str) -> bytes:
    ofdma = {"mac.ofdma.uplink": "trigger", "mac.ofdma.access_interval": "1 ms"}
    with TemporaryDirectory() as directory:
        file = Path(directory) / "air.pcap"
        scenario = loads(VARIANTS[name]).vary(ofdma)
        airtcp.simulate(scenario, threads=1, pcap=file, snaplen=65_535)
        return file.read_bytes()


def _legacy_ns(size: int, mbps: int) -> int:
    """Return the airtime of an 802.11a frame: 20 us, and symbols of 4 us (17.4.3)."""
    return 20_000 + 4_000 * ceil((22 + 8 * size) / (4 * mbps))


def _exchanges(name: str) -> Iterator[tuple[int, Frame, list[list[Frame]], Frame | None]]:
    """Yield the type of each received trigger, the PSDUs after it, and the Block ACK."""
    groups = list(ppdus(intact(_captured(name))))
    for at, (trigger, *_) in enumerate(groups):
        if trigger.kind != "trigger" or trigger.bad or trigger.mpdu[16] & 0xF not in USER_BYTES:
            continue
        after = groups[at + 1 :]
        start = after[0][0].start_ns if after else 0
        count = next(i for i, one in enumerate([*after, []]) if not one or one[0].start_ns != start)
        answer = after[count][0] if len(after) > count else None
        is_answer = answer is not None and answer.kind == "block ack"
        is_answer = is_answer and answer.transmitter == trigger.transmitter
        yield trigger.mpdu[16] & 0xF, trigger, after[:count], answer if is_answer else None


@pytest.mark.parametrize("name", VARIANTS)
def test_stations_respond_in_the_resource_units_of_the_trigger(name: str) -> None:
    """Each trigger goes at 6 Mb/s. UL Length is that of L-SIG: 3 ceil((T - 20 us) / 4 us) - 5.

    A response has a preamble of 48 us, with two streams 56 us, and symbols of 14.4 us.
    """
    counted = Counter[int]()
    for kind, trigger, psdus, answer in _exchanges(name):
        users = len(psdus)
        assert (trigger.receiver, trigger.length) == (
            b"\xff" * 6,
            28 + USER_BYTES[kind] * users,
        )
        begins = trigger.start_ns + _legacy_ns(trigger.length, 6) + SIFS_NS
        common = int.from_bytes(trigger.mpdu[16:24], "little")
        streams = 2 if name == "two streams" else 1
        assert (common >> 18 & 3, common >> 20 & 3, common >> 23 & 7) == (1, 1, streams - 1)
        airtime_ns = None if answer is None else answer.start_ns - SIFS_NS - begins
        if airtime_ns is not None:
            assert (airtime_ns - 40_000 - 8_000 * streams) % 14_400 == 0
            assert common >> 4 & 0xFFF == 3 * ceil((airtime_ns - 20_000) / 4_000) - 5
        size = USER_BYTES[kind]
        for user, psdu in enumerate(psdus):
            first = psdu[0]
            info = int.from_bytes(trigger.mpdu[24 + size * user :][:size], "little")
            assert (first.start_ns, first.receiver) == (begins, trigger.transmitter)
            assert info & 0xFFF == int.from_bytes(first.transmitter[2:], "big")
            tones, unit = place(first)
            assert info >> 13 & 0x7F == {7: 61, 8: 65}[tones] + unit
            assert info >> 29 & 7 == word(first, 5) - 1 == streams - 1
            assert info >> 21 & 0xF == word(first, 2) >> 8 & 0xF
            assert word(first, 0) & 3 == TRIGGERED
        counted[kind] += 1
    assert min(counted[BASIC], counted[BSRP]) > 20


def test_reports_have_the_size_of_the_queue() -> None:
    """In units of 256 octets, rounded up: 238 octets for each packet; 254 means over 64,768."""
    sizes: dict[str, Counter[int]] = {name: Counter() for name in VARIANTS}
    for name, counts in sizes.items():
        for kind, _, psdus, answer in _exchanges(name):
            if kind == BSRP:
                assert answer is None
                for (null,) in psdus:
                    assert (null.kind, null.length, null.mpdu[24] & 0x1F) == ("null", 30, 0x10)
                    counts[null.mpdu[25]] += 1
    assert sizes["loads"][254] > 5
    assert sizes["calls"][0] > 20
    assert sizes["calls"][1] > 20
    assert max(sizes["calls"]) < 10


@pytest.mark.parametrize("name", VARIANTS)
def test_one_block_ack_is_for_all_stations(name: str) -> None:
    """A station with everything received has only its AID, one with a loss a bitmap."""
    kinds = Counter[str]()
    for kind, _, psdus, answer in _exchanges(name):
        if kind == BSRP:
            continue
        expected: dict[int, set[int] | None] = {}
        for psdu in psdus:
            station = int.from_bytes(psdu[0].transmitter[2:], "big")
            came = {frame.number for frame in psdu if not frame.bad}
            kinds[psdu[0].kind] += 1
            if psdu[0].kind == "request":
                expected[station] = set()
            elif psdu[0].kind == "data" and came:
                expected[station] = None if len(came) == len(psdu) else came
        if not expected:
            assert answer is None
            continue
        assert answer is not None
        body, at, found = answer.mpdu[18:], 0, dict[int, set[int] | None]()
        assert int.from_bytes(answer.mpdu[16:18], "little") == 11 << 1
        while at < len(body):
            (info, start) = (int.from_bytes(body[at + i : at + i + 2], "little") for i in (0, 2))
            at += 2
            if info & 0xF800 == ALL_RECEIVED:
                found[info & 0x7FF] = None
                continue
            octets = {0: 8, 4: 32}[start & 0xF]
            bits = int.from_bytes(body[at + 2 : at + 2 + octets], "little")
            at += 2 + octets
            found[info & 0x7FF] = {
                ((start >> 4) + bit) % 4096 for bit in range(8 * octets) if bits >> bit & 1
            }
        assert list(found) == list(expected)
        for station, numbers in expected.items():
            received = found[station]
            assert (received is None) == (numbers is None)
            assert numbers is None or numbers <= (received or set())
            kinds["all" if numbers is None else "bitmap"] += 1
        one = b"\x02\0" + next(iter(found)).to_bytes(4, "big")
        assert answer.receiver == (one if len(found) == 1 else b"\xff" * 6)
    assert min(kinds["data"], kinds["all"]) > 5
    # A single datagram is either received or lost.
    assert (kinds["bitmap"] > 5) == (name != "calls")


def test_triggers_collide_as_triggers() -> None:
    """A frame that collides with a trigger begins at the same time; nobody responds."""
    groups = list(ppdus(intact(_captured("loads"))))
    collided = Counter[int]()
    for at, (trigger, *_) in enumerate(groups):
        if trigger.kind == "trigger" and trigger.bad and trigger.mpdu[16] & 0xF in USER_BYTES:
            near = [one[0] for one in groups[max(at - 3, 0) : at + 4]]
            others = [one for one in near if one.start_ns == trigger.start_ns]
            assert len(others) > 1
            assert all(one.bad for one in others)
            assert all(one.kind != "null" for one in near[near.index(trigger) + 1 :][:1])
            collided[trigger.mpdu[16] & 0xF] += 1
    assert collided[BASIC] > 3
    assert collided[BSRP] > 3


@needs_tshark
@pytest.mark.parametrize("name", VARIANTS)
def test_tshark_reads_the_same(name: str, tmp_path: Path) -> None:
    file = tmp_path / "air.pcap"
    file.write_bytes(_captured(name))
    assert malformed(file) == []
    field = "wlan.trigger.he.trigger_type"
    kinds = tshark(file, "-Y", f"{KIND} == {TRIGGER}", "-T", "fields", "-e", field)
    assert {int(one, 0) for one in kinds} == {BASIC, 2, BSRP}
