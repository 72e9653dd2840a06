"""The closed sets of words in a scenario, such as congestion controls: one record per word.

A record holds the word, its names in texts and lists, its Linux equivalent and how Linux differs,
and the keys that it requires. `airtcp.standards` and `airtcp.amendments` describe the standards;
this module only adds other names for them. The records are in `choices.toml`.
"""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Final, Literal, TypeVar

from .amendments import AMENDMENTS
from .data import beside
from .standards import STANDARDS


@dataclass(frozen=True, kw_only=True)
class Choice:
    """One word of a closed set.

    `name` is used in sentences and `label` in lists on the page. `also` lists names used elsewhere:
    a scenario rejects them, but error messages recognize them. `resolved` is set for plug-ins only:
    the word of the resolved form, which is the name and a hash of the code.
    """

    word: str
    name: str
    label: str = ""
    also: tuple[str, ...] = ()
    resolved: str | None = None

    @property
    def in_file(self) -> str:
        """The word as a file has it: of a plug-in, the name without the hash."""
        return self.name if self.resolved else self.word


_Any = TypeVar("_Any", bound=Choice)


def _set(*choices: _Any) -> Mapping[str, _Any]:
    return MappingProxyType({one.word: one for one in choices})


#: The sets that plug-ins can extend, by kind.
_OPEN: Final[dict[str, dict[str, Any]]] = {}


_RECORDS: Final = beside(__file__)


def _records(name: str, kind: type[_Any]) -> Iterator[_Any]:
    """Iterate over the records of a set in `choices.toml`."""
    for word, record in _RECORDS[name].items():
        lists = {key: tuple(value) for key, value in record.items() if isinstance(value, list)}
        yield kind(word=word, **record | lists)


def _open_set(kind: str, *choices: _Any) -> Mapping[str, _Any]:
    _OPEN[kind] = {one.word: one for one in choices}
    return MappingProxyType(_OPEN[kind])


def add(kind: str, one: Choice) -> None:
    """Add a plug-in's algorithm to the open set of its kind. The caller has validated it."""
    _OPEN[kind][one.word] = one


def has_own(resolved: str | None = None) -> bool:
    """Whether a resolved scenario names a plug-in's algorithm.

    With None: whether any is registered.
    """
    words = [one.resolved for known in _OPEN.values() for one in known.values() if one.resolved]
    return any(resolved is None or json.dumps(word) in resolved for word in words)


def of_airtcp(known: Mapping[str, _Any]) -> Iterator[_Any]:
    """Iterate over the built-in words of a set, without the words of plug-ins."""
    return (one for one in known.values() if one.resolved is None)


def own_names(kind: str) -> list[str]:
    """Return the names of the registered plug-in algorithms of this kind."""
    return [one.name for word, one in _OPEN[kind].items() if one.resolved and word == one.name]


def own_word(kind: str, word: Any) -> str | None:
    """Return the resolved word of a plug-in's algorithm, or None for any other value."""
    one = _OPEN[kind].get(word) if isinstance(word, str) else None
    return None if one is None else one.resolved


CongestionName = Literal["reno", "cubic", "bbr", "bbr1"]


@dataclass(frozen=True, kw_only=True)
class Congestion(Choice):
    """A congestion control.

    `kernel` is its name in Linux, or None if Linux does not have it. `kernel_differs` says how the
    Linux version differs, and `kernel_slow_start` is the `slow_start` used by Linux if that is not
    the standard one. `needs` maps keys of a connection to the values that this control requires;
    these values become the defaults. Model-based controls need them, because they pace on their own
    and ignore ECN marks. `has_aimd`: it reads the table `aimd`. `loss_window` names the closed form
    for the mean window at a loss probability, or None if no model has one.
    """

    kernel: str | None = None
    kernel_differs: str = ""
    kernel_slow_start: str | None = None
    needs: Mapping[str, Any] = field(default_factory=dict)
    has_aimd: bool = False
    loss_window: Literal["aimd", "cubic"] | None = None


CONGESTION: Final = _open_set("congestion control", *_records("congestion", Congestion))

ACK_POLICIES: Final[Mapping[str, Choice]] = _open_set("ACK policy")
"""Empty until plug-ins register: the core's own ACK policies have keys instead."""

RecoveryName = Literal["reno", "newreno", "sack", "rack"]


@dataclass(frozen=True, kw_only=True)
class Recovery(Choice):
    """A loss recovery algorithm.

    `has_sack`: the receiver sends SACK blocks. `times_segments`: the sender keeps a timestamp per
    segment. `kernel_differs` says what Linux does instead.
    """

    has_sack: bool = False
    times_segments: bool = False
    kernel_differs: str = ""


RECOVERY: Final = _set(*_records("recovery", Recovery))

SlowStartName = Literal["standard", "hystart", "hystart++"]

SLOW_STARTS: Final = _set(*_records("slow_start", Choice))

DisciplineName = Literal["fifo", "red", "per-flow", "per-scenario-flow", "codel", "fq-codel"]


