"""Bad inputs from the command line, from files, for the page and for the library.

Each message begins with the place, says what is wrong there, and leaves all files unchanged.
"""

import hashlib
import re
import socket
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import airtcp
import pytest
from airtcp.results import SimulationResult
from airtcp.web.bodies import Ask, Curve, Edit, Job, Lights, Look, first_problem
from commands import call
from pydantic import BaseModel, ValidationError

SCENARIO = """
title = "Cafe"
phy = { standard = "802.11ax" }
[[stations]]
name = "laptop"
count = 2
[[flows]]
stations = "laptop"
direction = "download"
application = { kind = "bulk" }
[run]
warmup = "100 ms"
duration = "200 ms"
replications = 2
"""

#: Replacements of text in the scenario, by file name.
EDITS = {
    "base": ("", ""),
    "unknown": ("count", "cuont"),
    "nocsv": ("[run]", '[air]\nreceived = "no.csv"\n[run]'),
    "badcsv": ("[run]", '[air]\nreceived = "bad.csv"\n[run]'),
}
#: Other files.
FILES = {
    "empty.toml": b"",
    "syntax.toml": b'[phy\nstandard = "802.11ax"\n',
    "latin.toml": 'title = "Café"\n'.encode("latin-1"),
    "bad.csv": b"a,b\n1,x\n",
    "nothing.py": b"x = 1\n",
    "cut.json": b'{"start": {}, "intervals": [',
    "hello.txt": b"hello\n",
    "results.json": b'{"scenario": {}}',
    "sweep.toml": b'scenario = "nofile.toml"\n[axes]\n"stations.laptop.count" = [1]\n',
    "noaxes.toml": b'scenario = "base.toml"\n',
    "store/store.json": b'{"vers',
}
#: Arguments, the place of the error, and a text that identifies it.
COMMANDS: dict[str, tuple[str, str]] = {
    # Files of scenarios.
    "show unknown.toml": ("unknown.toml: stations[0] (laptop).cuont", "count"),
    "show nocsv.toml": ("nocsv.toml: air.received", "no.csv"),
    "show badcsv.toml": ("badcsv.toml: air.received", "from, to, dbm"),
    "run empty.toml": ("empty.toml: phy", "required key"),
    "run syntax.toml": ("syntax.toml", "line 1"),
    "run latin.toml": ("latin.toml", "line 1"),
    "run nofile.toml": ("nofile.toml", "not found"),
    "run store": ("store", "directory"),
    "run results.json": ("results.json", "results.json of a run"),
    # Options.
    "run base.toml --advice some": ("--advice", "tried, all, none"),
    "run base.toml --set foo": ("--set", "stations.laptop.count=40"),
    "run base.toml --set stations.laptop.cuont=3": ("base.toml: stations.laptop.cuont",
     "stations.laptop.count"),
    "predict base.toml --set run.durations=1s": ("base.toml: run.durations", "run.duration"),
    "predict base.toml --set run.duration=1": ("base.toml: run.duration", "bare number"),
    "predict base.toml --set run.seed=x": ("base.toml: run.seed", "whole number"),
    "run base.toml --replications 0": ("--replications", "1 or more"),
    "run base.toml --seed -1": ("--seed", "0 or more"),
    "run base.toml --effort -1": ("--effort", "above 0"),
    "run base.toml --threads 0": ("--threads", "1 or more"),
    "run base.toml --with radio": ("--with", "testbed"),
    "run base.toml --gro": ("--gro", "--with testbed"),
    "run base.toml --foo": ("No such option", "--foo"),
    "run": ("Missing argument", "scenario"),
    "fly": ("No such command", "fly"),
    "lab quantum": ("there is no sheet", "dcf"),
    "lab check": ("no file with answers", "here"),
    "lab dcf dcf.answers.toml": ("dcf.answers.toml", "airtcp lab check"),
    "traffic show nofile.log": ('"nofile.log"', "not found"),
    "run base.toml --out hello.txt": ("cannot write to hello.txt", "directory"),
    "web --port 99999": ("--port", "65535 or less"),
    "web --host 0.0.0.0": ("--host 0.0.0.0", "--token"),
    "web --run-time soon": ("--run-time", "min"),
    "simulate base.toml --trace t.txt": ("t.txt", ".parquet or .csv"),
    "simulate base.toml --trace nowhere/t.csv": ("cannot write to nowhere/t.csv", "No such file"),
    "simulate base.toml --trace folder.csv": ("cannot write to folder.csv", "not a regular file"),
    "simulate base.toml --trace t.csv --trace-interval 3": ("--trace-interval", "no unit"),
    "simulate base.toml --trace t.csv --trace-interval 0s": ("--trace-interval", "1 ns or more"),
    "simulate base.toml --trace t.csv --trace-interval 10ns": ("trace_interval_s", "s or more"),
    "simulate base.toml --trace-interval 1s": ("--trace-interval", "--trace"),
    "simulate base.toml --pcap /dev/null": ("cannot write to /dev/null", "not a regular file"),
    "simulate base.toml --pcap a.pcap --snaplen 10": ("--snaplen", "64"),
    "example nothere": ("NAME", "cafe-wifi6"),
    # Plug-ins.
    "show base.toml --plugin nofile.py": ("nofile.py", "not found"),
    "show base.toml --plugin nothing.py": ("nothing.py", "airtcp.congestion"),
    # Measurements and configurations.
    "run base.toml --measured nofile.json": ("nofile.json", "No such file"),
    "run base.toml --measured cut.json": ("cut.json: line 1", "JSON"),
    "run base.toml --measured bad.csv": ("bad.csv", "metric,value"),
    "import hello.txt": ("hello.txt: line 1", "hostapd.conf"),
    "traffic show hello.txt": ("hello.txt", "column size"),
    # Plans, differences, sweeps and stores.
    "plan base.toml --vary ap.queue.limit": ("--vary ap.queue.limit", "--from"),
    "plan base.toml --vary nope --from 1 --to 2": ("base.toml: nope", "the nearest is"),
    "plan base.toml --limit soon": ("--limit", "min"),
    "diff base.toml": ("B", "--set"),
    "diff base.toml --set stations.laptop.count=2": ("--set", "same network"),
    "diff base.toml --set stations.laptop.count=3 --precision 200%": ("--precision", "100 %"),
    "diff base.toml --set stations.laptop.count=3 --precision 2% --replications 3": ("--precision",
     "--replications"),
    "sweep base.toml --to out": ("base.toml", "--axis"),
    "sweep base.toml --axis run.seed=[1]": ("--to", "--dry"),
    "sweep base.toml --to out --axis run.seed=[1] --axis run.seed=[3]": ("--axis", "twice"),
    "sweep base.toml --to out --axis run.seed": ("--axis", "stations.laptop.count=[1, 2, 5]"),
    "sweep noaxes.toml --to out": ("noaxes.toml: axes", "missing"),
    "sweep syntax.toml --to out": ("syntax.toml", "TOML"),
    "sweep base.toml --to out --axis nope.count=[1]": ("sweep: axes.nope.count", "the nearest is"),
    "sweep base.toml --to store --axis stations.laptop.count=[1]": ("store/store.json", "damaged"),
    "sweep sweep.toml --to out": ("nofile.toml", "not found"),
    "results nostore": ("nostore", "--to directory"),
    "results store": ("store/store.json", "damaged"),
}  # fmt: skip


