"""Check answers to the questions of a sheet by simulation.

A numeric answer is right within the tolerance of its question or within the confidence interval of
the simulation. A setting is right if it meets the conditions of the question. No answers are
stored: the scenario of the sheet is run with its seed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from airtcp.exceptions import QuestionError, ScenarioError, UnitError
from airtcp.files import read_text
from airtcp.labels import flows_of, label_of, spoken
from airtcp.labs.sheet import FORMS, NAMES, Question, Sheet, sheet
from airtcp.metrics import METRICS
from airtcp.phrases import phrase
from airtcp.scenario.toml_text import option_value, parse
from airtcp.units import parse_percent, parse_rate_bps, parse_time_s

if TYPE_CHECKING:
    from airtcp.scenario import Scenario
    from airtcp.stats import Interval

_END: Final = ".answers.toml"
_MOST_BYTES: Final = 2**20
#: Options whose values differ by less than this count as equal.
_ALIKE: Final = 0.02


@dataclass(frozen=True)
class Judged:
    """The result for an answer: `right`, `wrong` or `open`, and the reason."""

    sheet: str
    question: str
    state: str
    why: str

    def to_dict(self) -> dict[str, str]:
        """Return the keys `sheet`, `question`, `state`, `why`."""
        return asdict(self)


class _WrongError(Exception):
    """An answer is wrong, for this reason."""


def check(path: Path | str, *, threads: int | None = None) -> list[Judged]:
    """Check the answers in a file. The file name must begin with the name of its sheet.

    A bare sheet name stands for its file of answers. Raises QuestionError if the file cannot be
    read, or belongs to no sheet.
    """
    file = Path(path)
    if str(path) in NAMES:
        file = file.with_name(f"{path}{_END}")
    name = file.name.partition(".")[0]
    if name not in NAMES or not file.name.endswith(_END):
        allowed = f"{', '.join(NAMES)}, with {_END} after it"
        raise QuestionError(phrase("labs.judge.no_sheet", file=file, allowed=allowed))
    try:
        answers = parse(read_text(file, _MOST_BYTES))
    except OSError as error:
        raise QuestionError(
            phrase("labs.judge.not_readable", file=file, why=error.strerror or error)
        ) from error
    except (ValueError, RecursionError) as error:
        raise QuestionError(phrase("labs.judge.not_toml", file=file, error=error)) from error
    of = sheet(name)
    unknown = [key for key in answers if key not in of.questions]
    if unknown:
        known = ", ".join(of.questions)
        raise QuestionError(
            phrase("labs.judge.not_a_question", file=file, unknown=unknown[0], known=known)
        )
    return [judge(of, key, answers.get(key), threads=threads) for key in of.questions]


def judge(of: Sheet, name: str, answer: Any, *, threads: int | None = None) -> Judged:
    """Check one answer. None and "" mean that the question is still open."""
    if answer is None or answer == "":
        return Judged(of.name, name, "open", "not answered yet")
    question = of.questions[name]
    try:
        why = _JUDGES[question.kind](_Runs(of, threads), question, answer)
    except _WrongError as error:
        return Judged(of.name, name, "wrong", str(error))
    return Judged(of.name, name, "right", why)


class _Runs:
    """Simulations of a sheet's scenario."""

    def __init__(self, of: Sheet, threads: int | None) -> None:
        from airtcp.scenario import loads

        self._base: Scenario = loads(of.scenario, name=f"{of.name}.toml")
        self._threads = threads

    def of(self, changes: Mapping[str, Any]) -> Mapping[str, Mapping[str, Interval]]:
        """Return the metrics of a run by scope: "" (everything), group, or group/direction."""
        from airtcp.run.simulate import simulate

        simulation = simulate(self._base.vary(changes), threads=self._threads).simulation
        found = {"": simulation.metrics}
        for group, parts in simulation.groups.items():
            for part, metrics in parts.items():
                found[group if part == "all" else f"{group}/{part}"] = metrics
        return found

    def value(self, question: Question, changes: Mapping[str, Any]) -> Interval:
        """Return the metric of a question in a run."""
        return self.of(changes)[question.of][question.metric]

    def holds(self, conditions: tuple[str, ...], changes: Mapping[str, Any]) -> str | None:
        """Return the first condition that a run's means do not meet, or None if they meet all."""
        from airtcp.conditions import read_condition

        metrics = self.of(changes)
        for text in conditions:
            one = read_condition(text)
            of = one.group or ""
            mean = metrics[of if one.part == "all" else f"{of}/{one.part}"][one.metric].mean
            if mean is None or (mean > one.bound) is not one.above:
                return text
        return None


