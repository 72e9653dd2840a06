"""The errors that airtcp raises on purpose.

    AirtcpError
      UnitError            a text is not a quantity of the wanted kind (also a ValueError)
      ScenarioError        a scenario file is wrong: file, key path, what is allowed there
      QuestionError        a question has no answer: its words, or what it asks for
      PluginError          a plug-in cannot be loaded or registered
      OutputError          a result cannot be written where the user wants it
      ModelError           a model cannot answer
        ConvergenceError   its solver did not converge: there is no number to give
      SimulationError      a run failed: a violated law, or the core refused its input
        PluginFailedError  a plug-in raised, took too long, or broke a law

This module knows the tree and how a message reads; it does not know who raises what, nor exit
statuses. Mistakes of airtcp itself are not in the tree: they surface as ordinary Python exceptions.
"""

from __future__ import annotations

from collections.abc import Sequence

_PROBLEMS_SHOWN = 3
#: Longer than any message of ours: only what someone else has written makes it so.
_LONGEST_LINE = 1000


class AirtcpError(Exception):
    """Base of all errors that airtcp raises on purpose; its text is meant for the user."""


class UnitError(AirtcpError, ValueError):
    """A text is not a quantity of the wanted kind; the text says which units are."""


class ScenarioError(AirtcpError):
    """A scenario file is wrong.

    Attributes:
        file: the file, or the name given to `loads`.
        key: path of the offending key, such as `flows[0] (laptop).tcp.mss`; empty: the whole file.
        message: what is wrong there, and what is allowed.
        more: further problems of the same file as (key, message).

    `str()` shows at most three problems, one per line, each as `FILE: key: message`.
    """

    def __init__(
        self, file: str, key: str, message: str, more: Sequence[tuple[str, str]] = ()
    ) -> None:
        self.file = file
        self.key = key
        self.message = message
        self.more = tuple(more)
        problems = [(key, message), *self.more]
        lines = [_problem_line(file, *problem) for problem in problems[:_PROBLEMS_SHOWN]]
        hidden = len(problems) - _PROBLEMS_SHOWN
        if hidden > 0:
            lines.append(f"{file}: and {hidden} more problem{'s' if hidden > 1 else ''}")
        super().__init__("\n".join(lines))


class PluginError(AirtcpError):
    """A plug-in cannot be loaded or registered; the text names the file and the line."""


class QuestionError(AirtcpError):
    """A question about a scenario, or to results, has no answer; the text says what may be."""


class OutputError(AirtcpError):
    """A result cannot be written: the directory or file that the user named does not let us.

    Attributes:
        result: the result itself, if there is one all the same; None if the work was not done.
    """

    def __init__(self, message: str, result: object = None) -> None:
        super().__init__(message)
        self.result = result


class ModelError(AirtcpError):
    """A model cannot answer: its input lies outside of what it is defined for."""


class ConvergenceError(ModelError):
    """A solver inside a model did not converge; there is no number to give."""


class SimulationError(AirtcpError):
    """A simulation run failed; nothing that it counted can be trusted."""


class PluginFailedError(SimulationError):
    """A plug-in has ended a run; the text names the line of the user's code."""


def _problem_line(file: str, key: str, message: str) -> str:
    return one_line(f"{file}: {key}: {message}" if key else f"{file}: {message}")


def one_line(text: str) -> str:
    """Text of unknown origin as one line that a terminal can show, of at most 1000 characters.

    What cannot be printed is escaped; what is too long lacks its middle, for a message says at its
    beginning what it is about and at its end what is allowed.
    """
    half = _LONGEST_LINE // 2
    if len(text) > 2 * _LONGEST_LINE:
        text = text[:_LONGEST_LINE] + text[-_LONGEST_LINE:]
    line = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
    return line if len(line) <= _LONGEST_LINE else f"{line[: half - 3]} ... {line[2 - half :]}"
