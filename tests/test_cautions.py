"""Cautions: when numbers may mislead, why a flow gets nothing, and when flows begin."""

from __future__ import annotations

import re
from statistics import fmean
from types import SimpleNamespace
from typing import Any

import airtcp
import pytest
from airtcp.cli.show import show
from airtcp.compare import compare
from airtcp.messages.run import observations
from airtcp.present import summary
from airtcp.present.cautions import (
    _not_steady,
    _polling,
    _time_by_littles_law,
    _unfinished,
    cautions,
)
from airtcp.present.sense import _gains, sanity
from airtcp.present.silence import Silence
from airtcp.present.summary import simulation_lines
from airtcp.results.least import endless_goodputs, least_bps
from airtcp.results.objects import SimulationResult
from airtcp.run.glance import glance
from airtcp.run.simulate import simulate
from airtcp.scenario import loads
from airtcp.stats import Interval
from bases import BULK, SATURATED, cell, example, refused, short_example
from wing import with_papers


@pytest.mark.parametrize(
    ("standard", "count", "said"),
    [("802.11ax", 10, True), ("802.11ax", 9, False), ("802.11ac", 10, False)],
)
def test_missing_ofdma_is_told_where_it_matters(standard: str, count: int, said: bool) -> None:
    text = f"""
        phy = {{ standard = "{standard}", channel_width = "40 MHz" }}
        stations = [{{ name = "s", count = {count} }}]
        flows = [{{ stations = "s", direction = "both", application = {{ kind = "call" }} }}]
        run = {{ warmup = "0 s", duration = "200 ms", replications = 2 }}
    """

    result = airtcp.simulate(loads(text))

    assert any("OFDMA" in one for one in cautions(result)) == said


@pytest.mark.parametrize(
    ("carried", "exchanges", "vain", "said"),
    [
        (99, 10_000, 0, "hardly any effect"),
        (100, 10_000, 0, ""),
        (100, 10_000, 90, ""),
        (100, 10_000, 91, "91 % of polls"),
        (0, 0, 0, "hardly any effect"),
    ],
)
def test_contention_free_periods_that_do_little_are_told(carried, exchanges, vain, said):
    counts = {"contention_free_exchanges": carried, "mac_exchanges": exchanges}
    told = _polling(counts | {"polls": 100, "polls_without_data": vain})

    assert len(told) == bool(said)
    assert said in "".join(told)


def mean(value: float) -> Interval:
    return Interval(value, None, None, 1)


@pytest.mark.parametrize(("p99_s", "said"), [(4.9, ""), (5.1, "run too short (100 s)")])
def test_transfers_that_take_a_twentieth_of_the_run_are_told(p99_s: float, said: str) -> None:
    simulation = SimpleNamespace(
        metrics={"transfer_time_p99_s": mean(p99_s)}, estimates={"transfer_time_s": None}
    )
    result: Any = SimpleNamespace(simulation=simulation)

    told = _unfinished(result, 100.0)

    assert len(told) == bool(said)
    assert said in "".join(told)


@pytest.mark.parametrize(
    ("kind", "active", "expected"), [("web", 1.09, None), ("web", 1.11, 1.11), ("bulk", 9.0, None)]
)
def test_littles_law_tells_of_transfers_that_are_missing(kind, active, expected):
    """100 ended transfers of 1 s in 100 s are 1 in progress; if more are, long ones are missing."""
    flows = [SimpleNamespace(application=SimpleNamespace(kind=kind))]
    run = SimpleNamespace(duration_ns=50 * 10**9)
    metrics = {"transfer_time_s": mean(1.0), "active_flows": mean(active)}
    counts = {"transfers": 100}
    simulation = SimpleNamespace(metrics=metrics, counts=counts, replications=2)
    scenario = SimpleNamespace(flows=flows, run=run)
    result: Any = SimpleNamespace(simulation=simulation, scenario=scenario)

    assert _time_by_littles_law(result) == (expected and pytest.approx(expected))


