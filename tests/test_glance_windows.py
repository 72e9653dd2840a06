"""Looks that are too short for windows of endless connections, or for readers who come seldom."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from airtcp.estimates.windows import Windows, _Kind
from airtcp.prediction import predict
from airtcp.present.summary import glanced
from airtcp.run.glance import glance
from airtcp.run.simulate import simulate
from airtcp.scenario import Scenario, loads

LOSSES = ("packet_loss", "r_factor", "ap_queue_drop_probability")
WAITS = ("rtt_s", "packet_delay_s", "ap_queue_delay_s")


def office(group: str, **tcp: Any) -> Scenario:
    """An access point of 802.11n with a queue of 1000 packets, beside whatever `group` has."""
    scenario = loads(f"""
        phy = {{ standard = "802.11n" }}
        ap = {{ queue = {{ limit = 1000 }} }}
        stations = [{{ profile = "office-laptop", name = "desk", {group} }}]
    """)
    return scenario.vary({f"stations.desk.tcp.{key}": value for key, value in tcp.items()})


@pytest.mark.parametrize("seed", [1, 3])
def test_what_waits_behind_windows_that_grow_is_told_from_below(seed: int) -> None:
    """Six backups beside calls: their ACKs fill the access point's queue for minutes."""
    scenario = office('count = 6, traffic = ["backup", "call"]')
    seen = glance(scenario, seed=seed)
    longer = scenario.with_run(warmup_ns=20 * 10**9, duration_ns=60 * 10**9, replications=2, seed=5)
    truth = simulate(longer).metrics
    assert seen.short_for in {("windows",), ("sawteeth",)}
    for metric in WAITS:
        known = seen.metrics[metric]
        assert known.mean is None
        assert known.low < truth[metric].mean
    assert seen.metrics["goodput_bps"].low is not None
    # Losses have not bound these windows yet.
    for metric in LOSSES:
        one = seen.metrics[metric]
        assert (one.mean, one.low, one.high) == (None, None, None)
        assert metric not in dict(seen.shown())
    told = glanced(predict(scenario.with_run(seed=seed))) or ""
    assert "delays are lower bounds, and losses are not reported" in told


def test_windows_that_the_receiver_bounds_are_seen_as_they_are() -> None:
    scenario = office('count = 6, traffic = ["backup", "call"]', receive_window="64 KiB")
    seen = glance(scenario)

    assert seen.short_for == ()
    assert all(seen.metrics[metric].half_width is not None for metric in WAITS)
    assert "lower bounds" not in (glanced(predict(scenario)) or "")


def test_a_few_readers_tell_no_interval_of_waits() -> None:
    seen = glance(office('count = 4, traffic = ["web", "call"]'), times=1)

    assert "readers" in seen.short_for
    for metric in WAITS:
        one = seen.metrics[metric]
        assert one.half_width is None
        assert "±" not in dict(seen.shown()).get(metric, "")
    assert seen.metrics["r_factor"].mean is None


def test_a_look_without_a_loss_does_not_say_how_rare_they_are() -> None:
    calls = glance(office('count = 2, traffic = ["call"]'))

    assert calls.short_for == ()
    lost = calls.metrics["packet_loss"]
    accounts = [run.accounts for run in calls.simulation.runs]
    seen = sum(one.delays.of("packet_delay", None).sum() for one in accounts if one and one.delays)
    assert (lost.mean, lost.low) == (0.0, 0.0)
    assert lost.high == pytest.approx(3.0 / seen)
    assert dict(calls.shown())["packet_loss"].startswith("at most ")
    rated = calls.metrics["r_factor"]
    assert rated.mean == pytest.approx(92.0, abs=1.5)
    assert rated.half_width is not None


def under_way(segments: float, rtt_s: float, **tcp: Any) -> _Kind:
    """Make the connections of a backup with so much under way all the time."""
    scenario = office('count = 1, traffic = ["backup"]', **tcp)
    own = scenario.flows[0].tcp
    assert own is not None
    size = segments * own.mss_bytes
    return _Kind(own, size, size, size, rtt_s)


def test_a_sawtooth_lasts_as_long_as_its_law_says() -> None:
    # K of 1000 segments is the cubic root of 1000 x 0.3 / 0.4 (RFC 9438, (2)).
    assert under_way(1000.0, 0.1).tooth_s == pytest.approx(750.0 ** (1.0 / 3.0))
    # Short of round trip the additive increase of 0.53 segments is faster (4.3).
    assert under_way(40.0, 0.01).tooth_s == pytest.approx(12.0 / 0.5294 * 0.01, rel=1e-3)
    # Half a window, a segment a round trip (RFC 5681).
    assert under_way(40.0, 0.01, congestion="reno").tooth_s == pytest.approx(0.2)
    assert under_way(1000.0, 0.1, congestion="bbr").tooth_s == 0.0


def test_windows_grow_that_are_a_quarter_larger_in_the_second_half() -> None:
    kind = under_way(40.0, 0.01)
    less, more = kind.first, 1.3 * kind.first

    assert not kind.grows
    assert replace(kind, second=more).grows
    assert not replace(kind, first=more, second=less).grows
    assert under_way(2000.0, 0.1).is_full
    assert not kind.is_full


def test_traffic_that_ends_has_no_such_windows() -> None:
    seen = glance(office('count = 4, traffic = ["web"]'))

    windows = Windows.of_replications(seen.simulation.runs, seen.scenario)
    assert (windows.grow, windows.are_cut_seldom) == (False, False)


def test_shares_of_unlike_connections_need_many_sawteeth() -> None:
    """Slow start favours fast stations; each cut closes 30 % of the gap.

    Six runs of 200 s, after 200 s, have 2.39 ± .12 Mb/s for each fast station and 3.23 ± .07 Mb/s
    for the slow one.
    """
    text = """
        phy = { standard = "802.11g" }
        ap = { queue = { limit = 250 } }
        stations = [
            { name = "sofa", count = 3 },
            { name = "shed", count = 1, data_rate = "6 Mb/s" },
        ]
        flows = [
            { stations = "sofa", direction = "download", LINUX },
            { stations = "shed", direction = "download", LINUX },
        ]
    """
    linux = 'application = { kind = "bulk" }, path = [{ delay = "12 ms" }]'
    linux += ', tcp = { preset = "linux", receive_window = "512 KiB" }'
    slow = loads(text.replace("LINUX", linux))
    for seed in range(4):
        seen = glance(slow, seed=seed)
        assert seen.short_for in {("windows",), ("sawteeth",)}
        for group, truth in (("sofa", 2.39e6), ("shed", 3.23e6)):
            told = seen.interval("flow_goodput_bps", group)
            assert told.low < truth < told.high
