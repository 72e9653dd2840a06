"""`--set PATH=VALUE`, and a scenario on standard input."""

import json
from pathlib import Path

import pytest
from airtcp.scenario import load
from bases import cell
from commands import call

SCENARIO = cell(3, warmup="100 ms", duration="500 ms", replications=2)


@pytest.fixture
def scenario(tmp_path: Path) -> Path:
    path = tmp_path / "cell.toml"
    path.write_text(SCENARIO)
    return path


@pytest.mark.parametrize("command", ["run", "predict", "simulate"])
def test_keys_are_changed_before_anything_else(command: str, scenario: Path) -> None:
    """Numbers, words, quantities and tables, as a file has them; texts without quotes."""
    changes = {
        "stations.laptop.count=2": ("stations.laptop.count", 2),
        "flows.laptop.tcp.mss = 536 B": ("flows.laptop.tcp.mss", "536 B"),
        "flows.laptop.tcp.receive_window={ segments = 8 }": (
            "flows.laptop.tcp.receive_window", {"segments": 8},
        ),
        "mac.rules.immediate_access=false": ("mac.rules", {"immediate_access": False}),
    }  # fmt: skip
    told = [word for one in changes for word in ("--set", one)]
    result = call(command, scenario, "--json", *told)
    assert result.exit_code == 0
    changed = load(scenario).vary(dict(changes.values()))
    assert json.loads(result.stdout)["scenario"] == changed.to_dict()
    assert changed.flows[0].tcp.receive_window_bytes == 8 * 536


def test_a_scenario_may_come_from_standard_input() -> None:
    result = call("predict", "-", "--json", "--set", "stations.laptop.count=2", stdin=SCENARIO)

    assert result.exit_code == 0
    answer = json.loads(result.stdout)["scenario"]
    assert answer["title"] == "standard input"
    assert answer["stations"][0]["count"] == 2


def test_a_wrong_scenario_on_standard_input_is_called_so() -> None:
    result = call("predict", "-", stdin="title = 1")

    assert result.exit_code == 2
    assert result.stderr.startswith("airtcp: standard input: phy: required key")
