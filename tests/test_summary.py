"""What a reader gets to see first: the subject in words, sane numbers, what to take care of."""

import pytest
from airtcp.cli.show import simulated as show
from airtcp.compare import compare
from airtcp.examples import directory
from airtcp.present import summary
from airtcp.present.cautions import cautions
from airtcp.present.sense import sanity
from airtcp.results import Comparison
from airtcp.run.simulate import simulate
from airtcp.scenario import load, loads
from bases import cell
from wing import with_papers

WEB = """
title = "Three laptops"
phy = {{ standard = "802.11b" }}
mac = {{ rts_threshold = "500 B" }}
ap = {{ queue = {{ discipline = "fifo", limit = 50 }} }}
stations = [{{ name = "laptop", count = 3, data_rate = "5.5 Mb/s" }}]
run = {{ warmup = "1 s", duration = "{duration}", replications = {replications} }}
[[flows]]
stations = "laptop"
direction = "download"
path = [{{ rate = "100 Mb/s", delay = "2 ms" }}, {{ delay = "3 ms" }}]
[flows.application]
kind = "web"
size = {{ distribution = "pareto", mean = "{mean}", shape = 1.5 }}
think_time = {{ distribution = "exponential", mean = "1 s" }}
"""


def compared(duration: str = "200 s", replications: int = 4, mean: str = "20 kB") -> Comparison:
    return compare(loads(WEB.format(duration=duration, replications=replications, mean=mean)))


@pytest.fixture(scope="module")
def web() -> Comparison:
    return compared()


def test_stations_with_flows_of_two_rates_each_are_treated_alike() -> None:
    calls = loads("""
        run = { duration = "2 s", replications = 2 }
        phy = { standard = "802.11n" }
        stations = [{ name = "phone", count = 3, traffic = ["call"] }]
    """)
    result = simulate(calls)

    of_flows = result.simulation.metrics["jain_index"].mean
    assert of_flows < 0.9
    assert dict(sanity(result))["per station"].endswith("Jain index 1.00")


@with_papers
def test_events_that_nobody_saw_are_not_shown() -> None:
    result = compare(
        loads(
            cell(
                3,
                flow="tcp = { receive_window = { segments = 1 }, delayed_ack = { every = 1 } }",
                duration="2 s",
            )
        ),
        replications=2,
    )

    assert "drop_probability_mac" in result.model
    assert "MAC drop probability" not in [line.metric for line in summary.comparison_lines(result)]


def test_nothing_to_take_care_of(web: Comparison) -> None:
    calm = compared(duration="2000 s", replications=8, mean="2 kB")

    assert cautions(calm) == []


def test_one_replication_is_a_caution(web: Comparison) -> None:
    alone = simulate(web.scenario, replications=1)

    assert any(
        "one replication has no confidence interval; use --replications 5" in one
        for one in cautions(alone)
    )


def test_transfers_as_long_as_the_run_are_a_caution() -> None:
    (long, *_) = cautions(compared(duration="10 s", mean="2 MB"))

    assert "run too short (10 s)" in long
    assert "--set run.duration=" in long


def test_runs_that_are_too_short_are_a_caution() -> None:
    """More users than the channel carries, with sizes of a real log.

    Transfers that ended took 3.5 s; but with all 90 users either thinking for 10 s or transferring
    307 kB, and 4.79 Mb/s in all, a transfer takes 90 x 307 kB / 4.79 Mb/s - 10 s = 36 s.
    """
    users = load(str(directory() / "web-hotspot.toml")).vary({"stations.laptop.count": 90})
    result = simulate(users.vary({"run.duration": "1500 s", "run.replications": 2}))
    told = [one for one in cautions(result) if "run too short (25 min" in one]

    estimate = result.simulation.estimates["transfer_time_s"]
    assert estimate.interval.mean == pytest.approx(36.0, rel=0.02)
    assert estimate.plain.mean == pytest.approx(3.5, rel=0.02)
    assert len(told) == 1
    assert "--set run.duration=" in told[0]
    record = result.simulation.to_dict()["steadiness"]
    assert record["state"] == "unsteady"
    assert record["simulate_s"] > 5_000.0


def test_wide_intervals_are_a_caution() -> None:
    told = cautions(compared(duration="5 s", replications=2, mean="200 kB"))

    assert any("wide intervals" in one for one in told)


@pytest.mark.parametrize(("replications", "head"), [(1, "mean"), (3, "mean, 95 % interval")])
def test_a_run_without_intervals_promises_none(
    replications: int, head: str, capsys: pytest.CaptureFixture[str]
) -> None:
    text = cell(3, warmup="1 s", duration="1 s", replications=replications)
    show(simulate(loads(text)))

    (line,) = (one for one in capsys.readouterr().out.splitlines() if one.startswith("metric "))
    assert line.split(maxsplit=1)[1].strip() == head


def test_assumptions_that_read_alike_in_short_are_told_once() -> None:
    """Each with all that it is about, and as of all where one is."""
    told = [("a queue; one way", ["M"]), ("a server; slower", []), ("a queue; another", ["B", "M"])]
    assert summary.shortened(told) == [("a queue", ["M", "B"]), ("a server", [])]
    assert summary.shortened([("x; y", ["M"]), ("x; z", [])]) == [("x", [])]
