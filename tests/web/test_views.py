"""Views of results: sentences, rows and curves for the page, without a server."""

import json
import shlex
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import airtcp
import pytest
from airtcp.amounts import percent, quantity
from airtcp.examples import directory, examples
from airtcp.metrics import METRICS
from airtcp.plan.axis import axis_of
from airtcp.scenario import Scenario
from airtcp.web import parts, work
from serving import QUICK, Web
from test_judged import told_by

EXAMPLE = "persistent-downloads"
COUNT = "stations.station.count"


def scenario(changes: Mapping[str, Any], name: str = EXAMPLE) -> Scenario:
    return airtcp.load(str(directory() / f"{name}.toml")).vary(changes)


def asked(name: str, source: dict[str, Any], **more: object) -> dict[str, Any]:
    """Return the answer to a question about the example, or about the given scenario."""
    return work.question(name, {"source": {"example": EXAMPLE} | source} | more, Path(), {})


def ran(kind: str, changes: dict[str, Any], **more: object) -> list[dict[str, Any]]:
    return told_by({"kind": kind, "source": {"example": EXAMPLE, "changes": changes}} | more)


@pytest.mark.parametrize("name", [one.name for one in examples()])
def test_each_example_has_controls_whose_values_are_those_of_the_file(name: str) -> None:
    told = asked("scenario", {"example": name})

    assert told["toml"] == (directory() / f"{name}.toml").read_text()
    for field in told["fields"]:
        values = [option["value"] for option in field["options"]]
        assert field["value"] in values, field["path"]


@pytest.mark.parametrize("count", [1, 7, 20])
def test_the_models_say_on_the_page_what_they_say_in_python(count: int) -> None:
    changes = {COUNT: count, "flows.station.tcp.mss": "1200 B"}
    told = asked("predict", {"changes": changes})
    expected = airtcp.predict(scenario(changes))

    assert told["values"].keys() == {
        name for name, entries in expected.model.items() if not isinstance(entries[0].value, list)
    }
    for name, one in told["values"].items():
        best = expected.best(name)
        assert isinstance(best.value, float)
        assert one["value"] == best.value
        assert one["text"] == quantity(best.value, METRICS[name].unit)
        assert one["source"] == best.source
    assert told["values"]["goodput_bps"]["text"] in told["words"][0]
    # A point of the curve equals the result at this value of the axis.
    there = {"changes": {"flows.station.tcp.mss": "1200 B"}}
    assert asked("point", there, axis=COUNT, values=[count])["values"] == told["values"]


def test_a_curve_comes_over_the_network_with_the_points_of_the_models(web: Web) -> None:
    _, start = web.ask("api/start")
    assert [one["name"] for one in start["examples"]] == [one.name for one in examples()]
    body = {"source": {"example": EXAMPLE}, "axis": COUNT, "values": [1, 5, 20]}
    status, text = web.ask("api/curve", body)
    lines = sorted((json.loads(line) for line in text.splitlines()), key=lambda one: one["index"])

    assert (status, [line["index"] for line in lines]) == (200, [0, 1, 2])
    for value, line in zip(body["values"], lines, strict=True):
        assert line["answer"] == asked("point", {}, axis=COUNT, values=[value])
    assert [web.ask(f"static/{name}.js")[0] for name in ("main", "nothing")] == [200, 404]


def test_all_groups_grow_in_proportion_as_in_a_plan() -> None:
    axis = axis_of(scenario({}, "office-uploads"), "stations")
    expected = axis.at(axis.nearest(40))

    told = asked("scenario", {"example": "office-uploads", "stations": 40})

    assert told["hash"] == expected.hash()
    assert f"--set stations.desk.count={expected.group('desk').count}" in told["commands"]["shell"]
    # An axis keeps the mix: 10, 5, 5 and 10 stations are 2 to 1 to 1 to 2, six at a time.
    axes = asked("scenario", {"example": "office-wifi5"})["axes"]
    everyone = next(axis for axis in axes if axis["path"] == "stations")
    totals = [option["value"] for option in everyone["options"]]
    assert 30 in totals
    assert all(total % 6 == 0 for total in totals)
    assert totals[0] == 6


def test_points_of_a_curve_come_one_by_one_and_are_those_of_single_runs() -> None:
    told = ran("points", QUICK, axis=COUNT, values=[2, 4])

    points = [message["point"] for message in told if "point" in message]
    assert [point["value"] for point in points] == [2, 4]
    for point in points:
        expected = airtcp.simulate(scenario(QUICK | {COUNT: point["value"]}))
        assert point["metrics"]["goodput_bps"]["mean"] == expected.metrics["goodput_bps"].mean


def test_remedies_are_compared_in_pairs() -> None:
    remedies = asked("remedies", {})["remedies"]
    assert "no-rts" in {one["name"] for one in remedies if one["fits"]}
    assert all(one["reason"] for one in remedies if not one["fits"])

    result = ran("remedies", QUICK, names=["no-rts"])[-1]["result"]

    before = scenario(QUICK)
    expected = airtcp.diff(before, before.vary({"mac.rts_threshold": None}))
    assert result["felt"]
    for one in result["felt"]:
        change = expected.groups[one["group"]][one["part"]][one["metric"]]
        means = [one[end]["mean"] for end in ("difference", "a", "b")]
        assert means == [change.difference.mean, change.a.mean, change.b.mean]
    assert result["set"] == {"mac.rts_threshold": "none"}


def test_the_command_on_the_page_gives_the_scenario_of_the_page(tmp_path: Path) -> None:
    changes = {COUNT: 3, "flows.station.tcp.receive_window": {"segments": 4}}
    told = asked("scenario", {"changes": changes})
    commands = told["commands"]
    python = commands["python"].partition("print")[0] + "print(scenario.hash())"

    predict = commands["shell"].replace("airtcp run", "airtcp predict").replace("\\\n", " ")
    said = [
        subprocess.run(
            [sys.executable, *words], cwd=tmp_path, capture_output=True, text=True, check=True
        ).stdout
        for words in (
            ["-m", *shlex.split(commands["example"])],
            ["-m", *shlex.split(predict), "--json"],
            ["-c", python],
        )
    ]
    assert json.loads(said[1])["provenance"]["scenario_hash"] == told["hash"]
    assert said[2].strip() == airtcp.load(told["toml"]).hash() == told["hash"]


def test_shares_of_the_airtime_are_written_as_on_a_terminal() -> None:
    """Large shares are rounded, too: 99.96 % is 100 %."""
    shares = [0.9996, 0.3, 0.0336, 0.00443, 0.00004]
    told = [parts.airtime([("all", {"idle": one})])[-1][-1][-1] for one in shares]
    assert told == [f"idle and backoff {percent(one)}" for one in shares]
