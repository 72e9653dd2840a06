"""Stores on the page: numbers are those of the rows, and nothing else on the machine is visible."""

from pathlib import Path
from typing import Any

import airtcp
import pytest
from airtcp.amounts import quantity_with_interval
from airtcp.exceptions import AirtcpError
from airtcp.stats import student_interval
from airtcp.web import stores, work
from airtcp.web.stores import named
from commands import call, typed
from serving import Web

COUNT, RATE = "stations.station.count", "phy.data_rate"
LOOK: dict[str, Any] = {"store": "small", "y": "goodput_bps", "x": COUNT, "by": RATE}


def samples(store: Path, condition: str) -> list[float]:
    """Return the goodput values in rows, by SQL."""
    asked = f"SELECT goodput_bps AS y FROM results WHERE {condition} ORDER BY replication"
    return [float(one) for one in airtcp.results.open(store).sql(asked)["y"].to_pylist()]


def asked(store: Path, /, **more: Any) -> dict[str, Any]:
    """Return the answer to a page that shows the store."""
    return work.question("look", LOOK | more, Path(), {"small": store})


def test_a_store_is_listed_with_its_axes_and_metrics(store: Path) -> None:
    (one,) = work.question("stores", {}, Path(), {"small": store})["stores"]

    assert (one["name"], one["rows"], one["points"], one["problem"]) == ("small", 24, 8, None)
    count, rate = one["axes"]
    assert [step["text"] for step in count["steps"]] == ["1", "2", "5", "10"]
    assert (rate["unit"], [step["text"] for step in rate["steps"]]) == (
        "b/s",
        ["2 Mb/s", "11 Mb/s"],
    )
    # Endless downloads have no transfer times.
    names = {metric["name"] for metric in one["metrics"]}
    assert names & {"goodput_bps", "transfer_time_s"} == {"goodput_bps"}


def test_lines_have_the_intervals_of_the_rows(store: Path) -> None:
    told = asked(store)

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


def test_a_map_has_the_means_and_other_axes_are_chosen_or_averaged(store: Path) -> None:
    told = asked(store, kind="heat")
    assert told["up"]["steps"] == ["2 Mb/s", "11 Mb/s"]
    for row, rate in zip(told["cells"], (2e6, 11e6), strict=True):
        for cell, count in zip(row, (1, 2, 5, 10), strict=True):
            values = samples(store, f'"{COUNT}" = {count} AND "{RATE}" = {rate}')
            assert cell["value"] == pytest.approx(sum(values) / 3, rel=1e-12)

    for where, condition, runs in (({}, "", 6), ({RATE: 11e6}, f' AND "{RATE}" = 11e6', 3)):
        told = asked(store, by=None, where=where)
        values = samples(store, f'"{COUNT}" = 5{condition}')
        assert told["series"][0]["data"][2]["y"] == pytest.approx(sum(values) / runs, rel=1e-12)
        assert ("each the mean over phy.data_rate" in told["caption"]) == (runs == 6)


def test_the_command_draws_the_same(store: Path) -> None:
    for more in ({}, {"kind": "heat"}, {"by": None, "where": {RATE: 11e6}}):
        told = asked(store, **more)
        assert told["shell"].startswith("airtcp plot small ")
        said = typed(f"{told['shell']} --out plot.png --force", store.parent)
        assert said.splitlines()[0] == told["caption"]


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
    ],
)
def test_what_is_not_there_is_said_without_a_path(
    store: Path, more: dict[str, Any], text: str
) -> None:
    with pytest.raises(AirtcpError) as refused:
        asked(store, **more)

    assert text in str(refused.value)
    assert str(store.parent) not in str(refused.value)


def test_no_path_of_the_machine_is_told(web: Web, store: Path) -> None:
    # A request cannot name the folder of a store, or a file next to it.
    changes = {"flows.laptop.application.size": {"distribution": "empirical", "file": str(store)}}
    source = {"example": "web-hotspot", "changes": changes}
    for path, body, text in (
        ("api/stores", {}, "small"),
        ("api/look", LOOK, "goodput"),
        ("api/look", LOOK | {"kind": "pie"}, "kind"),
        ("api/look", LOOK | {"made": {}}, "made"),
        ("api/predict", {"source": source}, "was not uploaded"),
    ):
        status, told = web.ask(path, body)
        assert status == (200 if text in ("small", "goodput") else 422), told
        assert text in str(told)
        assert path == "api/predict" or str(store.parent) not in str(told)


def test_a_store_that_breaks_or_is_whole_again_is_read_again(store: Path) -> None:
    contents = store / "store.json"
    kept = contents.read_text()
    try:
        contents.write_text("{}")
        (one,) = stores.listed({"small": store})["stores"]
        assert "damaged" in one["problem"]
        assert str(store.parent) not in one["problem"]
        with pytest.raises(AirtcpError, match="damaged"):
            asked(store)
    finally:
        contents.write_text(kept)
    assert stores.listed({"small": store})["stores"][0]["rows"] == 24
    assert asked(store)["series"]


def test_a_folder_that_is_no_store_is_one_message(store: Path, tmp_path: Path) -> None:
    done = call("web", "--port", "0", "--store", tmp_path)
    assert done.exit_code == 2
    assert done.stderr.count("\n") == 1
    assert "holds no results; allowed: the --to directory of a sweep" in done.stderr
    # A store that has been moved says what to do.
    (gone,) = stores.listed({"mine": tmp_path / "gone"})["stores"]
    assert 'the store "mine" is no longer where it was' in gone["problem"]
    assert "put it back, then reload" in gone["problem"]
    # Stores with the same name get different labels.
    other = tmp_path / "small"
    other.symlink_to(store)
    assert list(named([store, store, other])) == ["small", "small-2", "small-3"]
