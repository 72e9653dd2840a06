"""Custom schedulers: a Python class that chooses which station a channel access serves.

The core decides how many packets an access carries; the queue decides which packet of a station
goes first.

A class has `choose(candidates)`, which returns one of them, and `on_airtime(receiver, airtime_ns)`,
which receives the airtime of each exchange with a station, in either direction. airtcp creates one
instance per access point, without arguments. A candidate has

    receiver   its number in the cell
    oldest_ns  when its oldest packet arrived, nanoseconds; None: its packets cannot wait
    weight     its `airtime_weight`; the default is 256
    rate_bps   the data rate of frames to it; None if it has no rate of its own

    class Fastest(airtcp.schedulers.RoundRobin):
        def choose(self, candidates):
            return max(candidates, key=lambda one: one.rate_bps or 0)

    airtcp.schedulers.register("fastest", Fastest)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Protocol

from .choices import SCHEDULERS
from .choices import Scheduler as _Choice
from .plugins import Kind, registered

__all__ = ["Candidate", "RoundRobin", "Scheduler", "register"]

_KIND: Final = Kind(
    "scheduler",
    SCHEDULERS,
    ("choose", "on_airtime"),
    "airtcp.schedulers.RoundRobin",
    "register_scheduler",
    lambda name, word: _Choice(
        word=word, name=name, phrase=f"scheduler {name}", written=word, shares=None
    ),
)


class Candidate(Protocol):
    """A receiver that can be served."""

    receiver: int
    oldest_ns: int | None
    weight: int
    rate_bps: int | None


class Scheduler(Protocol):
    """The scheduler of one access point."""

    def choose(self, candidates: Sequence[Candidate]) -> Candidate:
        """Return the candidate to serve. Candidates are in ascending order of `receiver`."""

    def on_airtime(self, receiver: int, airtime_ns: int) -> None:
        """Account for the airtime of an exchange with a receiver, in either direction."""


class RoundRobin:
    """Serve receivers in turn, one channel access each.

    The results equal `scheduler = "round-robin"` bit for bit.
    """

    #: The receiver served last. A class attribute, so that a subclass need not call this class's
    #: `__init__`.
    _last: int | None = None

    def choose(self, candidates: Sequence[Candidate]) -> Candidate:
        """Return the candidate after the one served last."""
        last = self._last
        behind = [one for one in candidates if last is not None and one.receiver > last]
        chosen = (behind or candidates)[0]
        self._last = chosen.receiver
        return chosen

    def on_airtime(self, receiver: int, airtime_ns: int) -> None:
        """Ignore the airtime: only turns count."""


def register(name: str, scheduler: type[Scheduler]) -> str:
    """Register a class as a scheduler, to be used as `[ap] scheduler = "NAME"`.

    Registering the same class again has no effect. The name in the resolved scenario, which is
    returned, and errors are those of `airtcp.plugins.registered`.
    """
    return registered(_KIND, name, scheduler)
