"""Saturated senders against closed forms: one and two exactly, more against Bianchi's model.

The senders are saturated UDP uploads under the rules "bianchi" (a fresh backoff for every frame,
everybody waits DIFS after anything). The core then differs from the model of Bianchi (2000), with
the retry limit after Wu et al. (2002), only in two effects that the model leaves out. Both are
small, and their signs are known:

*Reserved slot.* A frozen counter is at least 1 when the countdown resumes. So only a station that
has just sent and drew 0 can use the first slot after a busy period (Bianchi and Tinnirello 2005);
in the model all can. After a success an attempt there cannot collide: fewer collisions. The other
attempts share fewer slots: more collisions. For two senders with one window the two cancel exactly
(2 / (W + 1) either way, as their Markov chain shows). With many senders p = 1 - (1 - tau)^(n-1) is
concave, so the second effect is smaller, and the model's p is too high: by 0.0007 at n = 5 and
0.010 at n = 20 with CW = 31 throughout. `reserved_slot` computes this effect.

*Common fate.* The model assumes that senders have independent backoff stages. But a collision
doubles the windows of all its senders, so small windows meet small windows more often than by
chance: more collisions than in the model. This is visible if the two or three colliding senders are
the only ones. The exact chain of two senders has p = 0.0588, the model 0.0570; with one window for
all transmissions (no stages) the difference vanishes.

So the model's p is too low for two to five senders (by 0.001 to 0.0025) and too high for ten and
more (by 0.003 to 0.010). Its throughput is up to 1 % too high, because in reality the slot after a
busy period is empty 31 times out of 32. With many senders the model's surplus of collisions cancels
this. The variant "freezing" gives the slot to the last sender.

Intervals are Student's over independent replications at 99.9 %; the seeds are fixed.
"""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from airtcp.models import bianchi
from airtcp.models.airtime import Phy, collision_time_ns, exchange_time_ns
from airtcp.models.max_throughput import lone_sender
from airtcp.scenario import loads
from bases import cell
from peers.samples import answers, interval, metric
from scipy.optimize import brentq
from two_senders import two_senders, windows

CONFIDENCE = 0.999
PACKET_BYTES = 1500
PAYLOAD_BITS = 8 * (PACKET_BYTES - 28)


def scenario(
    n: int,
    *,
    standard: str = "802.11b",
    cw_min: int = 31,
    cw_max: int = 1023,
    rts: bool = False,
    retry_limit: int = 7,
    packet: int = PACKET_BYTES,
    duration: int = 120,
) -> str:
    threshold = 'rts_threshold = "0 B"' if rts else ""
    return cell(
        n,
        standard=standard,
        name="sender",
        phy=f"cw_min = {cw_min}\ncw_max = {cw_max}",
        tables=f'[mac]\nrules.preset = "bianchi"\nshort_retry_limit = {retry_limit}\n{threshold}',
        direction="upload",
        application=f'{{ kind = "udp", packet = "{packet} B", rate = "saturated" }}',
        warmup="2 s",
        duration=f"{duration} s",
        seed=7,
        replications=20,
    )


def phy_of(text: str) -> Phy:
    return Phy.of(loads(text).phy)


@dataclass(frozen=True)
class ReservedSlot:
    """Collisions per attempt, and attempts per slot of a sender in the slots open to all."""

    collision_probability: float
    tau: float


def reserved_slot(n: int, stages: list[int]) -> ReservedSlot:
    """Bianchi's fixed point with the slot after a busy period reserved for the last sender.

    A draw of 0 is an attempt without risk (true after a success, nearly so after a collision). A
    draw b >= 1 ends after b slots that are open to all. Stages stay independent.
    """

    def visits(p: float) -> tuple[float, float, float]:
        reach, attempts, at_risk, slots = 1.0, 0.0, 0.0, 0.0
        for cw in stages:
            attempts += reach
            risky = reach * cw / (cw + 1)
            at_risk += risky
            slots += risky * (cw + 1) / 2
            reach = risky * p
        return attempts, at_risk, slots

    def excess(p: float) -> float:
        _, at_risk, slots = visits(p)
        return p - 1.0 + (1.0 - at_risk / slots) ** (n - 1)

    p = float(brentq(excess, 0.0, 1.0, xtol=1e-12))
    attempts, at_risk, slots = visits(p)
    return ReservedSlot(p * at_risk / attempts, at_risk / slots)


@pytest.mark.parametrize("rts", [False, True])
@pytest.mark.parametrize(
    ("standard", "cw_min"), [("802.11b", 31), ("802.11a", 15), ("802.11g", 15)]
)
def test_one_sender_never_collides_and_has_the_theoretical_maximum(
    standard: str, cw_min: int, rts: bool
) -> None:
    """Jun et al. (2003) is exact: DIFS, CWmin/2 slots on average, exchange, repeated."""
    text = scenario(1, standard=standard, cw_min=cw_min, rts=rts)
    runs = answers(text)
    expected = lone_sender(phy_of(text), 8 * PACKET_BYTES, rts=rts, payload_bits=PAYLOAD_BITS)

    assert all(run["counts"]["collisions"] == 0 for run in runs)
    assert metric(runs, "collision_probability") == [0.0] * len(runs)
    assert all(run["airtime"]["collision"] == 0.0 for run in runs)
    mean, half = interval(metric(runs, "goodput_bps"), CONFIDENCE)
    assert half < 0.001 * mean
    assert mean == pytest.approx(float(expected.throughput_bps), abs=half)


