"""ACK policies that paper M lacks: models still answer, and state their assumptions."""

import pytest
from airtcp.predict import predict
from airtcp.results import Prediction
from airtcp.scenario import loads
from asked import best, broken
from bases import BULK, cell, reading

WEB = reading("30 kB", "10 s")
THRESHOLDS = "delayed_ack = { thresholds = [[0, 1], [2, 2], [5, 3], [9, 4]] }"


def said(acks: str, application: str = BULK) -> Prediction:
    tcp = f'tcp = {{ mss = "1000 B", receive_window = {{ segments = 4 }}, {acks} }}'
    return predict(loads(cell(10, name="sta", application=application, flow=tcp)))


@pytest.mark.parametrize("application", [BULK, WEB])
def test_the_last_threshold_stands_in_and_is_named(application: str) -> None:
    growing = said(THRESHOLDS, application)
    constant = said("delayed_ack = { every = 4 }", application)

    assert best(growing) == best(constant)
    (sentence,) = set(broken(growing).split("\n")) - set(broken(constant).split("\n"))
    assert "here d changes up to segment 9" in sentence
    assert "d = 4" in sentence


@pytest.mark.parametrize("application", [BULK, WEB])
def test_skipped_acks_are_named(application: str) -> None:
    plain = said("delayed_ack = { every = 1 }", application)
    skipping = said("delayed_ack = { every = 1 }, ack_skip = { skip = 2 }", application)

    assert best(skipping) == best(plain)
    (sentence,) = set(broken(skipping).split("\n")) - set(broken(plain).split("\n"))
    assert "2 of 3 ACKs are skipped" in sentence
    assert "the effect is unknown" in sentence


def test_skipping_nothing_is_nothing() -> None:
    plain = said("delayed_ack = { every = 1 }")
    skipping = said("delayed_ack = { every = 1 }, ack_skip = { skip = 0 }")

    assert broken(skipping) == broken(plain)


def test_the_first_ack_is_that_of_the_first_threshold() -> None:
    """An initial window of two segments stalls if the first ACK needs three."""
    stuck = said("initial_window = 2, delayed_ack = { thresholds = [[0, 3], [9, 1]] }", WEB)
    free = said("initial_window = 2, delayed_ack = { thresholds = [[0, 1], [9, 3]] }", WEB)

    def waits(prediction: Prediction) -> bool:
        answers = prediction.model["transfer_time_s"]
        return any(
            "each transfer starts with the" in text for one in answers for text in one.broken
        )

    assert waits(stuck)
    assert not waits(free)
