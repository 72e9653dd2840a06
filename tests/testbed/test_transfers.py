"""Transfers by real servers and clients equal those of the simulation with the same seed."""

import math
import uuid
from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from airtcp.exceptions import ScenarioError, SimulationError
from airtcp.run.simulate import simulate
from airtcp.scenario import Scenario, loads
from airtcp.testbed.bench import measure
from airtcp.testbed.programs import program_of
from airtcp.testbed.site import site_of
from airtcp.testbed.transfers import Transfers
from airtcp.testbed.users import Zeros
from bases import cell, refused, said


def told(scenario: Scenario, flow: int = 0) -> dict:
    """Return the instructions for the users of a flow."""
    real = site_of(scenario, name="test").flows[flow]
    program = program_of(real, scenario.run.seed, name="test")
    assert isinstance(program, Transfers)
    program.until_s = (scenario.run.warmup_ns + scenario.run.duration_ns) / 1e9
    return program.told()


def test_an_application_without_a_program_must_be_simulated(ftp: Scenario) -> None:
    """An application that the testbed does not know yet."""
    real: Any = site_of(ftp, name="test").flows[0]
    unknown = SimpleNamespace(model_dump=lambda: {"kind": "rounds", "size": None})
    flow = SimpleNamespace(application=unknown, name="rounds")

    with pytest.raises(ScenarioError) as caught:
        program_of(replace(real, flow=flow), 1, name="office.toml")

    assert caught.value.key == "flows[0] (rounds).application.kind"
    assert said(caught.value) == "testbed.programs.no_program"


def test_sizes_and_times_are_those_of_the_simulation(ftp: Scenario) -> None:
    """The simulation ends nearly all transfers that begin: only the last ones are missing."""
    transfers = told(ftp)["transfers"]
    simulated = simulate(ftp.vary({"run.warmup": "0 s", "run.duration": "8 s"}), replications=1)

    ended = simulated.simulation.counts["transfers"]
    assert ended <= len(transfers) <= ended + 5
    assert all(at < 8 for at, _ in transfers)
    # Delivered bytes are the requested ones, except for those in progress at the end.
    goodput = simulated.metrics["goodput_bps"].mean
    sizes = [size for _, size in transfers]
    assert sum(sizes[:ended]) - max(sizes) < goodput * 8 / 8 < sum(sizes) + 1000 * len(sizes)


def test_stations_have_transfers_of_their_own(web: Scenario) -> None:
    random = web.vary(
        {"flows.web.application.size": {"distribution": "exponential", "mean": "20 kB"}}
    )
    one, other = told(random, 0), told(random, 1)

    assert one["sizes"] != other["sizes"]
    assert one["prefix"] != other["prefix"]
    assert sum(one["pauses"]) >= 4.5
    assert all(isinstance(size, int) and size >= 1 for size in one["sizes"])


def test_users_who_think_for_a_constant_time_are_not_in_step(web: Scenario) -> None:
    one, other = (told(web.vary({"flows.web.application.think_time": "3 s"}), at) for at in (0, 1))

    assert 0 < one["pauses"][0] < 3
    assert 0 < other["pauses"][0] < 3
    assert one["pauses"][0] != other["pauses"][0]
    assert set(one["pauses"][1:]) == {3.0}


def test_a_constant_rate_begins_anywhere(ftp: Scenario) -> None:
    constant = ftp.vary({"flows.file.application.interarrival": "200 ms"})
    times = np.array([at for at, _ in told(constant)["transfers"]])

    assert 0 < times[0] < 0.2
    assert np.diff(times) == pytest.approx(0.2)


def test_padded_segments_are_whole(ftp: Scenario) -> None:
    padded = ftp.vary({"flows.file.tcp.pad_last_segment": True})
    mss = padded.flows[0].tcp.mss_bytes

    before, after = told(ftp)["transfers"], told(padded)["transfers"]
    assert [size for _, size in after] == [mss * math.ceil(size / mss) for _, size in before]


PAGE = {"objects": {"distribution": "deterministic", "value": 9}, "connections": 3}


@pytest.fixture
def pages(web: Scenario) -> Scenario:
    """Return pages of nine objects of 5 kB on average."""
    return web.vary(
        {
            "flows.web.application.page": PAGE,
            "flows.web.application.size": {"distribution": "exponential", "mean": "5 kB"},
        }
    )


def test_what_no_program_does_is_refused(pages: Scenario) -> None:
    with refused("testbed.programs.header", at="flows[0] (web).tcp.mss"):
        measure(pages.vary({"flows.web.tcp.mss": "300 B"}), name="my.toml")