@pytest.mark.parametrize(
    ("enough_s", "bounds", "said"),
    [
        (61.2, ["rtt_s"], "Values marked ≥ are lower bounds. Use --set run.duration=62s."),
        (None, [], "Use a longer run and a longer warm-up."),
    ],
)
def test_an_unsteady_run_is_told_how_long_would_do(enough_s, bounds, said):
    record = {"simulate_s": enough_s, "at_least": bounds, "reason": "it grows"}
    assert _not_steady(record, 8.0) == f"run too short (8.00 s): it grows. {said}"


@pytest.mark.parametrize(("gain", "is_told"), [(1.19, False), (1.2, True), (None, False)])
def test_a_gain_of_a_fifth_is_worth_telling(gain: float | None, is_told: bool) -> None:
    simulation: Any = SimpleNamespace(estimates={"goodput_bps": SimpleNamespace(gain=gain)})
    assert ("variance reduction: 1.2× (" in _gains(simulation)) == is_told


@pytest.mark.parametrize(("count", "named"), [(3, "a, b, c"), (5, "a, b, c and 2 more")])
def test_three_silent_flows_are_named(count: int, named: str) -> None:
    assert str(Silence(tuple("abcde"[:count]), "why", "")) == f"no data of {named} arrives: why"


@pytest.mark.parametrize(("path", "is_told"), [("path = ['line']", False), ("", True)])
def test_a_link_that_no_flow_crosses_is_told(path: str, is_told: bool) -> None:
    line = '[links.line]\nrate = "50 Mb/s"'
    text = cell(standard="802.11ax", direction="upload", tables=line, flow=path, duration="100 ms")

    told = cautions(airtcp.simulate(loads(text), replications=2))

    assert any("link line" in one for one in told) == is_told


@pytest.mark.parametrize(
    ("target", "told"),
    [
        ("s/upload flow_goodput > 2.1 Mb/s", "send 2.00 Mb/s"),
        ("s/upload goodput > 4.1 Mb/s", "send 4.00 Mb/s"),
        ("s/upload goodput > 4 Mb/s", "send 4.00 Mb/s"),
        ("s/upload goodput > 3.9 Mb/s", ""),
        ("s/upload flow_goodput < 9 Mb/s", ""),
        # Two of the five flows are TCP.
        ("flow_goodput > 2.1 Mb/s", "5 flows, of which 3 send less"),
        ("flow_goodput > 1.9 Mb/s", "5 flows, of which 1 send less"),
        ("flow_goodput > 0.9 Mb/s", ""),
    ],
)
def test_a_target_beyond_what_the_flows_send_is_told(target: str, told: str) -> None:
    name, bound = re.split(" (?=[<>])", target)
    text = f"""
        phy = {{ standard = "802.11ax" }}
        stations = [{{ name = "s", count = 2 }}, {{ name = "t", count = 1 }}]
        run = {{ warmup = "0 s", duration = "100 ms", replications = 2 }}
        targets = {{ "{name}" = "{bound}" }}
        [[flows]]
        stations = "s"
        direction = "upload"
        application = {{ kind = "udp", rate = "2 Mb/s", packet = "1000 B" }}
        [[flows]]
        stations = "t"
        direction = "upload"
        application = {{ kind = "udp", rate = "1 Mb/s", packet = "1000 B" }}
        [[flows]]
        stations = "s"
        direction = "download"
        application = {{ kind = "bulk" }}
    """
    said = [one for one in cautions(airtcp.simulate(loads(text))) if target in one]

    assert len(said) == bool(told)
    assert told in "".join(said)


def browsing(duration: str, replications: int, mean: str) -> SimulationResult:
    """Return three laptops that load pages with heavy-tailed sizes."""
    size = f'{{ distribution = "pareto", mean = "{mean}", shape = 1.5 }}'
    think = '{ distribution = "exponential", mean = "1 s" }'
    page = f'{{ kind = "web", size = {size}, think_time = {think} }}'
    run: dict[str, Any] = {"warmup": "1 s", "duration": duration, "replications": replications}
    return simulate(loads(cell(3, application=page, group='data_rate = "5.5 Mb/s"', **run)))


