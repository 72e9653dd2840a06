"""When flows begin that have no start of their own: `start_spread`, and why a flow gets nothing."""

from __future__ import annotations

from statistics import fmean
from typing import Any

import airtcp
import pytest
from airtcp.present.cautions import cautions
from airtcp.scenario import loads
from bases import BULK, SATURATED, cell, short_example

NO_RETRIES = "[mac]\nshort_retry_limit = 1\nlong_retry_limit = 1"


def text(application: str = BULK, *, mac: str = "", count: int = 2, **told: str | int) -> str:
    run: dict[str, Any] = {"warmup": "0 s", "duration": "10 s", "replications": 2, "seed": 1}
    keys: dict[str, Any] = (
        {"name": "sta", "direction": "upload", "application": application} | run | told
    )
    return cell(count, tables=mac, **keys)


def starts_s(scenario: str) -> dict[str, list[float]]:
    """When the first transfer of each flow begins, by replication."""
    result = airtcp.simulate(loads(scenario), threads=1, transfers=True)
    found: dict[str, list[float]] = {}
    for run in result.simulation.runs:
        for flow, start in zip(run.transfers.flow, run.transfers.start_s, strict=True):
            found.setdefault(str(flow), []).append(float(start))
    return found


@pytest.mark.parametrize(
    ("preset", "spread_ms"), [("standard", 100), ("ns-3", 100), ("ns-2", 0), ("bianchi", 0)]
)
def test_the_default_is_the_worlds(preset: str, spread_ms: int) -> None:
    mac = f'[mac]\nrules = {{ preset = "{preset}" }}'
    for application in (BULK, SATURATED):
        (flow,) = loads(text(application, mac=mac)).flows
        assert flow.start_spread_ns == spread_ms * 1_000_000


@pytest.mark.parametrize(
    "application",
    [
        '{ kind = "bulk", start = "0 s" }',
        '{ kind = "udp", packet = "1500 B", rate = "1 Mb/s" }',
        '{ kind = "web", size = "30 kB", think_time = "5 s" }',
        '{ kind = "ftp", size = "30 kB", interarrival = "5 s" }',
    ],
)
def test_what_has_a_start_of_its_own_has_no_other(application: str) -> None:
    (flow,) = loads(text(application)).flows
    assert flow.start_spread_ns == 0
    with pytest.raises(
        airtcp.ScenarioError, match=r"start_spread.*already has .*; allowed: with bulk"
    ):
        loads(text(application, flow='start_spread = "10 ms"'))


def test_flows_begin_anywhere_in_it_each_by_itself() -> None:
    """80 starts over 0.2 s: their mean is .1 s, 4 standard errors are 4 * .2 / sqrt(12 * 80)."""
    sized = '{ kind = "bulk", size = "1 kB" }'
    spread = 'start_spread = "200 ms"'
    few = starts_s(text(sized, count=4, flow=spread, replications=10))
    many = starts_s(text(sized, count=8, flow=spread, replications=10))

    all_of = [start for starts in many.values() for start in starts]
    assert len(all_of) == len(set(all_of)) == 80
    assert 0.0 < min(all_of) < 0.02
    assert 0.18 < max(all_of) <= 0.2
    assert fmean(all_of) == pytest.approx(0.1, abs=0.026)
    # More flows change no start.
    assert few == {name: many[name] for name in few}
    at_once = starts_s(text(sized, flow='start_spread = "0 s"'))
    assert at_once == {"sta/0": [0.0, 0.0], "sta/1": [0.0, 0.0]}


def test_two_uploads_in_step_get_nothing_and_the_answer_says_why() -> None:
    """Without retries each SYN collides with the other's, for both timers are the same."""
    result = airtcp.simulate(loads(text(mac=NO_RETRIES, flow='start_spread = "0 s"')), threads=1)
    assert [flow.goodput_bps for flow in result.simulation.flows] == [0.0, 0.0]
    for told in cautions(result)[:1]:
        assert "sta/0, sta/1 arrives: every attempt collides" in told
        assert "retries are off (short_retry_limit = 1)" in told
        assert "all flows start at the same time" in told

    apart = airtcp.simulate(loads(text(mac=NO_RETRIES)), threads=1)
    assert all(flow.goodput_bps > 1e5 for flow in apart.simulation.flows)
    assert not any("no data of" in line for line in cautions(apart))


def test_a_flow_under_the_frames_of_hidden_stations_is_not_told_to_back_off() -> None:
    """One of two that upload and do not hear each other gets nothing in a short run."""
    of = short_example("hidden-uploads", "2 s", 1)

    said = [line for line in cautions(airtcp.simulate(of, threads=1)) if "no data of" in line]

    assert len(said) == 1
    assert "every transmission collides with a hidden station" in said[0]
    # No remedy is told that was not tried.
    assert "may help" not in said[0]


LOSSY = 'path = [{ delay = "10 ms", loss = { rate = "99.99 %", acks = true } }]'
FAR = 'start_spread = "0 s"\npath = [{ delay = "400 ms" }]'


@pytest.mark.parametrize(
    ("scenario", "why"),
    [
        (text(duration="1 ms"), "up to 0.10 s after the start of the run, which ends after 1.0 ms"),
        (
            text('{ kind = "bulk", start = "3 s" }', duration="2 s"),
            "up to 3.00 s after the start of the run, which ends after 2.00 s",
        ),
        (text(direction="download", flow=LOSSY), "packets on links"),
        (
            text(direction="download", duration="300 ms", flow=FAR),
            "ap sent nothing in the measured 0.30 s",
        ),
    ],
    ids=["spread", "start", "loss", "short"],
)
def test_why_nothing_comes(scenario: str, why: str) -> None:
    first = cautions(airtcp.simulate(loads(scenario), threads=1))[0]

    assert "no data of" in first
    assert why in first
