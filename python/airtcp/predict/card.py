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
        "run": (
            "how long and how often the scenario is simulated; models describe the steady state"
        ),
        "stations.name": "a name",
        "flows.name": "a name",
        "flows.start_spread_ns": "when flows start; models describe the steady state",
        "flows.application.page": "no model covers pages of several objects",
        "flows.application.transfers": "no model covers the transfers of a log",
        "flows.application.voice": "how the receiver plays the packets does not change them",
        "phy.standard": "a name; its values are in the other keys",
        "phy.data_rate": "the default rate of groups; each group has its resolved rate",
        "phy.control_rate": "as phy.data_rate",
        "phy.high_rate": "802.11n and later, whose models read it",
        "mac.aggregation": "as phy.high_rate",
        "mac.rules.failed_block_ack": "as phy.high_rate",
        "mac.rules.delivery": "as phy.high_rate",
        "mac.rules.retry_limit_under_block_ack": "as phy.high_rate",
        "mac.rules.cw_reset": "affects only the few frames that fail up to the retry limit",
        "mac.rules.txop_protection": (
            "affects a TXOP with a limit, which no model has: the "
            "assumption of one exchange per access covers it"
        ),
        "mac.cf_end_rate": "as mac.rules.txop_protection",
        "mac.ofdma": "no other model applies with OFDMA",
        "ap.links": "no other model applies to several links",
        "mac.pcf": "no model applies to contention-free periods",
        "mac.rules.weaker_before": "as cells",
        "mac.rules.other_links": "as ap.links",
        "mac.rules.narrow_collider": "as stations.pair: with one width all collide alike",
        "cells": "no model of one cell applies to several cells",
        "air": "as cells",
        "stations.cell": "as cells",
        "stations.needs": "as cells",
        "stations.pair": "no model applies to stations of several standards",
        "ap.scheduler": "for 802.11n and later, or for airtime; then no model applies",
        "stations.airtime_weight": "as ap.scheduler",
        "phy.protection": "no model has it, and `predict` reports what that breaks",
        "stations.rate_control": "as phy.protection",
        "stations.cw_min": "differs from the value of `phy` only with protection",
        "mac.rules.preset": "the name of a set of rules, whose values are in the other keys",
        "flows.tcp.rules.preset": (
            "the name of a set of rules, whose values are in the other keys"
        ),
        "mac.long_retry_limit": (
            "never reached: frames fail only in collisions, and the "
            "short limit counts the frames that collide"
        ),
        "mac.rules.post_backoff_after_drop": (
            "affects frames that were dropped; if drops are "
            "not rare, the assumption about the retry limit "
            "is broken and says so"
        ),
        "flows.tcp.rules": (
            "affects recovery from losses, which no model has: the assumption "
            "that nothing is lost covers it"
        ),
        "flows.tcp.timestamps": (
            "flows.tcp.header_bits includes its bytes; otherwise it only "
            "changes the timing of retransmissions, which no model has"
        ),
        "flows.tcp.window_scaling": "four bytes of a SYN",
        "flows.tcp.sending_end": (
            "how the sender of data acknowledges requests, which its data acknowledge anyway"
        ),
        "flows.tcp.max_rto_ns": (
            "applies if a timer expires several times in a row, which "
            "the assumption about timers excludes"
        ),
        "flows.tcp.clock_granularity_ns": (
            "adds to a retransmission timer, which never expires in the models"
        ),
    }
)
