"""The resolved form of a scenario: every field present, integer units, no defaults.

Knows the shape that docs/resolved-form.md fixes, its canonical JSON, and its hash. Does not know
units, defaults, or TOML. All classes are immutable; a change makes a new scenario (`with_run`).
"""

from __future__ import annotations

import hashlib
import json
from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field

from ..distributions import Distribution
from ..standards import (
    AccessCategory,
    AfterCollision,
    ArrivalBeforeOwnAck,
    Colliders,
    Modulation,
    Preset,
)
from .keys.tcp import AckSkip, Aimd, DelayedAck, Tcp, TcpRules

__all__ = [
    "Access",
    "AccessParameters",
    "AccessPoint",
    "AckSkip",
    "AdaptiveBurst",
    "Aimd",
    "Application",
    "Beacon",
    "Bulk",
    "Classify",
    "DelayedAck",
    "DsssPhy",
    "Edca",
    "Flow",
    "Ftp",
    "FtpMessages",
    "Link",
    "Mac",
    "OfdmPhy",
    "Phy",
    "PlainQueue",
    "Queue",
    "Rate",
    "Red",
    "RedQueue",
    "ResolvedScenario",
    "Rules",
    "Run",
    "StandardAccess",
    "StationGroup",
    "Tcp",
    "TcpRules",
    "Udp",
    "Web",
]

NotNegative = Annotated[int, Field(ge=0)]
Positive = Annotated[int, Field(ge=1)]


class _Resolved(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False)


class Rate(_Resolved):
    """A PHY rate in bits per second with the modulation that it belongs to."""

    bps: Positive
    modulation: Modulation


class DsssPhy(_Resolved):
    """PPDU of the DSSS and CCK rates: preamble and PLCP header before the payload."""

    preamble_time_ns: NotNegative
    plcp_header_time_ns: NotNegative


class OfdmPhy(_Resolved):
    """PPDU of the OFDM rates; `signal_extension_ns` is the idle end of an ERP-OFDM PPDU."""

    preamble_time_ns: NotNegative
    plcp_header_time_ns: NotNegative
    symbol_time_ns: Positive
    service_bits: NotNegative
    tail_bits: NotNegative
    signal_extension_ns: NotNegative


class Phy(_Resolved):
    """Timing, sizes and rates. `control_rate` is for RTS, CTS and MAC ACK of the access point."""

    standard: Literal["802.11b", "802.11a", "802.11g"]
    data_rate: Rate
    control_rate: Rate
    slot_time_ns: Positive
    sifs_ns: NotNegative
    difs_ns: NotNegative
    eifs_ns: NotNegative
    ack_timeout_ns: NotNegative
    dsss: DsssPhy | None
    ofdm: OfdmPhy | None
    symbol_rounding: bool
    propagation_delay_ns: NotNegative
    cw_min: NotNegative
    cw_max: NotNegative
    rts_bits: NotNegative
    cts_bits: NotNegative
    ack_bits: NotNegative
    mac_header_bits: NotNegative
    llc_bits: NotNegative


class Rules(_Resolved):
    """How the DCF treats what standard, peers and papers treat differently."""

    preset: Preset
    immediate_access: bool
    post_backoff: bool
    post_backoff_after_drop: bool
    after_collision: AfterCollision
    colliders: Colliders
    arrival_before_own_ack: ArrivalBeforeOwnAck


class AccessParameters(_Resolved):
    """How an access category contends; `txop_limit_ns` of 0: one frame exchange at a time."""

    aifs_ns: NotNegative
    cw_min: NotNegative
    cw_max: NotNegative
    txop_limit_ns: NotNegative


class Edca(_Resolved):
    """The access categories of the access point, and those of every station."""

    ap: dict[AccessCategory, AccessParameters]
    stations: dict[AccessCategory, AccessParameters]


class Beacon(_Resolved):
    """Beacons of the access point: one of `size_bits`, header and FCS included, per interval."""

    interval_ns: Positive
    size_bits: Positive
    rate: Rate


class Mac(_Resolved):
    """Medium access; a retry limit is the number of transmissions of a frame at most.

    Without `edca` all contend by the DCF, with DIFS and the contention window of `Phy`.
    """

    rts_threshold_bytes: NotNegative | None
    short_retry_limit: Positive
    long_retry_limit: Positive
    rules: Rules
    edca: Edca | None
    beacon: Beacon | None


class Classify(_Resolved):
    """Which traffic goes into which access category; means nothing without EDCA.

    `tcp_data` are segments with payload and those with a SYN, `tcp_ack` all other segments.
    """

    tcp_ack: AccessCategory
    tcp_data: AccessCategory
    udp: AccessCategory


class PlainQueue(_Resolved):
    """A queue of packets, the one being sent included; no limit: unbounded.

    `fifo`: what does not fit is dropped. `per-flow`: flows take turns, a packet each, and the
    longest one's last packet makes room for what does not fit.
    """

    discipline: Literal["fifo", "per-flow"]
    limit: Positive | None


class Red(_Resolved):
    """Random early detection (Floyd and Jacobson 1993); thresholds in packets on average."""

    min_threshold: Annotated[float, Field(ge=0)]
    max_threshold: Annotated[float, Field(gt=0)]
    max_probability: Annotated[float, Field(gt=0, le=1)]
    weight: Annotated[float, Field(gt=0, le=1)]
    idle_packet_time_ns: Positive


class RedQueue(_Resolved):
    """A first-in-first-out queue with random early detection."""

    discipline: Literal["red"]
    limit: Positive | None
    red: Red


Queue = Annotated[PlainQueue | RedQueue, Field(discriminator="discipline")]


