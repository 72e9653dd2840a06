"""Imports: each line that affects airtime becomes a key, and nothing is invented."""

import gzip
import json
import random
import time
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import airtcp
import pytest
from airtcp.cli.commands import app
from airtcp.exceptions import AirtcpError, QuestionError, ScenarioError
from airtcp.importer.files import measurement_of
from imported import scenario_of, written
from test_import_frames import damaged
from typer.testing import CliRunner

FILES = Path(__file__).parents[1] / "docs" / "howto" / "import"
HOSTAPD, UCI, IPERF3 = (FILES / name for name in ("hostapd.conf", "wireless", "iperf3.json"))
FLENT = {
    "version": 4,
    "x_values": [float(i) for i in range(20)],
    "results": {"Ping (ms) ICMP": [20.0] * 20, "TCP download BE": [None,
     *[10.0 + i % 2 for i in range(18)], None], "TCP download BE2": [None,
     *[20.0 - i % 2 for i in range(18)], None], "TCP download sum": [None, *[30.0] * 18, None],
     "TCP upload": [None, *[5.0 + i % 3 for i in range(18)], None], "TCP upload::tcp_rtt": [None,
     *[40.0] * 18, None]},
    "metadata": {"NAME": "rrul", "LENGTH": 20},
}  # fmt: skip


def read(*paths: Path, radio: str | None = None) -> dict[str, Any]:
    return tomllib.loads(scenario_of(paths, radio))


@pytest.fixture
def flent(tmp_path: Path) -> Path:
    path = tmp_path / "rrul.flent.gz"
    path.write_bytes(gzip.compress(json.dumps(FLENT).encode()))
    return path


def test_hostapd_gives_the_radio_with_the_line_of_each_key() -> None:
    text = scenario_of([HOSTAPD])
    found = tomllib.loads(text)

    assert found["phy"] == {
        "standard": "802.11ac",
        "band": "5 GHz",
        "channel_width": "80 MHz",
        "guard_interval": "400 ns",
        "control_rate": "24 Mb/s",
    }
    # 100 units of 1.024 ms; exponents 4 and 10 are windows of 15 and 1023.
    assert found["mac"]["beacon"] == {"interval": "102.4 ms"}
    best_effort = {"aifsn": 3, "cw_min": 15, "cw_max": 1023, "txop_limit": "0 s"}
    assert found["mac"]["edca"] == {"stations": {"AC_BE": best_effort}}
    lines = HOSTAPD.read_text().splitlines()
    assert lines[11] == "vht_oper_chwidth=1"
    assert "hostapd.conf:12: vht_oper_chwidth=1" in text
    assert "not-for-anybody" not in text
    assert "dtim_period (hostapd.conf:15)" in text


@pytest.mark.parametrize(("lines", "table", "keys"), [
    ("hw_mode=g\npreamble=1", "phy", {"standard": "802.11g", "preamble": "short"}),
    ("hw_mode=a\nsupported_rates=60 540", "phy", {"standard": "802.11a", "data_rate": "54 Mb/s"}),
    # The last of two wins, even after a second BSS: hw_mode belongs to the radio.
    ("hw_mode=g\nhw_mode=a\nbss=wlan1\nhw_mode=b", "phy", {"standard": "802.11b"}),
    # Queue 0 has the highest priority; a burst is in milliseconds.
    ("hw_mode=g\nwmm_enabled=1\ntx_queue_data0_cwmax=7\ntx_queue_data0_burst=1.5", "mac",
     {"edca": {"preset": "wmm", "ap": {"AC_VO": {"cw_max": 7, "txop_limit": "1.5 ms"}}}}),
])  # fmt: skip
def test_options_of_hostapd_are_keys(
    tmp_path: Path, lines: str, table: str, keys: dict[str, Any]
) -> None:
    assert read(written(tmp_path, lines))[table] == keys


