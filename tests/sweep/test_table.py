"""The store: what is there is whole, whatever happens to who writes it, and goes on."""

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


def about(**given: Any) -> Contents:
    return replace(Contents("1.0", "abc", AXES, ("goodput_bps",), 0.95, "{}"), **given)


def rows(point: str, *replications: int, metric: str = "goodput_bps") -> dict[str, Any]:
    return {
        "point": [point] * len(replications),
        "replication": replications,
        "seed": [1] * len(replications),
        metric: [float(one) for one in replications],
    }


def points(**columns: list[Any]) -> pa.Table:
    return pa.table(columns)


def filled(folder: Path) -> None:
    with Writer.open(folder, about()) as writer:
        writer.add_points(points(point=["a", "b"], count=[1, 2]))
        writer.add(rows("b", 0, 1))
        writer.add(rows("a", 0))


def test_rows_are_there_with_the_names_of_their_points(tmp_path: Path) -> None:
    filled(tmp_path)

    found = opened(tmp_path)

    columns = ["point", "replication", "count", "goodput_bps"]
    assert found.table.select(columns).to_pylist() == [
        {"point": "a", "replication": 0, "count": 1, "goodput_bps": 0.0},
        {"point": "b", "replication": 0, "count": 2, "goodput_bps": 0.0},
        {"point": "b", "replication": 1, "count": 2, "goodput_bps": 1.0},
    ]
    assert set(found.table["version"].to_pylist()) == {"1.0"}


def test_many_files_are_put_together_on_the_way(tmp_path: Path) -> None:
    with Writer.open(tmp_path, about()) as writer:
        writer.add_points(points(point=["a"], count=[1]))
        for replication in range(100):
            writer.add(rows("a", replication))
        assert len(writer.contents.rows) <= 41
    before = opened(tmp_path).table
    assert before["replication"].to_pylist() == list(range(100))

    with Writer.open(tmp_path, about()) as writer:
        writer.compact()
        assert len(writer.contents.rows) == 1

    assert opened(tmp_path).table.equals(before)
    assert len(list(tmp_path.glob("rows-*"))) == 1


def test_what_a_dead_process_left_is_no_part_of_it_and_goes(tmp_path: Path) -> None:
    """A file that was written, and not yet named; one that was being written."""
    filled(tmp_path)
    before = opened(tmp_path).table
    orphan, half = tmp_path / "rows-000900.parquet", tmp_path / ".rows-000901.parquet.123"
    orphan.write_bytes(next(tmp_path.glob("rows-*")).read_bytes())
    half.write_bytes(b"PAR1")
    mine = tmp_path / "notes.txt"
    mine.write_text("mine")

    assert opened(tmp_path).table.equals(before)
    with Writer.open(tmp_path, about()) as writer:
        assert writer.have() == {"a": {0}, "b": {0, 1}}

    assert not orphan.exists()
    assert not half.exists()
    assert mine.exists()


def test_a_damaged_file_is_named(tmp_path: Path) -> None:
    filled(tmp_path)
    victim = sorted(tmp_path.glob("rows-*"))[0]
    victim.write_bytes(victim.read_bytes()[:100])

    with pytest.raises(OutputError, match=r"rows-000001\.parquet is damaged .*; remove"):
        opened(tmp_path)
    # One that is gone is work that is not done.
    victim.unlink()
    with Writer.open(tmp_path, about()) as writer:
        assert writer.have() == {"a": {0}}


def test_a_new_axis_names_the_points_that_were_there(tmp_path: Path) -> None:
    """Those that the new grid has too; of the others nobody knows."""
    filled(tmp_path)
    axes = (*AXES, AxisColumn("limit", "limit"))

    with Writer.open(tmp_path, about(axes=axes)) as writer:
        writer.add_points(points(point=["a", "c"], count=[1, 1], limit=[10, 20]))
        writer.add(rows("c", 0))
    # An axis that is left out keeps its column.
    with Writer.open(tmp_path, about()) as writer:
        writer.add_points(points(point=["a"], count=[1]))

    found = opened(tmp_path).table.select(["point", "count", "limit"]).to_pylist()
    assert found == [
        {"point": "a", "count": 1, "limit": 10},
        {"point": "c", "count": 1, "limit": 20},
        {"point": "b", "count": 2, "limit": None},
        {"point": "b", "count": 2, "limit": None},
    ]


def test_a_point_with_two_names_is_shown_by_both(tmp_path: Path) -> None:
    with Writer.open(tmp_path, about()) as writer:
        writer.add_points(points(point=["a", "a"], count=[1, 2]))
        writer.add(rows("a", 0))

    assert opened(tmp_path).table["count"].to_pylist() == [1, 2]


def test_whole_numbers_go_on_with_others_and_not_with_texts(tmp_path: Path) -> None:
    filled(tmp_path)

    with Writer.open(tmp_path, about()) as writer:
        writer.add_points(points(point=["c"], count=[2.5]))
        with pytest.raises(OutputError, match="differ"):
            writer.add_points(points(point=["d"], count=["many"]))

    assert opened(tmp_path).table["count"].to_pylist() == [1.0, 2.0, 2.0]


