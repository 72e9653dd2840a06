"""Any program over the simulated air: a command at a station or at the server."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from airtcp.exceptions import OutputError
from airtcp.results.testbed import Lag
from airtcp.run import SNAPLEN
from airtcp.testbed.air import Air, captured
from airtcp.testbed.network import Network, check_machine, environment
from airtcp.testbed.programs import listening
from airtcp.testbed.site import SERVER, Site, netns_name, site_of

if TYPE_CHECKING:
    from airtcp.scenario import ResolvedScenario

__all__ = ["Ended", "shell"]

#: Longer than anyone waits. [ns]
_FOR_EVER_NS: Final = 10**15
#: A server that has not begun to listen by then may be one that never does. [s]
_SERVER_PATIENCE_S: Final = 5.0


@dataclass(frozen=True)
class Ended:
    """How a command ended, and how late its packets were."""

    status: int
    lag: Lag


def shell(
    scenario: ResolvedScenario,
    command: Sequence[str],
    *,
    name: str,
    node: str | None = None,
    server: Sequence[str] | None = None,
    simulated: Collection[str] = (),
    others: bool = False,
    gro: bool = False,
    pcap: Path | None = None,
    snaplen: int = SNAPLEN,
) -> Ended:
    """Run a command at a station, or at the server if `node` is "server", until it ends.

    It has our terminal and our files, and in its environment AIRTCP_SERVER and AIRTCP_STATION,
    the addresses of the two ends. `server` is a command that is started at the server before.
    Packets of flows in `simulated`, and with `others` those of all other stations, stay in the
    simulation, and load the cell. `pcap` is a file for what enters and leaves the nodes,
    and is on the air. Raises as `airtcp.testbed.bench.measure` does; OutputError has `Ended` as its
    result.
    """
    from airtcp import _core

    at_server = node == SERVER
    first = f"{scenario.stations[0].name}/0"
    station = first if node is None or at_server else node
    scenario = scenario.with_run(warmup_ns=0, duration_ns=_FOR_EVER_NS)
    site = site_of(
        scenario, name=name, simulated=simulated, only=station if others else None, gro=gro
    )
    check_machine()
    _check_has_flow(site, station, name)
    real = next(one for one in site.flows if one.station == station)
    addresses = {"AIRTCP_SERVER": real.server_address, "AIRTCP_STATION": real.station_address}
    core = _core.Simulation(scenario.to_json())
    servers = [None if one is None else (one, "stream", None) for one in site.servers]
    lost: list[OutputError] = []
    with Network(site.nodes) as network:
        if server is not None:
            network.start(SERVER, server, stderr=None, stdout=None, variables=addresses)
            _wait_for_server(network)
        seed, devices = scenario.run.seed, network.devices
        with (
            captured(pcap, site.names, snaplen, lost) as capture,
            Air(core, seed, devices, site.stations, servers, capture) as air,
        ):
            where = SERVER if at_server else netns_name(station)
            # In our session, so that it has the terminal, and Ctrl-C is for it.
            process = subprocess.Popen(
                network.inside(where, command), env=environment() | addresses
            )
            status = _wait(process)
            lag = air.lag()
    ended = Ended(status, lag)
    if lost:
        raise OutputError("\n".join(map(str, lost)), ended)
    return ended


def _check_has_flow(site: Site, station: str, name: str) -> None:
    from airtcp.exceptions import ScenarioError

    if not any(one.station == station for one in site.flows):
        there = ", ".join(dict.fromkeys(one.station for one in site.flows))
        raise ScenarioError(
            name, "flows", f"{station} has no real flow; allowed as --node: server, {there}"
        )


def _wait(process: subprocess.Popen[bytes]) -> int:
    """How the process ends. An interrupt is for the command, which may go on after it."""
    while True:
        try:
            status = process.wait()
        except KeyboardInterrupt:
            continue
        # As a shell says that a signal has ended a command.
        return status if status >= 0 else 128 - status


def _wait_for_server(network: Network) -> None:
    deadline = time.monotonic() + _SERVER_PATIENCE_S
    while not listening(network) and time.monotonic() < deadline:
        time.sleep(0.05)


def default_command() -> list[str]:
    """The user's own shell."""
    return [os.environ.get("SHELL") or "/bin/sh"]
