"""The store of a sweep stays readable if its writer dies, and can be continued."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from airtcp.exceptions import OutputError, QuestionError
from airtcp.results.query import open as opened
from airtcp.results.table import AxisColumn, Contents, Writer, check_own

AXES = (AxisColumn("count", "count"),)
WIDER = {"axes": (*AXES, AxisColumn("limit", "limit"))}


def about(**given: Any) -> Contents:
    return replace(Contents("1.0", "abc", AXES, ("goodput_bps",), 0.95, "{}"), **given)


def rows(point: str, *replications: int, metric: str = "goodput_bps") -> dict[str, Any]:
    return {
        "point": [point] * len(replications),
        "replication": replications,
        "seed": [1] * len(replications),
        metric: [float(one) for one in replications],
    }


def filled(folder: Path) -> pa.Table:
    with Writer.open(folder, about()) as writer:
        writer.add_points(pa.table({"point": ["a", "b"], "count": [1, 2]}))
        writer.add(rows("b", 1, 0))
        writer.add(rows("a", 0))
    return opened(folder).table


#: A later sweep on the filled store: its description, its points and rows, and the expected
#: columns point, replication, axes and goodput.
LATER: dict[str, tuple[list[tuple[dict[str, Any], dict[str, Any], list[Any]]], list[Any]]] = {
    "nothing": ([], [("a", 0, 1, 0.0), ("b", 0, 2, 0.0), ("b", 1, 2, 1.0)]),
    # Points of the new grid come first. The new grid gives values of the new axis; other points
    # have none. An axis that a later sweep leaves out keeps its column.
    "an axis": (
        [
            (WIDER, {"point": ["a", "c"], "count": [1, 1], "limit": [10, 20]}, ["c"]),
            ({}, {"point": ["a"], "count": [1]}, []),
        ],
        [
            ("a", 0, 1, 10, 0.0),
            ("c", 0, 1, 20, 0.0),
            ("b", 0, 2, None, 0.0),
            ("b", 1, 2, None, 1.0),
        ],
    ),
    "a second name": (
        [({}, {"point": ["a"], "count": [7]}, [])],
        [("a", 0, 7, 0.0), ("a", 0, 1, 0.0), ("b", 0, 2, 0.0), ("b", 1, 2, 1.0)],
    ),
    "a fraction": (
        [({}, {"point": ["c"], "count": [2.5]}, ["c"])],
        [("c", 0, 2.5, 0.0), ("a", 0, 1.0, 0.0), ("b", 0, 2.0, 0.0), ("b", 1, 2.0, 1.0)],
    ),
}


@pytest.mark.parametrize("name", LATER)
def test_rows_have_the_names_of_their_points(tmp_path: Path, name: str) -> None:
    later, expected = LATER[name]
    filled(tmp_path)
    for given, points, run in later:
        with Writer.open(tmp_path, about(**given)) as writer:
            writer.add_points(pa.table(points))
            for point in run:
                writer.add(rows(point, 0))
    found = opened(tmp_path)

    columns = ["point", "replication", *(axis.name for axis in found.axes), "goodput_bps"]
    shown = found.table.select(columns).to_pylist()
    assert [tuple(row[column] for column in columns) for row in shown] == expected
    assert set(found.table["version"].to_pylist()) == {"1.0"}


def test_many_files_are_merged_during_the_sweep(tmp_path: Path) -> None:
    with Writer.open(tmp_path, about()) as writer:
        writer.add_points(pa.table({"point": ["a"], "count": [1]}))
        for replication in range(100):
            writer.add(rows("a", replication))
            assert len(writer.contents.rows) <= 40
    before = opened(tmp_path).table
    assert before["replication"].to_pylist() == list(range(100))

    with Writer.open(tmp_path, about()) as writer:
        writer.compact()

    assert opened(tmp_path).table.equals(before)
    assert len(list(tmp_path.glob("rows-*"))) == 1


def test_leftovers_of_a_dead_process_are_ignored_and_removed(tmp_path: Path) -> None:
    """One file was written but not yet listed, one was still being written."""
    before = filled(tmp_path)
    orphan, half = tmp_path / "rows-000900.parquet", tmp_path / ".rows-000901.parquet.123"
    orphan.write_bytes(next(tmp_path.glob("rows-*")).read_bytes())
    half.write_bytes(b"PAR1")
    mine = tmp_path / "notes.txt"
    mine.write_text("mine")

    assert opened(tmp_path).table.equals(before)
    with Writer.open(tmp_path, about()) as writer:
        assert writer.have() == {"a": {0}, "b": {0, 1}}
    assert [one.exists() for one in (orphan, half, mine)] == [False, False, True]


def test_a_damaged_file_is_named_and_a_missing_one_is_run_again(tmp_path: Path) -> None:
    filled(tmp_path)
    victim = sorted(tmp_path.glob("rows-*"))[0]
    victim.write_bytes(victim.read_bytes()[:100])

    with pytest.raises(OutputError, match=r"rows-000001\.parquet"):
        opened(tmp_path)
    victim.unlink()
    with Writer.open(tmp_path, about()) as writer:
        assert writer.have() == {"a": {0}}


@pytest.mark.parametrize(
    ("given", "count", "said"),
    [
        ({"version": "2.0"}, 1, "has results of airtcp 1.0, and this is 2.0"),
        (
            {"metrics": ("goodput_bps", "jain_index")},
            1,
            "does not have jain_index; allowed: its metrics",
        ),
        ({"axes": (AxisColumn("count", "count", "s"),)}, 1, "has count in no unit"),
        ({}, "many", "the columns of .* differ"),
    ],
)
def test_a_sweep_that_does_not_fit_is_refused_and_changes_nothing(
    tmp_path: Path, given: dict[str, Any], count: Any, said: str
) -> None:
    before = filled(tmp_path)

    with pytest.raises(OutputError, match=said), Writer.open(tmp_path, about(**given)) as writer:
        writer.add_points(pa.table({"point": ["d"], "count": [count]}))

    assert opened(tmp_path).table.equals(before)


def test_a_sweep_of_fewer_metrics_keeps_those_of_the_store(tmp_path: Path) -> None:
    metrics = ("goodput_bps", "jain_index")
    with Writer.open(tmp_path, about(metrics=metrics)) as writer:
        writer.add(rows("a", 0) | {"jain_index": [1.0]})
    with Writer.open(tmp_path, about()) as writer:
        assert writer.contents.metrics == metrics


def test_a_folder_without_a_store_is_refused(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match="holds no results"):
        opened(tmp_path / "nowhere")
    filled(tmp_path)
    file = tmp_path / "store.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | {"format": 2}))
    with pytest.raises(OutputError, match=r"format 2, .* 1\.0"):
        opened(tmp_path)
    with pytest.raises(OutputError, match="format 2"), Writer.open(tmp_path, about()):
        pass
    file.write_text("{}")
    with pytest.raises(OutputError, match="is damaged"):
        opened(tmp_path)


def test_a_folder_with_other_files_is_refused_and_left_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "rows-1.parquet").write_text("mine")
    (tmp_path / "scenario.toml").write_text("mine, too")

    with pytest.raises(OutputError, match=r"scenario\.toml"):
        check_own(tmp_path)

    assert sorted(path.name for path in tmp_path.iterdir()) == ["rows-1.parquet", "scenario.toml"]
    # A store stays usable if other files are put next to it.
    filled(tmp_path / "store")
    (tmp_path / "store" / "plot.png").write_text("mine")
    check_own(tmp_path / "store")


def test_the_results_are_frames_and_a_full_grid_is_an_array(tmp_path: Path) -> None:
    for name in ("pandas", "polars", "xarray"):
        pytest.importorskip(name, reason=f"{name} is an optional extra")
    filled(tmp_path)
    found = opened(tmp_path)
    assert found.pandas()["goodput_bps"].tolist() == [0.0, 0.0, 1.0]
    assert found.polars()["goodput_bps"].to_list() == [0.0, 0.0, 1.0]
    with pytest.raises(QuestionError, match="3 rows for 2 x 2"):
        found.xarray()
    with Writer.open(tmp_path, about()) as writer:
        writer.add(rows("a", 1))

    grid = opened(tmp_path).xarray()

    assert dict(grid.sizes) == {"count": 2, "replication": 2}
    assert grid["goodput_bps"].sel(count=2).values.tolist() == [0.0, 1.0]


@pytest.mark.parametrize(
    ("metrics", "words", "refused"),
    [
        (
            ["goodput_bps"],
            ["goodput_bps"],
            {
                "limit": r"is not a column; allowed: count, goodput_bps",
                "bps": r"is not a column \(did you mean goodput_bps\?\); allowed: count",
                "conut": r"is not a column \(did you mean count\?\)",
            },
        ),
        (
            ["guest.download.flow_goodput_bps"],
            ["flow_goodput", "download.goodput_per_flow", "guest/download flow_goodput"],
            {},
        ),
        (
            ["guest.download.goodput_bps", "guest.upload.goodput_bps"],
            ["upload.goodput"],
            {"guest": r"may be guest\.download\.goodput_bps, guest\.upload\.goodput_bps; allowed"},
        ),
        (["packet_delay_p95_s"], ["p95 delay"], {"p99 delay": "is not a column"}),
    ],
)
def test_a_column_goes_by_a_part_of_its_name_or_by_the_words_of_a_screen(
    tmp_path: Path, metrics: list[str], words: list[str], refused: dict[str, str]
) -> None:
    with Writer.open(tmp_path, about(metrics=tuple(metrics))) as writer:
        writer.add_points(pa.table({"point": ["a"], "count": [1]}))
        writer.add(rows("a", 0) | {key: [0.0] for key in metrics})
    found = opened(tmp_path)

    assert {found.column(one) for one in words} == {metrics[-1]}
    for name, said in refused.items():
        with pytest.raises(QuestionError, match=f"^{name} {said}"):
            found.column(name)
