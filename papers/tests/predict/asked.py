"""Helpers to read predictions in the tests of this folder."""

from airtcp.results import Prediction


def values(said: Prediction, metric: str = "goodput_bps") -> dict[str, float]:
    """Return a metric's predicted values by source, best first."""
    answers = {}
    for source, entry in said.by_source(metric).items():
        assert not isinstance(entry.value, list)
        answers[source] = entry.value
    return answers


def best(said: Prediction, metric: str = "goodput_bps") -> float:
    """Return the first predicted value of a metric."""
    found = said.best(metric)
    assert found is not None
    assert isinstance(found.value, float)
    return found.value


def broken(said: Prediction, source: str = "", metric: str = "goodput_bps") -> str:
    """Return a source's broken assumptions, one a line; by default those of the first source."""
    entry = said.by_source(metric)[source] if source else said.model[metric][0]
    return "\n".join(entry.broken)
