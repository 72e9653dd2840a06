"""Whatever comes in, a model answers with numbers in range, or says what is wrong; never NaN."""

import math
from typing import Any

import numpy as np
from airtcp.exceptions import ModelError
from airtcp.models.bianchi import SlotTimes, fixed_point, largest_utilization, saturation
from airtcp.models.max_throughput import maximum_throughput
from hypothesis import given, settings
from hypothesis import strategies as st

ANY = st.one_of(
    st.floats(),
    st.floats(0.0, 100.0),
    st.integers(-3, 300),
    st.sampled_from([0, 1, 2, 1e-300, 1e300, -0.0]),
)
ANY_ARRAY = st.one_of(ANY, st.lists(ANY, max_size=4))


def in_range(value: Any, low: Any, high: Any) -> bool:
    array = np.asarray(value)
    return bool(np.all((array >= low) & (array <= high)))


@settings(deadline=None)
@given(n=ANY_ARRAY, w0=ANY, m=ANY, retries=st.one_of(st.none(), ANY))
def test_bianchi(n: Any, w0: Any, m: Any, retries: Any) -> None:
    times = SlotTimes(20e-6, 2e-3, 1e-3, 1e-3)
    try:
        point = fixed_point(n, w0, m, retries)
        result = saturation(point, times)
    except (ValueError, ModelError):
        return
    assert in_range(point.p, 0, 1)
    assert in_range(point.tau, 0, 1)
    assert in_range(point.drop, 0, 1)
    assert in_range(result.utilization, 0, largest_utilization(1, times) * (1 + 1e-12))


@settings(deadline=None)
@given(times=st.tuples(ANY, ANY, ANY, ANY))
def test_a_lone_sender(times: Any) -> None:
    try:
        value = maximum_throughput(*times)
    except ValueError:
        return
    assert in_range(value, 0, math.inf)
