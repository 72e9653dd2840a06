"""What the papers state, and whether it is met.

`claims.toml` holds every number and every relation that the papers state: where the sentence
stands, what it says, the bound with its reason, and which value of which item answers it. A verdict
is computed from values alone. What is simulated has an interval, and must lie on one side of its
bound with all of it; what does not is not decided, which is neither met nor refuted.
Knows no figure.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
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
Verdict = Literal["met", "met with a named reading", "not met", "not decided", "not made"]

#: Verdicts from good to bad; the last means that the item of the claim has not been made.
VERDICTS: Final[tuple[Verdict, ...]] = get_args(Verdict)
#: Those that are always counted, also when there are none.
USUAL: Final = VERDICTS[:3]


@dataclass(frozen=True, slots=True)
class Reading:
    """Another reading of the paper: its name, and the value that it gives."""

    name: str
    value: str


@dataclass(frozen=True, slots=True)
class Claim:
    """One statement of a paper.

    `where` is the place of the sentence and `says` its content; `quantity` what is looked at.
    `relation` and `bound` are what the paper states, in `unit`; with "=" the value must lie within
    `tolerance` of the bound. `reason` says in a line why that bound or tolerance. An item's `value`
    answers, or that of a `reading`; `by` says whether it is computed or simulated. `why` explains a
    claim that is not met.
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
    unit: str = ""
    tolerance: float = 0.0
    readings: tuple[Reading, ...] = ()
    why: str = ""

    @property
    def paper(self) -> str:
        """The letter of the paper."""
        return self.id.partition(".")[0]

    @property
    def states(self) -> str:
        """What the paper states, as people read it."""
        bound, tolerance = (self._as_printed(value) for value in (self.bound, self.tolerance))
        return f"{bound} (± {tolerance})" if self.relation == "=" else f"{self.relation} {bound}"

    def _as_printed(self, value: float) -> str:
        return quantity(value, self.unit) if self.unit else f"{value:g}"


@dataclass(frozen=True, slots=True)
class Judgement:
    """A claim, our number for it (None: its item was not made), and the verdict with its reason."""

    claim: Claim
    ours: Value | None
    verdict: Verdict
    reading: str | None
    why: str

    def to_dict(self) -> dict[str, Any]:
        """As `airtcp reproduce claims --json` prints it."""
        claim, ours = self.claim, self.ours
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
            "ours": ours.to_dict() if isinstance(ours, Interval) else ours,
            "verdict": self.verdict,
            "reading": self.reading,
            "why": self.why,
        }


def load_claims(file: Path = FILE) -> list[Claim]:
    """The claims of the file, in its order. Raises ValueError for one that is not well formed."""
    claims = []
    seen = set()
    for entry in _read(file)["claims"]:
        entry = dict(entry)
        readings = tuple(Reading(**reading) for reading in entry.pop("readings", ()))
        try:
            claim = Claim(readings=readings, **entry)
        except TypeError as error:
            raise ValueError(f"{entry.get('id', 'a claim')}: {error}") from error
        if claim.id in seen:
            raise ValueError(f"there are two claims {claim.id}")
        seen.add(claim.id)
        _check(claim)
        claims.append(claim)
    return claims


def parameters(file: Path = FILE) -> dict[str, str]:
    """For each paper the one set of parameters with which all of its claims are judged."""
    return dict(_read(file)["parameters"])


@cache
def _read(file: Path) -> Mapping[str, Any]:
    return tomllib.loads(file.read_text(encoding="utf-8"))


def _check(claim: Claim) -> None:
    for name in ("where", "says", "reason"):
        if not getattr(claim, name).strip():
            raise ValueError(f"{claim.id}: {name} is empty")
    for name, allowed in (("relation", get_args(Relation)), ("by", get_args(By))):
        if getattr(claim, name) not in allowed:
            raise ValueError(f"{claim.id}: {name} is none of {', '.join(allowed)}")
    if (claim.relation == "=") != (claim.tolerance > 0.0):
        raise ValueError(f"{claim.id}: a number needs a tolerance, a relation has none")


def judge(claim: Claim, values: Mapping[str, Value] | None) -> Judgement:
    """The verdict on a claim, from the values of its item; None: the item was not made.

    Raises ValueError if a value has no interval though the claim says that it is simulated, or has
    one though it is computed.
    """
    if values is None:
        return Judgement(claim, None, "not made", None, f"airtcp reproduce {claim.item}")
    for name in (claim.value, *(reading.value for reading in claim.readings)):
        if isinstance(values[name], Interval) != (claim.by == "simulation"):
            raise ValueError(f"{claim.id}: {name} is not what comes of a {claim.by}")
    ours = values[claim.value]
    plain = _holds(claim, ours)
    if plain:
        return Judgement(claim, ours, "met", None, "")
    for reading in claim.readings:
        other = values[reading.value]
        if _holds(claim, other):
            why = f"taken plainly it is {words(ours, claim.unit)}"
            return Judgement(claim, other, "met with a named reading", reading.name, why)
    if plain is None:
        return Judgement(claim, ours, "not decided", None, "our interval reaches over the bound")
    return Judgement(claim, ours, "not met", None, claim.why)


def tally(judgements: Sequence[Judgement]) -> str:
    """How many claims were met, in words."""
    counts = {
        verdict: sum(judgement.verdict == verdict for judgement in judgements)
        for verdict in VERDICTS
    }
    parts = ", ".join(
        f"{count} {verdict}" for verdict, count in counts.items() if count or verdict in USUAL
    )
    return f"{len(judgements)} claims: {parts}"


def _holds(claim: Claim, ours: Value) -> bool | None:
    """Whether all of a value lies where the claim wants it; None if only a part of it does."""
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
