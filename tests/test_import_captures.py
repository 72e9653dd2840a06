"""Captures become scenarios; anything unreadable is reported in one line, without a traceback."""

import gzip
import json
import tomllib
from pathlib import Path
from typing import Any

import airtcp
import pytest
from airtcp.cli.commands import app
from airtcp.exceptions import AirtcpError, ScenarioError
from airtcp.importer.capture.laws import completed
from airtcp.importer.capture.transfers import DOWN, UP, Transfers, leave_out_control
from airtcp.importer.files import measurement_of
from airtcp.results import SimulationResult
from airtcp.scenario import Scenario, load, loads
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
    draft = draft_of([capture])
    found = tomllib.loads(draft.text())

    assert found["phy"] == {"standard": "802.11g", "control_rate": "24 Mb/s"}
    (group,), (flow,) = found["stations"], found["flows"]
    assert (group["count"], group["data_rate"]) == (2, "24 Mb/s")
    assert flow["direction"] == "download"
    # All pages have the same size.
    page = {"kind": "web", "size": "30000 B", "request": "200 B"}
    assert flow["application"].items() >= page.items()
    # The window scale of 100,000 B is one bit, and the number is even.
    tcp = {"receive_window": "100000 B", "mss": "1460 B", "variant": "sack"}
    assert flow["tcp"].items() >= tcp.items()
    assert flow["tcp"]["delayed_ack"]["every"] == 2
    # A pause is 300 ms plus the time until the SYN is sent, less than 20 ms here. Each station's
    # first pause began before the capture and is left out. The end of the capture cuts off the last
    # one, which becomes the mean of the longer ones.
    (content,) = draft.files.values()
    pauses = [float(line) for line in content.decode().splitlines()[1:]]
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
    assert "hostapd.conf or UCI" in text
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


@pytest.mark.parametrize(("kept", "said"), [
    (84, "TCP segments whose headers the capture cut off"),
    (50, "IP packets with damaged or truncated headers"),
])  # fmt: skip
def test_short_snap_lengths_leave_the_radio(
    capture: Path, tmp_path: Path, kept: int, said: str
) -> None:
    frames = [(time_ns, frame[:kept], n) for time_ns, frame, n in pcap_frames(capture)]

    text = draft_of([rewritten(tmp_path / "air.pcap", pcap(frames))]).text()

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

    assert "jumps of the clock" in text
    seconds = float(tomllib.loads(text)["run"]["duration"].removesuffix(" s"))
    assert 3.5 < seconds < 4.1


