"""Transfers at flow level: scenario files against Python's results, and against theory."""

import json
from pathlib import Path

import airtcp
import pytest
from airtcp.cli.commands import app
from airtcp.distributions import Distribution, Exponential, Hyperexponential, Pareto
from airtcp.exceptions import QuestionError
from airtcp.scenario import ResolvedScenario, loads
from airtcp_papers.common.flows import closed_processor_sharing, processor_sharing
from airtcp_papers.common.servers import concurrent_processor_sharing
from airtcp_papers.common.sharing import share, split
from airtcp_papers.common.sharing.rows import cautions
from bases import BULK, cell, reading
from typer.testing import CliRunner

TCP = "tcp = { receive_window = { segments = 1 }, delayed_ack = { every = 1 } }"
SIZES = {
    "exponential": 'size = { distribution = "exponential", mean = "100 kB" }',
    "pareto": 'size = { distribution = "pareto", mean = "100 kB", shape = 2.5 }',
    "hyperexponential": 'size = { distribution = "hyperexponential", mean = "100 kB", scv = 4 }',
}


def text(application: str = BULK, standard: str = "802.11b") -> str:
    network = {"title": "Files", "standard": standard, "name": "client"}
    return cell(4, **network, application=application, flow=TCP, duration="10 s")


def text_of_ftp(every: str = "1 s", size: str = "exponential") -> str:
    law = f'{{ distribution = "exponential", mean = "{every}" }}'
    return text(f'{{ kind = "ftp", interarrival = {law}, {SIZES[size]} }}')


def ftp(every: str = "1 s", size: str = "exponential") -> ResolvedScenario:
    return loads(text_of_ftp(every, size))


def web() -> ResolvedScenario:
    return loads(text(reading("100 kB")))


@pytest.mark.parametrize("size", SIZES)
def test_processor_sharing_is_within_a_hundredth_of_m_g_1_ps(size: str) -> None:
    """Four stations, 400 kB a second over 640 kB a second: 156 ms / (1 - .625)."""
    shared = share(ftp(size=size), capacity_bps=5.12e6, jobs=400_000)

    assert shared.load == pytest.approx(0.625)
    assert shared.metrics["transfer_time_s"].mean == pytest.approx(0.15625 / 0.375, rel=0.01)


def test_stations_that_think_are_those_of_the_closed_form() -> None:
    shared = share(web(), jobs=400_000)

    assert shared.load is None
    model = airtcp.predict(web()).best("transfer_time_s")
    assert model is not None
    assert shared.model_s == model.value
    assert shared.metrics["transfer_time_s"].mean == pytest.approx(shared.model_s, rel=0.01)


def test_one_network_gives_the_numbers_of_python() -> None:
    shared = share(ftp(), jobs=2_000, replications=3)
    payload = [one / 8.0 for one in shared.capacities_bps]
    sizes = Exponential(mean=100_000.0)
    own = processor_sharing(
        sizes, capacity=payload, arrival_rate=4.0, jobs=2_000, replications=3, seed=1
    )

    sojourn, time = own.sojourn_s, shared.metrics["transfer_time_s"]
    assert time.half_width == pytest.approx(sojourn.half_width, rel=1e-9)
    added = shared.alone_s - sizes.mean() / payload[0]
    assert time.mean == pytest.approx((sojourn.mean or 0.0) + added, rel=1e-12)


def test_sources_give_the_numbers_of_python() -> None:
    own = closed_processor_sharing(
        Exponential(mean=100_000.0),
        sources=4,
        think_times=Exponential(mean=1.0),
        capacity=500_000.0,
        jobs=2_000,
        replications=3,
        seed=1,
    )

    shared = share(web(), capacity_bps=4e6, jobs=2_000, replications=3)

    assert shared.metrics["transfer_time_s"] == own.sojourn_s
    assert shared.active_flows_distribution == own.active_distribution.tolist()


def test_several_networks_give_the_numbers_of_python() -> None:
    both = {"a": ftp(), "b": ftp()}
    found = split(both, capacity_bps=4e6, shares=[0.7, 0.3], jobs=2_000, replications=3)

    for way, rule in (("fewest", "least"), ("by shares", [0.7, 0.3]), ("in proportion", [0.5] * 2)):
        own = concurrent_processor_sharing(
            Exponential(mean=100_000.0),
            capacities=[500_000.0] * 2,
            split=rule,  # type: ignore[arg-type]
            arrival_rate=4.0,
            jobs=2_000,
            replications=3,
            seed=1,
        )
        assert found.ways[way].transfer_time_s == own.sojourn_s
        assert [part.share for part in found.ways[way].parts] == [one.share for one in own.servers]


def test_traffic_that_overloads_one_network_is_split_over_two() -> None:
    with pytest.raises(QuestionError, match=r"the load .* is 1\.\d+, .*allowed: below 1"):
        share(ftp(every="500 ms"))

    found = split({"a": ftp(every="500 ms"), "b": ftp()}, jobs=2_000, replications=3)

    assert found.load is not None
    assert 0.5 < found.load < 1.0


