"""Define the parameters of paper M: times, lengths, windows, and the reading of each equation.

They come from Table 1 and section 2.3 of the paper, or from a resolved scenario.

The paper's CWmin = 32 (a backoff uniform over 0 .. CWmin - 1) is `w0` here; the standard's aCWmin
is `w0` - 1. "Data" and "TCP ACK" are the two frames of a download: a full segment from the access
point, and a segment without payload from a station.
"""

import math
from dataclasses import dataclass
from typing import Final, Literal, Self

from airtcp.models import checks
from airtcp.models.airtime import Phy, Rate, mpdu_bits, ppdu_time_ns

__all__ = ["CORRECTED", "PAPER", "Parameters", "Variant"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameters:
    """The inputs of equations (1) to (17) and (A.1) to (A.3).

    Seconds, bits, bits/s. `slot_s`, `sifs_s`, `difs_s`: T_slot, T_SIFS, T_DIFS. `w0`, `w_max`:
    CWmin and CWmax as the paper counts them (32 and 1024); stage k has the window min(2^k w0,
    w_max). `m`: the most transmissions of a frame. `data_s`, `tcp_ack_s`, `rts_s`, `cts_s`,
    `mac_ack_s`: durations of whole frames (PPDUs), including T_P and T_PHY, and a propagation delay
    if there is one. `rts_before_data`, `rts_before_tcp_ack`: whether an RTS/CTS exchange precedes
    them (the paper: always). `tcp_payload_bits`: L_TCP. `mac_header_bits`: L_MAC (with LLC).
    `data_rate_bps`: R_data.

    Raises `ValueError` with the name of an invalid field.
    """

    slot_s: float
    sifs_s: float
    difs_s: float
    w0: int
    w_max: int
    m: int
    data_s: float
    tcp_ack_s: float
    rts_s: float
    cts_s: float
    mac_ack_s: float
    rts_before_data: bool
    rts_before_tcp_ack: bool
    tcp_payload_bits: int
    mac_header_bits: int
    data_rate_bps: float

    def __post_init__(self) -> None:
        for name in ("slot_s", "data_s", "tcp_ack_s", "rts_s", "cts_s", "mac_ack_s"):
            checks.scalar(name, getattr(self, name), above=0.0)
        for name in ("sifs_s", "difs_s"):
            checks.scalar(name, getattr(self, name), at_least=0.0)
        checks.scalar("w0", self.w0, at_least=1, whole=True)
        checks.scalar("w_max", self.w_max, at_least=self.w0, at_most=2**40, whole=True)
        checks.scalar("m", self.m, at_least=1, at_most=10_000, whole=True)
        checks.scalar("tcp_payload_bits", self.tcp_payload_bits, above=0, whole=True)
        checks.scalar("mac_header_bits", self.mac_header_bits, at_least=0, whole=True)
        checks.scalar("data_rate_bps", self.data_rate_bps, above=0.0)

    @classmethod
    def table_1(cls, *, rts: Literal["printed", "standard"] = "printed") -> Self:
        """Create those of Table 1 and section 2.3: 802.11b, long preamble, 11 and 2 Mb/s.

        A frame takes T_P + T_PHY + bits / rate.

        `rts`: the RTS has 180 bits as "printed", or the 160 of the "standard" (erratum M8).

        >>> round(Parameters.table_1().t_tcp_data_s * 1e6, 2)
        1831.09
        """
        checks.choice("rts", rts, ("printed", "standard"))
        data_rate_bps, control_rate_bps = 11e6, 2e6
        mac_header_bits, header_bits, payload_bits = 272, 320, 8000
        headers = mac_header_bits + header_bits

        def frame_s(bits: int, rate_bps: float) -> float:
            return 144e-6 + 48e-6 + bits / rate_bps

        return cls(
            slot_s=20e-6,
            sifs_s=10e-6,
            difs_s=50e-6,
            w0=32,
            w_max=1024,
            m=7,
            data_s=frame_s(headers + payload_bits, data_rate_bps),
            tcp_ack_s=frame_s(headers, data_rate_bps),
            rts_s=frame_s(180 if rts == "printed" else 160, control_rate_bps),
            cts_s=frame_s(112, control_rate_bps),
            mac_ack_s=frame_s(112, control_rate_bps),
            rts_before_data=True,
            rts_before_tcp_ack=True,
            tcp_payload_bits=payload_bits,
            mac_header_bits=mac_header_bits,
            data_rate_bps=data_rate_bps,
        )

    @classmethod
    def from_phy(
        cls,
        phy: Phy,
        *,
        mss_bytes: int,
        header_bits: int,
        retry_limit: int,
        rts_threshold_bytes: int | None,
        data_rate: Rate | None = None,
        control_rate: Rate | None = None,
    ) -> Self:
        """Create parameters from any PHY of `airtcp.models.airtime`; default rates are the PHY's.

        RTS/CTS precedes frames whose MPDU is longer than `rts_threshold_bytes` (None: never).
        `retry_limit` is m, the most transmissions.

        Raises `ValueError` with the name of an invalid argument.

        >>> from airtcp.models.airtime import HOT_SPOT
        >>> basic = Parameters.from_phy(HOT_SPOT, mss_bytes=1460, header_bits=320, retry_limit=7,
        ...                             rts_threshold_bytes=None)
        >>> round(basic.t_tcp_data_s * 1e6, 1), round(basic.t_tcp_ack_s * 1e6, 1)
        (1615.6, 553.8)
        """
        data_rate, control_rate = data_rate or phy.data_rate, control_rate or phy.control_rate
        checks.scalar("mss_bytes", mss_bytes, above=0, whole=True)
        tcp_ack_bits = int(mpdu_bits(phy, header_bits))
        data_bits = tcp_ack_bits + 8 * mss_bytes
        threshold = math.inf if rts_threshold_bytes is None else 8 * rts_threshold_bytes

        def seconds(rate: Rate, bits: int) -> float:
            return (int(ppdu_time_ns(phy, rate, bits)) + phy.propagation_delay_ns) / 1e9

        return cls(
            slot_s=phy.slot_time_ns / 1e9,
            sifs_s=phy.sifs_ns / 1e9,
            difs_s=phy.difs_ns / 1e9,
            w0=phy.cw_min + 1,
            w_max=phy.cw_max + 1,
            m=retry_limit,
            data_s=seconds(data_rate, data_bits),
            tcp_ack_s=seconds(data_rate, tcp_ack_bits),
            rts_s=seconds(control_rate, phy.rts_bits),
            cts_s=seconds(control_rate, phy.cts_bits),
            mac_ack_s=seconds(control_rate, phy.ack_bits),
            rts_before_data=data_bits > threshold,
            rts_before_tcp_ack=tcp_ack_bits > threshold,
            tcp_payload_bits=8 * mss_bytes,
            mac_header_bits=phy.mac_header_bits + phy.llc_bits,
            data_rate_bps=float(data_rate.bps),
        )

    @property
    def gamma(self) -> int:
        """Gamma of the paper: the first stage with the largest window."""
        return math.ceil(math.log2(self.w_max / self.w0))

    @property
    def mean_first_backoff_s(self) -> float:
        """T_slot (CWmin - 1) / 2: the mean backoff of a first attempt."""
        return self.slot_s * (self.w0 - 1) / 2.0

    @property
    def t_tcp_data_s(self) -> float:
        """T_TCP_data of section 2.3: DIFS and the exchange of a full segment, without backoff."""
        return self._exchange_s(self.data_s, self.rts_before_data)

    @property
    def t_tcp_ack_s(self) -> float:
        """T_TCP_ack of section 2.3: the same for a segment without payload."""
        return self._exchange_s(self.tcp_ack_s, self.rts_before_tcp_ack)

    def _exchange_s(self, frame_s: float, rts: bool) -> float:
        before = self.rts_s + self.sifs_s + self.cts_s + self.sifs_s if rts else 0.0
        return self.difs_s + before + frame_s + self.sifs_s + self.mac_ack_s


@dataclass(frozen=True, slots=True, kw_only=True)
class Variant:
    """Which reading of paper M's equations to compute; ids are those of `errata.md`.

    - `attempts` (M6), the probability that a backlogged node transmits in a slot, with b = T_b /
      T_slot: "renewal" 1/b as in (2), or "bianchi-like" 1/(b+1).
    - `stages`, the weights in (1): "printed" (1-P)P^k, which add up only to 1 - P^m, so that T_b
      falls to zero as P nears 1 (the cause of M5) and no root is left above some number of nodes;
      or "normalised", the same over 1 - P^m: the mean backoff per attempt, always with one root.
    - `backoff_in_collision` (M3): whether T_coll of (3) contains T_b, which (5) counts again.
    - `collision_charge` (M4): "per-node" charges each collision to every node in it, as (4) and (7)
      do; "once" divides by the mean number of nodes in a collision.
    - `single_connection` (M11): with n_c = 1, "two-backlogged" as in (9), or "alternating": with W*
      = d the two nodes are never backlogged together, as in section 4.1 and (A.3).
    - `setup` (M9): (13) as "printed", or with a "full-exchange" (L_MAC, and RTS/CTS where used).
    - `last_packet` (M10): (14) subtracts the bits that the last packet does not need ("trimmed"),
      or not ("padded", which footnote 1 says of ns-2).
    """

    attempts: Literal["renewal", "bianchi-like"]
    stages: Literal["printed", "normalised"]
    backoff_in_collision: bool
    collision_charge: Literal["per-node", "once"]
    single_connection: Literal["two-backlogged", "alternating"]
    setup: Literal["printed", "full-exchange"]
    last_packet: Literal["trimmed", "padded"]

    def __post_init__(self) -> None:
        checks.choices(self)


PAPER: Final = Variant(
    attempts="renewal",
    stages="printed",
    backoff_in_collision=True,
    collision_charge="per-node",
    single_connection="two-backlogged",
    setup="printed",
    last_packet="trimmed",
)
"""The equations as printed, slips that are settled (M1, M2, M5, M12) aside."""

CORRECTED: Final = Variant(
    attempts="bianchi-like",
    stages="normalised",
    backoff_in_collision=False,
    collision_charge="once",
    single_connection="alternating",
    setup="full-exchange",
    last_packet="trimmed",
)
"""The better form wherever there is one. For ns-2 files: `last_packet="padded"`."""
