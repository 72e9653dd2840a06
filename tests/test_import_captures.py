"""Captures come back as scenarios; what cannot be read of one is a line, and never a traceback."""

import gzip
import tomllib
from pathlib import Path
from typing import Any

import airtcp
import pytest
from airtcp.cli.commands import app
from airtcp.exceptions import AirtcpError, ScenarioError
from airtcp.importer.capture.laws import completed
from airtcp.importer.capture.transfers import DOWN, UP, Transfers, leave_out_control
from airtcp.scenario import load, loads
from imported import SCENARIOS, draft_of, ethernet, pcap, pcap_frames, pcapng
from test_import_frames import damaged
from typer.testing import CliRunner

FILES = Path(__file__).parents[1] / "docs" / "howto" / "import"
SMALL = """
phy = { standard = "802.11g", data_rate = "24 Mb/s" }
stations = [{ name = "s", count = 2 }]
run = { warmup = "0 s", duration = "4 s", replications = 1 }
[[flows]]
stations = "s"
direction = "download"
application = { kind = "web", size = "30 kB", think_time = "300 ms", request = "200 B" }
tcp = { receive_window = "100000 B", variant = "sack" }
"""


@pytest.fixture(scope="module")
def capture(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("captures") / "air.pcap"
    airtcp.simulate(loads(SMALL), pcap=str(path))
    return path


def imported(path: Path) -> dict[str, Any]:
    return tomllib.loads(draft_of([path]).text())


def rewritten(path: Path, content: bytes) -> Path:
    path.write_bytes(content)
    return path


def test_radio_traffic_and_tcp_come_back(capture: Path) -> None:
    found = imported(capture)

    assert found["phy"] == {"standard": "802.11g", "control_rate": "24 Mb/s"}
    (group,) = found["stations"]
    assert (group["count"], group["data_rate"]) == (2, "24 Mb/s")
    (flow,) = found["flows"]
    # All pages have one size; a pause of 300 ms ends when the SYN is on the air.
    assert flow["application"]["kind"] == "web"
    assert flow["application"]["size"] == "30000 B"
    assert flow["application"]["request"] == "200 B"
    # 100,000 B are shifted by one bit: an even number.
    assert flow["tcp"]["receive_window"] == "100000 B"
    assert flow["tcp"]["mss"] == "1460 B"
    assert flow["tcp"]["variant"] == "sack"
    assert flow["tcp"]["delayed_ack"]["every"] == 2
    assert flow["direction"] == "download"


def test_pauses_are_those_between_transfers(capture: Path) -> None:
    draft = draft_of([capture])
    (content,) = draft.files.values()
    pauses = [float(line) for line in content.decode().splitlines()[1:]]

    # 300 ms and what it takes until a SYN is on the air, which is less than 20 ms here. The first
    # pause of each station is left out, for it began before the capture. The last is cut off at the
    # end, and stands with the mean of longer ones.
    assert len(pauses) > 10
    assert all(0.299 < pause < 0.32 for pause in pauses)


def test_a_wire_has_traffic_and_no_rate(capture: Path, tmp_path: Path) -> None:
    frames = [
        (time_ns, *whole)
        for time_ns, frame, length in pcap_frames(capture)
        if (whole := ethernet(frame, length)) is not None
    ]
    path = rewritten(tmp_path / "wire.pcap", pcap(frames, link=1))

    found, text = imported(path), draft_of([path]).text()

    assert found["phy"] == {"standard": "802.11ax"}
    assert found["stations"][0]["count"] == 2
    assert found["flows"][0]["application"]["size"] == "30000 B"
    assert found["flows"][0]["tcp"]["receive_window"] == "100000 B"
    assert "import hostapd.conf or UCI together" in text
    both = tomllib.loads(draft_of([FILES / "hostapd.conf", path]).text())
    assert both["phy"]["standard"] == "802.11ac"


def test_encrypted_frames_tell_sizes_and_times(capture: Path, tmp_path: Path) -> None:
    frames = []
    for time_ns, frame, length in pcap_frames(capture):
        at = frame[2]
        is_data = frame[at] & 0x0C == 8
        locked = frame[: at + 1] + bytes([frame[at + 1] | 0x40]) + frame[at + 2 : at + 24]
        frames.append((time_ns, locked if is_data else frame, length))
    path = rewritten(tmp_path / "air.pcap", pcap(frames))

    text = draft_of([path]).text()

    assert tomllib.loads(text)["stations"][0]["data_rate"] == "24 Mb/s"
    assert "data frames are encrypted" in text


@pytest.mark.parametrize(
    ("kept", "said"),
    [
        (84, "TCP segments whose headers the capture cut off"),
        (50, "IP packets with damaged or truncated headers"),
    ],
)
def test_short_snap_lengths_leave_the_radio(
    capture: Path, tmp_path: Path, kept: int, said: str
) -> None:
    frames = [(time_ns, frame[:kept], n) for time_ns, frame, n in pcap_frames(capture)]
    path = rewritten(tmp_path / "air.pcap", pcap(frames))

    text = draft_of([path]).text()

    assert tomllib.loads(text)["stations"][0]["name"] == "station"
    assert tomllib.loads(text)["phy"]["standard"] == "802.11g"
    assert said in text


def test_without_radiotap_there_is_no_rate(capture: Path, tmp_path: Path) -> None:
    frames = [(t, frame[frame[2] :], n - frame[2]) for t, frame, n in pcap_frames(capture)]

    found = imported(rewritten(tmp_path / "air.pcap", pcap(frames, link=105)))

    assert found["phy"] == {"standard": "802.11ax"}
    assert found["flows"][0]["tcp"]["receive_window"] == "100000 B"


def test_a_clock_that_was_set_goes_on(capture: Path, tmp_path: Path) -> None:
    frames = [
        (t + (10**15 if number > 300 else 2 * 10**15), frame, n)
        for number, (t, frame, n) in enumerate(pcap_frames(capture))
    ]
    path = rewritten(tmp_path / "air.pcap", pcap(frames))

    text = draft_of([path]).text()

    assert "jumps of the clock backwards" in text
    seconds = float(tomllib.loads(text)["run"]["duration"].removesuffix(" s"))
    assert 3.5 < seconds < 4.1


def test_half_a_capture_is_read_up_to_there(capture: Path, tmp_path: Path) -> None:
    whole = capture.read_bytes()
    half = rewritten(tmp_path / "half.pcap", whole[: len(whole) // 2])
    packed = rewritten(tmp_path / "packed.pcap", gzip.compress(whole)[:-4000])

    assert "the last record is cut off" in draft_of([half]).text()
    assert "the compressed file is damaged" in draft_of([packed]).text()


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"\xd4\xc3\xb2\xa1", "the file ends in its header"),
        (pcap([]), "is a capture with no frame"),
        (pcap([(0, b"\0" * 40, 40)], link=147), "1 frames of link type 147"),
        (pcap([(0, b"\0" * 40, 40)], link=127), "radiotap header is damaged"),
        (pcapng([])[:30], "cut off"),
        (b"\x0a\x0d\x0d\x0a" + bytes(20), "a section header is damaged"),
    ],
)
def test_nothing_readable_is_refused_with_the_reason(
    tmp_path: Path, content: bytes, said: str
) -> None:
    path = rewritten(tmp_path / "some.pcap", content)

    done = CliRunner().invoke(app, ["import", str(path)])

    assert done.exit_code == 2
    assert said in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_laws_are_written_beside_the_scenario(capture: Path, tmp_path: Path) -> None:
    out = tmp_path / "home.toml"

    bare = CliRunner().invoke(app, ["import", str(capture)])
    done = CliRunner().invoke(app, ["import", str(capture), "--out", str(out)])
    again = CliRunner().invoke(app, ["import", str(capture), "--out", str(out)])

    assert bare.exit_code == 2
    assert "--out is missing: the distributions" in bare.stderr
    assert done.exit_code == 0
    assert (tmp_path / "home-station-download-think.csv").exists()
    assert load(out).stations[0].count == 2
    assert again.exit_code == 2


