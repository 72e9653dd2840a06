"""Turns: which run is next, so that a browser with many runs does not block the others.

Browsers are served in rounds of one run each, in the order of their requests. A run that several
browsers requested counts as the turn of each. A new browser joins the current round (start-time
fair queueing: P. Goyal, H. Vin, H. Cheng, SIGCOMM 1996, with runs of equal length).
"""

from __future__ import annotations

import heapq
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple


class Asker(NamedTuple):
    """A browser at an address; "" for browsers without a name, which count as one."""

    address: str
    browser: str


@dataclass(slots=True)
class Turns:
    """The rounds that browsers have reached."""

    now: int = 0
    rounds: dict[str, int] = field(default_factory=dict)

    def order(self, waiting: Mapping[str, Mapping[str, int]]) -> list[str]:
        """Return the waiting runs, next one first.

        `waiting` has for each run the browsers that requested it, each with the number of its
        question, which grows with time.
        """
        own: dict[str, list[tuple[int, str]]] = {}
        for run, askers in waiting.items():
            for browser, number in askers.items():
                own.setdefault(browser, []).append((number, run))
        rounds = {browser: self._round(browser) for browser in own}
        for runs in own.values():
            runs.sort(reverse=True)
        line = [(rounds[browser], runs[-1][0], browser) for browser, runs in own.items()]
        heapq.heapify(line)
        found: dict[str, None] = {}
        while line:
            turn, number, browser = heapq.heappop(line)
            runs = own[browser]
            while runs and runs[-1][1] in found:
                runs.pop()
            if not runs:
                continue
            if (turn, number) != (rounds[browser], runs[-1][0]):
                # Already served in this round by a run that another browser requested too.
                heapq.heappush(line, (rounds[browser], runs[-1][0], browser))
                continue
            run = runs[-1][1]
            found[run] = None
            for one in waiting[run]:
                rounds[one] += 1
            heapq.heappush(line, (rounds[browser], number, browser))
        return list(found)

    def took(self, browsers: Collection[str]) -> None:
        """Record that a run of these browsers has begun."""
        self.now = max(self.now, min(map(self._round, browsers), default=self.now))
        for browser in browsers:
            self.rounds[browser] = self._round(browser) + 1

    def rest(self) -> None:
        """Record that nobody waits: all are in the same round again."""
        self.now = 0
        self.rounds.clear()

    def forget(self, known: Iterable[str]) -> None:
        """Forget all browsers except these."""
        self.rounds = {one: self.rounds[one] for one in known if one in self.rounds}

    def _round(self, browser: str) -> int:
        return max(self.now, self.rounds.get(browser, 0))


@dataclass(slots=True)
class Shares:
    """The turns of addresses, and of the browsers at each address.

    An address is served once per round, however many browsers it has.
    """

    addresses: Turns = field(default_factory=Turns)
    browsers: dict[str, Turns] = field(default_factory=dict)

    def order(self, waiting: Mapping[str, Mapping[Asker, int]]) -> list[str]:
        """Return the waiting runs, next one first, as `Turns.order` does."""
        own: dict[str, dict[str, dict[str, int]]] = {}
        for run, askers in waiting.items():
            for asker, number in askers.items():
                runs = own.setdefault(asker.address, {})
                runs.setdefault(run, {})[asker.browser] = number
        found: dict[str, dict[str, int]] = {}
        for address, runs in own.items():
            # The k-th run in the order of its browsers counts as the address's k-th question.
            numbers = sorted(min(of.values()) for of in runs.values())
            order = self.browsers.get(address, Turns()).order(runs)
            for run, number in zip(order, numbers, strict=True):
                found.setdefault(run, {})[address] = number
        return self.addresses.order(found)

    def took(self, askers: Collection[Asker]) -> None:
        """Record that a run of these askers has begun."""
        addresses = {asker.address for asker in askers}
        self.addresses.took(addresses)
        for address in addresses:
            turns = self.browsers.setdefault(address, Turns())
            turns.took([asker.browser for asker in askers if asker.address == address])

    def rest(self) -> None:
        """Record that nobody waits: all are in the same round again."""
        self.addresses.rest()
        self.browsers.clear()

    def forget(self, known: Collection[Asker]) -> None:
        """Forget all askers except these."""
        self.addresses.forget({one.address for one in known})
        for address in list(self.browsers):
            of = {one.browser for one in known if one.address == address}
            self.browsers[address].forget(of)
            if not of:
                del self.browsers[address]
