"""Several cells, hidden stations and capture: the real ns-3 3.44, and a plain second simulator.

`validation/cells` has the rows, their scenarios here, and the bounds. Goodputs of UDP are within 3
% and of TCP within 4 % of the row, or within the intervals of both. The second simulator is within
2 % or .1 Mb/s, senders below a tenth of a fair share 5 %. Shares of failed frames are within .02 or
the intervals. Hidden pairs of TCP uploads flip from seed to seed, so their sum, larger and smaller
value are compared.
"""

from __future__ import annotations

from statistics import fmean

import pytest
from cells.rows import (
    GRAPHS,
    NS3,
    SYMMETRIC,
    Judged,
    Ours,
    Row,
    flows_of,
    judge,
    ours,
    scenarios,
    starved,
    starved_apart,
    values,
)

#: Rows of the quick tests: deferring cells, and hidden nodes.
QUICK = (
    "pair udp down",
    "chain3 tcp down",
    "1+1 tcp down",
    "ax chain3 tcp down",
    # A row that was not used for fitting.
    "a1 between hidden APs, udp down rts",
)


def goodputs(name: str, answers: Ours) -> list[bool]:
    """Return for the goodput of each flow whether it is met."""
    return [judge(row, answers).met for row in flows_of(name)]


@pytest.mark.parametrize("name", QUICK)
def test_goodputs_and_who_starves(name: str) -> None:
    answers = ours(name)

    assert all(goodputs(name, answers))
    theirs = {row.of: row.mean for row in flows_of(name)}
    mine = {row.of: fmean(values(answers, row.metric)) for row in flows_of(name)}
    assert starved(mine) == starved(theirs)


@pytest.mark.parametrize(
    "name", ["pair udp down", "floor 15: 6 cells, who hears whom: AE AF BC BD CD EF"]
)
def test_the_second_witness_of_saturated_senders(name: str) -> None:
    answers = ours(name)

    assert all(judge(row, answers).met for row in GRAPHS if row.scenario == name)


def test_who_starves_is_judged_by_intervals() -> None:
    def of(name: str, theirs: float, half: float, mine: float, own: float) -> Judged:
        return Judged(Row("three", f"flow_goodput_bps {name}", theirs, half), mine, own, 0.0)

    fair = of("A>a1", 20e6, 1e5, 20e6, 1e5)

    # A tenth of a fair share is 1 Mb/s.
    assert starved_apart([fair, of("B>b1", 0.2e6, 0.1e6, 3e6, 0.5e6)]) == {"B>b1"}
    assert starved_apart([fair, of("B>b1", 3e6, 0.5e6, 0.2e6, 0.1e6)]) == {"B>b1"}
    assert starved_apart([fair, of("B>b1", 0.9e6, 0.3e6, 3e6, 0.5e6)]) == frozenset()
    assert starved_apart([fair, of("B>b1", 0.2e6, 0.1e6, 0.3e6, 0.1e6)]) == frozenset()


@pytest.mark.verify
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("traffic", ["tcp", "udp"])
def test_nearly_all_goodputs_of_ns3_are_met(traffic: str) -> None:
    """Exceptions: spatial reuse at -75 dBm with a power of 20 dBm, where frames with restricted
    power have 16.0 dB: ns-3 loses two thirds of their MPDUs, airtcp, with a threshold of 17 dB, all
    (`test_spatial_reuse` has the row of 16 dBm); one of five downloads of a middle cell, which
    share less than 1.5 Mb/s; and 4 kb/s of a station of which ns-3 captures no frame.
    """
    met = [
        one
        for name in scenarios(NS3)
        if name not in SYMMETRIC and traffic in name
        for one in goodputs(name, ours(name))
    ]

    print(f"{traffic}: {sum(met)} of {len(met)}")
    assert len(met) > 30
    assert sum(met) >= 0.95 * len(met)
