"""Stations at a distance from their access point: signal, rate, and stations out of range."""

from __future__ import annotations

import math
from typing import Any

import airtcp
import pytest
from airtcp.scenario import Scenario, loads
from bases import SATURATED, cell

TEXT = """
phy = {{ standard = "802.11n" }}
run = {{ warmup = "100 ms", duration = "1 s", replications = 1 }}
[[stations]]
name = "near"
count = 2
distance = "10 m"
[[stations]]
name = "far"
count = 3
distance = "{far}"
[[flows]]
stations = "near"
direction = "upload"
application = {{ kind = "udp", packet = "1500 B", rate = "saturated" }}
[[flows]]
stations = "far"
direction = "download"
application = {{ kind = "web", profile = "web-2025" }}
"""


def at(far: str, **changes: Any) -> Scenario:
    return loads(TEXT.format(far=far)).vary(
        {key.replace("_", "."): v for key, v in changes.items()}
    )


def test_the_signal_follows_from_the_distance() -> None:
    """Log-distance with its defaults: 20 - 46.4 - 35 log10(d) dBm; noise -94 dBm, 2 dB of loss."""
    scenario = at("25 m")
    air = scenario.air
    ap = air.received_dbm[0]
    assert ap[1:3] == (-61.4, -61.4)
    assert list(ap[3:]) == pytest.approx([20 - 46.4 - 35 * math.log10(25)] * 3, abs=0.005)
    # 30.6 dB: enough for MCS 7, 19.64. 16.7 dB: enough for MCS 4, 12.8, but not for 5, 17.05.
    assert [group.data_rate.high.mcs for group in scenario.stations] == [7, 4]
    # Stations are spread around the access point, so no two are as close as the nearest to it.
    assert all(power < -46 for power in air.received_dbm[1][2:] if power is not None)
    # A given path loss replaces the default.
    written = scenario.vary({"air.path_loss.exponent": 2})
    assert written.air.received_dbm[0][1] == pytest.approx(20 - 46.4 - 20, abs=0.005)


def test_who_hears_nothing_is_an_answer() -> None:
    """-82 dBm is received up to 39 m. Beyond, flows never begin and take no airtime."""
    within, beyond = at("38 m"), at("60 m")
    assert [group.out_of_range for group in within.stations] == [None, None]
    assert [group.out_of_range for group in beyond.stations] == [None, (0, 1, 2)]
    wanted = {"near goodput": "> 1 Mb/s", "far p90 page_time": "< 60 s"}
    result = airtcp.simulate(beyond.vary({"targets": wanted}))
    flows = {flow["name"]: flow for flow in result.simulation.runs[0].answer["flows"]}
    assert all(flows[f"far/{place}"]["goodput_bps"] == 0.0 for place in range(3))
    alone = airtcp.simulate(at("60 m", stations_far_count=1)).simulation.runs[0].answer
    for place in range(2):
        ours, theirs = flows[f"near/{place}"], alone["flows"][place]
        assert ours["goodput_bps"] == theirs["goodput_bps"] > 1e6
    verdict = airtcp.verdict(result)
    assert {one.target.text.split()[0]: one.state for one in verdict.targets}["far"] == "fails"


@pytest.mark.parametrize("model", ["tables", "nist"])
def test_the_lowest_rate_ends_the_range_where_everything_is_sensed(model: str) -> None:
    """MCS 0 needs 2.93 dB by the tables with their loss, 4.05 dB by the bound."""
    needs = {"tables": 2.93, "nist": 4.05}[model]
    sensed = {"phy.error_model": model, "air.sense": "-95 dBm"}
    reach_m = 10 ** ((20 - 46.4 + 94 - needs) / 35)
    for factor, out in ((0.99, None), (1.01, (0, 1, 2))):
        far = loads(TEXT.format(far=f"{factor * reach_m:.2f} m")).vary(sensed).stations[1]
        assert far.out_of_range == out
        assert far.data_rate.high.mcs == 0


def test_distance_is_planned_without_a_path_loss_or_ends() -> None:
    run: dict[str, Any] = {"warmup": "100 ms", "duration": "500 ms", "replications": 2}
    phone = 'profile = "phone"\nplace = "room"\ntraffic = []'
    text = cell(standard="802.11n", name="phone", group=phone, application=SATURATED, **run)
    # The range ends at 38.9 m with -82 dBm; that is 12 dB above noise, enough for MCS 3.
    plan = airtcp.plan(loads(text), vary="distance", until="phone goodput < 1 Mb/s", remedies=False)
    assert plan.answer.unit == "m"
    assert plan.answer.value == pytest.approx(38.9, rel=0.06)
