"""Lab sheets: each runs from its text only, and right and wrong answers are graded correctly."""

import json
import re
import shlex
import tomllib
from pathlib import Path
from typing import Any

import airtcp
import pytest
from airtcp.labs.judge import check, judge
from airtcp.labs.sheet import NAMES, sheet, sheets, write
from airtcp.results import SimulationResult
from airtcp.run.simulate import simulate
from airtcp.scenario import Scenario
from bases import refused
from commands import call

PAGE = Path(__file__).parents[1] / "docs" / "howto" / "course.md"
BLOCK = re.compile(r"(?ms)^### (\w+)\n\n```toml\n(.*?)^```$")
#: The right answers from the teacher's page.
RIGHT: dict[str, dict[str, Any]] = {
    name: tomllib.loads(text) for name, text in BLOCK.findall(PAGE.read_text(encoding="utf-8"))
}
#: Three wrong answers to each question. A question of words may have only one wrong word: then the
#: others are not words of the question.
WRONG: dict[str, dict[str, list[Any]]] = {
    "dcf": {"q1": ["11 Mb/s", "5 Mb/s", 6.11], "q2": ["10 %", "50 %", 2],
     "q3": [1.0, 0.025, "0.8"], "q4": ["rts", "both", 3],
     "q5": [["phy.cw_min=31"], ["phy.cw_min=255"], ["stations.station.count=2"]]},
    "anomaly": {"q1": ["1 Mb/s", "250 kb/s", "2.75 Mb/s"], "q2": [1.0, 0.25, 0.09],
     "q3": ["25 %", "91 %", "-1 %"], "q4": ["oldest", "fifo", """ "airtime" """],
     "q5": [['ap.queue={ discipline = "fq-codel" }'], ['stations.far.data_rate="11 Mb/s"'],
     ["ap.queue.limit=1000"]]},
    "uploads": {"q1": ["12 Mb/s", "54 Mb/s", "380 kb/s"], "q2": ["0 %", "50 %", "5 %"],
     "q3": ["short", "fair", "red"], "q4": ["short", "fair", "none"], "q5": [["ap.queue.limit=5"],
     ['ap.queue={ discipline = "codel" }'], ["stations.sender.count=1"]]},
    "bufferbloat": {"q1": ["10 ms", "1.2 s", "300 ms"], "q2": ["50 ms", "900 ms", "0.585"],
     "q3": ["bloated", "codel", "fifo"], "q4": [20, 200, -1], "q5": [["links.line.queue.limit=5"],
     ["links.line.queue.limit=1000"], ['links.line.rate="100 Mb/s"']]},
    "aggregation": {"q1": ["270 Mb/s", "100 Mb/s", "300 Mb/s"],
     "q2": ["45 Mb/s", "100 Mb/s", "20 Mb/s"], "q3": [64, 10, 1],
     "q4": ["single", "neither", True], "q5": [['mac.aggregation.ampdu="0 B"'],
     ['mac.aggregation.ampdu="65535 B"'], ['phy.channel_width="20 MHz"']]},
    "capacity": {"q1": [20, 100, 1.5], "q2": ["20 ms", "5 s", "50 ms"],
     "q3": ["0.1 %", "20 %", "50 %"], "q4": ["slow", "none", 54],
     "q5": [['phy={ standard = "802.11a", data_rate = "24 Mb/s" }'], ["stations.phone.count=5"],
     ['phy.data_rate="12 Mb/s"']]},
}  # fmt: skip
#: Results by scenario hash, so that all answers to a question share one simulation.
RESULTS: dict[str, SimulationResult] = {}
QUESTIONS = [(one.name, question) for one in sheets() for question in one.questions]


@pytest.fixture
def simulated_once(monkeypatch: pytest.MonkeyPatch) -> None:
    def once(scenario: Scenario, **options: Any) -> SimulationResult:
        key = scenario.hash()
        if key not in RESULTS:
            RESULTS[key] = simulate(scenario, **options)
        return RESULTS[key]

    monkeypatch.setattr("airtcp.run.simulate.simulate", once)


