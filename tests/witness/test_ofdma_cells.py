"""Downlink OFDMA in cells that all hear each other, or do not: laws."""

from __future__ import annotations

from statistics import fmean

import airtcp
import pytest
from airtcp.scenario import loads
from bases import BULK, SATURATED

OFDMA = {
    "alone": "",
    "mu-bar": '[mac.ofdma]\nacknowledgment = "mu-bar"',
    "bar-sequence": '[mac.ofdma]\nacknowledgment = "bar-sequence"',
}


def _goodputs(
    ofdma: str, cells: dict[str, int], *, heard: str = "", application: str = SATURATED
) -> list[dict[str, float]]:
    """Return the goodput of each flow, by run. `cells` has the number of downloads by cell."""
    lines = ['[phy]\nstandard = "802.11ax"\nchannel_width = "20 MHz"\nmcs = 11', OFDMA[ofdma]]
    lines += [f"[cells.{name}]" for name in cells]
    lines += [f"[air]\nheard = [{heard}]"]
    for name, count in cells.items():
        lines.append(f'[[stations]]\nname = "of-{name}"\ncount = {count}\ncell = "{name}"')
        lines.append(f'[[flows]]\nstations = "of-{name}"\ndirection = "download"')
        lines.append(f'start_spread = "0 s"\napplication = {application}')
    lines.append('[run]\nwarmup = "500 ms"\nduration = "10 s"\nreplications = 2')
    result = airtcp.simulate(loads("\n".join(lines)), threads=1).simulation
    return [{one["name"]: one["goodput_bps"] for one in run.answer["flows"]} for run in result.runs]


@pytest.mark.parametrize("application", [SATURATED, BULK], ids=["udp", "tcp"])
@pytest.mark.parametrize("ofdma", ["mu-bar", "bar-sequence"])
def test_cells_that_do_not_hear_each_other_are_cells_alone(ofdma: str, application: str) -> None:
    """Random streams are named by station, so the first cell draws the same numbers alone."""
    for first, other in (("left", "right"), ("right", "left")):
        counts = {"left": 5, "right": 3}
        alone = _goodputs(ofdma, {first: counts[first]}, application=application)
        both = _goodputs(
            ofdma, {name: counts[name] for name in (first, other)}, application=application
        )
        assert both == [run | own for run, own in zip(both, alone, strict=True)]


@pytest.mark.parametrize("ofdma", ["mu-bar", "bar-sequence"])
def test_cells_that_hear_each_other_lose_what_collides(ofdma: str) -> None:
    """Each cell gets half. PPDUs last 5.4 ms with and without OFDMA, so a second access point costs
    the same share: about one PPDU in ten collides."""
    kept = {}
    for kind in ("alone", ofdma):
        (one, two) = (
            fmean(sum(run.values()) for run in _goodputs(kind, cells, heard=heard))
            for cells, heard in (({"left": 8}, ""), ({"left": 4, "right": 4}, '["left", "right"]'))
        )
        kept[kind] = two / one
    halves = _goodputs(ofdma, {"left": 4, "right": 4}, heard='["left", "right"]')
    of_left = fmean(
        sum(bps for name, bps in run.items() if "left" in name) / sum(run.values())
        for run in halves
    )

    assert of_left == pytest.approx(0.5, abs=0.03)
    assert kept[ofdma] == pytest.approx(kept["alone"], abs=0.02)
    assert 0.88 < kept[ofdma] < 0.97
