"""Measurements of iperf3, flent and tables: every key is used or reported."""

import copy
import json
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import airtcp
import pytest
from airtcp.cli.commands import app
from airtcp.compare import with_measured
from airtcp.exceptions import ScenarioError
from airtcp.importer.files import drafts_of, measurement_of, measurement_of_all
from airtcp.importer.marks import category_of
from airtcp.importer.options import options_of
from airtcp.scenario import loads
from bases import refused, said
from imported import scenario_of
from typer.testing import CliRunner

AC = (
    "hw_mode=a\nchannel=36\nieee80211n=1\nieee80211ac=1\nvht_oper_chwidth=1\n"
    "vht_oper_centr_freq_seg0_idx=42\nht_capab=[HT40+]\nvht_capab=[SHORT-GI-80]\n"
)
BEGIN_S = 1_795_868_451


def iperf3(bps: float = 5.24e6, begin_s: int = BEGIN_S, **test: Any) -> dict[str, Any]:
    """Return the JSON of a two-second iperf3 3.12 test, with these keys in test_start."""
    start = {"protocol": "TCP", "num_streams": 1, "blksize": 131072, "omit": 0, "duration": 2}
    start |= {"bytes": 0, "blocks": 0, "reverse": 0, "tos": 0, "target_bitrate": 0} | test
    sums = {"start": 0, "end": 2.0, "seconds": 2.0, "bytes": int(bps / 4), "bits_per_second": bps}
    if start["protocol"] == "UDP":
        sums |= {"jitter_ms": 0.1, "lost_packets": 0, "packets": 100, "lost_percent": 0}
    sender = sums | {"retransmits": 0, "mean_rtt": 48, "sender": True}
    return {
        "start": {
            "connected": [{"socket": 5, "local_host": "192.0.2.1", "remote_host": "192.0.2.2"}],
            "version": "iperf 3.12",
            "timestamp": {"timesecs": begin_s},
            "connecting_to": {"host": "secret.example", "port": 5201},
            "tcp_mss_default": 1448,
            "sock_bufsize": 0,
            "test_start": start,
        },
        "intervals": [{"streams": [], "sum": {**sums, "omitted": False}}],
        "end": {
            "streams": [{"sender": sender, "receiver": sums}],
            "sum_sent": sender,
            "sum_received": sums,
            "sender_tcp_congestion": "cubic",
        },
    }


def written(directory: Path, told: Any, name: str = "iperf3.json") -> Path:
    path = directory / name
    path.write_text(told if isinstance(told, str) else json.dumps(told))
    return path


def written_scenario(directory: Path, told: Any, radio: str = AC) -> str:
    return scenario_of([written(directory, radio, "hostapd.conf"), written(directory, told)])


def with_radio(directory: Path, told: Any, radio: str = AC) -> dict[str, Any]:
    return tomllib.loads(written_scenario(directory, told, radio))


@pytest.mark.parametrize(("test", "bits"), [
    # What iperf3 3.12 sent in 2 s: 10 blocks of 128 KiB, 20 in a row, 8 kB at a time.
    ({"target_bitrate": 5_000_000}, 10 * 2**20),
    ({"target_bitrate": 5_000_000, "burst": 20}, 20 * 2**20),
    # Flows begin within 100 ms, which is 0 to 8 of these blocks.
    ({"target_bitrate": 5_000_000, "blksize": 8000}, 153 * 64_000),
    ({"target_bitrate": 5_000_000, "num_streams": 4}, 4 * 10 * 2**20),
])  # fmt: skip
def test_blocks_are_those_of_iperf3(tmp_path: Path, test: dict[str, Any], bits: int) -> None:
    resolved = loads(written_scenario(tmp_path, iperf3(**test))).vary({"run.replications": 2})

    found = airtcp.simulate(resolved).metrics["goodput_bps"].mean
    assert found == pytest.approx(bits / 2.0, rel=0.02)


@pytest.mark.parametrize(("test", "bps"), [
    ({"target_bitrate": 40_000_000, "reverse": 1}, 40e6), ({"fqrate": 8_000_000}, 8e6),
])  # fmt: skip
def test_a_rate_of_tcp_is_kept(tmp_path: Path, test: dict[str, Any], bps: float) -> None:
    short = {"run.replications": 2, "run.duration": "4 s"}
    resolved = loads(written_scenario(tmp_path, iperf3(**test))).vary(short)
    assert airtcp.simulate(resolved).metrics["goodput_bps"].mean == pytest.approx(bps, rel=0.05)


