"""Cells whose nodes hear each other by powers: what is sensed, what disturbs, and who is named."""

from __future__ import annotations

import pytest
from airtcp.results import Simulation
from airtcp.run.simulate import simulate
from airtcp.scenario import Scenario, loads
from bases import BULK, two_cells

SHORT: dict[str, str | int] = {"warmup": "500 ms", "duration": "1500 ms", "replications": 2}
DOWN = f"application = {BULK}"


def pair(links: str, own: float = -50, **keys: str | int) -> Scenario:
    """Two cells whose stations have their own access points' frames with `own` dBm."""
    rows = f'["left", "reader", {own}], ["right", "clerk", {own}], {links}'
    return loads(two_cells(f"received = [{rows}]", reader=DOWN, clerk=DOWN, **{**SHORT, **keys}))


def simulated(of: Scenario) -> Simulation:
    return simulate(of, threads=1).simulation


@pytest.mark.parametrize(("power", "is_sensed"), [(-81.9, True), (-82.1, False)])
def test_an_access_point_hears_what_it_senses(power: float, is_sensed: bool) -> None:
    found = simulated(pair(f'["left", "right", {power}]')).cells

    for name, other in (("left", "right"), ("right", "left")):
        assert list(found[name].waits_for) == ([other] if is_sensed else [])
        airtime = found[name].airtime
        assert (airtime.heard > 0.1) == is_sensed
        assert airtime.own + airtime.heard + airtime.idle == pytest.approx(1.0)
