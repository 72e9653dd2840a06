"""Constants of the standards by PHY, access category or segment size.

Contains the PHYs of IEEE 802.11b, 802.11a and 802.11g, the EDCA parameter sets, and rules of TCP's
RFCs. A default that depends on nothing is defined with its key (`airtcp.scenario.keys`).

IEEE clauses are those of IEEE Std 802.11-2020: clause 15 is the DSSS PHY (1 and 2 Mb/s), clause 16
HR/DSSS (802.11b), clause 17 OFDM (802.11a), clause 18 ERP (802.11g). Times are integer nanoseconds,
rates bits per second, sizes bits or bytes as their names say.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Annotated, Literal

from .amendments import AMENDMENTS

Modulation = Literal["dsss", "ofdm"]
AccessCategory = Literal["AC_VO", "AC_VI", "AC_BE", "AC_BK"]

DSSS: Modulation = "dsss"
OFDM: Modulation = "ofdm"

_US = 1000
_MBPS = 1_000_000


@dataclass(frozen=True, slots=True)
class DsssTiming:
    """PPDU timing of DSSS and CCK rates: preamble and PLCP header before the payload."""

    preamble_time_ns: Annotated[int, "Long or short preamble, or `preamble_time`."]
    plcp_header_time_ns: Annotated[int, "PLCP header, or `plcp_header_time`."]


@dataclass(frozen=True, slots=True)
class OfdmTiming:
    """PPDU timing of OFDM rates."""

    preamble_time_ns: Annotated[int, "Training symbols, or `preamble_time`."]
    plcp_header_time_ns: Annotated[int, "SIGNAL, or `plcp_header_time`."]
    symbol_time_ns: Annotated[int, "A symbol."]
    service_bits: Annotated[int, "The SERVICE field."]
    tail_bits: Annotated[int, "Tail bits."]
    signal_extension_ns: Annotated[int, "The end of an ERP-OFDM PPDU, without signal."]


OFDM_TIMING = OfdmTiming(
    preamble_time_ns=16 * _US,  # T_PREAMBLE: ten short and two long training symbols
    plcp_header_time_ns=4 * _US,  # T_SIGNAL: the SIGNAL symbol
    symbol_time_ns=4 * _US,  # T_SYM
    service_bits=16,  # the SERVICE field (17.3.5.2)
    tail_bits=6,  # 17.3.5.3
    signal_extension_ns=0,  # see STANDARDS["802.11g"]
)
"""OFDM at 20 MHz (17.3.2, 17.4.3; timing parameters in Table 17-5)."""


@dataclass(frozen=True)
class Standard:
    """One PHY: timing, contention windows, rates.

    `rx_start_margin_ns` is aPHY-RX-START-Delay minus the time of preamble and PLCP header, so that
    a PHY with an overridden preamble keeps a matching delay. `basic_rates_bps` are the rates of
    responses, lowest first, per modulation. `lowest_mandatory` is the modulation and rate of the
    ACK that EIFS allows for (10.3.2.3.7).
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
    ofdm: OfdmTiming | None

    @property
    def has_dsss(self) -> bool:
        """Whether the PHY has DSSS and CCK rates, and so a long and a short preamble."""
        return DSSS in self.rates_bps

    @property
    def default_data_rate_bps(self) -> int:
        """The highest rate of the PHY. The standard does not prescribe a rate."""
        return max(rate for rates in self.rates_bps.values() for rate in rates)

    @property
    def all_rates_bps(self) -> tuple[int, ...]:
        """All rates in ascending order."""
        return tuple(sorted(rate for rates in self.rates_bps.values() for rate in rates))

    def modulation(self, rate_bps: int) -> Modulation | None:
        """Return DSSS (with CCK) or OFDM, or None if the PHY has no such rate.

        No rate belongs to both.
        """
        for modulation, rates in self.rates_bps.items():
            if rate_bps in rates:
                return modulation
        return None


# 16.2.2.2 (long PPDU): SYNC and SFD 144 us, PLCP header 48 us, both at 1 Mb/s.
# 16.2.2.3 (short PPDU): 72 us at 1 Mb/s and 24 us at 2 Mb/s.
DSSS_PREAMBLES: Mapping[Literal["long", "short"], DsssTiming] = MappingProxyType(
    {
        "long": DsssTiming(preamble_time_ns=144 * _US, plcp_header_time_ns=48 * _US),
        "short": DsssTiming(preamble_time_ns=72 * _US, plcp_header_time_ns=24 * _US),
    }
)

