"""FTP transfers: open arrivals, the dialogue of RFC 959, and their metrics."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest
from airtcp import _core
from airtcp.run.simulate import simulate
from airtcp.scenario import ResolvedScenario, loads
from test_pages import exchange_ns

SCENARIO = """
phy = {{ standard = "802.11b", control_rate = "11 Mb/s"{phy} }}
stations = [{{ name = "client", count = {count} }}]
run = {{ warmup = "{warmup} s", duration = "{duration} s", replications = {replications} }}
[[flows]]
stations = "client"
direction = "{direction}"
application = {{ kind = "ftp", interarrival = {interarrival}, size = {size}, control = {control} }}
tcp = {{ {tcp}receive_window = {{ segments = 6 }} }}
"""


def scenario(**given: object) -> ResolvedScenario:
    keys = {"phy": "", "count": 1, "direction": "download", "tcp": "", "control": "true"}
    keys |= {"interarrival": '"10 s"', "size": '"1000 B"'}
    keys |= {"warmup": 0, "duration": 10, "replications": 1}
    return loads(SCENARIO.format(**keys | given))


def replication(resolved: ResolvedScenario, number: int = 0) -> tuple[Any, list[float]]:
    """One replication with seed 1: the answer, and the times of its transfers."""
    answer, times, _ = _core.Simulation(resolved.to_json()).run(1, number, _core.RunControl())
    return json.loads(answer), np.frombuffer(times, dtype="<f8").tolist()


@pytest.mark.parametrize("direction", ["download", "upload"])
def test_a_transfer_on_an_empty_channel_takes_its_frames(direction: str) -> None:
    """Without backoff, to the nanosecond: twelve frames, DIFS before all but the first.

    In an upload the server's FIN and 226 are queued together, so the station's ACK of FIN collides
    with 226. The ACK is shorter, so its sender's ACK timeout expires first.
    """
    resolved = scenario(phy=", cw_min = 0, cw_max = 0", direction=direction)

    _, (time,) = replication(resolved)

    # PASV, 227, SYN, SYN with ACK, ACK, RETR, 150, file with FIN, ACK, FIN, ACK, 226.
    payloads = [6, 49, 0, 0, 0, 34, 88, 1000, 0, 0, 0, 23]
    frames = [exchange_ns(payload) for payload in payloads]
    last_ack = frames[-1][1]
    expected = sum(map(sum, frames)) + 11 * 50_000 - last_ack
    if direction == "upload":
        expected += frames[-2][0] + 222_000 + 50_000
    assert time == pytest.approx(expected / 1e9, abs=2e-9)


def test_the_last_ack_waits_for_the_timer_of_delayed_acks() -> None:
    resolved = scenario(phy=", cw_min = 0, cw_max = 0")
    metrics = replication(resolved)[0]["metrics"]

    # The ACK of 150 waits for its timer of 200 ms; file, ACK, FIN, ACK and 226 follow 150.
    later = [1000, 0, 0, 0, 23]
    frames = sum(sum(exchange_ns(payload)) for payload in later) + 5 * 50_000
    to_150 = metrics["transfer_time_s"] * 1e9 - frames
    ack = exchange_ns(0)[0]
    assert metrics["transfer_time_to_last_ack_s"] * 1e9 == pytest.approx(
        to_150 + 200e6 + ack, abs=400e3
    )


def test_a_transfer_without_dialogue_is_a_connection_and_its_data() -> None:
    _, (time,) = replication(scenario(phy=", cw_min = 0, cw_max = 0", control="false"))

    # SYN, SYN with ACK, ACK, data.
    frames = [exchange_ns(payload) for payload in (0, 0, 0, 1000)]
    expected = sum(map(sum, frames)) + 3 * 50_000 - frames[-1][1]
    assert time == pytest.approx(expected / 1e9, abs=2e-9)


def test_goodput_counts_files_and_not_what_is_said_about_them() -> None:
    result = simulate(scenario())

    assert result.metrics["goodput_bps"].mean == 8 * 1000 / 10


def test_arrivals_of_all_stations_are_a_poisson_process() -> None:
    """20 stations start a transfer every 2 s on average: in 10 s mean and variance are 100."""
    resolved = scenario(
        count=20,
        interarrival='{ distribution = "exponential", mean = "2 s" }',
        size='"100 B"',
        warmup=10,
    )
    counts = np.array(
        [replication(resolved, number)[0]["counts"]["transfers"] for number in range(200)]
    )

    # Standard deviations: of the mean sqrt(100 / 200), of the variance 100 sqrt(2 / 200).
    assert counts.mean() == pytest.approx(100, abs=4 * math.sqrt(100 / 200))
    assert counts.var(ddof=1) == pytest.approx(100, abs=4 * 100 * math.sqrt(2 / 200))


def test_stations_with_equal_intervals_are_out_of_step() -> None:
    """Ten transfers of each station in 10 s, and hardly ever two at a time."""
    answer, _ = replication(scenario(count=20, interarrival='"1 s"', control="false", warmup=1))

    assert {flow["transfers"] for flow in answer["flows"]} <= {9, 10, 11}
    assert answer["active_flows_distribution"][0] > 0.9
    assert len(answer["active_flows_distribution"]) < 5


def test_changing_tcp_leaves_arrivals_and_sizes_as_they_were() -> None:
    """Common random numbers: the requested bytes do not depend on TCP."""
    law = '{{ distribution = "exponential", mean = "{}" }}'
    keys = {"size": law.format("20 kB"), "interarrival": law.format("1 s"), "duration": 200}
    totals = [
        simulate(scenario(**keys, tcp=tcp, control=control)).metrics["goodput_bps"].mean or 0.0
        for tcp in ("", 'variant = "sack", mss = "500 B", ')
        for control in ("true", "false")
    ]

    assert max(totals) == pytest.approx(min(totals), rel=0.01)


def test_an_overload_grows_with_the_run_and_says_so_when_it_is_too_much() -> None:
    half = {"interarrival": '"0.1 s"', "size": '"200 kB"'}
    short, long = (
        simulate(scenario(**half, duration=duration)).simulation for duration in (20, 40)
    )
    told = [one.estimates["active_flows"] for one in (short, long)]
    assert [one.steadiness.state for one in told] == ["unsteady", "unsteady"]
    less, more = (one.plain.mean for one in told)
    assert more == pytest.approx(2 * less, rel=0.1)

    with pytest.raises(Exception, match=r"flow client/0 .* 100000"):
        simulate(scenario(interarrival='"1 us"', size='"200 kB"', duration=1))
