"""Pages of many objects, replayed logs, and calls: their requests and their metrics."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from airtcp import _core
from airtcp.messages.run import groups
from airtcp.run.simulate import simulate
from airtcp.scenario import ResolvedScenario, load, loads
from bases import cell, refused

PAGES = """
phy = {{ standard = "802.11b", control_rate = "11 Mb/s"{backoff} }}
stations = [{{ name = "reader", count = {count} }}]
run = {{ warmup = "0 s", duration = "{duration}", replications = {replications} }}
[[flows]]
stations = "reader"
direction = "download"
path = {path}
tcp = {{ mss = "1000 B", handshake = "{handshake}", delayed_ack = {{ every = 1 }} }}
[flows.application]
kind = "web"
size = "{size}"
think_time = "1 s"
request = "300 B"
{page}
"""


def pages(page: str, more: str = "", **given: object) -> ResolvedScenario:
    """Return readers of pages, without backoff unless `backoff` says otherwise."""
    keys = {"count": 1, "size": "1000 B", "handshake": "none", "path": "[]", "duration": "2 s"}
    keys |= {"backoff": ", cw_min = 0, cw_max = 0", "replications": 1}
    return loads(PAGES.format(page=page and f"page = {page}", **keys | given) + more)


def outcome(resolved: ResolvedScenario) -> Any:
    """Return the core's answer for replication 0 with seed 1."""
    return json.loads(_core.Simulation(resolved.to_json()).run(1, 0, _core.RunControl())[0])


def exchange_ns(payload_bytes: int) -> tuple[int, int]:
    """Times of a data frame, and of SIFS plus ACK, at 11 Mb/s in whole microseconds (DSSS)."""
    bits = 8 * payload_bytes + 320 + 64 + 224
    return (192 + math.ceil(bits / 11)) * 1000, (10 + 192 + math.ceil(112 / 11)) * 1000


def test_a_page_on_an_empty_channel_takes_its_frames() -> None:
    """Three objects on one connection without handshake: six frames, requests and objects in turn.

    Each acknowledges the previous one. DIFS before all but the first, no backoff; to the
    nanosecond."""
    found = outcome(pages("{ objects = 3, connections = 1 }"))["metrics"]

    frames = [exchange_ns(payload) for payload in (300, 1000, 300, 1000, 300, 1000)]
    expected = sum(map(sum, frames)) + 5 * 50_000 - frames[-1][1]
    assert found["page_time_s"] == pytest.approx(expected / 1e9, abs=2e-9)


@pytest.mark.parametrize(("connections", "rounds"), [(1, 61), (6, 13)])
def test_connections_are_used_at_once(connections: int, rounds: int) -> None:
    """With 100 ms each way everything else is small.

    One connection: a round trip for the handshake and 60 for objects. Six: two for the document;
    then the first continues while five do a handshake, so x rounds load x + 5 (x - 1) objects; 59
    take 11 rounds, 13 in all.
    """
    keys = {"handshake": "three-way", "path": '[{ delay = "100 ms" }]', "duration": "20 s"}
    asked = pages(f"{{ objects = 60, connections = {connections} }}", **keys)
    found = outcome(asked)["metrics"]["page_time_s"]
    # In addition to propagation, each object takes some 2 ms of airtime.
    assert rounds * 0.2 < found < rounds * 0.2 + 60 * 0.003


def test_objects_are_transfers_and_pages_are_pages() -> None:
    """Pages of 20 ms after 1 s of think time: 19 or 20 in 20 s, each of 4 transfers of 2500 B."""
    found = outcome(pages('{ objects = 4, size = "10 kB" }', duration="20 s", size="700 B"))

    transfers, metrics = found["counts"]["transfers"], found["metrics"]
    assert transfers in (76, 80)
    assert metrics["goodput_bps"] == pytest.approx(transfers * 2500 * 8 / 20)
    assert metrics["page_time_p50_s"] == pytest.approx(metrics["page_time_s"], rel=0.2)
    assert metrics["transfer_time_s"] < metrics["page_time_s"]
    group = found["groups"][0]
    assert group["download"]["page_time_s"] == metrics["page_time_s"]


def text_of(application: str, direction: str = "download", count: int = 2, flow: str = "") -> str:
    run: dict[str, Any] = {"warmup": "0 s", "duration": "30 s", "replications": 1}
    keys: dict[str, Any] = {"direction": direction, "application": application, "flow": flow}
    return cell(count, standard="802.11g", name="a", **keys, **run)


def profile(application: str, direction: str = "download") -> ResolvedScenario:
    return loads(text_of(application, direction))


def test_a_page_of_2025_has_the_sizes_of_the_almanac() -> None:
    """The Almanac's five quantiles for desktop home pages, in kB, within 7 %."""
    (flow,) = profile('{ profile = "web-2025" }').flows
    page = flow.application.page
    assert page.objects.mean() == 70.0

    for share, kb in {0.1: 607, 0.25: 1275, 0.5: 2412, 0.75: 4570, 0.9: 9179}.items():
        low, high = page.size.survival(np.array([0.93 * kb * 1e3, 1.07 * kb * 1e3]))
        assert high < 1 - share < low
    # A key of the file overrides its profile.
    mine = '{ profile = "web-2025", request = "1 kB", page = { connections = 1 } }'
    (flow,) = profile(mine).flows
    page = flow.application.page
    assert (flow.application.request_bytes, page.connections, page.objects.mean()) == (1000, 1, 70)


def replayed(directory: Path, text: str, stations: int = 2, extra: str = "") -> ResolvedScenario:
    (directory / "log.csv").write_text(text)
    scenario = directory / "s.toml"
    application = f'{{ kind = "replay", file = "log.csv"{extra} }}'
    scenario.write_text(text_of(application, count=stations))
    return load(scenario)


