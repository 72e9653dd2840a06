"""`[mac]`: the DCF, EDCA, beacons, the PCF.

`resolve_mac` computes AIFS and contention windows of access categories from the PHY.
"""

from types import MappingProxyType
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from ...airtime import Rate
from ...amendments import amended
from ...standards import AccessCategory
from ..declare import Key, Sparse, Table, derived, file_only, key, written
from ..quantities import ExchangeTimeNs, PositiveTimeNs, RateBps, SizeBytes, Written, optional

AfterCollision = Literal["eifs", "difs", "eifs+difs"]


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
    preset: Literal["standard", "ns-2", "ns-3", "bianchi"] = key()
    immediate_access: bool = key()
    post_backoff: bool = key()
    post_backoff_after_drop: bool = key()
    after_collision: AfterCollision = key()
    colliders: Literal["ack-timeout+difs", "as-others", "as-heard"] = key()
    arrival_before_own_ack: Literal["busy", "idle"] = key()
    weaker_before: Literal["interferes", "unnoticed"] = key()
    narrow_collider: Literal["lost", "received"] = key()
    other_links: Literal["separate", "shared"] = key()
    failed_block_ack: Literal["resend", "block-ack-request"] = key()
    delivery: Literal["ppdu", "mpdu"] = key()
    txop_protection: Literal["single", "multiple", "multiple+cf-end"] = key()
    retry_limit_under_block_ack: bool = key()
    cw_reset: Literal["drop", "failures"] = key()
    vht_sig_b: ClassVar[Key] = file_only(bool)
    he_ltf: ClassVar[Key] = file_only(ExchangeTimeNs)
    short_gi_rounding: ClassVar[Key] = file_only(bool)
    ht_mpdu_limit: ClassVar[Key] = file_only(bool)
    he_tail: ClassVar[Key] = file_only(bool)


class AccessParameters(Table):
    """How one access category contends."""

    aifs_ns: int = key(ExchangeTimeNs)
    aifsn: ClassVar[Key] = file_only(Annotated[int, Field(ge=1, le=15)])
    cw_min: int = key()
    cw_max: int = key()
    txop_limit_ns: int = key(ExchangeTimeNs)


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

    preset: ClassVar[Key] = file_only(Literal["standard", "wmm"])
    ap: dict[AccessCategory, AccessParameters] = key(EdcaCategories)
    stations: dict[AccessCategory, AccessParameters] = key(EdcaCategories)


class Classify(Table):
    """The access category of each kind of traffic; only with `[mac.edca]`."""

    tcp_ack: AccessCategory = key()
    tcp_data: AccessCategory = key()
    udp: AccessCategory = key()


class Beacon(Table):
    """Beacons of the access point. This table, even an empty one, enables them."""

    interval_ns: int = key()
    size_bits: int = key()
    rate: Rate = key(RateBps)


class Pcf(Table):
    """Contention-free periods, in which the access point polls. This table enables them."""

    interval_ns: int = key()
    max_duration_ns: int = key()
    poll: Literal["round-robin"] = key()


class Aggregation(Table):
    """How 802.11n and later transmit several frames at once, to one receiver."""

    computed = MappingProxyType(
        {
            "ampdu": amended(lambda one: f"{one.ampdu_bytes} B"),
            "mpdu": amended(lambda one: f"{one.mpdu_bytes_in_ampdu} B"),
            "window": amended(lambda one: f"{one.window}"),
        }
    )

    ampdu_bytes: int = key(SizeBytes)
    amsdu_bytes: int = key(SizeBytes)
    mpdu_bytes: int = derived()
    ppdu_time_ns: int = key(ExchangeTimeNs)
    block_ack_window: int = key()
    block_ack_bits: int = derived()
    block_ack_rate: Rate = derived()
    block_ack_request_bits: int = derived()


class Ofdma(Sparse):
    """OFDMA in 802.11ax and 802.11be. This table, even an empty one, enables it downlink."""

    scheduler: Literal["round-robin", "fixed"] = key()
    schedule: ClassVar[Key] = file_only(
        Annotated[list[Annotated[list[str], Field(min_length=1)]], Field(min_length=1)]
    )
    turns: tuple[tuple[int, ...], ...] | None = derived()
    acknowledgment: Literal["mu-bar", "bar-sequence"] = key()
    block_ack_mcs: int = key()
    uplink: Literal["edca", "trigger"] = key()
    access_interval_ns: int | None = key(PositiveTimeNs)


class Mac(Sparse):
    """Medium access: the DCF, or EDCA."""

    rts_threshold_bytes: int | None = key()
    short_retry_limit: int = key()
    long_retry_limit: int = key()
    rules: Rules = key()
    edca: Edca | None = key()
    aggregation: Aggregation | None = key()
    ofdma: Ofdma | None = key()
    cf_end_rate: Rate = derived()
    classify: ClassVar[Key] = file_only(written(Classify))
    beacon: Beacon | None = key()
    pcf: Pcf | None = key()