def test_half_a_capture_is_read_up_to_there(capture: Path, tmp_path: Path) -> None:
    whole = capture.read_bytes()
    half = rewritten(tmp_path / "half.pcap", whole[: len(whole) // 2])
    packed = rewritten(tmp_path / "packed.pcap", gzip.compress(whole)[:-4000])

    assert "last record" in draft_of([half]).text()
    assert "compressed file" in draft_of([packed]).text()


@pytest.mark.parametrize(("content", "said"), [
    (b"\xd4\xc3\xb2\xa1", "the file ends in its header"),
    (pcap([]), "is a capture with no frame"),
    (pcap([(0, b"\0" * 40, 40)], link=147), "1 frames of link type 147"),
    (pcap([(0, b"\0" * 40, 40)], link=127), "radiotap header is damaged"),
    (pcapng([])[:30], "cut off"),
    (b"\x0a\x0d\x0d\x0a" + bytes(20), "a section header is damaged"),
])  # fmt: skip
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
    assert "--out is missing" in bare.stderr
    assert done.exit_code == 0
    assert (tmp_path / "home-station-download-think.csv").exists()
    assert load(out).stations[0].count == 2
    assert again.exit_code == 2


def test_what_the_end_cut_off_stands_with_the_mean_of_longer_ones() -> None:
    # Longer than 2 are 3 and 5: mean 4. None is longer than 6: add the mean of 1, 3 and 5, 3.
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
    with pytest.raises(ScenarioError, match="is a capture"):
        measurement_of(capture)


def test_only_a_connection_that_controls_is_left_out() -> None:
    """iperf3's control connection sends a few bytes before and after the data; pages do not."""
    control, beside = [Transfers(), Transfers()], [Transfers(), Transfers()]
    control[UP].endless = [5_000_000, 300]
    control[UP].add(0, 10**6, 180, 0)
    control[DOWN].cut.append((10**9, 90))
    beside[UP].endless = [5_000_000]
    beside[DOWN].add(0, 10**6, 20_000, 200)

    assert (leave_out_control(control), leave_out_control(beside)) == (3, 0)
    assert (control[UP].endless, list(control[UP].begins)) == ([5_000_000], [])
    assert not any((control[DOWN].begins, control[DOWN].cut, control[DOWN].endless))
    assert list(beside[DOWN].sizes) == [20_000]


TIMES = ("transfer_time_s", "transfer_time_p50_s")


def exact(scenario: Scenario) -> list[Any]:
    """Return what a capture gives exactly: radio, rates of groups, TCP, directions of traffic."""
    told: dict[str, Any] = scenario.to_dict()
    told["phy"].pop("data_rate")
    groups = sorted((one["count"], json.dumps(one["data_rate"])) for one in told["stations"])
    keys = ("mss_bytes", "receive_window_bytes", "variant", "delayed_ack", "timestamps")
    tcp = [{key: flow["tcp"][key] for key in keys} for flow in told["flows"] if flow["tcp"]]
    kinds = [one["application"]["kind"].replace("ftp", "web") for one in told["flows"]]
    directions = [one["direction"] for one in told["flows"]]
    return [told["phy"], groups, tcp, sorted(zip(directions, kinds, strict=True))]


def come_back(directory: Path, name: str, seed: int) -> tuple[SimulationResult, Scenario]:
    """Return a captured replication of a scenario, and the scenario imported from the capture."""
    path = directory / f"{name}.pcap"
    written = loads(SCENARIOS[name])
    told = airtcp.simulate(written.vary({"run.seed": seed}), pcap=str(path))
    draft = draft_of([path])
    for file, content in draft.files.items():
        (directory / file).write_bytes(content)
    path.unlink()
    scenario = loads(draft.text(), base=directory)
    assert exact(scenario) == exact(written)
    return told, scenario


@pytest.mark.parametrize("name", SCENARIOS)
def test_what_a_capture_tells_exactly_comes_back(tmp_path: Path, name: str) -> None:
    come_back(tmp_path, name, 1)


def metrics_of_both(directory: Path, name: str, seed: int) -> list[dict[str, float]]:
    """The metrics of a scenario's captured replication, and of the scenario of its capture."""
    told, scenario = come_back(directory, name, seed)
    window = {"run.warmup": "0 s", "run.replications": 4, "run.seed": 1000 + seed}
    return [
        {
            key: one.mean
            for key, one in result.metrics.items()
            if key in ("goodput_bps", *TIMES) and one.mean is not None
        }
        for result in (told, airtcp.simulate(scenario.vary(window)))
    ]


def test_uploads_come_back(tmp_path: Path) -> None:
    # Saturated uploads vary by 0.5 % over the 8 s of the capture.
    told, again = metrics_of_both(tmp_path, "a-uploads", 1)

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
    each = [metrics_of_both(tmp_path, name, seed) for seed in range(1, 6)]

    for key, bound in (("goodput_bps", 0.05), *((key, 0.1) for key in TIMES)):
        told, again = ([run[side][key] for run in each if key in run[side]] for side in (0, 1))
        assert len(told) == len(again)
        if told:
            ratio = sum(again) / sum(told)
            print(f"{name} {key} {100 * (ratio - 1):+.1f} %")
            assert abs(ratio - 1) <= bound