@pytest.mark.parametrize(("text", "extra", "transfers"), [
    # Three clients on two stations: the first station gets the third. Times count from the first.
    ("time,size,client\n100,3000,x\n103.5,2000,y\n101,500,x\n104,700,z\n", "",
     (((0.0, 3000.0), (1.0, 500.0), (4.0, 700.0)), ((3.5, 2000.0),))),
    # Without clients, requests alternate between stations. Pages before the start are left out.
    ("time,size\n0,100\n1,200\n2,300\n3,400\n", ', begin = "1 s"',
     (((0.0, 200.0), (2.0, 400.0)), ((1.0, 300.0),))),
])  # fmt: skip
def test_a_replay_gives_transfers_to_stations_in_turn(
    tmp_path: Path, text: str, extra: str, transfers: object
) -> None:
    (flow,) = replayed(tmp_path, text, extra=extra).flows
    assert flow.application.transfers == transfers


def test_what_is_replayed_arrives(tmp_path: Path) -> None:
    """40 transfers of 1 to 40 kB within 20 s all arrive: 820 kB in 30 s."""
    rows = "".join(f"{0.5 * n},{1000 * (n + 1)}\n" for n in range(40))
    found = outcome(replayed(tmp_path, "time,size\n" + rows, stations=3))

    assert found["counts"]["transfers"] == 40
    assert found["metrics"]["goodput_bps"] == pytest.approx(820e3 * 8 / 30)
    assert [flow["transfers"] for flow in found["flows"]] == [14, 13, 13]


def test_a_log_without_times_cannot_be_replayed(tmp_path: Path) -> None:
    with refused("scenario.traffic.no_times"):
        replayed(tmp_path, "size\n100\n")


def rating(delay_ms: float, lost_percent: float, bpl: float) -> float:
    """R of G.107 with its defaults: No = -61.18 dBm0p, RLR = 2, SLR = 8, TELR = 65, WEPL = 110."""
    ro = 15 - 1.5 * (8 - 61.18)
    echo = 65 - 40 * math.log10((1 + delay_ms / 10) / (1 + delay_ms / 150))
    re = 80 + 2.5 * (echo - 14)
    idte = ((ro - re) / 2 + math.hypot((ro - re) / 2, 10) - 1) * (1 - math.exp(-delay_ms))
    rle = 10.5 * 117 * math.pow(2 * delay_ms + 1, -0.25)
    idle = (ro - rle) / 2 + math.hypot((ro - rle) / 2, 13)
    assert delay_ms <= 100, "no Idd"
    return ro - 1.41 - idte - idle - 95 * lost_percent / (lost_percent + bpl)


def test_a_call_on_an_idle_channel_is_good() -> None:
    """Two calls with video are 5.1 Mb/s on a channel of some 20 Mb/s: packets hardly queue.

    R lies between those of the longest and shortest delay, with 20 ms of packetization.
    """
    found = outcome(profile('{ profile = "call" }', direction="both"))
    names = ["speech-down", "speech-up", "video-down", "video-up"]
    assert [flow["name"] for flow in found["flows"]] == [
        f"a-{name}/{n}" for name in names for n in (0, 1)
    ]

    metrics = found["metrics"]
    assert metrics["packet_loss"] == 0.0
    longest_ms = 1e3 * 2 * metrics["packet_delay_p99_s"]
    worst, best = (rating(20.0 + delay_ms, 0.0, 25.1) for delay_ms in (longest_ms, 0.0))
    assert worst < metrics["r_factor"] < best
    down, up = (found["groups"][0][side]["r_factor"] for side in ("download", "upload"))
    assert metrics["r_factor"] == pytest.approx((down + up) / 2)


def test_lost_speech_is_rated_as_lost() -> None:
    """A link that loses one packet in 50, without other traffic: Ppl = 2 %."""
    text = text_of(
        '{ kind = "udp", packet = "200 B", rate = "80 kb/s", codec = "G.711" }',
        flow='path = [{ delay = "10 ms", loss = { every = 50 } }]',
    )
    metrics = outcome(loads(text))["metrics"]

    assert metrics["packet_loss"] == pytest.approx(0.02, rel=0.02)
    # 20 ms of packetization, 10 ms of link, 0.3 ms of airtime, known within 0.8 %.
    assert metrics["r_factor"] == pytest.approx(rating(30.3, 2.0, 25.1), abs=0.15)


def test_speech_alone_is_one_flow_each_way() -> None:
    flows = profile('{ kind = "call", video = "none", codec = "G.729A" }', direction="both").flows
    assert [flow.name for flow in flows] == ["a-down", "a-up"]
    assert flows[0].application.packet_bytes == 60
    assert flows[0].application.voice.delay_s == pytest.approx(0.025)


def test_groups_are_told_by_their_pages_and_calls() -> None:
    """Page times replace object times; speech shows its R factor next to its delay."""
    call = '[[flows]]\nstations = "reader"\ndirection = "upload"\n'
    call += 'application = { kind = "call", video = "none" }\n'
    given = {"backoff": "", "count": 3, "duration": "5 s", "replications": 3}
    result = simulate(pages("{ objects = 4 }", call, **given))
    heads = [column.head for column in groups(result).columns]
    assert heads[2:] == ["goodput", "page p50", "RTT", "delay p95", "loss", "R", "airtime"]
    page = result.metrics["page_time_s"]
    assert (page.mean is None, page.n) == (False, 3)
    assert outcome(pages(""))["metrics"]["page_time_s"] is None
