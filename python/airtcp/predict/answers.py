"""Collects what models say while they are asked, best first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from airtcp.exceptions import ModelError
from airtcp.results import Model, Predicted


class Answers:
    """The predictions made so far, and the messages of models that had no value."""

    def __init__(self) -> None:
        self.model: Model = {}
        self.failures: list[str] = []

    def add(
        self,
        metric: str,
        value: float | list[float],
        *,
        by: str,
        source: str,
        assumes: Sequence[str],
        broken: Sequence[str],
    ) -> None:
        """Append a prediction; for each metric the better one is added first."""
        entry = Predicted(
            value=value if isinstance(value, list) else float(value),
            by=by,
            source=source,
            assumes=list(assumes),
            broken=list(broken),
        )
        self.model.setdefault(metric, []).append(entry)

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