def test_stations_with_flows_of_two_rates_each_are_treated_alike() -> None:
    calls = loads("""
        run = { duration = "2 s", replications = 2 }
        phy = { standard = "802.11n" }
        stations = [{ name = "phone", count = 3, traffic = ["call"] }]
    """)
    result = simulate(calls)

    of_flows = result.simulation.metrics["jain_index"].mean
    assert of_flows < 0.9
    assert dict(sanity(result))["per station"].endswith("Jain index 1.00")


@with_papers
def test_events_that_nobody_saw_are_not_shown() -> None:
    flow = "tcp = { receive_window = { segments = 1 }, delayed_ack = { every = 1 } }"
    result = compare(loads(cell(3, flow=flow, duration="2 s")), replications=2)

    assert "drop_probability_mac" in result.model
    assert "MAC drop probability" not in [line.metric for line in summary.comparison_lines(result)]


@pytest.mark.parametrize(
    ("duration", "replications", "mean", "told"),
    [
        ("2000 s", 8, "2 kB", []),
        ("200 s", 1, "20 kB", ["one replication has no confidence interval; use --replications 5"]),
        # Each transfer takes as long as the run.
        ("10 s", 4, "2 MB", ["run too short (10 s)", "--set run.duration="]),
        ("5 s", 2, "200 kB", ["wide intervals"]),
    ],
)
def test_a_run_has_its_cautions(duration, replications, mean, told):
    said = cautions(browsing(duration, replications, mean))

    assert all(one in " ".join(said) for one in told)
    assert bool(said) == bool(told)


def test_runs_that_are_too_short_are_a_caution() -> None:
    """More users than the channel supports, with sizes from a real log.

    Finished transfers took 3.5 s. But all 90 users either think for 10 s or transfer 307 kB at 4.79
    Mb/s in total, so a transfer takes 90 x 307 kB / 4.79 Mb/s - 10 s = 36 s.
    """
    busy = {"stations.laptop.count": 90, "run.duration": "1500 s", "run.replications": 2}
    result = simulate(example("web-hotspot", **busy))
    told = [one for one in cautions(result) if "run too short (25 min" in one]

    estimate = result.simulation.estimates["transfer_time_s"]
    assert estimate.interval.mean == pytest.approx(36.0, rel=0.02)
    assert estimate.plain.mean == pytest.approx(3.5, rel=0.02)
    assert len(told) == 1
    assert "--set run.duration=" in told[0]
    record = result.simulation.to_dict()["steadiness"]
    assert record["state"] == "unsteady"
    assert record["simulate_s"] > 5_000.0


@pytest.mark.parametrize(("replications", "head"), [(1, "mean"), (3, "mean, 95 % interval")])
def test_a_run_without_intervals_promises_none(replications, head, capsys):
    text = cell(3, warmup="1 s", duration="1 s", replications=replications)
    show(simulate(loads(text)))

    (line,) = (one for one in capsys.readouterr().out.splitlines() if one.startswith("metric "))
    assert line.split(maxsplit=1)[1].strip() == head


def test_assumptions_that_read_alike_in_short_are_told_once() -> None:
    """Entries with the same first part merge their models; an empty list stands for all models."""
    told = [("a queue; one way", ["M"]), ("a server; slower", []), ("a queue; another", ["B", "M"])]
    assert summary.shortened(told) == [("a queue", ["M", "B"]), ("a server", [])]
    assert summary.shortened([("x; y", ["M"]), ("x; z", [])]) == [("x", [])]


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
    with refused("scenario.traffic.starts"):
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
    # Adding flows does not change the starts of the first ones.
    assert few == {name: many[name] for name in few}
    at_once = starts_s(text(sized, flow='start_spread = "0 s"'))
    assert at_once == {"sta/0": [0.0, 0.0], "sta/1": [0.0, 0.0]}


