"""`[mac]`: the DCF, EDCA, beacons, the PCF.

`resolve_mac` computes AIFS and contention windows of access categories from the PHY.
"""

from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from ...airtime import Rate
from ...amendments import LARGEST_WINDOW, amended
from ...standards import AccessCategory
from ..declare import Key, Sparse, Table, by_preset, derived, file_only, follows, key, none, written
from ..quantities import ExchangeTimeNs, PositiveTimeNs, RateBps, SizeBytes, Written, optional

AfterCollision = Literal["eifs", "difs", "eifs+difs"]

_CW_MOST = 2**20 - 1


class Rules(Table):
    """Rules of the DCF in which the standard, simulators and papers differ."""

    # ns-2 is the program, version 2.35. It always backs off, and has no backoff left after a drop.
    # Nodes that received the collided frames, including their senders, wait EIFS and then DIFS. A
    # sender whose frame outlasted all others has received none (`recv_timer` of mac-802_11.cc drops
    # what ends while it transmits). It waits for its response, and then DIFS. ns-3 is the program:
    # receivers of frames of equal power detect nothing and resume after DIFS, and a node that owes
    # a MAC ACK and has not begun it senses nothing. bianchi is the decoupling model (Bianchi 2000)
    # and papers M and L: a fresh backoff for every frame, and every station, including the senders,
    # resumes DIFS after the collision.
    preset: Literal["standard", "ns-2", "ns-3", "bianchi"] = key(
        "A named set of the keys below. A key given explicitly overrides it.", default="standard"
    )
    immediate_access: bool = key(
        "Transmit without backoff if the medium was idle for DIFS and no backoff is pending; "
        "`false`: always a backoff.",
        default=by_preset(True, {"ns-2": False, "bianchi": False}),
        source="IEEE 802.11-2020, 10.3.4.2",
    )
    post_backoff: bool = key(
        "A backoff after every success, even if the queue is empty.",
        default=by_preset(True, {"bianchi": False}),
        source="IEEE 802.11-2020, 10.3.4.3",
    )
    post_backoff_after_drop: bool = key(
        "A backoff after a drop at the retry limit, even if the queue is empty.",
        default=by_preset(True, {"ns-2": False, "bianchi": False}),
        source="IEEE 802.11-2020, 10.3.4.3",
    )
    after_collision: AfterCollision = key(
        "How long nodes that heard a collision wait after its end.",
        default=by_preset("eifs", {"ns-2": "eifs+difs", "ns-3": "difs", "bianchi": "difs"}),
        source="IEEE 802.11-2020, 10.3.2.3.7",
    )
    colliders: Literal["ack-timeout+difs", "as-others", "as-heard"] = key(
        "How long the senders of a collision wait. `as-heard`: as long as all nodes that heard "
        "it, except that the sender whose frame ended last waits for its response and then DIFS. "
        '`after_collision = "eifs+difs"` implies this value.',
        default=by_preset("ack-timeout+difs", {"ns-2": "as-heard", "bianchi": "as-others"}),
        source="IEEE 802.11-2020, 10.3.2.11",
    )
    arrival_before_own_ack: Literal["busy", "idle"] = key(
        "State of the medium for a packet that is queued at the receiver of a data frame before "
        "its MAC ACK begins, such as an immediate TCP ACK. `busy`: it draws a backoff. `idle`: "
        "it is sent DIFS after the MAC ACK without backoff.",
        default=by_preset("busy", {"ns-3": "idle"}),
        source="IEEE 802.11-2020, 10.3.4.2",
    )

    weaker_before: Literal["interferes", "unnoticed"] = key(
        "Interference by a weaker frame that began less than `air.detect` before the frame that "
        "captured the receiver. `interferes`: the weaker frame counts. `unnoticed`: until "
        "another frame begins or ends, only signals from before both frames count.",
        default=by_preset("interferes", {"ns-3": "unnoticed"}),
    )
    narrow_collider: Literal["lost", "received"] = key(
        "An A-MPDU that collides with frames of wider channels and outlasts them. `lost`: nothing "
        "of it is received. `received`: its MPDUs after the end of the others are received if it "
        "is more than 4 dB stronger in its own channel, over which it has all its power. Applies "
        "to one cell.",
        default=by_preset("lost", {"ns-3": "received"}),
    )
    other_links: Literal["separate", "shared"] = key(
        "What it means for a link that another link holds frames of the same queue. `separate`: "
        "nothing. `shared`: the queue is not empty, so a packet that arrives draws no backoff, and "
        "a link that has found nothing to send contends again when the next packet arrives.",
        default=by_preset("separate", {"ns-3": "shared"}),
        source="IEEE 802.11-2020, 10.23.2.2",
    )
    failed_block_ack: Literal["resend", "block-ack-request"] = key(
        "What a sender does if the Block ACK is missing: send the frames again, or request the "
        "Block ACK.",
        default=by_preset("resend", {"ns-3": "block-ack-request"}),
        source="IEEE 802.11-2020, 10.25.6.7",
    )
    delivery: Literal["ppdu", "mpdu"] = key(
        "When a receiver delivers the frames of an A-MPDU: at the end of the PPDU, or each at "
        "its own end, so that TCP ACKs are queued before the Block ACK is sent.",
        default=by_preset("ppdu", {"ns-3": "mpdu"}),
    )
    txop_protection: Literal["single", "multiple", "multiple+cf-end"] = key(
        "Duration (NAV) that frames of a limited TXOP announce: the current exchange, or the "
        "TXOP up to its limit. `multiple+cf-end`: a CF-End frame ends the reservation early if "
        "there is time for one.",
        default=by_preset("single", {"ns-3": "multiple+cf-end"}),
        source="IEEE 802.11-2020, 9.2.5.2, 10.23.2.10",
    )
    retry_limit_under_block_ack: bool = key(
        "Drop a frame under a Block ACK agreement at `short_retry_limit`; `false`: never drop "
        'it, only reset CW as in `cw_reset = "failures"`.',
        default=by_preset(True, {"ns-3": False}),
        source="IEEE 802.11-2020, 10.23.2.12",
    )
    cw_reset: Literal["drop", "failures"] = key(
        "What resets CW to CWmin, apart from a success: the drop of a frame at the retry limit, "
        "or more than `short_retry_limit` consecutive failures, of any frames.",
        default=by_preset("drop", {"ns-3": "failures"}),
        source="IEEE 802.11-2020, 10.3.3, 10.23.2.2",
    )
    vht_sig_b: ClassVar[Key] = file_only(
        bool,
        "A VHT PPDU to one receiver has VHT-SIG-B.",
        default=by_preset(True, {"ns-3": False}),
        source="IEEE 802.11-2020, 21.3.2",
    )
    he_ltf: ClassVar[Key] = file_only(
        ExchangeTimeNs,
        "One HE-LTF or EHT-LTF with its guard interval.",
        default=follows(
            "7.2 us, 8 us, 16 us with a guard interval of 800, 1600, 3200 ns (ns-3: 8 us)"
        ),
        source="IEEE 802.11ax-2021, 27.3.11.10; 802.11be-2024, 36.3.12.10",
    )
    short_gi_rounding: ClassVar[Key] = file_only(
        bool,
        "Data with a guard interval of 400 ns end at a multiple of 4 us.",
        default=by_preset(True, {"ns-3": False}),
        source="IEEE 802.11-2020, 19.4.3, 21.4.3",
    )
    ht_mpdu_limit: ClassVar[Key] = file_only(
        bool,
        "An MPDU in an A-MPDU of 802.11n has at most 4095 bytes: its delimiter has 12 bits for "
        "the length.",
        default=by_preset(True, {"ns-3": False}),
        source="IEEE 802.11-2020, 9.7.1",
    )
    he_tail: ClassVar[Key] = file_only(
        bool,
        "HE and EHT data end with tail bits, as with a convolutional code; LDPC has none.",
        default=by_preset(False, {"ns-3": True}),
        source="IEEE 802.11ax-2021, 27.3.12.5",
    )


