"""Single transfers, charts and tables of results, as library users get them."""

from pathlib import Path
from typing import Any

import airtcp
import numpy as np
import pytest
from airtcp.exceptions import OutputError, QuestionError
from airtcp.results import SimulationResult
from commands import call
from wing import with_papers

CELL = """
phy = { standard = "802.11b" }
stations = [{ name = "laptop", count = 3 }, { name = "phone", count = 1 }]
run = { warmup = "5 s", duration = "20 s", replications = 2 }
[[flows]]
stations = "laptop"
direction = "download"
application = { kind = "web", request = "300 B", think_time = { distribution = "exponential", \
mean = "1 s" }, size = { distribution = "exponential", mean = "30 kB" } }
[[flows]]
stations = "phone"
direction = "upload"
application = { kind = "ftp", size = "12345 B", interarrival = "2 s" }
"""


@pytest.fixture(scope="module")
def result() -> SimulationResult:
    return airtcp.simulate(airtcp.load(CELL), transfers=True, trace=True)


def test_times_of_transfers_are_those_that_are_measured(result: SimulationResult) -> None:
    for run in result.simulation.runs:
        assert run.transfers is not None
        assert len(run.transfers) == run.answer["counts"]["transfers"] > 20
        assert np.array_equal(run.transfers.time_s, run.transfer_times_s)


def test_each_transfer_begins_and_ends_where_the_trace_says(result: SimulationResult) -> None:
    """Two independent sources, the trace's events and the transfers, agree to the nanosecond."""
    run = result.simulation.runs[0]

    def said(event: str) -> set[tuple[str, int]]:
        return pairs(run.trace.events(event).flow, run.trace.events(event).time_s)

    def pairs(flows: Any, times_s: Any) -> set[tuple[str, int]]:
        times = np.rint(times_s * 1e9).astype(int).tolist()
        return set(zip(flows.tolist(), times, strict=True))

    own = run.transfers
    assert pairs(own.flow, own.start_s) <= said("transfer_start")
    ended = {one for one in said("transfer_end") if 5e9 <= one[1] < 25e9}
    assert pairs(own.flow, own.start_s + own.time_s) == ended


def test_sizes_are_the_payload_of_data(result: SimulationResult) -> None:
    """Each transfer of the phone has 12345 bytes. The laptops' transfers, without requests, add up
    to their goodput except for those in progress at either end of the measured time."""
    table = result.simulation.transfers().to_pandas()

    phone = table[table["flow"] == "phone/0"]
    assert len(phone) > 5
    assert set(phone["size_bytes"]) == {12345}
    for index, of_run in table[table["flow"] != "phone/0"].groupby("replication"):
        goodput = result.simulation.values("goodput_bps", "laptop")[index]
        largest = of_run["size_bytes"].max()
        assert abs(of_run["size_bytes"].sum() - goodput * 20 / 8) <= 2 * 3 * largest


def test_who_asks_for_transfers_gets_the_same_numbers(result: SimulationResult) -> None:
    plain = airtcp.simulate(airtcp.load(CELL))

    assert plain.metrics == result.metrics
    with pytest.raises(ValueError, match="were not kept"):
        plain.simulation.transfers()


@pytest.mark.parametrize("ending", ["parquet", "csv"])
def test_the_file_has_the_table(result: SimulationResult, tmp_path: Path, ending: str) -> None:
    from pyarrow import csv, parquet

    scenario, path = tmp_path / "cell.toml", tmp_path / f"transfers.{ending}"
    scenario.write_text(CELL)
    for _ in range(2):
        # airtcp overwrites its own file.
        arguments = ["simulate", str(scenario), "--transfers", str(path), "--json"]
        assert call(*arguments).exit_code == 0

    read = parquet.read_table(path) if ending == "parquet" else csv.read_csv(path)

    assert read.to_pylist() == result.simulation.transfers().to_pylist()


def test_a_file_of_others_and_a_name_of_none_are_refused(tmp_path: Path) -> None:
    scenario, path = tmp_path / "cell.toml", tmp_path / "mine.csv"
    scenario.write_text(CELL)
    path.write_text("flow,size_bytes\n")

    refused = call("simulate", scenario, "--transfers", path)

    assert refused.exit_code != 0
    assert "airtcp did not write it" in refused.stderr
    assert path.read_text() == "flow,size_bytes\n"
    with pytest.raises(OutputError, match=r"\.parquet"):
        airtcp.simulate(airtcp.load(CELL), transfers=tmp_path / "transfers.txt")


# Charts and tables.


def png(figure: Any) -> bytes:
    """Return the first bytes of the picture that a notebook shows."""
    return bytes(figure._repr_png_()[:4])


def test_results_are_plotted(result: SimulationResult) -> None:
    compared = airtcp.compare(airtcp.load(CELL))
    assert png(result.plot()) == b"\x89PNG"
    names = [compared.plot(name).get_axes()[0].get_xlabel() for name in ("airtime", "goodput")]
    assert len(set(names)) == 2
    with pytest.raises(QuestionError, match="windows"):
        compared.plot("windows")


def test_differences_are_plotted_and_tabled() -> None:
    scenario = airtcp.load(CELL)
    difference = airtcp.diff(scenario, scenario.vary({"stations.laptop.count": 9}))

    assert png(difference.plot()) == b"\x89PNG"
    frame = difference.to_pandas()
    row = frame[(frame["metric"] == "goodput_bps") & frame["group"].isna()].iloc[0]
    assert row["difference"] == difference.metrics["goodput_bps"].difference.mean
    assert row["b"] - row["a"] == pytest.approx(row["difference"])
    separated = [one.change for one in difference.ranked() if one.change.separated]
    known = [one for one in separated if None not in (one.a.mean, one.b.mean)]
    assert difference._repr_html_().count("<tr>") - 1 == len(known) > 0


def test_plans_are_plotted_and_tabled() -> None:
    short = airtcp.load(CELL).vary({"run.duration": "5 s"})
    until = "transfer_time > 400 ms"
    plan = airtcp.plan(short, vary="stations", until=until, remedies=["short-preamble"])

    assert png(plan.plot()) == b"\x89PNG"
    evidence = plan.to_pandas()
    values = {one.value for one in plan.evidence if one.depth == "simulation"}
    assert set(evidence[evidence["depth"] == "simulation"]["value"]) == values
    assert "the short preamble" in plan._repr_html_()


@with_papers
def test_models_stand_beside_the_simulation() -> None:
    endless = CELL.partition("[[flows]]")[0]
    endless += '[[flows]]\nstations = "laptop"\ndirection = "download"\n'
    compared = airtcp.compare(airtcp.load(endless + 'application = { kind = "bulk" }'))

    rows = compared._repr_html_().split("<tr>")[1:]
    goodput = next(row for row in rows if "goodput, all flows" in row)
    first = next(row for row in compared.comparison if row.metric == "goodput_bps")
    assert first.source in goodput
    assert first.verdict in goodput
    prediction = airtcp.predict(compared.scenario)
    table = prediction.to_pandas()
    best = prediction.best("goodput_bps")
    assert table[table["metric"] == "goodput_bps"].iloc[0]["value"] == best.value
    assert best.source in prediction._repr_html_()
