"""Rate control: error curves of white noise, and Minstrel-HT against fixed rates."""

from __future__ import annotations

import math
from statistics import fmean

import pytest
from airtcp import simulate
from airtcp.error_rates import Coding, Receiver, raw_bit_error_rate
from airtcp.results import SimulationResult
from airtcp.scenario import loads

RECEIVERS = [
    Receiver("tables", "bcc", 0.0),
    Receiver("tables", "ldpc", 2.0),
    Receiver("nist", "bcc", 0.0),
]
TEXT = """
phy = {{ standard = "802.11n" }}
ap = {{ scheduler = "round-robin" }}
run = {{ warmup = "5 s", duration = "20 s", replications = 2, seed = 1 }}
[mac.edca.ap]
AC_BE = {{ cw_min = 15, cw_max = 1023, aifsn = 3, txop_limit = "0 us" }}
[[stations]]
name = "near"
count = {near}
[[stations]]
name = "far"
count = 1
{far}
[[flows]]
stations = "near"
direction = "download"
application = {{ kind = "udp", packet = "1500 B", rate = "saturated" }}
[[flows]]
stations = "far"
direction = "{direction}"
application = {{ kind = "udp", packet = "1500 B", rate = "saturated" }}
"""


def found(far: str, *, near: int = 3, direction: str = "download") -> SimulationResult:
    text = TEXT.format(far=far, near=near, direction=direction)
    return simulate(loads(text), threads=1)


def goodput(result: SimulationResult, group: str) -> float:
    """Return the mean goodput of a station of the group in b/s."""
    runs = [run.answer["flows"] for run in result.simulation.runs]
    found = [flow["goodput_bps"] for run in runs for flow in run if flow["name"].startswith(group)]
    return fmean(found)


def test_bit_errors_by_hand() -> None:
    """At 10 dB: BPSK Q(sqrt(20)), QPSK Q(sqrt(10)), 16-QAM 3/4 Q(sqrt(2))."""
    q = lambda x: 0.5 * math.erfc(x / math.sqrt(2.0))  # noqa: E731

    assert raw_bit_error_rate(1, 10.0) == pytest.approx(q(math.sqrt(20.0)))
    assert raw_bit_error_rate(2, 10.0) == pytest.approx(q(math.sqrt(10.0)))
    assert raw_bit_error_rate(4, 10.0) == pytest.approx(0.75 * q(math.sqrt(2.0)))


@pytest.mark.parametrize("receiver", RECEIVERS, ids=lambda one: f"{one.model}-{one.coding}")
def test_each_mcs_needs_a_better_link_than_the_one_before(receiver: Receiver) -> None:
    """Compare the SNR at which half of all frames are lost."""
    needed = [receiver.needed_db(mcs, 0.5) for mcs in range(14)]

    assert needed == sorted(needed)
    # BPSK with a code of rate 1/2 needs a few dB; 64-QAM with 5/6 needs some 20 more.
    assert -1.0 < needed[0] < 5.0
    assert 18.0 < needed[7] - needed[0] < 22.0


#: The SNR in dB at which ns-3 3.44 (`TableBasedErrorRateModel`) loses a tenth of 1458 bytes.
NS3_DB = {
    "bcc": (0.9, 3.9, 6.4, 9.7, 12.8, 17.0, 18.4, 19.6, 23.7, 25.1),
    "ldpc": (-0.6, 2.4, 4.9, 7.9, 10.9, 15.1, 16.5, 18.0, 21.7, 23.5, 26.8, 28.9),
}


@pytest.mark.parametrize("coding", ["bcc", "ldpc"])
def test_thresholds_are_those_of_the_tables(coding: Coding) -> None:
    ours = Receiver("tables", coding, 0.0)
    worse = Receiver("tables", coding, 2.0)

    for mcs, needed in enumerate(NS3_DB[coding]):
        assert ours.needed_db(mcs) == pytest.approx(needed, abs=0.1)
        # An implementation loss is noise: the ratio to all noise stays the same.
        assert worse.needed_db(mcs) == ours.needed_db(mcs)
        lost = ours.error_rate(mcs, snr_db=needed, bits=8 * 1458)
        assert worse.error_rate(mcs, snr_db=needed + 2.0, bits=8 * 1458) == pytest.approx(lost)
        assert ours.error_rate(mcs, snr_db=needed, bits=8 * 1458) == pytest.approx(0.1, abs=0.05)
        # Longer frames lose more, and more signal loses less.
        assert ours.error_rate(mcs, snr_db=needed, bits=8 * 4000) > 0.1
        assert ours.error_rate(mcs, snr_db=needed + 2.0, bits=8 * 1458) < 0.002


