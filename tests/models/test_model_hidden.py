"""Two hidden stations: rows of ns-3 and of the second simulator, and limits."""

import pytest
from airtcp.models.hidden import hidden_pair

SLOT_S = 9e-6


@pytest.mark.slow
@pytest.mark.parametrize(
    ("payload_bytes", "frame_s", "theirs_bps", "failed"),
    [
        # 802.11a at 54 Mb/s, 1472 and 500 bytes in frames of 248 and 104 us; ns-3 has 23.5 Mb/s.
        (1472, 248e-6, 23.48e6, 0.286),
        (500, 104e-6, 14.18e6, 0.174),
    ],
)
def test_the_second_witness_is_met(
    payload_bytes: int, frame_s: float, theirs_bps: float, failed: float
) -> None:
    pair = hidden_pair(
        slot_s=SLOT_S, frame_s=frame_s, exchange_s=frame_s + 78e-6, w0=16, m=6, retries=7
    )
    # A frame of 27.6 slots is vulnerable for 28 slots, one of 11.6 for 12.
    assert pair.successes_per_s * 8 * payload_bytes == pytest.approx(theirs_bps, rel=0.03)
    assert pair.failed == pytest.approx(failed, abs=0.02)
    # Attempts and failures: a dropped frame has failed eight times.
    attempts = pair.successes_per_s / (1.0 - pair.failed)
    assert 0.0 < 8 * pair.drops_per_s < pair.failed * attempts
