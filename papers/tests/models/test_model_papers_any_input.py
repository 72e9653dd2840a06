"""For any input a paper's model returns numbers in range, or raises a clear error."""

import dataclasses
import math
from collections.abc import Callable, Iterator
from typing import Any, get_args, get_type_hints

import numpy as np
import pytest
from airtcp.exceptions import ModelError
from airtcp_papers.bruno import model as bruno
from airtcp_papers.gopal import model as gopal
from airtcp_papers.leith import aimd
from airtcp_papers.leith import model as leith
from airtcp_papers.miorandi import model as miorandi
from hypothesis import given, settings
from hypothesis import strategies as st
from test_model_any_input import ANY, ANY_ARRAY

TABLE_1 = miorandi.Parameters.table_1()
FIGURES = leith.Parameters.of_figures()
PARAMETERS = st.builds(
    lambda w0, doublings, m, rts: dataclasses.replace(
        TABLE_1, w0=w0, w_max=w0 * 2**doublings, m=m, rts_before_data=rts, rts_before_tcp_ack=rts
    ),
    w0=st.integers(1, 200),
    doublings=st.integers(0, 8),
    m=st.integers(1, 20),
    rts=st.booleans(),
)
#: Draws from a strategy.
Draw = Callable[[Any], Any]
#: A value, and its minimum and maximum.
Ranges = Iterator[tuple[Any, Any, Any]]


def variants(variant: type[Any]) -> Any:
    """Draw any reading of a paper: each field is a flag, or has one of its type's values."""
    return st.builds(
        variant,
        **{
            name: st.booleans() if hint is bool else st.sampled_from(get_args(hint))
            for name, hint in get_type_hints(variant).items()
        },
    )


OF_M, OF_L = variants(miorandi.Variant), variants(leith.Variant)


def of_contention(draw: Draw) -> Ranges:
    found = miorandi.contention(draw(ANY_ARRAY), draw(PARAMETERS), draw(OF_M))
    yield from ((share, 0, 1) for share in (found.p_c, found.p_drop))
    for time in (found.t_b_s, found.t_coll_s, found.t_w_s, found.t_tbo_s):
        yield time, 0, math.inf


def of_throughput(draw: Draw) -> Ranges:
    parameters = draw(PARAMETERS)
    found = miorandi.throughput(draw(ANY_ARRAY), parameters, draw(OF_M), d=draw(ANY))
    yield found.goodput_bps, 0, parameters.tcp_payload_bits / parameters.t_tcp_data_s
    yield found.flow_goodput_bps, 0, found.goodput_bps
    yield found.collision_probability, 0, 1


def of_sharing(draw: Draw) -> Ranges:
    capacities = draw(st.lists(ANY, max_size=5))
    found = miorandi.processor_sharing(draw(ANY_ARRAY), capacities, draw(ANY_ARRAY), draw(ANY))
    yield found.mean_active, 0, found.stations
    yield found.transfer_s, 0, math.inf
    yield found.goodput_bps, 0, max(capacities) * (1 + 1e-9)


def of_sessions(draw: Draw) -> Ranges:
    yield miorandi.session_time(draw(ANY_ARRAY), TABLE_1), 0, math.inf


def of_windows(draw: Draw) -> Ranges:
    goodput = miorandi.window_throughput(draw(ANY_ARRAY), TABLE_1, miorandi.CORRECTED)
    yield goodput, 0, math.inf


def of_slots(draw: Draw) -> Ranges:
    w, m = draw(ANY_ARRAY), draw(ANY_ARRAY)
    overheads = bruno.Overheads(draw(ANY), draw(ANY), draw(ANY))
    slots = bruno.expected_slots(w, m)
    total = slots.idle + slots.success + slots.collision
    yield total / slots.w, 1 - 1e-9, 1 + 1e-9
    yield from ((kind, 0, math.inf) for kind in (slots.idle, slots.success, slots.collision))
    yield bruno.success_rate(w, m, overheads), 0, 1 / overheads.success_s * (1 + 1e-12)
    yield bruno.best_stations(w, overheads), 1, w


def of_lemma(draw: Draw) -> Ranges:
    w, m = draw(st.integers(-1, 100)), draw(st.integers(-1, 100))
    slots = bruno.lemma_1(w, m)
    yield (slots.idle + slots.success + slots.collision) / w, 1 - 1e-12, 1 + 1e-12
    yield slots.success @ np.ones(m + 1), 0, m * (m + 1) / 2
    yield bruno.attempt_distribution(w, m).sum(), 1 - 1e-12, 1 + 1e-12


def of_simultaneous_sends(draw: Draw) -> Ranges:
    found = gopal.simultaneous_send(draw(ANY_ARRAY), draw(ANY_ARRAY))
    yield found.next_transmission, 0, found.any_two + 1e-14
    yield found.any_two, 0, 1


def of_uploads(draw: Draw) -> Ranges:
    given = draw(ANY), draw(ANY), draw(ANY), draw(ANY)
    variant, d = draw(OF_L), draw(ANY)
    state = leith.contention(*given, variant, d=d)
    for name in (one.name for one in dataclasses.fields(state) if one.name != "n"):
        yield getattr(state, name), 0, 1 + 1e-12
    found = leith.throughput(*given, FIGURES, variant, d=d)
    yield found.utilization, 0, FIGURES.payload_s / FIGURES.t_s1_s
    yield found.slot_s, 0, 1e300


def of_flows(draw: Draw) -> Ranges:
    flow = st.one_of(ANY, st.lists(ANY, min_size=2, max_size=3))
    alpha, beta, loss = (draw(flow) for _ in range(3))
    yield aimd.aimd_matrix(alpha, beta, loss), 0, 1 + 1e-12
    yield aimd.peak_windows(alpha, beta, loss), 0, 1 + 1e-12
    yield aimd.wired_shares(alpha, beta, draw(flow), loss).flow_share, 0, 1 + 1e-12


def of_epochs(draw: Draw) -> Ranges:
    flow = st.one_of(ANY, st.lists(ANY, min_size=2, max_size=3))
    given, weight = [draw(flow) for _ in range(3)], draw(flow)
    yield aimd.second_eigenvalue(*given, weight=weight), 0, 1
    yield aimd.convergence_epochs(*given, weight=weight), 0, math.inf


MODELS = (
    *(of_contention, of_throughput, of_sharing, of_sessions, of_windows),
    *(of_slots, of_lemma, of_simultaneous_sends, of_uploads, of_flows, of_epochs),
)


@pytest.mark.parametrize("model", MODELS)
@settings(deadline=None)
@given(data=st.data())
def test_any_input_gives_numbers_in_range_or_an_error(
    model: Callable[[Draw], Ranges], data: st.DataObject
) -> None:
    ranges = model(data.draw)
    while True:
        try:
            value, low, high = next(ranges)
        except (StopIteration, ValueError, ModelError):
            return
        assert np.all((np.asarray(value) >= low) & (np.asarray(value) <= high))