def test_pages_are_those_of_the_simulation(pages: Scenario) -> None:
    """The simulator delivers the bytes of both users' first pages."""
    asked = [told(pages, flow) for flow in (0, 1)]
    assert asked[0]["pages"] != asked[1]["pages"]
    assert {len(one) for some in asked for one in some["pages"]} == {9}
    assert all(one["connections"] == 3 and "sizes" not in one for one in asked)

    # One page each, at a random moment of the think time.
    once = pages.vary(
        {
            "flows.web.application.think_time": {"distribution": "deterministic", "value": "3.9 s"},
            "run.warmup": "0 s",
            "run.duration": "3.9 s",
        }
    )
    answer = simulate(once, replications=1).simulation
    assert answer.counts["transfers"] == 18
    bytes_of = [flow["goodput_bps"] * 3.9 / 8 for flow in answer.runs[0].answer["flows"]]
    first = [sum(told(once, flow)["pages"][0]) for flow in (0, 1)]
    assert bytes_of == pytest.approx(first)


@pytest.mark.usefixtures("machine")
def test_web_users_get_what_they_ask_for(web: Scenario) -> None:
    """100 ms of think time and some 40 ms for 20 kB: a busy machine makes fewer, never more."""
    measured = measure(web)

    transfers = measured.testbed.counts["transfers"]
    assert 10 < transfers < 2 * 4 / 0.12
    # 20 kB plus HTTP headers, for ended transfers and two in progress.
    goodput = measured.metrics["goodput_bps"].mean
    carried = goodput * 4 / 8
    assert 20_100 * (transfers - 2) < carried < 20_500 * (transfers + 2)
    assert measured.metrics["transfer_time_s"].mean > 8 * 20_000 / 7.5e6


@pytest.mark.usefixtures("machine")
def test_web_users_upload_by_put(web: Scenario) -> None:
    """Like the downloads above; headers of 100 bytes and each transfer's handshake are small."""
    uploads = web.vary({"flows.web.direction": "upload", "flows.web.application.request": "0 B"})
    measured = measure(uploads)
    simulated = simulate(uploads, replications=1)

    transfers = measured.testbed.counts["transfers"]
    assert 10 < transfers < 1.2 * simulated.simulation.counts["transfers"]
    goodput = measured.metrics["goodput_bps"].mean
    carried = goodput * 4 / 8
    assert 20_050 * (transfers - 2) < carried < 20_200 * (transfers + 2)
    # A busy machine delays programs, but cannot make the medium faster.
    one, other = (each.metrics["transfer_time_s"].mean for each in (measured, simulated))
    assert 0.8 * other < one < 4 * other


@pytest.mark.usefixtures("machine")
def test_pages_load_over_several_connections(pages: Scenario) -> None:
    """Each object is a transfer, and the page as a whole is measured too."""
    one = measure(pages).testbed
    other = simulate(pages, replications=1).simulation

    transfers = one.counts["transfers"]
    assert 0.3 * other.counts["transfers"] < transfers < 1.2 * other.counts["transfers"]
    for metric in ("transfer_time_s", "page_time_s"):
        real, wanted = (each.metrics[metric].mean for each in (one, other))
        # A busy machine delays programs, but cannot make the medium faster.
        assert 0.8 * wanted < real < 4 * wanted, metric
    # 5 kB plus the headers of each object.
    carried = one.metrics["goodput_bps"].mean * 4 / 8
    assert 3000 * transfers < carried < 8000 * transfers


@pytest.mark.usefixtures("machine")
def test_ftp_takes_from_pasv_to_226(ftp: Scenario) -> None:
    measured = measure(ftp)
    simulated = simulate(ftp, replications=1)

    of_both = [one.counts["transfers"] for one in (measured.testbed, simulated.simulation)]
    assert of_both[0] == pytest.approx(of_both[1], abs=2)
    one, other = (each.metrics["transfer_time_s"].mean for each in (measured, simulated))
    # A busy machine delays programs, but cannot make the medium faster.
    assert 0.8 * other < one < 4 * other


@pytest.mark.usefixtures("machine")
def test_users_who_fail_end_the_run_and_leave_nothing(
    ftp: Scenario, monkeypatch: pytest.MonkeyPatch, left: Callable[[str, float], list[str]]
) -> None:
    monkeypatch.setattr(Transfers, "step", _with_a_wrong_password(Transfers.step))

    mark = f"airtcp-test-{uuid.uuid4()}"
    monkeypatch.setenv("AIRTCP_TEST_MARK", mark)

    with pytest.raises(SimulationError, match="530 Login incorrect"):
        measure(ftp)

    # A failed run leaves nothing either, not even its server processes.
    assert left(mark, 10) == []


def _with_a_wrong_password(step):
    def stepped(self, network, air):
        known = self.told
        self.told = lambda: known() | {"password": "wrong"}
        step(self, network, air)
        self.told = known

    return stepped


def test_what_is_uploaded_is_as_long_as_it_should_be() -> None:
    zeros = Zeros(100)

    assert [len(zeros.read(64)), len(zeros.read(64)), len(zeros.read(64))] == [64, 36, 0]


def test_a_bulk_transfer_of_some_size_is_one_transfer() -> None:
    scenario = loads(
        cell(
            application='{ kind = "bulk", size = "30 kB", start = "2 s" }',
            duration="1 s",
            warmup="0 s",
        )
    )
    assert told(scenario)["transfers"] == [(2.0, 30_000)]
