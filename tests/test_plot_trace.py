"""Charts of traces: lines for a few flows, a map for many; reports include them."""

import re
from pathlib import Path
from typing import Any

import airtcp
import numpy as np
import pytest
from airtcp.present import plot, plot_trace, report
from airtcp.results import SimulationResult
from airtcp.scenario import loads
from bases import SATURATED, cell
from matplotlib.axes import Axes
from matplotlib.patches import StepPatch


def steps(axes: Axes) -> list[StepPatch]:
    """Return the step curves of a chart."""
    return [patch for patch in axes.patches if isinstance(patch, StepPatch)]


BULK = '{ kind = "bulk", start = { distribution = "uniform", low = "0 s", high = "10 s" } }'


def text_of(count: int, application: str = BULK) -> str:
    run: dict[str, Any] = {"warmup": "2 s", "duration": "18 s", "replications": 2}
    return cell(count, direction="upload", application=application, **run)


def traced(count: int, application: str = BULK, **options: object) -> SimulationResult:
    scenario = loads(text_of(count, application))
    return airtcp.simulate(scenario, trace=True, **options)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def few() -> SimulationResult:
    return traced(3)


@pytest.fixture(scope="module")
def many() -> SimulationResult:
    return traced(12)


def test_a_few_flows_are_lines_with_their_goodput(few: SimulationResult) -> None:
    figure = plot.pictures(few)["flow-goodput"]
    [axes] = figure.axes
    trace = few.simulation.runs[0].trace

    lines = {patch.get_label(): patch for patch in steps(axes)}
    assert set(lines) == set(trace.flow_names)
    for name in trace.flow_names:
        heights, edges, _ = lines[name].get_data()
        # Each of 200 samples of 100 ms is a point.
        np.testing.assert_allclose(heights * 1e6, trace.flow(name).goodput_bps)
        assert (edges[0], edges[-1]) == (0.0, pytest.approx(20.0))
    assert axes.get_ylabel() == "goodput (Mb/s)"
    # The end of the warm-up.
    assert [np.asarray(line.get_xdata())[0] for line in axes.lines] == [2.0]


def test_windows_count_up_to_the_receivers(few: SimulationResult) -> None:
    """The receive window, 64 KiB less one byte, caps a congestion window that grows further."""
    trace = few.simulation.runs[0].trace
    assert np.nanmax(trace.flow("laptop/0").cwnd_bytes) > 65_535

    [axes] = plot.pictures(few)["windows"].axes
    heights = np.concatenate([patch.get_data()[0] for patch in steps(axes)])
    assert np.nanmax(heights) == 65.535
    # Before a flow begins it has no window.
    assert np.isnan(heights).any()
    assert axes.get_ylabel() == "congestion window (kB)"


def test_many_flows_are_a_map(many: SimulationResult) -> None:
    figure = plot.pictures(many)["flow-goodput"]
    axes, scale = figure.axes
    trace = many.simulation.runs[0].trace

    [image] = axes.images
    rates = np.array([trace.flow(name).goodput_bps for name in trace.flow_names])
    np.testing.assert_allclose(np.asarray(image.get_array()) * 1e6, rates)
    assert [label.get_text() for label in axes.get_yticklabels()] == list(trace.flow_names)
    assert scale.get_ylabel() == "goodput (Mb/s)"
    assert list(image.get_extent()) == [0.0, pytest.approx(20.0), 11.5, -0.5]


def test_points_are_means_where_there_are_more_samples_than_points() -> None:
    trace = traced(2, trace_interval_s=0.01).simulation.runs[0].trace
    assert trace is not None
    [axes] = plot_trace.flow_goodput(trace, 0.0).axes

    heights, edges, _ = steps(axes)[0].get_data()
    assert (len(heights), len(axes.lines), edges[-1]) == (200, 0, pytest.approx(20.0))
    mean = trace.flow("laptop/0").goodput_bps.reshape(200, 10).mean(axis=1)
    np.testing.assert_allclose(heights * 1e6, mean)


@pytest.mark.parametrize(("count", "application", "shown"), [
    (2, SATURATED, {"flow-goodput"}), (1, BULK, {"windows"}), (2, BULK, {"flow-goodput", "windows"})
])  # fmt: skip
def test_what_makes_no_sense_is_not_drawn(count: int, application: str, shown: set[str]) -> None:
    assert set(plot.pictures(traced(count, application))) & {"flow-goodput", "windows"} == shown


def test_a_report_has_the_trace_and_its_map_inside(many: SimulationResult, tmp_path: Path) -> None:
    report.write(many, tmp_path)
    page = (tmp_path / "report.html").read_text()

    assert re.search("id=[\"']flow-goodput[\"']", page)
    assert plot.CAPTIONS["windows"] in page
    references = re.findall(r'(?:src|href)="([^"]{0,12})', page)
    assert all(reference.startswith(("#", "data:image/")) for reference in references)
    assert (tmp_path / "windows.svg").exists()
