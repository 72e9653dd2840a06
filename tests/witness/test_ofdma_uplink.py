"""Uplink OFDMA by hand: triggers, reports, and data in every resource unit, to the nanosecond.

The rows of ns-3 are in test_ofdma.py.
"""

from __future__ import annotations

from math import ceil, floor

import airtcp
import numpy as np
import pytest
from airtcp.scenario import Scenario, loads
from bases import cell

#: Data subcarriers, by channel width and number of equal resource units.
SUBCARRIERS = {
    20: {9: 24, 4: 48, 2: 102, 1: 234},
    40: {18: 24, 8: 48, 4: 102, 2: 234, 1: 468},
    80: {37: 24, 16: 48, 8: 102, 4: 234, 2: 468, 1: 980},
    160: {74: 24, 32: 48, 16: 102, 8: 234, 4: 468, 2: 980, 1: 1960},
}
#: Data bits of a symbol and subcarrier, by MCS.
BITS = (0.5, 1, 1.5, 2, 3, 4, 4.5, 5, 6, 20 / 3, 7.5, 25 / 3, 9, 10)
#: Number of long training fields by streams.
FIELDS = (0, 1, 2, 4, 4, 6, 6, 8, 8)
PACKETS, BYTES = 20, 400
# (standard, width, users, MCS, streams)
CYCLES = [
    ("802.11ax", 20, 9, 0, 1),
    ("802.11ax", 20, 2, 11, 3),
    ("802.11ax", 40, 4, 11, 1),
    ("802.11ax", 80, 1, 7, 8),
    ("802.11be", 80, 37, 5, 1),
    ("802.11be", 160, 8, 13, 2),
]
EVERY = [
    (standard, width, users, mcs, streams)
    for standard, highest in (("802.11ax", 11), ("802.11be", 13))
    for width, units in SUBCARRIERS.items()
    for users in units
    for mcs in range(highest + 1)
    for streams in (1, 2 + mcs % 3)
]


def _compare(of: tuple[str, int, int, int, int]) -> None:
    """The stations never win access, so every three accesses are data, a report and a response.

    The access point has packets, and the stations' queues are full whenever it polls them.
    """
    standard, width, users, mcs, streams = of

    def loaded(direction: str, uplink: str) -> Scenario:
        text = cell(
            users,
            standard=standard,
            phy=f'channel_width = "{width} MHz"\nband = "6 GHz"\nmcs = {mcs}\n'
            f"spatial_streams = {streams}",
            tables=f"[mac]\nrules.immediate_access = false\nofdma = {{ {uplink} }}\n"
            "edca.ap.AC_BE = { cw_min = 0, cw_max = 0 }\n"
            "edca.stations.AC_BE = { cw_min = 1048575, cw_max = 1048575 }\n"
            "[ap]\nqueue.limit = 1000000",
            group=f"queue.limit = {PACKETS}",
            direction=direction,
            flow='start_spread = "0 s"',
            application=f'{{ kind = "udp", packet = "{BYTES} B", rate = "saturated" }}',
            warmup="0 s",
            duration="80 ms",
            replications=1,
        )
        return loads(text)

    scenario, downlink = loaded("both", 'uplink = "trigger"'), loaded("download", "")
    phy, aggregation = scenario.phy, scenario.mac.aggregation
    assert aggregation is not None
    model = airtcp.predict(downlink)
    down_us = model.best("mpdus_per_ppdu_ap").value * (BYTES - 28) * 8
    down_us /= model.best("goodput_bps").value / 1e6
    symbol = floor(SUBCARRIERS[width][users] * BITS[mcs] * streams + 1e-9)
    preamble, hop = 40 + 8 * FIELDS[streams], 16 + phy.propagation_delay_ns / 1e3
    last, timing = phy.propagation_delay_ns / 1e3, phy.high_rate
    assert timing is not None
    around = timing.service_bits + timing.tail_bits

    def legacy(mbps: float, size: int) -> float:
        return 20 + 4 * ceil((22 + 8 * size) / (4 * mbps))

    def response(size: int) -> float:
        most = floor((5484 - preamble) / 14.4)
        return preamble + 14.4 * min(most, ceil((around + 8 * size) / symbol))

    reported = ceil(PACKETS * (BYTES + 38) / 256) * 256
    asked = 43 + legacy(6, 28 + 5 * users) + hop + response(34) + last
    rate = aggregation.block_ack_rate.bps / 1e6
    data = response(reported)
    answer = hop + legacy(rate, 22 + 2 * users) + last
    sent = 43 + legacy(6, 28 + 6 * users) + hop + data + answer
    room = floor((round((data - preamble) / 14.4) * symbol - around) / 8)
    mpdus = min(PACKETS, 1 + (room - 442) // 444)

    trace = airtcp.simulate(scenario, trace=True).simulation.runs[0].trace
    assert trace is not None
    ppdus = trace.ppdus()
    from_ap = np.array([one == "ap AC_BE" for one in ppdus.queue])
    starts = np.unique(np.round(ppdus.time_s[from_ap] * 1e9).astype(np.int64))[2:]
    answers = np.round(ppdus.time_s[~from_ap] * 1e9).astype(np.int64)
    assert len(starts) > 2, of
    assert set(np.diff(starts)) == {round((down_us + asked + sent) * 1e3)}, of
    assert {round(one * 1e9) for one in ppdus.airtime_s[~from_ap]} == {round(data * 1e3)}, of
    assert set(ppdus.mpdus[~from_ap]) == {mpdus}, of
    assert set(np.unique(answers, return_counts=True)[1]) == {users}, of
    following = answers[np.searchsorted(answers, starts[0])] - starts[0]
    assert following == round((down_us + asked + sent - answer - data) * 1e3) - 43_000, of


@pytest.mark.parametrize("of", CYCLES, ids=lambda of: "-".join(map(str, of)))
def test_triggers_and_responses_by_hand(of: tuple[str, int, int, int, int]) -> None:
    _compare(of)


@pytest.mark.verify
@pytest.mark.timeout(1800)
def test_all_triggers_and_responses_by_hand() -> None:
    for of in EVERY:
        _compare(of)
