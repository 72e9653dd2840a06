"""The coverage page: today's estimators reproduce its stored numbers."""

import json

import pytest
from intervals import judge, store
from intervals.cells import METRICS, systems
from intervals.measure import MEASURED

RECORD = json.loads(MEASURED.read_text("utf-8"))


@pytest.mark.parametrize("name", ["processor-exponential-0.7", "processor-pareto-1"])
def test_the_first_block_is_estimated_as_it_is_stored(name: str) -> None:
    # If not: measure.py judge DIR --write, after making the blocks again if draws changed. Stored
    # blocks have float32 times, and five digits are stored.
    system = systems()[name]

    stored = RECORD["first"][name]
    found = judge.estimates(store.simulate(system, 0, replications=5), system.scenario(0))

    for metric in METRICS:
        if "_p90_" in metric:
            # The page says that percentiles were measured with an older estimator.
            continue
        # A declined interval has only a lower bound.
        for told, kept in zip(judge.rounded(found[metric]), stored[metric], strict=True):
            assert told is None if kept is None else told == pytest.approx(kept, rel=5e-5)
