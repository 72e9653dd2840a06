"""Captures of OFDMA: PPDUs to several users and their responses, by own code and by tshark."""

from __future__ import annotations

import struct
from collections import Counter
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

import airtcp
import pytest
from aggregates import OF_SEVERAL, captured, ppdus
from airtcp.scenario import loads
from captures import Frame, records
from test_pcap_aggregates import asked, found_malformed
from witness_tools import malformed, needs_tshark

SIFS_NS = 16_000
#: Radiotap's HE and HE-MU fields by bit. PPDU formats of HE.
HE, HE_MU, MU, TRIGGERED = 23, 24, 2, 3
#: Radiotap's fields with type and length: U-SIG and EHT.
TLV = 28
#: Wireshark's field for type and subtype of a frame, and the value of a trigger.
KIND, TRIGGER = "wlan.fc.type_subtype", 0x12


def word(frame: Frame, place: int) -> int:
    """Return one of the six words of radiotap's HE field."""
    return int.from_bytes(frame.fields[HE][2 * place : 2 * place + 2], "little")


def place(frame: Frame) -> tuple[int, int]:
    """Return size (in radiotap's numbering) and index of a resource unit."""
    assert word(frame, 1) & 0x4000
    return word(frame, 4) & 0xF, word(frame, 1) >> 8 & 0x3F


def to_several(name: str) -> Iterator[tuple[list[list[Frame]], list[Frame]]]:
    """Yield each PPDU to several users, as one PSDU per user, and the frames after it."""
    starts = [
        list(psdus) for _, psdus in groupby(ppdus(captured(name)[0]), lambda one: one[0].start_ns)
    ]
    for at, psdus in enumerate(starts):
        users = [psdu for psdu in psdus if HE_MU in psdu[0].fields]
        if users:
            yield users, [psdu[0] for after in starts[at + 1 : at + 7] for psdu in after]


def is_collision(psdus: list[list[Frame]]) -> bool:
    return all(frame.bad for psdu in psdus for frame in psdu)


@pytest.mark.parametrize("name", OF_SEVERAL)
def test_each_user_has_a_resource_unit_of_its_own(name: str) -> None:
    """Two users share 40 MHz: units 0 and 1 of 242 tones (7). A single one has 484 tones (8)."""
    sizes = Counter[int]()
    for psdus, _ in to_several(name):
        firsts = [psdu[0] for psdu in psdus]
        units = [place(first) for first in firsts]
        assert units in ([(7, 0), (7, 1)], [(7, 0)], [(7, 1)], [(8, 0)])
        for first in firsts:
            assert word(first, 0) & 3 == MU
            # STA-ID is the number in the address.
            assert word(first, 3) >> 4 == int.from_bytes(first.receiver[2:], "big")
            # Bandwidth 40 MHz; with 242-tone units each content channel has one user.
            channels = [192, 0, 0, 0] * 2 if units[0][0] == 7 else [0] * 8
            assert list(first.fields[HE_MU][2:]) == [5, 0, *channels]
        sizes[len(psdus)] += 1
    assert sizes[2] > 50


def test_an_mu_bar_asks_all_users_at_once() -> None:
    """28 octets and 9 for each user at 24 Mb/s: 40 us for two, 36 us for one (17.4.3).

    Block ACKs of 56 octets with a delimiter, in 242 tones at HE MCS 5 and 1,600 ns: 936 bits in
    each symbol of 14.4 us, so one symbol after 48 us. L-SIG says 3 ceil(42.4 / 4) - 5 = 28 (27-11).
    """
    collided = Counter[bool]()
    for psdus, after in to_several("mu-bar"):
        trigger, users = after[0], len(psdus)
        if is_collision(psdus) and trigger.kind != "trigger":
            # The other PPDU lasts longer.
            continue
        assert (trigger.kind, trigger.length) == ("trigger", 28 + 9 * users)
        assert trigger.receiver == b"\xff" * 6
        common = int.from_bytes(trigger.mpdu[16:24], "little")
        assert (common & 0xF, common >> 18 & 3, common >> 20 & 3) == (2, 1, 1)
        answers = after[1 : 1 + users]
        airtime_ns = 40_000 if users == 2 else 36_000
        infos = [trigger.mpdu[24 + 9 * one : 33 + 9 * one] for one in range(users)]
        for psdu, answer, info in zip(psdus, answers, infos, strict=True):
            first = psdu[0]
            assert (answer.kind, answer.receiver) == ("block ack", first.transmitter)
            assert answer.transmitter == first.receiver
            assert word(answer, 0) & 3 == TRIGGERED
            assert place(answer) == place(first)
            assert answer.start_ns == trigger.start_ns + airtime_ns + SIFS_NS
            user = int.from_bytes(info, "little")
            size, unit = place(first)
            assert user & 0xFFF == int.from_bytes(first.receiver[2:], "big")
            assert user >> 13 & 0x7F == {7: 61, 8: 65}[size] + unit
            assert user >> 21 & 0xF == 5
            came = {frame.number for frame in psdu if not frame.bad}
            assert answer.received & {frame.number for frame in psdu} == came
            if size == 7:
                assert common >> 4 & 0xFFF == 28
        collided[is_collision(psdus)] += 1
    assert collided[False] > 50
    assert collided[True] > 5