class AccessParameters(Table):
    """How one access category contends."""

    aifs_ns: int = key(
        "AIFS: how long the medium must be idle. Not together with `aifsn`.",
        default=follows("SIFS + `aifsn` slots"),
        reads=ExchangeTimeNs,
        source="IEEE 802.11-2020, 10.3.2.3.6",
    )
    aifsn: ClassVar[Key] = file_only(
        Annotated[int, Field(ge=1, le=15)],
        "AIFS in slots after SIFS. The standard allows 1 only for an access point.",
        default=follows("2 (VO, VI; `ap`: 1), 3 (BE), 7 (BK)"),
        unit="slots",
        source="IEEE 802.11-2020, Table 9-155; `ap`: dot11QAPEDCATable",
    )
    cw_min: int = key(
        "CWmin: backoff is uniform over 0 .. CW; 0: no backoff.",
        default=follows("aCWmin (BE, BK), (aCWmin + 1) / 2 - 1 (VI), (aCWmin + 1) / 4 - 1 (VO)"),
        ge=0,
        le=_CW_MOST,
        unit="slots",
        source="IEEE 802.11-2020, Table 9-155",
    )
    cw_max: int = key(
        "CWmax.",
        default=follows(
            "aCWmax (BE, BK), aCWmin (VI), (aCWmin + 1) / 2 - 1 (VO); `ap`: 4 (aCWmin + 1) - 1 (BE)"
        ),
        ge=0,
        le=_CW_MOST,
        unit="slots",
        source="IEEE 802.11-2020, Table 9-155; `ap`: dot11QAPEDCATable",
    )
    txop_limit_ns: int = key(
        "Time limit for all frames of one access; 0: one frame.",
        default=follows(
            "3.264 ms (VO, BE, BK), 6.016 ms (VI) in b; 2.08 ms (VO), 4.096 ms (VI), "
            "2.528 ms (BE, BK) in a, g"
        ),
        reads=ExchangeTimeNs,
        source="IEEE 802.11-2020, Table 9-155",
    )


