"""Advice: each problem is found where it was planted, and what is printed was tried."""

import json
import shlex
from typing import Any

import airtcp
import pytest
from airtcp.advice.effects import newly_unhappy
from airtcp.advice.problems import PROBLEMS, findings
from airtcp.advice.thresholds import THRESHOLDS
from airtcp.advice.trials import starves
from airtcp.cli.commands import app
from airtcp.present import advice as words
from airtcp.remedies import Changed, catalogue, changed, named
from airtcp.remedies.apart import apart, spread
from airtcp.results.advice import Advice, Effect, Goal, Trial
from typer.testing import CliRunner, Result


def run_cli(*arguments: str) -> Result:
    return CliRunner().invoke(app, list(arguments), prog_name="airtcp")


RUN = {"warmup": "2 s", "duration": "5 s", "replications": 5, "seed": 1}
LINUX = {"preset": "linux"}
CALL = {"kind": "udp", "packet": "200 B", "rate": "100 kb/s"}


def network(**changes: Any) -> dict[str, Any]:
    """A call beside two downloads on Wi-Fi 5, with calls first and queues that are managed."""
    base: dict[str, Any] = {
        "phy": {"standard": "802.11ac", "mcs": 5},
        "mac": {"classify": {"udp": "AC_VO"}},
        "ap": {"queue": {"discipline": "fq-codel"}, "scheduler": "airtime"},
        "links": {"line": {"rate": "500 Mb/s", "delay": "8 ms"}},
        "stations": [{"name": "desk", "count": 2}, {"name": "phone", "count": 1}],
        "flows": [
            flow("desk", "download", {"kind": "bulk"}, tcp=LINUX),
            flow("phone", "both", CALL),
        ],
        "run": RUN,
    }
    return base | changes


def flow(stations: str, direction: str, application: Any, **keys: Any) -> dict[str, Any]:
    return {
        "stations": stations,
        "direction": direction,
        "application": application,
        "path": ["line"],
    } | keys


def bulk(stations: str, direction: str, **tcp: Any) -> dict[str, Any]:
    return flow(stations, direction, {"kind": "bulk"}, name=f"{stations}-{direction}", tcp=tcp)


LONG_FIFO = {"queue": {"discipline": "fifo", "limit": 4000}}
PLANTED = {
    "ap-queue": network(ap=LONG_FIFO, mac={}),
    "priority": network(mac={"classify": {"udp": "AC_BK", "tcp_data": "AC_VI"}}),
    "aggregation": network(mac={"aggregation": {"ampdu": "0 B"}}),
    "lossy-wire": network(links={"line": {"delay": "20 ms", "loss": "3 %"}}),
    "wire": network(links={"line": {"rate": "6 Mb/s", "delay": "8 ms"}}),
    "short-queue": network(ap={"queue": {"limit": 3}}),
    "window": network(
        links={"line": {"delay": "40 ms"}},
        flows=[bulk("desk", "download", preset="linux", receive_window={"segments": 6})],
    ),
    "slow-station": network(
        ap={"scheduler": "oldest", "queue": {"discipline": "fq-codel"}},
        stations=[{"name": "desk", "count": 2}, {"name": "far", "count": 1, "mcs": 0}],
        flows=[bulk("desk", "download", preset="linux"), bulk("far", "download", preset="linux")],
    ),
    "client-queue": network(
        mac={},
        stations=[
            {"name": "phone", "count": 1, "queue": {"discipline": "fifo", "limit": 4000}},
        ],
        flows=[
            flow("phone", "both", CALL),
            bulk("phone", "upload", preset="linux", small_queue=False),
        ],
    ),
    "calls": network(
        phy={"standard": "802.11n", "mcs": 2},
        stations=[{"name": "phone", "count": 40}],
        flows=[flow("phone", "both", {"kind": "udp", "packet": "500 B", "rate": "500 kb/s"})],
    ),
    "acks": network(
        phy={"standard": "802.11g"},
        mac={},
        flows=[bulk("desk", "download", preset="linux", delayed_ack={"every": 1})],
    ),
    "latency": network(
        phy={"standard": "802.11g"},
        ap={"queue": {"discipline": "fifo", "limit": 1000}},
        mac={},
        flows=[bulk("desk", "download", preset="linux")],
    ),
    "starving": network(
        phy={"standard": "802.11b"},
        mac={},
        ap={"queue": {"limit": 10}},
        stations=[{"name": "desk", "count": 10}],
        flows=[bulk("desk", "upload")],
    ),
}