def test_requests_ask_one_user_after_the_other() -> None:
    several = 0
    for psdus, after in to_several("bar-sequence"):
        if is_collision(psdus):
            continue
        kinds = ["block ack", *["request", "block ack"] * (len(psdus) - 1)]
        assert [frame.kind for frame in after[: len(kinds)]] == kinds
        for psdu, answer in zip(psdus, after[::2], strict=False):
            came = {frame.number for frame in psdu if not frame.bad}
            assert answer.transmitter == psdu[0].receiver
            assert answer.received & {frame.number for frame in psdu} == came
        several += len(psdus) == 2
    assert several > 50


@needs_tshark
@pytest.mark.parametrize("name", OF_SEVERAL)
def test_tshark_reads_the_same(name: str) -> None:
    assert found_malformed(name) == []
    field = "radiotap.he.data_2.ru_allocation_offset"
    of_several = ("-Y", "radiotap.he.data_1.ppdu_format == 2", "-T", "fields", "-e", field)
    users = [frame for psdus, _ in to_several(name) for psdu in psdus for frame in psdu]
    read = [int(one, 0) for one in asked(name, "-c", "3000", *of_several)]
    assert read == [place(one)[1] for one in users][: len(read)]
    assert len(read) > 500
    parts = [
        word
        for part in ("trigger_type", "ul_length", "user_info.aid12", "ru_allocation")
        for word in ("-e", f"wlan.trigger.he.{part}")
    ]
    triggers = asked(name, "-Y", f"{KIND} == {TRIGGER}", "-T", "fields", *parts)
    assert (len(triggers) > 50) == (name == "mu-bar")
    for line in triggers:
        kind, length, stations, units = line.split("\t")
        assert int(kind, 0) == 2
        assert (int(length), units) in [(28, "61,62"), (28, "61"), (28, "62"), (28, "65")]
        assert len(set(stations.split(","))) == len(units.split(","))


@needs_tshark
def test_users_of_802_11be_have_resource_units_of_eht(tmp_path: Path) -> None:
    """U-SIG has the type of PPDU (0); EHT has size 3 (242 tones) or 4, index and STA-ID.

    The MU-BAR's size is that of 802.11ax, so stations respond in its format.
    """
    file = tmp_path / "air.pcap"
    scenario = loads(OF_SEVERAL["mu-bar"]).vary({"phy.standard": "802.11be"})
    airtcp.simulate(scenario, threads=1, pcap=file, snaplen=65_535)
    units: dict[int, set[tuple[int, int]]] = {}
    answers = 0
    for frame in records(file.read_bytes()):
        if TLV in frame.fields:
            signal = struct.unpack_from("<3I", frame.fields[TLV], 4)
            known, _, unit, *_, user = struct.unpack_from("<11I", frame.fields[TLV], 20)
            if signal[2] == 0xC0:
                assert known >> 22 & 3 == 3
                assert user >> 8 & 0x7FF == int.from_bytes(frame.receiver[2:], "big")
                units.setdefault(frame.start_ns, set()).add((unit & 0x1F, unit >> 5 & 0xFF))
        elif HE in frame.fields:
            assert (frame.kind, word(frame, 0) & 3) == ("block ack", TRIGGERED)
            answers += 1
    of_two = {(3, 0), (3, 1)}
    assert all(found <= of_two or found == {(4, 0)} for found in units.values())
    assert sum(found == of_two for found in units.values()) > 50
    assert answers > 100
    assert malformed(file, "-c", "3000") == []