def test_openwrt_has_radios_of_which_one_is_taken() -> None:
    first, second = read(UCI), read(UCI, radio="radio1")

    assert first["phy"]["standard"] == "802.11n"
    assert second["phy"] == {"standard": "802.11ax", "band": "5 GHz", "channel_width": "80 MHz"}
    assert first["ap"]["queue"] == {"discipline": "fq-codel"}
    text = scenario_of([UCI])
    assert "scenario is radio0" in text
    assert "not-for-anybody" not in text
    with pytest.raises(ScenarioError, match="allowed: radio0, radio1"):
        scenario_of([UCI], "radio2")


def test_iperf3_gives_the_flow_and_what_it_measured() -> None:
    found = read(UCI, IPERF3)
    end = json.loads(IPERF3.read_text())["end"]
    measured = measurement_of(IPERF3)

    (flow,) = found["flows"]
    assert flow["direction"] == "download"
    assert flow["tcp"] == {"preset": "linux", "mss": "1448 B", "congestion": "cubic"}
    assert found["run"]["warmup"] == "2 s"
    goodput = measured.values[""]["goodput_bps"]
    assert goodput.mean == pytest.approx(end["sum_received"]["bits_per_second"], rel=1e-12)
    assert goodput.low < goodput.mean
    assert measured.counts == {"tcp_retransmissions": end["sum_sent"]["retransmits"]}


def test_flent_gives_both_directions(flent: Path) -> None:
    found = read(flent)
    measured = measurement_of(flent)

    flows = {flow["direction"]: flow for flow in found["flows"]}
    assert flows["download"]["connections"] == 2
    assert "connections" not in flows["upload"]
    # Downloads: 10 + 20 or 11 + 19 at each sample, which flent sums. Uploads: 5, 6, 7 in turn.
    assert measured.values["download"]["goodput_bps"].mean == pytest.approx(30e6)
    assert measured.values["upload"]["goodput_bps"].mean == pytest.approx(6e6)
    assert measured.values["upload"]["rtt_s"].mean == pytest.approx(0.04)
    assert measured.others == ("Ping (ms) ICMP: median 20 ms, p95 20 ms",)


@pytest.mark.parametrize(("content", "said"), [
    ("", "is empty"),
    ("hw_mode=x", 'line 1: hw_mode: "x" is unknown; allowed: a, b, g, any'),
    ("ssid=office", "has no radio options"),
    ("hw_mode=g\nnonsense", "line 2: is not a hostapd option"),
    ("hw_mode=g\nbeacon_int=ten", 'line 2: beacon_int: "ten" is not a whole number'),
    ("hw_mode=g\nbeacon_int=9", "line 2: beacon_int: 9 is out of bounds; allowed: 10 to 65535"),
    ("hw_mode=a\nbasic_rates=", "line 2: basic_rates: is empty"),
    ("hw_mode=a\nbasic_rates=70", "phy.control_rate"),
    ("hw_mode=g\nwmm_enabled=1\ntx_queue_data2_cwmin=5",
     "line 3: tx_queue_data2_cwmin: 5 is not a contention window"),
    ("config wifi-device 'r\n", "line 1: is not valid UCI: a quote is not closed"),
    ("config wifi-device r\n", "line 1: r: has no band"),
    ("config wifi-device r\noption band 5g\noption htmode HE81", "line 3: htmode"),
    ("config wifi-device r\nband 5g", "line 2: is not valid UCI"),
    ("config system\n", "has no radio"),
    ('{"start": ', "line 1: is not JSON"),
    ("[" * 100_000, "nested too deeply"),
    ('{"a": 1}', "is JSON of an unknown program"),
    ('{"error": "unable to connect"}', "error: iperf3 did not finish: unable to connect"),
    ('{"start": {}}', "start.test_start: is missing"),
    ('{"start": {"test_start": {"protocol": "SCTP"}}}', "start.test_start.protocol"),
    ('{"start": {"test_start": {"protocol": "TCP"}}}', "end.sum_received: is missing"),
    ('{"x_values": [1], "results": {}}', "x_values: has no ascending times"),
    ('{"x_values": [1, 2], "results": {"TCP upload": [1]}}', "has 1 values for 2 times"),
    ('{"x_values": [1, 2], "results": {"a": [1, 2]}}', "results: has no TCP"),
    ("\xd4\xc3", "is not a kind of file"),
    ("Hello\nthere\n", "hostapd.conf"),
    ("Connecting to host 192.0.2.1, port 5201\n[  5] local 192.0.2.2 port 4 connected to "
     "192.0.2.1 port 5201\n", "run iperf3 with -J"),
    (b"\x7fELF\xff\xfe", "line 1: is not text"),
    (b"hw_mode=g\n\0\0", "line 2: is binary"),
    (gzip.compress(b"hw_mode=g")[:-6], "is damaged"),
    (gzip.compress(bytes(65 * 2**20)), "is too large"),
], ids=lambda one: one if isinstance(one, str) and len(one) < 100 else "")  # fmt: skip
def test_wrong_files_are_refused_with_their_place(
    tmp_path: Path, content: str | bytes, said: str
) -> None:
    path = tmp_path / "file"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    done = CliRunner().invoke(app, ["import", str(path)])
    assert done.exit_code == 2
    assert said in done.stderr
    assert path.name in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_files_that_do_not_belong_together_are_refused(tmp_path: Path, flent: Path) -> None:
    for paths, radio, said in (
        ([HOSTAPD, UCI], None, "second configuration"),
        ([HOSTAPD], "radio0", "--radio"),
        ([tmp_path / "none"], None, "cannot be read"),
        ([tmp_path], None, "cannot be read"),
    ):
        with pytest.raises((QuestionError, ScenarioError), match=said):
            scenario_of(paths, radio)
    apart = CliRunner().invoke(app, ["import", str(IPERF3), str(flent)])
    assert apart.exit_code == 2
    assert "--out is missing" in apart.stderr