@pytest.mark.parametrize(("test", "arrived", "size", "streams"), [
    ({"bytes": 8 * 2**20}, 8 * 2**20, 8 * 2**20, 1),
    ({"blocks": 64, "blksize": 131072}, 8 * 2**20, 8 * 2**20, 1),
    # The connections share the size.
    ({"bytes": 8 * 2**20, "num_streams": 4}, 8 * 2**20, 2 * 2**20, 4),
    # The client ended when it had written everything; half had arrived.
    ({"bytes": 8 * 2**20}, 4 * 2**20, 4 * 2**20, 1),
])  # fmt: skip
def test_a_test_of_a_size_is_a_transfer_with_an_end(
    tmp_path: Path, test: dict[str, Any], arrived: int, size: int, streams: int
) -> None:
    told = iperf3(8 * arrived / 2.0, duration=0, **test)
    told["end"]["sum_received"] |= {"bytes": arrived}
    path = written(tmp_path, told)
    scenario = loads(scenario_of([written(tmp_path, AC, "hostapd.conf"), path]))

    result = with_measured(airtcp.compare(scenario, replications=2), measurement_of(path))

    application: Any = scenario.flows[0].application
    assert scenario.run.warmup_ns == 0
    assert (application.size.mean(), len(scenario.flows)) == (size, streams)
    assert result.simulation.is_done
    # The transfer time is compared, not goodput: the run's 10 s include idle time.
    rows = {row.metric: row for row in result.measured.rows}
    assert rows["transfer_time_s"].measured.mean == 2.0
    assert (rows["transfer_time_s"].simulation.mean or 9.0) < 8 * size * streams / 100e6
    assert "goodput_bps" not in rows
    assert rows["tcp_retransmissions"].measured.mean == 0.0


def test_a_size_of_both_directions_is_no_size(tmp_path: Path) -> None:
    told = iperf3(bytes=2**20, bidir=1)
    told["end"]["sum_received_bidir_reverse"] = told["end"]["sum_received"]
    text = scenario_of([written(tmp_path, told)])

    assert "size" not in tomllib.loads(text)["flows"][0]["application"]
    assert "-n or -k with --bidir" in text


def test_a_rate_that_a_scenario_does_not_limit_is_no_gap(tmp_path: Path) -> None:
    path = written(tmp_path, scenario_of([written(tmp_path, AC, "hostapd.conf")]), "s.toml")
    measured = written(tmp_path, iperf3(target_bitrate=5_000_000))
    command = ["run", str(path), "--measured", str(measured), "--json", "--advice", "tried", "-q"]
    short = ["--replications", "2", "--set", "run.duration=1 s", "--set", "run.warmup=200 ms"]

    told = json.loads(CliRunner().invoke(app, [*command, *short]).stdout)["measured"]

    assert len(told["unfollowed"]) == 1
    assert (told["gap"]["state"], told["gap"]["explanations"]) == ("no gap", [])


def test_a_stream_of_events_is_read_as_the_whole(tmp_path: Path) -> None:
    told = iperf3(target_bitrate=5_000_000)
    events = [{"event": "start", "data": told["start"]}]
    events += [{"event": "interval", "data": one} for one in told["intervals"]]
    events.append({"event": "end", "data": told["end"]})
    stream = "\n".join(map(json.dumps, events))
    full = f"{stream}\n{json.dumps(told, indent=2)}"

    assert measurement_of(written(tmp_path, full)) == measurement_of(written(tmp_path, told))
    assert with_radio(tmp_path, stream) == with_radio(tmp_path, told)
    assert measurement_of(written(tmp_path, stream)) == measurement_of(written(tmp_path, told))
    with pytest.raises(ScenarioError, match="line 2: is not JSON"):
        scenario_of([written(tmp_path, stream[: stream.index('"sum"')])])
    # A log that a second test was appended to.
    with refused("importer.iperf3.second_result", at="line 4"):
        measurement_of(written(tmp_path, f"{stream}\n{stream}"))


@pytest.mark.parametrize(
    ("tos", "category"), [(184, "AC_VI"), (32, "AC_BK"), (192, "AC_VO"), (160, "AC_VI")]
)
def test_a_mark_becomes_a_category(tmp_path: Path, tos: int, category: str) -> None:
    found = with_radio(tmp_path, iperf3(tos=tos))

    assert found["mac"]["classify"] == {"tcp_data": category, "tcp_ack": category}
    of_udp = with_radio(tmp_path, iperf3(tos=tos, protocol="UDP", blksize=1200))
    assert of_udp["mac"]["classify"] == {"udp": category}
    # Without WMM a mark has no effect.
    plain = with_radio(tmp_path, iperf3(tos=tos), "hw_mode=a\nchannel=36\n")
    assert "mac" not in plain


