"""Wireshark's reading of captures: frames, TCP, and airtimes.

tshark is in Debian's package of that name; `make setup-system` installs it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from captures import (
    DURATION_S,
    FOR_TSHARK,
    SCENARIOS,
    UPLINK,
    WARMUP_S,
    capture,
    flow,
    scenario_text,
)
from witness_tools import fields, needs_tshark, tshark

pytestmark = needs_tshark

Captured = tuple[Path, dict[str, Any]]
CHANNEL = "radiotap.channel.flags"
CHECKSUMS = ("tcp.checksum.status", "udp.checksum.status", "ip.checksum.status")
TIMES = (
    *("frame.time_epoch", "wlan_radio.duration", "wlan.fc.type_subtype", "tcp.len", "udp.length"),
    *(f"{CHANNEL}.ofdm", f"{CHANNEL}.2ghz", "tcp.flags.syn"),
)


@cache
def told(path: Path) -> list[dict[str, str]]:
    """Return fields of each frame for several tests, cached because that takes seconds."""
    names = ("ip.version", "radiotap.flags.badfcs", *CHECKSUMS, *TIMES)
    return [dict(zip(names, row, strict=True)) for row in fields(path, *names)]


@pytest.fixture(
    scope="module",
    params=[
        pytest.param(name, marks=[] if name in FOR_TSHARK else pytest.mark.verify)
        for name in SCENARIOS
    ],
)
def captured(request: pytest.FixtureRequest, air: Callable[[str], Captured]) -> Captured:
    return air(request.param)


def test_every_checksum_is_right(captured: Captured) -> None:
    path, _ = captured
    # 1 is "good"; UDP has no TCP checksum, and control frames have none at all.
    found = Counter(
        tuple(frame[name] for name in CHECKSUMS) for frame in told(path) if frame["ip.version"]
    )
    assert set(found) <= {("1", "", "1"), ("", "1", "1")}
    assert sum(found.values()) > 1000


def test_no_frame_is_malformed_or_has_a_warning_but_for_the_order_of_segments(
    captured: Captured,
) -> None:
    """Severities: 4194304 note, 6291456 warning, 8388608 error (epan/proto.h)."""
    path, _ = captured
    # Wireshark warns of these when segments are lost, or sent again by the MAC.
    usual = {
        "This frame is a (suspected) out-of-order segment",
        "Previous segment(s) not captured (common at capture start)",
        "ACKed segment that wasn't captured (common at capture start)",
    }
    only = "_ws.malformed || _ws.short || _ws.expert.severity >= 6291456"
    messages = {row[0] for row in fields(path, "_ws.expert.message", only=only)}
    assert {part for message in messages for part in message.split(",")} <= usual


def test_wiresharks_airtime_is_that_of_the_result(captured: Captured) -> None:
    """Wireshark's formulas, in whole microseconds, from radiotap's rate and the frame's length.

    They leave out the signal extension of ERP-OFDM (18.5.3.2), 6 us, which is added here; the rest
    agrees to the nanosecond. Wireshark counts the options of a SYN as airtime: at most 12 bytes at
    11 Mb/s or more.
    """
    path, answer = captured
    yes = ("1", "True")
    rows = [
        [frame[name] for name in TIMES]
        for frame in told(path)
        if frame["radiotap.flags.badfcs"] not in yes
    ]
    parts = {"data": 0.0, "tcp_ack": 0.0, "control": 0.0}
    syns = 0
    for epoch, duration, kind, tcp_len, udp_length, ofdm, band, syn in rows:
        part = "control"
        if int(kind, 0) in (0x20, 0x28):
            part = "data" if udp_length or int(tcp_len) > 0 else "tcp_ack"
        extension_us = 6.0 if ofdm in yes and band in yes else 0.0
        start = float(epoch) - WARMUP_S
        end = start + (float(duration) + extension_us) * 1e-6
        parts[part] += max(0.0, min(end, DURATION_S) - max(start, 0.0))
        syns += syn in yes
    bounds_s = {"data": 1e-9, "tcp_ack": 1e-9 + syns * 12 * 8 / 11e6, "control": 1e-9}
    for part, time_s in parts.items():
        assert abs(answer["airtime"][part] * DURATION_S - time_s) < bounds_s[part]


def lossy(variant: str, rts: bool) -> str:
    return scenario_text(
        "802.11b",
        4,
        flow("upload", 'path = ["uplink"]', tcp=f'variant = "{variant}"'),
        mac='rts_threshold = "500 B"' if rts else "",
        links=UPLINK,
        warmup_s=0,
        duration_s=20,
    )


@pytest.mark.parametrize(
    ("variant", "rts"),
    [
        ("reno", True),
        ("sack", False),
        # Only the combination is new here; `make verify` runs all.
        *(
            pytest.param(variant, rts, marks=pytest.mark.verify)
            for variant, rts in [
                ("reno", False),
                ("newreno", False),
                ("newreno", True),
                ("sack", True),
            ]
        ),
    ],
)
def test_tcp_analysis_finds_our_retransmissions(variant: str, rts: bool, tmp_path: Path) -> None:
    """Uploads lose packets on the link, after the first transmission was captured on the air.

    A receiver does not forward a frame with a bad FCS, so these are removed first: Wireshark would
    take retransmissions of the MAC for those of TCP.
    """
    answer = capture(lossy(variant, rts), tmp_path / "air.pcap")
    tshark(
        tmp_path / "air.pcap",
        *("-Y", "radiotap.flags.badfcs == 0", "-w", str(tmp_path / "good.pcap")),
    )
    again = "tcp.analysis.retransmission || tcp.analysis.out_of_order"
    found = Counter(row[0] for row in fields(tmp_path / "good.pcap", "ip.src", only=again))

    for record in answer["flows"]:
        station = int(record["station"].removeprefix("a/")) + 1
        # The last one may still be in the station's queue when the run ends.
        assert 0 <= record["retransmissions"] - found[f"10.0.0.{station}"] <= 1, record
    assert answer["counts"]["tcp_retransmissions"] > 50
    assert answer["counts"]["wired_drops"] > 30


def test_sack_blocks_name_what_came(tmp_path: Path) -> None:
    """Each block ends where data sent earlier ended, above the acknowledgment number."""
    path = tmp_path / "air.pcap"
    capture(lossy("sack", rts=False), path)
    rows = fields(
        path,
        *("tcp.srcport", "ip.addr", "tcp.nxtseq", "tcp.ack"),
        *("tcp.options.sack_le", "tcp.options.sack_re"),
        only="tcp && radiotap.flags.badfcs == 0",
    )
    ends: dict[str, set[int]] = {}
    blocks = 0
    for source, addresses, after, ack, left, right in rows:
        station = next(address for address in addresses.split(",") if address.startswith("10."))
        if source != "5001":
            ends.setdefault(station, set()).add(int(after))
            assert left == ""
        elif left:
            for begin, end in zip(left.split(","), right.split(","), strict=True):
                blocks += 1
                assert int(ack) < int(begin) < int(end)
                assert {int(begin), int(end)} <= ends[station]
    assert blocks > 100
    permitted = fields(path, "tcp.flags.syn", only="tcp.options.sack_perm")
    assert len(permitted) >= 8
    assert all(syn in (["1"], ["True"]) for syn in permitted)


def test_windows_are_the_receivers_once_scaled(air: Callable[[str], Captured]) -> None:
    """4 MiB need a shift of 7: 2^22 / 2^7 = 32768."""
    path, _ = air("scaled windows, longer headers")
    rows = fields(
        path, "tcp.window_size", "tcp.hdr_len", only="tcp.flags.syn == 0 && tcp.srcport == 5001"
    )

    assert {int(window) for window, _ in rows} == {4 * 2**20}
    # 52 bytes of headers less 20 of IP, plus SACK options of at most 40 bytes.
    assert {int(length) for _, length in rows} <= {32, 44, 52, 60}
    shifts = {row[0] for row in fields(path, "tcp.options.wscale.shift", only="tcp.flags.syn == 1")}
    assert shifts == {"7"}


def test_categories_are_told_by_the_tid(air: Callable[[str], Captured]) -> None:
    """AC_VO has user priority 6, AC_BE 0."""
    path, _ = air("EDCA, SACK, losses")
    rows = fields(path, "wlan.qos.tid", "tcp.len", "tcp.flags.syn", only="tcp")

    found = {
        (tid, "data" if int(length) > 0 or syn in ("1", "True") else "ack")
        for tid, length, syn in rows
    }
    assert found == {("6", "ack"), ("0", "data")}
