"""The errors that airtcp raises on purpose.

    AirtcpError
      UnitError            a text is not a quantity of the wanted kind (also a ValueError)
      ScenarioError        a scenario file is wrong: file, key path, what is allowed there
      QuestionError        a request is invalid, or its subject does not exist
      PluginError          a plug-in cannot be loaded or registered
      OutputError          a result cannot be written where the user wants it
      ModelError           a model cannot answer
        ConvergenceError   its solver did not converge: there is no number to give
      SimulationError      a run failed: a violated law, or the core rejected its input
        PluginFailedError  a plug-in raised, took too long, or broke a law

Bugs in airtcp itself are not in the tree: they surface as ordinary Python exceptions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

_PROBLEMS_SHOWN = 3
#: Longer than any message of airtcp: only quoted text from elsewhere exceeds it.
_LONGEST_LINE = 1000


class AirtcpError(Exception):
    """Base of all errors that airtcp raises on purpose. The text is meant for the user."""


class UnitError(AirtcpError, ValueError):
    """A text is not a quantity of the expected kind. The message lists the units."""


class ScenarioError(AirtcpError):
    """A scenario file is wrong.

    Attributes:
        file: the file, or the name given to `loads`.
        key: path of the invalid key, such as `flows[0] (laptop).tcp.mss`; empty for the whole file.
        message: what is wrong there, and what is allowed.
        more: further problems of the same file as (key, message).
        is_unknown_key: whether `key` does not exist in this scenario.

    `str()` shows at most three problems, one per line, each as `FILE: key: message`.
    """

    def __init__(
        self,
        file: str,
        key: str,
        message: str,
        more: Sequence[tuple[str, str]] = (),
        *,
        is_unknown_key: bool = False,
    ) -> None:
        self.file = file
        self.key = key
        self.message = message
        self.more = tuple(more)
        self.is_unknown_key = is_unknown_key
        problems = [(key, message), *self.more]
        lines = [_problem_line(file, *problem) for problem in problems[:_PROBLEMS_SHOWN]]
        hidden = len(problems) - _PROBLEMS_SHOWN
        if hidden > 0:
            lines.append(f"{file}: and {hidden} more problem{'s' if hidden > 1 else ''}")
        super().__init__("\n".join(lines))


class PluginError(AirtcpError):
    """A plug-in cannot be loaded or registered; the text names the file and the line."""


class QuestionError(AirtcpError):
    """A question about a scenario or results cannot be answered.

    The message says what is allowed.
    """


class OutputError(AirtcpError):
    """A result cannot be written to the directory or file that the user named.

    Attributes:
        result: the result itself if it was computed, otherwise None.
    """

    def __init__(self, message: str, result: object = None) -> None:
        super().__init__(message)
        self.result = result


class ModelError(AirtcpError):
    """A model cannot answer: its input is outside its domain."""


class ConvergenceError(ModelError):
    """A solver inside a model did not converge, so there is no value."""


class SimulationError(AirtcpError):
    """A simulation run failed. None of its counts can be trusted."""


class PluginFailedError(SimulationError):
    """A plug-in ended a run. The message names the line of the user's code."""


def _problem_line(file: str, key: str, message: str) -> str:
    return one_line(f"{file}: {key}: {message}" if key else f"{file}: {message}")


_WHOLE: Final = "is not a whole number; allowed: a whole number without quotes"
#: What is wrong with a value and what is allowed, by pydantic's type of error.
_PROBLEMS: Final = {
    "bool_type": "is neither true nor false; allowed: true, false",
    "string_type": "is not a text; allowed: a text in quotes",
    "int_type": _WHOLE,
    "int_parsing": _WHOLE,
    "int_from_float": _WHOLE,
    "float_type": "is not a number; allowed: a number without quotes",
    "finite_number": "is not finite; allowed: a finite number",
    "not_positive": "is too small; allowed: more than 0",
    "greater_than": "is too small; allowed: more than {gt}",
    "greater_than_equal": "is too small; allowed: {ge} or more",
    "less_than": "is too large; allowed: less than {lt}",
    "less_than_equal": "is too large; allowed: {le} at most",
}


def value_problem(kind: str, context: Mapping[str, Any]) -> str:
    """Return what is wrong with a value, by pydantic's error; "" for an unknown type of error."""
    bounds = {
        name: f"{bound:g}" if isinstance(bound, float) else bound for name, bound in context.items()
    }
    return _PROBLEMS.get(kind, "").format(**bounds)


def one_line(text: str) -> str:
    """Turn text of unknown origin into one printable line of at most 1000 characters.

    Unprintable characters are escaped. A long text loses its middle: a message names its subject at
    the beginning and what is allowed at the end.
    """
    half = _LONGEST_LINE // 2
    if len(text) > 2 * _LONGEST_LINE:
        text = text[:_LONGEST_LINE] + text[-_LONGEST_LINE:]
    line = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
    return line if len(line) <= _LONGEST_LINE else f"{line[: half - 3]} ... {line[2 - half :]}"
