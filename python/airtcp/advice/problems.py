"""Problems: kinds of trouble, their signs in a simulation, and what may help.

`PROBLEMS` has them in the order in which they are told: what a scenario says by itself (a window, a
category, a limit) comes before what is only felt, so that the first one told is what to change.
Cells do not share the air: what fills it is sought in each of them. Knows names, titles and
remedies; signs are sought in `own_signs`, `felt_signs` and `cell_signs`, thresholds stand in
`thresholds`, and what a remedy does in the catalogue of remedies.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Final

from airtcp.advice import cell_signs, felt_signs, own_signs
from airtcp.advice.complaints import Sign, complaint, felt, gets_nothing
from airtcp.advice.reading import Reading, Simulated
from airtcp.results.advice import Finding


@dataclass(frozen=True)
class Problem:
    """A kind of problem: its title, the search for its signs, and its remedies, best bet first."""

    name: str
    title: str
    signs: Callable[[Reading], Iterator[Sign]]
    remedies: tuple[str, ...]

    def find(self, reading: Reading) -> Iterator[Finding]:
        """Yield the problem wherever the simulation shows its signs."""
        for sign in self.signs(reading):
            groups = tuple(dict.fromkeys(scope.group for scope in sign.scopes))
            goal = sign.goal or felt(reading, sign.scopes[0])
            yield Finding(self.name, self.title, groups, sign.evidence, goal)


def findings(result: Simulated) -> list[Finding]:
    """Return the problems of a simulation, the one to look at first at the head."""
    reading = Reading(result)
    found = [one for problem in PROBLEMS.values() for one in problem.find(reading)]
    # A full access point is told of where nothing else explains the wait.
    return [one for one in found if one.problem != "full"] or found


def unhappy(result: Simulated) -> set[tuple[str, str]]:
    """Return the groups and directions in which somebody waits or does not hear, for any reason."""
    reading = Reading(result)
    return {
        (scope.group, scope.part)
        for scope in reading.scopes
        if gets_nothing(scope)
        or ((scope.live or scope.waits_for_pages) and complaint(reading, scope))
    }


def _by_cell(search: Callable[[Reading], Iterator[Sign]]) -> Callable[[Reading], Iterator[Sign]]:
    """Make a search in each cell by itself, told by the first in which something is found."""

    def signs(reading: Reading) -> Iterator[Sign]:
        found = [sign for one in reading.by_cell for sign in search(one)]
        if found:
            yield replace(found[0], scopes=[scope for sign in found for scope in sign.scopes])

    return signs


#: Name, title, search and remedies of each problem, in the order in which they are told.
_TABLE: Final[tuple[tuple[str, str, Callable[[Reading], Iterator[Sign]], str], ...]] = (
    (
        "hidden",
        "stations that do not hear each other",
        cell_signs.hidden_stations,
        "rts-all",
    ),
    (
        "neighbours",
        "a cell gets little beside others",
        cell_signs.starved_cell,
        "channels-apart channels-spread spatial-reuse rts-all",
    ),
    (
        "busy-neighbours",
        "other cells have much of the air",
        _by_cell(cell_signs.busy_neighbours),
        "channels-apart channels-spread spatial-reuse calls-first",
    ),
    ("aggregation", "frames go one by one", _by_cell(own_signs.single_frames), "larger-aggregates"),
    ("protection", "stations of 802.11b slow all down", own_signs.protection, "no-dsss"),
    ("priority", "calls come after data", own_signs.calls_after_data, "calls-first managed-queue"),
    ("way", "the way is too long", own_signs.long_way, ""),
    ("lossy-wire", "a wire loses packets", own_signs.lossy_wire, "sound-wire bbr cubic"),
    ("window", "windows too small for the path", own_signs.small_window, "large-window"),
    (
        "crowded-out",
        "some crowd out others",
        _by_cell(felt_signs.crowded_out),
        "managed-queue cubic wire-fq-codel bbr",
    ),
    (
        "short-wire-queue",
        "a wire's queue too short",
        own_signs.short_wire_queue,
        "wire-fq-codel bbr cubic",
    ),
    ("wire", "a slow wire", _by_cell(own_signs.slow_wire), "faster-wire wire-fq-codel calls-first"),
    (
        "short-queue",
        "a queue too short",
        _by_cell(own_signs.short_queue),
        "managed-queue larger-buffer codel",
    ),
    (
        "acks",
        "TCP ACKs cost too much",
        _by_cell(own_signs.ack_for_each_segment),
        "delayed-ack ack-filter tack",
    ),
    (
        "calls",
        "more calls and video than the air carries",
        _by_cell(felt_signs.many_calls),
        "no-video wider-channel calls-first second-access-point",
    ),
    (
        "client-queue",
        "packets wait at the stations",
        felt_signs.client_queue,
        "client-fq-codel calls-first small-queue",
    ),
    (
        "ap-queue",
        "packets wait at the access point",
        _by_cell(felt_signs.ap_queue),
        "managed-queue calls-first wider-channel ap-priority codel smaller-buffer",
    ),
    (
        "slow-station",
        "one slow station",
        _by_cell(felt_signs.slow_station),
        "airtime least-rate-dsss least-rate-ofdm per-flow",
    ),
    (
        "direction",
        "one direction has nearly all",
        _by_cell(felt_signs.one_direction),
        "ap-priority managed-queue larger-buffer",
    ),
    (
        "starving",
        "shares are very uneven",
        felt_signs.starving,
        "managed-queue ack-priority larger-buffer per-flow",
    ),
    (
        "collisions",
        "collisions",
        felt_signs.collisions,
        "second-access-point larger-aggregates rts",
    ),
    (
        "latency",
        "latency under load",
        _by_cell(felt_signs.latency),
        "managed-queue small-queue client-fq-codel codel",
    ),
    (
        "rate",
        "rates too low for what is asked",
        _by_cell(felt_signs.slow_rate),
        "least-mcs least-rate-ofdm least-rate-dsss wider-channel second-access-point",
    ),
    (
        "full",
        "the access point is full",
        _by_cell(felt_signs.full_air),
        "second-access-point wider-channel calls-first managed-queue",
    ),
    ("silence", "flows get nothing through", felt_signs.silence, ""),
)

#: The problems by name, in the order in which they are told.
PROBLEMS: Final = {
    name: Problem(name, title, signs, tuple(remedies.split()))
    for name, title, signs, remedies in _TABLE
}
