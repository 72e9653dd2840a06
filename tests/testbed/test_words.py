"""Texts of a testbed while it runs and of its results; no testbed runs here."""

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


@pytest.mark.parametrize(
    ("names", "now", "before", "said"),
    [
        # 250,000 bytes in half a second are 4 Mb/s, 62,500 are 1 Mb/s.
        (
            ["download", "upload"],
            {},
            [250_000, 0],
            "download 4.00, upload 1.00 Mb/s, lag p99 83 us, AP queue 12, 7 collisions",
        ),
        # With one entry, or with many, names are left out.
        (["web"], {"payload_bytes": [500_000]}, [250_000], "4.00 Mb/s, lag p99 83 us, AP"),
        ([*"abcd"], {"payload_bytes": [62_500] * 4}, [0] * 4, "4.00 Mb/s, lag p99 83 us, AP"),
        (["a", "b"], {"ap_mpdus_per_ppdu": 30.96}, [250_000, 0], ", 31.0 frames at once, "),
    ],
)
def test_rates_are_of_the_time_since_the_last_look(
    names: list[str], now: dict[str, Any], before: list[int], said: str
) -> None:
    told = what_goes_on(names, NOW | now, BEFORE | {"payload_bytes": before})
    assert said in told
    assert told.startswith(said) or "frames" in said


@pytest.mark.parametrize(
    ("real_time", "end"), [(True, ""), (False, "; without real-time priority")]
)
def test_lateness_has_half_nearly_all_and_the_latest(real_time: bool, end: str) -> None:
    lag = Lag(1000, 4e-6, 83e-6, 2.5e-3, 500e-6, 0.0032, real_time, 0, 0)

    assert lateness(lag) == (
        "99 % of 1000 packets are at most 83 us late, half at most 4.0 us, the maximum is 2.5 ms; "
        "0.32 % are later than 500 us" + end
    )
