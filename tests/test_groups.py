"""Metrics by station group, direction and access category, compared with their declaration."""

import math
from typing import Any

import pytest
from airtcp import simulate
from airtcp.metrics import METRICS, Scope, metrics_of
from airtcp.results import Simulation, SimulationResult
from airtcp.scenario import loads
from airtcp.stats import Interval
from bases import SATURATED, cell

PARTS = ("data", "tcp_ack", "control")

SCENARIO = """
phy = { standard = "802.11b" }
mac = { edca = {}, classify = { tcp_ack = "AC_VO" } }
stations = [{ name = "near", count = 2 }, { name = "far", count = 3, data_rate = "2 Mb/s" }]
run = { warmup = "1 s", duration = "10 s", replications = 3 }
[[flows]]
stations = "near"
direction = "download"
application = { kind = "web", size = "30 kB", think_time = "0.5 s" }
[[flows]]
name = "photos"
stations = "far"
direction = "upload"
application = { kind = "bulk" }
[[flows]]
name = "films"
stations = "far"
direction = "download"
application = { kind = "udp", packet = "500 B", rate = "20 kb/s" }
"""


@pytest.fixture(scope="module")
def simulation() -> Simulation:
    return simulate(loads(SCENARIO)).simulation


def mean(simulation: Simulation, group: str, part: str, name: str) -> float:
    value = simulation.groups[group][part][name].mean
    assert value is not None
    return value


def test_the_core_measures_what_is_declared_in_every_scope(simulation: Simulation) -> None:
    def declared(*scopes: Scope) -> set[str]:
        return {name for scope in scopes for name in metrics_of(scope)}

    assert set(simulation.metrics) == declared("all")
    # A group has the directions of its flows.
    assert list(simulation.groups["near"]) == ["all", "download", "airtime"]
    assert list(simulation.groups["far"]) == ["all", "download", "upload", "airtime"]
    for group in simulation.groups.values():
        assert set(group["all"]) == declared("group")
        for direction in {"download", "upload"} & set(group):
            assert set(group[direction]) == declared("direction")
    assert list(simulation.categories) == ["AC_VO", "AC_BE"]
    assert all(set(one) == declared("category") for one in simulation.categories.values())
    measured = {name for name, metric in METRICS.items() if metric.scopes}
    assert declared("all", "group", "direction", "category", "cell") == measured


def test_a_group_is_its_flows(simulation: Simulation) -> None:
    films = [flow for flow in simulation.flows if flow.name.startswith("films/")]
    near = [flow for flow in simulation.flows if flow.station.startswith("near/")]
    goodput = mean(simulation, "far", "download", "goodput_bps")
    assert goodput == pytest.approx(math.fsum(flow.goodput_bps for flow in films))
    # 20 kb/s of packets of 500 bytes, of which 28 are headers, to each of three stations: 50
    # packets each, and perhaps one more or less.
    assert goodput == pytest.approx(3 * 20e3 * 472 / 500, rel=0.02)
    assert mean(simulation, "far", "download", "flow_goodput_bps") == pytest.approx(goodput / 3)
    # Only web transfers end: bulk is endless, and datagrams are not transfers.
    assert (
        simulation.groups["near"]["download"]["transfer_time_s"]
        == simulation.metrics["transfer_time_s"]
    )
    assert simulation.groups["far"]["all"]["transfer_time_s"].n == 0
    retransmissions = math.fsum(flow.retransmissions for flow in near)
    assert mean(simulation, "near", "all", "tcp_retransmissions") == pytest.approx(retransmissions)


def test_airtime_of_groups_adds_up_to_that_of_the_cell(simulation: Simulation) -> None:
    shares = {
        (name, part): mean(simulation, name, "airtime", part)
        for name in simulation.groups
        for part in PARTS
    }
    for part in PARTS:
        # Without beacons all control frames belong to exchanges.
        total = math.fsum(shares[name, part] for name in simulation.groups)
        assert total == pytest.approx(simulation.airtime[part])
    for name in simulation.groups:
        whole = math.fsum(shares[name, part] for part in PARTS)
        assert mean(simulation, name, "all", "airtime_share") == pytest.approx(whole)


def alone(name: str, application: str, **group: str) -> SimulationResult:
    """Simulate one station without backoff, which sends with a fixed period."""
    run: dict[str, Any] = {"warmup": "1 s", "duration": "10 s", "replications": 1}
    keys: dict[str, Any] = {"name": name, "direction": "upload", "application": application} | group
    return simulate(loads(cell(phy="cw_min = 0\ncw_max = 0", **keys, **run)))


def test_a_lone_station_takes_the_airtime_of_its_exchanges() -> None:
    """Saturated UDP without backoff: the period is DIFS plus one exchange."""
    found = alone("sender", SATURATED).simulation.groups["sender"]
    # 192 us of preamble and header each; 12288 bits at 11 Mb/s, 112 at 2: whole microseconds.
    data, ack, sifs, difs = 192 + 1118, 192 + 56, 10, 50
    period = data + sifs + ack + difs
    assert found["airtime"]["data"].mean == pytest.approx(data / period, rel=1e-3)
    assert found["airtime"]["control"].mean == pytest.approx(ack / period, rel=1e-3)
    assert found["airtime"]["tcp_ack"].mean == 0.0
    utilization = found["upload"]["channel_utilization"].mean
    assert utilization == pytest.approx(1472 * 8 / 11 / period, rel=1e-3)


def test_a_station_queue_drops_what_the_air_does_not_take() -> None:
    """Without backoff one packet takes 1618 us of airtime (192 + 1118 + 10 + 192 + 56 + 50)."""
    faster = '{ kind = "udp", packet = "1500 B", rate = "20 Mb/s" }'
    result = alone("camera", faster, group="queue = { limit = 5 }")
    # 12000 bits at 20 Mb/s: a packet arrives every 600 us.
    dropped = result.simulation.groups["camera"]["all"]["station_queue_drop_probability"]
    assert dropped.mean == pytest.approx(1 - 600 / 1618, abs=1e-3)
    assert result.metrics["station_queue_drop_probability"] == dropped


def test_two_short_replications_break_no_limit_of_airtime_or_categories() -> None:
    """Replications of 0 and 40 collisions of 1000: Student's interval ends far below zero."""
    run: dict[str, Any] = {"warmup": "10 ms", "duration": "50 ms", "replications": 2}
    told = simulate(loads(cell(3, standard="802.11ax", name="a", **run))).simulation
    of_category = told.categories["AC_BE"]
    found = [*told.groups["a"]["airtime"].values(), *of_category.values()]
    known = [one for one in found if one.mean is not None]
    assert all(0.0 <= one.low <= one.mean <= one.high for one in known)
    assert all(one.high <= 1.0 for one in told.groups["a"]["airtime"].values())
    assert of_category["mpdu_error_ratio"] == Interval(0.0, 0.0, 1.0, 2)


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        (("goodput",), "is not a metric; known: active_flows, "),
        (("goodput_bps", "fur"), "'fur' is not a group; known: near, far"),
        (
            ("goodput_bps", "near", "upload"),
            "'upload' is not a part of group near; known: all, dow",
        ),
    ],
)
def test_values_of_what_there_is_not_say_what_there_is(
    simulation: Simulation, asked: tuple[str, ...], message: str
) -> None:
    with pytest.raises(KeyError, match=message):
        simulation.values(*asked)