def test_a_file_that_is_there_is_not_overwritten(tmp_path: Path) -> None:
    path = written(tmp_path, "mine", "out.toml")
    refused = CliRunner().invoke(app, ["import", str(UCI), "--out", str(path)])
    assert (refused.exit_code, path.read_text()) == (2, "mine")

    done = CliRunner().invoke(app, ["import", str(UCI), "--out", str(path), "--force"])

    # The screen points to the assumptions at the top of the file.
    said = "  4 assumptions: see the top of the file\n"
    assert done.stdout == f"wrote {path}\n{said}try: airtcp run {path}\n"
    assert airtcp.load(path).phy.standard == "802.11n"
    old = written(tmp_path, "hw_mode=a\nchannel=36\nieee80211n=1\nwmm_enabled=0\n", "old.conf")
    told = CliRunner().invoke(app, ["import", str(old), "--out", str(path), "--force"])
    assert "old.conf:4: wmm_enabled=0" in told.stdout
    silent = CliRunner().invoke(app, ["import", str(old), "--out", str(path), "--force", "-q"])
    assert silent.stdout == f"wrote {path}\ntry: airtcp run {path}\n"


def words_changed(whole: bytes, seed: int) -> bytes:
    """Replace some values by other types and numbers out of bounds, and repeat lines."""
    draw = random.Random(seed)
    words = [*b'-1 null "x" 1e999 {} [] true 0 NaN'.split(), b"", b"9" * 5000]
    lines = whole.splitlines(keepends=True)
    for _ in range(draw.randint(1, 4)):
        at = draw.randrange(len(lines))
        for mark in (b":", b"=", b" "):
            head, found, _ = lines[at].partition(mark)
            if found:
                end = b",\n" if mark == b":" and lines[at].rstrip().endswith(b",") else b"\n"
                lines[at] = head + mark + draw.choice(words) + end
                break
    lines[draw.randrange(len(lines))] = draw.choice(lines) * draw.choice((0, 1, 50))
    return b"".join(lines)


def refusal(ask: Callable[[], object]) -> str | None:
    try:
        ask()
    except AirtcpError as error:
        return str(error)
    return None


