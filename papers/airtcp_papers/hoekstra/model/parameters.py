"""Define the parameters of paper H: Tables I and II, any resolved scenario, and the readings.

These are times, lengths and rates; only single frames are added up. The paper's Cw_min is the
standard's aCWmin (a backoff is uniform over 0 .. Cw_min), so here it is `cw_min` and not `w0`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Final, Literal, Self, TypeAlias

import numpy as np
from airtcp.data import beside
from airtcp.models import checks
from airtcp.models.airtime import Phy, Rate, ppdu_time_ns
from airtcp.models.checks import Values
from numpy.typing import ArrayLike

__all__ = [
    "CORRECTED",
    "PAPER",
    "TABLE_1",
    "TABLE_1_PROVENANCE",
    "TIME_UNIT_S",
    "Beacon",
    "Dialogue",
    "Parameters",
    "Radio",
    "Variant",
    "frame_time",
]

TIME_UNIT_S: Final = 1.024e-3
"""TU of IEEE 802.11-2020, 3.1: 1024 us. (The paper has 1.024 microseconds, erratum H1.)"""

_BEACON_BITS: Final = 584
_LLC_SNAP_BITS: Final = 64
_ROUNDING: Final = 8.0 * float(np.finfo(np.float64).eps)


@dataclass(frozen=True, slots=True, kw_only=True)
class Radio:
    """A column of Table I. Seconds, bits, bits/s; the table's symbols in parentheses.

    `cw_min` (Cw_min), `mac_bits` (MAC), `slot_s` (tau), `sifs_s`, `difs_s`, `eifs_s`, `phy_s`
    (PHY), `ack_bits` (ack), `propagation_s` (T_p), `data_rate_bps` (TS), `control_rate_bps` (TS_c),
    `management_rate_bps` (TS_m), `symbol_s` (STT; None where the table has NA).

    Raises `ValueError` with the name of an invalid field.
    """

    cw_min: int
    mac_bits: int
    slot_s: float
    sifs_s: float
    difs_s: float
    eifs_s: float
    phy_s: float
    ack_bits: int
    propagation_s: float
    data_rate_bps: float
    control_rate_bps: float
    management_rate_bps: float
    symbol_s: float | None

    def __post_init__(self) -> None:
        for name in ("cw_min", "mac_bits", "ack_bits"):
            checks.scalar(name, getattr(self, name), at_least=0, whole=True)
        for name in ("slot_s", "sifs_s", "difs_s", "eifs_s", "phy_s", "propagation_s"):
            checks.scalar(name, getattr(self, name), at_least=0.0)
        for name in ("data_rate_bps", "control_rate_bps", "management_rate_bps"):
            checks.scalar(name, getattr(self, name), above=0.0)
        if self.symbol_s is not None:
            checks.scalar("symbol_s", self.symbol_s, above=0.0)


Standard: TypeAlias = Literal["802.11a", "802.11b", "802.11g", "802.11n"]

_TABLE: Final = beside(__file__, "table_1.toml")

TABLE_1: Final[Mapping[Standard, Radio]] = MappingProxyType(
    {name: Radio(**{"symbol_s": None, **column}) for name, column in _TABLE["columns"].items()}
)
"""Table I of paper H as printed. The column of 802.11n is that of 802.11a, to the last number."""

TABLE_1_PROVENANCE: Final[Mapping[str, str]] = MappingProxyType(_TABLE["sources"])
"""Where each row of Table I comes from, and where it differs from the standard."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialogue:
    """Bits of the FTP commands and replies of a download; defaults are Table II.

    Refined model: `pasv_bits`, `reply_227_bits`, `retr_bits`, `reply_150_bits`, `reply_226_bits`
    (X_ftp-pasv, -227, -retr, -150, -226). Basic model: `get_bits` and `close_bits` (X_FTPget,
    X_FTPclose), which the paper does not give (erratum H7). Their default is the corresponding pair
    of the refined model, RETR and 226; `Dialogue(get_bits=0, close_bits=0)` leaves the frames
    empty, which shortens a transfer at 11 Mb/s by 41 us.

    Raises `ValueError` with the name of a length that is negative or not whole.
    """

    pasv_bits: int = 48
    reply_227_bits: int = 392
    retr_bits: int = 272
    reply_150_bits: int = 704
    reply_226_bits: int = 184
    get_bits: int = 272
    close_bits: int = 184

    def __post_init__(self) -> None:
        for name in self.__dataclass_fields__:
            checks.scalar(name, getattr(self, name), at_least=0, whole=True)


