"""Custom ACK policies: write a Python class and name it in a scenario.

The core still handles loss signals, which a receiver acknowledges at once, and the delayed-ACK
timeout, which bounds every delay.

A policy class has a method `delay_ns(arrival)`. airtcp creates one instance per receiver, without
arguments, and calls the method for each in-order segment. The method returns how many nanoseconds
an ACK of all data received so far may wait: 0 to send it at once, or None to wait for the timeout.
An earlier deadline that is already set stays. `arrival` has

    now_ns          the simulated time, nanoseconds
    mss             SMSS, bytes
    delivered       bytes delivered since the connection began, including these
    unacknowledged  bytes not yet acknowledged, including these
    since_ack_ns    the time since the last ACK was sent; None before the first

    class Fourth(airtcp.acks.Delayed):
        every = 4

    airtcp.acks.register("fourth", Fourth)
"""

from __future__ import annotations

from typing import Final, Protocol

from .choices import ACK_POLICIES, Choice
from .plugins import Kind, registered

__all__ = ["Arrival", "Delayed", "Policy", "register"]

_KIND: Final = Kind(
    "ACK policy",
    ACK_POLICIES,
    ("delay_ns",),
    "airtcp.acks.Delayed",
    "register_acks",
    lambda name, word: Choice(word=word, name=name),
)


class Arrival(Protocol):
    """Data that arrived in order and is not acknowledged yet."""

    now_ns: int
    mss: int
    delivered: int
    unacknowledged: int
    since_ack_ns: int | None


class Policy(Protocol):
    """The ACK policy of one receiver."""

    def delay_ns(self, arrival: Arrival) -> int | None:
        """Return how long an ACK may wait, in ns: 0 sends it now, None waits for the timeout."""


class Delayed:
    """Delayed ACKs of RFC 5681, section 4.2: one ACK for every second full-sized segment.

    The results equal `delayed_ack = { every = 2 }` bit for bit.
    """

    every: int = 2

    def delay_ns(self, arrival: Arrival) -> int | None:
        """Acknowledge at once when `every` full-sized segments are unacknowledged."""
        return 0 if arrival.unacknowledged >= self.every * arrival.mss else None


def register(name: str, policy: type[Policy]) -> str:
    """Register a class as an ACK policy, to be used as `delayed_ack = { policy = "NAME" }`.

    Registering the same class again has no effect. Returns the name in the
    resolved scenario. Raises the errors of `airtcp.plugins.registered`.
    """
    return registered(_KIND, name, policy)
