"""Memory: what a scenario may need is at least what it takes, and more than there is is refused."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import airtcp
import pytest
from airtcp.run import memory
from commands import call

GB = 1_000_000_000
#: An estimate is an upper bound, with all windows full, which those of 8,000 stations are not after
#: 0.3 s; one much too high would refuse what fits.
MOST_TIMES = 5.0


def scenario(groups: int, count: int, application: str = '{ kind = "bulk" }', **told: Any) -> str:
    """Groups of so many stations with a flow in each direction."""
    keys = {"standard": "802.11ax", "tcp": "", "duration": "0.3 s", "replications": 2} | told
    text = f'[phy]\nstandard = "{keys["standard"]}"\n'
    for group in range(groups):
        text += f'[[stations]]\nname = "g{group}"\ncount = {count}\n'
        for direction in ("download", "upload"):
            text += f'[[flows]]\nname = "{direction}{group}"\nstations = "g{group}"\n'
            text += f'direction = "{direction}"\napplication = {application}\n{keys["tcp"]}\n'
    run = f'warmup = "0 s"\nduration = "{keys["duration"]}"\n'
    return f"{text}[run]\n{run}replications = {keys['replications']}\n"


#: Each is large in another respect.
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


#: Unlike ru_maxrss this leaves out what the process was before it became another program.
PRINT_PEAK = (
    "peak, = (line for line in open('/proc/self/status') if line.startswith('VmHWM'))\n"
    "print(1024 * int(peak.split()[1]))\n"
)


def taken(text: str, *, trace: bool) -> int:
    """The largest resident size of a process that simulates a scenario on two threads."""
    code = (
        "import sys, airtcp\n"
        f"airtcp.simulate(airtcp.scenario.loads(sys.stdin.read()), threads=2, trace={trace})\n"
        + PRINT_PEAK
    )
    done = subprocess.run(
        [sys.executable, "-c", code], input=text, capture_output=True, text=True, check=True
    )
    return int(done.stdout)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "trace"),
    # What a trace adds depends on stations, windows and transfers.
    [(one, False) for one in EXTREMES]
    + [(one, True) for one in ("stations", "windows", "transfers")],
)
def test_an_estimate_is_above_what_a_simulation_takes_and_not_far(name: str, trace: bool) -> None:
    loaded = airtcp.scenario.loads(EXTREMES[name])
    replications = loaded.run.replications or 1
    sample_s = 0.1 if trace else None

    found = memory.costs(loaded, threads=2, replications=replications, sample_s=sample_s)

    estimate, measured = sum(cost.size for cost in found), taken(EXTREMES[name], trace=trace)
    print(f"{name}: {estimate / 1e6:.0f} MB estimated, {measured / 1e6:.0f} MB taken")
    assert measured <= estimate <= MOST_TIMES * measured


@pytest.mark.slow
def test_a_scenario_of_many_groups_with_a_trace_takes_less_than_a_gigabyte() -> None:
    """Over `predict`, `simulate` and `diff` in one process."""
    code = (
        "import sys, airtcp\n"
        "scenario = airtcp.scenario.loads(sys.stdin.read())\n"
        "airtcp.predict(scenario)\n"
        "airtcp.simulate(scenario, threads=2, trace=True)\n"
        "airtcp.diff(scenario, scenario.vary({'run.seed': 2}), threads=2)\n" + PRINT_PEAK
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        input=EXTREMES["groups"],
        capture_output=True,
        text=True,
        check=True,
    )

    assert int(done.stdout) < GB


@pytest.mark.parametrize(
    ("text", "key"),
    [
        (scenario(1, 1), ""),
        (scenario(2, 10_000), "stations.count"),
        (scenario(500, 1), "stations"),
        (scenario(1, 1, replications=1_000_000), "run.replications"),
        (
            scenario(1, 100, tcp='tcp = { receive_window = "64 MiB", window_scaling = true }'),
            "flows.download0.tcp.receive_window",
        ),
    ],
)
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
        assert " of memory for this simulation, and 0.2 GB are free; " in done.stderr
        assert "allowed: less of it" in done.stderr
        assert done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("lines", "files", "left"),
    [
        ("0::/a/b\n", {"a/memory.max": "1000", "a/memory.current": "400"}, 600),
        (
            "0::/a\n",
            {"a/memory.max": "900", "a/memory.current": "800", "a/memory.stat": "inactive_file 50"},
            150,
        ),
        ("0::/a\n", {"a/memory.max": "max", "a/memory.current": "400"}, 10_000),
        (
            "7:memory:/c\n3:cpu:/d\n",
            {"memory/c/memory.limit_in_bytes": "700", "memory/c/memory.usage_in_bytes": "0"},
            700,
        ),
    ],
)
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
    least = min(left, 10 * 1024)

    assert memory.available_bytes() == (least if left < 10_000 else 10 * 1024)
