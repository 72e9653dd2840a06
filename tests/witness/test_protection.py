"""802.11g next to 802.11b stations, by hand: protection, the long slot, CWmin."""

from __future__ import annotations

import math

import pytest
from airtcp import simulate
from airtcp.scenario import loads

TEXT = """
[phy]
standard = "802.11g"
{phy}
[[stations]]
name = "new"
count = 1
[[stations]]
name = "old"
count = 1
data_rate = "11 Mb/s"
[[flows]]
stations = "{sender}"
direction = "upload"
application = {{ kind = "udp", packet = "1500 B", rate = "saturated" }}
[run]
warmup = "1 s"
duration = "60 s"
replications = 4
seed = 1
"""

#: 1536 bytes at 54 Mb/s with signal extension, their ACK at 24 Mb/s; a CTS and an RTS at
#: 2 Mb/s with the long preamble. All in us.
SIFS, SLOT, DATA, ACK = 10, 20, 20 + 4 * 57 + 6, 20 + 4 * 2 + 6
CTS, RTS = 192 + 112 / 2, 192 + 160 / 2
DIFS = SIFS + 2 * SLOT
BEFORE = {"cts-to-self": CTS + SIFS, "rts-cts": RTS + SIFS + CTS + SIFS, "none": 0}


@pytest.mark.parametrize("protection", list(BEFORE))
def test_a_lone_802_11g_sender(protection: str) -> None:
    cycle_us = DIFS + 7.5 * SLOT + BEFORE[protection] + DATA + SIFS + ACK

    phy = f'protection = "{protection}"'
    found = simulate(loads(TEXT.format(phy=phy, sender="new"))).metrics["goodput_bps"]

    # The mean of 300,000 backoffs of 0 to 15 slots has a standard deviation of 0.17 us.
    assert found.mean == pytest.approx(1472 * 8e6 / cycle_us, rel=0.001)


def test_an_a_mpdu_of_802_11n_beside_802_11b() -> None:
    """Stations of 802.11n, g and b: 31 MPDUs of 802.11n within 5.484 ms, after one CTS-to-self.

    1544 bytes for each MPDU with delimiter and padding, 1542 for the last: 47,862 bytes in 1473
    symbols of 260 bits and 3.6 us, rounded up to symbols of 4 us, after 36 us of preamble.
    """
    text = TEXT.format(phy='band = "2.4 GHz"', sender="new").replace("802.11g", "802.11n")
    old = 'name = "{}"\ncount = 1\nstandard = "802.11{}"\n'
    both = old.format("old", "b") + "[[stations]]\n" + old.format("middle", "g")
    mixed = text.replace('name = "old"\ncount = 1\ndata_rate = "11 Mb/s"\n', both)
    symbols = math.ceil((16 + 6 + 8 * 47_862) / 260)
    ppdu = 36 + 4 * math.ceil(symbols * 3.6 / 4) + 6
    block_ack = 20 + 4 * math.ceil((22 + 8 * 32) / 96) + 6
    aifs = SIFS + 3 * SLOT
    cycle_us = aifs + 7.5 * SLOT + CTS + SIFS + ppdu + SIFS + block_ack

    found = simulate(loads(mixed)).metrics["goodput_bps"]

    # The mean of 40,000 backoffs has a standard deviation of 0.5 us, 1e-4 of a cycle.
    assert found.mean == pytest.approx(31 * 1472 * 8e6 / cycle_us, rel=0.001)


def test_cts_to_self_and_the_long_slot_are_the_default() -> None:
    written = 'protection = "cts-to-self"\nslot_time = "20 us"'
    plain = TEXT.format(phy="", sender="new")

    assert loads(plain).phy == loads(TEXT.format(phy=written, sender="new")).phy
    # Without 802.11b stations nothing changes.
    alone = loads(plain.replace('data_rate = "11 Mb/s"', "")).phy
    assert (alone.protection, alone.slot_time_ns) == (None, 9_000)


def test_an_802_11b_sender_has_its_own_window() -> None:
    """11 Mb/s: 1310 us and an ACK of 248 us at 2 Mb/s; a mean backoff of 15.5 slots."""
    cycle_us = DIFS + 15.5 * SLOT + 1310 + SIFS + 248

    found = simulate(loads(TEXT.format(phy="", sender="old"))).metrics["goodput_bps"]

    assert found.mean == pytest.approx(1472 * 8e6 / cycle_us, rel=0.001)
