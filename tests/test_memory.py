"""Memory: a scenario's estimate is at least what it takes, and one above the limit is refused."""

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import airtcp
import pytest
from airtcp.run import memory
from commands import call

GB = 1_000_000_000
#: An estimate is an upper bound with all windows full, which 8,000 stations do not reach in 0.3 s.
#: A much higher one would refuse scenarios that fit.
MOST_TIMES = 5.0


def scenario(groups: int, count: int, application: str = '{ kind = "bulk" }', **told: Any) -> str:
    """Groups of `count` stations with a flow in each direction."""
    keys = {"standard": "802.11ax", "tcp": "", "duration": "0.3 s", "replications": 2} | told
    text = f'[phy]\nstandard = "{keys["standard"]}"\n'
    for group in range(groups):
        text += f'[[stations]]\nname = "g{group}"\ncount = {count}\n'
        for direction in ("download", "upload"):
            text += f'[[flows]]\nname = "{direction}{group}"\nstations = "g{group}"\n'
            text += f'direction = "{direction}"\napplication = {application}\n{keys["tcp"]}\n'
    run = f'warmup = "0 s"\nduration = "{keys["duration"]}"\n'
    return f"{text}[run]\n{run}replications = {keys['replications']}\n"


#: Each scenario needs memory for something different.
EXTREMES = {
    "stations": scenario(2, 4000),
    "stations of DCF": scenario(2, 4000, standard="802.11b"),
    "groups": scenario(300, 1),
    "groups of datagrams": scenario(300, 1, '{ kind = "udp", packet = "64 B" }'),
    "windows": scenario(
        1, 10, tcp='tcp = { receive_window = "16 MiB", window_scaling = true }', duration="10 s"
    ),
    "transfers": scenario(
        1, 20, '{ kind = "ftp", interarrival = "2 ms", size = "300 B" }', duration="3 s"
    ),
    "pages": scenario(300, 1, '{ kind = "web", size = "30 kB", think_time = "10 ms" }'),
    "replications": scenario(20, 1, replications=60),
    "contention windows": scenario(1, 40)
    + "[mac.edca.stations.AC_BE]\ncw_max = 1048575\n[cells.c]\n"
    + '[air]\nreceived = [["c", "g0", -50], ["g0", "g0", -50]]\n',
}
#: The scenarios of `make test-slow`.
LARGEST = ("stations", "groups", "transfers", "pages")

#: Unlike ru_maxrss this excludes the process before exec.
PRINT_PEAK = (
    "peak, = (line for line in open('/proc/self/status') if line.startswith('VmHWM'))\n"
    "print(1024 * int(peak.split()[1]))\n"
)


def taken(text: str, work: str) -> int:
    """Return the peak resident memory of a process that runs this code on a scenario."""
    code = (
        f"import sys, airtcp\none = airtcp.scenario.loads(sys.stdin.read())\n{work}\n{PRINT_PEAK}"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], input=text, capture_output=True, text=True, check=True
    )
    return int(done.stdout)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "trace"),
    [
        pytest.param(one, False, marks=() if one in LARGEST else pytest.mark.verify)
        for one in EXTREMES
    ]
    # A trace adds memory for stations, windows and transfers.
    + [
        pytest.param(one, True, marks=() if one == "windows" else pytest.mark.verify)
        for one in ("stations", "windows", "transfers")
    ],
)
def test_an_estimate_is_above_what_a_simulation_takes_and_not_far(name: str, trace: bool) -> None:
    loaded = airtcp.scenario.loads(EXTREMES[name])
    replications = loaded.run.replications or 1
    sample_s = 0.1 if trace else None

    found = memory.costs(loaded, threads=2, replications=replications, sample_s=sample_s)

    estimate, measured = (
        sum(cost.size for cost in found),
        taken(EXTREMES[name], f"airtcp.simulate(one, threads=2, trace={trace})"),
    )
    print(f"{name}: {estimate / 1e6:.0f} MB estimated, {measured / 1e6:.0f} MB taken")
    assert measured <= estimate <= MOST_TIMES * measured


def cost(
    key: str,
    *,
    groups: int = 2,
    count: int = 10,
    threads: int = 1,
    sample_s: float = 0,
    **told: Any,
) -> float:
    """Return the estimated memory of the part of a simulation that depends on `key`."""
    loaded = airtcp.scenario.loads(scenario(groups, count, **told))
    runs = loaded.run.replications or 1
    more: dict[str, Any] = {"sample_s": sample_s, "samples_only": True} if sample_s else {}
    found = memory.costs(loaded, threads=threads, replications=runs, **more)
    return sum(one.size for one in found if one.key == key)


WINDOW = 'tcp = {{ receive_window = "{}", window_scaling = true }}'
PAGES = '{ kind = "web", size = "30 kB", think_time = "10 ms" }'
VIDEO = '{{ kind = "udp", packet = "1 kB", rate = "{} Mb/s" }}'