CategoryForm: Any = written(AccessParameters)


class EdcaCategories(Written):
    """Access categories, the one with the highest priority first."""

    AC_VO: CategoryForm | None = optional("Voice.", default="the standard's")
    AC_VI: CategoryForm | None = optional("Video.", default="the standard's")
    AC_BE: CategoryForm | None = optional("Best effort.", default="the standard's")
    AC_BK: CategoryForm | None = optional("Background.", default="the standard's")


class Edca(Table):
    """Enhanced distributed channel access. This table, even an empty one, enables it.

    802.11n and later always have it.
    """

    preset: ClassVar[Key] = file_only(
        Literal["standard", "wmm"],
        "Source of TXOP limits. `wmm`: 0 for best effort and background, as access points "
        "announce.",
        default=follows("`standard`; with 802.11n and later `wmm`"),
    )

    ap: dict[AccessCategory, AccessParameters] = key(
        "The access point's categories, `[mac.edca.ap.AC_VO]` and so on.",
        default={},
        reads=EdcaCategories,
    )
    stations: dict[AccessCategory, AccessParameters] = key(
        "Every station's categories, `[mac.edca.stations.AC_VO]` and so on.",
        default={},
        reads=EdcaCategories,
    )


class Classify(Table):
    """The access category of each kind of traffic; only with `[mac.edca]`."""

    tcp_ack: AccessCategory = key("TCP segments with neither payload nor SYN.", default="AC_BE")
    tcp_data: AccessCategory = key("TCP segments with payload or a SYN.", default="AC_BE")
    udp: AccessCategory = key("UDP packets.", default="AC_BE")


