"""Arguments out of range: each model says which one, and what is allowed."""

import re
from collections.abc import Callable, Mapping
from typing import Any

import pytest
from airtcp.models import bianchi, edca
from airtcp.models.airtime_fairness import station_rate
from airtcp.models.ampdu import sent_mpdus
from airtcp.models.bianchi import FHSS_BASIC, SlotTimes
from airtcp.models.cells import independent_sets
from airtcp.models.cubic import average_window, square_root_window
from airtcp.models.heusse import (
    anomaly,
    collision_probability,
    contention_time_s,
    frame_exchange_s,
    published_exchange_s,
    tcp_downloads,
)
from airtcp.models.hidden import hidden_pair
from airtcp.models.max_throughput import maximum_throughput, mean_backoff_s
from airtcp.models.processor_sharing import (
    conditional_mean_sojourn,
    engset,
    engset_distribution,
    engset_sojourn_quantile,
    engset_sojourn_tail,
    limited,
    limited_distribution,
    mean_sojourn,
    number_distribution,
    number_tail,
    sojourn_tail,
    stable_load,
)
from airtcp.models.replies import download, share_at_once, upload

#: 802.11a at 54 Mb/s, a segment and its ACK.
DATA, ACK = SlotTimes(9e-6, 326e-6, 282e-6, 1e-4), SlotTimes(9e-6, 114e-6, 70e-6, 1e-4)
NAN, INFINITE = float("nan"), float("inf")