def test_what_the_end_cut_off_stands_with_the_mean_of_longer_ones() -> None:
    # Beyond 2: 3 and 5, whose mean is 4. Beyond 6 there is nothing: the mean of 1, 3 and 5 is 3.
    assert completed([1.0, 3.0, 5.0], [2.0]) == [1.0, 3.0, 5.0, 4.0]
    assert completed([1.0, 3.0, 5.0], [6.0]) == [1.0, 3.0, 5.0, 9.0]


@pytest.mark.parametrize("count", [40, pytest.param(400, marks=pytest.mark.verify)])
def test_captures_of_a_wire_with_any_bytes_are_read_or_refused(
    capture: Path, tmp_path: Path, count: int
) -> None:
    frames = list(pcap_frames(capture))[:400]
    wire = [(t, *whole) for t, frame, n in frames if (whole := ethernet(frame, n)) is not None]
    said = []
    for seed in range(count):
        path = rewritten(tmp_path / "wire.pcap", damaged(pcap(wire, link=1), seed))
        try:
            draft_of([path]).text()
        except AirtcpError as error:
            said.append(str(error).splitlines())
    assert 0 < len(said) < count
    assert {len(lines) for lines in said} == {1}


def test_a_configuration_is_no_measurement(capture: Path) -> None:
    from airtcp.importer.files import measurement_of

    with pytest.raises(ScenarioError, match="is a capture"):
        measurement_of(capture)