@pytest.mark.parametrize(
    ("tos", "newer"), [(0xB8, "AC_VO"), (0x40, "AC_BE"), (0x60, "AC_VI"), (0x68, "AC_VI")]
)
def test_a_mark_that_linux_6_8_treats_otherwise_is_named(
    tmp_path: Path, tos: int, newer: str
) -> None:
    told = scenario_of([written(tmp_path, iperf3(tos=tos))])

    assert f"{newer} since 6.8" in re.sub(r"\n#   ", " ", told)
    assert "since 6.8" not in scenario_of([written(tmp_path, iperf3(tos=0x80))])


def of_server(told: dict[str, Any]) -> dict[str, Any]:
    """Return the server's file of a test in which the server sent: it lacks what arrived."""
    told = copy.deepcopy(told)
    told["start"]["accepted_connection"] = {"host": "192.0.2.1", "port": 40000}
    told["end"]["sum_received"] |= {"bytes": 0, "bits_per_second": 0, "packets": 0}
    return told


def test_udp_of_old_versions_loses_what_was_lost(tmp_path: Path) -> None:
    """iperf3 3.9 sums only what was sent, and a client's intervals count the same."""
    told = iperf3(8e6, protocol="UDP", target_bitrate=8_000_000, blksize=1472)
    told["end"]["sum"] = told["end"].pop("sum_received") | {"lost_percent": 30}
    told["end"].pop("sum_sent")
    second = {"seconds": 1.0, "bits_per_second": 8e6}
    told["intervals"] = [{"sum": second}] * 20

    old = measurement_of(written(tmp_path, told)).values[""]["goodput_bps"]
    received = [{"sum": second | {"jitter_ms": 0.1, "bits_per_second": bps}} for bps in (5e6, 6e6)]
    new = measurement_of(written(tmp_path, told | {"intervals": received * 10}))

    assert old.half_width is None
    assert old.mean == pytest.approx(5.6e6)
    assert new.values[""]["goodput_bps"].half_width is not None


@pytest.mark.parametrize("protocol", ["TCP", "UDP"])
def test_a_server_that_sent_tells_what_it_sent(tmp_path: Path, protocol: str) -> None:
    told = of_server(iperf3(protocol=protocol, reverse=1))
    found = measurement_of(written(tmp_path, told))

    assert found.values[""]["goodput_bps"].mean == 5.24e6
    assert "packet_loss" not in found.values[""]
    assert said(found.others[0]) == "importer.iperf3.bytes_sent"


def test_round_trips_of_a_server_with_both_directions_are_of_downloads(tmp_path: Path) -> None:
    told = iperf3()
    told["start"]["accepted_connection"] = {"host": "192.0.2.1", "port": 40000}
    told["end"]["sum_sent_bidir_reverse"] = told["end"]["sum_sent"]
    told["end"]["sum_received_bidir_reverse"] = {**told["end"]["sum_received"], "bytes": 0}
    found = measurement_of(written(tmp_path, told)).values

    assert "rtt_s" in found["download"]
    assert "rtt_s" not in found["upload"]


def test_a_test_that_ended_at_once_has_no_goodput(tmp_path: Path) -> None:
    told = iperf3(blocks=20)
    told["end"]["sum_received"] |= {"bytes": 0, "bits_per_second": 0}
    found = measurement_of(written(tmp_path, told))

    assert "goodput_bps" not in found.values[""]
    assert said(found.others[0]) == "importer.iperf3.no_report"


def test_parallel_datagrams_are_one_stream_of_their_rate(tmp_path: Path) -> None:
    told = iperf3(protocol="UDP", num_streams=3, target_bitrate=2_000_000, blksize=1472)

    (flow,) = with_radio(tmp_path, told)["flows"]
    assert flow["application"] == {"kind": "udp", "packet": "1500 B", "rate": "6114130 b/s"}


def test_files_of_powershell_and_of_several_tests(tmp_path: Path) -> None:
    wide = tmp_path / "wide.json"
    wide.write_bytes(json.dumps(iperf3()).encode("utf-16"))
    twice = written(tmp_path, json.dumps(iperf3(), indent=1) * 2)

    assert measurement_of(wide).values[""]["goodput_bps"].mean == 5.24e6
    with refused("importer.source.second_result"):
        measurement_of(twice)


def set_at(told: dict[str, Any], path: str, value: Any) -> dict[str, Any]:
    changed = copy.deepcopy(told)
    table: Any = changed
    *above, last = path.split(".")
    for key in above:
        table = table[key][0] if key == "streams" else table.setdefault(key, {})
    table[last] = value
    return changed


