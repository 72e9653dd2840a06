"""What is said while a testbed runs, and of what came out; nothing is run here."""

from typing import Any

import pytest
from airtcp.cli.testbed import what_goes_on
from airtcp.present.testbed import lateness
from airtcp.results.testbed import Lag

BEFORE: dict[str, Any] = {"elapsed_s": 1.0, "payload_bytes": [250_000, 0]}
NOW: dict[str, Any] = {
    "elapsed_s": 1.5,
    "payload_bytes": [500_000, 62_500],
    "ap_queue_packets": 12,
    "ap_mpdus_per_ppdu": None,
    "collisions": 7,
    "lag_p99_s": 83e-6,
}


def test_rates_are_of_the_time_since_the_last_look() -> None:
    """250,000 bytes in half a second are 4 Mb/s, 62,500 are 1 Mb/s."""
    assert what_goes_on(["download", "upload"], NOW, BEFORE) == (
        "download 4.00, upload 1.00 Mb/s, lag p99 83 us, AP queue 12, 7 collisions"
    )


def test_one_entry_or_many_have_no_names() -> None:
    one = NOW | {"payload_bytes": [500_000]}
    assert what_goes_on(["web"], one, BEFORE | {"payload_bytes": [250_000]}).startswith("4.00 Mb/s")

    many = {"payload_bytes": [62_500] * 4}
    said = what_goes_on(list("abcd"), NOW | many, BEFORE | {"payload_bytes": [0] * 4})
    assert said.startswith("4.00 Mb/s, lag p99")


def test_frames_at_once_are_told_where_frames_are_aggregated() -> None:
    said = what_goes_on(["down", "up"], NOW | {"ap_mpdus_per_ppdu": 30.96}, BEFORE)

    assert ", 31.0 frames at once, " in said


@pytest.mark.parametrize(
    ("real_time", "end"), [(True, ""), (False, "; without real-time priority")]
)
def test_lateness_has_half_nearly_all_and_the_latest(real_time: bool, end: str) -> None:
    lag = Lag(1000, 4e-6, 83e-6, 2.5e-3, 500e-6, 0.0032, real_time, 0, 0)

    assert lateness(lag) == (
        "99 % of 1000 packets are at most 83 us late, half at most 4.0 us, the maximum is 2.5 ms; "
        "0.32 % are later than 500 us" + end
    )
