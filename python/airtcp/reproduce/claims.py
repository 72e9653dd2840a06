"""The statements of the papers, and whether they are met.

`claims.toml` holds every number and every relation that the papers state: where the sentence
stands, what it says, the bound with its reason, which value of which item answers it, and with
which rules that value is made. A verdict is computed from values alone. What is simulated has an
interval, and must lie on one side of its bound with all of it; what does not is at the bound. What
the paper's own number of runs could not tell is untestable, and apart from both.
Knows no figure.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, Final, Literal, get_args

from airtcp.amounts import quantity
from airtcp.reproduce.item import Value
from airtcp.reproduce.measure import words
from airtcp.stats import Interval

FILE: Final = Path(__file__).parent / "claims.toml"

Relation = Literal["=", "<", ">"]
#: What answers a claim: equations alone, which give a number, or simulations, which give intervals.
By = Literal["model", "simulation"]
Verdict = Literal["met", "met in a reading", "not met", "at the bound", "untestable", "not made"]

#: All verdicts; the last means that the item of the claim has not been made.
VERDICTS: Final[tuple[Verdict, ...]] = get_args(Verdict)
#: Those that are always counted, also when there are none.
USUAL: Final = VERDICTS[:3]
#: The order of a referee's report: what does not come out first.
REPORTED: Final[tuple[Verdict, ...]] = (*VERDICTS[2:], *VERDICTS[1::-1])
#: From the verdict that decides on a sentence with several claims to that which does so last.
_DECIDES: Final[tuple[Verdict, ...]] = ("not made", *REPORTED)

#: Standard errors of the paper's own runs within which two numbers are the same.
_ERRORS: Final = 2.0
#: A verdict is firm if intervals that are so many times as wide give it, too. Another seed moves a
#: mean by some .7 of its half width: what is decided by a hair with one is open with the next.
_FIRM: Final = 2.0


@dataclass(frozen=True, slots=True)
class Rules:
    """A set of rules that values are made with.

    `uses` says what is in the set, `why` for which sentences it is, and why those. A set that was
    `fitted` was found by a search for a paper's numbers: it shows a cause, and meets no claim.
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
    """Another reading of the paper: its name, and the value that it gives."""

    name: str
    value: str


@dataclass(frozen=True, slots=True)
class Beside:
    """The value of the same claim made with another set of rules, shown beside it.

    It never decides. `says` is what else is other than in the claim, if anything is.
    """

    made_with: str
    value: str
    says: str = ""

    @property
    def name(self) -> str:
        """The rules, and what else is other."""
        return f"{self.made_with} ({self.says})" if self.says else self.made_with


@dataclass(frozen=True, slots=True)
class Claim:
    """One statement of a paper.

    `where` is the place of the sentence and `says` its content; `quantity` what is looked at.
    `relation` and `bound` are what the paper states, in `unit`; with "=" the value must lie within
    `tolerance` of the bound. `reason` says in a line why that bound or tolerance. An item's `value`
    answers, made with the set of rules `made_with`, or that of a `reading`; `by` says whether it is
    computed or simulated. `beside` has it with other rules. `error` names the value with one
    standard error of the paper's own runs: twice of it is the tolerance where none is stated, and
    with more than half of the `effect` that the paper states the sentence is untestable. `why`
    explains a claim that is not met, and `shown_by` names the item or page that shows it, where no
    other rules do.
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
    why: str = ""
    shown_by: str = ""

    @property
    def paper(self) -> str:
        """The letter of the paper."""
        return self.id.partition(".")[0]

    @property
    def sentence(self) -> tuple[str, str, str]:
        """The part that all claims on one sentence of the paper have in common."""
        return self.paper, self.where, self.says

    @property
    def values(self) -> tuple[str, ...]:
        """The names of all values that the claim takes of its item."""
        readings = [one.value for one in self.readings]
        named = (self.value, *readings, *(one.value for one in self.beside), self.error)
        return tuple(name for name in dict.fromkeys(named) if name)

    @property
    def states(self) -> str:
        """The statement of the paper, as people read it."""
        bound, tolerance = (self._as_printed(value) for value in (self.bound, self.tolerance))
        return f"{bound} (± {tolerance})" if self.relation == "=" else f"{self.relation} {bound}"

    def _as_printed(self, value: float) -> str:
        return quantity(value, self.unit) if self.unit else f"{value:.4g}"


@dataclass(frozen=True, slots=True)
class Other:
    """A claim's value with other rules, and whether the claim firmly holds with it; None: open."""

    beside: Beside
    ours: Value
    holds: bool | None


