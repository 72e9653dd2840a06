"""Figures of the papers with sliders: what the models say, the paper's where they begin."""

from itertools import product

import numpy as np
import pytest
from airtcp.exceptions import QuestionError
from airtcp.reproduce.catalogue import PAPERS, items
from airtcp.web.papers import catalogue, figure
from serving import Web

FIGURES = [one["item"] for one in catalogue()]


def test_each_paper_and_the_study_of_acks_have_one() -> None:
    assert {one["paper"] for one in catalogue()} == {*PAPERS, "ours"}
    assert set(FIGURES) <= set(items())


@pytest.mark.parametrize("item", FIGURES)
def test_every_corner_of_the_sliders_has_curves(item: str) -> None:
    sliders = next(one["sliders"] for one in catalogue() if one["item"] == item)
    ends = [(one["values"][0], one["values"][-1]) for one in sliders]
    for corner in product(*ends):
        values = dict(zip([one["name"] for one in sliders], corner, strict=True))
        shown = figure(item, values)
        assert shown["words"]
        for series in shown["series"]:
            y = np.array([point["y"] for point in series["data"]])
            assert len(y) > 5
            assert np.isfinite(y).all()
            assert (y >= -1e-9).all() or item == "acks"


def test_where_the_sliders_begin_is_what_the_paper_has() -> None:
    from airtcp.models.bruno import Overheads, success_rate
    from airtcp.models.gopal import simultaneous_send
    from airtcp.models.hoekstra import Parameters as OfH
    from airtcp.models.hoekstra import effective_service_time
    from airtcp.models.leith import Parameters as OfL
    from airtcp.models.leith import throughput as uploads
    from airtcp.models.miorandi import Parameters, collision_probability, session_delay, throughput

    table = Parameters.table_1()

    def first(item: str) -> dict[float, float]:
        return {point["x"]: point["y"] for point in figure(item, {})["series"][0]["data"]}

    assert first("M.fig1")[10] == collision_probability(10, table)
    assert first("M.fig5")[20] == pytest.approx(throughput(20, table).goodput_bps, rel=1e-12)
    forty = session_delay(40, table, think_time_s=10.0, mean_size_bytes=30e3).session_s
    assert first("M.fig8")[40] == pytest.approx(forty, rel=1e-12)
    assert first("M.fig2")[10] == float(collision_probability(10, table)) ** 7
    ten = session_delay(10, table, think_time_s=5.0, mean_size_bytes=30e3).session_s
    assert first("M.fig9")[5] == pytest.approx(ten, rel=1e-12)
    assert first("B.fig4")[8] == success_rate(32, 8, Overheads.hot_spot())
    all_ten = uploads(10, 32, 5, 2, OfL.of_figures()).goodput_bps
    assert first("L.fig4")[32] == pytest.approx(all_ten, rel=1e-12)
    assert first("G.eq1")[10] == simultaneous_send(10, 32).any_two
    alone = float(effective_service_time(200_000, OfH.testbed()).est_with_beacons_s)
    at_half = {round(load, 6): time for load, time in first("H.fig1").items()}[0.55]
    # E[R] = beta / (1 - rho), (29).
    assert at_half == pytest.approx(alone / (1 - 0.55), rel=1e-9)


def test_the_ack_gain_is_that_of_two_predictions() -> None:
    from importlib import resources

    from airtcp.predict import predict
    from airtcp.scenario import loads

    text = (resources.files("airtcp") / "reproduce" / "acks" / "downloads.toml").read_text()
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
    assert data[1]["y"] == pytest.approx(goodput[1] / goodput[0] - 1, rel=1e-12)


def test_what_is_not_there_is_said() -> None:
    with pytest.raises(QuestionError, match=r"M\.fig1"):
        figure("M.fig99", {})
    with pytest.raises(QuestionError, match="w0: 33 is not on it"):
        figure("M.fig1", {"w0": 33})
    with pytest.raises(QuestionError, match='"x" is no slider'):
        figure("M.fig1", {"x": 1})


def test_the_page_asks_for_them(web: Web) -> None:
    _, told = web.ask("api/papers", {})
    assert [one["item"] for one in told["figures"]] == FIGURES
    assert [one["item"] for one in told["items"]] == list(items())

    status, shown = web.ask("api/figure", {"item": "G.eq1", "values": {"w0": 64}})
    assert status == 200
    assert shown == figure("G.eq1", {"w0": 64})
    assert web.ask("api/figure", {"item": "no", "values": {}})[0] == 422

    run = web.run({"kind": "figure", "names": ["H.table1"]})
    assert run["state"] == "done", run
    assert run["messages"][-1]["result"]["rows"]
    run = web.run({"kind": "figure", "names": ["G.eq1"]})
    assert run["messages"][-1]["result"]["svg"].startswith("<?xml")
    assert web.run({"kind": "figure", "names": ["no"]})["state"] == "failed"
