"""Define the card of a model: its predictions, the keys that it reads, and its assumptions.

A card is data, one for each model that `predict` may call; the formulas are in `airtcp.models`.
Keys are those of the resolved scenario, without list indices: `flows.tcp.mss_bytes`. A key covers
everything below it, so `ap.queue` stands for the whole table.

If a scenario has a key that a card neither reads nor makes an assumption about, the key must be in
`HARMLESS`, with the reason why no model needs it, or be listed on the card as harmless to this
model. The tests check this for every resolved key, so a new key cannot be ignored by accident.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final


@dataclass(frozen=True, slots=True)
class Assumption:
    """An assumption of a model, and the keys through which a scenario can break it."""

    text: str
    keys: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Origin:
    """The origin of a value: module, paper and equation, assumptions, and broken assumptions."""

    by: str
    source: str
    assumes: Sequence[str]
    broken: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Card:
    """A model as users and tests see it.

    `name` is the paper or its authors, `asked` the flows that select it, `answers` its metrics,
    `reads` the keys in its formulas, `needs` its preconditions, and `harmless` the keys that do not
    affect it, with reasons.
    """

    name: str
    by: str
    asked: str
    answers: tuple[str, ...]
    reads: tuple[str, ...]
    assumes: tuple[Assumption, ...]
    needs: tuple[Assumption, ...] = ()
    harmless: Mapping[str, str] = field(default_factory=dict)

    def origin(self, source: str, broken: Iterable[str] = (), *, by: str | None = None) -> Origin:
        """Return the origin of a value that this model computes by equation `source`."""
        texts = tuple(assumption.text for assumption in self.assumes)
        return Origin(by or self.by, source, texts, tuple(broken))

    def knows(self, key: str) -> bool:
        """Return whether the model reads the key, makes an assumption about it, or requires it."""
        judged = (key for one in (*self.assumes, *self.needs) for key in one.keys)
        return covers(self.reads, key) or covers(judged, key)

    def ignores(self, key: str) -> str | None:
        """Return why the key is harmless to this model, or None if nothing says so."""
        for harmless in (self.harmless, HARMLESS):
            for known, reason in harmless.items():
                if covers((known,), key):
                    return reason
        return None


def covers(keys: Iterable[str], key: str) -> bool:
    """Return whether one of `keys` is `key` or a table above it."""
    return any(key == known or key.startswith(f"{known}.") for known in keys)


#: Keys that no model reads, and why that is right.
HARMLESS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "title": "only words",
        "run": "how long and how often is simulated; the models are of the steady state",
        "stations.name": "a name",
        "flows.name": "a name",
        "flows.start_spread_ns": "when flows begin; the models are of the steady state",
        "flows.application.page": "pages of several objects ask no model",
        "flows.application.transfers": "the transfers of a log ask no model",
        "flows.application.voice": "what the receiver makes of the packets changes none of them",
        "phy.standard": "a name; what it stands for is in the other keys",
        "phy.data_rate": "the rate of groups that have none of their own; theirs are resolved",
        "phy.control_rate": "as phy.data_rate",
        "phy.high_rate": "802.11n and later, whose models read it",
        "mac.aggregation": "as phy.high_rate",
        "mac.rules.failed_block_ack": "as phy.high_rate",
        "mac.rules.delivery": "as phy.high_rate",
        "mac.rules.retry_limit_under_block_ack": "as phy.high_rate",
        "mac.rules.cw_reset": "tells the few frames apart that fail until the retry limit, or one "
        "time more",
        "mac.rules.txop_protection": "matters where a TXOP has a limit, which no model has: the "
        "assumption that an access is one exchange says so",
        "mac.cf_end_rate": "as mac.rules.txop_protection",
        "mac.pcf": "with contention-free periods no model is asked",
        "mac.rules.weaker_before": "as cells",
        "cells": "with several cells no model of one cell is asked",
        "air": "as cells",
        "stations.cell": "as cells",
        "stations.needs": "as cells",
        "stations.pair": "with stations of several standards no model is asked",
        "ap.scheduler": "of 802.11n and later, or of airtime: then no model is asked",
        "stations.airtime_weight": "as ap.scheduler",
        "phy.protection": "no model has it, and `predict` says what that breaks",
        "stations.rate_control": "as phy.protection",
        "stations.cw_min": "other than that of `phy` beside protection alone",
        "mac.rules.preset": "the name of the other rules",
        "flows.tcp.rules.preset": "the name of the other rules",
        "mac.long_retry_limit": "never reached: frames fail by collisions alone, and those that "
        "collide are the ones that the short limit counts",
        "mac.rules.post_backoff_after_drop": "matters after a frame was given up; where that is "
        "not rare the assumption on the retry limit is broken, and says so",
        "flows.tcp.rules": "matters after a loss, and no model has losses: the assumption that "
        "nothing is lost says so",
        "flows.tcp.timestamps": "its bytes are in flows.tcp.header_bits; else only what is sent "
        "again is timed otherwise, and no model has losses",
        "flows.tcp.window_scaling": "four bytes of a SYN",
        "flows.tcp.sending_end": "how the sender of data acknowledges requests, which its data "
        "acknowledge anyway",
        "flows.tcp.max_rto_ns": "matters when timers expire several times in a row, which the "
        "assumption on timers excludes",
        "flows.tcp.clock_granularity_ns": "adds to a retransmission timer that the assumption on "
        "timers has never expire",
    }
)
