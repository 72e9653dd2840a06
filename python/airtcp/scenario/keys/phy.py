"""`[phy]`: the standard, and each of its numbers that a paper may have changed.

`resolve_phy` computes interframe spaces and timeouts from each other.
"""

from collections.abc import Callable
from typing import Annotated, Any, ClassVar, Literal, Protocol, Self

from pydantic import Field

from ...airtime import Rate
from ...amendments import (
    BANDS_GHZ,
    BLOCK_ACK_BITS,
    GUARD_INTERVALS_NS,
    HIGHEST_MCS,
    MOST_STREAMS,
    WIDTHS_MHZ,
    Amendment,
    amended,
)
from ...high_rate import HighRateTiming
from ...standards import (
    DSSS_PREAMBLES,
    MAC_HEADER_BITS,
    OFDM_TIMING,
    QOS_CONTROL_BITS,
    STANDARDS,
    DsssTiming,
    OfdmTiming,
    Standard,
)
from ...units import format_time_ns
from ..declare import Default, Key, Table, derived, file_only, follows, key
from ..quantities import Decibels, ExchangeTimeNs, RateBps, in_any_case, one_of

StandardName = Literal[
    "802.11b", "802.11a", "802.11g", "802.11n", "802.11ac", "802.11ax", "802.11be"
]

_CHARACTERISTICS = "IEEE 802.11-2020, Tables 16-4, 17-21, 18-5"


def _standards(number: Callable[[Standard], int], show: Callable[[int], str] = str) -> Default:
    """Return a default that depends on the standard: "20 us (b), 9 us (a, g)"."""
    having: dict[int, list[str]] = {}
    for name, standard in STANDARDS.items():
        having.setdefault(number(standard), []).append(name.removeprefix("802.11"))
    if len(having) == 1:
        return follows(show(next(iter(having))))
    return follows(
        ", ".join(f"{show(value)} ({', '.join(have)})" for value, have in having.items())
    )


def _block_acks() -> str:
    sizes = (f"{bits} with a window of {window}" for window, bits in BLOCK_ACK_BITS.items())
    return f"the least of {', '.join(sizes)}"


def _guard_intervals(amendment: Amendment) -> str:
    *most, last = amendment.guard_intervals_ns
    return f"{', '.join(map(str, most))} or {last} ns"


def _formats(time_ns: Callable[[DsssTiming | OfdmTiming], int]) -> Default:
    """Return a default by PPDU format: "144 us (long), 72 us (short), 16 us (OFDM)"."""
    formats: list[tuple[str, DsssTiming | OfdmTiming]] = [
        *DSSS_PREAMBLES.items(),
        ("OFDM", OFDM_TIMING),
    ]
    return follows(", ".join(f"{format_time_ns(time_ns(ppdu))} ({name})" for name, ppdu in formats))


def _slot_times() -> Default:
    """Return the default of the slot: in 802.11g the long one if there are 802.11b stations."""
    times = _standards(lambda standard: standard.slot_time_ns, format_time_ns)
    long = format_time_ns(STANDARDS["802.11b"].slot_time_ns)
    return follows(f"{times.words}; {long} in g beside 802.11b stations")


def _bits(meaning: str, *, default: Default | int, source: str) -> Any:
    """Declare the size of a frame, or of a part of one, in bits."""
    return key(meaning, default=default, source=source, unit="bits", ge=0, le=10**6)


class Protection(Table):
    """The frames before OFDM frames that keep 802.11b stations quiet."""

    kind: Literal["cts-to-self", "rts-cts"] = derived("The kind of frames.")
    rate: Rate = derived(
        "The rate of the frames: the highest basic rate of 802.11b, or `control_rate`."
    )


class SharesFormat(Protocol):
    """The capabilities of a pair of stations that determine the duration of its PPDUs."""

    @property
    def high_rate(self) -> HighRateTiming | None:
        """Timing of 802.11n and later; None if the pair does not have it."""