# 16.2.2.3: the payload of a short PPDU is sent at 2, 5.5 or 11 Mb/s. A 1 Mb/s frame is always a
# long PPDU.
SHORT_PREAMBLE_SLOWEST_BPS = 2 * _MBPS

_DSSS_RATES = (1 * _MBPS, 2 * _MBPS, 5_500_000, 11 * _MBPS)  # 16.2.3.4 SIGNAL field
_OFDM_RATES = tuple(rate * _MBPS for rate in (6, 9, 12, 18, 24, 36, 48, 54))  # 17.3.4.2, Table 17-6
# The rates of the 802.11-1997 DSSS PHY: the basic rate set that access points announce, so that
# every station can decode a response (10.6.6.5.2 takes the rate from the BSSBasicRateSet).
_DSSS_BASIC = (1 * _MBPS, 2 * _MBPS)
_OFDM_BASIC = (
    6 * _MBPS,
    12 * _MBPS,
    24 * _MBPS,
)  # the mandatory rates of clause 17 (17.1.1)

STANDARDS: Mapping[str, Standard] = MappingProxyType(
    {
        # HR/DSSS PHY characteristics (16.3.3, Table 16-4): aSlotTime 20 us, aSIFSTime 10 us, aCWmin
        # 31, aCWmax 1023, aPHY-RX-START-Delay 192 us (long preamble) or 96 us (short): exactly
        # preamble plus header, so no margin.
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
        # OFDM PHY characteristics at 20 MHz (Table 17-21): aSlotTime 9 us, aSIFSTime 16 us, aCWmin
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
            ofdm=OFDM_TIMING,
        ),
        # ERP characteristics (Table 18-5): aSlotTime 9 us (short: no 802.11b station is present;
        # the long slot is 20 us), aSIFSTime 10 us, aCWmin 15 (aCWmin(1); 31 for stations that
        # support only 802.11b), aCWmax 1023, aPHY-RX-START-Delay 24 us for ERP-OFDM (4 us more than
        # training symbols and SIGNAL), 192 and 96 us for DSSS with long and short preamble. Each
        # ERP-OFDM PPDU ends with 6 us without signal (aSignalExtension; 18.3.2.4). 1 Mb/s is among
        # the mandatory rates of an ERP station (18.1), so EIFS allows for an ACK of 304 us here
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
            ofdm=replace(OFDM_TIMING, signal_extension_ns=6 * _US),
        ),
        # HT and later at 5 GHz have the characteristics of 802.11a (Tables 19-25, 21-28; 27.4.4).
        # Control frames use its rates; data frames use MCSs (`airtcp.high_rate`).
        **{
            name: Standard(
                name=name,
                slot_time_ns=9 * _US,
                sifs_ns=16 * _US,
                cw_min=15,
                cw_max=1023,
                rates_bps={OFDM: _OFDM_RATES},
                basic_rates_bps={OFDM: _OFDM_BASIC},
                rx_start_margin_ns={OFDM: 5 * _US},
                lowest_mandatory=(OFDM, 6 * _MBPS),
                ofdm=OFDM_TIMING,
            )
            for name in AMENDMENTS
        },
    }
)


def in_band(name: str, band_ghz: float) -> Standard:
    """Return the PHY with this name in a band.

    In 2.4 GHz, 802.11n and later have the characteristics of ERP (Table 19-25: aSIFSTime is 10 us
    there; 10.6.6: control frames use the rates of 802.11g), except for their MCSs.
    """
    if band_ghz == 2.4 and name in AMENDMENTS:
        return replace(STANDARDS["802.11g"], name=name)
    return STANDARDS[name]


MAC_HEADER_BITS = 224  # data frame with three addresses, no QoS: 24 bytes, 4 of FCS (9.2.3)
QOS_CONTROL_BITS = 16  # extra field of a QoS data frame (9.2.4.5)
MAX_MSDU_BYTES = 2304  # 9.2.4.7

