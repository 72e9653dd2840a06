"""Figures of the papers with sliders: what the models say, the paper's where they begin."""

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
    # Each paper has figures that models draw, and every other can be simulated.
    assert {FIGURES[name].item.partition(".")[0] for name in DRAWN} == set(SOURCES)
    assert all(FIGURES[name].opens is not None for name in set(FIGURES) - set(DRAWN))


@pytest.mark.parametrize("item", FIGURES)
def test_every_corner_of_the_sliders_has_curves_and_a_scenario(item: str) -> None:
    sliders = next(one["sliders"] for one in catalogue() if one["item"] == item)
    ends = [(one["values"][0], one["values"][-1]) for one in sliders]
    corners = list(product(*ends))
    # The figures that ask `predict` do so dozens of times: of these two corners.
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
    """The scenario as the sliders begin, made as short as a quick run, and nothing else."""
    one = FIGURES[item]
    told = next(told for told in catalogue() if told["item"] == item)
    assert all(slider["paper"] in slider["values"] for slider in told["sliders"])
    assert all(len(slider["texts"]) == len(slider["values"]) for slider in told["sliders"])
    assert len(figure(item, {})["series"]) == len(one.series(one.paper))


@pytest.mark.parametrize("item", DRAWN)
def test_a_moved_slider_keeps_the_paper_beside(item: str) -> None:
    one = FIGURES[item]
    for slider in one.sliders:
        other = next(value for value in slider.values if value != slider.paper)
        shown = figure(item, {slider.name: other})["series"]
        paper = [series for series in shown if series["dash"]]
        first = [series for series in figure(item, {})["series"] if series["kind"] == "line"]
        assert [series["data"] for series in paper] == [series["data"] for series in first]


#: What a slider does not move: the model is of one client, of one PHY, of two backlogged nodes.
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


def test_where_the_sliders_begin_is_what_the_paper_has() -> None:
    from airtcp.models.processor_sharing import sojourn_tail
    from airtcp_papers.bruno.model import Overheads, success_rate
    from airtcp_papers.gopal.model import simultaneous_send
    from airtcp_papers.hoekstra.model import Parameters as OfH
    from airtcp_papers.hoekstra.model import effective_service_time
    from airtcp_papers.leith.model import Parameters as OfL
    from airtcp_papers.leith.model import throughput as uploads
    from airtcp_papers.miorandi.model import (
        Parameters,
        collision_probability,
        session_delay,
        throughput,
    )

    table = Parameters.table_1()

    def first(item: str) -> dict[float, float]:
        return {point["x"]: point["y"] for point in figure(item, {})["series"][0]["data"]}

    assert first("M.fig1")[10] == collision_probability(10, table)
    all_twenty = throughput(20, table).goodput_bps / 1e6
    assert first("M.fig5")[20] == pytest.approx(all_twenty, rel=1e-12)
    forty = session_delay(40, table, think_time_s=10.0, mean_size_bytes=30e3).session_s
    assert first("M.fig8")[40] == pytest.approx(forty, rel=1e-12)
    assert first("M.fig2")[10] == float(collision_probability(10, table)) ** 7
    ten = session_delay(10, table, think_time_s=5.0, mean_size_bytes=30e3).session_s
    assert first("M.fig9")[5] == pytest.approx(ten, rel=1e-12)
    assert first("B.fig4")[8] == success_rate(32, 8, Overheads.hot_spot())
    all_ten = uploads(10, 32, 5, 2, OfL.of_figures()).goodput_bps / 1e6
    assert first("L.fig4")[32] == pytest.approx(all_ten, rel=1e-12)
    # The printed example of section 5.2: half of the way in each epoch.
    assert [first("L.fig9")[epoch] for epoch in (0, 1, 2)] == [1.0, 0.75, 0.625]
    # B below the air's 4.9 Mb/s: the wired link's 1460 of 1500 bytes.
    assert first("L.fig6")[4] == pytest.approx(4 * 1460 / 1500, rel=1e-12)
    assert first("G.eq1")[10] == simultaneous_send(10, 32).any_two
    alone = float(effective_service_time(200_000, OfH.testbed()).est_s)
    # E[R] / beta = 1 / (1 - rho), (29).
    assert first("H.fig1")[alone / 0.40] == pytest.approx(1 / (1 - alone / 0.40), rel=1e-9)
    assert first("H.fig2")[5] == pytest.approx(float(sojourn_tail(5, alone / 0.4, alone)), rel=1e-9)
    assert first("H.fig5")[3] == pytest.approx((alone / 0.4) ** 3, rel=1e-12)
    # Two servers of which one has 60 % at a mean load of 0.5: loads of 0.6 and 0.4.
    split = {
        point["x"]: point["y"]
        for point in figure("H.concurrent", {"share": 0.6})["series"][0]["data"]
    }
    assert split[0.5] == pytest.approx(0.6 / (1 - 0.6) + 0.4 / (1 - 0.4), rel=1e-12)


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
    """Lines as the sliders begin, and points as the item simulates them: together its own data."""
    run = web.run({"kind": "figure", "names": ["G.eq1"]})
    made: dict[str, Any] = run["messages"][-1]["result"]
    assert made["svg"].startswith("<?xml")
    shown = [*figure("G.eq1", {})["series"], *made["points"]]
    found = {(one["name"], point["x"], point["y"]) for one in shown for point in one["data"]}
    assert found == {(row[0], float(row[1]), row[2]) for row in made["rows"]}
    assert all(point["low"] < point["high"] for one in made["points"] for point in one["data"])
