"""Receivers: keys of each end, options that both ends need, and how often TACK acknowledges."""

from __future__ import annotations

from typing import Any

import airtcp
import pytest
from airtcp.predict import predict
from airtcp.scenario import ResolvedScenario, loads
from bases import BULK, cell
from wing import with_papers

FOUR = 'delayed_ack = { every = 4, timeout = "200 ms" }'


def scenario(tcp: str, direction: str = "download", application: str = BULK) -> ResolvedScenario:
    run: dict[str, Any] = {"warmup": "1 s", "duration": "5 s", "replications": 1, "seed": 1}
    flow = f"tcp = {{ {tcp} }}"
    return loads(cell(2, application=application, direction=direction, flow=flow, **run))


def outcome(tcp: str, direction: str = "download", application: str = BULK) -> Any:
    result = airtcp.simulate(scenario(tcp, direction, application), threads=1)
    answer = result.simulation.runs[0].answer
    return answer["counts"], answer["metrics"]


@pytest.mark.parametrize(
    ("both", "receiver"),
    [
        ("", ""),
        ('preset = "linux"', 'preset = "linux"'),
        (FOUR, FOUR),
        ('receive_window = "16 KiB"', 'receive_window = "16 KiB"'),
        ('variant = "sack"', "sack = true"),
    ],
)
def test_a_receiver_like_the_sender_changes_nothing(both: str, receiver: str) -> None:
    together = f"{both}, " if both else ""
    alike = scenario(f"{together}receiver = {{ {receiver} }}")
    assert alike.to_json() == scenario(both).to_json()


@pytest.mark.parametrize("direction", ["download", "upload"])
@pytest.mark.parametrize("key", [FOUR, 'receive_window = "8 KiB"'])
def test_data_in_one_direction_meet_the_keys_of_the_receiver_alone(
    direction: str, key: str
) -> None:
    """The sender receives no data, so its own keys as a receiver change nothing."""
    apart = outcome(f"receiver = {{ {key} }}", direction)
    assert apart == outcome(key, direction)
    assert apart != outcome("", direction)


def test_an_option_holds_if_both_ends_have_it() -> None:
    linux = scenario('preset = "linux", receiver = { preset = "rfc" }').flows[0].tcp
    assert linux.sending_end is not None
    assert (linux.variant, linux.slow_start, linux.timestamps) == ("newreno", "standard", False)
    assert (linux.mss_bytes, linux.header_bits) == (1460, 320)
    # The RFC receiver's values; then Linux's, which receives no data.
    assert (linux.receive_window_bytes, linux.delayed_ack.adaptive) == (65535, False)
    end = linux.sending_end
    assert (end.receive_window_bytes, end.delayed_ack.adaptive) == (3 << 20, True)
    options = "sack = true, timestamps = true"
    both = scenario(f'preset = "linux", receiver = {{ preset = "rfc", {options} }}')
    tcp = both.flows[0].tcp
    assert (tcp.variant, tcp.timestamps, tcp.mss_bytes) == ("rack", True, 1448)


@with_papers
def test_models_read_the_receiver() -> None:
    apart, together, plain = (
        predict(scenario(tcp)).best("goodput_bps").value
        for tcp in (f"receiver = {{ {FOUR} }}", FOUR, "")
    )
    assert apart == together != plain


def rates(direction: str, rate: str, acks: str, window: str = "256 KiB") -> tuple[float, float]:
    """Return data segments per second, and other segments per second."""
    wire = f'[links.wire]\nrate = "{rate}"\ndelay = "10 ms"'
    flow = f'path = ["wire"]\ntcp = {{ variant = "sack", receive_window = "{window}", {acks} }}'
    run: dict[str, Any] = {"warmup": "2 s", "duration": "5 s", "replications": 1, "seed": 1}
    text = cell(standard="802.11n", direction=direction, tables=wire, flow=flow, **run)
    answer = airtcp.simulate(loads(text), threads=1).simulation.runs[0].answer
    data = answer["metrics"]["goodput_bps"] / (8 * 1460)
    return data, answer["counts"]["tcp_segments"] / 5 - data


@pytest.mark.parametrize("direction", ["download", "upload"])
def test_tack_acknowledges_four_times_in_a_least_round_trip(direction: str) -> None:
    """The minimum round trip is the handshake's: 20 ms of link and less than 1 ms of airtime.

    So at most 200 ACKs a second, and at least four fifths of that, because a segment arrives every
    0.2 ms. With an ACK for every second segment there are half as many ACKs as segments.
    """
    data, acks = rates(direction, "1 Gb/s", "tack = { every = 2, beta = 4 }")
    assert 160 < acks <= 202
    usual, every_second = rates(direction, "1 Gb/s", "delayed_ack = { every = 2 }")
    assert every_second == pytest.approx(usual / 2, rel=0.02)
    # An ACK waits up to a fourth of 20 ms longer, which costs some goodput at a limited window.
    assert data > 0.9 * usual


def test_tack_counts_segments_where_they_are_rare() -> None:
    """At 1 Mb/s a segment takes 12 ms, more than a fourth of 45 ms: an ACK for every three."""
    data, acks = rates("download", "1 Mb/s", "tack = { every = 3, beta = 4 }", "16 KiB")
    assert data == pytest.approx(1e6 / (8 * 1500), rel=0.02)
    assert acks == pytest.approx(data / 3, rel=0.03)
