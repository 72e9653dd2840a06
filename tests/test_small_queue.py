"""Small queues (TSQ): the queue that an upload has in its station, computed by hand."""

from __future__ import annotations

from typing import Any

import airtcp
import pytest
from airtcp.scenario import loads
from bases import cell


def metrics(standard: str, small: bool, direction: str = "upload") -> dict[str, float]:
    tcp = 'variant = "sack", receive_window = "1 MiB", initial_ssthresh = "16 kB", '
    tcp += f"small_queue = {str(small).lower()}"
    flow = f'path = [{{ rate = "1 Gb/s", delay = "5 ms" }}]\ntcp = {{ {tcp} }}'
    run: dict[str, Any] = {"warmup": "8 s", "duration": "4 s", "replications": 1, "seed": 1}
    text = cell(standard=standard, name="sta", direction=direction, flow=flow, **run)
    return dict(airtcp.simulate(loads(text), threads=1).simulation.runs[0].answer["metrics"])


def test_of_an_upload_eight_milliseconds_wait_and_not_its_window() -> None:
    """TSQ lets 2^-7 s at the pacing rate wait, and pacing is at 1.2 times the throughput: 9.4 ms.
    With 10 ms of link delay and a few frames in flight that is a round trip of 19 to 24 ms, at the
    same goodput. Without TSQ, the window and the round trip keep growing.
    """
    usual, small = metrics("802.11g", small=False), metrics("802.11g", small=True)
    assert usual["goodput_bps"] > 20e6
    assert small["goodput_bps"] == pytest.approx(usual["goodput_bps"], rel=0.03)
    assert usual["rtt_s"] > 0.06
    assert 0.019 < small["rtt_s"] < 0.024


def test_downloads_are_as_they_were() -> None:
    assert metrics("802.11g", small=True, direction="download") == metrics(
        "802.11g", small=False, direction="download"
    )


def test_where_frames_are_aggregated_enough_waits_for_them() -> None:
    usual, small = metrics("802.11n", small=False), metrics("802.11n", small=True)
    assert small["goodput_bps"] > 0.98 * usual["goodput_bps"]
    assert small["rtt_s"] < 0.75 * usual["rtt_s"]
