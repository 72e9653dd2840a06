"""The closed sets of words in a scenario, such as congestion controls: one record per word.

A record holds the word, its names in texts and lists, its Linux equivalent and how Linux differs,
and the keys that it requires. `airtcp.standards` and `airtcp.amendments` describe the standards;
this module only adds other names for them.
"""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Final, Literal, TypeVar

from .amendments import AMENDMENTS
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


_Any = TypeVar("_Any", bound=Choice)


def _set(*choices: _Any) -> Mapping[str, _Any]:
    return MappingProxyType({one.word: one for one in choices})


#: The sets that plug-ins can extend, by kind.
_OPEN: Final[dict[str, dict[str, Any]]] = {}


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

    kernel: str | None
    kernel_differs: str = ""
    kernel_slow_start: str | None = None
    needs: Mapping[str, Any] = field(default_factory=dict)
    has_aimd: bool = False
    loss_window: Literal["aimd", "cubic"] | None = None


_OF_MODELS: Final = MappingProxyType({"variant": "rack", "pacing": True, "slow_start": "standard"})

_CONGESTION: Final = (
    Congestion(
        word="reno",
        name="Reno",
        label="Reno",
        kernel="reno",
        has_aimd=True,
        loss_window="aimd",
    ),
    Congestion(
        word="cubic",
        name="CUBIC",
        label="CUBIC",
        kernel="cubic",
        kernel_differs="the kernel's CUBIC leaves slow start by HyStart",
        kernel_slow_start="hystart",
        loss_window="cubic",
    ),
    Congestion(
        word="bbr",
        name="BBR",
        label="BBR, version 3",
        also=("bbr3", "bbrv3"),
        kernel="bbr",
        kernel_differs="the kernel's BBR is version 1, not 3",
        needs=_OF_MODELS,
    ),
    Congestion(
        word="bbr1",
        name="BBR1",
        label="BBR, version 1",
        also=("bbrv1",),
        kernel="bbr",
        needs=_OF_MODELS,
    ),
)

CONGESTION: Final = _open_set("congestion control", *_CONGESTION)

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


RECOVERY: Final = _set(
    Recovery(
        word="reno", name="Reno", kernel_differs="without SACK the kernel recovers as NewReno"
    ),
    Recovery(word="newreno", name="NewReno", also=("rfc6582",)),
    Recovery(
        word="sack",
        name="SACK",
        also=("rfc6675",),
        has_sack=True,
        kernel_differs="the kernel's loss recovery is PRR, not RFC 6675",
    ),
    Recovery(
        word="rack",
        name="RACK",
        also=("rack-tlp", "rfc8985"),
        has_sack=True,
        times_segments=True,
    ),
)

SlowStartName = Literal["standard", "hystart", "hystart++"]

SLOW_STARTS: Final = _set(
    Choice(word="standard", name="the standard slow start"),
    Choice(word="hystart", name="HyStart"),
    Choice(word="hystart++", name="HyStart++", also=("hystartpp", "rfc9406")),
)

DisciplineName = Literal["fifo", "red", "per-flow", "per-scenario-flow", "codel", "fq-codel"]


@dataclass(frozen=True, kw_only=True)
class Discipline(Choice):
    """A queue discipline.

    `phrase` follows the words "a queue of 50 packets". `qdisc` is its name for tc(8), or None if
    Linux does not have it. `parameters` names the tables of keys that only this discipline reads.
    `leaves_stations`: a scheduler chooses the next station.
    """

    phrase: str
    qdisc: str | None
    parameters: tuple[str, ...] = ()
    leaves_stations: bool = True


DISCIPLINES: Final = _open_set(
    "queue discipline",
    Discipline(
        word="fifo",
        name="first in, first out",
        label="first in, first out",
        also=("pfifo", "bfifo", "pfifo_fast", "droptail", "tail-drop"),
        phrase="",
        qdisc="pfifo",
    ),
    Discipline(
        word="per-flow",
        name="flows served in turn",
        label="flows take turns",
        also=("sfq", "fq", "drr", "fair-queueing", "flow-queueing"),
        phrase=", flows served in turn",
        qdisc="sfq",
        leaves_stations=False,
    ),
    Discipline(
        word="per-scenario-flow",
        name="flows of the scenario that take turns",
        label="flows of the scenario take turns",
        phrase=", flows of the scenario take turns",
        qdisc=None,
        leaves_stations=False,
    ),
    Discipline(
        word="red",
        name="RED",
        label="RED",
        phrase=" with random early detection",
        qdisc="red",
        parameters=("red",),
    ),
    Discipline(
        word="codel",
        name="CoDel",
        label="CoDel",
        phrase=" with CoDel",
        qdisc="codel",
        parameters=("codel",),
    ),
    Discipline(
        word="fq-codel",
        name="FQ-CoDel",
        label="FQ-CoDel",
        phrase=" with FQ-CoDel",
        qdisc="fq_codel",
        parameters=("codel", "fq"),
    ),
)

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


SCHEDULERS: Final = _open_set(
    "scheduler",
    Scheduler(
        word="oldest",
        name="the oldest packet first",
        label="oldest packet first",
        also=("fcfs",),
        written="oldest",
        shares="packets",
    ),
    Scheduler(
        word="round-robin",
        name="stations in turn",
        label="stations take turns",
        also=("rr",),
        written="round-robin",
        shares="ppdus",
    ),
    Scheduler(
        word="airtime",
        name="airtime fairness",
        label="equal airtime",
        also=("airtime-fairness", "atf"),
        phrase="stations share airtime",
        written={"kind": "airtime"},
        shares="airtime",
        in_any_standard=True,
    ),
)


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


APPLICATIONS: Final = _set(
    Application(
        word="bulk",
        name="bulk",
        label="endless transfer",
        also=("iperf", "iperf3", "greedy", "persistent"),
        offered={"kind": "bulk"},
    ),
    Application(
        word="web",
        name="web",
        label="web pages",
        also=("http", "https", "on-off"),
        ends=True,
        offered={
            "kind": "web",
            "size": {"distribution": "exponential", "mean": "60 kB"},
            "think_time": {"distribution": "exponential", "mean": "10 s"},
            "request": "300 B",
        },
    ),
    Application(word="ftp", name="FTP", label="FTP files", ends=True),
    Application(
        word="replay", name="replay", label="transfers of a log", also=("log", "trace"), ends=True
    ),
    Application(
        word="udp",
        name="UDP",
        label="UDP",
        also=("cbr", "saturated"),
        over_udp=True,
        offered={"kind": "udp", "packet": "1500 B", "rate": "1 Mb/s"},
    ),
    Application(
        word="call", name="call", label="calls", also=("voip", "video", "voice"), over_udp=True
    ),
)

AccessSchemeName = Literal["standard", "adaptive-burst", "fixed-burst"]


@dataclass(frozen=True, kw_only=True)
class AccessScheme(Choice):
    """An access scheme of the access point; `phrase` as in `Scheduler`."""

    phrase: str = ""


ACCESS_SCHEMES: Final = _set(
    AccessScheme(word="standard", name="the access of every station"),
    AccessScheme(word="adaptive-burst", name="bursts", phrase="AP sends in bursts"),
    AccessScheme(
        word="fixed-burst", name="bursts of a fixed length", phrase="AP sends in fixed bursts"
    ),
)


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
