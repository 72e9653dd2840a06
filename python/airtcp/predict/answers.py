"""Collects what models say while they are asked, best first."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from airtcp.exceptions import ModelError
from airtcp.results import Model, Predicted


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a value comes from: module, paper and equation, assumptions, those that are broken."""

    by: str
    source: str
    assumes: Sequence[str]
    broken: Sequence[str] = ()


class Answers:
    """The predictions made so far, and the messages of models that had no value."""

    def __init__(self) -> None:
        self.model: Model = {}
        self.failures: list[str] = []

    def add(self, origin: Origin, values: Mapping[str, float | list[float]]) -> None:
        """Append predictions by metric; the better one of a metric is added first."""
        for metric, value in values.items():
            entry = Predicted(
                value=value if isinstance(value, list) else float(value),
                by=origin.by,
                source=origin.source,
                assumes=list(origin.assumes),
                broken=list(origin.broken),
            )
            self.model.setdefault(metric, []).append(entry)

    def add_broken(self, sentences: Sequence[str]) -> None:
        """Append to what the scenario breaks, for all predictions made so far."""
        for entries in self.model.values():
            for entry in entries:
                entry.broken.extend(sentences)

    @contextmanager
    def attempt(self, source: str) -> Iterator[None]:
        """Ask a model. One that has no value for these numbers says so; the others still answer.

        ModelError: a solver without a root. ValueError: an argument out of what a model is defined
        for, such as a window of so many slots that it means nothing.
        """
        try:
            yield
        except (ModelError, ValueError) as error:
            self.failures.append(f"{source}: {error}")