def test_a_connection_that_only_controls_is_left_out() -> None:
    """That of iperf3: some bytes before the data, and some after."""
    each = [Transfers(), Transfers()]
    each[UP].endless = [5_000_000, 300]
    each[UP].add(0, 10**6, 180, 0)
    each[DOWN].cut.append((10**9, 90))

    assert leave_out_control(each) == 3
    assert each[UP].endless == [5_000_000]
    assert not any((each[DOWN].begins, each[DOWN].cut, each[DOWN].endless))
    assert not each[UP].begins


def test_transfers_beside_an_endless_one_stay() -> None:
    each = [Transfers(), Transfers()]
    each[UP].endless = [5_000_000]
    each[DOWN].add(0, 10**6, 20_000, 200)

    assert leave_out_control(each) == 0
    assert list(each[DOWN].sizes) == [20_000]


#: The keys that an imported scenario must have, exactly: of the radio, of each group, and of TCP.
EXACT: dict[str, tuple[dict[str, Any], list[dict[str, Any]], dict[str, Any]]] = {
    "b-web": (
        {"standard": "802.11b", "control_rate": "2 Mb/s", "preamble": "long"},
        [{"count": 10, "data_rate": "11 Mb/s"}],
        {"receive_window": "65535 B", "mss": "1460 B"},
    ),
    "b-two-rates": (
        {"standard": "802.11b", "preamble": "short"},
        [{"count": 3, "data_rate": "11 Mb/s"}, {"count": 2, "data_rate": "2 Mb/s"}],
        {"receive_window": "65535 B"},
    ),
    "a-uploads": (
        {"standard": "802.11a"},
        [{"count": 4, "data_rate": "24 Mb/s"}],
        {"receive_window": "16384 B", "delayed_ack": {"every": 2}},
    ),
    "g-downloads": (
        {"standard": "802.11g"},
        [{"count": 5, "data_rate": "54 Mb/s"}],
        {"receive_window": "65535 B", "variant": "sack", "delayed_ack": {"every": 1}},
    ),
    "g-calls": ({"standard": "802.11g"}, [{"count": 4, "data_rate": "54 Mb/s"}], {}),
    "n-web": (
        {"standard": "802.11n", "channel_width": "40 MHz", "guard_interval": "400 ns"},
        [{"count": 8, "mcs": 5, "spatial_streams": 1}],
        {"preset": "linux", "mss": "1448 B", "receive_window": "3145728 B"},
    ),
    "n-rts-ftp": (
        {"standard": "802.11n", "channel_width": "20 MHz", "guard_interval": "800 ns"},
        [{"count": 4, "mcs": 3, "spatial_streams": 1}],
        {"receive_window": "65535 B", "mss": "1460 B"},
    ),
    "ac-mixed": (
        {"standard": "802.11ac", "channel_width": "80 MHz"},
        [
            {"count": 3, "mcs": 4, "spatial_streams": 2},
            {"count": 2, "mcs": 4, "spatial_streams": 2},
        ],
        {"preset": "linux", "receive_window": "3145728 B"},
    ),
    "ax-web-two-rates": (
        {"standard": "802.11ax", "channel_width": "80 MHz"},
        [
            {"count": 5, "mcs": 9, "spatial_streams": 2},
            {"count": 5, "mcs": 2, "spatial_streams": 1},
        ],
        {"preset": "linux", "mss": "1448 B", "receive_window": "3145728 B"},
    ),
    "ax-lossy-uploads": (
        {"standard": "802.11ax", "channel_width": "20 MHz"},
        [{"count": 2, "mcs": 4, "spatial_streams": 1}],
        {"receive_window": "65535 B", "mss": "1460 B"},
    ),
}
TIMES = ("transfer_time_s", "transfer_time_p50_s")