class Beacon(Table):
    """Beacons of the access point. This table, even an empty one, enables them."""

    interval_ns: int = key(
        "Time from one beacon to the next.",
        default="102.4 ms",
        gt=0,
        source="100 time units of 1.024 ms",
    )
    size_bits: int = key(
        "Size of the whole frame, including MAC header and FCS.",
        default=584,
        ge=336,
        le=10**5,
        unit="bits",
        source="Hoekstra, van der Mei, Diaz-Feraren (2013), Table I",
    )
    rate: Rate = key(
        "Its rate, one of the standard's.",
        default=follows(
            "the lowest mandatory rate that has the preamble: 1 Mb/s (b, g; short: 2), 6 Mb/s (a)"
        ),
        reads=RateBps,
    )


class Pcf(Table):
    """Contention-free periods, in which the access point polls. This table enables them."""

    interval_ns: int = key(
        "Time from one contention-free period to the next: a multiple of the beacon interval.",
        default=follows("the beacon interval, 102.4 ms"),
        gt=0,
        source="IEEE 802.11-2016, 10.4.2, CFPPeriod",
    )
    max_duration_ns: int = key(
        "Maximum time from when the beacon was due to the end of the period.",
        default=follows("half the beacon interval"),
        gt=0,
        source="IEEE 802.11-2016, 10.4.4, CFPMaxDuration",
    )
    poll: Literal["round-robin"] = key(
        "The order in which the access point polls stations.",
        default="round-robin",
        source="IEEE 802.11-2016, 10.4, polling list",
    )


class Aggregation(Table):
    """How 802.11n and later transmit several frames at once, to one receiver."""

    ampdu_bytes: int = key(
        "Largest A-MPDU in bytes. 0: no aggregation.",
        default=follows(amended(lambda one: f"{one.ampdu_bytes} B")),
        reads=SizeBytes,
        source="IEEE 802.11-2020, 9.4.2.55.3, 9.4.2.157.3; 802.11ax-2021, 26.6.1",
    )
    amsdu_bytes: int = key(
        "Maximum size of an A-MSDU: several packets in one frame, which are lost or received "
        "together; 0: no A-MSDUs. Most receivers announce 3839 or 7935 B in 802.11n.",
        default="0 B",
        reads=SizeBytes,
        source="IEEE 802.11-2020, 9.3.2.2, Table 9-25",
    )
    mpdu_bytes: int = derived(
        "Longest MPDU that carries several packets; in an A-MPDU "
        + amended(lambda one: f"{one.mpdu_bytes_in_ampdu} B")
        + "."
    )
    ppdu_time_ns: int = key(
        "Maximum duration of a PPDU.",
        default="5.484 ms",
        reads=ExchangeTimeNs,
        source="IEEE 802.11-2020, aPPDUMaxTime, Table 19-25",
    )
    block_ack_window: int = key(
        "Maximum number of outstanding frames per receiver.",
        default=follows(amended(lambda one: f"{one.window}")),
        ge=1,
        le=LARGEST_WINDOW,
        unit="frames",
        source="IEEE 802.11-2020, 10.25.6; 802.11ax-2021, 26.4",
    )
    block_ack_bits: int = derived("`phy.block_ack_bits`.", unit="bits")
    block_ack_rate: Rate = derived("`phy.block_ack_rate`.")
    block_ack_request_bits: int = derived("A Block ACK request (9.3.1.7).", unit="bits")


