"""Traces agree with the results, row by row; their files are complete or absent."""

import math
from pathlib import Path

import airtcp
import numpy as np
import pyarrow.csv
import pytest
from airtcp import OutputError
from airtcp.results import SimulationResult
from airtcp.results.columns import schema
from airtcp.results.trace import Trace
from airtcp.results.trace_file import kinds
from airtcp.scenario import ResolvedScenario, loads
from bases import cell
from pyarrow import parquet

LOSSY = """
phy = { standard = "802.11b" }
mac = { short_retry_limit = 2, long_retry_limit = 2 }
ap = { queue = { discipline = "fifo", limit = 8 } }
stations = [{ name = "a", count = 3 }, { name = "b", count = 3 }]
links = { uplink = { rate = "3 Mb/s", delay = "10 ms", queue = 5 } }
run = { warmup = "0 s", duration = "20 s", replications = 2, seed = 3 }
[[flows]]
stations = "a"
direction = "upload"
start_spread = "0 s"
application = { kind = "bulk" }
path = ["uplink"]
[[flows]]
stations = "b"
direction = "download"
[flows.application]
kind = "web"
size = { distribution = "exponential", mean = "100 kB" }
think_time = { distribution = "exponential", mean = "500 ms" }
"""


@pytest.fixture(scope="module")
def scenario() -> ResolvedScenario:
    return loads(LOSSY)


@pytest.fixture(scope="module")
def traced(scenario: ResolvedScenario) -> SimulationResult:
    return airtcp.simulate(scenario, threads=1, trace=True, trace_interval_s=0.01)


def trace_of(result: SimulationResult, replication: int = 0) -> Trace:
    trace = result.simulation.runs[replication].trace
    assert trace is not None
    return trace


def test_events_are_as_many_as_the_counts_say(traced: SimulationResult) -> None:
    """Without a warm-up both count the same events."""
    for replication, run in enumerate(traced.simulation.runs):
        trace, counts = trace_of(traced, replication), run.answer["counts"]

        drops = trace.events("queue_drop").queue
        assert sum(drops == "ap") == counts["ap_queue_drops"] > 0
        assert sum(drops == "uplink to server") == counts["wired_drops"] > 0
        for event, count in (
            ("retransmission", counts["tcp_retransmissions"]),
            ("timeout", counts["tcp_timeouts"]),
            ("mac_drop", counts["mac_drops"]),
            ("transfer_end", counts["transfers"]),
        ):
            assert len(trace.events(event).time_s) == count > 0
        for flow in run.answer["flows"]:
            mine = trace.events("retransmission", flow=flow["name"])
            assert len(mine.time_s) == flow["retransmissions"]


def test_goodput_adds_up_to_that_of_the_flow(traced: SimulationResult) -> None:
    trace = trace_of(traced)
    rates = trace.goodput_bps()

    for index, flow in enumerate(traced.simulation.runs[0].answer["flows"]):
        series = trace.flow(flow["name"])
        assert series.time_s[-1] == 20.0
        # The last sample is taken at the end, so it counts everything delivered.
        assert series.delivered_bytes[-1] * 8 / 20.0 == pytest.approx(flow["goodput_bps"])
        np.testing.assert_array_equal(series.goodput_bps, rates[index])
        assert series.goodput_bps.mean() == pytest.approx(flow["goodput_bps"])


def test_the_average_of_a_queue_is_that_of_the_result(traced: SimulationResult) -> None:
    """2000 samples of a queue of 0 to 8 packets whose level changes within some 20 ms.

    At least 500 of them are independent, so the standard error of their mean is at most 4 /
    sqrt(500) = 0.18. The tolerance is three times that.
    """
    trace = trace_of(traced)
    average = traced.simulation.runs[0].answer["metrics"]["ap_queue_packets"]

    packets = trace.queue("ap").packets
    assert packets.max() == 8
    assert abs(packets.mean() - average) < 0.54
    assert trace.queue("uplink to server").packets.max() == 5
    assert trace.queue("uplink to ap").packets.max() > 0


