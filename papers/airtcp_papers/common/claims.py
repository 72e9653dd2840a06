"""List the statements of the papers, and judge whether they are met.

`claims.toml` of each room has every number and every relation that its paper states: the place of
the sentence, its content, the bound and its reason, the item's value that answers it, and the rules
with which that value is made. Values alone determine a verdict. A simulated value has an interval,
which must be entirely on one side of the bound; otherwise it is at the bound. A statement that the
paper's own number of runs could not resolve is untestable and counted separately.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, Final, Literal, get_args

from airtcp.amounts import quantity
from airtcp.data import beside
from airtcp.stats import Interval

from airtcp_papers.common.item import Value
from airtcp_papers.common.measure import words

#: The claims of each paper, in its folder; `claims.md` describes the keys. A study has none.
FILES: Final = tuple(
    Path(__file__).parents[1] / one["package"] / "claims.toml"
    for letter, one in beside(__file__, "papers.toml").items()
    if letter.isupper()
)

Relation = Literal["=", "<", ">"]
#: How a claim is answered: by equations, which give a number, or by simulations, which give
#: intervals.
By = Literal["model", "simulation"]
Verdict = Literal["met", "met in a reading", "not met", "at the bound", "untestable", "not made"]

#: All verdicts; the last means that the item of the claim has not been made.
VERDICTS: Final[tuple[Verdict, ...]] = get_args(Verdict)
#: Verdicts that are always counted, even if there are none.
USUAL: Final = VERDICTS[:3]
#: The order in a referee's report: problems first.
REPORTED: Final[tuple[Verdict, ...]] = (*VERDICTS[2:], *VERDICTS[1::-1])
#: The order in which verdicts decide on a sentence with several claims, first to last.
_DECIDES: Final[tuple[Verdict, ...]] = ("not made", *REPORTED)

#: The fields of a claim that are printed with its verdict.
_PRINTED: Final = (
    *("id", "paper", "where", "says", "quantity", "unit", "relation", "bound", "tolerance"),
    *("reason", "after_look", "item", "by", "made_with"),
)
#: Two numbers count as equal within this many standard errors of the paper's own runs.
_ERRORS: Final = 2.0
#: A verdict is firm if intervals this many times as wide give it too. Another seed moves a mean by
#: about 0.7 half widths, so a narrow decision may be undecided with another seed.
_FIRM: Final = 2.0


@dataclass(frozen=True, slots=True)
class Rules:
    """A set of rules with which values are made.

    `uses` says what is in the set; `why` says for which sentences it is used, and the reason. A
    `fitted` set was found by a search for a paper's numbers: it shows a cause and never meets a
    claim.
    """

    name: str
    uses: str
    why: str
    fitted: bool = False

    @property
    def paper(self) -> str:
        """The letter of the paper."""
        return self.name.partition(".")[0]


@dataclass(frozen=True, slots=True)
class Reading:
    """Another reading of the paper: its name, and the name of its value."""

    name: str
    value: str


@dataclass(frozen=True, slots=True)
class Beside:
    """The value of the same claim made with another set of rules, shown for comparison.

    It never decides a verdict. `says` lists other differences from the claim, if any.
    """

    made_with: str
    value: str
    says: str = ""

    @property
    def name(self) -> str:
        """The rules, and any other differences."""
        return f"{self.made_with} ({self.says})" if self.says else self.made_with


@dataclass(frozen=True, slots=True)
class Claim:
    """One statement of a paper.

    `where` is the place of the sentence, `says` its content, and `quantity` what is measured.
    `relation` and `bound` are what the paper states, in `unit`; with "=" the value must be within
    `tolerance` of the bound. `reason` justifies that bound or tolerance in a line. The claim is
    answered by the item's `value`, made with the set of rules `made_with`, or by that of a
    `reading`; `by` says whether it is computed or simulated. `beside` has the value with other
    rules. `error` names the value with one standard error of the paper's own runs. Twice this error
    is the tolerance if none is stated. If it is more than half of the stated `effect`, the sentence
    is untestable. So is a sentence that the paper assumes and does not state as a result;
    `assumption` has the assumption, and our number says how far it holds. `after_look` is true if
    the bound was chosen after our number was known. `why` explains a claim that is not met;
    `shown_by` names the item or page that shows it, if no other rules do.
    """

    id: str
    quantity: str
    where: str
    says: str
    relation: Relation
    bound: float
    reason: str
    item: str
    value: str
    by: By
    made_with: str
    unit: str = ""
    tolerance: float = 0.0
    readings: tuple[Reading, ...] = ()
    beside: tuple[Beside, ...] = ()
    error: str = ""
    effect: float = 0.0
    assumption: str = ""
    after_look: bool = False
    why: str = ""
    shown_by: str = ""

    @property
    def paper(self) -> str:
        """The letter of the paper."""
        return self.id.partition(".")[0]

    @property
    def sentence(self) -> tuple[str, str, str]:
        """Identifies the sentence of the paper; shared by all its claims."""
        return self.paper, self.where, self.says

    @property
    def values(self) -> tuple[str, ...]:
        """The names of all item values that the claim uses."""
        readings = [one.value for one in self.readings]
        named = (self.value, *readings, *(one.value for one in self.beside), self.error)
        return tuple(name for name in dict.fromkeys(named) if name)

    @property
    def states(self) -> str:
        """The statement of the paper, for display."""
        bound, tolerance = (self._as_printed(value) for value in (self.bound, self.tolerance))
        return f"{bound} (± {tolerance})" if self.relation == "=" else f"{self.relation} {bound}"

    def _as_printed(self, value: float) -> str:
        return quantity(value, self.unit) if self.unit else f"{value:.4g}"


@dataclass(frozen=True, slots=True)
class Other:
    """A claim's value with other rules, and whether it firmly meets the claim; None: undecided."""

    beside: Beside
    ours: Value
    holds: bool | None


