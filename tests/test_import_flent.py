"""Data files of flent: congestion control and settings that neither series nor parameters tell."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from airtcp.importer.files import draft_of


def drawn(directory: Path, names: list[str], **metadata: Any) -> Any:
    path = directory / "x.flent"
    told = {
        "version": 4,
        "x_values": [0.2 * n for n in range(20)],
        "results": {name: [5.0] * 20 for name in names},
        "metadata": {"LENGTH": 4, "TEST_PARAMETERS": {}, **metadata},
        "raw_values": {},
    }
    path.write_text(json.dumps(told))
    return draft_of([path])


def test_a_comparison_of_congestion_controls_has_a_flow_of_each(tmp_path: Path) -> None:
    """The tests cubic_reno and cubic_bbr of flent 2.2, whose series tell it by name."""
    names = [f"TCP upload {one} BE" for one in ("Cubic", "Reno", "BBR")]

    flows = drawn(tmp_path, names, TEST_PARAMETERS={"tcp_cong_control": "bbr"}).flows

    assert [one["tcp"].value["congestion"] for one in flows] == ["cubic", "reno", "bbr1"]


@pytest.mark.parametrize(
    ("key", "value", "is_named"),
    [
        ("tcp_ecn", 1, True),
        ("tcp_ecn", 2, False),
        ("tcp_sack", 0, True),
        ("tcp_sack", 1, False),
        ("tcp_window_scaling", 0, True),
        ("tcp_pacing_ss_ratio", 100, True),
        ("tcp_pacing_ca_ratio", 120, False),
    ],
)
def test_settings_that_change_traffic_are_named(
    tmp_path: Path, key: str, value: int, is_named: bool
) -> None:
    draft = drawn(tmp_path, ["TCP download"], SYSCTLS={f"net.ipv4.{key}": value})

    assert any(f"{key} = {value}" in line for line in draft.unread) == is_named


@pytest.mark.parametrize(
    ("names", "wanted"),
    [
        # rrul_var of flent 2.1 and later, and its pings.
        (
            [f"TCP {part}::{n} (CS{5 * n - 5})" for part in ("upload", "download") for n in (1, 2)]
            + ["Ping (ms)::ICMP", "TCP upload::1 (CS0)::tcp_rtt"],
            [("download", 2), ("upload", 2)],
        ),
        # tcp_nup, and hosts by address.
        (["TCP upload::1", "TCP upload::2", "TCP upload::2::tcp_cwnd"], [("upload", 2)]),
        (["TCP upload BE 2001:db8::a", "TCP upload BE 2001:db8::a::tcp_rtt"], [("upload", 1)]),
    ],
)
def test_each_connection_is_a_series(
    tmp_path: Path, names: list[str], wanted: list[tuple[str, int]]
) -> None:
    flows = drawn(tmp_path, names).flows

    found = [(one["direction"].value, one["connections"].value if "connections" in one else 1)
             for one in flows]  # fmt: skip
    assert found == wanted


def test_a_mark_after_colons_is_a_mark(tmp_path: Path) -> None:
    draft = drawn(tmp_path, ["TCP upload::1 (CS1)", "TCP upload::2 (CS1)"])

    assert draft.tables["mac.classify"]["tcp_data"].value == "AC_BK"


def test_a_ping_of_another_host_is_not_the_path(tmp_path: Path) -> None:
    path = tmp_path / "x.flent"
    drawn(tmp_path, ["TCP upload", "Ping (ms) ICMP", "Ping (ms) ICMP gateway (extra)"])
    told = json.loads(path.read_text())
    told["results"]["Ping (ms) ICMP"] = [40.0] * 20
    told["results"]["Ping (ms) ICMP gateway (extra)"] = [8.0] * 20
    path.write_text(json.dumps(told))

    assert draft_of([path]).flows[0]["path"].value == [{"delay": "20 ms"}]
