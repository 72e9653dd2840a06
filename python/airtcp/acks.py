"""ACK policies of one's own: a class of Python beside those that are built in.

Knows the one method that such a class has, and how a scenario names it. Does not know what tells
of a loss, which the receiver acknowledges at once, nor the timeout of delayed ACKs, which bounds
every delay.

A class has `delay_ns(arrival)`, and is made without arguments for each receiver. It is asked at
each segment in order, and returns the nanoseconds that an ACK of all that has arrived may wait, 0
to send it at once, or None to leave it to the timeout; an earlier time that was set stays.
`arrival` has

    now_ns          the time of the simulation, nanoseconds
    mss             SMSS, bytes
    delivered       bytes delivered since the connection began, these included
    unacknowledged  bytes that no ACK covers, these included
    since_ack_ns    the time since an ACK left; None before the first

    class Fourth(airtcp.acks.Delayed):
        every = 4

    airtcp.acks.register("fourth", Fourth)
"""

from __future__ import annotations

from typing import Final, Protocol

from .choices import ACK_POLICIES, Choice
from .plugins import Kind, registered

__all__ = ["Arrival", "Delayed", "Policy", "register"]

_METHODS: Final = ("delay_ns",)


class Arrival(Protocol):
    """Data that has arrived in order, not acknowledged yet."""

    now_ns: int
    mss: int
    delivered: int
    unacknowledged: int
    since_ack_ns: int | None


class Policy(Protocol):
    """The ACK policy of one receiver."""

    def delay_ns(self, arrival: Arrival) -> int | None:
        """Returns how long an ACK may wait: 0 for none, None until the timeout."""


class Delayed:
    """Delayed ACKs of RFC 5681, section 4.2: an ACK for every second full-sized segment.

    It gives the outcomes of `delayed_ack = { every = 2 }` bit for bit.
    """

    every: int = 2

    def delay_ns(self, arrival: Arrival) -> int | None:
        """Acknowledges at once when so many full-sized segments are unacknowledged."""
        return 0 if arrival.unacknowledged >= self.every * arrival.mss else None


def register(name: str, policy: type[Policy]) -> str:
    """Registers a class as an ACK policy, which `delayed_ack = { policy = "NAME" }` names.

    Returns the word of the resolved form: the name, "@" and a hash of the class's code. To register
    it once more does nothing.

    Raises:
        PluginError: a name that is taken or no word, a class without the method, or one whose code
            cannot be read.
    """
    from . import _core

    kind = Kind("ACK policy", ACK_POLICIES, _METHODS, "airtcp.acks.Delayed")
    return registered(
        kind, name, policy, _core.register_acks, lambda word: Choice(word=word, name=name)
    )