@dataclass(frozen=True, slots=True)
class Judgement:
    """A claim, our number for it (None: its item was not made), and the verdict and its reason."""

    claim: Claim
    ours: Value | None
    verdict: Verdict
    reading: str | None
    why: str
    others: tuple[Other, ...] = ()
    #: The item values that the claim uses.
    values: Mapping[str, Value] | None = None

    @property
    def cause(self) -> str:
        """Why a claim is not met: rules with which it is, or an item; "" if unknown."""
        if self.verdict != "not met":
            return ""
        rules = ", ".join(one.beside.name for one in self.others if one.holds)
        return f"met with {rules}" if rules else self.claim.shown_by

    @property
    def about(self) -> str:
        """The reading, the reason, the cause, and the values with other rules, as text."""
        unit, parts = self.claim.unit, [self.reading, self.why]
        if self.verdict == "not met":
            parts.append(f"Shown: {self.cause}" if self.cause else "Unexplained")
        for one in self.others:
            parts.append(f"With {one.beside.name}: {words(one.ours, unit)}")
        return ". ".join(part.removesuffix(".") for part in parts if part)

    def to_dict(self) -> dict[str, Any]:
        """Return it as `airtcp reproduce claims --json` prints it."""
        return {
            **{name: getattr(self.claim, name) for name in _PRINTED},
            "ours": None if self.ours is None else _plain(self.ours),
            "verdict": self.verdict,
            "reading": self.reading,
            "why": self.why,
            "cause": self.cause,
            "beside": [
                {
                    "made_with": one.beside.made_with,
                    "says": one.beside.says,
                    "ours": _plain(one.ours),
                    "holds": one.holds,
                }
                for one in self.others
            ],
            "values": {name: _plain(value) for name, value in (self.values or {}).items()},
        }


def _plain(value: Value) -> Any:
    return value.to_dict() if isinstance(value, Interval) else value