@pytest.mark.parametrize(
    ("other", "said"),
    [
        ({"version": "2.0"}, "has results of airtcp 1.0, and this is 2.0"),
        (
            {"metrics": ("goodput_bps", "jain_index")},
            "does not have jain_index; allowed: its metrics",
        ),
        ({"axes": (AxisColumn("count", "count", "s"),)}, "has count in no unit"),
    ],
)
def test_what_does_not_fit_is_refused_and_does_no_harm(
    tmp_path: Path, other: dict[str, Any], said: str
) -> None:
    filled(tmp_path)
    before = opened(tmp_path).table

    with pytest.raises(OutputError, match=said), Writer.open(tmp_path, about(**other)):
        pass

    assert opened(tmp_path).table.equals(before)


def test_what_is_no_store_is_refused(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match="holds no results"):
        opened(tmp_path / "nowhere")
    filled(tmp_path)
    file = tmp_path / "store.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | {"format": 2}))
    with pytest.raises(OutputError, match=r"format 2, made by airtcp 1\.0"):
        opened(tmp_path)
    with pytest.raises(OutputError, match="format 2"), Writer.open(tmp_path, about()):
        pass
    file.write_text("{}")
    with pytest.raises(OutputError, match="is damaged, or not from airtcp"):
        opened(tmp_path)


def test_a_folder_with_files_of_others_is_refused_and_left_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "rows-1.parquet").write_text("mine")
    (tmp_path / "scenario.toml").write_text("mine, too")

    with pytest.raises(OutputError, match=r"such as scenario\.toml; allowed: a new or empty"):
        check_own(tmp_path)

    assert sorted(path.name for path in tmp_path.iterdir()) == ["rows-1.parquet", "scenario.toml"]
    # A store goes on, whatever was put beside it.
    filled(tmp_path / "store")
    (tmp_path / "store" / "plot.png").write_text("mine")
    check_own(tmp_path / "store")


def test_sql_asks_the_view(tmp_path: Path) -> None:
    filled(tmp_path)
    found = opened(tmp_path)

    query = "SELECT count, avg(goodput_bps) AS mean FROM results GROUP BY ALL ORDER BY 1"
    answer = found.sql(query).to_pylist()
    assert answer == [{"count": 1, "mean": 0.0}, {"count": 2, "mean": 0.5}]
    with pytest.raises(QuestionError, match="Referenced column"):
        found.sql("SELECT nothing FROM results")
    pytest.importorskip("pandas", reason="pandas is an optional extra")
    pytest.importorskip("polars", reason="Polars is an optional extra")
    assert found.pandas()["goodput_bps"].tolist() == [0.0, 0.0, 1.0]
    assert found.polars()["goodput_bps"].to_list() == [0.0, 0.0, 1.0]


def test_a_full_grid_is_an_array(tmp_path: Path) -> None:
    pytest.importorskip("xarray", reason="xarray is an optional extra")
    filled(tmp_path)
    with pytest.raises(QuestionError, match="is not a full grid"):
        opened(tmp_path).xarray()
    with Writer.open(tmp_path, about()) as writer:
        writer.add(rows("a", 1))

    grid = opened(tmp_path).xarray()

    assert dict(grid.sizes) == {"count": 2, "replication": 2}
    assert grid["goodput_bps"].sel(count=2).values.tolist() == [0.0, 1.0]


@pytest.mark.parametrize(
    ("metric", "words", "refused"),
    [
        (
            "goodput_bps",
            ["goodput_bps"],
            {
                "limit": r"is not a column; allowed: count, goodput_bps",
                "bps": r"is not a column \(did you mean goodput_bps\?\); allowed: count",
                "conut": r"is not a column \(did you mean count\?\)",
            },
        ),
        (
            "guest.download.flow_goodput_bps",
            ["flow_goodput", "download.goodput_per_flow", "guest/download flow_goodput"],
            {},
        ),
        ("guest.download.flow_goodput_bps", ["flow_goodput_bps", "goodput per flow"], {}),
        ("packet_delay_p95_s", ["p95 delay"], {"p99 delay": "is not a column"}),
    ],
)
def test_a_column_goes_by_a_part_of_its_name_or_by_the_words_of_a_screen(
    tmp_path: Path, metric: str, words: list[str], refused: dict[str, str]
) -> None:
    with Writer.open(tmp_path, about(metrics=(metric,))) as writer:
        writer.add_points(points(point=["a"], count=[1]))
        writer.add(rows("a", 0, metric=metric))
    found = opened(tmp_path)

    assert {found.column(one) for one in words} == {metric}
    for name, said in refused.items():
        with pytest.raises(QuestionError, match=f"^{name} {said}"):
            found.column(name)
