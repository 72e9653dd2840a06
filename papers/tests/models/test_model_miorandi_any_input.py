"""Whatever comes in, paper M's model answers with numbers in range, or says what is wrong."""

import dataclasses
import math
from collections.abc import Callable
from typing import Any

import numpy as np
from airtcp.exceptions import ModelError
from airtcp_papers.miorandi.model import (
    CORRECTED,
    PAPER,
    Parameters,
    Variant,
    contention,
    processor_sharing,
    session_time,
    throughput,
    window_throughput,
)
from hypothesis import given, settings
from hypothesis import strategies as st
from test_model_any_input import ANY, ANY_ARRAY


def in_range(value: Any, low: Any, high: Any) -> bool:
    array = np.asarray(value)
    return bool(np.all((array >= low) & (array <= high)))


VARIANTS = st.builds(
    Variant,
    attempts=st.sampled_from(["renewal", "bianchi-like"]),
    stages=st.sampled_from(["printed", "normalised"]),
    backoff_in_collision=st.booleans(),
    collision_charge=st.sampled_from(["per-node", "once"]),
    single_connection=st.sampled_from(["two-backlogged", "alternating"]),
    setup=st.sampled_from(["printed", "full-exchange"]),
    last_packet=st.sampled_from(["trimmed", "padded"]),
)
TABLE_1 = Parameters.table_1()
PARAMETERS = st.builds(
    lambda w0, doublings, m, rts: dataclasses.replace(
        TABLE_1, w0=w0, w_max=w0 * 2**doublings, m=m, rts_before_data=rts, rts_before_tcp_ack=rts
    ),
    w0=st.integers(1, 200),
    doublings=st.integers(0, 8),
    m=st.integers(1, 20),
    rts=st.booleans(),
)


@settings(deadline=None)
@given(n_b=ANY_ARRAY, parameters=PARAMETERS, variant=VARIANTS)
def test_contention(n_b: Any, parameters: Parameters, variant: Variant) -> None:
    try:
        result = contention(n_b, parameters, variant)
    except (ValueError, ModelError):
        return
    assert in_range(result.p_c, 0, 1)
    assert in_range(result.p_drop, 0, 1)
    for time in (result.t_b_s, result.t_coll_s, result.t_w_s, result.t_tbo_s):
        assert in_range(time, 0, math.inf)


@settings(deadline=None)
@given(n_c=ANY_ARRAY, d=ANY, parameters=PARAMETERS, variant=VARIANTS)
def test_throughput(n_c: Any, d: Any, parameters: Parameters, variant: Variant) -> None:
    most = parameters.tcp_payload_bits / parameters.t_tcp_data_s
    try:
        result = throughput(n_c, parameters, variant, d=d)
    except (ValueError, ModelError):
        return
    assert in_range(result.goodput_bps, 0, most)
    assert in_range(result.flow_goodput_bps, 0, result.goodput_bps)
    assert in_range(result.collision_probability, 0, 1)


@settings(deadline=None)
@given(stations=ANY_ARRAY, think=ANY_ARRAY, size=ANY, capacities=st.lists(ANY, max_size=5))
def test_processor_sharing(stations: Any, think: Any, size: Any, capacities: Any) -> None:
    try:
        result = processor_sharing(stations, capacities, think, size)
    except (ValueError, ModelError):
        return
    assert in_range(result.mean_active, 0, result.stations)
    assert in_range(result.transfer_s, 0, math.inf)
    assert in_range(result.goodput_bps, 0, max(capacities) * (1 + 1e-9))


@settings(deadline=None)
@given(size=ANY_ARRAY, window=ANY_ARRAY)
def test_times_and_windows(size: Any, window: Any) -> None:
    answers: list[Callable[[], Any]] = [
        lambda: session_time(size, TABLE_1, PAPER),
        lambda: window_throughput(window, TABLE_1, CORRECTED),
    ]
    for answer in answers:
        try:
            value = answer()
        except ValueError:
            continue
        assert in_range(value, 0, math.inf)
