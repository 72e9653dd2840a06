"""The page of coverage: its stored numbers are those of today's estimates."""

import json

import pytest
from intervals import judge, store
from intervals.cells import METRICS, systems
from intervals.measure import MEASURED

RECORD = json.loads(MEASURED.read_text("utf-8"))


@pytest.mark.parametrize("name", ["processor-exponential-0.7", "processor-pareto-1"])
def test_the_first_block_is_estimated_as_it_is_stored(name: str) -> None:
    # Else: measure.py judge DIR --write, after the blocks have been made again if draws moved. The
    # stored blocks have times as float32 and five digits are stored.
    system = systems()[name]

    stored = RECORD["first"][name]
    found = judge.estimates(store.simulate(system, 0, replications=5), system.scenario(0))

    for metric in METRICS:
        if "_p90_" in metric:
            # The page says that percentiles were measured with an older estimator.
            continue
        # An interval that is declined has a lower bound alone.
        for told, kept in zip(judge.rounded(found[metric]), stored[metric], strict=True):
            assert told is None if kept is None else told == pytest.approx(kept, rel=5e-5)
