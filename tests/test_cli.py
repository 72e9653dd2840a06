"""The command: exit statuses, messages, output streams, determinism, interruption."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from airtcp.cli.commands import app
from airtcp.compare import compare
from airtcp.exceptions import SimulationError
from airtcp.present import summary
from airtcp.scenario import load
from bases import cell, reading
from children import Children
from commands import call
from typer.testing import CliRunner
from wing import with_papers

WEB = cell(
    3,
    title="Three laptops",
    application=reading("20 kB"),
    warmup="1 s",
    duration="20 s",
    replications=4,
)
#: Starts the command with arguments.
Start = Callable[..., "subprocess.Popen[str]"]


@pytest.fixture
def scenario(tmp_path: Path) -> Path:
    path = tmp_path / "web.toml"
    path.write_text(WEB)
    return path


@pytest.fixture
def undrawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Reports without charts, which take most of the time to write."""
    monkeypatch.setattr("airtcp.present.plot.pictures", lambda *_, **__: {})


@pytest.fixture
def process(started: Children) -> Start:
    """The command in a process of its own, with pipes for stdout and stderr."""

    def start(*arguments: str | Path, **options: Any) -> "subprocess.Popen[str]":
        command = [sys.executable, "-m", "airtcp", *arguments]
        return started.start(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options)

    return start


@pytest.mark.parametrize("command", ["run", "simulate", "predict"])
def test_json_is_nothing_but_json(command: str, scenario: Path) -> None:
    replaced = [] if command == "predict" else ["--seed", "9", "--replications", "2"]
    result = call(command, scenario, "--json", *replaced)
    assert (result.exit_code, result.stderr) == (0, "")
    answer = json.loads(result.stdout)
    if replaced:
        assert answer["provenance"]["seed"] == answer["scenario"]["run"]["seed"] == 9
        assert answer["simulation"]["replications"] == 2


@pytest.mark.usefixtures("undrawn")
def test_json_and_out_keep_stdout_clean(scenario: Path, tmp_path: Path) -> None:
    result = call("run", scenario, "--json", "--out", tmp_path / "out")
    quiet = call("run", scenario, "--json", "--out", tmp_path / "out", "--quiet")

    assert json.loads(result.stdout)
    assert "report.html" in result.stderr
    assert quiet.stderr == ""


def test_a_failed_run_is_status_1_and_one_message(
    scenario: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise SimulationError("replication 2 with seed 1 failed: airtime does not add up")

    monkeypatch.setattr("airtcp.run.simulate.simulate", fail)
    result = call("run", scenario)

    assert result.exit_code == 1
    assert result.stderr == ("airtcp: replication 2 with seed 1 failed: airtime does not add up\n")


@pytest.mark.usefixtures("undrawn")
def test_a_result_is_shown_even_when_it_cannot_be_written(
    scenario: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(self: Path, content: bytes) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    result = call("run", scenario, "--out", tmp_path / "out")

    assert result.exit_code == 1
    assert "\nlaptop ↓ ×3" in result.stdout
    assert "report:" not in result.stdout
    assert "No space left" in result.stderr


@pytest.mark.parametrize("columns", [None, "80"])
def test_no_control_codes_and_no_cut_numbers_in_a_pipe(
    scenario: Path, columns: str | None, process: Start
) -> None:
    environment = {key: value for key, value in os.environ.items() if key != "COLUMNS"}
    environment |= {"TERM": "xterm-256color"} | ({"COLUMNS": columns} if columns else {})
    running = process("run", scenario, env=environment)
    out, err = running.communicate()

    assert (running.returncode, err) == (0, "")
    assert not {"\x1b", "…"} & set(out)
    assert widest(out) <= int(columns or 120)


def widest(shown: str) -> int:
    """Return the length of the longest line; a command to paste stays on one line."""
    return max(len(line) for line in shown.splitlines() if "airtcp plan FILE" not in line)


@pytest.mark.parametrize("columns", [60, 70])
def test_a_long_name_is_broken_and_not_cut(scenario: Path, columns: int) -> None:
    name = "laptops-of-the-third-floor-by-the-lift"
    scenario.write_text(scenario.read_text().replace("laptop", name))

    command = ["run", str(scenario), "--details"]
    shown = call(*command, columns=columns).stdout

    assert "…" not in shown
    assert widest(shown) <= columns
    assert f"({name}/" in "".join(shown.split())


@pytest.mark.parametrize("columns", [0, 40, 60, 80, 200])
def test_no_number_is_cut_off_on_a_narrow_terminal(scenario: Path, columns: int) -> None:
    result = compare(load(scenario))
    environment = {"COLUMNS": str(columns)}
    shown = {}
    for command in ("run", "predict", "simulate"):
        models = [] if command == "simulate" else ["--models", "--explain"]
        done = CliRunner().invoke(app, [command, str(scenario), *models], env=environment)
        assert "…" not in done.stdout
        # A terminal that reports no width is treated like a pipe.
        assert widest(done.stdout) <= (columns or 120)
        shown[command] = " ".join(done.stdout.split())

    for line in summary.comparison_lines(result):
        for text in (line.metric, line.simulation, line.difference, line.source):
            assert text in shown["run"]
        if line.source:
            assert line.model in shown["predict"]
    for line in summary.simulation_lines(result.simulation):
        assert line.simulation in shown["simulate"]


def test_a_terminal_gets_a_progress_bar_on_stderr(scenario: Path, started: Children) -> None:
    pty = pytest.importorskip("pty")
    scenario.write_text(WEB.replace('"20 s"', '"20000 s"'))
    leader, follower = pty.openpty()
    command = [sys.executable, "-m", "airtcp", "simulate", str(scenario)]
    running = started.start(command, stdout=subprocess.PIPE, stderr=follower, text=False)
    os.close(follower)
    shown = b""
    while True:
        try:
            part = os.read(leader, 4096)
        except OSError:  # the last writer has closed the terminal
            break
        if not part:
            break
        shown += part
    out, _ = running.communicate()
    os.close(leader)

    assert running.returncode == 0
    assert b"simulating" in shown
    assert b"left" in shown
    assert b"\x1b" not in out


@pytest.mark.parametrize("flags", [[], ["--json"]])
def test_a_reader_that_leaves_is_no_failure(
    scenario: Path, flags: list[str], process: Start
) -> None:
    running = process("run", scenario, *flags)
    running.stdout.close()
    err = running.stderr.read()

    assert (running.wait(), err) == (0, "")


@pytest.mark.parametrize(("words", "completed"), [
    ("airtcp si", ["simulate"]),
    ("airtcp simulate --pc", ["--pcap"]),
    ("airtcp example web", ["web-hotspot"]),
    pytest.param("airtcp reproduce M.table", ["M.table1", "M.table2", "M.table3"],
     marks=with_papers),
])  # fmt: skip
def test_a_shell_completes_commands_and_names(
    words: str, completed: list[str], process: Start
) -> None:
    """As bash asks after `airtcp --install-completion`."""
    environment = {
        **os.environ,
        "_AIRTCP_COMPLETE": "complete_bash",
        "COMP_WORDS": words,
        "COMP_CWORD": str(len(words.split()) - 1),
    }
    out, err = process(env=environment).communicate()

    assert (out.split(), err) == (completed, "")
