"""Charts: drawn only when they make sense, reproducible to the byte, and valid inside a page."""

import re
import struct
from dataclasses import replace
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from airtcp.amounts import quantity
from airtcp.compare import compare
from airtcp.judge.verdicts import verdict
from airtcp.present import drawing, plot
from airtcp.results import Comparison
from airtcp.run.simulate import simulate
from airtcp.scenario import loads
from airtcp.stats import Interval
from bases import BULK, SATURATED, cell, reading
from wing import with_papers

#: The charts for web pages, which do not saturate the channel.
OF_PAGES = ["comparison", "airtime", "transfer-times", "active-transfers", "goodput"]
APPLICATIONS = {"web": reading("20 kB"), "bulk": BULK, "udp": SATURATED}


def compared(
    kind: str, count: int = 3, replications: int = 5, direction: str = "download"
) -> Comparison:
    run: dict[str, Any] = {"warmup": "1 s", "duration": "20 s", "replications": replications}
    application = APPLICATIONS[kind]
    text = cell(count, title=kind, application=application, direction=direction, **run)
    return compare(loads(text))


@pytest.fixture(scope="module")
def web() -> Comparison:
    return compared("web")


@with_papers
def test_pictures_that_would_show_nothing_are_left_out(web: Comparison) -> None:
    assert list(plot.pictures(web)) == OF_PAGES
    assert list(plot.pictures(compared("web", replications=1))) == OF_PAGES
    assert set(plot.pictures(simulate(web.scenario))) == set(OF_PAGES) - {"comparison"}
    endless = {"latency", "comparison", "airtime", "stations", "goodput"}
    assert set(plot.pictures(compared("bulk"))) == endless
    lone = plot.pictures(compared("udp", count=1, direction="upload"))
    assert set(lone) == {"comparison", "airtime", "goodput"}


def test_latency_shows_calls_with_the_bounds_of_their_targets() -> None:
    speech = '{ kind = "udp", packet = "200 B", rate = "80 kb/s" }'
    text = cell(3, application=speech, direction="both", duration="2 s", replications=3)
    scenario = loads(text).vary({"targets": {"laptop/upload p95 packet_delay": "< 20 ms"}})
    result = compare(scenario)
    [axes] = plot.pictures(replace(result, verdict=verdict(result)))["latency"].axes

    labels = [label.get_text() for label in axes.get_yticklabels()]
    assert sorted(labels) == ["laptop downloads\none way", "laptop uploads\none way"]
    [bound] = [line for line in axes.lines if line.get_label() == "bound of a target"]
    assert list(np.asarray(bound.get_xdata())) == [0.02]
    place = labels.index("laptop uploads\none way")
    assert list(np.asarray(bound.get_ydata())) == [place]
    delay = result.simulation.groups["laptop"]["upload"]["packet_delay_p95_s"].mean
    [p95] = [line for line in axes.lines if line.get_label() == "95 %"]
    assert np.asarray(p95.get_xdata())[place] == delay


def test_latency_within_a_decade_has_times_along_its_axis() -> None:
    """Round trips of uploads lie between 200 and 500 ms: no power of ten is on the axis."""
    result = compare(loads(cell(3, direction="upload", duration="5 s", replications=3)))
    figure = plot.pictures(result)["latency"]
    [axes] = figure.axes

    figure.canvas.draw()
    labels = [label for label in axes.get_xticklabels(which="both") if label.get_text()]
    assert {"200 ms", "500 ms"} & {label.get_text() for label in labels}
    # Labels of major and minor ticks are aligned.
    assert len({round(label.get_window_extent().y1, 2) for label in labels}) == 1


def test_stations_that_want_little_have_no_picture_of_shares() -> None:
    """Speech gets the rate it asks for, while downloads share the rest."""
    text = cell(2, name="desk", duration="2 s", replications=2) + (
        '[[stations]]\nname = "phone"\ncount = 3\n[[flows]]\nstations = "phone"\n'
        'direction = "upload"\n'
        'application = { kind = "udp", packet = "200 B", rate = "80 kb/s" }\n'
    )
    [axes] = plot.pictures(simulate(loads(text)))["stations"].axes

    shown = {tick.get_text() for tick in axes.get_xticklabels()}
    assert shown == {"desk/0", "desk/1"}