@dataclass(frozen=True, kw_only=True)
class Discipline(Choice):
    """A queue discipline.

    `phrase` follows the words "a queue of 50 packets". `qdisc` is its name for tc(8), or None if
    Linux does not have it. `parameters` names the tables of keys that only this discipline reads.
    `leaves_stations`: a scheduler chooses the next station.
    """

    phrase: str
    qdisc: str | None = None
    parameters: tuple[str, ...] = ()
    leaves_stations: bool = True


DISCIPLINES: Final = _open_set("queue discipline", *_records("discipline", Discipline))

SchedulerName = Literal["oldest", "round-robin", "airtime"]


@dataclass(frozen=True, kw_only=True)
class Scheduler(Choice):
    """A scheduler of the access point.

    `phrase` describes it in a sentence about a network; it is empty for the default behavior.
    `written` is its shortest form in a file. `shares` is what it divides equally among receivers,
    or None if that is unknown. `in_any_standard`: it also works before 802.11n, with disciplines
    that leave the choice of station to a scheduler.
    """

    phrase: str = ""
    written: Any
    shares: Literal["packets", "ppdus", "airtime"] | None
    in_any_standard: bool = False


SCHEDULERS: Final = _open_set("scheduler", *_records("scheduler", Scheduler))


@dataclass(frozen=True, kw_only=True)
class Application(Choice):
    """An application.

    `over_udp`: it uses UDP, and it may send in both directions. `ends`: every transfer ends.
    `offered` is the value that the web page inserts for it. It is None if the page cannot offer the
    application, because it needs a file or more than a few words.
    """

    over_udp: bool = False
    ends: bool = False
    offered: Mapping[str, Any] | None = None


APPLICATIONS: Final = _set(*_records("application", Application))

AccessSchemeName = Literal["standard", "adaptive-burst", "fixed-burst"]


@dataclass(frozen=True, kw_only=True)
class AccessScheme(Choice):
    """An access scheme of the access point; `phrase` as in `Scheduler`."""

    phrase: str = ""


ACCESS_SCHEMES: Final = _set(*_records("access_scheme", AccessScheme))


def _standards() -> Iterable[Choice]:
    """Iterate over the standards, with their letters and Wi-Fi generations as other names."""
    for word in STANDARDS:
        letters = word.removeprefix("802.11")
        also: tuple[str, ...] = (letters, f"11{letters}", f"IEEE {word}")
        if word in AMENDMENTS:
            also = (*also, AMENDMENTS[word].generation, AMENDMENTS[word].format)
        yield Choice(word=word, name=word, label=word, also=also)


CLOSED_SETS: Final[Mapping[str, Mapping[str, Choice]]] = MappingProxyType(
    {
        "tcp.variant": RECOVERY,
        "tcp.congestion": CONGESTION,
        "tcp.slow_start": SLOW_STARTS,
        "queue.discipline": DISCIPLINES,
        "ap.scheduler": SCHEDULERS,
        "ap.access.scheme": ACCESS_SCHEMES,
        "application.kind": APPLICATIONS,
        "phy.standard": _set(*_standards()),
    }
)
"""Closed sets by the end of the key path that takes a word of the set."""


def either(words: Sequence[str]) -> str:
    """Join the allowed words, quoted as in a file: "a", "b" or "c"."""
    quoted = [f'"{word}"' for word in words]
    return " or ".join([", ".join(quoted[:-1]), quoted[-1]] if len(quoted) > 1 else quoted)


_NEIGHBOURS: Final = (
    {one: one.rpartition(".")[2] for one in ("tcp.variant", "tcp.congestion", "tcp.slow_start")},
    {"queue.discipline": "ap.queue.discipline"}
    | {one: one for one in ("ap.scheduler", "ap.access.scheme")},
)
"""Groups of closed sets whose words are easily confused, with the key name to show in messages."""


def meant(key: str, value: str, allowed: Sequence[str]) -> str:
    """Guess what an unknown word at a key path means, as written in a file; "" without a guess.

    The guess is another name for a word of this key, a word of a related key (shown with that key),
    or an allowed word with a similar spelling.
    """
    own = next((path for path in CLOSED_SETS if f".{key}".endswith(f".{path}")), "")
    for word in CLOSED_SETS.get(own, ()):
        if word in allowed and _is(value, CLOSED_SETS[own][word]):
            return f'"{word}"'
    for path, name in _neighbours(own).items():
        for word, choice in CLOSED_SETS[path].items():
            # "standard" is a word of several keys.
            if word != "standard" and _is(value, choice):
                return f'{name} = "{word}"'
    near = difflib.get_close_matches(value, allowed, n=1)
    return f'"{near[0]}"' if near else ""


def _neighbours(own: str) -> Mapping[str, str]:
    """Return the other sets of the same group in `_NEIGHBOURS`."""
    group = next((group for group in _NEIGHBOURS if own in group), {})
    return {path: name for path, name in group.items() if path != own}


def _is(value: str, choice: Choice) -> bool:
    """Whether a value names a choice, ignoring case and the separators "-", "_", "." and space."""
    return _plain(value) in map(_plain, (choice.word, *choice.also))


def _plain(text: str) -> str:
    return "".join(one for one in text.lower() if one not in "-_. ")
