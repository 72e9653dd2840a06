"""Views of results: sentences, rows and curves as the page asks for them."""

import json
import subprocess
import sys
from pathlib import Path

import airtcp
from airtcp.amounts import percent, quantity, quantity_with_interval
from airtcp.examples import directory, examples
from airtcp.metrics import METRICS
from airtcp.present.summary import first_lines
from airtcp.scenario import Scenario
from airtcp.web import parts
from serving import QUICK, Web

EXAMPLE = "persistent-downloads"


def scenario(**changes: object) -> Scenario:
    return airtcp.load(str(directory() / f"{EXAMPLE}.toml")).vary(changes)


def source(**more: object) -> dict[str, object]:
    return {"example": EXAMPLE} | more


def test_each_example_has_controls_whose_values_are_those_of_the_file(web: Web) -> None:
    _, start = web.ask("api/start")
    assert [one["name"] for one in start["examples"]] == [one.name for one in examples()]

    for one in start["examples"]:
        status, told = web.ask("api/scenario", {"source": {"example": one["name"]}})

        assert status == 200, told
        assert told["toml"] == (directory() / f"{one['name']}.toml").read_text()
        for field in told["fields"]:
            values = [option["value"] for option in field["options"]]
            assert field["value"] in values, field["path"]


def test_the_models_say_on_the_page_what_they_say_in_python(web: Web) -> None:
    changes = {"stations.station.count": 7, "flows.station.tcp.mss": "1200 B"}
    _, told = web.ask("api/predict", {"source": source(changes=changes)})
    expected = airtcp.predict(scenario(**changes))

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


def test_a_curve_has_at_each_value_what_models_say_there(web: Web) -> None:
    values = [1, 5, 20]
    body = {"source": source(), "axis": "stations.station.count", "values": values}
    status, text = web.ask("api/curve", body)
    assert status == 200

    lines = sorted((json.loads(line) for line in text.splitlines()), key=lambda one: one["index"])

    assert [line["index"] for line in lines] == [0, 1, 2]
    for value, line in zip(values, lines, strict=True):
        expected = airtcp.predict(scenario(**{"stations.station.count": value}))
        for name, one in line["answer"]["values"].items():
            assert one["value"] == expected.best(name).value
    assert web.ask("static/main.js")[0] == 200
    assert web.ask("static/nothing.js")[0] == 404


def test_all_groups_grow_in_proportion_as_in_a_plan(web: Web) -> None:
    from airtcp.plan.axis import axis_of

    office = airtcp.load(str(directory() / "office-uploads.toml"))
    axis = axis_of(office, "stations")
    expected = axis.at(axis.nearest(40))

    _, told = web.ask("api/scenario", {"source": {"example": "office-uploads", "stations": 40}})

    assert told["hash"] == expected.hash()
    assert f"--set stations.desk.count={expected.group('desk').count}" in told["commands"]["shell"]
    # An axis keeps the mix whole: of 10, 5, 5 and 10 stations, 2 to 1 to 1 to 2, six at a time.
    _, told = web.ask("api/scenario", {"source": {"example": "office-wifi5"}})
    everyone = next(axis for axis in told["axes"] if axis["path"] == "stations")
    totals = [option["value"] for option in everyone["options"]]
    assert 30 in totals
    assert all(total % 6 == 0 for total in totals)
    assert totals[0] == 6


def test_a_simulation_says_what_the_python_says(web: Web) -> None:
    told = web.run({"kind": "run", "source": source(changes=QUICK)})
    expected = airtcp.compare(scenario(**QUICK))

    assert told["state"] == "done"
    sofar, message = told["messages"]
    result = message["result"]
    # The first answer has all but these.
    assert sofar["sofar"] | {name: result[name] for name in ("verdict", "advice")} == result
    assert result["words"] == first_lines(expected)
    assert result["airtime"] == expected.simulation.airtime
    for name, one in result["metrics"].items():
        interval = expected.simulation.metrics[name]
        assert (one["mean"], one["low"], one["high"]) == (
            interval.mean,
            interval.low,
            interval.high,
        )
        assert one["text"] == quantity_with_interval(interval, METRICS[name].unit)


def test_points_of_a_curve_come_one_by_one_and_are_those_of_single_runs(web: Web) -> None:
    told = web.run(
        {
            "kind": "points",
            "source": source(changes=QUICK),
            "axis": "stations.station.count",
            "values": [2, 4],
        }
    )

    points = [message["point"] for message in told["messages"] if "point" in message]
    assert [point["value"] for point in points] == [2, 4]
    expected = airtcp.simulate(scenario(**QUICK, **{"stations.station.count": 4}))
    assert points[1]["metrics"]["goodput_bps"]["mean"] == expected.metrics["goodput_bps"].mean


def test_remedies_are_compared_in_pairs(web: Web) -> None:
    _, told = web.ask("api/remedies", {"source": source()})
    fitting = {one["name"] for one in told["remedies"] if one["fits"]}
    assert "no-rts" in fitting
    assert all(one["reason"] for one in told["remedies"] if not one["fits"])

    run = web.run({"kind": "remedies", "source": source(changes=QUICK), "names": ["no-rts"]})

    before = scenario(**QUICK)
    expected = airtcp.diff(before, before.vary({"mac.rts_threshold": None}))
    result = run["messages"][-1]["result"]
    assert result["felt"]
    for one in result["felt"]:
        change = expected.groups[one["group"]][one["part"]][one["metric"]]
        assert one["difference"]["mean"] == change.difference.mean
        assert one["a"]["mean"] == change.a.mean
        assert one["b"]["mean"] == change.b.mean
    assert result["set"] == {"mac.rts_threshold": "none"}


def test_the_command_on_the_page_gives_the_scenario_of_the_page(web: Web, tmp_path: Path) -> None:
    changes = {"stations.station.count": 3, "flows.station.tcp.receive_window": {"segments": 4}}
    _, told = web.ask("api/scenario", {"source": source(changes=changes)})
    commands = told["commands"]
    run = [sys.executable, "-m"]

    for line in [commands["example"], commands["shell"].replace("airtcp run", "airtcp predict")]:
        made = f"{' '.join(run)} {line} {'' if 'example' in line else '--json'}"
        done = subprocess.run(made, shell=True, cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["provenance"]["scenario_hash"] == told["hash"]

    python = commands["python"].partition("print")[0] + "print(scenario.hash())"
    shown = subprocess.run(
        [sys.executable, "-c", python], cwd=tmp_path, capture_output=True, text=True
    )
    assert shown.stdout.strip() == told["hash"], shown.stderr
    assert airtcp.load(told["toml"]).hash() == told["hash"]


def test_shares_of_the_airtime_are_written_as_on_a_terminal() -> None:
    """All of the time is no hundredth of it: 99.96 % are 100.0 %."""
    shares = [0.9996, 0.3, 0.0336, 0.00443, 0.00004]
    told = [parts.airtime([("all", {"idle": one})])[-1][-1][-1] for one in shares]
    assert told == [f"idle and backoff {percent(one)}" for one in shares]