def _quantity(metric: str, answer: Any) -> float:
    """Parse an answer into the unit of its metric. Raises _WrongError."""
    if isinstance(answer, bool):
        raise _WrongError(phrase("labs.judge.not_a_number", answer=answer, number=FORMS["number"]))
    unit = METRICS[metric].unit
    try:
        if isinstance(answer, str):
            if unit == "b/s":
                return float(parse_rate_bps(answer))
            if unit == "s":
                return parse_time_s(answer)
            return parse_percent(answer) if answer.strip().endswith("%") else float(answer)
        if unit in ("s", "b/s"):
            raise _WrongError(phrase("labs.judge.no_unit", answer=answer, number=FORMS["number"]))
        return float(answer)
    except (UnitError, ValueError, TypeError) as error:
        raise _WrongError(f"{answer!r}: {error}; allowed: {FORMS['number']}") from error


#: The widest half width, relative to the mean, that is accepted as a tolerance.
_WIDEST: Final = 0.5


def _near(given: float, wanted: float, within: float, half: float | None = None) -> str:
    """Return why a number is right. Raises _WrongError with "too high" or "too low" otherwise."""
    # An interval wider than half its mean does not separate right from wrong answers.
    wide = min(half or 0.0, _WIDEST * abs(wanted))
    if abs(given - wanted) <= max(within * abs(wanted), wide):
        return phrase("labs.judge.near", within=100 * within)
    raise _WrongError(
        phrase("labs.judge.too_high") if given > wanted else phrase("labs.judge.too_low")
    )


def _number(runs: _Runs, question: Question, answer: Any) -> str:
    given = _quantity(question.metric, answer)
    found = runs.value(question, question.set)
    assert found.mean is not None, "a sheet asks for what its scenario has"
    return _near(given, found.mean, question.within, found.half_width)


def _factor(runs: _Runs, question: Question, answer: Any) -> str:
    if isinstance(answer, bool) or not isinstance(answer, int | float):
        raise _WrongError(phrase("labs.judge.not_a_factor", answer=answer, factor=FORMS["factor"]))
    over = runs.value(question, question.set).mean
    under = runs.value(question, question.against).mean
    assert over is not None, "a sheet asks for what its scenario has"
    assert under, "a sheet divides by nothing"
    return _near(float(answer), over / under, question.within)


def _choice(runs: _Runs, question: Question, answer: Any) -> str:
    if answer not in question.options:
        allowed = ", ".join(question.options)
        raise _WrongError(phrase("labs.judge.not_a_word", answer=answer, allowed=allowed))
    values = {name: runs.value(question, set_).mean for name, set_ in question.options.items()}
    known = {name: value for name, value in values.items() if value is not None}
    best = (max if question.want == "highest" else min)(known.values())
    group, _, part = question.of.partition("/")
    metric = METRICS[question.metric]
    label = label_of(metric, flows_of(group, part or None)) if group else spoken(metric)
    if abs(known[answer] - best) <= _ALIKE * abs(best):
        return f"it has the {question.want} {label}"
    raise _WrongError(phrase("labs.judge.another", want=question.want, label=label))


def _most(runs: _Runs, question: Question, answer: Any) -> str:
    if isinstance(answer, bool) or not isinstance(answer, int) or answer < 1:
        raise _WrongError(phrase("labs.judge.not_a_count", answer=answer, most=FORMS["most"]))
    try:
        missed = runs.holds(question.holds, {**question.set, question.path: answer})
        if missed is not None:
            raise _WrongError(phrase("labs.judge.too_many", missed=missed))
        more = answer + question.step
        if runs.holds(question.holds, {**question.set, question.path: more}) is None:
            raise _WrongError(phrase("labs.judge.too_few", more=more))
    except ScenarioError as error:
        raise _WrongError(str(error)) from error
    return phrase("labs.judge.not_with_more", step=question.step)


def _setting(runs: _Runs, question: Question, answer: Any) -> str:
    texts = [answer] if isinstance(answer, str) else answer
    if not isinstance(texts, list) or not all(isinstance(one, str) for one in texts):
        raise _WrongError(
            phrase("labs.judge.not_settings", answer=answer, setting=FORMS["setting"])
        )
    changes: dict[str, Any] = {}
    for text in texts:
        path, equals, value = text.partition("=")
        path = path.strip()
        if not equals or not any(f"{path}.".startswith(f"{one}.") for one in question.allowed):
            raise _WrongError(
                phrase("labs.judge.not_to_be_set", text=text, allowed=question.allowed)
            )
        changes[path] = option_value(value.strip())
    try:
        missed = runs.holds(question.holds, {**question.set, **changes})
    except ScenarioError as error:
        raise _WrongError(str(error)) from error
    if missed is not None:
        raise _WrongError(phrase("labs.judge.missed", missed=missed))
    return phrase("labs.judge.met")


_JUDGES: Final[Mapping[str, Callable[[_Runs, Question, Any], str]]] = {
    "number": _number,
    "factor": _factor,
    "choice": _choice,
    "most": _most,
    "setting": _setting,
}
