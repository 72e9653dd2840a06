"""Data files of flent: series, congestion control, marks and paths."""

from __future__ import annotations

import gzip
import json
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
from airtcp.importer.files import measurement_of
from bases import refused
from imported import draft_of, scenario_of


def written(directory: Path, told: Any, name: str) -> Path:
    path = directory / name
    path.write_bytes(gzip.compress(json.dumps(told).encode()))
    return path


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
    """In flent 2.2, cubic_reno and cubic_bbr name the congestion control in their series."""
    names = [f"TCP upload {one} BE" for one in ("Cubic", "Reno", "BBR")]

    flows = drawn(tmp_path, names, TEST_PARAMETERS={"tcp_cong_control": "bbr"}).flows

    assert [one["tcp"].value["congestion"] for one in flows] == ["cubic", "reno", "bbr1"]


@pytest.mark.parametrize(("setting", "is_named"), [
    ("tcp_ecn = 1", True),
    ("tcp_ecn = 2", False),
    ("tcp_sack = 0", True),
    ("tcp_sack = 1", False),
    ("tcp_window_scaling = 0", True),
    ("tcp_pacing_ss_ratio = 100", True),
    ("tcp_pacing_ca_ratio = 120", False),
])  # fmt: skip
def test_settings_that_change_traffic_are_named(
    tmp_path: Path, setting: str, is_named: bool
) -> None:
    key, _, value = setting.partition(" = ")
    draft = drawn(tmp_path, ["TCP download"], SYSCTLS={f"net.ipv4.{key}": int(value)})
    assert any(setting in line for line in draft.unread) == is_named


@pytest.mark.parametrize(("names", "wanted"), [
    # rrul_var of flent 2.1 and later, and its pings.
    (["TCP upload::1 (CS0)", "TCP upload::2 (CS5)", "TCP download::1 (CS0)", "Ping (ms)::ICMP",
      "TCP download::2 (CS5)", "TCP upload::1 (CS0)::tcp_rtt"], [("download", 2), ("upload", 2)]),
    # tcp_nup, and hosts by address.
    (["TCP upload::1", "TCP upload::2", "TCP upload::2::tcp_cwnd"], [("upload", 2)]),
    (["TCP upload BE 2001:db8::a", "TCP upload BE 2001:db8::a::tcp_rtt"], [("upload", 1)]),
])  # fmt: skip
def test_each_connection_is_a_series(
    tmp_path: Path, names: list[str], wanted: list[tuple[str, int]]
) -> None:
    flows = drawn(tmp_path, names).flows

    found = [(one["direction"].value, one["connections"].value if "connections" in one else 1)
             for one in flows]  # fmt: skip
    assert found == wanted


def test_a_mark_after_colons_is_a_mark(tmp_path: Path) -> None:
    for names in (["TCP upload::1 (CS1)", "TCP upload::2 (CS1)"], ["TCP upload CS1"]):
        draft = drawn(tmp_path, names)
        assert draft.tables["mac.classify"]["tcp_data"].value == "AC_BK"


def test_a_ping_of_another_host_is_not_the_path(tmp_path: Path) -> None:
    pings = {"Ping (ms) ICMP": [40.0] * 20, "Ping (ms) ICMP gateway (extra)": [8.0] * 20}
    told = {**FLENT, "results": {"TCP upload": [5.0] * 20, **pings}}

    path = written(tmp_path, told, "x.flent.gz")
    assert draft_of([path]).flows[0]["path"].value == [{"delay": "20 ms"}]


FLENT: dict[str, Any] = {
    "version": 4,
    "x_values": [float(i) for i in range(20)],
    "results": {f"TCP download {one}": [10.0] * 20 for one in ("BE", "BK", "CS5", "EF")},
    "metadata": {"NAME": "rrul", "LENGTH": 20, "SERIES_META": {}, "TEST_PARAMETERS": {}},
}


def flent(directory: Path, **metadata: Any) -> dict[str, Any]:
    told = {**FLENT, "metadata": FLENT["metadata"] | metadata}
    return tomllib.loads(scenario_of([written(directory, told, "x.flent.gz")]))


def test_series_with_different_marks_are_named_and_not_explained(tmp_path: Path) -> None:
    path = written(tmp_path, FLENT, "rrul.flent.gz")

    assert "AC_BE, AC_BK, AC_VI" in scenario_of([path])
    (condition,) = measurement_of(path).unfollowed
    assert condition.moves("goodput_bps")


def test_congestion_control_is_that_of_the_series_then_the_test_then_the_host(
    tmp_path: Path,
) -> None:
    sysctls = {"SYSCTLS": {"net.ipv4.tcp_congestion_control": "reno"}}
    test = {"TEST_PARAMETERS": {"tcp_cong_control": "cubic"}}
    series = {"SERIES_META": {name: {"CONG_CONTROL": "bbr"} for name in FLENT["results"]}}

    each: list[dict[str, Any]] = [sysctls, sysctls | test, sysctls | test | series]

    found = [flent(tmp_path, **one)["flows"][0]["tcp"]["congestion"] for one in each]
    assert found == ["reno", "cubic", "bbr1"]


def test_each_distance_has_a_path_and_no_host_a_name(tmp_path: Path) -> None:
    distances = {"alpha": 10.0, "beta": 50.0, "gamma": 200.0, "delta": 500.0}
    results = {f"TCP upload BE {host}": [5.0] * 20 for host in distances}
    results |= {f"Ping (ms) ICMP {host}": [ms] * 19 + [2 * ms] for host, ms in distances.items()}
    text = scenario_of([written(tmp_path, {**FLENT, "results": results}, "rtt.flent.gz")])

    delays = [flow["path"][0]["delay"] for flow in tomllib.loads(text)["flows"]]
    assert delays == ["5 ms", "25 ms", "100 ms", "250 ms"]
    assert not re.search("|".join(distances), text)


def test_a_series_of_no_known_kind_is_named(tmp_path: Path) -> None:
    told = {**FLENT, "results": FLENT["results"] | {"UDP upload": [1.0] * 20}}
    path = written(tmp_path, told, "udp.flent.gz")

    assert '"UDP upload"' in scenario_of([path])
    assert len(measurement_of(path).unfollowed) == 2


def test_test_parameters_that_no_series_shows_are_named(tmp_path: Path) -> None:
    for name, is_named in (("bandwidth", True), ("upload_streams", False)):
        told = {**FLENT, "metadata": FLENT["metadata"] | {"TEST_PARAMETERS": {name: "20"}}}
        path = written(tmp_path, told, "x.flent.gz")
        assert (f"do not show: {name}" in scenario_of([path])) == is_named
        assert any(name in one.sentence for one in measurement_of(path).unfollowed) == is_named


def test_a_test_without_tcp_is_refused_with_its_series(tmp_path: Path) -> None:
    told = {**FLENT, "results": {"UDP upload": [5.0] * 20, "Ping (ms) ICMP": [20.0] * 20}}

    with refused("importer.flent.no_tcp"):
        scenario_of([written(tmp_path, told, "x.flent.gz")])
