"""Any program over the emulated medium: throughput, exit status, and cleanup."""

import json
import os
import random
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Callable
from pathlib import Path

import pytest
from children import Children

pytestmark = pytest.mark.usefixtures("machine")

#: Numbers of runs that are killed at random moments.
CASES = [*range(3), *(pytest.param(n, marks=pytest.mark.verify) for n in range(3, 20))]
AIRTCP = [sys.executable, "-m", "airtcp"]
#: Sends this many bytes to the client that connects, and ends.
SERVER = """
import os, socket
with socket.create_server((os.environ["AIRTCP_SERVER"], 80)) as server:
    peer, _ = server.accept()
    with peer:
        peer.sendall(bytes(100_000))
"""
CLIENT = """
import os, socket, time
began = time.monotonic()
with socket.create_connection((os.environ["AIRTCP_SERVER"], 80)) as peer:
    count = 0
    while data := peer.recv(65536):
        count += len(data)
print(count, time.monotonic() - began)
"""


def shell(file: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*AIRTCP, "shell", str(file), *arguments],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def download(file: Path, tmp_path: Path, *options: str) -> tuple[int, float]:
    """Return the bytes that a client got from a server, and the seconds that it took."""
    (tmp_path / "server.py").write_text(SERVER)
    (tmp_path / "client.py").write_text(CLIENT)
    ran = shell(
        file,
        *options,
        "--server",
        f"{sys.executable} {tmp_path / 'server.py'}",
        "--client",
        f"{sys.executable} {tmp_path / 'client.py'}",
    )
    assert ran.returncode == 0, ran.stderr
    count, seconds = ran.stdout.split()
    return int(count), float(seconds)


@pytest.mark.parametrize(("options", "share"), [((), 1.0), (("--with-simulated",), 0.5)])
def test_bytes_come_through_at_the_speed_of_the_air(
    options: tuple[str, ...], share: float, file: Path, tmp_path: Path
) -> None:
    """A PHY rate of 11 Mb/s gives 7 Mb/s of TCP, on a fast machine.

    With an endless simulated download and upload, less than half is left.
    """
    count, seconds = download(file, tmp_path, *options)

    assert count == 100_000
    assert seconds > 8 * count / (7.5e6 * share)


def test_it_ends_as_its_command_does(file: Path) -> None:
    ran = shell(file, "--node", "sensor/0", "--", "sh", "-c", "echo $AIRTCP_STATION; exit 7")

    assert (ran.returncode, ran.stdout) == (7, "10.77.0.3\n")
    assert "no packet arrived" in ran.stderr


def test_packets_of_a_short_command_count(file: Path) -> None:
    """A SYN to a closed port, and the RST: a few milliseconds over the medium."""
    ran = shell(file, "--", "bash", "-c", ": < /dev/tcp/$AIRTCP_SERVER/9")

    assert "Connection refused" in ran.stderr
    assert "trusted: 99 % of 2 " in ran.stderr


def test_a_signal_that_ends_the_command_is_told(file: Path) -> None:
    assert shell(file, "--", "sh", "-c", "kill -TERM $$").returncode == 128 + signal.SIGTERM


def asked_to_end(
    file: Path,
    number: signal.Signals,
    command: str,
    *,
    times: int = 1,
    nohup: bool = False,
    mark: str = "",
) -> tuple[int, str]:
    """Signal `airtcp shell` while its command runs; return its status and the command's output."""
    start = ["sh", "-c", 'trap "" HUP; exec "$0" "$@"'] if nohup else []
    process = subprocess.Popen(
        [*start, *AIRTCP, "shell", str(file), "--quiet", "--", "sh", "-c", command],
        env=os.environ | {"AIRTCP_TEST_MARK": mark},
        stdout=subprocess.PIPE,
        text=True,
        # No terminal, which would also send the interrupt to the command itself.
        start_new_session=True,
        preexec_fn=lambda: [signal.signal(one, signal.SIG_DFL) for one in (*ENDING, signal.SIGINT)],
    )
    try:
        assert process.stdout.readline() == "begun\n"
        for _ in range(times):
            process.send_signal(number)
            time.sleep(0.3)
        said, _ = process.communicate(timeout=20)
        return process.returncode, said
    finally:
        process.kill()
        process.communicate()


