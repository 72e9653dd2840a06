"""Settings that `predict` recommends: paper B's m* and paper L's best CWmin."""

import numpy as np
import pytest
from airtcp.predict import predict
from airtcp.results import Prediction
from airtcp.scenario import ResolvedScenario, loads
from airtcp_papers.bruno.model import Overheads, success_rate
from bases import BULK, cell, reading
from test_predict_endless import priority

#: The cell of paper B: 34 bytes of MAC header, MAC ACK at 2 Mb/s, no rounding to microseconds.
HOT_SPOT = """\
data_rate = "11 Mb/s"
control_rate = "2 Mb/s"
mac_header_bits = 272
llc_bits = 0
propagation_delay = "0 us"
symbol_rounding = false
"""
WEB = reading("30 kB", "10 s")


def hot_spot(
    access: str = '{ scheme = "adaptive-burst" }',
    *,
    count: int = 20,
    application: str = BULK,
    mac: str = "",
) -> ResolvedScenario:
    return loads(
        cell(
            count,
            phy=HOT_SPOT + mac,
            tables=f"[ap]\naccess = {access}",
            name="sta",
            application=application,
            warmup="1 s",
            duration="5 s",
        )
    )


def uploads(count: int, mac: str) -> ResolvedScenario:
    run = {"warmup": "1 s", "duration": "5 s"}
    return loads(cell(count, tables=mac, name="sta", direction="upload", **run))


def told(said: Prediction, metric: str) -> dict[str, float]:
    return {one.source: one.value for one in said.model.get(metric, [])}  # type: ignore[misc]


@pytest.mark.parametrize("slots", [8, 16, 32, 64, 128])
def test_m_star_of_the_paper_s_cell_is_a_quarter_of_the_window(slots: int) -> None:
    said = predict(hot_spot(f'{{ scheme = "adaptive-burst", window_slots = {slots} }}'))

    assert told(said, "best_target_active")["B (1), m*, T_c = T_s"] == slots / 4


def test_m_star_is_that_of_the_scenario_s_own_timings() -> None:
    """Longer slots cost more than collisions: more stations should contend."""
    quick, slow = (
        told(predict(hot_spot(mac=mac)), "best_target_active")["B (1), m*"]
        for mac in ("", 'slot_time = "200 us"')
    )

    # Independently: try all numbers of stations, with times computed by hand in us: SYNC and header
    # 192, 272 + 320 bits at 11 Mb/s, SIFS 10, MAC ACK 192 + 56, DIFS 50; EIFS 364.
    frame = 192 + 592 / 11
    for m_star, slot, difs in ((quick, 20, 50), (slow, 200, 410)):
        ack = 10 + 192 + 112 / 2
        eifs = 10 + 192 + 112 / 1 + difs
        times = Overheads(slot / 1e6, (frame + ack + difs) / 1e6, (frame + eifs) / 1e6)
        assert m_star == 1 + np.argmax(success_rate(32, np.arange(1, 33), times))
    assert slow > quick


def test_m_star_is_told_of_any_hot_spot_with_downloads() -> None:
    plain = predict(hot_spot('{ scheme = "standard" }', application=WEB))

    assert list(told(plain, "best_target_active")) == ["B (1), m*"]
    assert not plain.model["best_target_active"][0].broken
    assert "best_target_active" not in predict(hot_spot(count=1)).model


def test_rts_before_tcp_acks_is_said_to_break_m_star() -> None:
    said = predict(hot_spot(mac='[mac]\nrts_threshold = "0 B"'))

    assert "here an RTS precedes TCP ACKs" in said.model["best_target_active"][0].broken[0]


@pytest.mark.parametrize(("low", "high", "count"), [(31, 1023, 20), (15, 1023, 10), (31, 127, 5)])
def test_the_best_window_is_better_than_its_neighbours(low: int, high: int, count: int) -> None:
    def asked(cw_min: int) -> ResolvedScenario:
        """Return the cell of paper L's Fig. 4 (D = 2 slots)."""
        times = (high + 1) // (low + 1)
        return uploads(count, priority(cw_min, (cw_min + 1) * times - 1))

    said = predict(asked(low))
    best = told(said, "best_cw_min_stations")
    power = best["L (9), best CWmin, CWmin + 1 a power of two"]
    goodput = {
        cw: told(predict(asked(cw)), "goodput_bps")["L (9)"]
        for cw in (int(power), 2 * int(power) + 1, (int(power) + 1) // 2 - 1)
    }

    assert np.log2(power + 1) % 1 == 0
    assert max(goodput, key=goodput.__getitem__) == power
    assert power / 2 < best["L (9), best CWmin"] < 2 * power + 1


def test_no_best_window_where_acks_have_no_priority() -> None:
    assert "best_cw_min_stations" not in predict(uploads(5, "")).model
