"""Assumptions that a scenario does not break, and those whose effect has no sign.

`test_predict_signs` tests the sentences with a sign or a size.
"""

import pytest
from airtcp.predict import predict
from airtcp.run.simulate import simulate
from airtcp.scenario import loads
from asked import best, broken
from test_predict_downloads import (
    EXPONENTIAL,
    PAPER_M,
    STATIONS,
    flow,
    of_paper_m,
    scenario,
)


def test_a_scenario_that_meets_every_assumption_breaks_none() -> None:
    assert broken(predict(scenario())) == ""
    assert broken(predict(scenario(EXPONENTIAL)), metric="transfer_time_to_last_ack_s") == ""


QUEUE = '[ap]\nqueue = {{ discipline = "fifo", limit = {limit} }}\n'


def test_windows_that_take_longer_than_the_timer_are_named() -> None:
    sentences = broken(predict(scenario(count=400)))

    assert "together take 1.2 s to send, and the minimum RTO is 1 s" in sentences


def test_a_queue_that_holds_all_windows_breaks_nothing() -> None:
    said = predict(scenario(window=10, more=QUEUE.format(limit=100)))

    assert "queue" not in broken(said)


def test_rules_of_the_standard_that_the_model_lacks_are_named() -> None:
    standard = PAPER_M.partition("[mac.rules]")[0]
    sentences = broken(predict(loads(standard + STATIONS.format(count=10) + flow())))

    assert "may be sent without backoff and a backoff runs after each success" in sentences
    assert "364 us (EIFS)" in sentences


def test_stations_at_different_rates_are_averaged_and_named() -> None:
    group = '[[stations]]\nname = "far"\ncount = 1\ndata_rate = "1 Mb/s"\n'
    far = group + flow(stations="far")
    asked = scenario(count=1, more=far)

    said, measured = predict(asked), simulate(asked).metrics["goodput_bps"].mean

    assert "differ in data rates" in broken(said)
    # The anomaly: half of the packets take ten times as long, which slows both stations.
    assert best(said) == pytest.approx(measured, rel=0.05)


def test_uploads_with_a_large_window_are_not_the_backlog_of_paper_m() -> None:
    said = predict(scenario(direction="upload", window=20))

    assert of_paper_m(said, "goodput_bps")
    assert of_paper_m(said, "collision_probability") == []


def test_web_beside_endless_downloads_leaves_the_total_goodput() -> None:
    said = predict(scenario(count=3, more=flow(EXPONENTIAL) + 'name = "web"\n'))

    assert set(said.model) == {"goodput_bps", "best_target_active"}
    assert "web transfers share the channel" in broken(said)
