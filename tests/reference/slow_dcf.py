"""A slow, plain DCF of one cell in which every station always has a frame to send.

It has the airtimes of DSSS/CCK frames (IEEE 802.11-2020, clauses 15.2 and 16.2), backoff,
freezing, collisions, retries, RTS/CTS by threshold, and the waits after a success and after a
collision (clause 10.3). It has no queues, TCP, arrivals or frame errors, and shares no code with
airtcp: it is the second opinion on contention.

It is written to be read, not to be fast. Each station holds its own counter and its own
instant `resume` at which its countdown goes on; before each transmission every station is asked
when it wants the medium, the earliest has it, and equal instants collide. Times are integer
nanoseconds; no two instants are ever "close".
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Literal

AfterCollision = Literal["eifs", "difs", "eifs+difs"]
Colliders = Literal["ack-timeout+difs", "as-others"]

NS_PER_US = 1_000

LONG_PREAMBLE_NS = 144_000
LONG_HEADER_NS = 48_000


def divide_up(numerator: int, denominator: int) -> int:
    """The quotient of two non-negative integers, rounded upwards."""
    return (numerator + denominator - 1) // denominator


def dsss_ns(bits: int, rate_bps: int) -> int:
    """Duration of a DSSS or CCK PPDU that carries `bits` (MAC header and FCS included).

    The PLCP header announces the payload's length in whole microseconds, upwards.
    """
    payload_ns = divide_up(bits * 1_000_000, rate_bps) * NS_PER_US
    return LONG_PREAMBLE_NS + LONG_HEADER_NS + payload_ns


@dataclass(frozen=True)
class Frame:
    """What a sender sends, again and again: MPDU bytes, airtime, and the payload that counts."""

    mpdu_bytes: int
    data_ns: int
    payload_bits: int


@dataclass(frozen=True)
class Parameters:
    """One cell. All times in nanoseconds; `cw_min` and `cw_max` as in the standard (0 .. CW).

    `ap` is None when the access point only receives; otherwise it contends like a station and is
    number 0 in all per-sender results. `ack_timeout_ns` runs from the end of one's own frame, for a
    missing CTS as for a missing ACK. `short_retry_limit` counts transmissions; 1 means no retry.
    """

    stations: int
    station: Frame
    ap: Frame | None
    slot_ns: int
    sifs_ns: int
    difs_ns: int
    eifs_ns: int
    ack_timeout_ns: int
    propagation_ns: int
    rts_ns: int
    cts_ns: int
    ack_ns: int
    cw_min: int
    cw_max: int
    rts_threshold_bytes: int | None
    short_retry_limit: int
    after_collision: AfterCollision
    colliders: Colliders

    def senders(self) -> list[Frame]:
        """The frame of every sender, the access point's first if it sends."""
        frames = [] if self.ap is None else [self.ap]
        return frames + [self.station] * self.stations

    def uses_rts(self, frame: Frame) -> bool:
        """RTS/CTS goes before an MPDU that is longer than the threshold."""
        return self.rts_threshold_bytes is not None and frame.mpdu_bytes > self.rts_threshold_bytes

    def first_frame_ns(self, frame: Frame) -> int:
        """Airtime of what collides: the RTS if there is one, else the DATA frame."""
        return self.rts_ns if self.uses_rts(frame) else frame.data_ns

    def control_ns(self, frame: Frame) -> int:
        """Airtime of the control frames of a successful exchange."""
        return (self.rts_ns + self.cts_ns if self.uses_rts(frame) else 0) + self.ack_ns

    def exchange_ns(self, frame: Frame) -> int:
        """From the first bit of the first frame to the end of the MAC ACK, everywhere.

        Every frame is followed by the propagation delay once, the MAC ACK too.
        """
        frames = 4 if self.uses_rts(frame) else 2
        on_the_air = frame.data_ns + self.control_ns(frame)
        return on_the_air + (frames - 1) * self.sifs_ns + frames * self.propagation_ns

    def third_party_wait_ns(self) -> int:
        """How long stations that took no part in a collision wait after it."""
        return {
            "eifs": self.eifs_ns,
            "difs": self.difs_ns,
            "eifs+difs": self.eifs_ns + self.difs_ns,
        }[self.after_collision]


@dataclass
class Outcome:
    """What happened in the measured time. Lists have one entry per sender, an AP that sends first.

    An exchange counts if it starts in the measured time; airtime is cut off at its edges.
    """

    measured_ns: int
    attempts: list[int]
    collisions: list[int]
    successes: list[int]
    drops: list[int]
    payload_bits: int = 0
    transmissions: int = 0
    collided_transmissions: int = 0
    draws: int = 0
    cw_total: int = 0
    data_ns: int = 0
    control_ns: int = 0
    collision_ns: int = 0

    @property
    def collision_probability(self) -> float:
        """Attempts that collide, over attempts."""
        return sum(self.collisions) / sum(self.attempts)

    @property
    def throughput_bps(self) -> float:
        """Payload delivered, in bits per second."""
        return self.payload_bits * 1e9 / self.measured_ns

    @property
    def mean_cw(self) -> float:
        """Mean of CW over all draws of a backoff."""
        return self.cw_total / self.draws

    @property
    def airtime(self) -> dict[str, float]:
        """Fractions of the measured time; idle is all time without a frame on the air."""
        busy = {
            "data": self.data_ns / self.measured_ns,
            "control": self.control_ns / self.measured_ns,
            "collision": self.collision_ns / self.measured_ns,
        }
        return {"idle": 1.0 - sum(busy.values()), **busy}


