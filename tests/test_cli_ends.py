"""Commands that are interrupted or run out of disk space: they still print their answer."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from airtcp.results import Simulation
from airtcp.results.columns import CsvWriter
from airtcp.results.trace_file import TraceFile
from airtcp.run.interruption import Interruption
from bases import cell
from children import Children
from commands import call

SCENARIO = cell(2, warmup="0 s", duration="5 s", replications=3)
#: Starts the command with arguments, as a process of its own.
Start = Callable[..., "subprocess.Popen[str]"]
ENDLESS = SCENARIO.replace("replications = 3", "replications = 200000")


@pytest.fixture
def scenario(tmp_path: Path) -> Path:
    path = tmp_path / "bulk.toml"
    path.write_text(SCENARIO)
    return path


@pytest.fixture
def process(started: Children) -> Start:
    def start(*arguments: str | Path, **options: Any) -> "subprocess.Popen[str]":
        command = [sys.executable, "-m", "airtcp", *arguments]
        return started.start(command, stderr=subprocess.PIPE, **options)

    return start


def left_behind(directory: Path) -> list[str]:
    return [path.name for path in directory.iterdir() if path.name.startswith(".")]


@pytest.mark.usefixtures("interruptible")
def test_signals_are_kept_until_they_are_asked_for() -> None:
    with Interruption() as interruption:
        interruption.check()
        os.kill(os.getpid(), signal.SIGINT)
        os.kill(os.getpid(), signal.SIGINT)
        assert interruption.asked
        with pytest.raises(KeyboardInterrupt):
            interruption.check()
        # A third Ctrl-C ends the process at once.
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.mark.usefixtures("interruptible")
def test_a_second_interruption_does_not_lose_what_is_finished(
    scenario: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first arrives while replications run, the second while the answer is printed."""
    from airtcp.cli import show

    shown = show.show

    def interrupt(fraction: float) -> None:
        os.kill(os.getpid(), signal.SIGINT)

    def interrupted(*arguments: Any, **options: Any) -> None:
        os.kill(os.getpid(), signal.SIGINT)
        shown(*arguments, **options)

    monkeypatch.setattr("airtcp.run.replications.Replications._report", lambda *_: interrupt(0.0))
    monkeypatch.setattr(show, "show", interrupted)
    result = call("simulate", scenario)

    assert result.exit_code == 130
    assert "INTERRUPTED" in result.stdout
    assert "goodput, all flows" in result.stdout


@pytest.mark.usefixtures("interruptible")
def test_an_interruption_is_never_forgotten(
    scenario: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Even if all replications have ended and their results are being combined."""
    gather = Simulation.gather

    def interrupted(*arguments: object, **more: object) -> Simulation:
        os.kill(os.getpid(), signal.SIGINT)
        return gather(*arguments, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(Simulation, "gather", interrupted)
    result = call("simulate", scenario)

    assert result.exit_code == 130
    assert "result has 3 replications" in result.stderr


def test_an_interruption_while_pictures_are_drawn_leaves_the_answer(
    scenario: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("airtcp.present.plot.pictures", interrupt)
    result = call("simulate", scenario, "--out", tmp_path / "out")

    assert result.exit_code == 130
    assert "goodput, all flows" in result.stdout
    assert "INTERRUPTED" not in result.stdout
    assert "report was not written\n" in result.stderr
    assert not list(tmp_path.glob("out/*"))


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_request_to_end_leaves_no_half_files(
    number: int, scenario: Path, tmp_path: Path, process: Start
) -> None:
    scenario.write_text(ENDLESS)
    trace, pcap = tmp_path / "a.csv", tmp_path / "a.pcap"
    running = process(
        "simulate", scenario, "--trace", trace, "--pcap", pcap, stdout=subprocess.PIPE
    )
    while running.poll() is None and not left_behind(tmp_path):
        time.sleep(0.001)
    running.send_signal(number)
    out, err = running.communicate()

    assert running.returncode == 130
    assert err.startswith("airtcp: interrupted")
    assert left_behind(tmp_path) == []
    assert trace.exists() == bool(out)


@pytest.mark.slow
def test_an_interruption_of_the_start_has_no_traceback(scenario: Path) -> None:
    """From the first line of our own code; Python's own startup is not covered."""
    code = (
        "import os, signal, sys\n"
        "import airtcp.cli.process as process\n"
        "real = process._prepare_signals\n"
        "def interrupted():\n    real()\n    os.kill(os.getpid(), signal.SIGINT)\n"
        "process._prepare_signals = interrupted\n"
        "import airtcp.cli\n"
        "airtcp.cli.main()\n"
    )

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)

    assert done.returncode == 130
    assert done.stderr == "airtcp: interrupted\n"