@dataclass(frozen=True, slots=True)
class Beacon:
    """A beacon frame of `frame_s` seconds, T_m(X_beacon) of (20), every `interval_s` seconds (BI).

    Raises `ValueError` unless the interval is longer than the frame.
    """

    frame_s: float
    interval_s: float

    def __post_init__(self) -> None:
        checks.scalar("frame_s", self.frame_s, above=0.0)
        checks.scalar("interval_s", self.interval_s, above=self.frame_s)

    @classmethod
    def from_phy(cls, phy: Phy, rate: Rate, *, interval_s: float, bits: int = _BEACON_BITS) -> Self:
        """Create a beacon of `bits` bits, including header and FCS, at `rate` on any PHY.

        Raises `ValueError` like `airtcp.models.airtime.ppdu_time_ns`.

        >>> from airtcp.models.airtime import HOT_SPOT
        >>> beacon = Beacon.from_phy(HOT_SPOT, Rate(1_000_000, "dsss"), interval_s=0.1024)
        >>> round(beacon.frame_s * 1e6)
        776
        """
        return cls(frame_s=int(ppdu_time_ns(phy, rate, bits)) / 1e9, interval_s=interval_s)


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameters:
    """The inputs of equations (1) to (22); symbols of the paper in parentheses.

    Seconds, bits, bits/s. `cw_min` (Cw_min), `slot_s` (tau), `sifs_s`, `difs_s`, `eifs_s`,
    `propagation_s` (T_p, after every frame). A data frame takes `phy_s` (PHY) and the time of
    `mac_bits` + `upper_bits` + x bits (MAC, X_hloh) at `data_rate_bps` (TS), rounded up to whole
    `symbol_s`, or not rounded (None, as (1) is printed). `mac_ack_s` is T_c of (2). `mss_bits`
    (X_MSS). `beacon`: None for a network without.

    Beyond the paper: `segments_per_ack`, the number of segments per TCP ACK, at least 1 and two in
    the paper; `further_acks`, the number of packets without data in a transfer that are not in the
    paper's dialogue, for example ACKs on the control connection.

    X_hloh is X_tcp/ip in the basic model; in the refined one LLC/SNAP adds 64 bits.

    Raises `ValueError` with the name of an invalid field.
    """

    cw_min: int
    slot_s: float
    sifs_s: float
    difs_s: float
    eifs_s: float
    propagation_s: float
    phy_s: float
    mac_bits: int
    upper_bits: int
    data_rate_bps: float
    symbol_s: float | None
    mac_ack_s: float
    mss_bits: int
    dialogue: Dialogue = Dialogue()
    beacon: Beacon | None = None
    segments_per_ack: float = 2.0
    further_acks: float = 0.0

    def __post_init__(self) -> None:
        checks.scalar("segments_per_ack", self.segments_per_ack, at_least=1.0)
        checks.scalar("further_acks", self.further_acks, at_least=0.0)
        for name in ("cw_min", "mac_bits", "upper_bits"):
            checks.scalar(name, getattr(self, name), at_least=0, whole=True)
        for name in ("slot_s", "sifs_s", "difs_s", "eifs_s", "propagation_s", "phy_s"):
            checks.scalar(name, getattr(self, name), at_least=0.0)
        for name in ("data_rate_bps", "mac_ack_s"):
            checks.scalar(name, getattr(self, name), above=0.0)
        checks.scalar("mss_bits", self.mss_bits, above=0, whole=True)
        if self.symbol_s is not None:
            checks.scalar("symbol_s", self.symbol_s, above=0.0)

    @classmethod
    def from_radio(
        cls,
        radio: Radio,
        *,
        llc_bits: int,
        symbols: Literal["ignored", "rounded"] = "ignored",
        mss_bits: int = 11_680,
        tcp_ip_bits: int = 320,
        beacon_interval_s: float | None = 100 * TIME_UNIT_S,
        dialogue: Dialogue = Dialogue(),
    ) -> Self:
        """Create parameters from a column of Table I, with the lengths of Table II.

        `llc_bits`: 0 in the basic model, 64 in the refined one. `symbols`: "ignored", as (1) and
        (2) are printed, or "rounded" up to whole STT if the radio has them (erratum H7). A beacon
        has the 584 bits of Table II; with an interval of None there is none.

        Raises `ValueError` with the name of an invalid argument.

        >>> quiet = Parameters.from_radio(TABLE_1["802.11a"], llc_bits=0, beacon_interval_s=None)
        >>> quiet.upper_bits, quiet.beacon is None
        (320, True)
        """
        checks.choice("symbols", symbols, ("ignored", "rounded"))
        checks.scalar("tcp_ip_bits", tcp_ip_bits, at_least=0, whole=True)
        checks.scalar("llc_bits", llc_bits, at_least=0, whole=True)
        symbol_s = radio.symbol_s if symbols == "rounded" else None
        mac_ack = frame_time(radio.ack_bits, radio.phy_s, radio.control_rate_bps, symbol_s)
        beacon = None
        if beacon_interval_s is not None:
            frame = frame_time(_BEACON_BITS, radio.phy_s, radio.management_rate_bps, symbol_s)
            beacon = Beacon(frame_s=float(frame), interval_s=beacon_interval_s)
        return cls(
            cw_min=radio.cw_min,
            slot_s=radio.slot_s,
            sifs_s=radio.sifs_s,
            difs_s=radio.difs_s,
            eifs_s=radio.eifs_s,
            propagation_s=radio.propagation_s,
            phy_s=radio.phy_s,
            mac_bits=radio.mac_bits,
            upper_bits=tcp_ip_bits + llc_bits,
            data_rate_bps=radio.data_rate_bps,
            symbol_s=symbol_s,
            mac_ack_s=float(mac_ack),
            mss_bits=mss_bits,
            dialogue=dialogue,
            beacon=beacon,
        )

    @classmethod
    def table_1(
        cls,
        standard: Standard,
        *,
        llc_bits: int = _LLC_SNAP_BITS,
        symbols: Literal["ignored", "rounded"] = "ignored",
    ) -> Self:
        """Create parameters from a column of Table I by name, as in `from_radio`.

        >>> round(Parameters.table_1("802.11b").mac_ack_s * 1e6, 1)
        304.0
        """
        checks.choice("standard", standard, tuple(TABLE_1))
        return cls.from_radio(TABLE_1[standard], llc_bits=llc_bits, symbols=symbols)

    @classmethod
    def testbed(cls, *, llc_bits: int = _LLC_SNAP_BITS) -> Self:
        """Create those of section IV.A and Table II: 802.11b, MAC ACKs at 11 Mb/s, T_p 1 ns.

        In the basic model `llc_bits` is 0.

        >>> round(Parameters.testbed().mac_ack_s * 1e6, 1)
        202.2
        """
        radio = replace(TABLE_1["802.11b"], control_rate_bps=11e6, propagation_s=1e-9)
        return cls.from_radio(radio, llc_bits=llc_bits)

    @classmethod
    def from_phy(
        cls,
        phy: Phy,
        *,
        mss_bytes: int,
        header_bits: int,
        data_rate: Rate | None = None,
        control_rate: Rate | None = None,
        dialogue: Dialogue = Dialogue(),
        beacon: Beacon | None = None,
    ) -> Self:
        """Create parameters from any PHY of `airtcp.models.airtime`; default rates are the PHY's.

        The PHY determines LLC. If the PHY rounds symbols, payloads are rounded up: DSSS to whole
        microseconds, OFDM to whole symbols.

        Raises `ValueError` with the name of an invalid argument, or if the PHY lacks the modulation
        of a rate.

        >>> from airtcp.models.airtime import HOT_SPOT
        >>> cell = Parameters.from_phy(HOT_SPOT, mss_bytes=1460, header_bits=320)
        >>> round(cell.mac_ack_s * 1e6)
        248
        """
        data_rate, control_rate = data_rate or phy.data_rate, control_rate or phy.control_rate
        checks.scalar("mss_bytes", mss_bytes, above=0, whole=True)
        checks.scalar("header_bits", header_bits, at_least=0, whole=True)
        preamble_ns, extra_bits, symbol_ns = _format(phy, data_rate)
        return cls(
            cw_min=phy.cw_min,
            slot_s=phy.slot_time_ns / 1e9,
            sifs_s=phy.sifs_ns / 1e9,
            difs_s=phy.difs_ns / 1e9,
            eifs_s=phy.eifs_ns / 1e9,
            propagation_s=phy.propagation_delay_ns / 1e9,
            phy_s=preamble_ns / 1e9,
            mac_bits=phy.mac_header_bits + extra_bits,
            upper_bits=header_bits + phy.llc_bits,
            data_rate_bps=float(data_rate.bps),
            symbol_s=symbol_ns / 1e9 if phy.symbol_rounding else None,
            mac_ack_s=int(ppdu_time_ns(phy, control_rate, phy.ack_bits)) / 1e9,
            mss_bits=8 * mss_bytes,
            dialogue=dialogue,
            beacon=beacon,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Variant:
    """Which reading of paper H's equations to compute; ids are those of `errata.md`.

    - `full_cycles` (H2): the refined last cycle (16) carries X_MSS bits on average, so X_file minus
      X_MSS is left for full cycles ("implied"); (19) "printed" subtracts X_MSS / 2 as (13) does.
      Half a segment is 0.4 % of 200 kB.
    - `short_collision` (H3): T_shortCol in (9) without a weight ("printed"), or "weighted" by the
      probability 1 / (Cw_min + 1) of a collision, as everywhere else.
    """

    full_cycles: Literal["printed", "implied"]
    short_collision: Literal["printed", "weighted"]

    def __post_init__(self) -> None:
        checks.choices(self)


PAPER: Final = Variant(full_cycles="printed", short_collision="printed")
"""The equations as printed: with them the stated 0.312 s and 0.78 come out."""

CORRECTED: Final = Variant(full_cycles="implied", short_collision="weighted")
"""The better form of each."""


def frame_time(
    bits: ArrayLike, phy_s: float, rate_bps: float, symbol_s: float | None = None
) -> Values:
    """Return PHY + bits / rate in seconds: (1), (2) and (20), for a frame of `bits` bits.

    With `symbol_s` (STT, erratum H7) the second term is rounded up to whole symbols.

    Raises `ValueError` naming an argument that is negative, not finite or (rate, symbol) zero.

    >>> frame_time([112, 584], 192e-6, 1e6).round(9)
    array([0.000304, 0.000776])
    >>> float(frame_time(134, 20e-6, 24e6, symbol_s=4e-6).round(9))
    2.8e-05
    """
    length = checks.real("bits", bits, at_least=0.0)
    start = checks.scalar("phy_s", phy_s, at_least=0.0)
    rate = checks.scalar("rate_bps", rate_bps, above=0.0)
    if symbol_s is None:
        return np.asarray(start + length / rate)[()]
    symbol = checks.scalar("symbol_s", symbol_s, above=0.0)
    # Rounding of rate * symbol must not turn a whole number of symbols into one more.
    symbols = np.ceil(length / (rate * symbol) * (1.0 - _ROUNDING))
    return np.asarray(start + symbols * symbol)[()]


def _format(phy: Phy, rate: Rate) -> tuple[int, int, int]:
    """Return a frame's duration (ns), extra bits, and the unit of its payload time (ns) at `rate`.

    As in `airtcp.models.airtime.ppdu_time_ns`, but OFDM's signal extension is in the preamble.
    """
    if rate.modulation == "dsss":
        if phy.dsss is None:
            raise ValueError("rate is DSSS, but phy has no dsss section")
        return phy.dsss.preamble_time_ns + phy.dsss.plcp_header_time_ns, 0, 1000
    ofdm = phy.ofdm
    if ofdm is None:
        raise ValueError("rate is OFDM, but phy has no ofdm section")
    around = ofdm.preamble_time_ns + ofdm.plcp_header_time_ns + ofdm.signal_extension_ns
    return around, ofdm.service_bits + ofdm.tail_bits, ofdm.symbol_time_ns
