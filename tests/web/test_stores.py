"""Stores on the page: numbers are those of the rows, and nothing else of the machine is seen."""

import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import airtcp
import pytest
from airtcp.amounts import quantity_with_interval
from airtcp.stats import student_interval
from airtcp.web import stores
from airtcp.web.stores import named
from serving import Web

COUNT, RATE = "stations.station.count", "phy.data_rate"
LOOK: dict[str, Any] = {"store": "small", "y": "goodput_bps", "x": COUNT, "by": RATE}


def samples(store: Path, condition: str) -> list[float]:
    """The values of goodput in rows, by SQL."""
    asked = f"SELECT goodput_bps AS y FROM results WHERE {condition} ORDER BY replication"
    return [float(one) for one in airtcp.results.open(store).sql(asked)["y"].to_pylist()]


def test_what_is_in_a_store(web: Web) -> None:
    status, told = web.ask("api/stores", {})
    (one,) = told["stores"]

    assert status == 200
    assert (one["name"], one["rows"], one["points"], one["problem"]) == ("small", 24, 8, None)
    count, rate = one["axes"]
    assert [step["text"] for step in count["steps"]] == ["1", "2", "5", "10"]
    assert (rate["unit"], [step["text"] for step in rate["steps"]]) == (
        "b/s",
        ["2 Mb/s", "11 Mb/s"],
    )
    assert "goodput_bps" in [metric["name"] for metric in one["metrics"]]
    # Endless downloads have no transfer times.
    assert "transfer_time_s" not in [metric["name"] for metric in one["metrics"]]


def test_lines_have_the_intervals_of_the_rows(web: Web, store: Path) -> None:
    status, told = web.ask("api/look", LOOK)
    assert status == 200, told

    assert [one["name"] for one in told["series"]] == ["2 Mb/s", "11 Mb/s"]
    for one, rate in zip(told["series"], (2e6, 11e6), strict=True):
        assert [point["x"] for point in one["data"]] == [1, 2, 5, 10]
        for point in one["data"]:
            condition = f'"{COUNT}" = {point["x"]} AND "{RATE}" = {rate}'
            expected = student_interval(samples(store, condition), 0.95)
            assert expected.n == 3
            assert point["y"] == pytest.approx(expected.mean, rel=1e-12)
            assert point["low"] == pytest.approx(expected.low, rel=1e-12)
            assert point["text"] == quantity_with_interval(expected, "b/s")
    assert told["rows"][0] == ["2 Mb/s", "1", told["series"][0]["data"][0]["text"], "3"]
    assert told["caption"] == "Means and 95 % intervals of 3 replications."


def test_a_map_has_the_means_and_other_axes_are_chosen_or_averaged(web: Web, store: Path) -> None:
    _, told = web.ask("api/look", LOOK | {"kind": "heat"})
    assert told["up"]["steps"] == ["2 Mb/s", "11 Mb/s"]
    for row, rate in zip(told["cells"], (2e6, 11e6), strict=True):
        for cell, count in zip(row, (1, 2, 5, 10), strict=True):
            values = samples(store, f'"{COUNT}" = {count} AND "{RATE}" = {rate}')
            assert cell["value"] == pytest.approx(sum(values) / 3, rel=1e-12)

    _, all_rates = web.ask("api/look", LOOK | {"by": None})
    values = samples(store, f'"{COUNT}" = 5')
    assert all_rates["series"][0]["data"][2]["y"] == pytest.approx(sum(values) / 6, rel=1e-12)
    assert "each the mean over phy.data_rate" in all_rates["caption"]
    _, one_rate = web.ask("api/look", LOOK | {"by": None, "where": {RATE: 11e6}})
    values = samples(store, f'"{COUNT}" = 5 AND "{RATE}" = 11e6')
    assert one_rate["series"][0]["data"][2]["y"] == pytest.approx(sum(values) / 3, rel=1e-12)


def test_the_command_draws_the_same(web: Web, store: Path) -> None:
    for more in ({}, {"kind": "heat"}, {"by": None, "where": {RATE: 11e6}}):
        told = web.ask("api/look", LOOK | more)[1]
        words = shlex.split(told["shell"])
        assert words[:3] == ["airtcp", "plot", "small"]
        done = subprocess.run(
            [sys.executable, "-m", *words, "--out", "plot.png", "--force"],
            cwd=store.parent,
            capture_output=True,
            text=True,
            timeout=60,
        )
        assert done.returncode == 0, done.stderr
        assert done.stdout.splitlines()[0] == told["caption"]


@pytest.mark.parametrize(
    ("more", "text"),
    [
        ({"store": "../small"}, "allowed: small"),
        ({"store": "/etc"}, "allowed: small"),
        ({"y": "seed"}, "not a metric"),
        ({"y": "goodput_bps; DROP"}, "not a metric"),
        ({"x": "point"}, '"point" is not an axis'),
        ({"x": COUNT, "by": COUNT}, "both axes are the same"),
        ({"by": None, "kind": "heat"}, "second axis"),
        ({"where": {RATE: 7}}, "no rows"),
        ({"where": {"1=1 --": 7}}, "not an axis"),
        ({"kind": "pie"}, "kind"),
        ({"made": {}}, "made"),
    ],
)
def test_what_is_not_there_is_said(web: Web, more: dict[str, Any], text: str) -> None:
    status, told = web.ask("api/look", LOOK | more)

    assert status == 422
    assert text in told["problem"]["message"]


def test_no_path_of_the_machine_is_told(web: Web, store: Path) -> None:
    for path, body in (("api/stores", {}), ("api/look", LOOK), ("api/look", LOOK | {"y": "x"})):
        assert str(store.parent) not in str(web.ask(path, body))
    assert web.ask("api/look", LOOK)[0] == 200
    # The folder of a store, and no file beside it, may be named by nobody.
    changes = {"flows.laptop.application.size": {"distribution": "empirical", "file": str(store)}}
    source = {"example": "web-hotspot", "changes": changes}
    assert "was not uploaded" in web.ask("api/predict", {"source": source})[1]["problem"]["message"]


def test_a_store_that_grows_or_breaks_is_read_again(web: Web, store: Path) -> None:
    contents = store / "store.json"
    kept = contents.read_text()
    try:
        contents.write_text("{}")
        _, told = web.ask("api/stores", {})
        assert "damaged" in told["stores"][0]["problem"]
        assert str(store.parent) not in told["stores"][0]["problem"]
        status, told = web.ask("api/look", LOOK)
        assert (status, "damaged" in told["problem"]["message"]) == (422, True)
    finally:
        contents.write_text(kept)
    assert web.ask("api/stores", {})[1]["stores"][0]["rows"] == 24
    assert web.ask("api/look", LOOK)[0] == 200


def test_a_folder_that_is_no_store_is_one_message(store: Path, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "airtcp", "web", "--port", "0", "--store", str(tmp_path)],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "holds no results; allowed: the --to directory of a sweep" in done.stderr
    # One that has gone meanwhile says what to do.
    (gone,) = stores.listed({"mine": tmp_path / "gone"})["stores"]
    assert 'the store "mine" is no longer where it was' in gone["problem"]
    assert "put it back, then reload" in gone["problem"]
    # Stores of one name are told apart.
    other = tmp_path / "small"
    other.symlink_to(store)
    assert list(named([store, store, other])) == ["small", "small-2", "small-3"]