@dataclass
class Sender:
    """A sender's own state: the frame under way, CW, transmissions so far, counter, and resume."""

    frame: Frame
    cw: int
    resume: int
    counter: int = 0
    transmissions: int = 0

    def access_time(self, slot_ns: int) -> int:
        """When it starts to send, if the medium stays idle until then."""
        return self.resume + self.counter * slot_ns

    def count_down_to(self, start: int, slot_ns: int) -> None:
        """Freeze: only whole slots of idle medium since `resume` have been counted."""
        if start > self.resume:
            self.counter -= (start - self.resume) // slot_ns
        assert self.counter >= 0


def run(
    params: Parameters,
    seed: int,
    until_ns: int,
    warmup_ns: int = 0,
    trace: list[tuple[int, tuple[int, ...]]] | None = None,
) -> Outcome:
    """Simulate from 0 to `until_ns` and report on the time from `warmup_ns` on.

    At time 0 the medium falls idle and every sender draws its first backoff, in the order of their
    numbers; later draws come in the order of the exchanges, within a collision by number. `trace`,
    if given, is filled with the start of each transmission and who took part in it.
    """
    rng = random.Random(seed)
    senders = [Sender(frame, params.cw_min, params.difs_ns) for frame in params.senders()]
    numbers = range(len(senders))
    zeros = [0] * len(senders)
    out = Outcome(until_ns - warmup_ns, zeros[:], zeros[:], zeros[:], zeros[:])

    def measured(start: int, end: int) -> int:
        return max(0, min(end, until_ns) - max(start, warmup_ns))

    def draw(sender: Sender, counts: bool) -> None:
        sender.counter = rng.randint(0, sender.cw)
        if counts:
            out.draws += 1
            out.cw_total += sender.cw

    for sender in senders:
        draw(sender, counts=warmup_ns == 0)

    while True:
        start = min(sender.access_time(params.slot_ns) for sender in senders)
        if start >= until_ns:
            return out
        winners = [i for i in numbers if senders[i].access_time(params.slot_ns) == start]
        for sender in senders:
            sender.count_down_to(start, params.slot_ns)
        if trace is not None:
            trace.append((start, tuple(winners)))
        counts = start >= warmup_ns
        out.transmissions += counts
        for i in winners:
            out.attempts[i] += counts
            senders[i].transmissions += 1

        if len(winners) == 1:
            winner = senders[winners[0]]
            end = start + params.exchange_ns(winner.frame)
            for sender in senders:
                sender.resume = end + params.difs_ns
            out.successes[winners[0]] += counts
            out.payload_bits += winner.frame.payload_bits * counts
            # Only the sums matter, so the control frames may stand before the data here.
            control_end = start + params.control_ns(winner.frame)
            out.control_ns += measured(start, control_end)
            out.data_ns += measured(control_end, control_end + winner.frame.data_ns)
            winner.cw = params.cw_min
            winner.transmissions = 0
            draw(winner, counts)
            continue

        own_end = {
            i: start + params.first_frame_ns(senders[i].frame) + params.propagation_ns
            for i in winners
        }
        end = max(own_end.values())
        out.collided_transmissions += counts
        out.collision_ns += measured(start, end - params.propagation_ns)
        for sender in senders:
            sender.resume = end + params.third_party_wait_ns()
        for i in winners:
            collider = senders[i]
            if params.colliders == "ack-timeout+difs":
                gave_up = own_end[i] + params.ack_timeout_ns
                collider.resume = max(gave_up, end) + params.difs_ns
            out.collisions[i] += counts
            if collider.transmissions == params.short_retry_limit:
                out.drops[i] += counts
                collider.transmissions = 0
                collider.cw = params.cw_min
            else:
                collider.cw = min(2 * (collider.cw + 1) - 1, params.cw_max)
            draw(collider, counts)


def ieee_80211b(
    stations: int,
    packet_bytes: int = 1500,
    rts_threshold_bytes: int | None = None,
    ap_packet_bytes: int | None = None,
    after_collision: AfterCollision = "eifs",
    colliders: Colliders = "ack-timeout+difs",
) -> Parameters:
    """802.11b at 11 Mb/s, long preamble, control frames at 2 Mb/s: UDP in IP packets.

    The MPDU is the packet, 8 bytes of LLC/SNAP and 28 of MAC header and FCS; payload is the packet
    less 28 bytes of IP and UDP headers. EIFS is SIFS + DIFS + an ACK at 1 Mb/s (364 us), the ACK
    timeout SIFS + slot + PHY header (222 us).
    """

    def frame(packet: int) -> Frame:
        mpdu = packet + 8 + 28
        return Frame(mpdu, dsss_ns(8 * mpdu, 11_000_000), 8 * (packet - 28))

    return Parameters(
        stations=stations,
        station=frame(packet_bytes),
        ap=None if ap_packet_bytes is None else frame(ap_packet_bytes),
        slot_ns=20_000,
        sifs_ns=10_000,
        difs_ns=50_000,
        eifs_ns=10_000 + 50_000 + dsss_ns(8 * 14, 1_000_000),
        ack_timeout_ns=10_000 + 20_000 + 192_000,
        propagation_ns=0,
        rts_ns=dsss_ns(8 * 20, 2_000_000),
        cts_ns=dsss_ns(8 * 14, 2_000_000),
        ack_ns=dsss_ns(8 * 14, 2_000_000),
        cw_min=31,
        cw_max=1023,
        rts_threshold_bytes=rts_threshold_bytes,
        short_retry_limit=7,
        after_collision=after_collision,
        colliders=colliders,
    )