@pytest.mark.parametrize(
    "where", ["airtcp.cli.commands:_options", "airtcp.cli.ask:predict", "typer.core:_main"]
)
def test_an_interruption_while_words_are_read_is_told(
    where: str, scenario: Path, started: Children
) -> None:
    """Typer parses the arguments, and would end the process without a message."""
    moments = Path(__file__).with_name("moments.py")
    running = started.start(
        [sys.executable, moments, "at", where, "1", "SIGINT", "predict", scenario],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    out, err = running.communicate()

    assert (running.returncode, out, err) == (130, "", "airtcp: interrupted\n")


def test_an_interruption_does_not_wait_for_a_pile_of_traces(
    scenario: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, interruptible: None
) -> None:
    """While one replication is written, at most as many others wait as there are threads."""
    scenario.write_text(ENDLESS.replace('"5 s"', '"10 ms"'))
    written: list[int] = []
    add = TraceFile.add

    def slow(self: TraceFile, replication: int, trace: Any) -> None:
        if not written:
            os.kill(os.getpid(), signal.SIGINT)
            # All replications in progress end meanwhile.
            time.sleep(1.0)
        written.append(replication)
        add(self, replication, trace)

    monkeypatch.setattr(TraceFile, "add", slow)
    result = call("simulate", scenario, "--threads", "2", "--trace", tmp_path / "a.csv")

    assert result.exit_code == 130
    assert 1 <= len(written) <= 1 + 2


@pytest.mark.parametrize("which", ["trace", "capture"])
def test_a_full_disk_costs_the_file_alone(
    which: str, scenario: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """/dev/full behaves like a full disk. The printed numbers equal a run that writes no files."""
    plain = json.loads(call("simulate", scenario, "--json").stdout)
    trace, pcap = tmp_path / "a.csv", tmp_path / "a.pcap"
    lost, kept = (trace, pcap) if which == "trace" else (pcap, trace)
    lost.write_text("before")

    def full(self: CsvWriter, columns: object) -> None:
        raise OSError(28, "No space left on device")

    if which == "trace":
        monkeypatch.setattr(CsvWriter, "write", full)
    else:
        (tmp_path / f".a.pcap.{os.getpid()}").symlink_to("/dev/full")
    result = call("simulate", scenario, "--json", "--force", "--trace", trace, "--pcap", pcap)

    assert result.exit_code == 1
    assert json.loads(result.stdout)["simulation"]["metrics"] == plain["simulation"]["metrics"]
    assert result.stderr.startswith(f"airtcp: cannot write to {lost}")
    assert "No space left on device" in result.stderr
    assert lost.read_text() == "before"
    assert kept.stat().st_size > 1000
    assert which == "capture" or left_behind(tmp_path) == []


@pytest.mark.parametrize(
    "arguments", [("simulate",), ("simulate", "--json"), ("schema",), ("example",), ("--help",)]
)
def test_a_full_disk_behind_stdout_is_said(
    arguments: tuple[str, ...], scenario: Path, process: Start
) -> None:
    if arguments[0] == "simulate":
        arguments = (*arguments, str(scenario))
    with open("/dev/full", "w") as full:
        running = process(*arguments, stdout=full)
        err = running.communicate()[1]

    assert running.returncode == 1
    assert err == "airtcp: cannot write to stdout: No space left on device\n"


def test_the_report_is_written_whatever_becomes_of_stdout(
    scenario: Path, tmp_path: Path, process: Start
) -> None:
    with open("/dev/full", "w") as full:
        running = process("simulate", scenario, "--out", tmp_path / "a", stdout=full)
        running.wait()
    left = process("simulate", scenario, "--out", tmp_path / "b", stdout=subprocess.PIPE)
    left.stdout.close()

    assert (running.returncode, left.wait()) == (1, 0)
    assert len(list(tmp_path.glob("[ab]/report.html"))) == 2


@pytest.mark.slow
def test_closed_streams(scenario: Path) -> None:
    def ended(more: str) -> "subprocess.CompletedProcess[str]":
        command = f"{sys.executable} -m airtcp predict {scenario} {more}"
        return subprocess.run(command, shell=True, capture_output=True, text=True, check=False)

    out, err = ended(">&-"), ended("--json 2>&-")

    said = "airtcp: cannot write to stdout: Bad file descriptor\n"
    assert (out.returncode, out.stderr) == (1, said)
    assert err.returncode == 0
    assert json.loads(err.stdout)["model"]