CELLS = network(
    phy={"standard": "802.11a"},
    mac={},
    cells={"left": {}, "middle": {}, "right": {}},
    air={"heard": [["left", "middle"], ["middle", "right"]]},
    stations=[
        {"name": name, "cell": cell, "count": 1}
        for name, cell in (("reader", "left"), ("guest", "middle"), ("clerk", "right"))
    ],
    flows=[bulk(name, "download") for name in ("reader", "guest", "clerk")],
)
PLANTED["neighbours"] = CELLS
#: A call beside uploads at another access point on its channel, and one on a channel of its own.
BUSY = network(
    cells={"quiet": {"channel": 36}, "busy": {"channel": 36}, "far": {"channel": 149}},
    air={"heard": [["quiet", "busy"]]},
    stations=[
        {"name": "phone", "cell": "quiet", "count": 1},
        {"name": "desk", "cell": "busy", "count": 8},
        {"name": "guest", "cell": "far", "count": 1},
    ],
    flows=[flow("phone", "both", CALL), bulk("desk", "upload"), flow("guest", "both", CALL)],
    targets={"phone p95 packet_delay": "< 3 ms"},
)
PLANTED["busy-neighbours"] = BUSY
PLANTED["hidden"] = network(
    phy={"standard": "802.11a"},
    mac={},
    stations=[
        {"name": "one", "count": 1, "hears": []},
        {"name": "other", "count": 1, "hears": []},
    ],
    flows=[bulk(name, "upload") for name in ("one", "other")],
    links={"line": {"delay": "1 ms"}},
    run=RUN | {"duration": "20 s"},
)


def problems_of(scenario: dict[str, Any]) -> list[str]:
    return [one.problem for one in findings(airtcp.simulate(airtcp.load(scenario)))]


@pytest.mark.parametrize("cause", PLANTED)
def test_the_first_problem_is_the_planted_one(cause: str) -> None:
    assert problems_of(PLANTED[cause])[:1] == [cause]


def test_the_air_of_a_cell_is_not_full_because_that_of_others_is() -> None:
    """In the cell that hears nobody a target is missed, and its air is nearly idle."""
    targets = {"phone p95 packet_delay": "< 1 s", "guest p95 packet_delay": "< 0.01 ms"}
    result = airtcp.simulate(airtcp.load(BUSY | {"targets": targets}))

    full = result.simulation.metrics["mean_backlogged_nodes"].mean
    assert full is not None
    assert full > THRESHOLDS["full air"].value
    assert not {"full", "busy-neighbours"} & {one.problem for one in findings(result)}


def test_cells_of_which_one_fills_the_air_of_another_are_told_apart_by_their_channels() -> None:
    advice = airtcp.advise(airtcp.simulate(airtcp.load(BUSY)))
    (found,) = (one for one in advice.problems if one.finding.problem == "busy-neighbours")

    assert found.finding.groups == ("phone",)
    assert "cell quiet hears frames of others for" in found.finding.evidence
    best = advice.best
    assert best is not None
    assert (best.name, best.outcome) == ("channels-apart", "helps")
    assert best.set == {"cells.busy.channel": 52}


def test_a_healthy_network_has_no_problem() -> None:
    assert problems_of(network()) == []


def test_a_written_target_stands_in_place_of_the_usual_threshold() -> None:
    """A target decides whether something is wrong: no "Fails" beside "nothing is wrong"."""
    slow = PLANTED["ap-queue"]
    measured = airtcp.simulate(airtcp.load(slow)).simulation.groups["phone"]["download"]
    delay = measured["packet_delay_p95_s"].mean
    assert delay is not None

    def found(factor: float) -> list[str]:
        target = {"phone/download p95 packet_delay": f"< {1e3 * factor * delay:.3f} ms"}
        return problems_of(slow | {"targets": target})

    assert THRESHOLDS["call delay"].value < delay
    assert "ap-queue" in found(0.5)
    assert "ap-queue" not in found(2.0)


def test_a_change_that_breaks_a_target_costs_others() -> None:
    targets = {"desk flow_goodput": "> 40 Mb/s", "phone p95 packet_delay": "< 50 ms"}
    before = airtcp.load(network(targets=targets))
    slower = before.vary({"phy.mcs": 0})

    held, broken = airtcp.simulate(before), airtcp.simulate(slower)

    assert newly_unhappy(held, broken) == ["goodput per flow of desk"]
    assert newly_unhappy(broken, held) == []
    assert newly_unhappy(held, held) == []


def test_a_remedy_for_calls_is_asked_of_flows_that_have_a_profile() -> None:
    laptop = {"profile": "office-laptop", "count": 2, "traffic": ["web", "call"]}
    scenario = airtcp.load({"phy": {"standard": "802.11ax"}, "stations": [laptop]})
    remedy = next(one for one in catalogue() if one.name == "no-video")

    assert isinstance(changed(named(scenario), remedy), Changed)


def test_every_remedy_of_a_problem_is_in_the_catalogue() -> None:
    names = {one.name for one in catalogue()}

    assert {name for one in PROBLEMS.values() for name in one.remedies} <= names


