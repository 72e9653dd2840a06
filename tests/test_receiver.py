"""Ends of a connection that are not alike: which end has which keys, and what both agree on."""

from __future__ import annotations

from typing import Any

import airtcp
import pytest
from airtcp.predict import predict
from airtcp.scenario import ResolvedScenario, loads
from bases import cell
from wing import with_papers

BULK = '{ kind = "bulk" }'
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
    """The sender gets no data, so what it would do with them is all the same."""
    apart = outcome(f"receiver = {{ {key} }}", direction)
    assert apart == outcome(key, direction)
    assert apart != outcome("", direction)


def test_an_option_holds_if_both_ends_have_it() -> None:
    linux = scenario('preset = "linux", receiver = { preset = "rfc" }').flows[0].tcp
    assert linux.sending_end is not None
    assert (linux.variant, linux.slow_start, linux.timestamps) == ("newreno", "standard", False)
    assert (linux.mss_bytes, linux.header_bits) == (1460, 320)
    # The RFCs' receiver, and Linux's, which gets no data.
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