class Ofdma(Sparse):
    """OFDMA in 802.11ax and 802.11be. This table, even an empty one, enables it downlink."""

    scheduler: Literal["round-robin", "fixed"] = key(
        "Which stations share a PPDU. `round-robin`: stations with packets take turns by "
        "airtime, in equal resource units, which are as small as possible but at most one per "
        "station, as in ns-3's `RrMultiUserScheduler`. `fixed`: as `schedule` says.",
        default="round-robin",
        source="ns-3 3.44",
    )
    schedule: ClassVar[Key] = file_only(
        Annotated[list[Annotated[list[str], Field(min_length=1)]], Field(min_length=1)],
        "For `fixed`: the stations of one PPDU after the other, from the beginning again after the "
        'last, such as `[["near"], ["far/0", "far/1"]]`. The name of a group stands for all '
        "its stations. Stations without packets are left out, and the others get equal resource "
        "units, as large as possible. Each access category goes through it by itself.",
        default=none("`round-robin` chooses"),
    )
    turns: tuple[tuple[int, ...], ...] | None = derived(
        "`schedule`, with stations as numbers from 0 in the order of groups.", sparse=True
    )
    acknowledgment: Literal["mu-bar", "bar-sequence"] = key(
        "How stations acknowledge a PPDU. `mu-bar`: all at once after a trigger frame. The data "
        "then need no immediate response, so a collision does not double the contention window. "
        "`bar-sequence`: one after the other, all but the first after a Block ACK request; a "
        "collision doubles the window.",
        default="mu-bar",
        source="IEEE 802.11ax-2021, 26.4.4; IEEE 802.11-2020, 10.23.2.2",
    )
    block_ack_mcs: int = key(
        "MCS of Block ACKs after a trigger frame, limited to the MCS of the data.",
        default=5,
        ge=0,
        le=11,
        source="ns-3 3.44",
    )
    uplink: Literal["edca", "trigger"] = key(
        "How stations send. `edca`: only when they win access. `trigger`: also together, each in a "
        "resource unit, when the access point asks them. After a PPDU to several stations, or "
        "without packets of its own, it asks for buffer status reports, and at its next access for "
        "data of those that reported any.",
        default="edca",
        source="IEEE 802.11ax-2021, 26.5.2, 26.5.5; ns-3 3.44",
    )
    access_interval_ns: int | None = key(
        "How long after its last access the access point requests the next one without packets of "
        "its own, to ask for reports; only with `uplink`.",
        default=none("it does not"),
        reads=PositiveTimeNs,
        source="ns-3 3.44, `AccessReqInterval`",
    )


class Mac(Sparse):
    """Medium access: the DCF, or EDCA."""

    rts_threshold_bytes: int | None = key(
        "RTS/CTS before frames (MAC header to FCS) longer than this.", default=none("never")
    )
    short_retry_limit: int = key(
        "Maximum number of transmissions of an RTS, or of a frame without RTS; 1: no retries.",
        default=7,
        ge=1,
        le=255,
        source="IEEE 802.11-2020, dot11ShortRetryLimit",
    )
    long_retry_limit: int = key(
        "Maximum number of transmissions of a frame after RTS/CTS.",
        default=4,
        ge=1,
        le=255,
        source="IEEE 802.11-2020, dot11LongRetryLimit",
    )
    rules: Rules = key("Rules of DCF and EDCA.", default={})
    edca: Edca | None = key(
        "Access categories.", default=none("the DCF; in 802.11n and later all defaults")
    )
    aggregation: Aggregation | None = key(
        "Aggregation of frames, in 802.11n and later.",
        default=follows("all defaults in 802.11n and later, else none"),
    )
    ofdma: Ofdma | None = key(
        "PPDUs from the access point to several stations at once, in 802.11ax and later.",
        default=none("every PPDU has one receiver"),
        sparse=True,
    )
    cf_end_rate: Rate = derived("Rate of CF-Ends: the lowest mandatory rate.")
    classify: ClassVar[Key] = file_only(
        written(Classify), "Which traffic goes into which access category.", default={}
    )
    beacon: Beacon | None = key(
        "Beacons of the access point.", default=none("none; with `pcf` all defaults")
    )
    pcf: Pcf | None = key(
        "The point coordination function, in 802.11, 802.11b, a and g.",
        default=none("only the DCF"),
    )
