"""What a command reads once, and what it may overwrite."""

import os
import threading
from pathlib import Path

import pytest
from airtcp.cli.commands import app
from airtcp.run.replications import Runner
from typer.testing import CliRunner, Result

SHORT = """
[phy]
standard = "802.11b"
[[stations]]
name = "laptop"
count = 1
[[flows]]
stations = "laptop"
direction = "download"
application = { kind = "bulk" }
[run]
warmup = "0 s"
duration = "1 s"
replications = 2
"""


@pytest.fixture
def scenario(tmp_path: Path) -> Path:
    path = tmp_path / "short.toml"
    path.write_text(SHORT)
    return path


def call(*arguments: str | Path) -> Result:
    return CliRunner().invoke(app, [str(argument) for argument in arguments], prog_name="airtcp")


def refused(message: str, *arguments: str | Path) -> bool:
    result = call(*arguments)
    said = result.stderr.startswith("airtcp: cannot write to ") and message in result.stderr
    return result.exit_code == 2 and result.stdout == "" and said


FOREIGN = "it is there, and airtcp has not written it; allowed: another name, or --force"


@pytest.mark.parametrize("change", [Path.unlink, lambda path: path.write_text("edited")])
def test_the_report_shows_the_scenario_that_was_run(
    change, scenario: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever becomes of its file meanwhile."""
    run = Runner.run

    def meanwhile(*arguments: object) -> object:
        if scenario.exists():
            change(scenario)
        return run(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(Runner, "run", meanwhile)
    result = call("simulate", scenario, "--threads", "1", "--out", tmp_path / "out")

    assert result.exit_code == 0
    page = (tmp_path / "out" / "report.html").read_text()
    assert "duration = &quot;1 s&quot;" in page
    assert "edited" not in page


def test_a_scenario_may_come_through_a_pipe(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe.toml"
    os.mkfifo(pipe)
    threading.Thread(target=pipe.write_text, args=(SHORT,)).start()

    assert call("predict", pipe, "--out", tmp_path / "out").exit_code == 0
    assert "duration = &quot;1 s&quot;" in (tmp_path / "out" / "report.html").read_text()


@pytest.mark.parametrize("option", ["--trace", "--pcap"])
@pytest.mark.parametrize("link", [None, os.link, os.symlink])
def test_the_scenario_is_never_an_output(option: str, link, scenario: Path) -> None:
    name = scenario
    if link is not None:
        name = scenario.with_name("other.csv")
        link(scenario, name)

    assert refused("it is the scenario", "simulate", scenario, option, name)
    assert refused("it is the scenario", "simulate", scenario, option, name, "--force")
    assert scenario.read_text() == SHORT


def test_a_scenario_called_as_a_file_of_the_report(scenario: Path, tmp_path: Path) -> None:
    path = scenario.rename(tmp_path / "results.json")

    assert refused("it is the scenario", "predict", path, "--out", tmp_path, "--force")


def test_no_two_outputs_are_one_file(scenario: Path, tmp_path: Path) -> None:
    one = tmp_path / "one.csv"
    other = f"{tmp_path}/./one.csv"
    page = tmp_path / "report.html"

    assert refused(
        "it is the file of --trace", "simulate", scenario, "--trace", one, "--pcap", other
    )
    assert refused("it is the file of", "simulate", scenario, "--pcap", page, "--out", tmp_path)


@pytest.mark.parametrize(
    ("option", "name"), [("--trace", "a.csv"), ("--trace", "a.parquet"), ("--pcap", "a.pcap")]
)
def test_only_files_of_airtcp_are_overwritten(
    option: str, name: str, scenario: Path, tmp_path: Path
) -> None:
    path = tmp_path / name
    path.write_text("time,size\n1,2\n")

    assert refused(FOREIGN, "simulate", scenario, option, path)
    assert path.read_text() == "time,size\n1,2\n"
    assert call("simulate", scenario, option, path, "--force").exit_code == 0
    assert call("simulate", scenario, option, path).exit_code == 0


def test_a_capture_of_someone_else_is_kept(scenario: Path, tmp_path: Path) -> None:
    """The same format, from a card in monitor mode: its addresses are those of makers."""
    path = tmp_path / "a.pcap"
    assert call("simulate", scenario, "--pcap", path).exit_code == 0
    content = bytearray(path.read_bytes())
    first = 24 + 16 + 22 + 4
    assert content[first : first + 2] == b"\x02\x00"
    content[first : first + 12] = bytes.fromhex("b827eb000001 001122334455")
    path.write_bytes(content)

    assert refused(FOREIGN, "simulate", scenario, "--pcap", path)


def test_only_a_report_of_airtcp_is_overwritten(scenario: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    (out / "notes.txt").write_text("mine")
    (out / "airtime.png").write_text("mine")

    assert refused(FOREIGN, "predict", scenario, "--out", out)
    assert (out / "airtime.png").read_text() == "mine"
    assert call("predict", scenario, "--out", out, "--force").exit_code == 0
    assert call("run", scenario, "--out", out).exit_code == 0
    assert (out / "notes.txt").read_text() == "mine"


def test_pages_of_papers_do_not_replace_others(tmp_path: Path) -> None:
    (tmp_path / "index.html").write_text("<title>mine</title>")

    assert refused(FOREIGN, "reproduce", "M.table1", "--out", tmp_path)


def test_control_characters_of_a_title_do_not_reach_the_terminal(scenario: Path) -> None:
    scenario.write_text('title = "a\\u001b[31m\\nb"\n' + SHORT)

    result = call("predict", scenario)

    assert result.exit_code == 0
    assert result.stdout.splitlines()[0].rstrip() == r"a\x1b[31m\nb"


def test_names_that_are_no_text(scenario: Path, tmp_path: Path) -> None:
    odd = tmp_path / os.fsdecode(b"\xff")
    path = scenario.rename(odd.with_suffix(".toml"))

    for name in (".csv", ".parquet", ".pcap"):
        option = "--pcap" if name == ".pcap" else "--trace"
        result = call("simulate", path, option, odd.with_suffix(name), "--out", odd)
        assert result.exit_code == 0, result.stderr
        assert odd.with_suffix(name).stat().st_size > 0
    assert (odd / "report.html").exists()
