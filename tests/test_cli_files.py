"""Commands read each input once, and overwrite only files of their own kind."""

import os
import threading
from collections.abc import Iterator
from itertools import cycle
from pathlib import Path

import pytest
from airtcp.cli.outputs import is_own_capture
from airtcp.run.replications import Runner
from bases import cell
from commands import call

SHORT = cell(warmup="0 s", duration="1 s", replications=2)


@pytest.fixture
def scenario(tmp_path: Path) -> Path:
    path = tmp_path / "short.toml"
    path.write_text(SHORT)
    return path


def refused(message: str, *arguments: str | Path) -> bool:
    result = call(*arguments)
    said = result.stderr.startswith("airtcp: cannot write to ") and message in result.stderr
    return result.exit_code == 2 and result.stdout == "" and said


FOREIGN = "file exists, and airtcp did not write it; use another name, or --force"


@pytest.mark.parametrize("change", [Path.unlink, lambda path: path.write_text("edited")])
def test_the_report_shows_the_scenario_that_was_run(
    change, scenario: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Even if the file changes or disappears during the run."""
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


@pytest.mark.parametrize(("asked", "message"), [
    ("predict results.json --out . --force", "it is the scenario"),
    ("simulate results.json --trace one.csv --pcap ./one.csv", "it is the file of --trace"),
    ("simulate results.json --pcap report.html --out .", "it is the file of"),
])  # fmt: skip
def test_no_two_files_are_one(
    asked: str, message: str, scenario: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(scenario.parent)
    scenario.rename("results.json")

    assert refused(message, *asked.split())


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


ON_AIR = {
    **dict.fromkeys(["802.11b", "802.11a", "802.11g", "802.11n", "802.11ac", "802.11ax"], ""),
    "802.11g with beacons": "[mac]\nbeacon = {}",
    "802.11b with polls": "[mac]\npcf = {}",
    "802.11n with RTS": '[mac]\nrts_threshold = "0 B"',
    "802.11ac without aggregates": '[mac.aggregation]\nampdu = "0 B"',
    "802.11ax with A-MSDUs": '[mac.aggregation]\namsdu = "7935 B"',
}


@pytest.mark.parametrize(
    ("name", "snaplen"), list(zip(ON_AIR, cycle(("64", "65535")), strict=False))
)
def test_own_captures_are_overwritten(name: str, snaplen: str, tmp_path: Path) -> None:
    """Radiotap headers differ in length by standard and by frame."""
    standard = name.partition(" ")[0]
    scenario = tmp_path / "s.toml"
    text = SHORT.replace("802.11b", standard).replace('"1 s"', '"0.2 s"')
    scenario.write_text(f"{text}\n{ON_AIR[name]}\n")
    path = tmp_path / "a.pcap"
    made = ("simulate", scenario, "--pcap", path, "--snaplen", snaplen)

    first = call(*made)
    assert first.exit_code == 0, first.stderr
    content = path.read_bytes()
    assert len(content) > 1000
    again = call(*made)

    assert again.exit_code == 0, again.stderr
    assert path.read_bytes() == content


def records(content: bytes | bytearray) -> Iterator[int]:
    """Yield the position of each record in a pcap file."""
    place = 24
    while place < len(content):
        yield place
        place += 16 + int.from_bytes(content[place + 8 : place + 12], "little")


MAKER = bytes.fromhex("b827eb000001")


def of_makers(content: bytearray) -> None:
    """A card in monitor mode: the addresses have manufacturers' OUIs."""
    for place in records(content):
        first = place + 16 + content[place + 18] + 4
        assert content[first : first + 2] == b"\x02\x00"
        content[first : first + 6] = MAKER


def of_one_maker(content: bytearray) -> None:
    """The last frame of the first 60 kB has a manufacturer's address, the others local ones."""
    *_, last = (place for place in records(content) if place < 60_000)
    first = last + 16 + content[last + 18] + 4
    content[first : first + 6] = MAKER


def of_simulated_radios(content: bytearray) -> None:
    """From Linux's mac80211_hwsim: addresses 02:00:00:00:00:00 and up, and wall-clock time."""
    for place in records(content):
        content[place : place + 4] = (1_790_000_000).to_bytes(4, "little")


def of_another_clock(content: bytearray) -> None:
    """The radio's clock is not that of the capture."""
    for place in records(content):
        content[place + 24 : place + 32] = (7_000_000_000).to_bytes(8, "little")


def of_wires(content: bytearray) -> None:
    """Ethernet, in pcap with nanoseconds."""
    content[20:24] = (1).to_bytes(4, "little")


@pytest.mark.parametrize("standard", ["802.11b", "802.11n", "802.11ax"])
@pytest.mark.parametrize(
    "change", [of_makers, of_one_maker, of_simulated_radios, of_another_clock, of_wires]
)
def test_a_capture_of_someone_else_is_kept(change, standard: str, tmp_path: Path) -> None:
    """The capture has the same format as airtcp's."""
    scenario, path = tmp_path / "s.toml", tmp_path / "a.pcap"
    scenario.write_text(SHORT.replace("802.11b", standard).replace('"1 s"', '"0.1 s"'))
    assert call("simulate", scenario, "--pcap", path).exit_code == 0
    content = bytearray(path.read_bytes())
    change(content)
    path.write_bytes(content)

    assert refused(FOREIGN, "simulate", scenario, "--pcap", path)
    assert path.read_bytes() == content


@pytest.mark.parametrize(("writer", "ours"), [("airtcp testbed", True), ("Dumpcap (W.rk)", False)])
def test_a_capture_of_a_testbed_is_told_by_its_writer(writer: str, ours: bool) -> None:
    """pcapng: the section header begins with the writer's name and has a comment here."""
    body = bytes.fromhex("4d3c2b1a 0100 0000 ffffffffffffffff 0400 0e00")
    body += writer.encode() + b"\0\0"
    body += bytes.fromhex("0100 0e00") + b"airtcp testbed\0\0" + bytes(4)
    length = (len(body) + 12).to_bytes(4, "little")

    assert is_own_capture(bytes.fromhex("0a0d0d0a") + length + body + length) is ours


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


def test_a_command_without_an_answer_leaves_no_directory(
    scenario: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A question that cannot be asked, and a testbed run that is interrupted."""

    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("airtcp.testbed.bench.measure", interrupted)
    out = tmp_path / "new" / "out"

    asked = call("plan", scenario, "--until", "nobody p95 delay > 1 s", "--out", out)
    call("testbed", scenario, "--out", out)

    assert '"nobody" is no group' in asked.stderr
    assert [one.name for one in tmp_path.iterdir()] == [scenario.name]


@pytest.mark.parametrize("asked", [
    "predict short.toml --out", "simulate short.toml --trace", "simulate short.toml --pcap",
    "example web-hotspot --to", "traffic show sizes.csv --out", "traffic scenario sizes.csv --out",
    "lab capacity --to", "predict short.toml --plugin",
])  # fmt: skip
def test_a_place_of_which_the_system_tells_nothing_is_one_message(
    asked: str, scenario: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A name that is too long fails like a directory without permission, for root too."""
    monkeypatch.chdir(scenario.parent)
    Path("sizes.csv").write_text("size\n" + "".join(f"{1000 + one}\n" for one in range(100)))
    said = call(*asked.split(), f"{300 * 'x'}.csv")
    assert said.exit_code in (1, 2)
    assert isinstance(said.exception, SystemExit)
    assert ("no such file" if "--plugin" in asked else "cannot write to ") in said.stderr
    assert said.stderr.count("\n") == 1


def test_control_characters_of_a_title_do_not_reach_the_terminal(scenario: Path) -> None:
    scenario.write_text('title = "a\\u001b[31m\\nb"\n' + SHORT)

    result = call("predict", scenario)

    assert result.exit_code == 0
    assert result.stdout.splitlines()[0].startswith(r"a\x1b[31m\nb ")


def test_names_that_are_no_text(scenario: Path, tmp_path: Path) -> None:
    odd = tmp_path / os.fsdecode(b"\xff")
    path = scenario.rename(odd.with_suffix(".toml"))

    csv, parquet, pcap = (odd.with_suffix(name) for name in (".csv", ".parquet", ".pcap"))
    for options in (("--trace", csv, "--pcap", pcap, "--out", odd), ("--trace", parquet)):
        result = call("simulate", path, *options)
        assert result.exit_code == 0, result.stderr
    assert all(file.stat().st_size > 0 for file in (csv, parquet, pcap))
    assert (odd / "report.html").exists()