@pytest.fixture(autouse=True)
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A directory with all files; the test checks that none changes."""
    for folder in ("store", "folder.csv"):
        (tmp_path / folder).mkdir()
    for name, content in FILES.items():
        (tmp_path / name).write_bytes(content)
    for name, (old, new) in EDITS.items():
        (tmp_path / f"{name}.toml").write_text(SCENARIO.replace(old, new) if old else SCENARIO)
    monkeypatch.chdir(tmp_path)
    before = contents(tmp_path)
    yield
    assert contents(tmp_path) == before


def contents(folder: Path) -> dict[Path, str]:
    files = (path for path in folder.rglob("*") if path.is_file() and path.name != "lock")
    return {path: hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def check(message: str, place: str, what: str) -> None:
    assert message.startswith(place), message
    assert what in message.removeprefix(place), message
    assert "Input should be" not in message


def refused(*arguments: str) -> str:
    """Return the error message of a command, without the usage line."""
    result = call(*arguments)
    assert result.exit_code == 2, result.output
    assert isinstance(result.exception, SystemExit)
    assert result.stdout == ""
    told = result.stderr.partition("\nError: ")[2] or result.stderr
    told = re.sub(r"^(airtcp: |Invalid value for '?([-\w]+)'?: |Invalid value: )", r"\2: ", told)
    return told.removeprefix(": ").strip()


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_names_the_place_and_what_is_allowed(command: str) -> None:
    place, what = COMMANDS[command]
    check(refused(*command.split()), place, what)


def test_a_port_that_is_in_use_is_named() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert "Address already in use" in refused("web", "--port", str(port))


@pytest.mark.parametrize(("until", "what"), [
    ("laptop p95 transfer_time > 50", "ms"),
    ("nobody goodput < 5 Mb/s", "laptop"),
    ("laptop goodput", "METRIC"),
])  # fmt: skip
def test_a_condition_is_quoted_with_its_option(until: str, what: str) -> None:
    check(refused("plan", "base.toml", "--until", until), f'--until "{until}"', what)


SOURCE = {"text": SCENARIO}


@pytest.mark.parametrize(("form", "body", "place", "what"), [
    (Ask, {}, "source", "required field"),
    (Ask, {"source": 3}, "source", "object"),
    (Ask, {"source": {}, "sauce": 1}, "sauce", "source"),
    (Ask, {"source": {"set": {}}}, "source.set", "changes"),
    (Lights, {"source": SOURCE, "times": 0}, "times", "1 or more"),
    (Lights, {"source": SOURCE, "times": "x"}, "times", "whole number"),
    (Curve, {"source": SOURCE, "axis": "stations", "values": []}, "values", "1 or more"),
    (Job, {"kind": "nope"}, "kind", "'plan'"),
    (Job, {"kind": "timeline", "length_ms": 1e9}, "length_ms", "200 at most"),
    (Edit, {"op": "fly", "path": "stations"}, "op", "'add'"),
    (Look, {"store": "s", "y": "m", "x": 3}, "x", "text"),
])  # fmt: skip
def test_the_page_names_the_field_and_what_is_allowed(
    form: type[BaseModel], body: dict[str, Any], place: str, what: str
) -> None:
    with pytest.raises(ValidationError) as caught:
        form.model_validate(body)
    check(first_problem(caught.value, form), place, what)


def test_the_page_says_that_a_request_is_not_json() -> None:
    with pytest.raises(ValidationError) as caught:
        Ask.model_validate_json("{")
    assert first_problem(caught.value, Ask).startswith("the request is not JSON: ")


LIBRARY: dict[str, tuple[Callable[[], object], type[Exception], str]] = {
    "load": (lambda: airtcp.load(42), TypeError, "42 is not a scenario"),  # type: ignore[arg-type]
    "run": (lambda: airtcp.run(None), TypeError, "file name"),
    "predict": (lambda: airtcp.predict([]), TypeError, "airtcp.load"),  # type: ignore[arg-type]
    "diff": (lambda: airtcp.diff("base.toml", 3), TypeError, "3 is not"),  # type: ignore[arg-type]
    "simulate": (lambda: airtcp.simulate(3), TypeError, "3 is not a sc"),  # type: ignore[arg-type]
    "glance": (lambda: airtcp.glance(3), TypeError, "3 is not a sc"),  # type: ignore[arg-type]
    "verdict": (lambda: airtcp.verdict("x"), TypeError, "'x' is not a result; .*airtcp.run"),
    "advise": (lambda: airtcp.advise(base()), TypeError, "is not a result; .*airtcp.run"),
    "file": (lambda: airtcp.compare("nofile.toml"), airtcp.ScenarioError, "nofile.toml: file"),
    "replications": (
        lambda: airtcp.simulate("base.toml", replications=0),
        airtcp.ScenarioError,
        "run.replications: 0 .* 1 or more",
    ),
    "seed": (lambda: base().with_run(seed=-1), airtcp.ScenarioError, "run.seed: -1 .* 0 or more"),
    "threads": (lambda: airtcp.simulate("base.toml", threads=-1), ValueError, "threads .* 1"),
    "stations": (lambda: base().with_stations(0), airtcp.ScenarioError, "stations: 0 .* 1 group"),
    "precision": (
        lambda: airtcp.diff(base(), base(), precision=2.0),
        ValueError,
        "precision: 2.0 .* 100 %",
    ),
    "path": (lambda: base().vary({"nope": 1}), airtcp.ScenarioError, "base.toml: nope: .* ap"),
    "until": (lambda: airtcp.plan("base.toml"), airtcp.QuestionError, "--until: .*targets"),
    "axes": (lambda: airtcp.sweep("base.toml", {}, "out"), airtcp.ScenarioError, "axes: is empty"),
    "store": (lambda: airtcp.results.open("no"), airtcp.OutputError, "no: holds no results"),
}


def base() -> airtcp.scenario.Scenario:
    return airtcp.load("base.toml")


@pytest.mark.parametrize("name", LIBRARY)
def test_the_library_says_what_is_wrong_and_what_is_allowed(name: str) -> None:
    call, kind, pattern = LIBRARY[name]
    with pytest.raises(kind, match=pattern):
        call()


@pytest.fixture(scope="module")
def result() -> SimulationResult:
    return airtcp.simulate(airtcp.load(SCENARIO))


def test_metrics_point_at_the_name_that_is_meant(result: SimulationResult) -> None:
    cell = airtcp.diff(SCENARIO, SCENARIO.replace("count = 2", "count = 3"))
    for metrics in (
        result.metrics,
        result.simulation.groups["laptop"]["all"],
        cell.metrics,
        cell.groups["laptop"]["all"],
    ):
        with pytest.raises(KeyError, match=r'use .?"goodput_bps'):
            metrics["goodput"]