@pytest.mark.parametrize("number", [300, pytest.param(3000, marks=pytest.mark.verify)])
@pytest.mark.parametrize("mutate", [damaged, words_changed])
def test_mutated_files_are_read_or_refused_in_lines(
    tmp_path: Path, mutate: Callable[[bytes, int], bytes], number: int
) -> None:
    """Each mutated file gives a scenario, or an error with a message."""
    originals = [one.read_bytes() for one in (HOSTAPD, UCI, IPERF3)]
    originals.append(json.dumps(FLENT, indent=1).encode())
    path = tmp_path / "mutated"
    refused = 0
    for seed in range(number):
        path.write_bytes(mutate(originals[seed % len(originals)], seed))
        for ask in (lambda: scenario_of([path]), lambda: measurement_of(path)):
            message = refusal(ask)
            refused += message is not None
            if message is not None:
                assert "mutated" in message
                assert all(line.isprintable() for line in message.splitlines())
    assert number / 2 < refused < 2 * number


def test_values_of_a_direction_are_beside_it_and_others_are_named(tmp_path: Path) -> None:
    text = "metric,value,of\ngoodput_bps,59e6,download\ngoodput_bps,1e6,upload\nrtt,1 ms,phone\n"
    scenario = written(tmp_path, scenario_of([UCI, IPERF3]), "home.toml")
    command = ["run", str(scenario), "--measured", str(written(tmp_path, text, "measured.csv"))]
    short = ["--set", "run.duration=2 s", "--replications", "2", "--no-advice", "--json", "-q"]

    done = CliRunner().invoke(app, [*command, *short])

    told = json.loads(done.stdout)["measured"]
    assert [row["of"] for row in told["rows"]] == ["station/download"]
    absent = "rtt_s of phone: no such group; allowed: station"
    assert told["without"] == ["goodput_bps of uploads", absent]


def again(begin: str, more: str) -> str:
    """Return 20 MiB of text."""
    return begin + more * (20 * 2**20 // len(more))


#: Files of 20 MiB, and texts of a megabyte on which a careless pattern takes minutes.
LARGE = {
    "hostapd": lambda: again("hw_mode=a\n", "nothing=1\n"),
    "wireless": lambda: again("config wifi-device r\noption band 5g\n", "option a b\n"),
    "survey": lambda: again("SSID,BSSID,Channel,RSSI\n", "net,02:00:00:00:00:01,11,-50\n"),
    "ping": lambda: again("", "64 bytes from a: time=1 ms\n"),
    "dump": lambda: again("Station 02:00:00:00:00:02 (on wlan0)\n", "\ttx packets:\t1\n"),
    "stream": lambda: again(
        '{"event": "start", "data": {}}\n', '{"event": "interval", "data": {}}\n'
    ),
    "json": lambda: again('{"start": {"test_start": {"protocol": "TCP"}}, "x": [', "[1], "),
    "nothing": lambda: again("nothing that is known\n", "more of it\n"),
}
HOSTILE = {
    "blank lines": lambda: "\n" * 10**6 + "x",
    "blank lines of a scan": lambda: "BSS 02:00:00:00:00:01(on wlan0)\n" + "\n" * 10**6,
    "words of a ping": lambda: "TTL= " + "a " * 500_000,
    "columns": lambda: "= 1, " * 200_000,
    "an open quote": lambda: "config wifi-device '" + "x" * 10**6,
    "an open quote of uci show": lambda: "wireless.a='" + "x" * 10**6,
    "brackets": lambda: "[" * 10**6,
}


@pytest.mark.parametrize(
    ("text", "most_s"),
    [
        # JSON takes longest, all of it in the standard library.
        pytest.param(
            one, 15.0, marks=pytest.mark.verify if name == "json" else pytest.mark.slow, id=name
        )
        for name, one in LARGE.items()
    ]
    + [pytest.param(one, 3.0, id=name) for name, one in HOSTILE.items()],
)
def test_large_and_hostile_texts_end_soon(
    tmp_path: Path, text: Callable[[], str], most_s: float
) -> None:
    path = written(tmp_path, text())
    before = time.process_time()

    message = refusal(lambda: scenario_of([path]))

    assert message is not None
    assert len(message.splitlines()) == 1
    assert time.process_time() - before < most_s
