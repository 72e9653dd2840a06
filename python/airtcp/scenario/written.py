"""The written form of a scenario: the tables and keys of a scenario file.

Knows keys, types and the bounds of a single key. Does not know defaults (`resolve` does) nor how
keys of different tables depend on each other.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from ..standards import AccessCategory
from .quantities import (
    ExchangeTimeNs,
    Name,
    Percent,
    PositiveTimeNs,
    RateBps,
    SizeBytes,
    Table,
    key,
    needed,
    time_or,
)
from .written_traffic import Flow, Link

__all__ = [
    "Access",
    "Ap",
    "Beacon",
    "Classify",
    "Edca",
    "EdcaCategories",
    "EdcaCategory",
    "Mac",
    "Phy",
    "Queue",
    "Rules",
    "Run",
    "Scenario",
    "Stations",
]

Cw = Annotated[int, Field(ge=0, le=2**20 - 1)]
Bits = Annotated[int, Field(ge=0, le=10**6)]
Limit = Annotated[int, Field(ge=1, le=255)]


class Phy(Table):
    """Physical layer: the standard, and each of its numbers that a paper may have changed."""

    standard: Literal["802.11b", "802.11a", "802.11g"] = needed("The standard.")
    data_rate: RateBps | None = key(
        "Rate of data frames, one of the standard's.", default="the standard's highest"
    )
    control_rate: RateBps | None = key(
        "Rate of RTS, CTS and MAC ACK, one of the standard's. A station never uses one above its "
        "data rate.",
        default="the highest basic rate up to the data rate (basic: 1, 2; OFDM: 6, 12, 24 Mb/s)",
        source="IEEE 802.11-2012, 9.7.6.5.2",
    )
    preamble: Literal["long", "short"] | None = key(
        "PLCP preamble of the rates 1, 2, 5.5 and 11 Mb/s; 1 Mb/s has the long one only.",
        default='"long"',
        source="IEEE 802.11-2012, 17.2.2",
    )
    slot_time: Annotated[ExchangeTimeNs, Field(gt=0)] | None = key(
        "aSlotTime. In 802.11g: the short slot; the long one is 20 us.",
        default="20 us (b), 9 us (a, g)",
        source="IEEE 802.11-2012, 17.3.3, Tables 18-17, 19-8",
    )
    sifs: ExchangeTimeNs | None = key(
        "aSIFSTime.",
        default="10 us (b, g), 16 us (a)",
        source="IEEE 802.11-2012, 17.3.3, Tables 18-17, 19-8",
    )
    difs: ExchangeTimeNs | None = key(
        "DIFS.",
        default="SIFS + 2 slots: 50 us (b), 34 us (a), 28 us (g)",
        source="IEEE 802.11-2012, 9.3.7",
    )
    eifs: ExchangeTimeNs | None = key(
        "EIFS.",
        default="SIFS + ACK at the lowest mandatory rate + DIFS: 364 us (b), 94 us (a), 342 us (g)",
        source="IEEE 802.11-2012, 9.3.2.3.7, 9.3.7",
    )
    ack_timeout: ExchangeTimeNs | None = key(
        "How long a sender waits for CTS or ACK, from the end of its own frame.",
        default="SIFS + slot + aPHY-RX-START-Delay: 222 us (b, long), 126 us (b, short), "
        "50 us (a), 43 us (g); with rules of ns-2 SIFS + ACK + 4 us",
        source="IEEE 802.11-2012, 9.3.2.8",
    )
    preamble_time: ExchangeTimeNs | None = key(
        "Time of the preamble, for the modulation of `data_rate`.",
        default="144 us (long), 72 us (short), 16 us (OFDM)",
        source="IEEE 802.11-2012, 17.2.2, Table 18-5",
    )
    plcp_header_time: ExchangeTimeNs | None = key(
        "Time of the PLCP header (OFDM: of SIGNAL), for the modulation of `data_rate`.",
        default="48 us (long), 24 us (short), 4 us (OFDM)",
        source="IEEE 802.11-2012, 17.2.2, Table 18-5",
    )
    propagation_delay: ExchangeTimeNs | None = key(
        "Added once after every frame.", default='"0 us"'
    )
    cw_min: Cw | None = key(
        "aCWmin: backoff is uniform over 0 .. CW.",
        default="31 (b), 15 (a, g)",
        source="IEEE 802.11-2012, 17.3.3, Tables 18-17, 19-8",
        unit="slots",
    )
    cw_max: Cw | None = key(
        "aCWmax.",
        default="1023",
        source="IEEE 802.11-2012, 17.3.3, Tables 18-17, 19-8",
        unit="slots",
    )
    rts_bits: Bits | None = key(
        "RTS frame.", default="160", source="IEEE 802.11-2012, 8.3.1.2", unit="bits"
    )
    cts_bits: Bits | None = key(
        "CTS frame.", default="112", source="IEEE 802.11-2012, 8.3.1.3", unit="bits"
    )
    ack_bits: Bits | None = key(
        "MAC ACK frame.", default="112", source="IEEE 802.11-2012, 8.3.1.4", unit="bits"
    )
    mac_header_bits: Bits | None = key(
        "MAC header and FCS of a data frame.",
        default="240 with EDCA, else 224",
        source="IEEE 802.11-2012, 8.2.3, 8.2.4.5",
        unit="bits",
    )
    llc_bits: Bits | None = key(
        "LLC and SNAP headers of a data frame.",
        default="64",
        source="RFC 1042",
        unit="bits",
    )
    symbol_rounding: bool | None = key(
        "Round payloads up to whole microseconds (DSSS) or whole symbols (OFDM). `false`: bits "
        "over rate, "
        "as papers do.",
        default="true",
        source="IEEE 802.11-2012, 17.2.3.6, 18.4.3",
    )


class Rules(Table):
    """What standard, peers and papers do differently in the DCF."""

    preset: Literal["standard", "ns-2", "ns-3", "bianchi"] | None = key(
        "A named set of the keys below; a key given beside it wins.",
        default='"standard"',
    )
    immediate_access: bool | None = key(
        "Send at once if the medium was idle for DIFS and no backoff is pending; `false`: always "
        "a backoff.",
        default="true (ns-2, bianchi: false)",
        source="IEEE 802.11-2012, 9.3.4.2",
    )
    post_backoff: bool | None = key(
        "A backoff after every success, also when the queue is empty.",
        default="true (bianchi: false)",
        source="IEEE 802.11-2012, 9.3.4.3",
    )
    post_backoff_after_drop: bool | None = key(
        "The same after a drop at the retry limit.",
        default="true (ns-2, bianchi: false)",
        source="IEEE 802.11-2012, 9.3.4.3",
    )
    after_collision: Literal["eifs", "difs", "eifs+difs"] | None = key(
        "What those wait who heard a collision, from its end.",
        default='"eifs" (ns-3, bianchi: "difs"; ns-2: "eifs+difs")',
        source="IEEE 802.11-2012, 9.3.2.3.7",
    )
    colliders: Literal["ack-timeout+difs", "as-others", "as-heard"] | None = key(
        "What those wait who took part in a collision. `as-heard`: like all who heard it, but for "
        "who still sent when all other frames had ended, which waits for its answer and then DIFS.",
        default='"ack-timeout+difs" (bianchi: "as-others"; ns-2, and beside a written '
        '"eifs+difs": "as-heard")',
        source="IEEE 802.11-2012, 9.3.2.8",
    )
    arrival_before_own_ack: Literal["busy", "idle"] | None = key(
        "What a packet finds that reaches the receiver of a data frame after that frame and before "
        "its own MAC ACK, as a TCP ACK does that is made at once: a medium that is busy, or one "
        "that is idle, so that the packet goes DIFS after the MAC ACK without backoff.",
        default='"busy" (ns-3: "idle")',
        source="IEEE 802.11-2012, 9.3.4.2",
    )


class EdcaCategory(Table):
    """One access category: how it contends."""

    aifs: ExchangeTimeNs | None = key(
        "AIFS: how long the medium must be idle. Not together with `aifsn`.",
        default="SIFS + `aifsn` slots",
        source="IEEE 802.11-2016, 10.3.2.3.6",
    )
    aifsn: Annotated[int, Field(ge=1, le=15)] | None = key(
        "AIFS as slots after SIFS; the standard has 1 for an access point alone.",
        default="2 (VO, VI; `ap`: 1), 3 (BE), 7 (BK)",
        source="IEEE 802.11-2016, Table 9-137; `ap`: dot11QAPEDCATable",
        unit="slots",
    )
    cw_min: Cw | None = key(
        "CWmin: backoff is uniform over 0 .. CW; 0: no backoff.",
        default="aCWmin (BE, BK), (aCWmin + 1) / 2 - 1 (VI), (aCWmin + 1) / 4 - 1 (VO)",
        source="IEEE 802.11-2016, Table 9-137",
        unit="slots",
    )
    cw_max: Cw | None = key(
        "CWmax.",
        default="aCWmax (BE, BK), aCWmin (VI), (aCWmin + 1) / 2 - 1 (VO); `ap`: "
        "4 (aCWmin + 1) - 1 (BE)",
        source="IEEE 802.11-2016, Table 9-137; `ap`: dot11QAPEDCATable",
        unit="slots",
    )
    txop_limit: ExchangeTimeNs | None = key(
        "How long the frames may last that follow one access; 0: one frame.",
        default="3.264 ms (VO, BE, BK), 6.016 ms (VI) in b; 2.08 ms (VO), 4.096 ms (VI), "
        "2.528 ms (BE, BK) in a, g",
        source="IEEE 802.11-2016, Table 9-137",
    )


class EdcaCategories(Table):
    """Access categories, the one with the highest priority first."""

    AC_VO: EdcaCategory | None = key("Voice.", default="the standard's")
    AC_VI: EdcaCategory | None = key("Video.", default="the standard's")
    AC_BE: EdcaCategory | None = key("Best effort.", default="the standard's")
    AC_BK: EdcaCategory | None = key("Background.", default="the standard's")


class Edca(Table):
    """Enhanced distributed channel access; this table, even an empty one, switches it on."""

    ap: EdcaCategories | None = key(
        "The access point's categories, `[mac.edca.ap.AC_VO]` and so on.", default="the standard's"
    )
    stations: EdcaCategories | None = key(
        "Every station's categories, `[mac.edca.stations.AC_VO]` and so on.",
        default="the standard's",
    )


class Classify(Table):
    """Which traffic goes into which access category; only together with `[mac.edca]`."""

    tcp_ack: AccessCategory | None = key(
        "TCP segments with neither payload nor SYN.", default='"AC_BE"'
    )
    tcp_data: AccessCategory | None = key("TCP segments with payload or a SYN.", default='"AC_BE"')
    udp: AccessCategory | None = key("UDP packets.", default='"AC_BE"')


class Beacon(Table):
    """What the access point announces itself with; this table switches it on, empty or not."""

    interval: PositiveTimeNs | None = key(
        "From one beacon to the next.", default='"102.4 ms"', source="100 time units of 1.024 ms"
    )
    size_bits: Annotated[int, Field(ge=336, le=10**5)] | None = key(
        "The whole frame, MAC header and FCS included.",
        default="584",
        source="Hoekstra, van der Mei, Diaz-Feraren (2013), Table I",
        unit="bits",
    )
    rate: RateBps | None = key(
        "What it is sent at, one of the standard's rates.",
        default="the lowest mandatory rate that has the preamble: 1 Mb/s (b, g; short: 2), "
        "6 Mb/s (a)",
    )


class Mac(Table):
    """Medium access: the DCF, or EDCA."""

    rts_threshold: SizeBytes | None = key(
        "RTS/CTS before frames (MAC header to FCS) longer than this.",
        default="none: never",
    )
    short_retry_limit: Limit | None = key(
        "Transmissions at most of an RTS, or of a frame sent without one; 1: no retries.",
        default="7",
        source="IEEE 802.11-2012, dot11ShortRetryLimit",
    )
    long_retry_limit: Limit | None = key(
        "Transmissions at most of a frame sent after RTS/CTS.",
        default="4",
        source="IEEE 802.11-2012, dot11LongRetryLimit",
    )
    rules: Rules | None = key("Rules of DCF and EDCA.", default="the standard's")
    edca: Edca | None = key("Access categories.", default="none: the DCF")
    classify: Classify | None = key(
        "Which traffic goes into which access category.", default="all in AC_BE"
    )
    beacon: Beacon | None = key("Beacons of the access point.", default="none")


class Queue(Table):
    """A queue of packets."""

    discipline: Literal["fifo", "red", "per-flow"] | None = key(
        "`fifo`: first in, first out, drop tail; `red`: the same with random early detection; "
        "`per-flow`: flows take turns, and the longest pays for an overflow.",
        default='"fifo"',
    )
    limit: Annotated[int, Field(ge=1, le=10**9)] | None = key(
        "Packets at most, the one being sent included.",
        default="none: unbounded",
        unit="packets",
    )
    min_threshold: Annotated[float, Field(ge=0, le=1e9)] | None = key(
        "`red`: average length in packets below which nothing is dropped early.",
        default="5",
        source="Floyd, Jacobson (1993)",
    )
    max_threshold: Annotated[float, Field(gt=0, le=1e9)] | None = key(
        "`red`: average length in packets from which on everything is dropped.",
        default="15",
        source="Floyd, Jacobson (1993)",
    )
    max_probability: Annotated[float, Field(gt=0, le=1)] | None = key(
        "`red`: dropping probability just below `max_threshold`.",
        default="0.02",
        source="Floyd, Jacobson (1993)",
    )
    weight: Annotated[float, Field(gt=0, le=1)] | None = key(
        "`red`: weight of a new length in the average.",
        default="0.002",
        source="Floyd, Jacobson (1993)",
    )


class Access(Table):
    """How the access point gets at the medium."""

    scheme: Literal["standard", "adaptive-burst"] | None = key(
        "`standard`: as every station does; `adaptive-burst`: bursts without backoff, and windows "
        "between them that are left to the stations.",
        default='"standard"',
        source="Bruno, Conti, Gregori (2004), 3.2",
    )
    window_slots: Annotated[int, Field(ge=1, le=2**20)] | None = key(
        "`adaptive-burst`: virtual slots between bursts: idle slots, successes and collisions of "
        "stations, one each.",
        default="aCWmin + 1",
        source="Bruno, Conti, Gregori (2004), 3.2",
        unit="slots",
    )
    target_active: Annotated[int, Field(ge=1, le=2**20)] | None = key(
        "`adaptive-burst`: stations that are to contend in the window (m*).",
        default="`window_slots` / 4, 1 at least",
        source="Bruno, Conti, Gregori (2004), 3.1",
        unit="stations",
    )


class Ap(Table):
    """The access point."""

    queue: Queue | None = key("Queue of packets to the stations.", default="unbounded")
    access: Access | None = key("Access to the medium.", default="as every station")


class Stations(Table):
    """A group of stations that are alike."""

    name: Name = needed("Name of the group; station i is called `name/i`. Not `ap`.")
    count: Annotated[int, Field(ge=1, le=100_000)] = needed("How many stations.")
    data_rate: RateBps | None = key(
        "Rate of data frames from and to these stations.", default="that of `[phy]`"
    )
    queue: Queue | None = key("Queue of packets to the access point.", default="unbounded")


class Run(Table):
    """How long, how often, how exactly."""

    warmup: Annotated[int | Literal["auto"], *time_or("auto")] | None = key(
        "Simulated and not counted; `auto`: found by MSER-5, from pilot runs.", default='"10 s"'
    )
    duration: PositiveTimeNs | None = key("Measured time.", default='"100 s"')
    replications: Annotated[int, Field(ge=1, le=10**6)] | None = key(
        "Independent runs. Not together with `precision`.", default="10"
    )
    seed: Annotated[int, Field(ge=0, lt=2**63)] | None = key("Seed of all randomness.", default="1")
    precision: Percent | None = key(
        "Instead of `replications`: go on until each headline interval is this narrow (half width "
        "over mean).",
        default="none",
    )
    max_replications: Annotated[int, Field(ge=2, le=10**6)] | None = key(
        "Give up the wanted `precision` after so many.", default="1000"
    )
    confidence: Annotated[float, Field(gt=0, lt=1)] | None = key(
        "Level of the confidence intervals.", default="0.95"
    )


class Scenario(Table):
    """An airtcp scenario."""

    title: str | None = key("What it is about.", default="the name of the file, without its ending")
    phy: Phy = needed("The physical layer, `[phy]`.")
    mac: Mac | None = key("Medium access.", default="the standard's")
    ap: Ap | None = key("Access point.", default="all defaults")
    stations: Annotated[list[Stations], Field(min_length=1)] = needed(
        "Groups of stations, `[[stations]]`."
    )
    links: dict[Name, Link] | None = key(
        "Wired links by name, shared by all flows whose `path` names them.",
        default="none",
    )
    flows: Annotated[list[Flow], Field(min_length=1)] = needed(
        "Flows, `[[flows]]`: one for every station of a group."
    )
    run: Run | None = key("The run.", default="all defaults")