def test_every_threshold_has_a_reason() -> None:
    for name, one in THRESHOLDS.items():
        assert one.reason, name
        assert one.value > 0.0, name


@pytest.fixture(scope="module")
def advised() -> dict[str, tuple[dict[str, Any], Advice]]:
    found = {}
    for cause in ("ap-queue", "slow-station", "window"):
        scenario = PLANTED[cause]
        found[cause] = scenario, airtcp.advise(airtcp.simulate(airtcp.load(scenario)))
    return found


@pytest.mark.parametrize(
    ("cause", "remedy"),
    [("ap-queue", "calls-first"), ("slow-station", "airtime"), ("window", "large-window")],
)
def test_the_remedy_to_take_was_tried_and_helps(
    advised: dict[str, tuple[dict[str, Any], Advice]], cause: str, remedy: str
) -> None:
    best = advised[cause][1].best

    assert best is not None
    assert (best.name, best.outcome) == (remedy, "helps")
    assert best.difference.n >= 1


def test_a_remedy_changes_its_metric_at_another_seed_by_the_sign_that_was_printed(
    advised: dict[str, tuple[dict[str, Any], Advice]],
) -> None:
    for scenario, advice in advised.values():
        goal = advice.problems[0].finding.goal
        trial = _best(advice)
        base = airtcp.load(scenario)
        before, after = (
            airtcp.simulate(one, seed=77).simulation.groups[goal.group][goal.part][goal.metric].mean
            for one in (base, base.vary(trial.set))
        )
        assert before is not None
        assert after is not None
        assert trial.difference.mean is not None
        assert (after - before) * trial.difference.mean > 0.0


def test_who_loses_by_a_remedy_is_told(
    advised: dict[str, tuple[dict[str, Any], Advice]],
) -> None:
    trial = _best(advised["slow-station"][1])

    assert [one.group for one in trial.loses] == ["far"]
    assert any(line.startswith("Worse: ") and "of far" in line for line in words.others(trial))


def test_trials_cost_no_more_replications_than_the_run(
    advised: dict[str, tuple[dict[str, Any], Advice]],
) -> None:
    for _, advice in advised.values():
        trials = [trial for one in advice.problems for trial in one.remedies]
        assert len(trials) <= 3
        assert all(trial.after.n <= RUN["replications"] for trial in trials)


