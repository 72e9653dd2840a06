"""The slow DCF against closed forms and against worked examples; nothing here needs airtcp.

The senders are saturated. What Bianchi's fixed point leaves out, and with which sign, stands at
`contended_fixed_point`.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).with_name("reference")))

import slow_dcf
from slow_dcf import Frame, Parameters

SECOND = 1_000_000_000


class ScriptedBackoffs:
    """Stands in for `random.Random` and deals prepared backoffs, checking that each is allowed."""

    def __init__(self, backoffs: list[int]) -> None:
        self.backoffs: Iterator[int] = iter(backoffs)

    def __call__(self, _seed: int) -> ScriptedBackoffs:
        return self

    def randint(self, low: int, high: int) -> int:
        """The next backoff of the script."""
        backoff = next(self.backoffs)
        assert low <= backoff <= high
        return backoff


def plain(stations: int, cw_min: int, cw_max: int, retries: int = 7) -> Parameters:
    """Basic access with everybody waiting DIFS after anything: the slotted DCF of the textbooks."""
    params = slow_dcf.ieee_80211b(stations, after_collision="difs", colliders="as-others")
    return replace(params, cw_min=cw_min, cw_max=cw_max, short_retry_limit=retries)


def test_airtimes_are_those_of_the_standard() -> None:
    # 1536 * 8 / 11 = 1117.1 -> 1118 us; 14 * 8 / 11 = 10.2 -> 11 us; 14 * 8 / 1 = 112 us; + 192 us.
    assert slow_dcf.dsss_ns(1536 * 8, 11_000_000) == 1_310_000
    assert slow_dcf.dsss_ns(14 * 8, 11_000_000) == 203_000
    assert slow_dcf.dsss_ns(14 * 8, 1_000_000) == 304_000
    # 1074 bytes, not rounded, as ns-2 has it: 781.0909 + 192 us.
    exact = slow_dcf.dsss_ns(1074 * 8, 11_000_000, whole_microseconds=False)
    assert exact == 973_091
    # (16 + 12288 + 6) / 216 -> 57 symbols; (16 + 112 + 6) / 216 -> 1 symbol; + 20 us.
    assert slow_dcf.ofdm_ns(1536 * 8, 54_000_000) == 248_000
    assert slow_dcf.ofdm_ns(14 * 8, 54_000_000) == 24_000
    erp = slow_dcf.ofdm_ns(14 * 8, 54_000_000, slow_dcf.ERP_SIGNAL_EXTENSION_NS)
    assert erp == 30_000


def test_a_lone_sender_needs_difs_half_a_window_and_an_exchange() -> None:
    seconds = 60
    for threshold in (None, 0):
        params = slow_dcf.ieee_80211b(1, rts_threshold_bytes=threshold)
        mean_ns = params.difs_ns + params.cw_min / 2 * params.slot_ns
        mean_ns += params.exchange_ns(params.station)
        # A backoff is uniform over 0 .. CW: variance ((CW + 1)^2 - 1) / 12 slots^2.
        deviation_ns = params.slot_ns * math.sqrt(((params.cw_min + 1) ** 2 - 1) / 12)
        expected = seconds * SECOND / mean_ns
        out = slow_dcf.run(params, seed=5, until_ns=seconds * SECOND)
        # The renewal count is normal with deviation sqrt(count) * deviation / mean.
        interval = 2.58 * math.sqrt(expected) * deviation_ns / mean_ns + 1
        assert abs(out.successes[0] - expected) < interval
        assert sum(out.collisions) == 0
        assert out.mean_cw == params.cw_min
        share = params.station.data_ns / mean_ns
        assert out.airtime["data"] == pytest.approx(share, abs=interval / expected)
        assert sum(out.airtime.values()) == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize(
    ("rate_bps", "published_bps"),
    [(24_000_000, 15.3404e6), (48_000_000, 23.1548e6), (54_000_000, 24.5776e6)],
)
def test_a_lone_80211g_sender_meets_the_analytic_throughput_of_inet(
    rate_bps: int, published_bps: float
) -> None:
    # UDP of 1000 bytes in an MPDU of 1064; ACK at 24 Mb/s; published for the mean backoff, 7.5
    # slots. 54 Mb/s: 28 + 67.5 + (20 + 40 * 4 + 6) + 10 + (20 + 2 * 4 + 6) = 325.5 us.
    extension = slow_dcf.ERP_SIGNAL_EXTENSION_NS
    params = replace(
        slow_dcf.ieee_80211b(1),
        station=Frame(1064, slow_dcf.ofdm_ns(1064 * 8, rate_bps, extension), 8000),
        ack_ns=slow_dcf.ofdm_ns(14 * 8, 24_000_000, extension),
        slot_ns=9_000,
        sifs_ns=10_000,
        difs_ns=28_000,
        cw_min=15,
    )
    out = slow_dcf.run(params, seed=1, until_ns=20 * SECOND)
    # About 50,000 cycles whose backoff deviates by 41 us in 325 to 521: 0.06 % is one deviation.
    assert out.throughput_bps == pytest.approx(published_bps, rel=0.002)


@pytest.mark.parametrize("colliders", ["as-others", "ack-timeout+difs"])
def test_two_senders_without_backoff_always_collide(colliders: slow_dcf.Colliders) -> None:
    params = replace(slow_dcf.ieee_80211b(2), cw_min=0, cw_max=0, colliders=colliders)
    out = slow_dcf.run(params, seed=1, until_ns=SECOND)
    assert sum(out.successes) == 0
    assert out.collision_probability == 1.0
    assert out.attempts[0] == out.attempts[1] == out.transmissions
    # Seven transmissions of each frame, then it is dropped.
    assert out.drops[0] == out.attempts[0] // 7
    wait = params.eifs_ns if colliders == "as-others" else params.ack_timeout_ns + params.difs_ns
    period = params.station.data_ns + wait
    assert out.attempts[0] == 1 + (SECOND - 1 - params.difs_ns) // period


def test_retry_limit_of_one_drops_at_the_first_collision() -> None:
    params = plain(5, cw_min=15, cw_max=1023, retries=1)
    out = slow_dcf.run(params, seed=1, until_ns=10 * SECOND)
    assert out.drops == out.collisions
    assert set(out.attempts_by_stage) == {0}
    assert out.mean_cw == 15


def test_who_waits_how_long(monkeypatch: pytest.MonkeyPatch) -> None:
    params = slow_dcf.ieee_80211b(3, packet_bytes=39)
    data = params.station.data_ns
    assert data == 247_000  # 75 bytes of MPDU: 600 / 11 = 54.5 -> 55 us, + 192 us
    exchange = data + 10_000 + params.ack_ns
    # Backoffs in the order of the draws: at the start 2, 2, 5; after the collision of 0 and 1 (CW
    # is 63) 1 and 30; after the successes of 0, 0, 2 and 1 (CW is 31) 0, 31, 30 and 31.
    backoffs = ScriptedBackoffs([2, 2, 5, 1, 30, 0, 31, 30, 31])
    monkeypatch.setattr("random.Random", backoffs)
    # Stations 0 and 1 collide in slot 2; station 2 has 3 slots left.
    collision = 50_000 + 2 * 20_000
    # The colliders go on after ACK timeout + DIFS (272 us), station 2 would after EIFS (364 us).
    # Station 0 is first: station 2 has counted nothing, station 1 one slot of its 30.
    first = collision + data + 222_000 + 50_000 + 1 * 20_000
    assert first < collision + data + 364_000
    # Its next backoff is 0: it goes again after DIFS, in the slot that nobody else can use.
    second = first + exchange + 50_000
    # Now station 2 counts its 3 slots; station 1 has 26 left then, station 0 has 28.
    third = second + exchange + 50_000 + 3 * 20_000
    fourth = third + exchange + 50_000 + 26 * 20_000
    trace: list[tuple[int, tuple[int, ...]]] = []
    slow_dcf.run(params, seed=0, until_ns=fourth + 1, trace=trace)
    expected = [(collision, (0, 1)), (first, (0,)), (second, (0,)), (third, (2,)), (fourth, (1,))]
    assert trace == expected
    assert list(backoffs.backoffs) == []


def test_a_started_slot_does_not_count() -> None:
    sender = slow_dcf.Sender(Frame(100, 1, 1), cw=31, resume=1_000, counter=10)
    sender.count_down_to(1_000 + 3 * 20_000 - 1, slot_ns=20_000)
    assert sender.counter == 8
    sender.count_down_to(1_000 + 3 * 20_000, slot_ns=20_000)
    assert sender.counter == 5
    sender.count_down_to(500, slot_ns=20_000)  # still waiting when the next frame starts
    assert sender.counter == 5


def two_senders_exactly(window: int) -> tuple[float, float, float]:
    """Two senders, backoff uniform over 0 .. `window` for ever: the Markov chain, solved.

    A state is what the loser of the last exchange has left, 1 .. window; after a collision
    (state 0) both draw afresh. Returns the chances per transmission that it is a collision, and the
    mean number of idle slots before a transmission; and the chance of collision per attempt.
    """
    values = range(window + 1)
    draw = 1 / (window + 1)
    flow = [[0.0] * (window + 1) for _ in values]
    collides = [0.0] * (window + 1)
    idle = [0.0] * (window + 1)
    for state in values:
        others = {state: 1.0} if state > 0 else dict.fromkeys(values, draw)
        for other, weight in others.items():
            for fresh in values:
                chance = weight * draw
                idle[state] += chance * min(other, fresh)
                flow[state][abs(other - fresh)] += chance
                collides[state] += chance * (other == fresh)
    shares = [draw] * (window + 1)
    for _ in range(2_000):
        shares = [sum(shares[i] * flow[i][j] for i in values) for j in values]
    collision = sum(share * c for share, c in zip(shares, collides, strict=True))
    slots = sum(share * i for share, i in zip(shares, idle, strict=True))
    return collision, slots, 2 * collision / (1 + collision)


def test_two_senders_with_a_fixed_window_follow_their_markov_chain() -> None:
    for window in (3, 7):
        params = plain(2, window, window)
        collision, slots, probability = two_senders_exactly(window)
        out = slow_dcf.run(params, seed=11, until_ns=80 * SECOND)
        deviation = math.sqrt(collision * (1 - collision) / out.transmissions)
        measured = out.collided_transmissions / out.transmissions
        # Successive transmissions are correlated, weakly: twice the binomial 95 % interval.
        assert abs(measured - collision) < 4 * deviation
        assert out.collision_probability == pytest.approx(probability, abs=8 * deviation)
        length = (1 - collision) * params.exchange_ns(params.station)
        length += collision * params.station.data_ns + params.difs_ns + slots * params.slot_ns
        throughput = (1 - collision) * params.station.payload_bits / length * 1e9
        assert out.throughput_bps == pytest.approx(throughput, rel=4 * deviation)


def windows(cw_min: int, cw_max: int, retries: int) -> list[int]:
    """CW of each transmission of a frame."""
    stages = [cw_min]
    while len(stages) < retries:
        stages.append(min(2 * (stages[-1] + 1) - 1, cw_max))
    return stages


def smallest_root(function: Callable[[float], float]) -> float:
    """Root of an increasing function on (0, 1), by bisection."""
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if function(middle) < 0 else (low, middle)
    return low


def bianchi(n: int, stages: list[int]) -> float:
    """Collision probability of n saturated senders (Bianchi 2000, (7) and (9), finite retries)."""

    def attempts_per_slot(p: float) -> float:
        attempts = sum(p**i for i in range(len(stages)))
        return attempts / sum(p**i * (cw / 2 + 1) for i, cw in enumerate(stages))

    return smallest_root(lambda p: p - 1 + (1 - attempts_per_slot(p)) ** (n - 1))


def contended_fixed_point(n: int, stages: list[int]) -> float:
    """The same with the slot after a busy period left to those who just sent.

    A frozen counter is at least 1 when the countdown goes on, so the first slot after a busy period
    can be used only by a sender that has just drawn 0 (Bianchi, Tinnirello, Scalia 2005), and
    after a success that attempt cannot collide. Two effects, of opposite sign:
    - a share 1/(CW+1) of all attempts escapes collision: Bianchi's p is too high by that share;
    - the other attempts lie in fewer slots: a draw b >= 1 comes round after b contended slots,
      (CW+1)/2 on average and not CW/2 + 1, so tau among them is higher: Bianchi's p is too low.
    To first order in 1/CW and in p they cancel, so two stations show no difference. With many
    senders p = 1 - (1 - tau)^(n-1) bends, tau matters less, the first effect wins, and Bianchi's p
    is too high: by about 0.004 at n = 10 and 0.006 at n = 20 with CW from 31 to 1023.
    """

    def visits(p: float) -> tuple[float, float, float]:
        reach, attempts, contended, slots = 1.0, 0.0, 0.0, 0.0
        for cw in stages:
            attempts += reach
            at_risk = reach * cw / (cw + 1)
            contended += at_risk
            slots += at_risk * (cw + 1) / 2
            reach = at_risk * p
        return attempts, contended, slots

    def gap(p: float) -> float:
        _, contended, slots = visits(p)
        return p - 1 + (1 - contended / slots) ** (n - 1)

    p = smallest_root(gap)
    attempts, contended, _ = visits(p)
    return p * contended / attempts


def replications(params: Parameters, seconds: int, seeds: range) -> tuple[float, float]:
    """Mean collision probability over seeds, and half of its 99 % interval (normal, t is near)."""
    outcomes = [slow_dcf.run(params, seed, seconds * SECOND) for seed in seeds]
    values = [out.collision_probability for out in outcomes]
    mean = sum(values) / len(values)
    variance = sum((value - mean) ** 2 for value in values) / (len(values) - 1)
    student_99 = {4: 5.841, 5: 4.604}[len(values)]
    return mean, student_99 * math.sqrt(variance / len(values))


@pytest.mark.parametrize("n", [5, 10])
def test_collision_probability_is_near_bianchi(n: int) -> None:
    params = plain(n, 31, 1023)
    stages = windows(31, 1023, 7)
    mean, half = replications(params, 50, range(5))
    # Beyond the slot after the busy period, both fixed points take the stages of different senders
    # for independent. That costs at most 0.003 here (seen with long runs for n = 2 .. 50).
    decoupling = 0.003
    assert abs(mean - contended_fixed_point(n, stages)) < half + decoupling
    assert abs(mean - bianchi(n, stages)) < half + 0.007


def test_bianchi_is_too_high_when_many_contend_for_a_short_window() -> None:
    # One window for all transmissions: no stages, so the decoupling holds better and the slot after
    # the busy period is all that is left: 0.695 against 0.684.
    stages = windows(31, 31, 7)
    mean, half = replications(plain(20, 31, 31), 25, range(4))
    assert half < 0.006
    assert mean + half < bianchi(20, stages)
    assert abs(mean - contended_fixed_point(20, stages)) < half + 0.002


def test_eifs_costs_throughput_and_colliders_go_first() -> None:
    difs = slow_dcf.ieee_80211b(10, after_collision="difs", colliders="as-others")
    eifs = slow_dcf.ieee_80211b(10, after_collision="eifs", colliders="ack-timeout+difs")
    with_difs = slow_dcf.run(difs, 3, 60 * SECOND)
    with_eifs = slow_dcf.run(eifs, 3, 60 * SECOND)
    # ns-3 users see the same: ten saturated stations lose about 3 % when third parties wait EIFS.
    assert with_eifs.throughput_bps / with_difs.throughput_bps == pytest.approx(0.97, abs=0.01)


def test_rts_collisions_are_short_and_the_ap_counts_apart() -> None:
    params = slow_dcf.ieee_80211b(4, rts_threshold_bytes=500, ap_packet_bytes=300)
    assert not params.uses_rts(params.senders()[0])
    assert params.uses_rts(params.senders()[1])
    out = slow_dcf.run(params, 2, 30 * SECOND, warmup_ns=SECOND)
    assert len(out.attempts) == 5
    rows = zip(out.attempts, out.collisions, out.successes, strict=True)
    assert all(attempts == collisions + successes for attempts, collisions, successes in rows)
    # Equal access for all, whatever they send (3 % is three deviations of a binomial share).
    fair = sum(out.successes) / 5
    assert all(abs(successes - fair) < 0.03 * fair for successes in out.successes)
    # A collision lasts an RTS (272 us) or, with the AP in it, the AP's DATA: 192 + 245 us.
    length = out.collision_ns / out.collided_transmissions
    assert params.rts_ns == 272_000
    assert params.senders()[0].data_ns == 437_000
    assert 272_000 < length < 437_000