class Phy(Table):
    """Physical layer: the standard, and each of its numbers that a paper may have changed."""

    standard: StandardName = key(
        "The standard.", reads=Annotated[StandardName, in_any_case(*STANDARDS)]
    )
    band: ClassVar[Key] = file_only(
        one_of(BANDS_GHZ, "GHz"),
        "Frequency band: "
        + amended(lambda one: ", ".join(f"{ghz} GHz" for ghz in one.widest_mhz))
        + ".",
        default=follows("5 GHz; 6 GHz with a channel that only it has"),
    )
    channel_width: ClassVar[Key] = file_only(
        one_of(WIDTHS_MHZ, "MHz"),
        f"Width of the channel: up to {amended(lambda one: f'{max(one.subcarriers)} MHz')}; 40 MHz "
        "in the band of 2.4 GHz.",
        default=follows(amended(lambda one: f"{one.default_width_mhz} MHz")),
    )
    mcs: ClassVar[Key] = file_only(
        Annotated[int, Field(ge=0, le=HIGHEST_MCS)],
        "Modulation and coding scheme of each spatial stream, which 802.11n and later have instead "
        f"of `data_rate`: 0 to {amended(lambda one: f'{one.highest_mcs}')}.",
        default=follows("the highest that width and streams allow"),
        source="IEEE 802.11-2020, 19.5, 21.5; 802.11ax-2021, 27.5",
    )
    spatial_streams: ClassVar[Key] = file_only(
        Annotated[int, Field(ge=1, le=MOST_STREAMS)],
        f"Spatial streams: 1 to {amended(lambda one: f'{one.most_streams}')}.",
        default=1,
    )
    guard_interval: ClassVar[Key] = file_only(
        one_of(GUARD_INTERVALS_NS, "ns"),
        f"Guard interval: {amended(_guard_intervals)}.",
        default=follows(amended(lambda one: f"{one.default_guard_interval_ns} ns")),
    )
    coding: ClassVar[Key] = file_only(
        Literal["bcc", "ldpc"],
        "The code of data frames: convolutional (`bcc`) or LDPC. It selects the error rates in "
        "noise if `snr`, positions or powers are given, and does not affect durations. 802.11a, "
        "b and g have no LDPC. The standard has no 1024-QAM with `bcc`; airtcp uses ns-3's.",
        default=follows(
            f"{amended(lambda one: one.coding)}; `bcc` before, and with mac.rules.preset ns-3"
        ),
        source="IEEE 802.11-2020, 19.3.11, 21.3.10.5; 802.11ax-2021, 27.3.12.5",
    )
    error_model: ClassVar[Key] = file_only(
        Literal["tables", "nist"],
        "The source of error rates in noise. `tables`: published packet error curves. `nist`: an "
        "upper bound for a hard-decision decoder of convolutional codes, which needs 3 to 5 dB "
        "more.",
        default="tables",
        source="Patidar, Roy, Henderson and Chandramohan (2017); Pei and Henderson (2010)",
    )
    implementation_loss: ClassVar[Key] = file_only(
        Decibels,
        "The implementation loss of receivers, which acts as additional noise.",
        default=follows("2 dB; 0 dB with `nist` or mac.rules.preset ns-3"),
        source="an assumption. IEEE 802.11-2020, 17.3.10.2 allows 5 dB, with a noise figure of 10 "
        "dB; 2 dB with the 7 dB of `air.noise` make MCS 7 8 to 10 dB more sensitive than required",
    )
    data_rate: Rate = key(
        "Rate of data frames, a rate of the standard; 802.11n and later have `mcs` instead.",
        default=follows("the standard's highest"),
        reads=RateBps,
    )
    control_rate: Rate = key(
        "Rate of RTS, CTS and MAC ACK, a rate of the standard. A station never uses a rate above "
        "its data rate.",
        default=follows(
            "the highest basic rate up to the data rate (basic: 1, 2; OFDM: 6, 12, 24 Mb/s); for "
            "an MCS, up to the 802.11a rate with the same modulation and coding"
        ),
        reads=RateBps,
        source="IEEE 802.11-2020, 10.6.6.5.2",
    )
    protection: Protection | None = key(
        "Protection of OFDM frames in 2.4 GHz from 802.11b stations (stations with a DSSS "
        "`data_rate`): a CTS-to-self or an RTS/CTS exchange at a DSSS rate before each frame.",
        default=follows('`"cts-to-self"` with 802.11b stations, else `"none"`'),
        reads=Literal["cts-to-self", "rts-cts", "none"],
        source="IEEE 802.11-2020, 10.27",
    )
    preamble: ClassVar[Key] = file_only(
        Literal["long", "short"],
        "PLCP preamble of the rates 1, 2, 5.5 and 11 Mb/s; 1 Mb/s always has the long one.",
        default="long",
        source="IEEE 802.11-2020, 16.2.2",
    )
    slot_time_ns: int = key(
        "aSlotTime.",
        default=_slot_times(),
        gt=0,
        reads=ExchangeTimeNs,
        source=_CHARACTERISTICS,
    )
    sifs_ns: int = key(
        "aSIFSTime.",
        default=_standards(lambda standard: standard.sifs_ns, format_time_ns),
        reads=ExchangeTimeNs,
        source=_CHARACTERISTICS,
    )
    difs_ns: int = key(
        "DIFS.",
        default=follows("SIFS + 2 slots"),
        reads=ExchangeTimeNs,
        source="IEEE 802.11-2020, 10.3.7",
    )
    eifs_ns: int = key(
        "EIFS.",
        default=follows("SIFS + ACK at the lowest mandatory rate + DIFS"),
        reads=ExchangeTimeNs,
        source="IEEE 802.11-2020, 10.3.2.3.7, 10.3.7",
    )
    ack_timeout_ns: int = key(
        "How long a sender waits for a CTS or ACK after the end of its own frame.",
        default=follows(
            "SIFS + slot + aPHY-RX-START-Delay; with the rules of ns-2 SIFS + ACK + 4 us"
        ),
        reads=ExchangeTimeNs,
        source="IEEE 802.11-2020, 10.3.2.11",
    )
    dsss: DsssTiming | None = derived("Timing of the DSSS and CCK rates, if the standard has them.")
    ofdm: OfdmTiming | None = derived("Timing of the OFDM rates, if the standard has them.")
    high_rate: HighRateTiming | None = derived(
        "Timing of the rates of 802.11n and later, if the standard has them."
    )
    preamble_time: ClassVar[Key] = file_only(
        ExchangeTimeNs,
        "Duration of the preamble, for the modulation of `data_rate`.",
        default=_formats(lambda ppdu: ppdu.preamble_time_ns),
        source="IEEE 802.11-2020, 16.2.2, Table 17-5",
    )
    plcp_header_time: ClassVar[Key] = file_only(
        ExchangeTimeNs,
        "Duration of the PLCP header (OFDM: SIGNAL), for the modulation of `data_rate`.",
        default=_formats(lambda ppdu: ppdu.plcp_header_time_ns),
        source="IEEE 802.11-2020, 16.2.2, Table 17-5",
    )
    # The standard gives no distance. At the 10 m of a hot spot the delay is 33 ns. The slot already
    # contains aAirPropagationTime (1 us).
    propagation_delay_ns: int = key(
        "Added once after every frame.", default="0 us", reads=ExchangeTimeNs
    )
    cw_min: int = key(
        "aCWmin: backoff is uniform over 0 .. CW.",
        default=_standards(lambda standard: standard.cw_min),
        ge=0,
        le=2**20 - 1,
        unit="slots",
        source=_CHARACTERISTICS,
    )
    cw_max: int = key(
        "aCWmax.",
        default=_standards(lambda standard: standard.cw_max),
        ge=0,
        le=2**20 - 1,
        unit="slots",
        source=_CHARACTERISTICS,
    )
    rts_bits: int = _bits("RTS frame.", default=160, source="IEEE 802.11-2020, 9.3.1.2")
    cts_bits: int = _bits("CTS frame.", default=112, source="IEEE 802.11-2020, 9.3.1.3")
    ack_bits: int = _bits("MAC ACK frame.", default=112, source="IEEE 802.11-2020, 9.3.1.4")
    mac_header_bits: int = _bits(
        "MAC header and FCS of a data frame.",
        default=follows(f"{MAC_HEADER_BITS + QOS_CONTROL_BITS} with EDCA, else {MAC_HEADER_BITS}"),
        source="IEEE 802.11-2020, 9.2.3, 9.2.4.5",
    )
    block_ack_bits: ClassVar[Key] = file_only(
        Annotated[int, Field(ge=0, le=10**6)],
        "Block ACK frame.",
        default=follows(_block_acks()),
        unit="bits",
        source="IEEE 802.11-2020, 9.3.1.8; 802.11ax-2021, 9.3.1.8",
    )
    block_ack_rate: ClassVar[Key] = file_only(
        RateBps, "Rate of Block ACKs.", default=follows("the rate of MAC ACKs")
    )
    llc_bits: int = _bits("LLC and SNAP headers of a data frame.", default=64, source="RFC 1042")
    symbol_rounding: bool = key(
        "Round payloads up to whole microseconds (DSSS) or whole symbols (OFDM). `false`: bits "
        "divided by rate, as in papers.",
        default=True,
        source="IEEE 802.11-2020, 16.2.3.6, 17.4.3",
    )

    def shared_with(self, pair: SharesFormat | None) -> Self:
        """Return the PHY for frames of a pair of stations, or this PHY if `pair` is None."""
        return self if pair is None else self.model_copy(update={"high_rate": pair.high_rate})
