"""Charts of a table show the values of the rows."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from airtcp.exceptions import QuestionError
from airtcp.present.drawing import INK
from airtcp.present.plot_table import picture
from airtcp.results import Results
from airtcp.results import open as opened
from airtcp.results.table import AxisColumn, Contents, Writer
from airtcp.stats import student_interval
from commands import call
from matplotlib.axes import Axes

#: Goodput of two queues q, two station counts n, three replications r: 1000 q + 10 n + r.
QUEUES, COUNTS, REPLICATIONS = ("short", "long"), (1, 4), (0, 1, 2)
WHITE = "#ffffff"


@pytest.fixture
def results(tmp_path: Path) -> Results:
    return stored(tmp_path, COUNTS)


def stored(folder: Path, counts: Sequence[int]) -> Results:
    axes = (AxisColumn("queue", "queue"), AxisColumn("stations.laptop.count", "count"))
    contents = Contents("1", "a", axes, ("goodput_bps", "transfer_time_s"), 0.95, "{}")
    names = [(q, n) for q in range(2) for n in counts]
    rows = [
        {
            "point": f"{q}{n}",
            "replication": r,
            "seed": 1,
            "goodput_bps": 1000.0 * q + 10 * n + r,
            "transfer_time_s": None,
        }
        for q, n in names
        for r in REPLICATIONS
    ]
    points: dict[str, list[Any]] = {
        "point": [f"{q}{n}" for q, n in names],
        "queue": [QUEUES[q] for q, _ in names],
        "stations.laptop.count": [n for _, n in names],
    }
    with Writer.open(folder, contents) as writer:
        writer.add_points(pa.table(points))
        writer.add({key: [row[key] for row in rows] for key in rows[0]})
    return opened(folder)


def axes_of(results: Results, **how: Any) -> tuple[Axes, str]:
    figure, caption = picture(results, **how)
    return figure.axes[0], caption


def test_lines_are_means_with_the_intervals_of_replications(results: Results) -> None:
    axes, caption = axes_of(results, x="stations", y="goodput_bps", by="queue")

    (_, _, (bars,)), (line, _, _) = axes.containers
    # From 1000 b/s on the unit is kb/s.
    assert line.get_xydata().tolist() == [[1.0, pytest.approx(1.011)], [4.0, pytest.approx(1.041)]]
    half_width = student_interval([10.0, 11.0, 12.0]).half_width
    (_, low), (_, high) = bars.get_segments()[0]
    assert 1000 * (high - low) / 2 == pytest.approx(half_width)
    assert axes.get_ylabel() == "goodput, all flows (kb/s)"
    assert axes.get_legend_handles_labels()[1] == list(QUEUES)
    assert caption.endswith("of 3 replications.")


def test_an_axis_that_is_not_named_is_averaged_within_each_replication(results: Results) -> None:
    """The mean over queues of 10 n + r and 1000 + 10 n + r varies only with r."""
    axes, caption = axes_of(results, x="stations", y="goodput_bps")

    ((line, _, (bars,)),) = axes.containers
    assert line.get_ydata().tolist() == pytest.approx([0.511, 0.541])
    half_width = student_interval([510.0, 511.0, 512.0]).half_width
    (_, low), (_, high) = bars.get_segments()[0]
    assert 1000 * (high - low) / 2 == pytest.approx(half_width)
    assert caption.endswith("; each the mean over queue.")


def test_a_map_has_a_cell_for_each_pair(results: Results) -> None:
    axes, _ = axes_of(results, x="stations", y="goodput_bps", by="queue", kind="heat")

    (image,) = axes.images
    assert image.get_array().tolist() == [
        pytest.approx([0.011, 0.041]),
        pytest.approx([1.011, 1.041]),
    ]
    shown = [(text.get_text(), text.get_color()) for text in axes.texts]
    # Text is white on the dark colors of small values.
    assert shown == [("0.011", WHITE), ("0.041", WHITE), ("1.01", INK), ("1.04", INK)]


def test_a_distribution_steps_up_at_each_replication(results: Results) -> None:
    axes, _ = axes_of(results, y="goodput_bps", by="queue", kind="cdf")

    line = axes.lines[0]
    assert line.get_xdata().tolist() == pytest.approx([0.025, 0.025, 0.026, 0.027])
    assert line.get_ydata().tolist() == pytest.approx([0, 1 / 3, 2 / 3, 1])
    # Dots are rows.
    dots, _ = axes_of(results, x="queue", y="goodput_bps", kind="scatter")
    assert len(np.asarray(dots.collections[0].get_offsets())) == 12


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ({"y": "goodput_bps"}, "--x is missing"),
        ({"x": "stations", "y": "badput"}, "badput is not a column; allowed: queue, stations"),
        ({"x": "stations", "y": "transfer_time_s"}, "has no numbers to draw"),
        (
            {"x": "stations", "y": "goodput_bps", "kind": "heat"},
            "needs --x and --by; allowed: --by",
        ),
    ],
)
def test_what_cannot_be_drawn_is_said(results: Results, how: dict[str, Any], said: str) -> None:
    with pytest.raises(QuestionError, match=said):
        picture(results, **how)


def test_the_command_writes_pictures_and_nothing_over_other_files(
    results: Results, tmp_path: Path
) -> None:
    mine = tmp_path / "mine.png"
    mine.write_text("mine")
    for status, *arguments in (
        (0, "--out", tmp_path / "one.png"),
        (0, "--out", tmp_path / "one.png", "--where", "queue = 'long'"),
        (0, "--out", tmp_path / "one.svg"),
        (2, "--out", mine),
        (2, "--out", tmp_path / "one.jpg"),
        (2, "--out", tmp_path / "two.png", "--where", "queue = 'none'"),
        (2, "--kind", "pie"),
    ):
        where = ["plot", results.folder, "--x", "stations", "--y", "goodput_bps"]
        assert call(*where, *arguments).exit_code == status, arguments
    assert mine.read_text() == "mine"


def test_series_over_words_stand_side_by_side(results: Results) -> None:
    """In the order of the legend, next to each other, so that equal values hide nothing."""
    axes, _ = axes_of(results, x="queue", y="goodput_bps", by="stations")

    first, second = ([place for place, _ in one[0].get_xydata()] for one in axes.containers)
    assert first == pytest.approx([-0.04, 0.96])
    assert second == pytest.approx([0.04, 1.04])


@pytest.mark.parametrize(
    ("counts", "scale"), [([1, 2, 4, 30], "linear"), ([1, 4, 31], "linear"), ([1, 2, 4, 31], "log")]
)
def test_an_axis_of_four_values_over_a_ratio_of_thirty_is_logarithmic(
    tmp_path: Path, counts: list[int], scale: str
) -> None:
    axes, _ = axes_of(stored(tmp_path, counts), x="stations", y="goodput_bps")
    assert axes.get_xscale() == scale


def test_more_lines_than_colours_are_refused(tmp_path: Path) -> None:
    how: dict[str, Any] = {"x": "queue", "y": "goodput_bps", "by": "stations"}
    assert len(axes_of(stored(tmp_path / "6", range(6)), **how)[0].containers) == 6
    with pytest.raises(QuestionError, match="has 7 values"):
        picture(stored(tmp_path / "7", range(7)), **how)