#: Values of one argument, each with what its message says after the name of the argument.
Bad = Mapping[str, list[tuple[Any, str]]]
CASES: list[tuple[Callable[..., Any], dict[str, Any], Bad]] = [
    (
        bianchi.fixed_point, {"n": 5, "w0": 32, "m": 5, "retries": 7},
        {
            "n": [(0, "at least 1"), (0.5, "at least 1"), ([2, -3], "at least 1.0, not -3"),
                  (True, "a real number"), (INFINITE, "finite")],
            "w0": [(0, "at least 1")],
            "m": [(-1, "at least 0"), (2.5, "a whole number"), (61, "at most 60")],
            "retries": [(-1, "at least 0"), (10**6, "at most")],
        },
    ),
    (bianchi.attempt_probability, {"p": 0.1, "w0": 32, "m": 5}, {"p": [(1.1, "at most 1")]}),
    (bianchi.largest_utilization, {"n": 2, "times": FHSS_BASIC}, {"n": [(0, "at least 1")]}),
    (
        SlotTimes, {"slot_s": 20e-6, "success_s": 1e-3, "collision_s": 1e-3, "payload_s": 1e-3},
        {"success_s": [(-1e-3, "greater than 0")]},
    ),
    (
        edca.fixed_point, {"n": 5, "w0": 32, "m": 5, "aifs": 2, "retries": 7},
        {
            "n": [([0, 1], "at least 1")], "w0": [(0, "at least 1")],
            "m": [(2.5, "a whole number")], "retries": [(-1, "at least 0")],
            "aifs": [(-1, "at least 0"), ([0, 1.5], "a whole number")],
        },
    ),
    (edca.zones, {"n": [1, 1], "tau": 0.1, "aifs": 0}, {"tau": [([0.0, 0.1], "greater than 0")]}),
    (
        anomaly,
        {"exchange_s": [1e-3, 2e-3], "count": 1, "frame_bits": 12_272, "cw_min": 31,
         "slot_s": 20e-6, "collision_s": 1e-3},
        {
            "exchange_s": [([1e-3, 0], "greater than 0")], "cw_min": [(0, "at least 1")],
            "count": [([1, 1.5], "a whole number")], "frame_bits": [(-1, "at least 0")],
            "slot_s": [(0, "greater than 0")], "collision_s": [(-1e-3, "at least 0")],
        },
    ),
    (
        tcp_downloads,
        {"n_c": 2, "payload_bits": 8000, "data_s": 1e-3, "tcp_ack_s": 1e-3, "cw_min": 31,
         "slot_s": 20e-6, "d": 1},
        {
            "n_c": [(0, "at least 1"), (1.5, "a whole number")], "d": [(0.5, "at least 1")],
            "payload_bits": [(INFINITE, "finite")], "data_s": [(0, "greater than 0")],
            "tcp_ack_s": [(0, "greater than 0")], "cw_min": [(0.5, "at least 1")],
        },
    ),
    (
        frame_exchange_s,
        {"frame_bits": 12_272, "rate_bps": 1e6, "preamble_s": 192e-6, "ack_bits": 112,
         "ack_rate_bps": 1e6, "sifs_s": 10e-6, "difs_s": 50e-6},
        {
            "frame_bits": [(-1, "at least 0")], "rate_bps": [(0, "greater than 0")],
            "preamble_s": [(-1, "")], "ack_bits": [(-1, "")], "ack_rate_bps": [(0, "")],
            "sifs_s": [(-1, "")], "difs_s": [(-1, "")],
        },
    ),
    (collision_probability, {"n": 2, "cw_min": 31}, {"n": [(0.5, "at least 1")]}),
    (published_exchange_s, {"rate_bps": 1e6}, {"rate_bps": [(0, "greater than 0")]}),
    (
        hidden_pair,
        {"slot_s": 9e-6, "frame_s": 1e-4, "exchange_s": 2e-4, "w0": 16, "m": 6, "retries": 7},
        {"slot_s": [(0.0, "greater than 0")], "frame_s": [(0.0, "")], "exchange_s": [(1e-5, "")],
         "w0": [(1, "")]},
    ),
    (
        maximum_throughput,
        {"payload_bits": 12000, "difs_s": 50e-6, "backoff_s": 310e-6, "exchange_s": 1e-3},
        {
            "payload_bits": [(-8, "at least 0")], "difs_s": [(-1e-6, "at least 0")],
            "backoff_s": [(INFINITE, "finite")], "exchange_s": [(0, "greater than 0")],
        },
    ),
    (mean_backoff_s, {"cw_min": 31, "slot_s": 20e-6}, {"slot_s": [(-20e-6, "at least 0")]}),
    (square_root_window, {"p": 0.1, "increase": 1.0, "decrease": 0.5},
     {"increase": [(0.0, "greater than 0")], "decrease": [(1.0, "at most")]}),
    (average_window, {"p": 0.1, "rtt_s": 0.1, "c": 0.4},
     {"p": [(0.0, ""), (1.1, "")], "rtt_s": [(0.0, "")], "c": [(0.0, "")]}),
    (sent_mpdus, {"most": 1, "window": 64, "error": 0.1},
     {"most": [(0, "")], "window": [(0, ""), (2000, "")], "error": [(1.0, "")]}),
    (station_rate, {"payload_bytes": 1500, "rate_bps": 1e6}, {"rate_bps": [(0.0, "")]}),
    (independent_sets, {"neighbours": [[0]], "busy_s": 1.0, "backoff_s": 1.0},
     {"busy_s": [(0.0, "")]}),
    (share_at_once, {"w0": 16, "d": 2}, {"w0": [(1, "")], "d": [(0.5, "")]}),
    (download, {"data": DATA, "ack": ACK, "w0": 16, "d": 2, "at_once": 0.5},
     {"at_once": [(1.5, "")]}),
    (upload, {"data": DATA, "ack": ACK, "d": 2, "stations": 2}, {"stations": [(0, "")]}),
    (
        limited, {"rho": 0.5, "limit": 3},
        {
            "rho": [(0.0, "greater than 0")],
            "limit": [(0, "at least 1"), (2.5, "a whole number"), (10**6, "at most 100000")],
        },
    ),
    (engset, {"sources": 3, "ratio": 0.5, "limit": 2},
     {"sources": [(0, "at least 1")], "ratio": [(-0.5, "greater than 0")],
      "limit": [(0, "at least 1")]}),
    (engset_distribution, {"sources": 3, "ratio": 0.5}, {"ratio": []}),
    (
        engset_sojourn_tail, {"t_s": 1.0, "sources": 2, "ratio": 1.0},
        {"t_s": [(-1.0, "")], "sources": [(0, "at least 1")], "ratio": [(0.0, "")]},
    ),
    (
        engset_sojourn_quantile,
        {"probability": 0.5, "sources": 2, "ratio": 1.0, "mean_service_s": 1.0},
        {"probability": [(1.0, "less than 1")], "mean_service_s": [(0.0, "")]},
    ),
    (
        sojourn_tail, {"t_s": 1.0, "rho": 0.5, "mean_service_s": 1.0},
        {
            "t_s": [(-1.0, "at least 0"), ([1.0, INFINITE], "finite")],
            "mean_service_s": [(0.0, "greater than 0")],
        },
    ),
    (number_distribution, {"n": 0, "rho": 0.5}, {"n": [(0.5, "a whole number")]}),
    (number_tail, {"n": 0, "rho": 0.5}, {"n": [(-1, "at least 0")]}),
    (mean_sojourn, {"mean_service_s": 1.0, "rho": 0.5}, {"mean_service_s": [(-1.0, "at least 0")]}),
    (conditional_mean_sojourn, {"service_s": 1.0, "rho": 0.5},
     {"service_s": [(-1.0, "at least 0")]}),
]  # fmt: skip


