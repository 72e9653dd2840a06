"""Stations that share airtime: one slow station among three fast ones.

The model is that of Høiland-Jørgensen et al., "Ending the anomaly" (2017), (1) to (5): an A-MPDU of
B bytes in packets of 1500, at rate r, lasts 8 * 1544 * B/1500 / r + 170 us + 464 / r with all that
belongs to its exchange. With airtime fairness all stations get the same airtime, with round robin
the same number of accesses.
"""

from functools import cache

import airtcp.scenario
import pytest
from airtcp.results import SimulationResult
from airtcp.run.simulate import simulate

SCENARIO = """
phy = {{ standard = "802.11n", spatial_streams = 2 }}
mac = {{ aggregation = {{ ppdu_time = "4 ms" }} }}
links = {{ wire = {{ rate = "1 Gb/s" }} }}
run = {{ warmup = "2 s", duration = "20 s", replications = 1 }}
[ap]
{ap}
[[stations]]
name = "fast"
count = 3
mcs = 7
[[stations]]
name = "slow"
count = 1
mcs = 0
spatial_streams = 1
{weight}
"""
FLOW = """
[[flows]]
stations = "{group}"
direction = "download"
application = {application}
path = ["wire"]
"""
#: More than the channel can carry for any station.
UDP = '{ kind = "udp", packet = "1500 B", rate = "60 Mb/s" }'
BULK = '{ kind = "bulk" }'
FIFO = "queue = { limit = 1000 }"
#: An older access point: one limit for all, and round robin with one access each.
TURNS = 'queue = { limit = 1000 }\nscheduler = "round-robin"'
AIRTIME = 'queue = { discipline = "fq-codel", target = "20 ms" }\nscheduler = "airtime"'
RATES_BPS = {"fast": 144.4e6, "slow": 7.2e6}
COUNTS = {"fast": 3, "slow": 1}


@cache
def run(ap: str, application: str, weight: str = "") -> SimulationResult:
    flows = (FLOW.format(group=group, application=application) for group in COUNTS)
    text = SCENARIO.format(ap=ap, weight=weight) + "".join(flows)
    return simulate(airtcp.scenario.loads(text), threads=1)


def of_group(result: SimulationResult, group: str, metric: str) -> float:
    """Return a metric of a station group, both directions."""
    found = result.simulation.groups[group]["all"][metric]
    assert found.mean is not None
    return found.mean


def airtime(result: SimulationResult, group: str) -> float:
    """Return the airtime share of one station of a group."""
    return of_group(result, group, "airtime_share") / COUNTS[group]


def exchange_s(result: SimulationResult, group: str) -> float:
    packets = of_group(result, group, "mpdus_per_ppdu_ap")
    return 8 * 1544 * packets / RATES_BPS[group] + 170e-6 + 464 / RATES_BPS[group]


def model_bps(result: SimulationResult, *, shares_airtime: bool) -> float:
    """Return the model's total for all stations, with the simulated A-MPDU sizes."""
    turns = {group: exchange_s(result, group) for group in COUNTS}
    bits = {group: 8 * 1500 * of_group(result, group, "mpdus_per_ppdu_ap") for group in COUNTS}
    if shares_airtime:
        return sum(COUNTS[group] / 4 * bits[group] / turns[group] for group in COUNTS)
    total_s = sum(COUNTS[group] * turns[group] for group in COUNTS)
    return sum(COUNTS[group] * bits[group] for group in COUNTS) / total_s


def ip_bps(result: SimulationResult) -> float:
    """Goodput with the headers of IP and UDP, as the paper counts it."""
    found = result.simulation.metrics["goodput_bps"]
    return found.mean * 1500 / 1472


@pytest.mark.parametrize("application", [UDP, BULK], ids=["udp", "tcp"])
def test_all_have_the_same_airtime(application: str) -> None:
    """Within 2 %; with FIFO the slow station has several times the airtime of a fast one."""
    shared, anomalous = run(AIRTIME, application), run(FIFO, application)
    assert airtime(shared, "slow") == pytest.approx(airtime(shared, "fast"), rel=0.02)
    assert airtime(anomalous, "slow") > 3 * airtime(anomalous, "fast")
    # A weight of half the default is half a share.
    light = run(AIRTIME, application, "airtime_weight = 128")
    assert airtime(light, "slow") == pytest.approx(airtime(light, "fast") / 2, rel=0.02)


def test_the_total_rises_as_the_model_says() -> None:
    """The paper goes from 26 to 87 Mb/s. Within 5 % of the model with simulated A-MPDU sizes."""
    shared, anomalous = run(AIRTIME, UDP), run(TURNS, UDP)
    assert ip_bps(shared) == pytest.approx(model_bps(shared, shares_airtime=True), rel=0.05)
    assert ip_bps(anomalous) == pytest.approx(model_bps(anomalous, shares_airtime=False), rel=0.05)
    assert ip_bps(shared) > 2.5 * ip_bps(anomalous)


def test_a_limit_of_airtime_in_the_driver_bounds_what_waits_there() -> None:
    """5 ms at 7.2 Mb/s are three packets of 1500 bytes: the slow station sends no more at once."""
    limited = AIRTIME.replace('"airtime"', '{ kind = "airtime", aql = "5 ms" }')
    result = run(limited, UDP)
    assert of_group(result, "slow", "mpdus_per_ppdu_ap") <= 3
    assert airtime(result, "slow") == pytest.approx(airtime(result, "fast"), rel=0.02)