def load_claims(*files: Path) -> list[Claim]:
    """Return the claims of the files, by default of all papers, in order.

    Raises ValueError for a malformed one.
    """
    files = files or FILES
    claims, rules = [], load_rules(*files)
    seen = set()
    for entry in [one for file in files for one in _read(file)["claims"]]:
        entry = dict(entry)
        try:
            readings = tuple(Reading(**reading) for reading in entry.pop("readings", ()))
            beside = tuple(Beside(**other) for other in entry.pop("beside", ()))
            claim = Claim(readings=readings, beside=beside, **entry)
        except TypeError as error:
            raise ValueError(f"{entry.get('id', 'a claim')}: {error}") from error
        if claim.id in seen:
            raise ValueError(f"there are two claims {claim.id}")
        seen.add(claim.id)
        _check(claim, rules)
        claims.append(claim)
    return claims


def load_rules(*files: Path) -> dict[str, Rules]:
    """Return the sets of rules of the files, by default of all papers, by name.

    Raises ValueError for a malformed one.
    """
    rules = {}
    entries = [one for file in files or FILES for one in _read(file)["rules"].items()]
    for name, entry in entries:
        try:
            rules[name] = Rules(name, **entry)
        except TypeError as error:
            raise ValueError(f"{name}: {error}") from error
    return rules


@cache
def _read(file: Path) -> Mapping[str, Any]:
    return tomllib.loads(file.read_text(encoding="utf-8"))


def _check(claim: Claim, rules: Mapping[str, Rules]) -> None:
    for name in ("where", "says", "reason"):
        if not getattr(claim, name).strip():
            raise ValueError(f"{claim.id}: {name} is empty")
    for name, allowed in (("relation", get_args(Relation)), ("by", get_args(By))):
        if getattr(claim, name) not in allowed:
            raise ValueError(f"{claim.id}: {name} is none of {', '.join(allowed)}")
    bounded = claim.tolerance > 0.0
    if bounded != (claim.relation == "=") and (bounded or not claim.error):
        raise ValueError(f"{claim.id}: a number needs a tolerance, a relation has none")
    if claim.effect and not claim.error:
        raise ValueError(f"{claim.id}: an effect is compared with an error, and there is none")
    mine = [name for name in rules if rules[name].paper == claim.paper]
    for name in (claim.made_with, *(one.made_with for one in claim.beside)):
        if name not in mine:
            raise ValueError(f"{claim.id}: made_with is none of {', '.join(mine)}")
    if rules[claim.made_with].fitted:
        raise ValueError(f"{claim.id}: {claim.made_with} is fitted, and meets no claim")


def judge(claim: Claim, values: Mapping[str, Value] | None) -> Judgement:
    """Judge a claim from the values of its item; None: the item was not made.

    An item that was made before it had all values of the claim counts as not made.

    Raises ValueError if a value has no interval although the claim says that it is simulated, or
    has one although it is computed.
    """
    if values is None or not set(claim.values) <= set(values):
        return Judgement(claim, None, "not made", None, f"airtcp reproduce {claim.item}")
    for name in claim.values:
        if isinstance(values[name], Interval) != (claim.by == "simulation" and name != claim.error):
            raise ValueError(f"{claim.id}: {name} is not what comes of a {claim.by}")
    error = float(values[claim.error]) if claim.error else 0.0  # type: ignore[arg-type]
    if claim.relation == "=" and not claim.tolerance:
        claim = replace(claim, tolerance=_ERRORS * error)
    judged = _answer(claim, values)
    if claim.effect and _ERRORS * error > claim.effect / 2.0:
        told, effect = (
            quantity(one, claim.unit) if claim.unit else f"{one:.2g}"
            for one in (_ERRORS * error, claim.effect)
        )
        judged = _untestable(
            judged,
            f"The paper's own runs tell it to ± {told}, which is more than half of the {effect} "
            "that it states. Ours, which are longer, say",
        )
    if claim.assumption:
        judged = _untestable(
            judged,
            f"The paper assumes {claim.assumption}; it does not state a result. How far the "
            "assumption holds",
        )
    # Items are not remade for other rules, so their values must be firm as they are.
    others = tuple(
        Other(one, values[one.value], _holds(claim, _widened(values[one.value])))
        for one in claim.beside
    )
    return replace(judged, others=others, values={name: values[name] for name in claim.values})


