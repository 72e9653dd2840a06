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