class StandardAccess(_Resolved):
    """The access point contends as every station does."""

    scheme: Literal["standard"]


class AdaptiveBurst(_Resolved):
    """Bursts without backoff, and `window_slots` virtual slots between them (paper B, 3.2).

    A burst is as long as (8) says for `target_active` stations, m*, and two packets at least.
    """

    scheme: Literal["adaptive-burst"]
    window_slots: Positive
    target_active: Positive


Access = Annotated[StandardAccess | AdaptiveBurst, Field(discriminator="scheme")]


class AccessPoint(_Resolved):
    """The access point."""

    queue: Queue
    access: Access


class StationGroup(_Resolved):
    """`count` stations alike; station i is called `name/i`."""

    name: str
    count: Positive
    data_rate: Rate
    control_rate: Rate
    queue: Queue


class Link(_Resolved):
    """A wired link, the same both ways; no rate: no serialisation; no queue limit: unbounded."""

    rate_bps: Positive | None
    delay_ns: NotNegative
    queue: Positive | None


class Bulk(_Resolved):
    """One transfer of `size` bytes (none: endless) that starts at `start` seconds."""

    kind: Literal["bulk"]
    size: Distribution | None
    start: Distribution


class Web(_Resolved):
    """ON/OFF: a request of `request_bytes`, a transfer of `size` bytes, `think_time` seconds."""

    kind: Literal["web"]
    size: Distribution
    think_time: Distribution
    request_bytes: NotNegative


class FtpMessages(_Resolved):
    """Bytes of the commands and replies around a transfer; `retr` is STOR of an upload."""

    pasv_bytes: Positive
    reply_227_bytes: Positive
    retr_bytes: Positive
    reply_150_bytes: Positive
    reply_226_bytes: Positive


class Ftp(_Resolved):
    """A transfer of `size` bytes every `interarrival` seconds, whether others have ended or not.

    `control`: the messages of the dialogue that goes with each; none: a connection alone.
    """

    kind: Literal["ftp"]
    interarrival: Distribution
    size: Distribution
    control: FtpMessages | None


class Udp(_Resolved):
    """UDP packets of `packet_bytes` (the IP packet), at `rate_bps` of IP packets.

    No rate: there is always one to send.
    """

    kind: Literal["udp"]
    packet_bytes: Positive
    rate_bps: Positive | None


Application = Annotated[Bulk | Web | Ftp | Udp, Field(discriminator="kind")]


class Flow(_Resolved):
    """One such flow for each station of the group; the flow of station i is called `name/i`."""

    name: str
    stations: str
    direction: Literal["download", "upload"]
    application: Application
    tcp: Tcp | None
    path: tuple[Link | str, ...]


class Run(_Resolved):
    """How long, how often, how exactly. Either `replications` or `precision` is given.

    A warm-up of None is to be found by `airtcp.warmup` before anything is simulated.
    """

    warmup_ns: NotNegative | None
    duration_ns: Positive
    seed: NotNegative
    confidence: Annotated[float, Field(gt=0, lt=1)]
    replications: Positive | None
    precision: Annotated[float, Field(gt=0)] | None
    max_replications: Positive


class ResolvedScenario(_Resolved):
    """A whole scenario as models and simulator take it."""

    title: str
    phy: Phy
    mac: Mac
    classify: Classify
    ap: AccessPoint
    stations: tuple[StationGroup, ...]
    links: dict[str, Link]
    flows: tuple[Flow, ...]
    run: Run

    def to_dict(self) -> dict[str, object]:
        """The scenario as plain JSON data."""
        return self.model_dump(mode="json", by_alias=True)

    def to_json(self) -> str:
        """Canonical JSON: keys sorted, no white space, numbers in their shortest exact form."""
        return json.dumps(
            self.to_dict(),
            sort_keys=True,
            separators=(",", ":"),
            ensure_ascii=False,
            allow_nan=False,
        )

    @classmethod
    def from_json(cls, text: str | bytes) -> Self:
        """The scenario of a JSON text, canonical or not.

        Raises:
            pydantic.ValidationError: the text is not JSON, or not a resolved scenario.
        """
        return cls.model_validate_json(text, by_alias=True)

    @classmethod
    def from_dict(cls, data: object) -> Self:
        """The scenario of plain JSON data.

        Raises:
            pydantic.ValidationError: the data is not a resolved scenario.
        """
        return cls.from_json(json.dumps(data))

    def hash(self) -> str:
        """SHA-256 of the canonical JSON, as 64 hexadecimal digits."""
        return hashlib.sha256(self.to_json().encode()).hexdigest()

    def group(self, name: str) -> StationGroup:
        """The station group of that name.

        Raises:
            KeyError: there is none.
        """
        for group in self.stations:
            if group.name == name:
                return group
        raise KeyError(name)

    def path_links(self, flow: Flow) -> tuple[Link, ...]:
        """The wired links of a flow from the access point to the server, names looked up."""
        return tuple(self.links[link] if isinstance(link, str) else link for link in flow.path)

    def with_run(
        self,
        *,
        seed: int | None = None,
        replications: int | None = None,
        warmup_ns: int | None = None,
        duration_ns: int | None = None,
    ) -> Self:
        """The same scenario with another seed, other times, or a fixed number of replications.

        Raises:
            pydantic.ValidationError: a negative seed, or fewer than one replication.
        """
        run = self.run.model_dump()
        if seed is not None:
            run["seed"] = seed
        if warmup_ns is not None:
            run["warmup_ns"] = warmup_ns
        if duration_ns is not None:
            run["duration_ns"] = duration_ns
        if replications is not None:
            run["replications"] = replications
            run["precision"] = None
        return self.model_copy(update={"run": Run.model_validate(run)})
