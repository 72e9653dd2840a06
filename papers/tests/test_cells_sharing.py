"""Transfers of several cells at flow level: the exact chain, a single queue, the command."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from airtcp.cli.commands import app
from airtcp.distributions import Deterministic, Exponential
from airtcp.exceptions import QuestionError
from airtcp.scenario import Scenario, loads
from airtcp_papers.common.servers import FlowQueue, coupled_processor_sharing
from airtcp_papers.common.sharing.cells import share_cells
from airtcp_papers.miorandi.coupled_sharing import coupled_queues, coupled_sources
from typer.testing import CliRunner


def slowed(busy: tuple[bool, ...]) -> list[float]:
    """Two cells that hear each other: about half of their own capacity while both are busy."""
    return [0.53, 0.45] if all(busy) else [1.0, 1.0]


def open_queue(rate: float) -> FlowQueue:
    return FlowQueue(Exponential(mean=1.0), [1.0], interarrival=Exponential(mean=1.0 / rate))


def test_two_queues_are_those_of_the_exact_chain() -> None:
    exact = coupled_queues([0.3, 0.2], [1.0, 1.0], slowed).mean_sojourn_s
    found = coupled_processor_sharing(
        [open_queue(0.3), open_queue(0.2)], slowed, jobs=400_000, replications=6, seed=5
    )

    for queue, mean in zip(found.servers, exact, strict=True):
        assert queue.sojourn_s.mean == pytest.approx(mean, rel=0.01)
        assert queue.sojourn_s.half_width < 0.01 * mean


def test_sources_that_wait_are_those_of_the_exact_chain() -> None:
    capacity = [1.0, 1.3, 1.4]
    exact = coupled_sources([3, 2], [2.0, 1.0], 1.0, slowed, paces=[capacity, [1.0]])
    closed = [
        FlowQueue(Exponential(mean=1.0), capacity, sources=3, think_times=Exponential(mean=2.0)),
        # The distribution of think times does not matter in one queue, and hardly next to another.
        FlowQueue(Exponential(mean=1.0), [1.0], sources=2, think_times=Exponential(mean=1.0)),
    ]
    found = coupled_processor_sharing(closed, slowed, jobs=200_000, replications=6, seed=5)

    for queue, mean, active in zip(
        found.servers, exact.mean_sojourn_s, exact.mean_jobs, strict=True
    ):
        assert queue.sojourn_s.mean == pytest.approx(mean, rel=0.01)
        assert queue.active.mean == pytest.approx(active, rel=0.01)


def test_a_queue_that_nobody_slows_down_does_not_mind_the_law_of_sizes() -> None:
    # M/G/1-PS: 1 / (1 - .5) for any distribution.
    queues = [
        FlowQueue(law, [1.0], interarrival=Exponential(mean=2.0))
        for law in (Exponential(mean=1.0), Deterministic(value=1.0))
    ]
    found = coupled_processor_sharing(
        queues, lambda busy: [1.0, 1.0], jobs=200_000, replications=6, seed=2
    )
    for queue in found.servers:
        assert queue.sojourn_s.mean == pytest.approx(2.0, rel=0.02)


@pytest.mark.parametrize(
    ("queue", "said"),
    [
        (FlowQueue(Exponential(mean=1.0), [1.0]), "either interarrival, or sources"),
        (open_queue(1.0), "a server has a load of 1: it must be below 1"),
        (FlowQueue(Exponential(mean=1.0), [], sources=1), "either interarrival, or sources"),
    ],
)
def test_queues_that_cannot_be_are_refused(queue: FlowQueue, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        coupled_processor_sharing([queue], lambda busy: [1.0], jobs=10)


def cells(heard: str = '[["a", "b"], ["b", "c"]]') -> Scenario:
    """Three cells in a row, with two users each who load 200 kB a page."""
    lines = [
        'phy = { standard = "802.11a", data_rate = "54 Mb/s" }',
        f"air = {{ heard = {heard} }}",
    ]
    lines += [f"[cells.{name}]" for name in "abc"]
    for name in "abc":
        lines += [
            f'[[stations]]\nname = "of-{name}"\ncount = 2\ncell = "{name}"',
            f'[[flows]]\nstations = "of-{name}"\ndirection = "download"\n[flows.application]',
            'kind = "web"\nsize = { distribution = "exponential", mean = "200 kB" }',
            'think_time = { distribution = "exponential", mean = "0.5 s" }',
        ]
    return loads("\n".join(lines))


def test_cells_are_the_queues_of_the_chain() -> None:
    found = share_cells(cells(), jobs=50_000, replications=6)

    # The chain that predict solves has the speeds and capacities of these queues.
    assert found.transfer_time_s.mean == pytest.approx(found.model_s, rel=0.01)
    middle, outer = (found.cells[name].metrics["transfer_time_s"].mean for name in "ba")
    assert middle > 1.2 * outer
    assert found.cells["a"].alone_s < outer


def test_the_verb_tells_each_cell(tmp_path: Path) -> None:
    file = tmp_path / "cells.toml"
    file.write_text(cells().to_toml())
    options = ["share", str(file), "--transfers", "2000", "--replications", "2"]
    screen = CliRunner().invoke(app, options, env={"COLUMNS": "120"})
    assert screen.exit_code == 0, screen.output
    rows = [line.split()[0] for line in screen.stdout.splitlines() if line.strip()]
    assert rows[0] == "cell"
    assert rows[1:5] == ["a", "b", "c", "all"]

    told = json.loads(CliRunner().invoke(app, [*options, "--json"]).stdout)["sharing"]
    assert set(told["cells"]) == {"a", "b", "c"}
    assert told["metrics"]["transfer_time_s"]["mean"] > told["cells"]["a"]["alone_s"]


def test_cells_that_the_chain_does_not_know_are_refused() -> None:
    endless = cells().vary({"flows.of-b.application": {"kind": "bulk"}})
    with pytest.raises(QuestionError, match=r"cell b: flow .* has no transfers that share"):
        share_cells(endless, jobs=1000)
    deaf = cells().vary({"stations.of-b.hears": []})
    with pytest.raises(QuestionError, match="allowed: cells of which the chain has the shares"):
        share_cells(deaf, jobs=1000)
