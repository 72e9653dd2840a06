"""Congestion epochs: detected in traces, and converging according to AIMD theory."""

import airtcp
import numpy as np
import pytest
from airtcp.results.trace import Trace
from airtcp.scenario import loads
from airtcp_papers.leith import aimd
from airtcp_papers.leith.epochs import (
    Epochs,
    convergence_interval,
    epochs_of_flow,
    epochs_of_queue,
    epochs_to_converge,
)

BOTH = ("a/0", "b/0")
SECOND = 1_000_000_000


def table(**columns: list[int]) -> dict[str, np.ndarray]:
    return {name: np.array(column, dtype=np.int64) for name, column in columns.items()}


def by_hand() -> Trace:
    """Two flows, a sample every second for 10 s, and drops in two queues.

    Flow a has windows of 10, 20, 30, ... bytes; flow b has 5, 5, ..., from the third second on.
    """
    times = [second * SECOND for second in range(1, 11) for _ in "ab"]
    window_b = [-1, -1] + [5] * 8
    drops = [
        # time (ms), flow, queue
        (3500, 0, 1),
        (3600, 1, 1),
        (3700, 0, 0),
        (4300, 0, 1),
        (7200, 1, 1),
        (1500, 0, 1),
    ]
    drops.sort()
    events = [(time, 2, flow, queue, -1) for time, flow, queue in drops]
    # A loss of a, and a timeout of b; a timeout of a SYN, which has no window; another one of b.
    events += [(4400, 1, 0, -1, 45), (4500, 0, 1, -1, 5), (4600, 0, 0, -1, -1), (7500, 1, 1, -1, 7)]
    events.sort()
    return Trace(
        interval_s=1.0,
        flow_names=("a/0", "b/0"),
        queue_names=("ap", "wire to server", "wire to ap"),
        event_names=("timeout", "fast_retransmit", "queue_drop"),
        flow_table=table(
            time_ns=times,
            flow=[0, 1] * 10,
            delivered_bytes=[0] * 20,
            connections=[1] * 20,
            cwnd_bytes=[w for i in range(10) for w in (10 * (i + 1), window_b[i])],
            ssthresh_bytes=[-1] * 20,
            flight_size_bytes=[0] * 20,
            srtt_ns=[SECOND // 5] * 20,
        ),
        queue_table=table(time_ns=[], queue=[], packets=[]),
        event_table=table(
            time_ns=[time * 1_000_000 for time, *_ in events],
            event=[kind for _, kind, *_ in events],
            flow=[flow for _, _, flow, *_ in events],
            queue=[queue for _, _, _, queue, _ in events],
            cwnd_bytes=[window for *_, window in events],
            ssthresh_bytes=[-1] * len(events),
            flight_size_bytes=[-1] * len(events),
            cwnd_after_bytes=[-1] * len(events),
        ),
    )


def test_overflows_of_a_queue_end_epochs() -> None:
    """Within 0.4 s: 3.5 and 3.6 s are one overflow, 4.3 s is the next.

    At 1.5 s flow b has no window. The drop at 3.7 s is in another queue.
    """
    epochs = epochs_of_queue(by_hand(), "wire to server", BOTH, apart_s=0.4)

    assert epochs.flows == BOTH
    assert epochs.end_s.tolist() == [3.5, 4.3, 7.2]
    assert epochs.cwnd_bytes.tolist() == [[30, 5], [40, 5], [70, 5]]
    assert epochs.lost.tolist() == [[True, True], [True, False], [False, True]]
    np.testing.assert_allclose(epochs.loss_probability, [2 / 3, 2 / 3])


def test_what_is_one_overflow_can_be_said() -> None:
    trace = by_hand()
    one = epochs_of_queue(trace, "wire to server", BOTH, apart_s=1.0)
    many = epochs_of_queue(trace, "wire to server", BOTH, apart_s=0.01)
    late = epochs_of_queue(trace, "wire to server", BOTH, apart_s=0.4, from_s=4.0)
    only_a = epochs_of_queue(trace, "wire to server", ["a/0"], apart_s=0.4)

    assert one.end_s.tolist() == [3.5, 7.2]
    assert one.lost.tolist() == [[True, True], [False, True]]
    assert many.end_s.tolist() == [3.5, 3.6, 4.3, 7.2]
    assert late.end_s.tolist() == [4.3, 7.2]
    assert only_a.end_s.tolist() == [1.5, 3.5, 4.3, 7.2]
    assert only_a.lost[:, 0].tolist() == [True, True, True, False]


def test_a_queue_that_never_overflows_has_no_epochs() -> None:
    epochs = epochs_of_queue(by_hand(), "wire to server", ["b/0"], apart_s=0.4, from_s=9.0)

    assert len(epochs.end_s) == 0
    assert epochs.cwnd_bytes.shape == (0, 1)
    assert np.isnan(epochs.loss_probability).all()


def test_losses_of_a_flow_end_its_own_epochs() -> None:
    a, b = (epochs_of_flow(by_hand(), name) for name in ("a/0", "b/0"))

    assert (a.end_s.tolist(), a.cwnd_bytes.tolist()) == ([4.4], [[45]])
    assert (b.end_s.tolist(), b.cwnd_bytes.tolist()) == ([4.5, 7.5], [[5], [7]])


def test_what_is_not_there_is_an_error() -> None:
    with pytest.raises(ValueError, match="no queue 'wire'"):
        epochs_of_queue(by_hand(), "wire", BOTH, apart_s=0.4)
    with pytest.raises(ValueError, match="no flow 'c/0'"):
        epochs_of_queue(by_hand(), "ap", ["c/0"], apart_s=0.4)
    with pytest.raises(ValueError, match="no flow 'c/0'"):
        epochs_of_flow(by_hand(), "c/0")


@pytest.mark.parametrize(
    ("alpha", "beta", "lost"),
    [([1, 1], [0.5, 0.5], 1.0), ([1, 0.2], [0.5, 0.95], 1.0), ([2, 1], [0.7, 0.6], [0.9, 0.5])],
)
@pytest.mark.parametrize("convergence", [0.95, 0.5])
def test_windows_of_the_model_converge_as_it_says(
    alpha: list[float], beta: list[float], lost: float, convergence: float
) -> None:
    """The last 20 of 300 epochs are in steady state: 0.9 ** 280 is practically zero."""
    history = aimd.window_history([40.0, 1.0], 300, alpha, beta, lost)
    expected = aimd.convergence_epochs(alpha, beta, lost, convergence=convergence)

    found = epochs_to_converge(history, convergence=convergence)
    assert found == pytest.approx(float(expected), rel=1e-6)
    interval = convergence_interval([history] * 3, convergence=convergence)
    assert interval.mean == pytest.approx(float(expected), rel=1e-6)
    assert interval.half_width == pytest.approx(0.0, abs=1e-6)
    assert convergence_interval([history]).low is None


@pytest.mark.parametrize(
    ("windows", "message"),
    [
        (np.ones((20, 2)), "more than 20 epochs"),
        (np.ones(40), "more than 20 epochs"),
        (np.ones((40, 2)), "converged from the first epoch on"),
        (np.stack([np.ones(22), np.r_[1.5, 1.8, np.ones(20)]], axis=1), "do not converge"),
    ],
)
def test_windows_that_say_nothing_are_refused(windows: np.ndarray, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        epochs_to_converge(windows)


def test_absurd_arguments_are_refused() -> None:
    with pytest.raises(ValueError, match="between 0 and 1, not 1"):
        epochs_to_converge(np.ones((40, 2)), convergence=1.0)
    with pytest.raises(ValueError, match="no runs"):
        convergence_interval([])


def wired(increase: float, queue: int, replications: int, duration: str) -> list[Epochs]:
    """Two flows over 10 Mb/s and 100 ms, the second from 60 s on, without slow start."""
    flows = "".join(
        f"""
[[stations]]
name = "{name}"
count = 1
[[flows]]
stations = "{name}"
direction = "upload"
application = {{ kind = "bulk", start = "{start}" }}
path = ["wire"]
[flows.tcp]
variant = "sack"
receive_window = "1 MB"
delayed_ack = {{ every = 1 }}
initial_ssthresh = {{ segments = 2 }}
aimd = {{ increase = {increase}, decrease = 0.5 }}
"""
        for name, start in (("a", "0 s"), ("b", "60 s"))
    )
    text = f"""
[phy]
standard = "802.11a"
[links.wire]
rate = "10 Mb/s"
delay = "50 ms"
queue = {queue}
{flows}
[run]
warmup = "0 s"
duration = "{duration}"
replications = {replications}
seed = 1
"""
    result = airtcp.simulate(loads(text), trace=True, trace_interval_s=0.05)
    traces = [run.trace for run in result.simulation.runs if run.trace is not None]
    return [
        epochs_of_queue(trace, "wire to server", BOTH, apart_s=0.4, from_s=60.0) for trace in traces
    ]


@pytest.mark.parametrize("increase", [2.0, 4.0])
def test_synchronised_flows_on_a_wire_converge_as_the_model_says(increase: float) -> None:
    """With several segments more each round trip, both flows lose in every overflow.

    Then by the model, which knows neither segments nor round trips, an epoch halves a difference.
    Windows here grow by `increase` a round trip, by ACKs (RFC 5681 (3)), which is less by increase
    / 2W at a window of W. A flow that learns of its loss a part of a round trip after the other
    grows for that much less before the next loss. Both effects are at most one step of growth,
    `increase` in a mean window of 92 segments: 10 Mb/s and 0.1 s are 83 packets of 1500 bytes, and
    100 more fit into the queue.
    """
    runs = wired(increase, 100, 4, "300 s")
    assert min(len(run.end_s) for run in runs) > 40
    assert all((run.loss_probability == 1.0).all() for run in runs)

    found = convergence_interval([run.cwnd_bytes for run in runs])
    assert found.mean is not None
    kept = 0.05 ** (1.0 / found.mean)
    assert abs(kept - 0.5) < increase / 92.0


def test_flows_that_lose_apart_converge_as_the_model_says_with_their_losses() -> None:
    """Erratum L10, with the measured lambda."""
    runs = wired(1.0, 40, 16, "180 s")
    lost = np.mean([run.loss_probability for run in runs], axis=0)
    assert ((lost > 0.8) & (lost < 1.0)).all()

    found = convergence_interval([run.cwnd_bytes for run in runs])
    expected = float(aimd.convergence_epochs([1.0, 1.0], 0.5, lost))
    assert found.low is not None
    assert found.high is not None
    assert found.low < expected < found.high
