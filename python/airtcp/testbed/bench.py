"""Measure a scenario on the testbed: networks, simulated medium and programs combined."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Collection
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from airtcp.exceptions import OutputError, SimulationError
from airtcp.phrases import phrase
from airtcp.results.objects import Replication, Simulation
from airtcp.results.provenance import Provenance
from airtcp.results.records import kept
from airtcp.results.testbed import TestbedResult
from airtcp.run import SNAPLEN
from airtcp.testbed.carrier import Carrier, captured
from airtcp.testbed.network import Network, check_machine
from airtcp.testbed.program import Program
from airtcp.testbed.programs import program_of, wait_until_ready
from airtcp.testbed.site import Site, site_of

if TYPE_CHECKING:
    from airtcp.scenario import ResolvedScenario

_LOOK_EVERY_S: Final = 0.05
_PATIENCE_S: Final = 20.0

#: Called regularly with the fraction of time elapsed, and the counters so far.
Progress = Callable[[float, dict[str, Any]], None]


def measure(
    scenario: ResolvedScenario | str | Path,
    *,
    seed: int | None = None,
    simulated: Collection[str] = (),
    gro: bool = False,
    name: str = "scenario",
    progress: Progress | None = None,
    watch: Callable[[Network, Carrier], None] | None = None,
    pcap: str | Path | None = None,
    snaplen: int = SNAPLEN,
) -> TestbedResult:
    """Run a scenario with real TCP and real programs, in real time: warm-up and duration, once.

    The flows of `simulated` entries load the cell as simulated traffic. With `gro` stations merge
    packets that arrive together, as drivers of real ones do. `name` is the scenario's name in
    messages. `watch` is called about twenty times a second with the networks and the carrier.
    `pcap` is a file for packets that enter and leave the nodes and for frames on the medium (with
    several cells, those that each node hears), with the first `snaplen` bytes of each
    (docs/howto/testbed.md).

    Raises ScenarioError for features that a kernel lacks, QuestionError if this machine lacks what
    a testbed needs, SimulationError if a program fails, OutputError if the file cannot be written;
    the error has the result if this was detected too late.
    """
    import numpy as np

    from airtcp import _core
    from airtcp.run.warmup import with_warmup
    from airtcp.scenario.load import load

    if isinstance(scenario, str | Path):
        scenario = load(scenario)
    if seed is not None:
        scenario = scenario.with_run(seed=seed)
    site = site_of(scenario, name=name, simulated=simulated, gro=gro)
    run = scenario.run
    programs = [program_of(real, run.seed, name=name) for real in site.flows]
    check_machine({key: value for one in programs for key, value in one.packages.items()})
    scenario = with_warmup(scenario, threads=1)
    run = scenario.run
    total_s = run.whole_s
    for one in programs:
        one.until_s = total_s
    core = _core.Simulation(scenario.for_core())
    file = None if pcap is None else Path(pcap)
    lost: list[OutputError] = []
    began, cpu_began = time.perf_counter(), time.process_time()
    with Network(site.nodes) as network:
        for one in programs:
            one.start_server(network)
        wait_until_ready(network, programs, _PATIENCE_S)
        with (
            captured(file, site.names, site.air_names, snaplen, lost) as capture,
            Carrier(
                core, run.seed, network.devices, site.stations, servers(site, programs), capture
            ) as air,
        ):
            while not air.is_over():
                for one in programs:
                    one.step(network, air)
                if watch is not None:
                    watch(network, air)
                if progress is not None:
                    progress(min(1.0, air.now_s / total_s), air.progress())
                time.sleep(_LOOK_EVERY_S)
            answer, times = air.answer()
            lag = air.lag()
    if lag.packets == 0:
        raise SimulationError(phrase("testbed.network.nothing_crossed"))
    replication = Replication(0, kept(_seen(json.loads(answer))), np.frombuffer(times, dtype="<f8"))
    measured = Simulation.gather(
        [replication],
        confidence=run.confidence,
        simulated_s=total_s,
        wall_s=time.perf_counter() - began,
        cpu_s=time.process_time() - cpu_began,
        stopped="replications",
        scenario=scenario,
    )
    provenance = Provenance.of(scenario, seed=run.seed, generator=_core.GENERATOR)
    result = TestbedResult(scenario, provenance, measured, lag, site.deviations)
    if lost:
        raise OutputError("\n".join(map(str, lost)), result)
    return result


def servers(site: Site, programs: list[Program]) -> list[tuple[str, str, int | None] | None]:
    """Return what the core must know about the server of each entry."""
    by_entry = {one.real.entry: one for one in programs}
    return [
        None if address is None else (address, by_entry[entry].purpose, by_entry[entry].dialogues)
        for entry, address in enumerate(site.servers)
    ]


def _seen(answer: dict[str, Any]) -> dict[str, Any]:
    """Remove the metrics that are invisible from outside the endpoints: TCP timeouts."""
    groups = [
        group.get(part) for group in answer["groups"] for part in ("all", "download", "upload")
    ]
    for metrics in [answer["metrics"], *(one for one in groups if one is not None)]:
        metrics["tcp_timeouts"] = None
    return answer