def test_an_inlined_svg_names_nothing_outside_of_itself(web: Comparison) -> None:
    for name, figure in plot.pictures(web).items():
        element = drawing.inlined(drawing.svg(figure), name, 'goodput & "time"')
        assert not re.search("http|#ffffff|<dc:date>", element)
        assert 'aria-label="goodput &amp; &quot;time&quot;"' in element
        ids = set(re.findall(r'\bid="([^"]+)"', element))
        used = re.findall(r'href="#([^"]+)"', element) + re.findall(r"url\(#([^)]+)\)", element)
        assert set(used) <= ids
        assert all(one.startswith(f"{name}-") for one in ids)
        ElementTree.fromstring(element)


@with_papers
def test_colours_of_an_inlined_svg_are_the_page_s(web: Comparison) -> None:
    element = drawing.inlined(drawing.svg(plot.pictures(web)["active-transfers"]), "a", "label")

    assert {"blue", "vermilion", "ink"} <= set(re.findall(r"var\(--(\w+)\)", element))
    assert not re.search(r"#[0-9a-fA-F]{6}\b(?=[;\"])", element)


def test_a_picture_has_the_same_bytes_whatever_matplotlibrc_says(web: Comparison) -> None:
    import matplotlib

    def drawn() -> tuple[str, bytes]:
        figure = plot.pictures(web)["goodput"]
        return drawing.svg(figure), drawing.png(figure)

    before = drawn()
    assert struct.unpack(">II", before[1][16:24]) > (1000, 200)
    with matplotlib.rc_context({"lines.linewidth": 9.0, "font.size": 20.0}):
        assert drawn() == before


def test_the_curve_of_transfer_times_has_the_percentiles_of_the_tables(web: Comparison) -> None:
    """The curve of the replications is shifted to the estimates in the table."""
    axes = plot.pictures(web)["transfer-times"].get_axes()[0]

    times, levels = (np.asarray(values) for values in axes.lines[0].get_data())
    for name, level in (("p50", 0.5), ("p90", 0.9), ("p99", 0.99)):
        one = web.simulation.estimates[f"transfer_time_{name}_s"]
        mean = one.interval.mean
        assert web.simulation.metrics[f"transfer_time_{name}_s"].mean == mean
        if mean is None:
            # Too few transfers ended for this percentile.
            continue
        assert np.interp(level, levels, times) == pytest.approx(mean, rel=1e-9)
        told = [text.get_text() for text in axes.texts]
        assert f"{100 * level:g} %: {quantity(mean, 's', 3)}" in told
    assert len(times) < 1000
    assert (np.diff(times) >= 0.0).all()
    if mean is not None and one.plain.mean is not None:
        # Beyond the last estimate the curve is shifted by the same factor.
        slowest = np.mean([run.transfer_times_s.max() for run in web.simulation.runs])
        assert times[-1] == pytest.approx(slowest * mean / one.plain.mean)


def test_a_percentile_that_cannot_be_told_yet_has_a_bound_in_the_picture() -> None:
    pages = compared("web", replications=2)
    metrics = pages.simulation.metrics
    bound = Interval(None, 3.25, None, 2)
    unsteady = replace(pages.simulation, metrics=metrics | {"transfer_time_p99_s": bound})

    axes = plot.pictures(replace(pages, simulation=unsteady))["transfer-times"].get_axes()[0]

    told = [text.get_text() for text in axes.texts]
    assert "99 %: at least 3.25 s" in told
    assert any(text.startswith("90 %: ") and "least" not in text for text in told)


def test_two_thousand_stations_can_be_drawn() -> None:
    result = compared("udp", count=2000, replications=1, direction="upload")

    assert len(drawing.svg(plot.pictures(result)["stations"])) < 2_000_000