def test_windows_are_those_of_a_sender(traced: SimulationResult) -> None:
    trace = trace_of(traced)
    series = trace.flow("a/0")
    losses = trace.events("fast_retransmit", flow="a/0")
    timeouts = trace.events("timeout", flow="a/0")

    assert (series.connections == 1).all()
    assert np.nanmax(series.flight_size_bytes) <= 65536
    # RFC 5681 (4) and (3): half of the flight size, plus three segments; NewReno.
    half = np.maximum(losses.flight_size_bytes // 2, 2 * 1460)
    assert (losses.cwnd_after_bytes >= half).all()
    assert (losses.cwnd_after_bytes <= half + 3 * 1460).all()
    assert (timeouts.cwnd_after_bytes == 1460).all()
    web = trace.flow("b/0")
    assert np.isnan(web.cwnd_bytes[web.connections == 0]).all()
    assert not np.isnan(web.cwnd_bytes[web.connections == 1]).any()
    # A user may continue while the last ACK of the previous page is lost.
    assert {0, 1} <= set(web.connections)
    assert 0.01 < np.nanmedian(series.srtt_s) < 1.0


def test_both_kinds_of_files_have_the_rows_of_python(
    scenario: ResolvedScenario, traced: SimulationResult, tmp_path: Path
) -> None:
    for name in ("t.parquet", "t.csv"):
        written = airtcp.simulate(scenario, threads=2, trace=tmp_path / name, trace_interval_s=0.01)
        kept = [run.trace is not None for run in written.simulation.runs]
        assert kept == [True, False]
    packed = parquet.read_table(tmp_path / "t.parquet")
    # Everything except text is read as numbers.
    options = pyarrow.csv.ConvertOptions(
        column_types=schema(kinds()), strings_can_be_null=True, quoted_strings_can_be_null=True
    )
    assert packed.schema == schema(kinds())
    plain = pyarrow.csv.read_csv(tmp_path / "t.csv", convert_options=options)
    assert plain.equals(packed)

    rows = packed.to_pylist()
    assert [row["replication"] for row in rows] == sorted(row["replication"] for row in rows)
    for replication in (0, 1):
        trace = trace_of(traced, replication)
        mine = [row for row in rows if row["replication"] == replication]
        assert [row["time_s"] for row in mine] == sorted(row["time_s"] for row in mine)
        assert len(mine) == sum(
            len(table["time_ns"])
            for table in (trace.flow_table, trace.queue_table, trace.event_table)
        )
        flow = [row for row in mine if row["record"] == "flow" and row["flow"] == "b/1"]
        series = trace.flow("b/1")
        assert [row["time_s"] for row in flow] == list(series.time_s)
        assert [row["goodput_bps"] for row in flow] == list(series.goodput_bps)
        assert [row["cwnd_bytes"] or math.nan for row in flow] == pytest.approx(
            list(series.cwnd_bytes), nan_ok=True
        )
        queue = [row for row in mine if row["record"] == "queue" and row["queue"] == "ap"]
        assert [row["queue_packets"] for row in queue] == list(trace.queue("ap").packets)
        events = [row for row in mine if row["record"] == "event"]
        assert [row["event"] for row in events] == list(trace.events().event)
        assert [row["queue"] or "" for row in events] == list(trace.events().queue)


def test_queues_of_categories_have_their_names() -> None:
    more = 'edca = { ap = { AC_VO = { aifsn = 2 } } }, classify = { tcp_ack = "AC_VO" }'
    text = LOSSY.replace("mac = { ", f"mac = {{ {more}, ")
    names = trace_of(airtcp.simulate(loads(text), replications=1, trace=True)).queue_names
    assert names[:4] == ("ap AC_VO", "ap AC_BE", "a/0 AC_VO", "a/0 AC_BE")


@pytest.mark.parametrize(("kind", "name", "said"), [
    ("flow", "c/0", "no flow 'c/0', only a/0, a/1"),
    ("queue", "AP", "no queue 'AP', only ap"),
    ("events", "loss", "no event 'loss', only transfer_start"),
])  # fmt: skip
def test_what_is_not_there_cannot_be_asked_for(
    traced: SimulationResult, kind: str, name: str, said: str
) -> None:
    with pytest.raises(ValueError, match=said):
        getattr(trace_of(traced), kind)(name)


@pytest.mark.parametrize("interval", [0.0, -1.0, math.inf, math.nan, 1e-6])
def test_an_absurd_interval_is_refused(scenario: ResolvedScenario, interval: float) -> None:
    said = r"allowed: 2\.1e-05 s or more" if interval == 1e-6 else "must be positive"
    with pytest.raises((ValueError, OutputError), match=said):
        airtcp.simulate(scenario, trace=True, trace_interval_s=interval)


AGGREGATES = cell(
    2, standard="802.11n", name="a", group='frame_errors = "5 %"',
    warmup="500 ms", duration="2 s", replications=1,
)  # fmt: skip


def test_ppdus_are_those_of_the_metrics(tmp_path: Path) -> None:
    """Trace and metrics agree on the mean size of the access point's data PPDUs, on failures, and
    on airtime: PPDUs overlap only when they collide.
    """
    path = tmp_path / "trace.parquet"
    run = airtcp.simulate(loads(AGGREGATES), threads=1, trace=path).simulation.runs[0]
    metrics = run.answer["metrics"]
    ppdus, ap = run.trace.ppdus(), run.trace.ppdus("ap AC_BE")

    measured = ap.time_s >= 0.5
    assert metrics["mpdus_per_ppdu_ap"] == pytest.approx(np.mean(ap.mpdus[measured]), rel=1e-12)
    # Frames of up to 1538 bytes; symbols of 3.6 us carry 260 bits, after a preamble of 36 us.
    assert set(ap.receiver) == {"a/0", "a/1"}
    assert np.all(ap.size_bytes <= 1538 * ap.mpdus)
    assert np.all(ap.airtime_s >= 36e-6 + 8 * ap.size_bytes / 260 * 3.6e-6 - 1e-9)
    # Block ACK requests, which follow drops only, expect responses too but are not in the trace.
    measured = ppdus.time_s >= 0.5
    assert np.mean(ppdus.failed[measured]) == pytest.approx(metrics["failed_ppdu_ratio"], abs=0.01)
    assert ppdus.failed.sum() > 20
    ends = ppdus.time_s[:-1] + ppdus.airtime_s[:-1]
    together = ppdus.time_s[1:] == ppdus.time_s[:-1]
    assert np.all((ppdus.time_s[1:] > ends) | together)
    assert np.all(ppdus.failed[1:][together])

    rows = [row for row in parquet.read_table(path).to_pylist() if row["record"] == "ppdu"]
    assert [row["mpdus"] for row in rows] == list(ppdus.mpdus)
    assert [row["failed"] for row in rows] == list(ppdus.failed)
    assert {row["receiver"] for row in rows} == {"ap", "a/0", "a/1"}
