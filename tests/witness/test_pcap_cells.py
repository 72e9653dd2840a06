"""Captures of several cells: what each node hears, by the scenario and by Wireshark.

Nodes are numbered like their interfaces: access points in the order of cells, then stations.
"""

from __future__ import annotations

from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from airtcp.cli.outputs import is_own_capture
from airtcp.examples import directory
from airtcp.run.simulate import simulate
from airtcp.scenario import Scenario, load, loads
from bases import BULK, RADIOS, two_cells
from witness_tools import fields, needs_tshark

#: An example and its changes.
CASES: dict[str, tuple[str, dict[str, Any]]] = {
    "row": ("three-cells", {}),
    "apart": (
        "three-cells",
        {
            "cells.left.channel": 36,
            "cells.middle.channel": 36,
            "cells.right.channel": 40,
            "air.heard": [["left", "middle"]],
        },
    ),
    "hidden": ("hidden-uploads", {}),
    "hidden, RTS": ("hidden-uploads", {"mac.rts_threshold": "0 B"}),
    "aggregates": ("three-offices", {"run.duration": "50 ms"}),
    "reuse": (
        "three-offices",
        {"run.duration": "50 ms", "air.obss_pd": "-62 dBm", "mac.rts_threshold": "2 kB"},
    ),
}

#: Cases of the quick tests.
QUICK = ("row", "apart")

Captured = tuple[Scenario, Path, dict[str, Any]]


