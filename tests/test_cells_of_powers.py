"""Cells with received powers: what nodes sense, what interferes, and which cells are blamed."""

from __future__ import annotations

import pytest
from airtcp.predict import predict
from airtcp.present.cells import sentences
from airtcp.present.subject import subject
from airtcp.remedies.apart import apart
from airtcp.results import Simulation
from airtcp.run.simulate import simulate
from airtcp.scenario import Scenario, loads
from airtcp.scenario.hearing import disturbers, meeting
from bases import BULK, cell, two_cells
from wing import with_papers

SHORT: dict[str, str | int] = {"warmup": "500 ms", "duration": "1500 ms", "replications": 2}
DOWN = f"application = {BULK}"


def pair(links: str, own: float = -50, **keys: str | int) -> Scenario:
    """Two cells whose stations receive their own access point at `own` dBm."""
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


def test_a_culprit_is_strong_enough_to_disturb() -> None:
    """The reader does not sense two cells; one is received 13 dB below its own access point."""
    rows = [
        ["left", "reader", -70], ["right", "clerk", -50], ["far", "guest", -50],
        ["right", "reader", -83], ["far", "reader", -93],
    ]  # fmt: skip
    text = two_cells(f"received = {rows}", reader=DOWN, clerk=DOWN, **SHORT)
    text = text.replace("cells = { left = {}", "cells = { far = {}, left = {}").replace(
        "stations = [", 'stations = [{ name = "guest", count = 1, cell = "far" },', 1
    )
    of = loads(
        text.replace(
            "[run]", f'[[flows]]\nstations = "guest"\ndirection = "download"\n{DOWN}\n[run]'
        )
    )

    sensed = pair('["left", "right", -80]')
    assert (disturbers(sensed), meeting(sensed)) == ([[], []], [{1}, {0}])
    # In the order far, left, right: 54 Mb/s needs 18.4 dB.
    assert disturbers(of) == [[], [2], []]
    assert meeting(of) == [set(), {2}, set()]
    assert apart(of) == (36, 36, 40)
    (told,) = sentences(of, simulated(of).cells)
    assert told.startswith("Cell left gets ")
    assert told.endswith("of its transmissions.")
    assert "frames of right destroy" in told


@pytest.mark.parametrize(
    ("links", "own", "reason"),
    [
        # A frame that is 25 dB above the interference is received.
        ('["left", "right", -75], ["left", "clerk", -75], ["right", "reader", -75], '
         '["reader", "clerk", -75]', -50, "some survive an overlap"),
        # All powers are equal, and below -62 dBm.
        ('["left", "right", -70], ["left", "clerk", -70], ["right", "reader", -70], '
         '["reader", "clerk", -70]', -70, "ignores frames weaker than air.energy"),
        # The own signal is 12 dB above a cell that the sender does not hear.
        ('["left", "clerk", -83]', -71, 'cell "left" does not hear interfere with its own'),
    ],
)  # fmt: skip
def test_the_chain_of_clusters_declines_where_powers_matter(links, own, reason):
    of = pair(links, own)

    found = predict(of)

    assert found.model == {}
    assert reason in found.uncovered


@with_papers
@pytest.mark.parametrize("power", [-50, -110])
def test_the_chain_of_clusters_answers_where_powers_are_as_words_say(power: float) -> None:
    """All powers are equal, or almost nothing is received from the other cell."""
    others = (("left", "right"), ("left", "clerk"), ("right", "reader"), ("reader", "clerk"))
    of = pair(", ".join(f'["{one}", "{other}", {power}]' for one, other in others))
    best = predict(of).best("cell_goodput_bps")

    goodputs = [one.goodput_bps.mean for one in simulated(of).cells.values()]
    assert best.value == pytest.approx(goodputs, rel=0.08)


def test_the_chain_of_clusters_says_what_it_has_not() -> None:
    text = two_cells('heard = [["left", "right"]]', reader=DOWN, clerk=DOWN, **SHORT)
    hidden = '{ name = "reader", count = 1, cell = "left" }'
    of = loads(
        text.replace(hidden, hidden + ', { name = "deaf", count = 1, cell = "left", hears = [] }')
    )

    assert 'nodes of cell "left"' in predict(of).uncovered


def test_one_cell_by_powers_is_not_told_as_one_with_hidden_stations() -> None:
    air = '[air]\nreceived = [["ap", "laptop", -50], ["laptop", "laptop", -55]]'
    of = loads(cell(2, standard="802.11ax", tables=air))

    assert "hidden from each other" not in " ".join(subject(of))
    assert "received by their power" in predict(of).uncovered