def test_two_uploads_in_step_get_nothing_and_the_answer_says_why() -> None:
    """Without retries both SYNs collide every time: the retransmission timers are equal."""
    result = airtcp.simulate(loads(text(mac=NO_RETRIES, flow='start_spread = "0 s"')), threads=1)
    assert [flow.goodput_bps for flow in result.simulation.flows] == [0.0, 0.0]
    for said in (
        "sta/0, sta/1 arrives: every attempt collides",
        "retries are off (short_retry_limit = 1)",
        "all flows start at the same time",
    ):
        assert said in cautions(result)[0]

    apart = airtcp.simulate(loads(text(mac=NO_RETRIES)), threads=1)
    assert all(flow.goodput_bps > 1e5 for flow in apart.simulation.flows)
    assert not any("no data of" in line for line in cautions(apart))


def test_a_flow_under_the_frames_of_hidden_stations_is_not_told_to_back_off() -> None:
    """Of two hidden stations that upload, one gets nothing in a short run."""
    result = airtcp.simulate(short_example("hidden-uploads", "2 s", 1), threads=1)

    (said,) = (line for line in cautions(result) if "no data of" in line)
    assert "collides with a hidden" in said
    # A caution names no fix that was not simulated.
    assert "may help" not in said


LOSSY = 'path = [{ delay = "10 ms", loss = { rate = "99.99 %", acks = true } }]'
FAR = 'start_spread = "0 s"\npath = [{ delay = "400 ms" }]'


@pytest.mark.parametrize(
    ("keys", "why"),
    [
        ({"duration": "1 ms"}, "up to 0.10 s after the start of the run, which ends after 1.0 ms"),
        (
            {"application": '{ kind = "bulk", start = "3 s" }', "duration": "2 s"},
            "up to 3.00 s after the start of the run, which ends after 2.00 s",
        ),
        ({"direction": "download", "flow": LOSSY}, "packets on links"),
        (
            {"direction": "download", "duration": "300 ms", "flow": FAR},
            "ap sent nothing in the measured 0.30 s",
        ),
    ],
    ids=["spread", "start", "loss", "short"],
)
def test_why_nothing_comes(keys: dict[str, Any], why: str) -> None:
    first = cautions(airtcp.simulate(loads(text(**keys)), threads=1))[0]

    assert "no data of" in first
    assert why in first


@pytest.fixture(scope="module")
def hidden() -> SimulationResult:
    """Two uploads from hidden stations: in each run one of them takes the channel."""
    return simulate(example("hidden-uploads"), replications=4)


def test_a_quick_simulation_names_the_flow_that_starves() -> None:
    seen = glance(example("hidden-uploads"), times=1)
    least = least_bps(seen.simulation.runs, seen.scenario)

    mean = seen.metrics["flow_goodput_bps"].mean
    assert least < 0.05 * mean
    assert ", least " in dict(seen.shown())["flow_goodput_bps"]


def test_a_run_names_the_flow_that_starves_in_each_replication(hidden: SimulationResult) -> None:
    """Averaged over replications, in which they take turns, both get half."""
    lines = {line.metric: line.simulation for line in simulation_lines(hidden.simulation)}

    assert "goodput of the least flow" in lines
    assert any("1 of 2" in one for one in observations(hidden))
    for run in hidden.simulation.runs:
        goodputs = endless_goodputs(run.answer, hidden.scenario)
        assert min(goodputs) < 0.5 * max(goodputs)


def test_flows_that_are_alike_have_their_mean() -> None:
    result = simulate(
        loads(cell(3, direction="upload", application=SATURATED, duration="2 s")), replications=2
    )
    simulation = result.simulation

    assert least_bps(simulation.runs, result.scenario) is None
    assert not list(observations(result))
