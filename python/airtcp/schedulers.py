"""Schedulers of one's own: a class of Python that chooses which station an access serves.

Knows the two methods that such a class has, and how a scenario names it. Does not know how many
packets an access carries, nor which packet of a station goes first: that is the queue's.

A class has `choose(candidates)`, which returns one of them, and `on_airtime(receiver, airtime_ns)`,
which is told what an exchange with a station took, in either direction. It is made without
arguments for each access point. A candidate has

    receiver   its number in the cell
    oldest_ns  when its oldest packet came, nanoseconds; None: what waits for it cannot wait
    weight     its `airtime_weight`, 256 being that of most
    rate_bps   the data rate of frames to it; None where it has none of its own

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

_METHODS: Final = ("choose", "on_airtime")


class Candidate(Protocol):
    """A receiver that can be served."""

    receiver: int
    oldest_ns: int | None
    weight: int
    rate_bps: int | None


class Scheduler(Protocol):
    """The scheduler of one access point."""

    def choose(self, candidates: Sequence[Candidate]) -> Candidate:
        """Returns the candidate that is served; they are in ascending order of numbers."""

    def on_airtime(self, receiver: int, airtime_ns: int) -> None:
        """Takes the airtime of an exchange with a receiver, in either direction."""


class RoundRobin:
    """Receivers take turns, an access each.

    It gives the outcomes of `scheduler = "round-robin"` bit for bit.
    """

    #: The receiver that was served last; of the class, for an `__init__` that does not call that of
    #: its base.
    _last: int | None = None

    def choose(self, candidates: Sequence[Candidate]) -> Candidate:
        """Returns the next one behind that served last."""
        last = self._last
        behind = [one for one in candidates if last is not None and one.receiver > last]
        chosen = (behind or candidates)[0]
        self._last = chosen.receiver
        return chosen

    def on_airtime(self, receiver: int, airtime_ns: int) -> None:
        """Forgets it: turns are all that counts."""


def register(name: str, scheduler: type[Scheduler]) -> str:
    """Registers a class as a scheduler, which `[ap] scheduler = "NAME"` names.

    Returns the word of the resolved form: the name, "@" and a hash of the class's code. To register
    it once more does nothing.

    Raises:
        PluginError: a name that is taken or no word, a class without one of the methods, or one
            whose code cannot be read.
    """
    from . import _core

    kind = Kind("scheduler", SCHEDULERS, _METHODS, "airtcp.schedulers.RoundRobin")
    return registered(
        kind,
        name,
        scheduler,
        _core.register_scheduler,
        lambda word: _Choice(
            word=word, name=name, phrase=f"scheduler {name}", written=word, shares=None
        ),
    )
