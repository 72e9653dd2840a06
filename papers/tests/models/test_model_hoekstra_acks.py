"""Paper H's service time with other ACK policies than the paper's, by hand."""

import dataclasses

import pytest
from airtcp_papers.hoekstra.model import (
    Parameters,
    ack_time,
    acknowledged_time,
    collision_time,
    cycle_time,
    effective_service_time,
    overhead_time,
)

TESTBED = Parameters.testbed()
#: Backoffs of 0 to 31 slots of 20 us: one, and the longer of two.
ONE, LONGER = 31 / 2 * 20e-6, 31 * (4 * 31 + 5) / (6 * 32) * 20e-6


def with_acks(segments_per_ack: float, further: float = 0.0) -> Parameters:
    return dataclasses.replace(TESTBED, segments_per_ack=segments_per_ack, further_acks=further)


def test_a_cycle_has_as_many_segments_as_an_ack_answers() -> None:
    full, short = float(acknowledged_time(11_680, TESTBED)), float(acknowledged_time(0, TESTBED))
    collision = float(collision_time(11_680, TESTBED)) / 32

    assert cycle_time(with_acks(1.0)) == pytest.approx(full + short + LONGER + collision)
    assert cycle_time(with_acks(3.0)) == pytest.approx(
        3 * full + short + LONGER + 2 * ONE + collision
    )


def test_an_ack_costs_what_two_short_cycles_take_more_than_a_long_one() -> None:
    more = 2 * cycle_time(with_acks(1.0)) - cycle_time(TESTBED)

    assert ack_time(TESTBED) == pytest.approx(more)


def test_further_acks_are_overhead_of_either_model() -> None:
    for model in ("basic", "refined"):
        plain = overhead_time(TESTBED, model=model)
        assert overhead_time(with_acks(2.0, 3.5), model=model) == pytest.approx(
            plain + 3.5 * ack_time(TESTBED)
        )


def test_a_file_has_an_ack_more_for_each_that_is_not_left_out() -> None:
    """200 kB are 136.99 segments, 136.49 of them in cycles: 68.2 ACKs, or 75.8 for 1.8 segments."""
    in_cycles = 200_000 / 1460 - 0.5
    more = in_cycles / 1.8 - in_cycles / 2.0
    alike = effective_service_time(200_000, TESTBED)
    other = effective_service_time(200_000, with_acks(1.8))

    assert other.est_s - alike.est_s == pytest.approx(more * ack_time(TESTBED))


def test_the_papers_are_two_segments_and_no_further_acks() -> None:
    assert with_acks(2.0) == TESTBED