#: For each key that the import uses, a value that changes the result.
VALUES: Mapping[str, Any] = {
    "protocol": "UDP",
    "num_streams": 4,
    "blksize": 900,
    "target_bitrate": 7_000_000,
    "fqrate": 7_000_000,
    "fq_rate": 7_000_000,
    "tos": 184,
    "tcp_mss": 1000,
    "tcp_mss_default": 1000,
    "sock_bufsize": 65536,
    "sender_tcp_congestion": "reno",
    "omit": 1,
    "intervals": [{"sum": {"bits_per_second": one, "seconds": 1}} for one in range(10, 20)],
    "sum": {"bits_per_second": 1e6, "seconds": 3.0},
    "sum_sent": {"retransmits": 7, "seconds": 2.0},
    "sum_received": {"bits_per_second": 9e6, "seconds": 4.0},
    "sum_received_bidir_reverse": {"bits_per_second": 9e6, "seconds": 4.0},
    "diskfile": {"sent": 1},
}
#: Keys that change nothing on their own: their values follow from others, or both are needed.
SILENT = {f"start.test_start.{one}" for one in ("duration", "bytes", "blocks")} | {
    f"end.{one}" for one in ("streams", "sum", "sum_bidir_reverse", "sum_sent_bidir_reverse")
}


@pytest.mark.parametrize("name", sorted(options_of("iperf3")))
def test_every_key_of_iperf3_does_what_the_table_says(tmp_path: Path, name: str) -> None:
    verdict = options_of("iperf3")[name].verdict
    bases = [iperf3(), iperf3(protocol="UDP", blksize=1200, target_bitrate=1_000_000)]
    changed = 0
    for base in bases:
        value = VALUES.get(name.rpartition(".")[2], 1)
        told: list[tuple[str, Any]] = []
        for one in (base, set_at(base, name, value)):
            path = written(tmp_path, one)
            try:
                told.append((scenario_of([path]), measurement_of(path)))
            except ScenarioError as error:
                told.append((f"refused: {error.key}", None))
        before, after = told
        if verdict == "named":
            assert name in after[0]
            assert any(name in one.sentence for one in after[1].unfollowed)
        elif verdict == "harmless":
            assert after == before
        changed += before != after
    assert verdict != "followed" or changed or name in SILENT


@pytest.mark.parametrize(
    ("mark", "category"),
    [("EF", "AC_VI"), ("CS1", "AC_BK"), ("BE4", "AC_BE"), ("VO", "AC_VO"), ("AF41", "AC_VI"),
     ("CS0", "AC_BE"), ("CS6", "AC_VO"), ("LE", "AC_BE"), (0x28, "AC_BK"), (0xE0, "AC_VO")],
)  # fmt: skip
def test_marks_have_the_category_of_their_user_priority(mark: int | str, category: str) -> None:
    assert category_of(mark) == category


def test_tests_one_after_the_other_are_a_scenario_each(tmp_path: Path) -> None:
    radio = written(tmp_path, AC, "hostapd.conf")
    up = written(tmp_path, iperf3(), "up.json")
    down = written(tmp_path, iperf3(begin_s=BEGIN_S + 60, reverse=1), "down.json")

    first, second = drafts_of([radio, up, down])

    directions = [tomllib.loads(one.text())["flows"][0]["direction"] for one in (first, second)]
    assert directions == ["upload", "download"]
    out = tmp_path / "net.toml"
    done = CliRunner().invoke(app, ["import", *map(str, (radio, up, down)), "--out", str(out)])
    assert done.exit_code == 0, done.stderr
    assert airtcp.load(tmp_path / "net-2.toml").flows[0].direction == "download"
    assert CliRunner().invoke(app, ["import", str(up), str(down)]).exit_code == 2


def test_several_measurements_stand_beside_one_answer(tmp_path: Path) -> None:
    up = written(tmp_path, iperf3(238e6), "up.json")
    down = written(tmp_path, iperf3(58e6, reverse=1), "down.json")
    told = measurement_of_all([down, up])
    assert told.values["upload"]["goodput_bps"].mean == 238e6
    assert told.values["download"]["goodput_bps"].mean == 58e6
    # Tests at the same time are one scenario.
    flows = tomllib.loads(scenario_of([up, down]))["flows"]
    assert [flow["direction"] for flow in flows] == ["upload", "download"]
    first, second, third = (
        written(tmp_path, f"metric,value,of\ngoodput_bps,{value}\n", f"{name}.csv")
        for name, value in (("a", "58e6,"), ("b", "238e6,"), ("c", "1e6,upload"))
    )
    with refused("importer.files.both_have"):
        measurement_of_all([first, second])
    assert len(measurement_of_all([first, third]).values) == 2