def test_there_are_six_sheets_with_answers() -> None:
    assert set(RIGHT) == set(WRONG) == set(NAMES)
    assert len(NAMES) == 6
    for one in sheets():
        assert set(RIGHT[one.name]) == set(WRONG[one.name]) == set(one.questions)
        assert all(len(answers) == 3 for answers in WRONG[one.name].values())
        assert re.findall(r"\*\*Question (\w+)\.\*\*", one.text) == list(one.questions)


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [pytest.param(one, marks=pytest.mark.verify if one == "capacity" else ()) for one in NAMES],
)
def test_a_sheet_runs_from_its_text_alone(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert call("lab", name).exit_code == 0
    text = (tmp_path / f"{name}.md").read_text(encoding="utf-8")

    lines = [
        line for block in re.findall(r"(?ms)^```sh\n(.*?)^```$", text) for line in block.split("\n")
    ]
    commands = [shlex.split(line) for line in lines if line]

    assert commands
    for command in commands:
        assert command[0] == "airtcp"
        done = call(*command[1:], "--quiet")
        assert done.exit_code == 0, f"{command}\n{done.output}"


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [pytest.param(one, marks=[] if one in NAMES[:2] else pytest.mark.verify) for one in NAMES],
)
def test_a_notebook_does_the_same(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its cells run as plain code; the file is small and has no outputs."""
    monkeypatch.chdir(tmp_path)
    write(name)
    file = tmp_path / f"{name}.ipynb"
    cells = json.loads(file.read_text(encoding="utf-8"))["cells"]

    assert file.stat().st_size < 16_000
    found: dict[str, Any] = {}
    for cell in cells:
        if cell["cell_type"] == "code":
            assert cell["outputs"] == []
            exec(cell["source"], found)
    text = sheet(name).text
    assert sum("airtcp.load" in cell["source"] for cell in cells) == len(
        re.findall(r"(?m)^airtcp ", text)
    )


@pytest.mark.usefixtures("simulated_once")
@pytest.mark.parametrize(("name", "question"), QUESTIONS)
def test_right_answers_are_right(name: str, question: str) -> None:
    judged = judge(sheet(name), question, RIGHT[name][question])
    assert judged.state == "right", judged.why


@pytest.mark.usefixtures("simulated_once")
@pytest.mark.parametrize(("name", "question"), QUESTIONS)
def test_wrong_answers_are_wrong(name: str, question: str) -> None:
    for answer in WRONG[name][question]:
        judged = judge(sheet(name), question, answer)
        assert judged.state == "wrong", (answer, judged.why)
        assert judged.why


def test_check_judges_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write("dcf")
    untouched = call("lab", "check")
    Path("dcf.answers.toml").write_text('q1 = "6.11 Mb/s"\nq2 = "90 %"\n', encoding="utf-8")
    some = call("lab", "check", "dcf.answers.toml", "--json")
    all_ = "\n".join(f"{key} = {json.dumps(value)}" for key, value in RIGHT["dcf"].items())
    Path("dcf.answers.toml").write_text(all_, encoding="utf-8")
    whole = call("lab", "check")
    assert call("lab", "check", "dcf").stdout == whole.stdout
    assert untouched.exit_code == 3
    assert "0 of 5 right" in untouched.stdout
    states = [one["state"] for one in json.loads(some.stdout)]
    assert states == ["right", "wrong", "open", "open", "open"]
    assert some.exit_code == 3
    assert whole.exit_code == 0
    assert "5 of 5 right" in whole.stdout


@pytest.mark.parametrize(("file", "text", "message"), [
    ("dcf.answers.toml", "q9 = 1", "q9 is not a question"),
    ("dcf.answers.toml", "q1 =", "is not TOML"),
    ("mine.answers.toml", "", "its name is not the name of a sheet"),
    ("dcf.txt", "", "its name is not the name of a sheet"),
    ("dcf", "", "its name is not the name of a sheet"),
])  # fmt: skip
def test_wrong_files_are_told(tmp_path: Path, file: str, text: str, message: str) -> None:
    path = tmp_path / file
    path.write_text(text, encoding="utf-8")
    with pytest.raises(airtcp.AirtcpError, match=message):
        check(path)


def test_a_sheet_is_not_overwritten(tmp_path: Path) -> None:
    write("dcf", tmp_path)
    with refused("labs.sheet.exists"):
        write("dcf", tmp_path)
    write("dcf", tmp_path, force=True)
