"""Results: replications put together, and the JSON that they become."""

import json
import math
from typing import Any

import numpy as np
import pytest
from airtcp.results import Provenance, Replication, Simulation, SimulationResult, canonical_json
from airtcp.scenario import ResolvedScenario, loads
from airtcp.stats import Interval
from bases import cell


def answer(**changes: Any) -> dict[str, Any]:
    """The core's answer for one replication with two flows."""
    flow: dict[str, Any] = {"name": "laptop/0", "station": "laptop/0", "direction": "download"}
    flow |= {"goodput_bps": 100.0, "transfers": 1, "mean_transfer_time_s": 2.0}
    flow |= {"retransmissions": 3, "timeouts": 0, "starved": False}
    station = {"name": "ap", "goodput_bps": 300.0, "attempts": 10, "successes": 9, "collisions": 1}
    station |= {"hidden": 0, "mac_drops": 0, "queue_drops": 2, "mean_cw": 31.0}
    metrics = {"goodput_bps": 300.0, "transfer_time_s": 2.0}
    airtime = {"data": 0.25, "tcp_ack": 0.125, "control": 0.125}
    group = {"name": "laptop", "all": metrics, "download": metrics, "upload": None}
    base: dict[str, Any] = {
        "metrics": metrics,
        "airtime": {"idle": 0.5, **airtime, "collision": 0.0},
        "counts": {"mac_exchanges": 9, "transfers": 1},
        "flows": [flow, flow | {"name": "laptop/1", "goodput_bps": 200.0}],
        "stations": [station],
        "groups": [group | {"airtime": airtime}],
        "categories": [],
        "active_flows_distribution": [0.25, 0.75],
        "goodput_series_bps": [300.0] * 100,
    }
    return base | changes


def gathered(*answers: dict[str, Any]) -> Simulation:
    runs = [Replication(index, one, np.array([])) for index, one in enumerate(answers)]
    times: Any = {"simulated_s": 1.0, "wall_s": 0.5, "cpu_s": 0.5}
    return Simulation.gather(runs, confidence=0.95, stopped="replications", **times)


def test_metrics_become_intervals() -> None:
    simulation = gathered(
        answer(metrics={"goodput_bps": 300.0, "transfer_time_s": None}),
        answer(metrics={"goodput_bps": 320.0, "transfer_time_s": 2.5}),
    )

    goodput = simulation.metrics["goodput_bps"]
    assert (goodput.mean, goodput.n) == (310.0, 2)
    # One of two replications gives no interval.
    assert simulation.metrics["transfer_time_s"] == Interval(None, None, None, 1)


def test_counts_add_up_and_airtime_is_averaged() -> None:
    other = {"idle": 0.7, "data": 0.05, "tcp_ack": 0.125, "control": 0.125, "collision": 0.0}

    simulation = gathered(answer(), answer(airtime=other))

    assert simulation.counts == {"mac_exchanges": 18, "transfers": 2}
    assert simulation.airtime["idle"] == pytest.approx(0.6)
    assert math.fsum(simulation.airtime.values()) == pytest.approx(1.0)


def test_flows_are_averaged_and_transfers_weigh_alike() -> None:
    # 1 transfer of 2 s in one replication and 3 of 6 s in the other: (2 + 18) / 4 s.
    first, second = answer(), answer()
    one, other = second["flows"]
    one |= {"goodput_bps": 300.0, "transfers": 3, "mean_transfer_time_s": 6.0}
    other |= {"transfers": 0, "mean_transfer_time_s": None}

    found = [
        (flow.goodput_bps, flow.transfers, flow.mean_transfer_time_s)
        for flow in gathered(first, second).flows
    ]
    assert found == [(200.0, 2.0, 5.0), (200.0, 0.5, 2.0)]


@pytest.mark.parametrize(
    ("starved", "verdict"),
    [([True, False, False], False), ([True, False], True), ([False], False), ([True], True)],
)
def test_a_flow_is_starved_if_it_mostly_is(starved: list[bool], verdict: bool) -> None:
    answers = [answer(flows=[answer()["flows"][0] | {"starved": one}]) for one in starved]

    assert gathered(*answers).flows[0].starved is verdict


def test_distributions_of_different_length_count_as_zero_where_they_end() -> None:
    laws = ([0.5, 0.5], [0.25, 0.25, 0.5])
    simulation = gathered(*(answer(active_flows_distribution=one) for one in laws))

    assert simulation.active_flows_distribution == [0.375, 0.375, 0.25]


def test_json_has_the_scenario_and_where_it_comes_from() -> None:
    scenario = loads(cell(2))
    provenance = Provenance.of(scenario, seed=1, generator="g")
    result = json.loads(SimulationResult(scenario, provenance, gathered(answer())).to_json())
    assert ResolvedScenario.from_dict(result["scenario"]) == scenario
    assert result["provenance"]["scenario_hash"] == scenario.hash()


def test_canonical_json_sorts_keys_and_writes_floats_in_their_shortest_form() -> None:
    text = canonical_json({"b": 0.1 + 0.2, "a": [1e22, None]})

    assert text == '{\n  "a": [\n    1e+22,\n    null\n  ],\n  "b": 0.30000000000000004\n}'


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_canonical_json_refuses_what_json_does_not_have(value: float) -> None:
    with pytest.raises(ValueError, match="JSON"):
        canonical_json({"a": value})