def _untestable(judged: Judgement, reason: str) -> Judgement:
    why = judged.why or judged.claim.why
    told = f"{reason}: {judged.verdict}{f'. {why}' if why else ''}"
    return replace(judged, verdict="untestable", why=told)


def is_firm(claim: Claim, values: Mapping[str, Value]) -> bool:
    """Return whether a claim is decided, even with intervals twice as wide."""
    widened = {name: _widened(values[name]) for name in claim.values if name in values}
    return judge(claim, widened).verdict != "at the bound"


def _widened(value: Value) -> Value:
    if not isinstance(value, Interval) or None in (value.mean, value.low, value.high):
        return value
    mean = value.mean
    low, high = (mean + _FIRM * (end - mean) for end in (value.low, value.high))  # type: ignore[operator]
    return Interval(mean, low, high, value.n)


def _answer(claim: Claim, values: Mapping[str, Value]) -> Judgement:
    """Return the verdict from our values, regardless of the precision of the paper's runs."""
    ours = values[claim.value]
    plain = _holds(claim, ours)
    if plain:
        return Judgement(claim, ours, "met", None, "")
    for reading in claim.readings:
        other = values[reading.value]
        if _holds(claim, other):
            why = f"taken plainly it is {words(ours, claim.unit)}"
            return Judgement(claim, other, "met in a reading", reading.name, why)
    if plain is None:
        return Judgement(claim, ours, "at the bound", None, claim.why)
    return Judgement(claim, ours, "not met", None, claim.why)


def sentences(judgements: Sequence[Judgement]) -> list[Verdict]:
    """Return one verdict per sentence: of several claims on a sentence the worst counts."""
    found: dict[tuple[str, str, str], list[Verdict]] = {}
    for one in judgements:
        found.setdefault(one.claim.sentence, []).append(one.verdict)
    return [min(some, key=_DECIDES.index) for some in found.values()]


def tally(judgements: Sequence[Judgement]) -> str:
    """Summarize how many sentences were met."""
    verdicts = sentences(judgements)
    counts = {verdict: verdicts.count(verdict) for verdict in VERDICTS}
    parts = ", ".join(
        f"{count} {verdict}" for verdict, count in counts.items() if count or verdict in USUAL
    )
    late = sum(one.claim.after_look for one in judgements)
    have = "has" if late == 1 else "have"
    looked = (
        f"; {_count(late, 'claim')} {have} a bound chosen after a look at our number"
        if late
        else ""
    )
    what = f"{_count(len(verdicts), 'statement')} ({_count(len(judgements), 'claim')})"
    return f"{what}: {parts}{looked}"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _holds(claim: Claim, ours: Value) -> bool | None:
    """Return whether the whole value meets the claim; None if only a part of it does."""
    ends = ends_of(ours)
    if ends is None:
        return None
    low, high = ends
    bound, tolerance = claim.bound, claim.tolerance
    if claim.relation == ">":
        return True if low > bound else None if high > bound else False
    if claim.relation == "<":
        return True if high < bound else None if low < bound else False
    if low >= bound - tolerance and high <= bound + tolerance:
        return True
    return None if low <= bound + tolerance and high >= bound - tolerance else False


def ends_of(value: Value) -> tuple[float, float] | None:
    """Return both ends of an interval, None if it has none; a plain number is both."""
    if not isinstance(value, Interval):
        return float(value), float(value)
    if value.low is None or value.high is None:
        return None
    return value.low, value.high
