"""Every valid scenario gets predictions, or the reason why no model has any."""

import math
from pathlib import Path

import pytest
from airtcp.predict import predict
from airtcp.scenario import load

VALID = sorted((Path(__file__).parent / "scenarios" / "valid").glob("*.toml"))


@pytest.mark.parametrize("path", VALID, ids=lambda path: path.stem)
def test_every_valid_scenario_gets_an_answer_or_a_reason(path: Path) -> None:
    said = predict(load(path))

    assert bool(said.model) != bool(said.uncovered)
    for entries in said.model.values():
        for entry in entries:
            numbers = entry.value if isinstance(entry.value, list) else [entry.value]
            assert all(math.isfinite(number) and number >= 0.0 for number in numbers)
            assert entry.by.startswith("models.")
            assert entry.source
            assert entry.assumes
    for metric, entries in said.model.items():
        assert list(said.by_source(metric).values()) == entries
    assert said.to_json()
