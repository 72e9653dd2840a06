"""Missing parts of a testbed, and features without a kernel: one helpful message, status 2."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from airtcp.cli.commands import app
from airtcp.testbed import network, site
from airtcp.testbed.programs import Iperf
from typer.testing import CliRunner, Result


@pytest.fixture
def call(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, file: Path) -> Callable[..., Result]:
    """Run commands as if the machine had all programs and the TUN device."""
    monkeypatch.setattr(network, "_PROGRAMS", {})
    monkeypatch.setattr(network, "_TUN", Path("/dev/null"))
    monkeypatch.setattr(Iperf, "packages", {})

    def called(command: str, *arguments: str) -> Result:
        options = [str(file), *arguments]
        return CliRunner().invoke(app, [command, *options], prog_name="airtcp")

    return called


COMMANDS = [["testbed"], ["run", "--with", "testbed"], ["shell"]]
#: Commands that only make sense with a testbed.
ALONE = [["testbed"], ["shell"]]


def refused(result: Result) -> str:
    """Return the one line of an error."""
    assert result.exit_code == 2, result.output
    assert result.stdout == ""
    [line] = result.stderr.splitlines()
    return str(line)


@pytest.mark.parametrize("command", ALONE)
@pytest.mark.parametrize(
    ("lack", "starts", "ends"),
    [
        (
            "device",
            "a testbed needs the TUN device {}/tun: No such file",
            "as root: modprobe tun, and in a container give it the device",
        ),
        (
            "program",
            "needs no-such-program",
            "needs no-such-program; on Debian: apt-get install its-package",
        ),
        # A kernel that forbids namespaces, as in many containers.
        (
            "privileges",
            "does not allow the networks of a testbed: unshare: unshare failed",
            "Operation not permitted; try as root, or allow user namespaces",
        ),
    ],
)
def test_what_a_machine_lacks_is_said_with_the_remedy(
    command: list[str],
    lack: str,
    starts: str,
    ends: str,
    call: Callable[..., Result],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    if lack == "device":
        monkeypatch.setattr(network, "_TUN", tmp_path / "tun")
    elif lack == "program":
        monkeypatch.setattr(network, "_PROGRAMS", {"no-such-program": "its-package"})
    else:
        program = tmp_path / "unshare"
        program.write_text(
            "#!/bin/sh\necho 'unshare: unshare failed: Operation not permitted' >&2\n"
        )
        program.chmod(0o755)
        monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
        monkeypatch.setattr("airtcp.testbed.network.os.geteuid", lambda: 1000)

    line = refused(call(*command))
    assert starts.format(tmp_path) in line
    assert line.endswith(ends)


def test_the_rest_is_answered_without_a_program(
    call: Callable[..., Result], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The testbed's column, the result and the report say what is missing."""
    monkeypatch.setattr(network, "_PROGRAMS", {"no-such-program": "its-package"})
    monkeypatch.setenv("COLUMNS", "80")
    why = "a testbed of this scenario needs no-such-program; on Debian: apt-get install its-package"
    command = ["run", "--with", "testbed", "--quiet", "--set", "run.duration=1s"]

    shown = call(*command)
    told = call(*command, "--json")
    reported = call(*command, "--out", str(tmp_path / "report"))

    assert (shown.exit_code, told.exit_code, reported.exit_code) == (0, 0, 0)
    assert shown.stderr == f"airtcp: no testbed: {why}\n"
    assert "The testbed: missing" in shown.stdout
    # On a narrow terminal the column is below the table.
    _, _, table = shown.stdout.partition("\ngoodput, all")
    assert table.splitlines()[1].split()[:2] == ["testbed", "missing"]
    answer = json.loads(told.stdout)
    assert answer["testbed"] == {"missing": why}
    assert answer["simulation"]["metrics"]["goodput_bps"]["mean"] > 0
    assert why in (tmp_path / "report" / "report.html").read_text()


@pytest.mark.parametrize("command", COMMANDS)
def test_no_congestion_control(
    command: list[str],
    call: Callable[..., Result],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    (tmp_path / "available").write_text("cubic\n")
    monkeypatch.setattr(site, "_AVAILABLE", tmp_path / "available")

    line = refused(call(*command))
    assert "(download).tcp.congestion" in line
    assert "modprobe tcp_reno" in line
    assert line.endswith(": cubic")


@pytest.mark.parametrize("command", COMMANDS)
def test_no_counterpart(command: list[str], call: Callable[..., Result]) -> None:
    line = refused(call(*command, "--set", "flows.upload.tcp.delayed_ack.every=4"))
    assert "(upload).tcp.delayed_ack" in line
    assert "(--simulated upload)" in line