def test_trials_cost_as_much_as_the_run_or_as_little_as_a_floor(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A window of few segments throttles the run; without it a single run costs more than that."""
    result = airtcp.simulate(airtcp.load(PLANTED["window"]), replications=1)
    tried = airtcp.advise(result).problems[0]
    assert [one.name for one in tried.remedies] == ["large-window"]

    monkeypatch.setattr("airtcp.advice.trials.FLOOR", 0.0)
    refused = airtcp.advise(result).problems[0]

    assert not refused.remedies
    assert refused.unfit is not None
    assert "would cost more than the run did" in refused.unfit["large-window"]
    assert airtcp.advise(result, most=None).problems[0].remedies


def test_advice_is_told_in_a_line_where_python_shows_it() -> None:
    advice = airtcp.advise(airtcp.simulate(airtcp.load(PLANTED["window"]), replications=2))

    assert advice.best is not None
    assert repr(advice).startswith(f"<Advice: {advice.problems[0].finding.title} (desk)")
    assert repr(advice).endswith(f"; try {advice.best.title}>")
    assert repr(Advice(())) == "<Advice: nothing stands out as wrong>"


def test_equal_shares_of_next_to_nothing_are_no_help() -> None:
    goal = Goal("jain_index", "sender", "upload")
    nothing = Effect("flow_goodput_bps", "sender", "upload", 423e3, 6e3)
    less = Effect("flow_goodput_bps", "sender", "upload", 423e3, 300e3)
    others = Effect("flow_goodput_bps", "nas", "upload", 751e3, 1e3)

    assert starves(goal, [others, nothing])
    assert not starves(goal, [others, less])
    assert not starves(Goal("path_rtt_s", "sender", "upload"), [nothing])


@pytest.mark.parametrize(
    ("cause", "remedy", "settings"),
    [
        (
            "neighbours",
            "channels-apart",
            {
                "cells.left.channel": 36,
                "cells.middle.channel": 40,
                "cells.right.channel": 36,
            },
        ),
        ("hidden", "rts-all", {"mac.rts_threshold": "0 B"}),
    ],
)
def test_cells_and_hidden_stations_are_helped_by_what_was_tried(
    cause: str, remedy: str, settings: dict[str, Any]
) -> None:
    advice = airtcp.advise(airtcp.simulate(airtcp.load(PLANTED[cause])))
    (trial,) = (one for one in advice.problems[0].remedies if one.name == remedy)

    assert trial.outcome == "helps"
    assert trial.set == settings
    # The one that had next to nothing has a multiple of it, or each has as much as the other.
    assert trial.before.mean is not None
    assert trial.after.mean is not None
    assert trial.after.mean > (0.9 if cause == "hidden" else 5.0 * trial.before.mean)


def test_each_cell_keeps_the_channel_that_disturbs_nobody() -> None:
    assert apart(airtcp.load(CELLS)) == (36, 40, 36)
    moved = {f"cells.{name}.channel": 40 for name in ("left", "middle", "right")}
    assert apart(airtcp.load(CELLS).vary(moved)) == (40, 36, 40)


def test_the_three_channels_of_2_4_ghz_are_not_enough_for_four_cells_that_hear_each_other() -> None:
    names = ["a", "b", "c", "d"]
    crowded = CELLS | {
        "phy": {"standard": "802.11g"},
        "cells": {name: {} for name in names},
        "air": {"heard": [[one, two] for one in names for two in names if one < two]},
        "stations": [{"name": f"of-{name}", "cell": name, "count": 1} for name in names],
        "flows": [bulk(f"of-{name}", "download") for name in names],
    }
    assert apart(airtcp.load(crowded)) is None
    known = {one.name: one for one in catalogue()}
    base = named(airtcp.load(crowded))
    assert isinstance(changed(base, known["channels-apart"]), str)

    fewer = changed(base, known["channels-spread"])
    assert not isinstance(fewer, str)
    assert {cell.channel for cell in fewer.scenario.cells or ()} == {1, 6, 11}
    assert isinstance(changed(fewer.scenario, known["channels-spread"]), str)


def test_a_cell_that_uploads_without_end_has_the_channel_that_nobody_shares() -> None:
    names = ["a", "b", "c", "d"]
    crowded = CELLS | {
        "phy": {"standard": "802.11n", "band": "2.4 GHz"},
        "cells": {name: {"channel": 6} for name in names},
        "air": {"heard": [[one, two] for one in names for two in names if one < two]},
        "stations": [{"name": f"of-{name}", "cell": name, "count": 1} for name in names],
        "flows": [
            bulk("of-c", "upload"),
            *({"stations": f"of-{name}", "profile": "web"} for name in "abd"),
        ],
    }
    found = spread(airtcp.load(crowded))
    assert found is not None
    assert found.count(found[2]) == 1
    assert 6 in found


def test_the_same_trials_on_any_number_of_threads() -> None:
    result = airtcp.simulate(airtcp.load(PLANTED["window"]))

    one, two = (airtcp.advise(result, threads=threads).to_dict() for threads in (1, 2))

    assert one == two


def test_nothing_is_tried_if_nobody_asks() -> None:
    result = airtcp.simulate(airtcp.load(PLANTED["window"]))

    advice = airtcp.advise(result, most=0)

    assert [one.finding.problem for one in advice.problems] == ["window"]
    assert not any(one.remedies for one in advice.problems)


def test_printed_settings_load_when_pasted(tmp_path: Any) -> None:
    """Two flows of one group without names go by their numbers."""
    scenario = network(
        flows=[
            flow("desk", "download", {"kind": "bulk"}, tcp={"receive_window": {"segments": 4}}),
            flow("desk", "download", {"kind": "bulk"}, tcp={"receive_window": {"segments": 4}}),
        ],
        links={"line": {"delay": "30 ms"}},
    )
    base = airtcp.load(scenario | {"title": "Two flows of a group"})
    trial = _best(airtcp.advise(airtcp.simulate(base)))
    options = shlex.split(words.settings(trial.set))
    file = tmp_path / "s.toml"
    from airtcp.scenario.toml_text import dumps

    file.write_text(dumps(base.written), encoding="utf-8")

    done = run_cli("simulate", str(file), *options, "--replications", "1", "--json")

    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["scenario"] == json.loads(
        base.vary(trial.set).with_run(replications=1).to_json()
    )


def test_run_prints_what_was_tried(tmp_path: Any) -> None:
    from airtcp.scenario.toml_text import dumps

    file = tmp_path / "s.toml"
    file.write_text(dumps(PLANTED["window"]), encoding="utf-8")

    tried, none = (run_cli("run", str(file), *more) for more in ((), ("--no-advice",)))
    as_json = json.loads(run_cli("run", str(file), "--json").stdout)

    assert "Try it: a receive window of 4 MiB" in tried.stdout
    assert "Try it" not in none.stdout
    first = as_json["advice"][0]
    assert (first["problem"], first["remedies"][0]["name"]) == ("window", "large-window")


def test_an_unknown_way_of_advice_is_refused_with_those_that_there_are() -> None:
    done = run_cli("run", "x.toml", "--advice", "some")

    assert done.exit_code == 2
    assert "allowed: tried, all, none" in " ".join(done.output.split())


def _best(advice: Advice) -> Trial:
    assert advice.best is not None
    return advice.best