@pytest.mark.parametrize(
    ("cw_min", "cw_max", "retry_limit", "rts"),
    [
        (31, 1023, 7, False),
        (31, 1023, 7, True),
        (31, 31, 7, True),
        (15, 1023, 7, True),
        (7, 31, 4, False),
        (3, 3, 1, False),
        (30, 1023, 5, False),
    ],
)
def test_two_senders_follow_their_markov_chain(
    cw_min: int, cw_max: int, retry_limit: int, rts: bool
) -> None:
    """The chain is exact, so the only tolerance is the confidence interval."""
    text = scenario(2, cw_min=cw_min, cw_max=cw_max, retry_limit=retry_limit, rts=rts, duration=200)
    runs = answers(text)
    exact = two_senders(windows(cw_min, cw_max, retry_limit))

    mean, half = interval(metric(runs, "collision_probability"), CONFIDENCE)
    assert half < 0.0015
    assert mean == pytest.approx(exact.collision_probability, abs=half)

    phy = phy_of(text)
    success = int(exchange_time_ns(phy, 8 * PACKET_BYTES, rts=rts))
    lost = int(collision_time_ns(phy, 8 * PACKET_BYTES, rts=rts))
    busy = (1.0 - exact.collision) * success + exact.collision * lost
    period_ns = busy + phy.difs_ns + exact.idle_slots * phy.slot_time_ns
    expected = (1.0 - exact.collision) * PAYLOAD_BITS / period_ns * 1e9
    mean, half = interval(metric(runs, "goodput_bps"), CONFIDENCE)
    assert half < 0.002 * mean
    assert mean == pytest.approx(expected, abs=half)


@pytest.mark.parametrize(
    ("n", "retry_limit"), [(2, 7), (3, 7), (5, 7), (10, 7), (20, 7), (50, 7), (10, 255), (50, 255)]
)
def test_collision_probability_against_bianchi(n: int, retry_limit: int) -> None:
    """The bias has the sign explained above; the explained part leaves at most 0.003.

    0.003: what common fate adds to the reserved slot. It is exactly 0.0019 for two senders, by
    their chain; 0.0029 was the most measured (three senders). In a crowd common fate does not
    matter; the 0.002 measured there, in the other direction, is unexplained. 255 transmissions mean
    no limit: one frame of 50 senders in 10^69 meets it.
    """
    runs = answers(scenario(n, packet=200, retry_limit=retry_limit, duration=150))
    retries = None if retry_limit == 255 else retry_limit - 1
    model = float(bianchi.fixed_point(n, w0=32, m=5, retries=retries).p)
    mean, half = interval(metric(runs, "collision_probability"), CONFIDENCE)
    refined = reserved_slot(n, windows(31, 1023, min(retry_limit, 60)))

    assert half < 0.001
    if n <= 5:
        assert half < mean - model < 0.003
    else:
        assert half < model - mean < 0.012
    assert mean == pytest.approx(refined.collision_probability, abs=0.003 + half)


@pytest.mark.parametrize("n", [2, 3, 5, 10, 20, 50])
def test_without_stages_the_reserved_slot_is_all_that_is_left(n: int) -> None:
    """CW = 31 for every transmission: no common fate.

    Two senders match Bianchi's model. More senders match the fixed point with the reserved slot,
    after adding its unsafe attempts: after a collision each of the (n-1) tau other participants
    also draws 0 with probability 1/32, which is 0.001 of all attempts of 20 senders and 0.003 of
    those of 50. Counters are still assumed independent; the bound allows 0.0005 for that (0.0003
    was the most measured).
    """
    runs = answers(scenario(n, packet=200, cw_max=31, duration=150))
    mean, half = interval(metric(runs, "collision_probability"), CONFIDENCE)
    model = float(bianchi.fixed_point(n, w0=32, m=0, retries=6).p)
    refined = reserved_slot(n, [31] * 7)
    unsafe = (n - 1) * refined.tau / 32**2

    assert half < 0.0015
    if n == 2:
        assert mean == pytest.approx(model, abs=half)
    elif n >= 10:
        assert model - mean > half
    assert mean == pytest.approx(refined.collision_probability + unsafe, abs=0.0005 + half)


@pytest.mark.parametrize("rts", [False, True])
@pytest.mark.parametrize("n", [2, 5, 10, 20, 50])
def test_goodput_against_bianchi(n: int, rts: bool) -> None:
    """Bianchi's goodput is too high, by at most the time that the reserved slots take.

    One slot per busy period is 0.9 to 1.3 % of the time. The excess is smaller, because the model
    has too many collisions; it is not significant for 50 senders without RTS, where each collision
    costs a whole frame. "freezing" models the slot, so only the error of its collision probability
    remains: 0.01 of the attempts, which costs 0.2 % of goodput; 0.3 % is the bound.
    """
    text = scenario(n, rts=rts)
    mean, half = interval(metric(answers(text), "goodput_bps"), CONFIDENCE)
    phy = phy_of(text)
    times = bianchi.slot_times(phy, 8 * PACKET_BYTES, rts=rts, payload_bits=PAYLOAD_BITS)
    point = bianchi.fixed_point(n, w0=32, m=5, retries=6)
    plain = bianchi.saturation(point, times)
    freezing = bianchi.saturation(point, times, variant="freezing", w0=32)
    excess = float(plain.success_rate_per_s) * PAYLOAD_BITS / mean - 1.0
    reserved = float(plain.p_transmission * times.slot_s / plain.slot_s)
    relative = half / mean

    assert relative < 0.003
    assert -relative < excess < reserved + relative
    if rts or n <= 20:
        assert excess > relative
    assert float(freezing.success_rate_per_s) * PAYLOAD_BITS == pytest.approx(
        mean, rel=0.003 + relative
    )