def came_back(directory: Path, name: str, seed: int) -> tuple[dict[str, float], dict[str, float]]:
    """The metrics of a scenario's captured replication, and of the scenario of its capture."""
    path = directory / f"{name}.pcap"
    told = airtcp.simulate(loads(SCENARIOS[name]).vary({"run.seed": seed}), pcap=str(path))
    draft = draft_of([path])
    for file, content in draft.files.items():
        (directory / file).write_bytes(content)
    text = draft.text()
    check_exact(tomllib.loads(text), name)
    path.unlink()
    scenario = loads(text, base=directory)
    window = {"run.warmup": "0 s", "run.replications": 4, "run.seed": 1000 + seed}
    again = airtcp.simulate(scenario.vary(window))
    both = []
    for result in (told, again):
        found = {key: one.mean for key, one in result.metrics.items() if one.mean is not None}
        both.append({key: found[key] for key in ("goodput_bps", *TIMES) if key in found})
    return both[0], both[1]


def check_exact(found: dict[str, Any], name: str) -> None:
    phy, groups, tcp = EXACT[name]
    assert found["phy"].items() >= phy.items()
    each = sorted(found["stations"], key=lambda one: (-one["count"], -one.get("mcs", 0)))
    assert len(each) == len(groups)
    for group, wanted in zip(each, groups, strict=True):
        assert group.items() >= wanted.items()
    for flow in found["flows"]:
        assert flow["application"]["kind"] == "udp" or flow["tcp"].items() >= tcp.items()


def test_uploads_come_back(tmp_path: Path) -> None:
    # Saturated: within 0.5 % over the 8 s of the capture.
    told, again = came_back(tmp_path, "a-uploads", 1)

    assert again["goodput_bps"] == pytest.approx(told["goodput_bps"], rel=0.05)


MIXED = """
phy = { standard = "802.11ac", channel_width = "40 MHz", mcs = 5 }
stations = [
    { name = "new", count = 2 },
    { name = "old", count = 1, standard = "802.11a", data_rate = "24 Mb/s" },
]
flows = [
    { stations = "new", direction = "download", application = { kind = "bulk" } },
    { stations = "old", direction = "download", application = { kind = "bulk" } },
]
run = { warmup = "0 s", duration = "2 s", replications = 1 }
"""


def test_an_older_station_keeps_its_standard(tmp_path: Path) -> None:
    path = tmp_path / "air.pcap"
    told = airtcp.simulate(loads(MIXED), pcap=str(path))
    text = draft_of([path]).text()

    old = next(one for one in tomllib.loads(text)["stations"] if "standard" in one)
    assert (old["standard"], old["data_rate"], old["count"]) == ("802.11a", "24 Mb/s", 1)
    again = airtcp.simulate(loads(text).vary({"run.warmup": "0 s", "run.replications": 2}))
    goodputs = [one.metrics["goodput_bps"].mean for one in (told, again)]
    # A station at MCS 0 instead would take four times as much of the airtime.
    assert goodputs[1] == pytest.approx(goodputs[0], rel=0.1)


@pytest.mark.verify
@pytest.mark.timeout(3000)
@pytest.mark.parametrize("name", SCENARIOS)
def test_ten_scenarios_come_back(tmp_path: Path, name: str) -> None:
    each = [came_back(tmp_path, name, seed) for seed in range(1, 6)]

    for key, bound in (("goodput_bps", 0.05), *((key, 0.1) for key in TIMES)):
        told, again = ([run[side][key] for run in each if key in run[side]] for side in (0, 1))
        assert len(told) == len(again)
        if told:
            ratio = sum(again) / sum(told)
            print(f"{name} {key} {100 * (ratio - 1):+.1f} %")
            assert abs(ratio - 1) <= bound
