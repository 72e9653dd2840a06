"""Figures of the papers with sliders: curves of the models, starting at the paper's values."""

import inspect
from itertools import product
from typing import Any

import numpy as np
import pytest
from airtcp.exceptions import QuestionError
from airtcp.scenario import loads
from airtcp_papers.common.catalogue import SOURCES, items
from airtcp_papers.common.sliders import figures
from airtcp_papers.common.view import catalogue, figure
from serving import Web

FIGURES = figures()
DRAWN = [name for name, one in FIGURES.items() if one.curves is not None or one.asked is not None]


def test_every_item_has_sliders_or_a_reason() -> None:
    assert {name for name, one in items().items() if not one.still} == set(FIGURES)
    assert all(one.sliders for one in FIGURES.values())
    # Each paper has figures drawn by models; every other figure can be simulated.
    assert {FIGURES[name].item.partition(".")[0] for name in DRAWN} == set(SOURCES)
    assert all(FIGURES[name].opens is not None for name in set(FIGURES) - set(DRAWN))


@pytest.mark.parametrize("item", FIGURES)
def test_every_corner_of_the_sliders_has_curves_and_a_scenario(item: str) -> None:
    sliders = next(one["sliders"] for one in catalogue() if one["item"] == item)
    ends = [(one["values"][0], one["values"][-1]) for one in sliders]
    corners = list(product(*ends))
    # Figures that call `predict` do so dozens of times: try only two corners of these.
    for corner in corners if FIGURES[item].asked is None else {corners[0], corners[-1]}:
        values = dict(zip([one["name"] for one in sliders], corner, strict=True))
        shown = figure(item, values)
        assert shown["words"]
        assert bool(shown["series"]) == (item in DRAWN)
        for series in shown["series"]:
            y = np.array([point["y"] for point in series["data"]])
            assert np.isfinite(y).all()
            assert (y >= -1e-9).all() or item == "acks"
        if shown["open"] is not None:
            loads(shown["open"]["text"]).vary(shown["open"]["changes"])


@pytest.mark.parametrize("item", FIGURES)
def test_sliders_begin_where_the_paper_is(item: str) -> None:
    """Sliders start at the paper's values, and the first figure shows only these curves."""
    one = FIGURES[item]
    told = next(told for told in catalogue() if told["item"] == item)
    assert all(slider["paper"] in slider["values"] for slider in told["sliders"])
    assert all(len(slider["texts"]) == len(slider["values"]) for slider in told["sliders"])
    assert len(figure(item, {})["series"]) == len(one.series(one.paper))


#: The second of two figures that the same function draws.
SECOND = {"L.fig5", "L.fig10b"}


@pytest.mark.parametrize("item", sorted(set(DRAWN) - SECOND))
def test_the_sliders_begin_at_the_defaults_of_the_curves(item: str) -> None:
    """Items call the same function with its default arguments."""
    one = FIGURES[item]
    if one.curves is not None:
        parameters = inspect.signature(one.curves).parameters.values()
        given = {p.name: one.paper[p.name] for p in parameters if p.default is p.empty}
        assert list(one.curves(**given)) == one.series(one.paper)


@pytest.mark.parametrize("item", DRAWN)
def test_a_moved_slider_keeps_the_paper_beside(item: str) -> None:
    one = FIGURES[item]
    for slider in one.sliders:
        other = next(value for value in slider.values if value != slider.paper)
        shown = figure(item, {slider.name: other})["series"]
        paper = [series for series in shown if series["dash"]]
        first = [series for series in figure(item, {})["series"] if series["kind"] == "line"]
        assert [series["data"] for series in paper] == [series["data"] for series in first]


#: Sliders without effect on a model of one client, of one PHY, or of two backlogged nodes.
STILL = {
    ("M.fig4", "window"),
    ("H.clients", "clients"),
    ("M.table2", "users"),
    ("M.table2", "window"),
}


