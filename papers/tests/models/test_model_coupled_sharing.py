"""Queues that slow each other down: closed forms where they exist, and a simulation."""

import pytest
from airtcp.exceptions import ConvergenceError
from airtcp_papers.miorandi.coupled_sharing import coupled_queues, coupled_sources


def shared(busy: tuple[bool, ...]) -> list[float]:
    """All busy queues share one server equally."""
    return [1.0 / max(sum(busy), 1)] * len(busy)


def slowed(busy: tuple[bool, ...]) -> list[float]:
    """Two cells that hear each other: each has .53 of its own capacity while both are busy."""
    return [0.53 if all(busy) else 1.0] * 2


def test_queues_apart_are_queues_alone() -> None:
    # M/M/1: 1 / (1 - rho) mean service times, busy with probability rho.
    found = coupled_queues([0.5, 0.8], [1.0, 1.0], lambda busy: [1.0] * len(busy))

    assert found.mean_sojourn_s == pytest.approx([2.0, 5.0], rel=1e-3)
    assert found.busy == pytest.approx([0.5, 0.8], rel=1e-4)


@pytest.mark.parametrize("load", [0.2, 0.5, 0.8])
def test_queues_that_share_one_server_alike_have_its_work(load: float) -> None:
    # The server is shared by queues, not by jobs. The jobs of both together are those of one M/M/1
    # queue, and each has half by symmetry.
    found = coupled_queues([load / 2, load / 2], [1.0, 1.0], shared)

    assert found.mean_jobs.sum() == pytest.approx(load / (1.0 - load), rel=2e-3)
    assert found.mean_jobs[0] == pytest.approx(found.mean_jobs[1], rel=1e-6)


def test_the_middle_of_three_is_slowest() -> None:
    def row(busy: tuple[bool, ...]) -> list[float]:
        middle = 1.0 if not (busy[0] or busy[2]) else 0.5 if busy[0] != busy[2] else 0.1
        return [0.55 if busy[1] and not busy[2] else 1.0, middle, 1.0 if not busy[1] else 0.55]

    found = coupled_queues([0.2, 0.2, 0.2], [1.0, 1.0, 1.0], row)

    assert found.mean_sojourn_s[1] > found.mean_sojourn_s[[0, 2]].max()


def test_what_cannot_be_is_refused() -> None:
    with pytest.raises(ConvergenceError, match="unstable"):
        coupled_queues([0.6, 0.6], [1.0, 1.0], shared)
    with pytest.raises(ValueError, match="1 to 3 queues"):
        coupled_queues([0.1] * 4, [1.0] * 4, shared)
    with pytest.raises(ValueError, match="101 x 101 numbers of jobs; allowed: 10000"):
        coupled_sources([100, 100], 1.0, 1.0, slowed)
    with pytest.raises(ValueError, match="sources"):
        coupled_sources([0, 1], 1.0, 1.0, slowed)


def test_many_seldom_sources_are_a_poisson_process() -> None:
    # 90 sources that think for 900 s bring .1 jobs a second, less those of waiting sources.
    closed = coupled_sources([90, 90], 900.0, 1.0, slowed)
    opened = coupled_queues([0.1, 0.1], 1.0, slowed)

    assert closed.mean_sojourn_s == pytest.approx(opened.mean_sojourn_s, rel=0.02)


def test_paces_are_those_of_more_servers() -> None:
    # M/M/2: two jobs are served twice as fast as one; 1 / (1 - (.5)^2) for a load of .5 of each.
    found = coupled_queues([1.0], [1.0], lambda busy: [1.0], paces=[[1.0, 2.0]])

    assert found.mean_sojourn_s[0] == pytest.approx(4.0 / 3.0, rel=1e-4)
