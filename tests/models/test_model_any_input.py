"""For any input a model returns numbers in range or raises a clear error; never NaN."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from airtcp.exceptions import ModelError
from airtcp.models import bianchi, edca
from airtcp.models.bianchi import SlotTimes
from airtcp.models.heusse import tcp_downloads
from airtcp.models.max_throughput import maximum_throughput
from hypothesis import given
from hypothesis import strategies as st

NUMBERS = st.sampled_from([0, 1, 2, 1e-300, 1e300, -0.0])
ANY = st.one_of(st.floats(), st.floats(0.0, 100.0), st.integers(-3, 300), NUMBERS)
ANY_ARRAY = st.one_of(ANY, st.lists(ANY, max_size=4))
TIMES = SlotTimes(20e-6, 2e-3, 1e-3, 1e-3)

#: Values that must lie between 0 and 1.
Shares = list[Any]


def of_bianchi(n: Any, w0: Any, m: Any, retries: Any, *_: Any) -> Shares:
    point = bianchi.fixed_point(n, w0, m, retries)
    most = bianchi.largest_utilization(1, TIMES) * (1 + 1e-12)
    return [point.p, point.tau, point.drop, bianchi.saturation(point, TIMES).utilization / most]


def of_edca(n: Any, w0: Any, m: Any, retries: Any, aifs: Any, *_: Any) -> Shares:
    point = edca.fixed_point(n, w0, m, aifs, retries)
    z = point.zones
    shares = (point.p, point.tau, point.drop, z.share, z.success, z.idle, z.collision)
    return [np.asarray(share) / (1 + 1e-12) for share in shares]


def of_a_lone_sender(_: Any, *times: Any) -> Shares:
    assert np.all(maximum_throughput(*times[:4]) >= 0.0)
    return []


def of_downloads(n_c: Any, bits: Any, data: Any, ack: Any, window: Any, slot: Any) -> Shares:
    found = tcp_downloads(n_c, bits, data_s=data, tcp_ack_s=ack, cw_min=window, slot_s=slot, d=2)
    assert np.all((found.goodput_bps >= 0) & (found.goodput_bps <= bits / data * (1 + 1e-12)))
    assert np.all(found.collision_s >= found.contention_s)
    return [found.p_c]


@pytest.mark.parametrize("model", [of_bianchi, of_edca, of_a_lone_sender, of_downloads])
@given(first=ANY_ARRAY, others=st.tuples(ANY, ANY, st.none() | ANY, ANY_ARRAY, ANY))
def test_any_input_gives_numbers_in_range_or_an_error(
    model: Callable[..., Shares], first: Any, others: tuple[Any, ...]
) -> None:
    try:
        shares = model(first, *others)
    except (ValueError, ModelError):
        return
    for share in shares:
        assert np.all((np.asarray(share) >= 0.0) & (np.asarray(share) <= 1.0))
