"""Collect the predictions of models, best first."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

import numpy as np

from airtcp.exceptions import ModelError
from airtcp.phrases import phrase
from airtcp.predict.card import Origin
from airtcp.results import Model, Predicted


class Answers:
    """The predictions so far; `unanswered` has the reasons of models without one, by source."""

    def __init__(self) -> None:
        self.model: Model = {}
        self.unanswered: dict[str, str] = {}

    def add(
        self, origin: Origin, values: Mapping[str, float | list[float]], *, best: bool = False
    ) -> None:
        """Append predictions by metric; add the most accurate first, or mark it as `best`.

        Raises ModelError, and adds nothing, if a value is negative or not finite.
        """
        for metric, value in values.items():
            numbers = np.asarray(value)
            if not (np.isfinite(numbers).all() and (numbers >= 0.0).all()):
                raise ModelError(f"{metric} has the value {value!r}")
        for metric, value in values.items():
            entry = Predicted(
                value=value if isinstance(value, list) else float(value),
                by=origin.by,
                source=origin.source,
                assumes=list(origin.assumes),
                broken=list(origin.broken),
            )
            entries = self.model.setdefault(metric, [])
            entries.insert(0 if best else len(entries), entry)

    def add_broken(self, sentences: Sequence[str], *, but_by: Sequence[str] = ()) -> None:
        """Append broken assumptions to all predictions so far, but not to those `but_by` made."""
        for entries in self.model.values():
            for entry in entries:
                if entry.by not in but_by:
                    entry.broken.extend(sentences)

    def append(self, others: Answers) -> None:
        """Append other predictions after the existing ones, for each metric."""
        for metric, entries in others.model.items():
            self.model.setdefault(metric, []).extend(entries)
        self.unanswered.update(others.unanswered)

    @contextmanager
    def attempt(self, source: str) -> Iterator[None]:
        """Run a model; if it has no value, record the reason and let other models continue.

        It catches ModelError (a solver without a root), ValueError (an argument outside the model's
        domain, such as a load of 1 or more) and ArithmeticError (an undefined quotient, such as a
        share of nothing).
        """
        try:
            with np.errstate(divide="raise", invalid="raise", over="raise"):
                yield
        except (ModelError, ValueError) as error:
            self.unanswered[source] = str(error)
        except ArithmeticError as error:
            self.unanswered[source] = phrase("predict.answers.no_value", error=error)
