"""Snapshots of screens and reports: changes of text are reviewed as a diff.

`make snapshots` updates them. They hold words, layout and numbers of short runs. Other tests check
the decisions themselves.
"""

import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from airtcp.cli.commands import app
from airtcp.present.subject import subject
from airtcp.scenario import load
from syrupy.assertion import SnapshotAssertion
from syrupy.extensions.single_file import SingleFileSnapshotExtension, WriteMode
from typer.testing import CliRunner
from wing import with_papers

FOLDER = Path(__file__).parents[1] / "python/airtcp/examples"
EXAMPLES = sorted(path.name for path in FOLDER.glob("*.toml"))
HIDDEN = frozenset(("style", "script", "svg"))
BLOCKS = frozenset(("a", "div", "dt", "h1", "h2", "h3", "li", "p", "pre", "summary", "tr"))
SHORT = ("--set", "run.duration=2 s", "--set", "run.warmup=1 s", "--set", "run.replications=2")
#: Durations, and paths of files.
VARYING = (
    (re.compile(r"\bin (?:\d+ min )?[\d.]+ (?:ms|s|min)\b"), "in T"),
    (re.compile(r"\(\S+ simulated seconds per second\)"), "(N simulated seconds per second)"),
    (re.compile(r"file://\S+"), "file://..."),
)


class Screens(SingleFileSnapshotExtension):
    """One text file for each snapshot."""

    file_extension = "txt"
    _write_mode = WriteMode.TEXT


@pytest.fixture
def screens(snapshot: SnapshotAssertion, monkeypatch: pytest.MonkeyPatch) -> SnapshotAssertion:
    monkeypatch.chdir(FOLDER)
    return snapshot.use_extension(Screens)


class Text(HTMLParser):
    """The visible text of a report: one line for each block and row."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = [""]
        self._hidden = 0

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self._hidden += tag in HIDDEN
        if tag in BLOCKS and self.lines[-1]:
            self.lines.append("")

    def handle_endtag(self, tag: str) -> None:
        self._hidden -= tag in HIDDEN

    def handle_data(self, data: str) -> None:
        if not self._hidden:
            self.lines[-1] = " ".join([*self.lines[-1].split(), *data.split()])


def without_times(text: str) -> str:
    for pattern, word in VARYING:
        text = pattern.sub(word, text)
    return text


def screen(*arguments: str, columns: int = 80) -> str:
    environment = {"COLUMNS": str(columns)}
    done = CliRunner().invoke(app, list(arguments), prog_name="airtcp", env=environment)
    assert done.exit_code == 0, done.output
    return without_times(done.stdout)


@pytest.mark.parametrize("example", EXAMPLES)
@pytest.mark.parametrize("verb", ["run", pytest.param("predict", marks=with_papers)])
def test_answer(verb: str, example: str, screens: SnapshotAssertion) -> None:
    assert screen(verb, example, "--quiet", *SHORT) == screens


@with_papers
@pytest.mark.parametrize(
    "asked", ["run --models --explain --details", "predict --models --explain", "simulate"]
)
def test_models_and_counters(asked: str, screens: SnapshotAssertion) -> None:
    verb, *options = asked.split()
    given = (verb, "persistent-downloads.toml", *options, "--quiet", *SHORT)
    # The speed of the run varies and ends its line.
    assert screen(*given, columns=120) == screens


@pytest.mark.parametrize(
    "example", ["three-offices.toml", pytest.param("persistent-downloads.toml", marks=with_papers)]
)
def test_report(example: str, screens: SnapshotAssertion, tmp_path: Path) -> None:
    screen("run", example, "--quiet", *SHORT, "--no-advice", "--out", str(tmp_path))
    text = Text()
    text.feed((tmp_path / "report.html").read_text())
    answer, _, _ = "\n".join(text.lines).partition("\nThe scenario\n")
    assert without_times(answer) == screens


#: Changes that produce descriptions of networks or flows which no example has.
WORDED: dict[str, list[dict[str, Any]]] = {
    "three-offices.toml": [
        {"stations.lawyer.spatial_streams": 2},
        {"stations.lawyer.spatial_streams": 2, "stations.artist.mcs": 0},
        {"stations.lawyer.rate_control": "minstrel-ht"},
    ],
    "fair-uploads.toml": [
        {"mac.edca": {}, "mac.classify.tcp_ack": "AC_VO"},
        {"mac.rts_threshold": "500 B", "mac.beacon": {}, "flows.station.path": [{"delay": "5 ms"}]},
        {"ap.queue": {"discipline": "red", "limit": 50}},
        {"ap.queue": {"discipline": "per-flow"}},
        {
            "flows.station.application": {"kind": "udp", "packet": "200 B", "rate": "64 kb/s"},
            "flows.station.tcp": None,
        },
        *(
            {"flows.station.tcp": tcp}
            for tcp in (
                {"variant": "sack"},
                {"delayed_ack": {"every": 2}},
                {"delayed_ack": {"thresholds": [[0, 1], [2, 2], [5, 3]]}},
                {"ack_skip": {"skip": 1}},
                {"ack_skip": {"skip": 2, "after_segment": 50}},
                {"ack_skip": {"adaptive": {"most": 3}}},
                {"mac_feedback": {"give_up": "retransmit"}},
                {"mac_feedback": {"give_up": "freeze"}},
                {"aimd": {"increase": 0.2, "decrease": 0.95}},
            )
        ),
    ],
}


def test_subject(screens: SnapshotAssertion) -> None:
    told = []
    for example in EXAMPLES:
        scenario = load(example)
        for changes in ({}, *WORDED.get(example, ())):
            changed = scenario.vary(changes) if changes else scenario
            told += [f"{example} {changes or ''}".rstrip(), *subject(changed), ""]
    assert "\n".join(told) == screens


@pytest.mark.parametrize("example", ["office-wifi6.toml", "three-offices.toml"])
def test_show(example: str, screens: SnapshotAssertion) -> None:
    assert screen("show", example) == screens


def test_plan(screens: SnapshotAssertion) -> None:
    assert screen("plan", "office-wifi5.toml", "--quiet", *SHORT) == screens


@pytest.mark.parametrize("change", ["ap.scheduler=airtime", "title=the same"], ids=["fair", "none"])
def test_diff(change: str, screens: SnapshotAssertion) -> None:
    assert screen("diff", "office-wifi6.toml", "--quiet", *SHORT, "--set", change) == screens


@with_papers
def test_reproduce(screens: SnapshotAssertion, tmp_path: Path) -> None:
    arguments = ("reproduce", "M.fig1", "--quick", "--quiet", "--out", str(tmp_path))
    assert screen(*arguments).replace(str(tmp_path), "out") == screens
