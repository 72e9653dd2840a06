"""What the papers state, and whether it is met.

`claims.toml` holds every number and every relation that the papers state, with the tolerance and
its reason, and which value of which item answers it. A verdict is computed from values alone:
"met", "met with a named reading" (another reading of the paper, which the claim names), or "not
met".
Knows no figure.
"""

from __future__ import annotations

import tomllib
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal

from airtcp.metrics import quantity
from airtcp.reproduce.item import Value
from airtcp.reproduce.measure import words
from airtcp.stats import Interval

FILE: Final = Path(__file__).parent / "claims.toml"

Relation = Literal["=", "<", ">"]
Verdict = Literal["met", "met with a named reading", "not met", "not made"]

#: Verdicts from good to bad.
VERDICTS: Final[tuple[Verdict, ...]] = ("met", "met with a named reading", "not met")
#: What stands for a verdict where the item has not been made: nothing can be said.
NOT_MADE: Final[Verdict] = "not made"


@dataclass(frozen=True, slots=True)
class Reading:
    """Another reading of the paper: its name, and the value that it gives."""

    name: str
    value: str


@dataclass(frozen=True, slots=True)
class Claim:
    """One statement of a paper.

    `quantity` and `where` say what and where; `relation` and `bound` what the paper states, in
    `unit`. With "=" the value must lie within `tolerance` of the bound, whose `reason` is given. An
    item's `value` answers, or that of a `reading`. `why` explains a claim that is not met.
    """

    id: str
    quantity: str
    where: str
    relation: Relation
    bound: float
    item: str
    value: str
    unit: str = ""
    tolerance: float = 0.0
    reason: str = ""
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
            "quantity": claim.quantity,
            "unit": claim.unit,
            "relation": claim.relation,
            "bound": claim.bound,
            "tolerance": claim.tolerance,
            "reason": claim.reason,
            "item": claim.item,
            "ours": ours.to_dict() if isinstance(ours, Interval) else ours,
            "verdict": self.verdict,
            "reading": self.reading,
            "why": self.why,
        }


def load_claims(file: Path = FILE) -> list[Claim]:
    """The claims of the file, in its order. Raises ValueError for one that is not well formed."""
    claims = []
    seen = set()
    for entry in tomllib.loads(file.read_text(encoding="utf-8"))["claims"]:
        readings = tuple(Reading(**reading) for reading in entry.pop("readings", ()))
        claim = Claim(readings=readings, **entry)
        if claim.id in seen:
            raise ValueError(f"there are two claims {claim.id}")
        seen.add(claim.id)
        if claim.relation == "=" and not (claim.tolerance > 0.0 and claim.reason):
            raise ValueError(f"{claim.id}: a number needs a tolerance and its reason")
        claims.append(claim)
    return claims


def judge(claim: Claim, values: Mapping[str, Value] | None) -> Judgement:
    """The verdict on a claim, from the values of its item; None: the item was not made."""
    if values is None:
        return Judgement(claim, None, NOT_MADE, None, f"airtcp reproduce {claim.item}")
    ours = values[claim.value]
    wrong = _objection(claim, ours)
    if wrong is None:
        return Judgement(claim, ours, "met", None, "")
    for reading in claim.readings:
        other = values[reading.value]
        if _objection(claim, other) is None:
            why = f"taken plainly it is {words(ours, claim.unit)}"
            return Judgement(claim, other, "met with a named reading", reading.name, why)
    return Judgement(claim, ours, "not met", None, f"{wrong}. {claim.why}".strip())


def tally(judgements: list[Judgement]) -> str:
    """How many claims were met, in words."""
    counts = Counter(judgement.verdict for judgement in judgements)
    shown = [verdict for verdict in (*VERDICTS, NOT_MADE) if verdict in VERDICTS or counts[verdict]]
    return f"{len(judgements)} claims: {', '.join(f'{counts[one]} {one}' for one in shown)}"


def _objection(claim: Claim, ours: Value) -> str | None:
    """Why a value does not meet the claim; None if it does.

    A relation must hold with the whole interval on its side. A number must lie within the
    tolerance, or its interval reach there; an interval wider than twice the tolerance decides
    nothing.
    """
    low, high = ends(ours)
    bound, tolerance = claim.bound, claim.tolerance
    if claim.relation == ">":
        return None if low > bound else "our interval is not above it"
    if claim.relation == "<":
        return None if high < bound else "our interval is not below it"
    if low > bound + tolerance or high < bound - tolerance:
        return "our interval lies outside the tolerance"
    return None if high - low <= 4.0 * tolerance else "our interval is too wide to tell"


def ends(value: Value) -> tuple[float, float]:
    """Both ends of an interval; a plain number is both. Without an interval it is the mean."""
    if not isinstance(value, Interval):
        return float(value), float(value)
    if value.mean is None:
        return float("-inf"), float("inf")
    low = value.mean if value.low is None else value.low
    high = value.mean if value.high is None else value.high
    return low, high
