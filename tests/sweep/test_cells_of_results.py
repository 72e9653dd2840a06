"""Sweeps with metrics of cells: the store has the values of a simulation."""

from __future__ import annotations

import json
import struct
from pathlib import Path

import airtcp
import pytest
from airtcp import _core
from airtcp.cli.commands import app
from airtcp.exceptions import ScenarioError
from airtcp.present.samples import unit_and_label
from airtcp.results.cells import CELL_METRICS, cell_value
from airtcp.run.numbers import Numbers
from airtcp.scenario import Scenario, loads
from airtcp.sweep.spec import sweep_of
from bases import cell
from typer.testing import CliRunner

#: A group has the name of the table of cells; its own metrics stay as they are.
TEXT = """
title = "Two cells that hear each other, but for some of their stations"
phy = { standard = "802.11a" }
cells = { hall = {}, all = {} }
air = { heard = [["hall", "all"]] }
stations = [
  { name = "cells", count = 2, cell = "hall", hears = [] },
  { name = "clerk", count = 1, cell = "all" },
]
run = { warmup = "100 ms", duration = "500 ms", replications = 2 }
flows = [
  { stations = "cells", direction = "upload", application = { kind = "bulk" } },
  { stations = "clerk", direction = "download", application = { kind = "bulk" } },
]
"""


def test_a_store_has_the_metrics_of_cells(tmp_path: Path) -> None:
    (tmp_path / "two.toml").write_text(TEXT)
    names = [f"cells.hall.{name}" for name in CELL_METRICS]
    names += ["cells.all.airtime.own", "cells.all.goodput_bps", "cells.all.share_of_alone"]
    (tmp_path / "sweep.toml").write_text(
        f'scenario = "two.toml"\nmetrics = {json.dumps(names)}\n'
        '[axes]\n"stations.clerk.count" = [1]\n'
    )
    runner = CliRunner()
    store = tmp_path / "store"

    made = runner.invoke(app, ["sweep", str(tmp_path / "sweep.toml"), "--to", str(store), "--yes"])
    assert made.exit_code == 0, made.output
    query = ["--sql", "select * from results order by replication", "--json"]
    told = runner.invoke(app, ["results", str(store), *query])
    assert told.exit_code == 0, told.output
    rows = json.loads(told.stdout)

    simulation = airtcp.simulate(loads(TEXT)).simulation
    for row, run, alone in zip(rows, simulation.runs, simulation.alone["all"], strict=True):
        hall, other = run.answer["cells"]
        for name in CELL_METRICS:
            assert row[f"cells.hall.{name}"] == cell_value(hall, name)
        assert row["cells.all.airtime.own"] == other["airtime"]["own"]
        assert row["cells.all.share_of_alone"] == other["goodput_bps"] / alone
        # The part `all` of the group with that name has the metric.
        [group] = [one for one in run.answer["groups"] if one["name"] == "cells"]
        assert row["cells.all.goodput_bps"] == group["all"]["goodput_bps"]
        assert row["cells.hall.failures.neighbour"] > 0.0
        parts = [row[f"cells.hall.airtime.{part}"] for part in ("own", "heard", "idle")]
        assert sum(parts) == pytest.approx(1.0)


ONE = cell(tables="[cells.hall]", group='cell = "hall"')


@pytest.mark.parametrize(
    ("text", "metric", "said", "never"),
    [
        (TEXT, "cells.hall.jain_index", "or of a cell: cells.hall.goodput_bps|airtime.own|", None),
        # A metric written as in a target.
        (TEXT, "cell hall goodput", "did you mean cells.hall.goodput_bps?", None),
        # With one cell there is no isolated goodput to compare with.
        (ONE, "cells.hall.share_of_alone", "GROUP.all|download|upload.METRIC", "share_of_alone"),
    ],
)
def test_a_metric_that_cells_do_not_have_is_refused(
    text: str, metric: str, said: str, never: str | None
) -> None:
    with pytest.raises(ScenarioError) as caught:
        sweep_of(loads(text), {"run.seed": [1]}, metrics=[metric])

    _, _, allowed = caught.value.message.partition("allowed")
    assert caught.value.key == "metrics[0]"
    assert said in caught.value.message
    assert never is None or never not in allowed


def test_intervals_of_a_sweep_that_ask_for_more_runs_have_shares_too(tmp_path: Path) -> None:
    of: Scenario = loads(TEXT)
    sweep = sweep_of(of, {"run.seed": [1]}, precision="30 %", metrics=["cells.hall.share_of_alone"])
    numbers = Numbers(of.to_json(), sweep.metrics or ())

    row, _ = numbers.recorded(1, _core.RunControl(lambda: None))

    assert row == numbers.row(1, _core.RunControl(lambda: None))
    (share,) = struct.unpack("<d", row)
    assert 0.0 < share < 1.0


def test_an_axis_of_a_picture_says_which_share_of_which_cell_it_shows(tmp_path: Path) -> None:
    names = [f"cells.hall.{name}" for name in CELL_METRICS]
    axes = {"stations.clerk.count": [1]}
    results = airtcp.sweep(loads(TEXT), axes, to=tmp_path / "store", metrics=names)

    told = [unit_and_label(results, name) for name in names]
    assert told[0] == ("b/s", "goodput of cell hall")
    assert ("", "cell hall's share of idle time") in told
    assert all(label.startswith("cell hall's ") for _, label in told[1:])
    assert len(set(told)) == len(names)