@pytest.mark.parametrize(
    ("standard", "phy", "receiver"),
    [
        ("802.11n", {}, Receiver("tables", "bcc", 2.0)),
        ("802.11ac", {}, Receiver("tables", "ldpc", 2.0)),
        ("802.11ax", {"coding": "bcc"}, Receiver("tables", "bcc", 2.0)),
        ("802.11n", {"implementation_loss": "3 dB"}, Receiver("tables", "bcc", 3.0)),
        ("802.11be", {"error_model": "nist"}, Receiver("nist", "ldpc", 0.0)),
    ],
)
def test_a_group_with_a_signal_loses_what_the_receiver_says(
    standard: str, phy: dict[str, str], receiver: Receiver
) -> None:
    far = 'rate_control = "minstrel-ht"\nsnr = "15 dB"'
    text = TEXT.format(far=far, near=1, direction="upload")
    scenario = loads(text).vary(
        {"phy.standard": standard} | {f"phy.{key}": value for key, value in phy.items()}
    )

    control = scenario.stations[1].rate_control
    for mcs, one in enumerate(control.rates[:9]):
        assert one.error_rate == receiver.error_rate(mcs, snr_db=15.0, bits=12_000)


def test_an_ideal_rate_is_the_highest_that_loses_hardly_anything() -> None:
    def mcs(snr: str) -> tuple[int, float]:
        far = f'rate_control = "ideal"\nsnr = "{snr}"'
        (_, group) = loads(TEXT.format(far=far, near=1, direction="upload")).stations
        errors = group.frame_errors
        return group.data_rate.high.mcs, 0.0 if errors is None else errors.rate

    # 802.11n: MCS 3 loses 1 % at 10.48 dB, and receivers need 2 dB more.
    assert mcs("12.6 dB")[0] == 3
    assert mcs("12.6 dB")[1] == pytest.approx(0.008, abs=0.002)
    assert mcs("12.3 dB")[0] == 2
    assert mcs("40 dB")[0] == 7
    assert mcs("40 dB")[1] < 1e-9


def test_a_table_at_a_fixed_rate_is_that_of_frame_errors() -> None:
    def stations(far: str) -> object:
        return loads(TEXT.format(far=far, near=1, direction="upload")).stations

    table = stations('error_table = { 0 = "0 %", 7 = "20 %" }')

    assert table == stations('frame_errors = { rate = "20 %", of = "1500 B" }')


def test_minstrel_finds_the_best_rate() -> None:
    """MCS 7 loses 60 %, MCS 6 nothing: goodput is close to that of a fixed MCS 6."""

    def lone(far: str) -> float:
        table = 'error_table = { 0 = "0 %", 7 = "60 %" }\n'
        return goodput(found(table + far, near=1, direction="upload"), "far")

    best, highest = lone("mcs = 6"), lone("mcs = 7")

    adapted = lone('rate_control = "minstrel-ht"')

    assert highest < 0.75 * best
    # One PPDU in ten is a sample of one MPDU, with a contention of its own.
    assert 0.88 * best < adapted <= best * 1.01


def test_the_anomaly_comes_and_goes() -> None:
    """The access point serves stations by packet: one at MCS 0 (1.7 ms) delays three at MCS 7 (0.2
    ms). If the link supports MCS 7, rate control finds it, and there is no delay."""
    alone = '\n[mac.aggregation]\nampdu = "0 B"\n'
    control = 'rate_control = "minstrel-ht"\n'
    good = found(f'{control}snr = "35 dB"{alone}')
    bad = found(f'{control}snr = "5 dB"{alone}')
    slow, fast = found(f"mcs = 0{alone}"), found(alone)

    assert goodput(good, "near") == pytest.approx(goodput(fast, "near"), rel=0.05)
    assert goodput(bad, "near") == pytest.approx(goodput(slow, "near"), rel=0.05)
    assert goodput(bad, "near") < 0.6 * goodput(good, "near")


def test_ppdus_of_equal_length_leave_no_anomaly() -> None:
    """With A-MPDUs each access may last 5.5 ms, at MCS 0 and at MCS 7."""
    control = 'rate_control = "minstrel-ht"\n'
    good = found(f'{control}snr = "35 dB"')
    bad = found(f'{control}snr = "5 dB"')

    assert goodput(good, "far") == pytest.approx(goodput(good, "near"), rel=0.1)
    assert goodput(bad, "near") == pytest.approx(goodput(good, "near"), rel=0.05)
    assert goodput(bad, "far") < 0.25 * goodput(good, "far")