@dataclass(frozen=True, slots=True)
class Judgement:
    """A claim, our number for it (None: its item was not made), and the verdict with its reason."""

    claim: Claim
    ours: Value | None
    verdict: Verdict
    reading: str | None
    why: str
    others: tuple[Other, ...] = ()
    #: Those of the item's values that the claim takes.
    values: Mapping[str, Value] | None = None

    @property
    def cause(self) -> str:
        """The reason why a claim is not met: rules with which it is, or an item; "" if none."""
        if self.verdict != "not met":
            return ""
        rules = ", ".join(one.beside.name for one in self.others if one.holds)
        return f"met with {rules}" if rules else self.claim.shown_by

    @property
    def about(self) -> str:
        """The reading, the reason, the cause, and the values with other rules, in words."""
        unit, parts = self.claim.unit, [self.reading, self.why]
        if self.verdict == "not met":
            parts.append(f"Shown: {self.cause}" if self.cause else "Unexplained")
        for one in self.others:
            parts.append(f"With {one.beside.name}: {words(one.ours, unit)}")
        return ". ".join(part.removesuffix(".") for part in parts if part)

    def to_dict(self) -> dict[str, Any]:
        """As `airtcp reproduce claims --json` prints it."""
        claim = self.claim
        return {
            "id": claim.id,
            "paper": claim.paper,
            "where": claim.where,
            "says": claim.says,
            "quantity": claim.quantity,
            "unit": claim.unit,
            "relation": claim.relation,
            "bound": claim.bound,
            "tolerance": claim.tolerance,
            "reason": claim.reason,
            "item": claim.item,
            "by": claim.by,
            "made_with": claim.made_with,
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


def load_claims(file: Path = FILE) -> list[Claim]:
    """The claims of the file, in its order. Raises ValueError for one that is not well formed."""
    claims, rules = [], load_rules(file)
    seen = set()
    for entry in _read(file)["claims"]:
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


def load_rules(file: Path = FILE) -> dict[str, Rules]:
    """The sets of rules that claims are made with, by name. Raises ValueError for a wrong one."""
    rules = {}
    for name, entry in _read(file)["rules"].items():
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
    """The verdict on a claim, from the values of its item; None: the item was not made.

    An item that was made before it had all values of the claim is to be made again.

    Raises ValueError if a value has no interval though the claim says that it is simulated, or has
    one though it is computed.
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
        why = (
            f"The paper's own runs tell it to ± {told}, which is more than half of the {effect} "
            f"that it states. Ours, which are longer, say: {judged.verdict}"
        )
        why += f". {judged.why or claim.why}" if judged.why or claim.why else ""
        judged = replace(judged, verdict="untestable", why=why)
    # Other rules have no item made again: they are to be firm as they are.
    others = tuple(
        Other(one, values[one.value], _holds(claim, _widened(values[one.value])))
        for one in claim.beside
    )
    return replace(judged, others=others, values={name: values[name] for name in claim.values})


def is_firm(claim: Claim, values: Mapping[str, Value]) -> bool:
    """Tell whether a claim is decided, and would be by intervals that are twice as wide."""
    widened = {name: _widened(values[name]) for name in claim.values if name in values}
    return judge(claim, widened).verdict != "at the bound"


def _widened(value: Value) -> Value:
    if not isinstance(value, Interval) or None in (value.mean, value.low, value.high):
        return value
    mean = value.mean
    low, high = (mean + _FIRM * (end - mean) for end in (value.low, value.high))  # type: ignore[operator]
    return Interval(mean, low, high, value.n)


def _answer(claim: Claim, values: Mapping[str, Value]) -> Judgement:
    """The verdict that our values give, whatever the paper's own runs could tell."""
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
    """One verdict for each sentence: several claims on one count once, the worst of them."""
    found: dict[tuple[str, str, str], list[Verdict]] = {}
    for one in judgements:
        found.setdefault(one.claim.sentence, []).append(one.verdict)
    return [min(some, key=_DECIDES.index) for some in found.values()]


def tally(judgements: Sequence[Judgement]) -> str:
    """Say how many sentences were met."""
    verdicts = sentences(judgements)
    counts = {verdict: verdicts.count(verdict) for verdict in VERDICTS}
    parts = ", ".join(
        f"{count} {verdict}" for verdict, count in counts.items() if count or verdict in USUAL
    )
    return f"{len(verdicts)} statements ({len(judgements)} claims): {parts}"


def _holds(claim: Claim, ours: Value) -> bool | None:
    """Tell if all of a value lies where the claim wants it; None if only a part of it does."""
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
    """Both ends of an interval, None if it has none; a plain number is both."""
    if not isinstance(value, Interval):
        return float(value), float(value)
    if value.low is None or value.high is None:
        return None
    return value.low, value.high