#: The access categories, highest priority first (10.2.3.2).
EDCA_CATEGORIES: tuple[AccessCategory, ...] = ("AC_VO", "AC_VI", "AC_BE", "AC_BK")


@dataclass(frozen=True)
class EdcaDefaults:
    """The contention parameters of an access category.

    AIFS is SIFS plus `aifsn` slots. A TXOP limit of 0 allows one frame exchange.
    """

    aifsn: int
    cw_min: int
    cw_max: int
    txop_limit_ns: int


# Stations: Table 9-155, the default EDCA parameter set, which an access point announces. Access
# point: the defaults of dot11QAPEDCATable (Annex C). Only an access point may use an AIFSN of 1, so
# its voice and video precede the stations' voice and video.
_STATION_AIFSN: Mapping[AccessCategory, int] = MappingProxyType(
    {"AC_VO": 2, "AC_VI": 2, "AC_BE": 3, "AC_BK": 7}
)
_AP_AIFSN: Mapping[AccessCategory, int] = MappingProxyType(
    {"AC_VO": 1, "AC_VI": 1, "AC_BE": 3, "AC_BK": 7}
)
# TXOP limits of the same table: first for the PHYs of clauses 15 and 16 (DSSS, HR/DSSS), then for
# clauses 17 and 18 (OFDM, ERP). Before the 2016 edition AC_BE and AC_BK had 0.
_TXOP_LIMIT_US: Mapping[AccessCategory, tuple[int, int]] = MappingProxyType(
    {"AC_VO": (3264, 2080), "AC_VI": (6016, 4096), "AC_BE": (3264, 2528), "AC_BK": (3264, 2528)}
)


def edca_defaults(
    standard: Standard, category: AccessCategory, *, ap: bool, cw_min: int, cw_max: int
) -> EdcaDefaults:
    """Return the default parameters of an access category of the access point or of a station.

    Stations use Table 9-155. The access point uses dot11QAPEDCATable of Annex C, which has other
    AIFSNs, and a CWmax of 4 (aCWmin + 1) - 1 for AC_BE.

    Args:
        standard: the PHY, which determines the TXOP limits.
        category: the access category.
        ap: whether the parameters are the access point's.
        cw_min: aCWmin of the cell, from which the table derives the windows. The quotients are
            rounded down if aCWmin is not a power of 2 minus 1, as in the standard.
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


# RFC 8290, 5.2.1: the limit of an FQ-CoDel queue.
FQ_CODEL_PACKETS = 10_240

# The IP packet whose airtime is the typical transmission time s of Floyd and Jacobson (1993): while
# the queue is empty, RED averages it once per s.
RED_IDLE_PACKET_BYTES = 1500

# ns-2 waits for the complete response, not only its preamble, and adds the longest round trip:
# twice DSSS_MaxPropagationDelay, 2 us (mac-802_11.h, `check_pktTx`).
NS2_ROUND_TRIP_NS = 4_000

UDP_IP_HEADER_BYTES = 28  # UDP 8 (RFC 768), IPv4 20 (RFC 791)


def initial_window_segments(mss_bytes: int) -> int:
    """Return the initial window in segments for an SMSS in bytes (RFC 5681, 3.1).

    2 segments above 2190 bytes, 3 above 1095 bytes, otherwise 4.
    """
    if mss_bytes > 2190:
        return 2
    if mss_bytes > 1095:
        return 3
    return 4


def response_rate_bps(standard: Standard, data_rate_bps: int, wanted_bps: int | None = None) -> int:
    """Return the rate of RTS, CTS and MAC ACK of a station that sends at a data rate (10.6.6.5.2).

    This is the highest basic rate of the same modulation that does not exceed the data rate.
    `wanted_bps` replaces it unless it exceeds the data rate: a response is never faster than the
    frame it responds to.

    Raises:
        KeyError: the standard has no rate `data_rate_bps`.
    """
    if wanted_bps is not None and wanted_bps <= data_rate_bps:
        return wanted_bps
    modulation = standard.modulation(data_rate_bps)
    if modulation is None:
        raise KeyError(data_rate_bps)
    return max(rate for rate in standard.basic_rates_bps[modulation] if rate <= data_rate_bps)