@pytest.mark.parametrize(("key", "less", "more", "times"), [
    ("stations.count", {}, {"count": 20}, 2),
    ("stations.count", {}, {"threads": 2}, 2),
    # Only replications that run at the same time need memory.
    ("stations.count", {"threads": 2}, {"threads": 8}, 1),
    ("stations", {}, {"groups": 6}, 3),
    ("run.replications", {}, {"replications": 60}, 30),
    ("phy.cw_max", {"standard": "802.11b"}, {"standard": "802.11b", "threads": 2}, 2),
    ("flows.download0.tcp.receive_window", {"tcp": WINDOW.format("1 MiB")},
     {"tcp": WINDOW.format("16 MiB")}, 16),
    ("flows.download0.application", {"application": PAGES},
     {"application": PAGES, "duration": "0.6 s"}, 2),
    # In overload all datagrams may queue.
    ("flows.download0.application", {"application": VIDEO.format(1000)},
     {"application": VIDEO.format(2000)}, 2),
    ("the trace", {"sample_s": 0.1}, {"sample_s": 0.05}, 2),
])  # fmt: skip
def test_what_a_part_needs_grows_as_its_key_does(
    key: str, less: dict[str, Any], more: dict[str, Any], times: float
) -> None:
    assert cost(key, **more) == pytest.approx(times * cost(key, **less))
    assert cost(key, **less) > 0


def test_times_of_transfers_are_kept_of_each_replication() -> None:
    """Ten stations begin 100 pages a second for 0.3 s; each transfer time takes eight bytes.

    Bulk transfers never end.
    """
    key = "flows.download0.application"
    two, four = (cost(key, application=PAGES, replications=runs) for runs in (2, 4))

    assert four - two == pytest.approx(2 * 10 * 100 * 0.3 * 8)
    assert cost(key) == 0


@pytest.mark.slow
def test_a_scenario_of_many_groups_with_a_trace_takes_less_than_a_gigabyte() -> None:
    """Over `predict`, `simulate` and `diff` in one process."""
    work = "airtcp.predict(one)\nairtcp.simulate(one, threads=2, trace=True)\n"
    work += "airtcp.diff(one, one.vary({'run.seed': 2}), threads=2)"

    assert taken(EXTREMES["groups"], work) < GB


@pytest.mark.parametrize(("text", "key"), [
    (scenario(1, 1), ""),
    (scenario(2, 10_000), "stations.count"),
    (scenario(500, 1), "stations"),
    (scenario(1, 1, replications=1_000_000), "run.replications"),
    (scenario(1, 100, tcp='tcp = { receive_window = "64 MiB", window_scaling = true }'),
     "flows.download0.tcp.receive_window"),
])  # fmt: skip
def test_what_does_not_fit_is_refused_before_the_run(
    text: str, key: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(memory, "available_bytes", lambda: 200_000_000)
    path = tmp_path / "large.toml"
    path.write_text(text)

    for verb in ("simulate", "run"):
        done = call(verb, path, "--threads", "2")
        if not key:
            assert done.exit_code == 0
            continue
        assert done.exit_code == 2
        assert done.stdout == ""
        assert done.stderr.startswith(f"airtcp: {path}: {key}: needs most, ")
        told = re.search("most, (.*) GB, of the (.*) GB of memory for this simulation", done.stderr)
        assert 0.2 < float(told[2]) < 100
        assert 0.01 < float(told[1]) < float(told[2])
        assert "0.2 GB are free" in done.stderr
        assert done.stderr.count("\n") == 1


@pytest.mark.parametrize(("lines", "files", "left"), [
    ("0::/a/b\n", {"a/memory.max": "1000", "a/memory.current": "400"}, 600),
    ("0::/a\n",
     {"a/memory.max": "900", "a/memory.current": "800", "a/memory.stat": "inactive_file 50"}, 150),
    ("0::/a\n", {"a/memory.max": "max", "a/memory.current": "400"}, 10 * 1024),
    ("7:memory:/c\n3:cpu:/d\n",
     {"memory/c/memory.limit_in_bytes": "700", "memory/c/memory.usage_in_bytes": "0"}, 700),
])  # fmt: skip
def test_control_groups_say_how_much_there_is(
    lines: str, files: dict[str, str], left: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine = {
        "/proc/meminfo": "MemTotal: 20 kB\nMemAvailable: 10 kB\n",
        "/proc/self/cgroup": lines,
        **{f"/sys/fs/cgroup/{name}": text for name, text in files.items()},
    }
    monkeypatch.setattr(memory, "_text", lambda path: machine.get(str(path), ""))
    monkeypatch.setattr(memory, "_of_limit", lambda: None)

    assert memory.available_bytes() == left
