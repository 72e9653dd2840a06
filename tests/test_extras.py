"""Verbs without optional packages: most run, the others print how to install them.

The packages are hidden from this process, as if they were not installed.
"""

import sys
from pathlib import Path

import airtcp
import pytest
from airtcp.exceptions import QuestionError
from airtcp.results.columns import Column, CsvWriter, ParquetWriter
from bases import cell
from commands import call
from wing import with_papers

TINY = cell(warmup="0 s", duration="1 s", replications=2)
HIDDEN = ("duckdb", "pyarrow", "pandas", "polars", "xarray", "dask", "distributed", "optuna")


@pytest.fixture(autouse=True)
def bare(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Only packages that airtcp requires can be imported, and the directory has a scenario."""
    for name in list(sys.modules):
        if name.partition(".")[0] in HIDDEN:
            monkeypatch.delitem(sys.modules, name)
    for name in HIDDEN:
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.chdir(tmp_path)
    Path("tiny.toml").write_text(TINY)


SWEEP = "sweep tiny.toml --to store"


@pytest.mark.parametrize(("command", "package", "extra"), [
    (f"{SWEEP} --axis run.seed=[1,2]", "pyarrow", "sweeps"),
    ("results store", "pyarrow", "sweeps"),
    ("plot store --y goodput_bps --out p.svg", "pyarrow", "sweeps"),
    ("simulate tiny.toml --trace t.parquet", "pyarrow", "sweeps"),
    ("simulate tiny.toml --transfers t.parquet", "pyarrow", "sweeps"),
    ("web --store store", "pyarrow", "sweeps"),
    (f"{SWEEP} --axis run.seed=[1] --dask local", "distributed", "cluster"),
    (f"{SWEEP} --optimise max_jain_index --over run.seed=[1,2]", "optuna", "search"),
])  # fmt: skip
def test_a_verb_that_wants_more_says_in_one_line_how_to_get_it(
    command: str, package: str, extra: str
) -> None:
    said = call(*(word.replace("max_", "max ") for word in command.split()))

    assert said.exit_code == 2
    (line,) = said.stderr.splitlines()
    assert f"needs {package}, which is not installed" in line
    assert f"pip install 'airtcp[{extra}]'" in line
    assert not Path("t.parquet").exists()


def test_a_table_of_transfers_says_the_same(tmp_path: Path) -> None:
    found = airtcp.simulate(airtcp.load("tiny.toml"), transfers=True)

    with pytest.raises(QuestionError, match=r"needs pyarrow.*pip install 'airtcp\[sweeps\]'"):
        found.simulation.transfers()
    assert all(run.transfers is not None for run in found.simulation.runs)


@pytest.mark.parametrize("arguments", [
    ["run", "tiny.toml", "--out", "report"],
    ["simulate", "tiny.toml", "--trace", "t.csv", "--transfers", "u.csv", "--pcap", "t.pcap"],
    ["predict", "tiny.toml"],
    ["diff", "tiny.toml", "--set", "stations.laptop.count=2", "--precision", "50 %"],
    ["plan", "tiny.toml", "--until", "goodput < 1 Mb/s", "--no-remedies"],
    ["sweep", "tiny.toml", "--axis", "run.seed=[1, 2]", "--dry-run"],
    pytest.param(["reproduce", "--quick", "M.fig1"], marks=with_papers),
], ids=lambda arguments: arguments[0])  # fmt: skip
def test_everything_else_needs_none_of_them(arguments: list[str]) -> None:
    said = call(*arguments)

    assert said.exit_code == 0, said.stderr


def test_a_file_of_numbers_and_texts_is_one_table_in_both_kinds(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """PyArrow's own CSV reader is the reference; texts have characters that CSV must quote."""
    monkeypatch.undo()
    from pyarrow import csv, parquet

    kinds = {"text": "string", "whole": "int64", "part": "double", "flag": "bool"}
    parts = [0.1, 1e-7, 1 / 3, -0.0, 1e22, 5e-324]
    import numpy as np

    columns = {
        "text": Column.named(['a"b', "x,y", ""], np.array([0, 1, -1, 2, 0, 1])),
        "whole": Column.natural(np.array([3, -1, 0, 2**60, 1, -1])),
        "part": Column(np.array(parts), np.array(parts) == 1e22),
        "flag": Column(np.array([1, 0, 1, 0, 1, 0])),
    }
    for name, writer in (("t.csv", CsvWriter), ("t.parquet", ParquetWriter)):
        with (tmp_path / name).open("wb") as file, writer(file, kinds) as rows:
            rows.write(columns)
            rows.write({name: column.take(np.arange(0)) for name, column in columns.items()})
            rows.write(columns)

    packed = parquet.read_table(tmp_path / "t.parquet")
    options = csv.ConvertOptions(
        column_types=packed.schema, strings_can_be_null=True, quoted_strings_can_be_null=False
    )
    plain = csv.read_csv(tmp_path / "t.csv", convert_options=options)
    assert plain.equals(packed)
    assert packed.column("text").to_pylist()[:4] == ['a"b', "x,y", None, ""]
    assert packed.column("part").to_pylist()[:6] == [0.1, 1e-7, 1 / 3, -0.0, None, 5e-324]
