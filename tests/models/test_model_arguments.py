"""Arguments out of range: each model names the argument, and all messages have the same form."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from airtcp.models import (
    airtime_fairness,
    ampdu,
    bianchi,
    cells,
    cubic,
    edca,
    heusse,
    hidden,
    replies,
)
from airtcp.models import max_throughput as lone
from airtcp.models import processor_sharing as sharing
from airtcp.models.bianchi import FHSS_BASIC, SlotTimes

#: 802.11a at 54 Mb/s, a segment and its ACK.
DATA, ACK = SlotTimes(9e-6, 326e-6, 282e-6, 1e-4), SlotTimes(9e-6, 114e-6, 70e-6, 1e-4)
NAN, INFINITE = float("nan"), float("inf")
WINDOWS = {"w0": 32, "m": 5, "retries": 7}
BAD_WINDOWS: dict[str, list[Any]] = {"w0": [0], "m": [-1, 2.5, 61], "retries": [-1, 10**6]}
TIMES = {"slot_s": 20e-6, "success_s": 1e-3, "collision_s": 1e-3, "payload_s": 1e-3}
SHARED = {"exchange_s": [1e-3, 2e-3], "count": 1, "frame_bits": 12_272, "cw_min": 31}
DOWNLOADS = {"n_c": 2, "payload_bits": 8000, "data_s": 1e-3, "tcp_ack_s": 1e-3, "d": 1}
FRAME = {"frame_bits": 12_272, "rate_bps": 1e6, "preamble_s": 192e-6, "ack_bits": 112}
FRAME |= {"ack_rate_bps": 1e6, "sifs_s": 10e-6, "difs_s": 50e-6}
BAD_FRAME = {key: [0 if "rate" in key else -1] for key in FRAME}
HIDDEN = {"slot_s": 9e-6, "frame_s": 1e-4, "exchange_s": 2e-4, "w0": 16, "m": 6, "retries": 7}
ALONE = {"payload_bits": 12000, "difs_s": 50e-6, "backoff_s": 310e-6, "exchange_s": 1e-3}
FOUND = {"probability": 0.5, "sources": 2, "ratio": 1.0, "mean_service_s": 1.0}

#: A function, valid arguments, and for some arguments the values that it rejects.
CASES: list[tuple[Callable[..., Any], dict[str, Any], dict[str, list[Any]]]] = [
    (bianchi.fixed_point, {"n": 5, **WINDOWS}, {"n": [0, INFINITE, True], **BAD_WINDOWS}),
    (bianchi.attempt_probability, {"p": 0.1, "w0": 32, "m": 5}, {"p": [1.1]}),
    (bianchi.largest_utilization, {"n": 2, "times": FHSS_BASIC}, {"n": [0]}),
    (SlotTimes, TIMES, {"success_s": [-1e-3]}),
    (edca.fixed_point, {"n": 5, "aifs": 2, **WINDOWS},
     {"n": [[0, 1]], "aifs": [-1, [0, 1.5]], **BAD_WINDOWS}),
    (edca.zones, {"n": [1, 1], "tau": 0.1, "aifs": 0}, {"tau": [[0.0, 0.1]]}),
    (heusse.anomaly, {**SHARED, "slot_s": 20e-6, "collision_s": 1e-3},
     {"exchange_s": [[1e-3, 0]], "count": [[1, 1.5]], "frame_bits": [-1], "cw_min": [0],
      "slot_s": [0], "collision_s": [-1e-3]}),
    (heusse.tcp_downloads, {**DOWNLOADS, "cw_min": 31, "slot_s": 20e-6},
     {"n_c": [0, 1.5], "payload_bits": [INFINITE], "d": [0.5], "data_s": [0], "tcp_ack_s": [0],
      "cw_min": [0.5]}),
    (heusse.frame_exchange_s, FRAME, BAD_FRAME),
    (heusse.collision_probability, {"n": 2, "cw_min": 31}, {"n": [0.5]}),
    (heusse.published_exchange_s, {"rate_bps": 1e6}, {"rate_bps": [0]}),
    (hidden.hidden_pair, HIDDEN,
     {"slot_s": [0.0], "frame_s": [0.0], "exchange_s": [1e-5], "w0": [1]}),
    (lone.maximum_throughput, ALONE,
     {"payload_bits": [-8], "difs_s": [-1e-6], "backoff_s": [INFINITE], "exchange_s": [0]}),
    (lone.mean_backoff_s, {"cw_min": 31, "slot_s": 20e-6}, {"slot_s": [-20e-6]}),
    (cubic.square_root_window, {"p": 0.1, "increase": 1.0, "decrease": 0.5},
     {"increase": [0.0], "decrease": [1.0]}),
    (cubic.average_window, {"p": 0.1, "rtt_s": 0.1, "c": 0.4},
     {"p": [0.0, 1.1], "rtt_s": [0.0], "c": [0.0]}),
    (ampdu.sent_mpdus, {"most": 1, "window": 64, "error": 0.1},
     {"most": [0], "window": [0, 2000], "error": [1.0]}),
    (airtime_fairness.station_rate, {"payload_bytes": 1500, "rate_bps": 1e6}, {"rate_bps": [0.0]}),
    (cells.independent_sets, {"neighbours": [[0]], "busy_s": 1.0, "backoff_s": 1.0},
     {"busy_s": [0.0]}),
    (replies.share_at_once, {"w0": 16, "d": 2}, {"w0": [1], "d": [0.5]}),
    (replies.download, {"data": DATA, "ack": ACK, "w0": 16, "d": 2, "at_once": 0.5},
     {"at_once": [1.5]}),
    (replies.upload, {"data": DATA, "ack": ACK, "d": 2, "stations": 2}, {"stations": [0]}),
    (sharing.limited, {"rho": 0.5, "limit": 3}, {"rho": [0.0], "limit": [0, 2.5, 10**6]}),
    (sharing.engset, {"sources": 3, "ratio": 0.5, "limit": 2},
     {"sources": [0], "ratio": [-0.5], "limit": [0]}),
    (sharing.engset_distribution, {"sources": 3, "ratio": 0.5}, {"ratio": [0.0]}),
    (sharing.engset_sojourn_tail, {"t_s": 1.0, "sources": 2, "ratio": 1.0},
     {"t_s": [-1.0], "sources": [0], "ratio": [0.0]}),
    (sharing.engset_sojourn_quantile, FOUND, {"probability": [1.0], "mean_service_s": [0.0]}),
    (sharing.sojourn_tail, {"t_s": 1.0, "rho": 0.5, "mean_service_s": 1.0},
     {"t_s": [-1.0, [1.0, INFINITE]], "mean_service_s": [0.0]}),
    (sharing.number_distribution, {"n": 0, "rho": 0.5}, {"n": [0.5]}),
    (sharing.number_tail, {"n": 0, "rho": 0.5}, {"n": [-1]}),
    (sharing.mean_sojourn, {"mean_service_s": 1.0, "rho": 0.5}, {"mean_service_s": [-1.0]}),
    (sharing.conditional_mean_sojourn, {"service_s": 1.0, "rho": 0.5}, {"service_s": [-1.0]}),
]  # fmt: skip


@pytest.mark.parametrize(("function", "good", "bad"), CASES)
def test_an_argument_out_of_range_is_named(
    function: Callable[..., Any], good: dict[str, Any], bad: dict[str, list[Any]]
) -> None:
    function(**good)
    for name, values in bad.items():
        for value in [*values, NAN, "ten"]:
            with pytest.raises(ValueError, match=re.escape(name)):
                function(**(good | {name: value}))


@pytest.mark.parametrize(
    ("rho", "message"),
    [
        (1.0, r"^rho must be below 1, not 1.0: the system is unstable, .* exceeds .* by 0 %"),
        ([0.5, 3.0, 2.0], r"^rho must be below 1, not 3.0: the system is unstable, .* by 200 %"),
        (-0.1, r"^rho must be at least 0.0, not -0.1"),
        (NAN, r"^rho must be finite"),
        ("much", r"^rho must be a real number"),
    ],
)
def test_a_load_that_cannot_be_is_named(rho: Any, message: str) -> None:
    for of in (sharing.number_distribution, sharing.number_tail, sharing.mean_sojourn):
        with pytest.raises(ValueError, match=message):
            of(1, rho)
    for of_time in (sharing.conditional_mean_sojourn, sharing.sojourn_tail):
        with pytest.raises(ValueError, match=message):
            of_time(1.0, rho)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: bianchi.fixed_point([2, -3], 32, 5), "^n must be at least 1.0, not -3"),
        (lambda: bianchi.fixed_point(5, 32, 2.5), "^m must be a whole number, not 2.5"),
        (lambda: bianchi.fixed_point(5, 32, 61), "^m must be at most 60.0, not 61"),
        (lambda: lone.maximum_throughput(1, 0, 0, 0), "^exchange_s must be greater than 0"),
        (lambda: bianchi.fixed_point([], 32, 5), "^n must not be empty"),
        (lambda: airtime_fairness.shares(1.0, 1.0, 1.0, "turns"), "^sharing must be one of"),  # type: ignore[arg-type]
        (lambda: bianchi.fixed_point([1, 2], [16, 32, 64], 5), r"n \(2,\), w0 \(3,\)"),
        (lambda: edca.fixed_point([1, 2], 32, 5, [0, 1, 2]), r"n \(2,\).* aifs \(3,\)"),
        (lambda: heusse.contention_time_s([1, 2], [15, 31, 63], 20e-6), "n .* cw_min"),
        (lambda: lone.maximum_throughput([1, 2, 3], 0, 0, [1, 2]), "payload_bits .* exchange_s"),
        (lambda: sharing.limited_distribution([0.1, 0.2], [1, 2, 3]), "not broadcast: rho"),
        (lambda: sharing.engset([1, 2], 0.5, [1, 2, 3]), r"sources \(2,\), limit"),
        (lambda: sharing.sojourn_tail([1.0, 2.0], [0.1, 0.2, 0.3]), r"t_s \(2,\), rho"),
        (
            lambda: heusse.anomaly([1e-3, 2e-3], [1, 2, 3], 1, cw_min=1, slot_s=0),
            "exchange_s .* count",
        ),
        *(
            (
                lambda counts=counts: heusse.anomaly(1e-3, counts, 1, cw_min=1, slot_s=0),
                "^count must add up to 1 host",
            )
            for counts in ([0, 0], [10**6, 1])
        ),
        (
            lambda: heusse.anomaly(1e-3, 1, 1, cw_min=1, slot_s=0, backoff="half"),  # type: ignore[arg-type]
            "^backoff must be one of 'published', 'whole'",
        ),
        (lambda: sharing.limited(0.5, 3, speeds=[1, 2]), "^speeds must have one dimension and 3"),
        (lambda: sharing.limited(0.5, 3, speeds=[[1, 2, 3]]), "^speeds must have one dimension"),
        (lambda: sharing.limited(0.5, 2, speeds=[1, 0]), "^speeds must be greater than 0"),
    ],
)
def test_what_is_wrong_with_arguments_is_said(call: Callable[[], object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()