ENDING = [signal.SIGTERM, signal.SIGHUP]


@pytest.mark.parametrize("number", ENDING)
def test_a_signal_ends_the_command_and_all_that_it_has_started(
    number: signal.Signals, file: Path, left: Callable[[str, float], list[str]]
) -> None:
    before = networks()
    mark = f"airtcp-test-{uuid.uuid4()}"
    # The sleep is a child of the command and does not get the signal.
    status, said = asked_to_end(file, number, "echo begun; sleep 60; echo after", mark=mark)

    assert (status, said) == (128 + number, "")
    assert left(mark, 0) == []
    assert networks() == before


@pytest.mark.parametrize("number", [*ENDING, signal.SIGINT])
def test_a_command_may_end_in_its_own_way(number: signal.Signals, file: Path) -> None:
    name = number.name.removeprefix("SIG")
    command = f"trap 'echo tidy; exit 3' {name}; echo begun; while :; do sleep 0.1; done"

    assert asked_to_end(file, number, command) == (3, "tidy\n")


@pytest.mark.parametrize(("times", "least_s"), [(1, 4), (2, 0)])
def test_a_command_that_does_not_listen_is_killed(times: int, least_s: int, file: Path) -> None:
    """After five seconds, or at a second signal."""
    command = "trap '' TERM; echo begun; while :; do sleep 0.1; done"
    began = time.monotonic()
    status, said = asked_to_end(file, signal.SIGTERM, command, times=times)

    assert (status, said) == (128 + signal.SIGTERM, "")
    assert time.monotonic() - began > least_s


def test_what_nohup_ignores_stays_ignored(file: Path) -> None:
    command = "echo begun; sleep 1; echo after"

    assert asked_to_end(file, signal.SIGHUP, command, nohup=True) == (0, "after\n")


def test_a_wrong_node_is_wrong_input(file: Path) -> None:
    ran = shell(file, "--node", "phone/0", "--", "true")

    assert ran.returncode == 2
    [line] = ran.stderr.splitlines()
    assert "server, laptop/0" in line


def networks() -> tuple[str, str]:
    """Return all named network namespaces and devices."""
    named = subprocess.run(["ip", "netns"], capture_output=True, text=True, check=True).stdout
    links = subprocess.run(
        ["ip", "-json", "link"], capture_output=True, text=True, check=True
    ).stdout
    return named, json.dumps([one["ifname"] for one in json.loads(links)])


def run_of(file: Path, started: Children) -> "tuple[subprocess.Popen[str], str]":
    """Start a testbed; return it and the mark of its processes."""
    mark = f"airtcp-test-{uuid.uuid4()}"
    process = started.start(
        [*AIRTCP, "testbed", str(file), "--quiet"],
        env=os.environ | {"AIRTCP_TEST_MARK": mark},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    return process, mark


@pytest.mark.parametrize("case", CASES)
def test_nothing_is_left_of_a_run_that_was_killed(
    case: int, file: Path, left: Callable[[str, float], list[str]], started: Children
) -> None:
    """At any moment: while it creates networks, starts programs, or forwards packets."""
    before = networks()
    process, mark = run_of(file, started)
    time.sleep(random.uniform(0.3, 3.5))
    process.kill()
    process.wait()

    assert left(mark, 10) == []
    assert networks() == before


def test_nothing_is_left_after_an_interrupt(
    file: Path, left: Callable[[str, float], list[str]], started: Children
) -> None:
    before = networks()
    process, mark = run_of(file, started)
    deadline = time.monotonic() + 20
    while not any("keeper.py" in one for one in left(mark, 0)) and time.monotonic() < deadline:
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=30)

    assert (process.returncode, said) == (130, "airtcp: interrupted\n")
    assert left(mark, 5) == []
    assert networks() == before
