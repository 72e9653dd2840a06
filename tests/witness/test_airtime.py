"""Frames last equally long in the core and in the models, to the nanosecond.

The two were written from the same standard and share no code: `airtcp._core.airtime_ns` is Rust,
`airtcp.airtime` Python, called by models and resolver. Nothing here is random in the core, so
values must be equal. Comments have the standard's numbers, computed by hand.
"""

from __future__ import annotations

import contextlib
import json
from typing import Any

import pytest
from airtcp import _core
from airtcp.amendments import AMENDMENTS, GUARD_INTERVALS_NS, HIGHEST_MCS, WIDTHS_MHZ, Amendment
from airtcp.high_rate import HighRate, HighRateRules, NoSuchRateError
from airtcp.models.airtime import Phy, exchange_time_ns, ppdu_time_ns
from airtcp.scenario import loads
from bases import cell
from hypothesis import given, settings
from hypothesis import strategies as st
from peers.samples import answers

DSSS_MBPS = ("1", "2", "5.5", "11")
OFDM_MBPS = ("6", "9", "12", "18", "24", "36", "48", "54")

# Every standard with every preamble and rate that it has. The short preamble starts at 2 Mb/s.
PHYS = [
    (standard, preamble, rate)
    for standard, preamble, rates in (
        ("802.11b", "long", DSSS_MBPS),
        ("802.11b", "short", DSSS_MBPS[1:]),
        ("802.11a", None, OFDM_MBPS),
        ("802.11g", "long", DSSS_MBPS + OFDM_MBPS),
        ("802.11g", "short", DSSS_MBPS[1:] + OFDM_MBPS),
    )
    for rate in rates
]


def sender(standard: str, phy: str = "", mac: str = "", packet: int = 1500, **run: Any) -> str:
    return cell(
        standard=standard,
        phy=phy,
        tables=f"[mac]\n{mac}",
        direction="upload",
        flow='start_spread = "0 s"',
        application=f'{{ kind = "udp", packet = "{packet} B", rate = "saturated" }}',
        **run,
    )


def resolved(standard: str, phy: str) -> tuple[str, Phy]:
    """Return the resolved form for the core, and its PHY for the model."""
    scenario = loads(sender(standard, phy))
    return scenario.to_json(), Phy.of(scenario.phy)


@pytest.mark.parametrize("rounding", ["true", "false"])
@pytest.mark.parametrize(("standard", "preamble", "rate"), PHYS)
# The longest MPDU: 2304 bytes and headers. Sizes need not be whole bytes: papers print 113 bits.
@settings(max_examples=10, deadline=None, derandomize=True)
@given(sizes=st.lists(st.integers(0, 8 * 2400), min_size=1, max_size=20))
def test_core_and_model_agree_on_every_frame(
    standard: str, preamble: str | None, rate: str, rounding: str, sizes: list[int]
) -> None:
    lines = [f'data_rate = "{rate} Mb/s"', f"symbol_rounding = {rounding}"]
    if preamble is not None:
        lines.append(f'preamble = "{preamble}"')
    text, phy = resolved(standard, "\n".join(lines))
    for at in (phy.data_rate, phy.control_rate):
        expected = ppdu_time_ns(phy, at, sizes).tolist()
        assert [_core.airtime_ns(text, bits, at.bps) for bits in sizes] == expected


@settings(max_examples=60, deadline=None, derandomize=True)
@given(
    bits=st.integers(0, 8 * 2400),
    preamble_ns=st.integers(0, 200_000),
    header_ns=st.integers(0, 100_000),
    rate=st.sampled_from(OFDM_MBPS + DSSS_MBPS),
    rounding=st.booleans(),
)
def test_core_and_model_agree_on_a_papers_own_timing(
    bits: int, preamble_ns: int, header_ns: int, rate: str, rounding: bool
) -> None:
    text, model = resolved(
        "802.11g",
        f'preamble_time = "{preamble_ns} ns"\nplcp_header_time = "{header_ns} ns"\n'
        f'data_rate = "{rate} Mb/s"\nsymbol_rounding = {str(rounding).lower()}',
    )
    at = model.data_rate
    expected = int(ppdu_time_ns(model, at, bits))

    assert _core.airtime_ns(text, bits, at.bps) == expected