@pytest.mark.parametrize(("function", "good", "bad"), CASES)
def test_an_argument_out_of_range_is_named(
    function: Callable[..., Any], good: dict[str, Any], bad: Bad
) -> None:
    function(**good)
    for name, values in bad.items():
        for value, told in [*values, (NAN, ""), ("ten", "a real number")]:
            with pytest.raises(ValueError, match=re.escape(name)) as wrong:
                function(**(good | {name: value}))
            assert told in str(wrong.value), (name, value)


@pytest.mark.parametrize(
    "function",
    [
        lambda rho: stable_load("rho", rho),
        *(lambda rho, one=one: one(0, rho) for one in (number_distribution, number_tail)),
        *(
            lambda rho, one=one: one(1.0, rho)
            for one in (mean_sojourn, conditional_mean_sojourn, sojourn_tail)
        ),
    ],
)
@pytest.mark.parametrize(
    ("rho", "message"),
    [
        (1.0, r"^rho must be below 1, not 1.0: the system is unstable, .* exceeds .* by 0 %"),
        (1.25, r"^rho must be below 1, not 1.25: the system is unstable, .* by 25 %"),
        ([0.5, 3.0, 2.0], r"^rho must be below 1, not 3.0: the system is unstable, .* by 200 %"),
        (-0.1, r"^rho must be at least 0.0, not -0.1"),
        (NAN, r"^rho must be finite"),
        ("much", r"^rho must be a real number"),
    ],
)
def test_a_load_that_cannot_be_is_named(
    function: Callable[[Any], object], rho: Any, message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        function(rho)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: bianchi.fixed_point([], 32, 5), "^n must not be empty"),
        (lambda: bianchi.fixed_point([1, 2], [16, 32, 64], 5), r"n \(2,\), w0 \(3,\)"),
        (lambda: edca.fixed_point([1, 2], 32, 5, [0, 1, 2]), r"n \(2,\).* aifs \(3,\)"),
        (lambda: anomaly([1e-3, 2e-3], [1, 2, 3], 1, cw_min=1, slot_s=0), "exchange_s .* count"),
        (lambda: contention_time_s([1, 2], [15, 31, 63], 20e-6), "n .* cw_min"),
        (lambda: maximum_throughput([1, 2, 3], 0, 0, [1, 2]), "payload_bits .* exchange_s"),
        (lambda: limited_distribution([0.1, 0.2], [1, 2, 3]), "do not broadcast: rho"),
        (lambda: engset([1, 2], 0.5, [1, 2, 3]), r"do not broadcast: sources \(2,\), limit"),
        (lambda: sojourn_tail([1.0, 2.0], [0.1, 0.2, 0.3]), r"do not broadcast: t_s \(2,\), rho"),
        (lambda: anomaly(1e-3, [0, 0], 1, cw_min=1, slot_s=0), "^count must add up to 1 host"),
        (lambda: anomaly(1e-3, [10**6, 1], 1, cw_min=1, slot_s=0), "^count must add up"),
        (
            lambda: anomaly(1e-3, 1, 1, cw_min=1, slot_s=0, backoff="half"),  # type: ignore[arg-type]
            "^backoff must be one of 'published', 'whole'",
        ),
        (lambda: limited(0.5, 3, speeds=[1, 2]), "^speeds must have one dimension and 3 values"),
        (lambda: limited(0.5, 3, speeds=[[1, 2, 3]]), "^speeds must have one dimension"),
        (lambda: limited(0.5, 2, speeds=[1, 0]), "^speeds must be greater than 0"),
    ],
)
def test_arguments_that_do_not_go_together_are_named(
    call: Callable[[], object], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        call()