def test_a_load_near_one_is_told() -> None:
    near = share(ftp(), capacity_bps=3.4e6, jobs=2_000, replications=2)
    far = share(ftp(), capacity_bps=34e6, jobs=2_000, replications=2)

    assert "the load is 0.941, close to 1" in next(cautions(near))
    assert not list(cautions(far))


@pytest.mark.parametrize(
    ("scenarios", "shares", "told"),
    [
        (["ftp"], None, "one network has nothing to split"),
        (["web", "web"], None, "web flows wait for their transfers"),
        (["ftp", "ftp"], [1.0], "1 shares for 2 networks"),
        (["ftp", "ftp"], [0.5, 0.6], "shares add up to 1.1"),
        (["ftp", "ftp"], [1.5, -0.5], "numbers of 0 or more"),
        (["heavy", "ftp"], [0.999, 0.001], "a share of 0.999 loads 0 with 1."),
        (["ftp", "ax"], None, "network 1: no model has the capacity: 802.11ax"),
    ],
)
def test_what_cannot_be_split_says_why(
    scenarios: list[str], shares: list[float] | None, told: str
) -> None:
    ax = loads(text(standard="802.11ax"))
    known = {"ftp": ftp(), "web": web(), "heavy": ftp(every="500 ms"), "ax": ax}
    networks = {str(number): known[name] for number, name in enumerate(scenarios)}

    with pytest.raises(QuestionError, match=told):
        split(networks, shares=shares, jobs=1_000)


def test_flows_that_differ_are_no_jobs() -> None:
    with pytest.raises(QuestionError, match=r"flow client \(bulk\) has no transfers"):
        share(loads(text()))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    file = tmp_path / "a.toml"
    file.write_text(text_of_ftp(), encoding="utf-8")
    return file


def test_both_commands_give_the_numbers_of_python(file: Path) -> None:
    """The JSON for a scenario file, to the last bit."""
    cli, few = CliRunner(), ["--transfers", "1000", "--replications", "3", "--json"]
    one = cli.invoke(app, ["share", str(file), *few])
    two = cli.invoke(app, ["split", str(file), "--copies", "2", "--shares", ".6,.4", *few])

    both = {"1: a": ftp(), "2: a": ftp()}
    own = share(ftp(), jobs=1_000, replications=3)
    parted = split(both, shares=[0.6, 0.4], jobs=1_000, replications=3)
    assert json.loads(one.output) == json.loads(own.to_json())
    assert json.loads(two.output) == json.loads(parted.to_json())


@pytest.mark.parametrize("command", [["share"], ["split", "--copies", "2"]])
def test_both_commands_refuse_an_overload_with_the_load(file: Path, command: list[str]) -> None:
    """Four stations offer 3.2 Mb/s: to one network of 2 Mb/s, and to two of 1 Mb/s."""
    capacity = "2 Mb/s" if command == ["share"] else "1 Mb/s"
    found = CliRunner().invoke(app, [*command, str(file), "--capacity", capacity])

    assert found.exit_code == 2
    assert "the load (arrivals times size over capacity) is 1.6, " in found.output


@pytest.mark.parametrize("command", [["share"], ["split", "--copies", "2"]])
def test_both_commands_warn_of_a_load_near_one(file: Path, command: list[str]) -> None:
    capacity = "3.4 Mb/s" if command == ["share"] else "1.7 Mb/s"
    few = ["--transfers", "1000", "--replications", "2"]
    found = CliRunner().invoke(app, [*command, str(file), "--capacity", capacity, *few])

    assert found.exit_code == 0
    assert "the load is 0.941, close to 1" in " ".join(found.output.split())


def test_both_commands_answer_on_a_terminal_and_as_json(file: Path) -> None:
    cli, few = CliRunner(), ["--transfers", "1000"]

    one = cli.invoke(app, ["share", str(file), *few])
    two = cli.invoke(app, ["split", str(file), "--copies", "2", *few])
    told = cli.invoke(app, ["share", str(file), *few, "--json"])
    wrong = cli.invoke(app, ["split", str(file), str(file), "--copies", "2"])

    assert one.exit_code == two.exit_code == told.exit_code == 0
    assert "transfer time, mean" in one.output
    assert "fewest" in two.output
    assert json.loads(told.output)["sharing"]["load"] == pytest.approx(0.63, abs=0.15)
    assert wrong.exit_code == 2
    assert "works only with one file; give one file, or no --copies" in wrong.output


@pytest.mark.parametrize(
    "law",
    [
        Exponential(mean=3.0),
        Pareto(shape=1.5, scale=2.0),
        Hyperexponential(probability=0.1, mean_1=6.0, mean_2=0.5),
    ],
)
def test_a_scaled_law_is_that_of_a_multiple(law: Distribution) -> None:
    double = law.scaled(2.0)

    assert double.mean() == pytest.approx(2.0 * law.mean())
    assert double.survival([2.0, 8.0, 50.0]) == pytest.approx(law.survival([1.0, 4.0, 25.0]))