@pytest.mark.parametrize("item", DRAWN)
def test_every_slider_moves_a_curve_or_the_scenario(item: str) -> None:
    one = FIGURES[item]
    for slider in one.sliders:
        other = next(value for value in slider.values if value != slider.paper)
        values = {**one.paper, slider.name: other}
        moved = one.series(values) != one.series(one.paper)
        assert moved or (item, slider.name) in STILL, slider.name
        if slider.keys is not None:
            assert one.changes(values) != one.changes(one.paper), slider.name


def test_a_curve_of_a_scenario_is_what_predict_says() -> None:
    from airtcp.predict import predict

    one = FIGURES["B.fig1"]
    slower = {"stations.station.count": 5, "phy.data_rate": "2 Mb/s"}
    best = predict(loads(one.text()).vary(slower)).best("goodput_bps")
    assert best is not None
    assert isinstance(best.value, float)
    shown = figure("B.fig1", {"rate": 2})["series"][0]["data"]
    assert {point["x"]: point["y"] for point in shown}[5] == best.value / 1e6


def test_the_ack_gain_is_that_of_two_predictions() -> None:
    from airtcp.predict import predict

    text = FIGURES["acks"].text()
    goodput = []
    for every in (1, 2):
        keys = {
            "phy.standard": "802.11g",
            "phy.data_rate": "54 Mb/s",
            "flows.laptop.tcp.delayed_ack.every": every,
        }
        best = predict(loads(text).vary(keys)).best("goodput_bps")
        assert best is not None
        assert isinstance(best.value, float)
        goodput.append(best.value)

    data = figure("acks", {"phy": 1})["series"][0]["data"]
    assert data[1]["x"] == 2
    assert data[1]["y"] == pytest.approx(100 * (goodput[1] / goodput[0] - 1), rel=1e-12)


def test_what_is_not_there_is_said() -> None:
    with pytest.raises(QuestionError, match=r"M\.fig1"):
        figure("M.fig99", {})
    with pytest.raises(QuestionError, match="w0: 33 is not on it"):
        figure("M.fig1", {"w0": 33})
    with pytest.raises(QuestionError, match='"x" is no slider'):
        figure("M.fig1", {"x": 1})


@pytest.mark.slow
def test_the_page_asks_for_them(web: Web) -> None:
    _, told = web.ask("api/papers", {})
    assert [one["item"] for one in told["figures"]] == list(FIGURES)
    assert [one["item"] for one in told["items"]] == list(items())
    board = {one["item"]: one for one in told["items"]}
    assert sum(board["M.fig4"]["verdicts"].values()) == 8
    assert board["M.fig4"]["verdicts"]["not met"] == 4
    assert "distance" in board["M.fig4"]["line"]
    assert board["M.fig4"]["picture"]
    assert not board["M.table1"]["verdicts"]

    status, shown = web.ask("api/figure", {"item": "G.eq1", "values": {"w": 64}})
    assert status == 200
    assert shown == figure("G.eq1", {"w": 64})
    assert web.ask("api/figure", {"item": "no", "values": {}})[0] == 422

    run = web.run({"kind": "figure", "names": ["H.table1"]})
    assert run["state"] == "done", run
    assert run["messages"][-1]["result"]["rows"]
    assert run["messages"][-1]["result"]["points"] == []
    assert web.run({"kind": "figure", "names": ["no"]})["state"] == "failed"


@pytest.mark.verify
def test_the_page_s_curves_are_those_of_the_item_that_is_made(web: Web) -> None:
    """Curves at the sliders' start, and the item's simulated points: together the item's data."""
    run = web.run({"kind": "figure", "names": ["G.eq1"]})
    made: dict[str, Any] = run["messages"][-1]["result"]
    assert made["svg"].startswith("<?xml")
    shown = [*figure("G.eq1", {})["series"], *made["points"]]
    found = {(one["name"], point["x"], point["y"]) for one in shown for point in one["data"]}
    assert found == {(row[0], float(row[1]), row[2]) for row in made["rows"]}
    assert all(point["low"] < point["high"] for one in made["points"] for point in one["data"])
