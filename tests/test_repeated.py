"""A result that is run again: `airtcp run results.json`."""

import json
from pathlib import Path
from typing import Any

import airtcp
import pytest
from airtcp.exceptions import ScenarioError
from bases import CALLS
from commands import call as command
from typer.testing import Result

TARGET = '[targets]\n"desk flow_goodput" = "> 2 Mb/s"\n'
SHORT = 'run = { warmup = "100 ms", duration = "300 ms", replications = 3 }\n'


def call(*arguments: str | Path) -> Result:
    return command(*arguments, "--quiet")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the results of a scenario with changes from the command line."""
    path = tmp_path_factory.mktemp("repeated")
    (path / "office.toml").write_text(SHORT + CALLS + TARGET)
    changed = ("--set", "stations.desk.count=4", "--seed", "7", "--out", path / "out")
    assert call("run", path / "office.toml", *changed).exit_code == 0
    return path


def answer(folder: Path) -> dict[str, Any]:
    told: dict[str, Any] = json.loads((folder / "results.json").read_text())
    return told


def without_times(told: dict[str, Any]) -> dict[str, Any]:
    """Return the result without its command and run times."""
    told["provenance"].pop("command")
    told["simulation"] |= {"wall_s": None, "cpu_s": None}
    return told


def test_results_are_run_again_to_equal_numbers(folder: Path) -> None:
    again = call("run", folder / "out" / "results.json", "--out", folder / "again")
    assert again.exit_code == 0, again.output
    first, second = answer(folder / "out"), answer(folder / "again")
    assert len(first["provenance"]["command"]) > 0
    assert first["verdict"]["targets"]
    assert without_times(first) == without_times(second)


def test_the_scenario_of_a_result_keeps_its_targets_and_changes(folder: Path) -> None:
    scenario = airtcp.load(folder / "out" / "results.json")
    assert scenario.group("desk").count == 4
    assert scenario.run.seed == 7
    assert [target.metric for target in scenario.targets] == ["flow_goodput_bps"]
    assert scenario.vary({"stations.desk.count": 5}).group("desk").count == 5


@pytest.mark.parametrize("file", [None, "[phy]\nunknown = 1\n", SHORT + CALLS])
def test_a_file_that_means_something_else_gives_way_to_the_resolved_form(
    folder: Path, file: str | None
) -> None:
    told = answer(folder / "out")
    told["provenance"]["file"] = file
    scenario = airtcp.load(json.dumps(told, indent=2))
    assert scenario.hash() == told["provenance"]["scenario_hash"]
    assert scenario.targets == ()
    (folder / "resolved.json").write_text(json.dumps(told))
    assert call("run", folder / "resolved.json").exit_code == 0


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{ 1 }", "is not JSON"),
        ("{}", "not a result with a scenario"),
        ('{"scenario": {}, "provenance": null}', "not a result with a scenario"),
        ('{"scenario": {}, "provenance": {}}', "scenario.title: is of another version"),
        ('{"scenario": [], "provenance": {}}', "scenario: is of another version"),
    ],
)
def test_other_json_is_refused_with_what_is_allowed(text: str, words: str, tmp_path: Path) -> None:
    path = tmp_path / "some.json"
    path.write_text(text)
    with pytest.raises(ScenarioError, match=words) as caught:
        airtcp.load(path)
    assert str(caught.value).startswith(str(path))
    assert "results.json of a run" in str(caught.value)
    assert call("run", path).exit_code == 2
