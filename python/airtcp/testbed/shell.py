"""Run any program over the simulated network: a command at a station or at the server."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from airtcp.exceptions import OutputError
from airtcp.phrases import phrase
from airtcp.results.testbed import Lag
from airtcp.run import SNAPLEN
from airtcp.testbed.carrier import Carrier, captured
from airtcp.testbed.network import Network, check_machine, environment
from airtcp.testbed.programs import listening
from airtcp.testbed.site import SERVER, Site, netns_name, site_of

if TYPE_CHECKING:
    from airtcp.scenario import ResolvedScenario

#: The simulated duration of a shell without an end, 11 days. [ns]
_FOR_EVER_NS: Final = 10**15
#: After this time a server may be one that never listens. [s]
_SERVER_PATIENCE_S: Final = 5.0
#: A command that has not ended this long after the request is killed. [s]
_END_PATIENCE_S: Final = 5
#: The signals that ask a command to end.
_ENDING: Final = (signal.SIGTERM, signal.SIGHUP)


@dataclass(frozen=True)
class Ended:
    """The end of a command: its exit status, and the lateness of its packets."""

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

    It shares the terminal and the file system. Its environment has AIRTCP_SERVER and
    AIRTCP_STATION, the addresses of the two ends. `server` is a command to start at the server
    first. Flows in `simulated`, and with `others` those of all other stations, remain simulated and
    load the cell. `pcap` is a file for packets that enter and leave the nodes, and frames on the
    medium. Raises as `airtcp.testbed.bench.measure` does; the result of an OutputError is `Ended`.
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
    core = _core.Simulation(scenario.for_core())
    servers = [None if one is None else (one, "stream", None) for one in site.servers]
    lost: list[OutputError] = []
    with Network(site.nodes) as network:
        if server is not None:
            network.start(SERVER, server, stderr=None, stdout=None, variables=addresses)
            _wait_for_server(network)
        seed, devices = scenario.run.seed, network.devices
        with (
            captured(pcap, site.names, site.air_names, snaplen, lost) as capture,
            Carrier(core, seed, devices, site.stations, servers, capture) as air,
        ):
            where = SERVER if at_server else netns_name(station)
            with _PassedOn() as signals:
                # In the same session, so that the command has the terminal and receives Ctrl-C.
                signals.to(
                    subprocess.Popen(network.inside(where, command), env=environment() | addresses)
                )
                status = signals.wait()
        # After the carrier has stopped: before, the counters are slightly old, and commands can be
        # short.
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
            name, "flows", phrase("testbed.site.no_flow_of_node", station=station, there=there)
        )


class _PassedOn:
    """Passes SIGTERM and SIGHUP on to a command while the context is active.

    A command is killed if it has not ended some seconds after the first signal, or at the second
    signal. A signal that this process ignores, as under nohup, stays ignored here and in the
    command.
    """

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._asked: list[int] = []
        self._has_killed = False
        self._before: dict[int, Any] = {}

    def __enter__(self) -> _PassedOn:
        handlers: dict[signal.Signals, Callable[..., None]] = {signal.SIGALRM: self._kill}
        handlers.update(dict.fromkeys(_ENDING, self._pass_on))
        for number, handler in handlers.items():
            if signal.getsignal(number) is not signal.SIG_IGN or number not in _ENDING:
                self._before[number] = signal.signal(number, handler)
        return self

    def __exit__(self, *_: object) -> None:
        signal.alarm(0)
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def to(self, process: subprocess.Popen[bytes]) -> None:
        """Set the command's process: nsenter, which waits for the command itself."""
        self._process = process
        if self._asked:
            _send(process, self._asked[0])

    def wait(self) -> int:
        """Return the exit status. An interrupt is for the command, which may continue after it."""
        assert self._process is not None
        while True:
            try:
                status = self._process.wait()
            except KeyboardInterrupt:
                if not _has_terminal():
                    # A terminal sends Ctrl-C to the command as well; `kill` signals only this
                    # process.
                    _send(self._process, signal.SIGINT)
                continue
            if self._has_killed:
                return 128 + self._asked[0]
            # A shell reports the death by signal N as status 128 + N.
            return status if status >= 0 else 128 - status

    def _pass_on(self, number: int, _: object) -> None:
        self._asked.append(number)
        if len(self._asked) > 1:
            self._kill()
            return
        signal.alarm(_END_PATIENCE_S)
        if self._process is not None:
            _send(self._process, number)

    def _kill(self, *_: object) -> None:
        # The command itself ends with its networks.
        if self._process is not None:
            self._has_killed = True
            self._process.kill()


def _has_terminal() -> bool:
    """Whether this process, and so the command, is in the foreground of a terminal."""
    try:
        terminal = os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY)
    except OSError:
        return False
    try:
        return os.tcgetpgrp(terminal) == os.getpgrp()
    except OSError:
        return False
    finally:
        os.close(terminal)


def _send(process: subprocess.Popen[bytes], number: int) -> None:
    """Send a signal to the command that nsenter waits for, or to nsenter if it has not started."""
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    with contextlib.suppress(OSError):
        # Only `process.wait` reaps the process, so its id cannot belong to another one yet.
        found = [int(child) for child in children.read_text(encoding="ascii").split()]
        for pid in found or [process.pid]:
            os.kill(pid, number)


def _wait_for_server(network: Network) -> None:
    deadline = time.monotonic() + _SERVER_PATIENCE_S
    while not listening(network) and time.monotonic() < deadline:
        time.sleep(0.05)


def default_command() -> list[str]:
    """Return the user's own shell."""
    return [os.environ.get("SHELL") or "/bin/sh"]
