"""Define the parameters of paper L: the times of section 4, and the reading of each equation.

T_s1, T_s2 and T_c can be derived from lengths, a PHY or a resolved scenario.

The paper does not state payload, MAC ACK rate, ACK timeout and m of its figures (L6):
`Parameters.of_figures` is the choice made here, with each value an argument. Data goes from
stations to the access point; "TCP ACK" is the frame in the other direction.
"""

from dataclasses import dataclass
from typing import Final, Literal, Self

from airtcp.models import checks
from airtcp.models.airtime import Phy, Rate, exchange_time_ns, frame_time_ns

__all__ = ["CORRECTED", "PAPER", "Parameters", "Variant"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameters:
    """The times of section 4, in seconds, and the payload in bits.

    `slot_s`: sigma. `t_s1_s`, `t_s2_s`: T_s1 and T_s2, a successful data frame and a successful TCP
    ACK, including the wait AIFS_0 after them. `t_c_s`: T_c, a collision. `payload_s`: E, the
    transmission time of the TCP payload; `payload_bits`: its size.

    Raises `ValueError` with the name of an invalid field.
    """

    slot_s: float
    t_s1_s: float
    t_s2_s: float
    t_c_s: float
    payload_s: float
    payload_bits: int

    def __post_init__(self) -> None:
        for name in ("slot_s", "t_s1_s", "t_s2_s", "t_c_s", "payload_s"):
            checks.scalar(name, getattr(self, name), above=0.0)
        checks.scalar("payload_s", self.payload_s, at_most=self.t_s1_s)
        checks.scalar("payload_bits", self.payload_bits, above=0, whole=True)

    @classmethod
    def from_lengths(
        cls,
        *,
        slot_s: float,
        sifs_s: float,
        difs_s: float,
        phy_header_s: float,
        data_rate_bps: float,
        control_rate_bps: float,
        payload_bits: int,
        header_bits: int,
        mac_header_bits: int,
        ack_bits: int,
        ack_timeout_s: float,
        propagation_s: float = 0.0,
        headers: Literal["sent", "printed"] = "sent",
    ) -> Self:
        """Create the times by the paper's sums, with a frame of PHY + bits / rate.

        T_s1 = PHY + MAC + E + SIFS + delta + ACK + DIFS + delta; T_s2 is the same with the TCP ACK
        (`header_bits`: TCP and IP) instead of E; T_c = PHY + MAC + E + ACK_Timeout + DIFS, as
        printed without a delta. `mac_header_bits` includes FCS and LLC. The printed T_s1 has no
        term for the TCP and IP headers of a data packet. Here they are "sent" with the payload, or
        left out as "printed" (with the lengths of `of_figures` about 1 % of throughput).

        Raises `ValueError` with the name of an invalid argument.
        """
        rates = {"data_rate_bps": data_rate_bps, "control_rate_bps": control_rate_bps}
        for name, rate in rates.items():
            checks.scalar(name, rate, above=0.0)
        given = {
            "sifs_s": sifs_s,
            "difs_s": difs_s,
            "phy_header_s": phy_header_s,
            "ack_timeout_s": ack_timeout_s,
            "propagation_s": propagation_s,
            "header_bits": header_bits,
            "mac_header_bits": mac_header_bits,
            "ack_bits": ack_bits,
        }
        for name, value in given.items():
            checks.scalar(name, value, at_least=0.0, whole=name.endswith("_bits"))
        checks.choice("headers", headers, ("sent", "printed"))
        mac_s, payload_s = mac_header_bits / data_rate_bps, payload_bits / data_rate_bps
        tcp_ack_s = header_bits / data_rate_bps
        packet_s = payload_s + tcp_ack_s if headers == "sent" else payload_s
        ack_s = phy_header_s + ack_bits / control_rate_bps
        around = phy_header_s + mac_s + sifs_s + ack_s + difs_s + 2.0 * propagation_s
        return cls(
            slot_s=slot_s,
            t_s1_s=around + packet_s,
            t_s2_s=around + tcp_ack_s,
            t_c_s=phy_header_s + mac_s + packet_s + ack_timeout_s + difs_s,
            payload_s=payload_s,
            payload_bits=payload_bits,
        )

    @classmethod
    def of_figures(
        cls,
        *,
        payload_bytes: int = 1460,
        control_rate_bps: float = 2e6,
        ack_timeout_s: float = 222e-6,
        headers: Literal["sent", "printed"] = "sent",
    ) -> Self:
        """Create the times of Figs 4, 5 and 8: 802.11b at 11 Mb/s; choices that L6 leaves open.

        Chosen: 1460 bytes of payload (which puts the bottleneck of Fig. 8a near 5 Mb/s, as the text
        says), 40 of TCP and IP headers, 34 of MAC header and FCS, no LLC, long preamble, MAC ACK at
        2 Mb/s, ACK timeout SIFS + slot + PHY header, AIFS_0 = DIFS = 50 us (Fig. 3), no propagation
        delay. The corresponding m is 5 (CW 32 to 1024), and D is 2 (90 - 50 us).

        >>> round(Parameters.of_figures().t_s1_s * 1e6, 1)
        1615.6
        """
        checks.scalar("payload_bytes", payload_bytes, above=0, whole=True)
        return cls.from_lengths(
            slot_s=20e-6,
            sifs_s=10e-6,
            difs_s=50e-6,
            phy_header_s=192e-6,
            data_rate_bps=11e6,
            control_rate_bps=control_rate_bps,
            payload_bits=8 * payload_bytes,
            header_bits=320,
            mac_header_bits=272,
            ack_bits=112,
            ack_timeout_s=ack_timeout_s,
            headers=headers,
        )

    @classmethod
    def from_phy(
        cls,
        phy: Phy,
        *,
        mss_bytes: int,
        header_bits: int,
        ack_timeout_ns: int,
        aifs_ns: int | None = None,
        data_rate: Rate | None = None,
        control_rate: Rate | None = None,
    ) -> Self:
        """Create the times from any PHY of `airtcp.models.airtime`, with basic access.

        `aifs_ns` is AIFS_0, the access point's (default: DIFS); default rates are the PHY's.

        >>> from airtcp.models.airtime import HOT_SPOT
        >>> times = Parameters.from_phy(
        ...     HOT_SPOT, mss_bytes=1460, header_bits=320, ack_timeout_ns=222_000)
        >>> round(times.t_s1_s * 1e6, 1), round(times.t_c_s * 1e6, 1)
        (1615.6, 1579.6)
        """
        checks.scalar("mss_bytes", mss_bytes, above=0, whole=True)
        checks.scalar("header_bits", header_bits, at_least=0, whole=True)
        checks.scalar("ack_timeout_ns", ack_timeout_ns, at_least=0, whole=True)
        aifs = phy.difs_ns if aifs_ns is None else aifs_ns
        checks.scalar("aifs_ns", aifs, at_least=0, whole=True)
        packet_bits = header_bits + 8 * mss_bytes

        def success_s(bits: int) -> float:
            exchange = exchange_time_ns(
                phy, bits, rts=False, data_rate=data_rate, control_rate=control_rate
            )
            return (int(exchange) + aifs) / 1e9

        frame = int(frame_time_ns(phy, packet_bits, data_rate=data_rate))
        return cls(
            slot_s=phy.slot_time_ns / 1e9,
            t_s1_s=success_s(packet_bits),
            t_s2_s=success_s(header_bits),
            t_c_s=(frame + ack_timeout_ns + aifs) / 1e9,
            payload_s=8 * mss_bytes / (data_rate or phy.data_rate).bps,
            payload_bits=8 * mss_bytes,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Variant:
    """Which reading of paper L's equations to compute; ids are those of `errata.md`.

    - `ap_success` (L4), Q(1,0), the slots with a TCP ACK: "printed" is tau_1, which counts the
      access point's collisions as successes; "exclusive" is tau_1 [P_hold + (1-P_hold)
      (1-tau_2)^n], the access point transmits and nobody else does. (9) is based on the chosen one.
    - `collisions` (L5), the p of a station: "stations", (2) as printed, which leaves out the access
      point; or "all", p = 1 - (1-tau_1) (1-tau_2)^(n-1).
    """

    ap_success: Literal["printed", "exclusive"]
    collisions: Literal["stations", "all"]

    def __post_init__(self) -> None:
        checks.choices(self)


PAPER: Final = Variant(ap_success="printed", collisions="stations")
"""The equations as printed, slips that are settled (L1, L2, L3) aside."""

CORRECTED: Final = Variant(ap_success="exclusive", collisions="all")
"""The form whose flows balance: what the chain sends is what the channel carries.

It takes literally that the access point sends in every slot with the same probability, and so lets
it collide. An access point with CWmin = 1 sends in the first slot after AIFS_0, where the stations
hold, and never collides: for it `PAPER` is nearer.
"""
