"""Mean transfer times in several cells against the simulation: three graphs at five loads."""

from __future__ import annotations

import airtcp
import pytest
from airtcp.predict import predict
from airtcp.scenario import Scenario, loads

GRAPHS = {
    "pair": (2, '[["a", "b"]]'),
    "row": (3, '[["a", "b"], ["b", "c"]]'),
    "triangle": (3, '[["a", "b"], ["b", "c"], ["a", "c"]]'),
}
#: From cells that hardly overlap to cells whose users wait half of the time or longer.
THINK_TIMES_S = (5.0, 2.0, 1.0, 0.5, 0.2)
#: The graphs and loads that are quick to simulate.
QUICK = [("pair", 2.0), ("row", 1.0), ("triangle", 1.0)]


def web(graph: str, think_s: float, duration: str = "60 s") -> Scenario:
    """Cells with three users each who load 200 kB a page."""
    cells, heard = GRAPHS[graph]
    lines = [
        'phy = { standard = "802.11a", data_rate = "54 Mb/s" }',
        f"air = {{ heard = {heard} }}",
    ]
    lines += [f"[cells.{name}]" for name in "abc"[:cells]]
    for name in "abc"[:cells]:
        lines += [
            f'[[stations]]\nname = "of-{name}"\ncount = 3\ncell = "{name}"',
            f'[[flows]]\nstations = "of-{name}"\ndirection = "download"',
            'application = { kind = "web", '
            'size = { distribution = "exponential", mean = "200 kB" }, '
            f'think_time = {{ distribution = "exponential", mean = "{think_s} s" }} '
            "}",
            "tcp = { receive_window = { segments = 44 } }",
        ]
    lines.append(f'[run]\nwarmup = "10 s"\nduration = "{duration}"\nreplications = 4\nseed = 3')
    return loads("\n".join(lines))


def error(of: Scenario) -> float:
    """Return the relative error of the predicted mean time; 0 within the simulated interval.

    Outside of the interval the error counts from its nearer end, because the uncertainty of a mean
    of some hundred transfers is not the model's error. At 300 s with half a second between pages
    the triangle is 7.0 +- 2.2 % off, at 600 s and 8 replications 6.1 +- 2.0 %.
    """
    said = predict(of).best("transfer_time_s")
    assert said is not None
    assert said.by == "models.coupled_sharing"
    simulated = airtcp.simulate(of).simulation.metrics["transfer_time_s"]
    assert simulated.mean is not None
    assert simulated.low is not None
    assert simulated.high is not None
    value = float(said.value)  # type: ignore[arg-type]
    return (value - min(max(value, simulated.low), simulated.high)) / simulated.mean


@pytest.mark.parametrize(("graph", "think_s"), QUICK)
def test_mean_times_are_near_the_simulation(graph: str, think_s: float) -> None:
    assert abs(error(web(graph, think_s))) < 0.1


@pytest.mark.verify
@pytest.mark.parametrize("graph", GRAPHS)
@pytest.mark.parametrize("think_s", THINK_TIMES_S)
def test_mean_times_are_near_the_simulation_at_each_load(graph: str, think_s: float) -> None:
    # The page on models says that all are within 7 %.
    assert abs(error(web(graph, think_s, duration="150 s"))) < 0.07


def test_cells_far_apart_are_cells_alone() -> None:
    pair = web("pair", 0.5)
    apart = pair.vary({"air.heard": []})
    said = predict(apart).best("transfer_time_s")
    assert said is not None
    alone = loads(
        """
        phy = { standard = "802.11a", data_rate = "54 Mb/s" }
        stations = [{ name = "x", count = 3 }]
        [[flows]]
        stations = "x"
        direction = "download"
        tcp = { receive_window = { segments = 44 } }
        [flows.application]
        kind = "web"
        size = { distribution = "exponential", mean = "200 kB" }
        think_time = { distribution = "exponential", mean = "0.5 s" }
        """
    )
    best = next(
        one for one in predict(alone).model["transfer_time_s"] if one.source == "M (17), corrected"
    )
    assert said.value == pytest.approx(best.value, rel=1e-9)


def test_transfers_that_wait_for_no_others_are_queues_of_poisson_arrivals() -> None:
    of = web("pair", 1.0)
    ftp = {"kind": "ftp", "size": {"distribution": "exponential", "mean": "200 kB"}}
    ftp["interarrival"] = {"distribution": "exponential", "mean": "1 s"}
    of = of.vary({f"flows.of-{name}.application": ftp for name in "ab"})
    assert abs(error(of)) < 0.1


def test_more_stations_than_the_chain_holds_get_the_reason() -> None:
    of = web("triangle", 1.0).vary({f"stations.of-{name}.count": 30 for name in "abc"})
    said = predict(of)
    assert said.best("transfer_time_s") is None
    assert "30 x 30 x 30 stations" in said.unanswered["coupled queues"]


def test_sizes_that_vary_more_are_told() -> None:
    of = web("pair", 1.0)
    size = {"distribution": "pareto", "mean": "200 kB", "shape": 1.5}
    said = predict(of.vary({"flows.of-a.application.size": size})).best("transfer_time_s")
    assert said is not None
    assert any("sizes are exponential; here they are not" in one for one in said.broken)
