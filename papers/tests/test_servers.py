"""Parallel networks against M/G/1 processor sharing, where theory has an answer.

Seeds are fixed. Intervals are of 99.99 %, so one in ten thousand would miss by chance.
"""

import numpy as np
import pytest
from airtcp.distributions import Deterministic, Exponential, Hyperexponential
from airtcp_papers.common.flows import processor_sharing
from airtcp_papers.common.servers import concurrent_processor_sharing

FILES = Exponential(mean=1.0)
#: Mean 1, E[X^2] = 7.5.
VARIED = Hyperexponential(probability=1 / 12, mean_1=6.5, mean_2=0.5)


@pytest.mark.parametrize("sizes", [FILES, VARIED])
def test_each_part_of_a_random_split_is_a_queue_of_its_own(sizes: Exponential) -> None:
    """Loads of 0.75 * 0.6 * 3 / 2 = 0.675 and 0.25 * 0.6 * 3 = 0.45: 1 / (C (1 - load)) each."""
    result = concurrent_processor_sharing(
        sizes,
        capacities=[2.0, 1.0],
        split=[0.75, 0.25],
        load=0.6,
        jobs=800_000,
        confidence=0.9999,
    )

    first, second = result.servers
    for server, mean, share in ((first, 1 / (2 * 0.325), 0.75), (second, 1 / 0.55, 0.25)):
        assert server.sojourn_s.low < mean < server.sojourn_s.high
        assert server.sojourn_s.half_width < 0.05 * mean
        assert server.share.mean == pytest.approx(share, abs=0.002)
    # Little's law over both servers: 0.6 * 3 jobs a second.
    assert result.active.mean == pytest.approx(1.8 * (result.sojourn_s.mean or 0.0), rel=0.01)


def test_the_least_number_lies_between_chance_and_one_server_of_both() -> None:
    """On the same jobs in every replication."""
    common = {"load": 0.8, "jobs": 50_000, "seed": 4}
    chance = concurrent_processor_sharing(FILES, capacities=[1, 1], split=[0.5, 0.5], **common)  # type: ignore[arg-type]
    fewest = concurrent_processor_sharing(FILES, capacities=[1, 1], split="least", **common)  # type: ignore[arg-type]
    both = processor_sharing(FILES, capacity=2, **common)  # type: ignore[arg-type]

    pooled = [run.answer["mean_sojourn_s"] for run in both.runs]
    assert np.all(np.array(fewest.sojourns_s) < chance.sojourns_s)
    assert np.all(np.array(fewest.sojourns_s) > pooled)


def test_one_network_is_the_flow_level_simulator() -> None:
    common = {"load": 0.7, "jobs": 5_000, "replications": 3}
    one = concurrent_processor_sharing(FILES, capacities=[2.0], split=[1.0], **common)  # type: ignore[arg-type]
    same = processor_sharing(FILES, capacity=2.0, **common)  # type: ignore[arg-type]

    assert list(one.sojourns_s) == pytest.approx(
        [run.answer["mean_sojourn_s"] for run in same.runs], rel=1e-12
    )


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"split": "fastest", "load": 0.5}, "split must be"),
        ({"split": "least"}, "exactly one of load"),
        ({"split": [0.5], "load": 0.5}, "shares: 2 are needed, 1 given"),
        ({"split": [0.7, 0.7], "load": 0.5}, "shares: must add up to 1"),
        ({"split": [0.9, 0.1], "load": 0.9}, "a server has a load of"),
        ({"split": "least", "load": 1.0}, "a server has a load of"),
        ({"split": "least", "load": 0.5, "jobs": 0}, "jobs must be at least 1"),
    ],
)
def test_what_cannot_be_is_refused(arguments: dict[str, object], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        concurrent_processor_sharing(Deterministic(value=1.0), capacities=[1, 1], **arguments)  # type: ignore[arg-type]
