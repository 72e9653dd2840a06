"""Same scenario and seed: the same bytes. Changing TCP elsewhere does not change draws here.

Equality is exact everywhere, so there is no tolerance. Only `wall_s` and `cpu_s` may differ between
two runs of a command.

Random numbers come in streams, one for each (seed, replication, entity, purpose), so that remedies
can be compared on common random numbers. To see the streams from outside, stations of one group
("late") send one segment each, alone on the air, after the others are done. The time from start to
reception is DIFS, the backoff, and the airtime of the frame, so the test can compute the backoff.
With one stream for all stations, or with numbered instead of named streams, other parts of the
scenario, or groups above it in the file, would change the draws.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from airtcp.run.simulate import simulate
from airtcp.scenario import loads
from peers.samples import Answer, answers

MIXED = """
title = "A bit of everything"
phy = { standard = "802.11g" }
mac = { rts_threshold = "500 B" }
ap = { queue = { discipline = "fifo", limit = 20 } }
links = { uplink = { rate = "10 Mb/s", delay = "5 ms", queue = 10 } }
run = { warmup = "2 s", duration = "10 s", replications = 4, seed = 5 }
stations = [
  { name = "laptop", count = 6 },
  { name = "sensor", count = 2, data_rate = "6 Mb/s" },
]
[[flows]]
name = "pages"
stations = "laptop"
direction = "download"
path = ["uplink"]
[flows.application]
kind = "web"
size = { distribution = "pareto", mean = "100 kB", shape = 1.5 }
think_time = { distribution = "lognormal", mean = "2 s", scv = 3.0 }
request = "300 B"
[[flows]]
name = "backup"
stations = "laptop"
direction = "upload"
application = { kind = "bulk", start = { distribution = "exponential", mean = "1 s" } }
path = ["uplink"]
[[flows]]
name = "noise"
stations = "sensor"
direction = "upload"
application = { kind = "udp", packet = "200 B", rate = "saturated" }
"""


def without_times(text: str) -> str:
    """Return a result without the two numbers that may differ."""
    text, found = re.subn(r'"(wall|cpu)_s": [0-9.e+-]+', "", text)
    assert found == 2
    return text


def test_one_thread_or_two_the_bytes_are_the_same(tmp_path: Path) -> None:
    """results.json of one run, the output of another, and the result in Python."""
    mixed = tmp_path / "mixed.toml"
    mixed.write_text(MIXED)

    def run(*options: str | Path) -> str:
        command = [sys.executable, "-m", "airtcp", "simulate", mixed, "--quiet", *options]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout

    run("--threads", "2", "--out", tmp_path)
    # The file also has its command line.
    command = re.compile(r'"command": \[[^]]*\],\s*')
    written = command.sub("", without_times((tmp_path / "results.json").read_text()))
    printed = without_times(run("--threads", "1", "--json"))
    in_python = without_times(simulate(loads(MIXED), threads=2).to_json())

    assert written.rstrip() == printed.rstrip() == in_python.rstrip()
    # The scenario has collisions, transfers, retransmissions and drops.
    counts = simulate(loads(MIXED), threads=1).simulation.counts
    assert all(counts[name] > 0 for name in ("collisions", "transfers", "tcp_retransmissions"))
    assert counts["ap_queue_drops"] + counts["wired_drops"] > 0


def test_with_and_without_a_trace_the_bytes_are_the_same(tmp_path: Path) -> None:
    """The results on one thread and two, and the traces and captures themselves."""
    plain = without_times(simulate(loads(MIXED), threads=1).to_json())
    for threads in (1, 2):
        trace, pcap = tmp_path / f"{threads}.csv", tmp_path / f"{threads}.pcap"
        recorded = simulate(
            loads(MIXED), threads=threads, trace=trace, trace_interval_s=0.02, pcap=pcap
        )
        assert without_times(recorded.to_json()) == plain

    one, two = ((tmp_path / f"{threads}.csv").read_bytes() for threads in "12")
    assert one == two
    assert all(f'"{event}"'.encode() in one for event in ("retransmission", "queue_drop"))
    one, two = ((tmp_path / f"{threads}.pcap").read_bytes() for threads in "12")
    assert one == two
    assert len(one) > 1_000_000


SETTING = """
phy = { standard = "802.11b" }
mac = { rules = { preset = "standard", immediate_access = false } }
run = { warmup = "0 s", duration = "30 s" }
"""
LATE = """
[[stations]]
name = "late"
count = 5
[[flows]]
stations = "late"
direction = "upload"
tcp = { mss = "1000 B", handshake = "none" }
[flows.application]
kind = "bulk"
size = { distribution = "deterministic", value = "1000 B" }
start = { distribution = "uniform", low = "20 s", high = "29 s" }
"""
# The same with random sizes.
LATE_SIZES = LATE.replace('"deterministic", value = "1000 B"', '"exponential", mean = "30 kB"')


def early(tcp: str = "", direction: str = "upload", count: int = 3, name: str = "early") -> str:
    """A group that is busy at first, and finished after 20 s."""
    return f"""
