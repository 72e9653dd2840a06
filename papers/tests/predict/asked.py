"""What `predict` says of a scenario, as the tests of this folder ask for it."""

from airtcp.results import Prediction


def values(said: Prediction, metric: str = "goodput_bps") -> dict[str, float]:
    """What is said about a metric, by source, best first."""
    answers = {}
    for source, entry in said.by_source(metric).items():
        assert not isinstance(entry.value, list)
        answers[source] = entry.value
    return answers


def best(said: Prediction, metric: str = "goodput_bps") -> float:
    """The value that is said first."""
    found = said.best(metric)
    assert found is not None
    assert isinstance(found.value, float)
    return found.value


def broken(said: Prediction, source: str = "", metric: str = "goodput_bps") -> str:
    """What breaks the assumptions of a source, by default the first, a line each."""
    entry = said.by_source(metric)[source] if source else said.model[metric][0]
    return "\n".join(entry.broken)