@pytest.mark.parametrize("amendment", AMENDMENTS.values(), ids=list(AMENDMENTS))
def test_core_and_models_have_the_same_amendments(amendment: Amendment) -> None:
    """Each MCS, number of streams, width and guard interval of any amendment, and one more of each.

    Core and model have equal bits and symbols, or both say that the rate does not exist.
    """
    text = loads(sender(amendment.standard)).to_json()
    scenario = json.loads(text)
    bits = 8 * 40_000
    for width in (*WIDTHS_MHZ, 30):
        for streams in range(10):
            for mcs in range(HIGHEST_MCS + 1):
                for guard in GUARD_INTERVALS_NS:
                    rate: HighRate | None = None
                    parts = {
                        "mcs": mcs,
                        "spatial_streams": streams,
                        "channel_width_mhz": width,
                        "guard_interval_ns": guard,
                    }
                    with contextlib.suppress(NoSuchRateError):
                        rate = HighRate(format=amendment.format, **parts)
                    bps = 1_000_000 if rate is None else rate.bps
                    high = {**parts, "preamble_time_ns": 40_000}
                    for place in (scenario["phy"], scenario["stations"][0]):
                        place["data_rate"] |= {"bps": bps, "high": high}
                    if rate is None:
                        with pytest.raises(ValueError, match="the standard has no"):
                            _core.airtime_ns(json.dumps(scenario), bits, bps)
                        continue
                    timing = rate.timing(HighRateRules(), band_ghz=5.0)
                    expected = rate.ppdu_time_ns(bits, timing, preamble_time_ns=40_000)
                    assert _core.airtime_ns(json.dumps(scenario), bits, bps) == expected, parts


def test_frames_in_2_4_ghz_end_with_a_signal_extension() -> None:
    """The extension, aSignalExtension, is 6 us; frames in 5 GHz have none."""
    lasts = []
    for band in ("5 GHz", "2.4 GHz"):
        text = loads(sender("802.11n", f'band = "{band}"')).to_json()
        bps = json.loads(text)["phy"]["data_rate"]["bps"]
        lasts.append(_core.airtime_ns(text, 8 * 1000, bps))
    assert lasts[1] - lasts[0] == 6_000


@pytest.mark.parametrize("delay", ["0 ns", "333 ns"])
@pytest.mark.parametrize("rts", [False, True])
@pytest.mark.parametrize(
    ("standard", "phy", "packet"),
    [
        ("802.11b", 'preamble = "short"', 1500),
        ("802.11b", "symbol_rounding = false", 1040),
        ("802.11a", 'data_rate = "36 Mb/s"', 777),
        ("802.11g", 'data_rate = "54 Mb/s"', 40),
    ],
)
def test_a_whole_exchange_lasts_what_the_model_says(
    standard: str, phy: str, packet: int, rts: bool, delay: str
) -> None:
    """Without backoff (CW = 0) a lone sender has a fixed period: DIFS plus exchange.

    In a thousand periods plus one nanosecond the core completes a thousand exchanges, and in
    exactly a thousand periods one fewer, because a run excludes its end. So the period equals the
    model's to a thousandth of a nanosecond.
    """
    timing = f'{phy}\npropagation_delay = "{delay}"\ncw_min = 0\ncw_max = 0'
    mac = 'rts_threshold = "0 B"' if rts else ""

    def scenario(duration_ns: int) -> str:
        run = {"warmup": "0 s", "duration": f"{duration_ns} ns"}
        return sender(standard, timing, mac, packet, **run, replications=1)

    model = Phy.of(loads(scenario(10**6)).phy)
    period = model.difs_ns + int(exchange_time_ns(model, 8 * packet, rts=rts))

    [exact] = answers(scenario(1000 * period))
    [longer] = answers(scenario(1000 * period + 1))

    assert exact["counts"]["mac_exchanges"] == 999
    assert longer["counts"]["mac_exchanges"] == 1000
    assert longer["counts"]["collisions"] == 0
    frame = int(ppdu_time_ns(model, model.data_rate, 8 * packet + 224 + 64))
    # The airtime shares are floats, precise to one part in 10^12.
    assert exact["airtime"]["data"] == pytest.approx(frame / period, rel=1e-12)


ONE_SEGMENT = cell(
    standard="802.11a",
    phy='data_rate = "24 Mb/s"\npropagation_delay = "100 ns"',
    direction="upload",
    application='{ kind = "bulk", size = "1000 B", '
    'start = { distribution = "uniform", low = "1 s", high = "2 s" } }',
    flow='tcp = { mss = "1000 B", handshake = "none" }',
    warmup="0 s",
    duration="3 s",
    replications=5,
)


def test_a_frame_that_finds_the_medium_idle_goes_at_once() -> None:
    """The standard's rule: after DIFS of idle time and without a pending backoff it does not wait.

    20 + 4 ceil((16 + 8 * (1000 + 40 + 8 + 28) + 6) / 96) = 20 + 4 * 90 us, plus 100 ns of
    propagation."""
    for run in answers(ONE_SEGMENT):
        [flow] = run["flows"]
        assert flow["transfers"] == 1
        assert round(flow["mean_transfer_time_s"] * 1e9) == 380_100