[[stations]]
name = "{name}"
count = {count}
queue = {{ discipline = "fifo", limit = 6 }}
[[flows]]
stations = "{name}"
direction = "{direction}"
application = {{ kind = "bulk", size = "200 kB" }}
tcp = {{ {tcp} }}
"""


PLAIN = early() + LATE
OTHERWISE = {
    "mss": early('mss = "500 B"') + LATE,
    "window": early("receive_window = { segments = 2 }") + LATE,
    "variant": early('variant = "reno"') + LATE,
    "acks": early("delayed_ack = { every = 1 }") + LATE,
    "handshake": early('handshake = "none"') + LATE,
    "direction": early(direction="download") + LATE,
    "fewer stations": early(count=1) + LATE,
    "more stations": early(count=8) + LATE,
    "nobody": LATE,
    "after": LATE + early(),
    "a group before": early(name="other") + early() + LATE,
    "a group between": early() + early(name="other", tcp='mss = "200 B"') + LATE,
    "a group behind": early() + LATE + early(name="other"),
}


def late(run: Answer) -> list[dict[str, Any]]:
    """Return the flows of the group "late"."""
    assert all(flow["transfers"] == 1 for flow in run["flows"]), "not done"
    found = [flow for flow in run["flows"] if flow["station"].startswith("late/")]
    assert len(found) == 5
    return found


def backoffs(run: Answer) -> list[int]:
    """Return the backoffs, in slots, before the frames of the group "late"."""
    # DIFS; 192 us + ceil(8 * (1000 + 40 + 8 + 28) / 11) us.
    fixed_ns = 50_000 + 192_000 + 783_000
    waits_ns = [round(flow["mean_transfer_time_s"] * 1e9) - fixed_ns for flow in late(run)]
    assert all(wait % 20_000 == 0 for wait in waits_ns), "not alone on the air"
    return [wait // 20_000 for wait in waits_ns]


def ran(text: str, seed: int = 1, replications: int = 1) -> list[Answer]:
    return answers(SETTING + text, seed=seed, replications=replications)


def test_the_backoffs_can_be_read_off() -> None:
    """They cover 0 .. 31, have a mean of 15.5, and differ between replications.

    The mean of 200 uniform draws is within 3.3 * 9.23 / sqrt(200) = 2.2 of that (99.9 %). Nearly
    all 32 values appear: each is missing with probability 0.0017.
    """
    drawn = [backoffs(run) for run in ran(PLAIN, replications=40)]
    every = [backoff for of in drawn for backoff in of]

    assert (min(every), max(every)) == (0, 31)
    assert len(set(every)) >= 30
    assert abs(sum(every) / len(every) - 15.5) < 2.2
    assert len({tuple(of) for of in drawn}) == 40
    assert drawn[0] != backoffs(ran(PLAIN, seed=2)[0])


@pytest.mark.parametrize("change", OTHERWISE)
def test_what_others_do_leaves_the_draws_of_late_stations_alone(change: str) -> None:
    """The backoffs of their first frames, and the sizes of their files if these are random."""
    plain, changed = ran(PLAIN, replications=3), ran(OTHERWISE[change], replications=3)

    for before, after in zip(plain, changed, strict=True):
        assert before["counts"] != after["counts"] or change == "after"
        assert backoffs(before) == backoffs(after)
    plain = ran(PLAIN.replace(LATE, LATE_SIZES), replications=3)
    changed = ran(OTHERWISE[change].replace(LATE, LATE_SIZES), replications=3)

    for before, after in zip(plain, changed, strict=True):
        sizes = [
            [round(flow["goodput_bps"] * 30 / 8) for flow in late(run)] for run in (before, after)
        ]
        assert sizes[0] == sizes[1]
        assert len(set(sizes[0])) == 5


def test_the_order_of_groups_in_the_file_changes_nothing_for_anyone() -> None:
    """Flows and stations have another order, and are otherwise the same."""
    [before], [after] = ran(PLAIN), ran(OTHERWISE["after"])

    def by_name(records: list[dict[str, object]]) -> dict[object, dict[str, object]]:
        # The access point's goodput is a float sum in the order of the flows.
        return {
            record["name"]: record | ({"goodput_bps": None} if record["name"] == "ap" else {})
            for record in records
        }

    assert by_name(before["flows"]) == by_name(after["flows"])
    assert by_name(before["stations"]) == by_name(after["stations"])
