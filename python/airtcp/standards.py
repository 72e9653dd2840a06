"""What the standards say: every default of a scenario, with the clause that it comes from.

Knows the PHYs of IEEE 802.11b, 802.11a and 802.11g, DCF and EDCA, random early detection, and TCP's
RFCs as tables of numbers. Does not know scenario files, overrides, or how long a frame is on the
air.

IEEE clauses are those of IEEE Std 802.11-2012 unless another edition is named: clause 16 is the
DSSS PHY (1 and 2 Mb/s), clause 17 HR/DSSS (802.11b), clause 18 OFDM (802.11a), clause 19 ERP
(802.11g). In the 2016 edition they are clauses 15 to 18; the tables of characteristics are 16-4
(HR/DSSS), 17-21 (OFDM), 18-5 (ERP). Times are integer nanoseconds, rates bits per second, sizes
bits or bytes as their names say.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

__all__ = [
    "ACK_BITS",
    "BEACON",
    "CTS_BITS",
    "DSSS",
    "EDCA_CATEGORIES",
    "FTP",
    "LLC_BITS",
    "LONG_RETRY_LIMIT",
    "MAC_HEADER_BITS",
    "MAC_RULES",
    "MAX_MSDU_BYTES",
    "NS2_ROUND_TRIP_NS",
    "OFDM",
    "PROPAGATION_DELAY_NS",
    "QOS_CONTROL_BITS",
    "RED",
    "RTS_BITS",
    "RUN",
    "SHORT_RETRY_LIMIT",
    "STANDARDS",
    "UDP_IP_HEADER_BYTES",
    "AccessCategory",
    "AfterCollision",
    "ArrivalBeforeOwnAck",
    "BeaconDefaults",
    "Colliders",
    "DsssPreamble",
    "EdcaDefaults",
    "MacRules",
    "Modulation",
    "Preset",
    "RedDefaults",
    "RunDefaults",
    "Standard",
    "edca_defaults",
    "initial_window_segments",
    "response_rate_bps",
]

Modulation = Literal["dsss", "ofdm"]
Preset = Literal["standard", "ns-2", "ns-3", "bianchi"]
AfterCollision = Literal["eifs", "difs", "eifs+difs"]
Colliders = Literal["ack-timeout+difs", "as-others", "as-heard"]
ArrivalBeforeOwnAck = Literal["busy", "idle"]
AccessCategory = Literal["AC_VO", "AC_VI", "AC_BE", "AC_BK"]

DSSS: Modulation = "dsss"
OFDM: Modulation = "ofdm"

_US = 1000
_MBPS = 1_000_000


@dataclass(frozen=True)
class DsssPreamble:
    """PLCP preamble and header of the DSSS and CCK rates (17.2.2)."""

    preamble_time_ns: int
    plcp_header_time_ns: int


@dataclass(frozen=True)
class OfdmFormat:
    """The OFDM PPDU at 20 MHz (18.3.2, 18.4.3; timing parameters in Table 18-5)."""

    preamble_time_ns: int = 16 * _US  # T_PREAMBLE: ten short and two long training symbols
    plcp_header_time_ns: int = 4 * _US  # T_SIGNAL: the SIGNAL symbol
    symbol_time_ns: int = 4 * _US  # T_SYM
    service_bits: int = 16  # the SERVICE field (18.3.5.2)
    tail_bits: int = 6  # 18.3.5.3
    signal_extension_ns: int = 0  # see STANDARDS["802.11g"]


@dataclass(frozen=True)
class Standard:
    """One PHY amendment: timing, contention window, rates.

    `rx_start_margin_ns` is aPHY-RX-START-Delay less the time of preamble and PLCP header: with it,
    a PHY whose preamble is overridden keeps a delay that fits its preamble. `basic_rates_bps` are
    the rates at which responses are sent, lowest first, per modulation. `lowest_mandatory` is the
    rate and modulation of the ACK that EIFS allows for (9.3.2.3.7).
    """

    name: str
    slot_time_ns: int
    sifs_ns: int
    cw_min: int
    cw_max: int
    rates_bps: Mapping[Modulation, tuple[int, ...]]
    basic_rates_bps: Mapping[Modulation, tuple[int, ...]]
    rx_start_margin_ns: Mapping[Modulation, int]
    lowest_mandatory: tuple[Modulation, int]
    ofdm: OfdmFormat | None

    @property
    def has_dsss(self) -> bool:
        """Whether the PHY sends DSSS and CCK rates, which have a long and a short preamble."""
        return DSSS in self.rates_bps

    @property
    def default_data_rate_bps(self) -> int:
        """The highest rate of the PHY. The standard leaves the choice of the rate open."""
        return max(rate for rates in self.rates_bps.values() for rate in rates)

    @property
    def all_rates_bps(self) -> tuple[int, ...]:
        """All rates, ascending."""
        return tuple(sorted(rate for rates in self.rates_bps.values() for rate in rates))

    def modulation(self, rate_bps: int) -> Modulation | None:
        """DSSS (with CCK) or OFDM; None: the PHY has no such rate. No rate belongs to both."""
        for modulation, rates in self.rates_bps.items():
            if rate_bps in rates:
                return modulation
        return None


# 17.2.2.2 (long PPDU): SYNC and SFD 144 us, PLCP header 48 us, both at 1 Mb/s.
# 17.2.2.3 (short PPDU): 72 us at 1 Mb/s and 24 us at 2 Mb/s.
DSSS_PREAMBLES: Mapping[Literal["long", "short"], DsssPreamble] = MappingProxyType(
    {
        "long": DsssPreamble(preamble_time_ns=144 * _US, plcp_header_time_ns=48 * _US),
        "short": DsssPreamble(preamble_time_ns=72 * _US, plcp_header_time_ns=24 * _US),
    }
)

# 17.2.2.3: the payload of a short PPDU goes at 2, 5.5 or 11 Mb/s. A 1 Mb/s frame is always a long
# PPDU.
SHORT_PREAMBLE_SLOWEST_BPS = 2 * _MBPS

_DSSS_RATES = (1 * _MBPS, 2 * _MBPS, 5_500_000, 11 * _MBPS)  # 17.2.3.4 SIGNAL field
_OFDM_RATES = tuple(rate * _MBPS for rate in (6, 9, 12, 18, 24, 36, 48, 54))  # 18.3.4.2, Table 18-6
# The rates of the 802.11-1997 DSSS PHY: the basic rate set that access points announce, so that a
# response can be read by all (9.7.6.5.2 takes it from the BSSBasicRateSet).
_DSSS_BASIC = (1 * _MBPS, 2 * _MBPS)
_OFDM_BASIC = (
    6 * _MBPS,
    12 * _MBPS,
    24 * _MBPS,
)  # the mandatory rates of clause 18 (18.1.1)

STANDARDS: Mapping[str, Standard] = MappingProxyType(
    {
        # HR/DSSS PHY characteristics (17.3.3; Table 16-4 of the 2016 edition): aSlotTime 20 us,
        # aSIFSTime 10 us, aCWmin 31, aCWmax 1023, aPHY-RX-START-Delay 192 us (long preamble) or 96
        # us (short): preamble and header to the microsecond, so no margin.
        "802.11b": Standard(
            name="802.11b",
            slot_time_ns=20 * _US,
            sifs_ns=10 * _US,
            cw_min=31,
            cw_max=1023,
            rates_bps={DSSS: _DSSS_RATES},
            basic_rates_bps={DSSS: _DSSS_BASIC},
            rx_start_margin_ns={DSSS: 0},
            lowest_mandatory=(DSSS, 1 * _MBPS),
            ofdm=None,
        ),
        # OFDM PHY characteristics at 20 MHz (Table 18-17): aSlotTime 9 us, aSIFSTime 16 us, aCWmin
        # 15, aCWmax 1023, aPHY-RX-START-Delay 25 us: 5 us more than training symbols and SIGNAL.
        "802.11a": Standard(
            name="802.11a",
            slot_time_ns=9 * _US,
            sifs_ns=16 * _US,
            cw_min=15,
            cw_max=1023,
            rates_bps={OFDM: _OFDM_RATES},
            basic_rates_bps={OFDM: _OFDM_BASIC},
            rx_start_margin_ns={OFDM: 5 * _US},
            lowest_mandatory=(OFDM, 6 * _MBPS),
            ofdm=OfdmFormat(),
        ),
        # ERP characteristics (Table 19-8): aSlotTime 9 us (short: no 802.11b station is about; the
        # long slot is 20 us), aSIFSTime 10 us, aCWmin 15 (aCWmin(1); 31 for stations that know
        # 802.11b only), aCWmax 1023, aPHY-RX-START-Delay 24 us for ERP-OFDM (4 us more than
        # training symbols and SIGNAL), 192 and 96 us for DSSS with long and short preamble. Each
        # ERP-OFDM PPDU ends with 6 us without signal (aSignalExtension; 19.3.2.4). 1 Mb/s is among
        # the mandatory rates of an ERP station (19.1), so EIFS allows for an ACK of 304 us here
        # too.
        "802.11g": Standard(
            name="802.11g",
            slot_time_ns=9 * _US,
            sifs_ns=10 * _US,
            cw_min=15,
            cw_max=1023,
            rates_bps={DSSS: _DSSS_RATES, OFDM: _OFDM_RATES},
            basic_rates_bps={DSSS: _DSSS_BASIC, OFDM: _OFDM_BASIC},
            rx_start_margin_ns={DSSS: 0, OFDM: 4 * _US},
            lowest_mandatory=(DSSS, 1 * _MBPS),
            ofdm=OfdmFormat(signal_extension_ns=6 * _US),
        ),
    }
)

RTS_BITS = 160  # 20 bytes (8.3.1.2)
CTS_BITS = 112  # 14 bytes (8.3.1.3)
ACK_BITS = 112  # 14 bytes (8.3.1.4)
MAC_HEADER_BITS = 224  # data frame with three addresses and no QoS: 24 bytes, and 4 of FCS (8.2.3)
QOS_CONTROL_BITS = 16  # what a QoS data frame has more (8.2.4.5)
LLC_BITS = 64  # LLC 3 bytes, SNAP 5 bytes: IP over 802 as in RFC 1042
MAX_MSDU_BYTES = 2304  # 8.2.3

# The standard gives no distance. At the 10 m of a hot spot the delay is 33 ns; aAirPropagationTime
# (1 us in 17.3.3) is already part of the slot.
PROPAGATION_DELAY_NS = 0

SHORT_RETRY_LIMIT = 7  # dot11ShortRetryLimit, Annex C; transmissions of a frame at most (9.3.4.4)
LONG_RETRY_LIMIT = 4  # dot11LongRetryLimit, Annex C


@dataclass(frozen=True)
class BeaconDefaults:
    """Beacons where a scenario has them and says no more."""

    interval_ns: int
    size_bits: int


# 100 time units of 1024 us; the size is that of paper H, Table I, without optional elements.
BEACON = BeaconDefaults(interval_ns=102_400_000, size_bits=584)


@dataclass(frozen=True)
class MacRules:
    """How the DCF of a standard, a peer or a paper treats the cases in which they differ."""

    immediate_access: bool
    post_backoff: bool
    post_backoff_after_drop: bool
    after_collision: AfterCollision
    colliders: Colliders
    arrival_before_own_ack: ArrivalBeforeOwnAck


# "standard": access at once on an idle medium (9.3.4.2), backoff after each transmission, also when
# nothing is queued, whatever became of it (9.3.4.3), EIFS after a frame that was not understood
# (9.3.2.3.7), and an ACK timeout for the senders that collided (9.3.2.8). A station that owes a MAC
# ACK does not find the medium idle for DIFS (9.3.4.2).
# "ns-2": the program, version 2.35: always a backoff, none left to serve after a drop, and whoever
# received the collided frames, their senders included, waits EIFS and then DIFS; a sender whose
# frame outlasted all others has received none (`recv_timer` of mac-802_11.cc drops what ends while
# it transmits) and waits for its answer, and then DIFS. "ns-3": the program: receivers of frames of
# equal power detect nothing and resume after DIFS, and who owes a MAC ACK and has not begun it
# senses nothing. "bianchi": the decoupling model (Bianchi 2000) and papers M and L: a fresh backoff
# for every frame, and every station resumes DIFS after the collision, its senders too.
MAC_RULES: Mapping[Preset, MacRules] = MappingProxyType(
    {
        "standard": MacRules(True, True, True, "eifs", "ack-timeout+difs", "busy"),
        "ns-2": MacRules(False, True, False, "eifs+difs", "as-heard", "busy"),
        "ns-3": MacRules(True, True, True, "difs", "ack-timeout+difs", "idle"),
        "bianchi": MacRules(False, False, False, "difs", "as-others", "busy"),
    }
)

# ns-2 gives the whole answer time to arrive, not its preamble alone, and the longest way there and
# back: DSSS_MaxPropagationDelay, 2 us, twice (mac-802_11.h, `check_pktTx`).
NS2_ROUND_TRIP_NS = 4_000


#: The access categories, the one with the highest priority first (IEEE 802.11-2016, 10.2.4.2).
EDCA_CATEGORIES: tuple[AccessCategory, ...] = ("AC_VO", "AC_VI", "AC_BE", "AC_BK")


@dataclass(frozen=True)
class EdcaDefaults:
    """How an access category contends.

    AIFS is SIFS and `aifsn` slots; a TXOP limit of 0 is one frame exchange.
    """

    aifsn: int
    cw_min: int
    cw_max: int
    txop_limit_ns: int


# Stations: Table 9-137 of IEEE 802.11-2016, the default EDCA parameter set, which an access point
# announces. The access point itself: the defaults of dot11QAPEDCATable (Annex C). With one slot
# instead of two, which only an access point may have, its voice and video go before the stations'.
_STATION_AIFSN: Mapping[AccessCategory, int] = MappingProxyType(
    {"AC_VO": 2, "AC_VI": 2, "AC_BE": 3, "AC_BK": 7}
)
_AP_AIFSN: Mapping[AccessCategory, int] = MappingProxyType(
    {"AC_VO": 1, "AC_VI": 1, "AC_BE": 3, "AC_BK": 7}
)
# TXOP limits of the same table, the first of each pair for the PHYs of clauses 15 and 16 (DSSS,
# HR/DSSS), the second for those of clauses 17 and 18 (OFDM, ERP). Before the 2016 edition AC_BE
# and AC_BK had 0.
_TXOP_LIMIT_US: Mapping[AccessCategory, tuple[int, int]] = MappingProxyType(
    {"AC_VO": (3264, 2080), "AC_VI": (6016, 4096), "AC_BE": (3264, 2528), "AC_BK": (3264, 2528)}
)


def edca_defaults(
    standard: Standard, category: AccessCategory, *, ap: bool, cw_min: int, cw_max: int
) -> EdcaDefaults:
    """The default parameters of an access category of the access point or of a station.

    IEEE 802.11-2016, Table 9-137 for stations, dot11QAPEDCATable of Annex C for the access point,
    which has other AIFSNs, and 4 (aCWmin + 1) - 1 as CWmax of AC_BE.

    Args:
        standard: the PHY, on which the TXOP limits depend.
        category: the access category.
        ap: whether it is the access point's.
        cw_min: aCWmin of the cell, from which the table derives its windows. Where they are not the
            standard's (powers of 2 less 1) the quotients are rounded down.
        cw_max: aCWmax of the cell.
    """
    half, quarter = (max(0, (cw_min + 1) // parts - 1) for parts in (2, 4))
    low, high = {
        "AC_VO": (quarter, half),
        "AC_VI": (half, cw_min),
        "AC_BE": (cw_min, min(cw_max, 4 * (cw_min + 1) - 1) if ap else cw_max),
        "AC_BK": (cw_min, cw_max),
    }[category]
    return EdcaDefaults(
        aifsn=(_AP_AIFSN if ap else _STATION_AIFSN)[category],
        cw_min=low,
        cw_max=high,
        txop_limit_ns=_TXOP_LIMIT_US[category][standard.ofdm is not None] * _US,
    )


@dataclass(frozen=True)
class RedDefaults:
    """Random early detection with the parameters of Floyd and Jacobson's simulations (1993).

    Thresholds are average queue lengths in packets. `idle_packet_bytes` is the IP packet whose time
    on the air is their typical transmission time s: an empty queue is averaged once for each.
    """

    min_threshold: float = 5.0
    max_threshold: float = 15.0
    max_probability: float = 0.02  # 1/50
    weight: float = 0.002
    idle_packet_bytes: int = 1500


RED = RedDefaults()


@dataclass(frozen=True)
class FtpDefaults:
    """Bytes of the commands and replies around an FTP transfer (RFC 959), without headers.

    As measured with ProFTPD in paper H, Table II: 48, 392, 272, 704 and 184 bits.
    """

    pasv_bytes: int = 6  # "PASV" and the end of a line
    reply_227_bytes: int = 49  # entering passive mode, with address and port
    retr_bytes: int = 34  # RETR (or STOR) and the name of a file
    reply_150_bytes: int = 88  # opening the data connection
    reply_226_bytes: int = 23  # transfer complete


FTP = FtpDefaults()

UDP_IP_HEADER_BYTES = 28  # UDP 8 (RFC 768), IPv4 20 (RFC 791)


@dataclass(frozen=True)
class RunDefaults:
    """Defaults of a run: choices of this program, no standard gives them."""

    warmup_ns: int = 10_000_000_000  # longer than slow start of ten flows over an unbounded queue
    duration_ns: int = 100_000_000_000  # some 50,000 exchanges of an 802.11b cell
    replications: int = 10  # Student t with 9 degrees of freedom: 2.26 against 1.96 for ever
    seed: int = 1
    confidence: float = 0.95
    max_replications: int = 1000  # the cap of a run with a precision


RUN = RunDefaults()


def initial_window_segments(mss_bytes: int) -> int:
    """Initial window in segments for a sender maximum segment size in bytes (RFC 5681, 3.1).

    2 segments above 2190 bytes, 3 above 1095 bytes, otherwise 4.
    """
    if mss_bytes > 2190:
        return 2
    if mss_bytes > 1095:
        return 3
    return 4


def response_rate_bps(standard: Standard, data_rate_bps: int, wanted_bps: int | None = None) -> int:
    """Rate of RTS, CTS and MAC ACK of a station that sends data at `data_rate_bps` (9.7.6.5.2).

    The highest basic rate of the same modulation that is not above the data rate; `wanted_bps`
    instead, if that is not above the data rate either: a response is never faster than what it
    responds to.

    Raises:
        KeyError: the standard has no rate `data_rate_bps`.
    """
    if wanted_bps is not None and wanted_bps <= data_rate_bps:
        return wanted_bps
    modulation = standard.modulation(data_rate_bps)
    if modulation is None:
        raise KeyError(data_rate_bps)
    return max(rate for rate in standard.basic_rates_bps[modulation] if rate <= data_rate_bps)