@pytest.fixture(
    scope="module",
    params=[
        pytest.param(name, marks=[] if name in QUICK else pytest.mark.verify) for name in CASES
    ],
)
def captured(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Captured:
    return made(request.param, tmp_path_factory.mktemp("air"))


def made(case: str, folder: Path) -> Captured:
    """Return a capture, and the answer of its run."""
    name, changes = CASES[case]
    short = {"run.warmup": "100 ms", "run.duration": "300 ms", "run.replications": 1}
    of = load(Path(str(directory())) / f"{name}.toml").vary({**short, **changes})
    path = folder / "air.pcapng"
    simulation = simulate(of, threads=1, pcap=path, snaplen=65535).simulation
    return of, path, dict(simulation.runs[0].answer)


pytestmark = needs_tshark


def address(node: int) -> str:
    return f"02:00:00:00:00:{node:02x}"


TOLD = ("frame.time_epoch", "frame.interface_id", "frame.interface_name", "wlan.ta")


@cache
def told(path: Path) -> list[dict[str, str]]:
    """Return fields of each frame for several tests, cached because that takes seconds."""
    names = (*TOLD, "tcp.checksum.status")
    return [dict(zip(names, row, strict=True)) for row in fields(path, *names)]


def test_nothing_is_malformed_and_every_checksum_is_right(captured: Captured) -> None:
    _, path, _ = captured

    assert fields(path, "frame.number", only="_ws.malformed || _ws.short") == []
    assert {row["tcp.checksum.status"] for row in told(path)} <= {"", "1"}
    # Good and not flagged, or bad and flagged; good frames have right checksums.
    rows = fields(
        path,
        *("wlan.fcs.status", "radiotap.flags.badfcs"),
        # With this option Wireshark treats frames with a wrong FCS as malformed.
        options=("-o", "wlan.check_checksum:TRUE"),
    )
    checked = Counter(map(tuple, rows))
    assert set(checked) <= {("1", "0"), ("0", "1")}
    assert checked["1", "0"] > 500


def test_frames_are_in_the_order_of_their_times(captured: Captured) -> None:
    _, path, _ = captured
    times = [float(row["frame.time_epoch"]) for row in told(path)]

    assert times == sorted(times)


def test_interfaces_have_the_names_of_nodes(captured: Captured) -> None:
    of, path, answer = captured
    names = {row["frame.interface_id"]: row["frame.interface_name"] for row in told(path)}

    nodes = [station["name"] for station in answer["stations"]]
    assert of.cells is not None
    assert nodes[: len(of.cells)] == [cell.name for cell in of.cells]
    assert set(names) == {str(place) for place in range(len(nodes))}
    assert [names[str(place)] for place in range(len(nodes))] == nodes


def test_a_node_has_frames_of_those_whom_it_hears_and_no_others(captured: Captured) -> None:
    of, path, _ = captured
    assert of.air is not None
    air = of.air
    seen = {
        (int(row["frame.interface_id"]), row["wlan.ta"]) for row in told(path) if row["wlan.ta"]
    }
    nodes = range(len(air.classes))

    def hears(one: int, other: int) -> bool:
        power = air.received_dbm[air.classes[other]][air.classes[one]]
        return one == other or (power is not None and power >= air.sense_dbm)

    heard = {(one, address(other)) for one in nodes for other in nodes if hears(one, other)}
    assert seen <= heard
    # Every station hears its own access point.
    assert of.cells is not None
    ears = [group.cell or 0 for group in of.stations for _ in range(group.count)]
    assert {(len(of.cells) + place, address(cell)) for place, cell in enumerate(ears)} <= seen


def test_each_exchange_has_an_answer_that_its_sender_has_read(tmp_path: Path) -> None:
    """As many ACKs reach their receivers as exchanges are counted; one may be cut off."""
    _, path, answer = made("row", tmp_path)
    rows = fields(
        path, "frame.interface_id", "wlan.ra", "frame.time_epoch", "radiotap.flags.badfcs",
        only="wlan.fc.type_subtype == 0x1d",
    )  # fmt: skip
    came = [
        row
        for row in rows
        if address(int(row[0])) == row[1] and row[3] == "0" and 0.1 <= float(row[2]) < 0.4
    ]
    assert abs(len(came) - answer["counts"]["mac_exchanges"]) <= 3


def test_hidden_stations_are_heard_at_their_access_point_alone(tmp_path: Path) -> None:
    """Station 1 never hears 2, whose data collide with its own at the access point."""
    _, path, answer = made("hidden", tmp_path)
    rows = fields(
        path, "frame.interface_id", "wlan.ta", "radiotap.flags.badfcs",
        only="wlan.fc.type_subtype == 0x20",
    )  # fmt: skip

    assert not any(row[:2] in (["1", address(2)], ["2", address(1)]) for row in rows)
    sent = Counter(row[1] for row in rows if address(int(row[0])) == row[1])
    read = Counter(row[1] for row in rows if row[0] == "0" and row[2] == "0")
    lost = [row for row in rows if row[0] == "0" and row[2] == "1"]
    assert lost
    failed = sum(answer["cells"][0]["failures"].values()) / answer["cells"][0]["attempts"]
    stations = [address(1), address(2)]
    missing = 1 - sum(read[one] for one in stations) / sum(sent[one] for one in stations)
    # The count includes failures of the access point's own frames, and excludes the warm-up.
    assert missing == pytest.approx(failed, abs=0.5 * failed + 0.01)


def test_the_file_is_known_as_ones_own(tmp_path: Path) -> None:
    """So that the next run may overwrite it."""
    _, path, _ = made("row", tmp_path)

    assert is_own_capture(path.read_bytes()[:65536])


#: Access points that hear each other, and stations that hear only their own. If both send at once,
#: both frames arrive; the next preamble of the first to end disturbs the other's ACK.
APART = two_cells(
    RADIOS,
    reader=f"application = {BULK}",
    clerk='application = { kind = "udp", packet = "300 B", rate = "saturated" }',
    warmup="100 ms",
    duration="1 s",
    replications=1,
)


def test_a_station_acknowledges_what_it_has_read(tmp_path: Path) -> None:
    """Even if its access point does not receive the ACK, and sends again."""
    path = tmp_path / "air.pcapng"
    simulate(loads(APART), threads=1, pcap=path)
    rows = fields(
        path, "wlan.fc.type_subtype", "wlan.ra", "radiotap.flags.badfcs", "wlan.fc.retry",
        only='frame.interface_name == "reader/0"',
    )  # fmt: skip
    own = [row for row in rows if row[1] == address(2) and row[0] == "0x0020"]
    read = [row for row in own if row[2] == "0"]
    acks = [row for row in rows if row[:2] == ["0x001d", address(0)]]

    assert len(acks) > 500
    assert any(row[3] in ("1", "True") for row in read)
    # One may be in progress at the end.
    assert 0 <= len(acks) - len(read) <= 1


#: The start of a frame, the node that heard it, its type and receiver, and a bad FCS.
Heard = tuple[float, str, str, str, str]


def heard_for(of: Scenario, span: str, folder: Path) -> list[Heard]:
    short = {"run.warmup": "0 s", "run.duration": span, "run.replications": 1}
    path = folder / f"{span}.pcapng"
    simulate(of.vary(short), threads=1, pcap=path)
    rows = fields(
        path, "frame.time_epoch", "frame.interface_name", "wlan.fc.type_subtype", "wlan.ra",
        "radiotap.flags.badfcs",
    )  # fmt: skip
    return [(float(time), where, kind, to, bad) for time, where, kind, to, bad in rows]


def test_data_without_an_answer_yet_are_at_their_receiver(tmp_path: Path) -> None:
    """The run ends in the SIFS before an ACK: the receiver of the data has them as a good frame."""
    of = load(Path(str(directory())) / "hidden-uploads.toml")
    nodes = ("ap", "near-wall/0", "behind-wall/0")

    # ACKs of the access point on the interface of the station that they are for.
    acks = [
        time
        for time, where, kind, *_ in heard_for(of, "300 ms", tmp_path)
        if (where, kind) == ("behind-wall/0", "0x001d")
    ]
    assert len(acks) > 20
    for ack in acks[-20::10]:
        # 802.11a has a SIFS of 16 us; half a SIFS before an ACK its data have ended.
        frames = heard_for(of, f"{round(1e6 * ack) - 8} us", tmp_path)
        time, _, kind, receiver, _ = frames[-1]
        assert kind == "0x0020"
        where = {one: bad for at, one, _, _, bad in frames if at == time}
        assert len(where) > 1
        assert where[nodes[int(receiver[-2:])]] == "0"


@pytest.mark.parametrize(
    "rts",
    [
        pytest.param({}, id="data", marks=pytest.mark.verify),
        pytest.param({"mac.rts_threshold": "0 B"}, id="RTS"),
    ],
)
def test_what_is_on_the_air_at_the_end_is_written_too(rts: dict[str, Any], tmp_path: Path) -> None:
    """A run that ends in the middle of frames records them like a longer run of the same seed.

    Except for frames that begin in the last 4 us, which only their senders know yet. A frame that
    would be disturbed after the end counts as good.
    """
    of = load(Path(str(directory())) / "hidden-uploads.toml").vary(rts)
    whole = heard_for(of, "300 ms", tmp_path)
    starts = sorted({row[0] for row in whole})
    lost = {time for time, where, *_, bad in whole if (where, bad) == ("ap", "1")}
    # The frames that disturb the lost ones begin next.
    disturbed = [(time, next(one for one in starts if one > time)) for time in sorted(lost)[-6::2]]
    on_air = set()
    for since, start in (*((one, one) for one in starts[-60::10]), *disturbed):
        # RTS and CTS last longer, and so do data.
        end = round(1e6 * start) + 25
        known = 1e-6 * end - 4e-6
        short = [row for row in heard_for(of, f"{end} us", tmp_path) if row[0] < known]
        long = [row for row in whole if row[0] < known]
        assert sorted(row[:4] for row in short) == sorted(row[:4] for row in long)
        assert {row for row in short if row[4] == "1"} <= set(long)
        on_air |= {row for row in short if row[0] >= since}
    assert {row[2] for row in on_air} >= ({"0x001b"} if rts else {"0x0020"})
    assert {row[4] for row in on_air} == {"0", "1"}
