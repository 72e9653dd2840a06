"""Traffic programs: a real server and a real client for each real flow.

iperf3 generates endless transfers and datagrams; `transfers` has the programs for finite transfers.
"""

from __future__ import annotations

import subprocess
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar, Final

from airtcp.exceptions import ScenarioError, SimulationError, one_line
from airtcp.phrases import phrase
from airtcp.testbed.program import Program
from airtcp.testbed.site import SERVER, RealFlow
from airtcp.testbed.transfers import Ftp, Http, Pages

if TYPE_CHECKING:
    from airtcp.testbed.carrier import Carrier
    from airtcp.testbed.network import Network

_IPERF_PORT: Final = 5201
_IP_UDP_BYTES: Final = 28
#: Longer than the header of any nginx response.
_HEAD_BYTES: Final = 400
#: A program that runs until the end is started with this much more time. [s]
_SLACK_S: Final = 60.0
#: The offered load relative to the data rate: above 1, there is always another packet.
_SATURATED: Final = 1.1


class Iperf(Program):
    """An endless transfer, or datagrams at a constant rate, by iperf3.

    The first connection to its port is iperf3's control connection; data use the next one.
    """

    dialogues = 0
    packages: ClassVar[dict[str, str]] = {"iperf3": "iperf3"}

    def __init__(self, real: RealFlow, seed: int) -> None:
        super().__init__(real, seed)
        application = real.flow.application.model_dump(by_alias=True)
        self._is_udp = application["kind"] == "udp"
        if self._is_udp:
            self.purpose = "dialogue"
        self._start_s = 0.0
        if not self._is_udp:
            [self._start_s] = self.draws(application["start"], "pause", 1)
        self._port = _IPERF_PORT + real.index
        self._application = application
        self._client: subprocess.Popen[str] | None = None

    def start_server(self, network: Network) -> None:
        """Start a server for this flow: iperf3 serves one client at a time."""
        address, port = self.real.server_address, str(self._port)
        network.start(
            SERVER, ["iperf3", "--server", "--bind", address, "--port", port], promptly=True
        )

    def is_ready(self, listening: set[tuple[str, int]]) -> bool:
        """Whether the server listens."""
        return (self.real.server_address, self._port) in listening

    def step(self, network: Network, air: Carrier) -> None:
        """Start the client when it is due, and check that it keeps running."""
        if self._client is None:
            if air.now_s >= self._start_s:
                self._client = network.start(
                    self.client,
                    self._command(),
                    stderr=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    promptly=True,
                )
        elif self._client.poll() is not None:
            said = self._client.communicate()
            raise SimulationError(
                phrase("testbed.programs.iperf3_ended", station=self.real.station)
                + one_line(" ".join(said).strip())
            )

    def _command(self) -> list[str]:
        command = [
            "iperf3", "--client", self.real.server_address, "--port", str(self._port),
            "--time", str(int(self.until_s + _SLACK_S)), "--interval", "0",
        ]  # fmt: skip
        if self.real.flow.direction == "download":
            command.append("--reverse")
        if self._is_udp:
            payload = self._application["packet_bytes"] - _IP_UDP_BYTES
            rate = self._application["rate_bps"] or _SATURATED * self._data_rate_bps()
            bits = round(rate * payload / (payload + _IP_UDP_BYTES))
            command += ["--udp", "--length", str(payload), "--bitrate", str(bits)]
        elif self._application.get("rate_bps"):
            rate, block = (self._application[key] for key in ("rate_bps", "block_bytes"))
            command += ["--length", str(block), "--bitrate", str(rate)]
        return command

    def _data_rate_bps(self) -> float:
        return float(self.real.data_rate_bps)


def program_of(real: RealFlow, seed: int, *, name: str) -> Program:
    """Return the program that generates the traffic of a flow. Raises ScenarioError if none can."""
    application = real.flow.application.model_dump()
    kind = application["kind"]
    if kind == "udp" or (kind == "bulk" and application["size"] is None):
        return Iperf(real, seed)
    where = f"flows[{real.entry}] ({real.flow.name})"
    simulated = phrase("testbed.programs.simulated", name=real.flow.name)
    if application.get("rate_bps") is not None:
        raise ScenarioError(
            name,
            f"{where}.application.rate",
            phrase("testbed.programs.size_at_rate", simulated=simulated),
        )
    if kind == "ftp" and application["control"] is not None:
        return Ftp(real, seed)
    if application.get("page") is not None:
        if real.flow.tcp is not None and real.flow.tcp.mss_bytes < _HEAD_BYTES:
            raise ScenarioError(
                name,
                f"{where}.tcp.mss",
                phrase("testbed.programs.header", least=_HEAD_BYTES, simulated=simulated),
            )
        return Pages(real, seed)
    if kind not in Http.kinds:
        raise ScenarioError(
            name,
            f"{where}.application.kind",
            phrase("testbed.programs.no_program", kind=kind, simulated=simulated),
        )
    return Http(real, seed)


def listening(network: Network) -> set[tuple[str, int]]:
    """Return the addresses and ports of the server's network that listen for TCP."""
    shown = subprocess.run(
        network.inside(SERVER, ["cat", "/proc/net/tcp"]),
        capture_output=True,
        text=True,
        check=False,
    ).stdout
    found = set()
    for line in shown.splitlines()[1:]:
        fields = line.split()
        if fields[3] == "0A":
            address, _, port = fields[1].partition(":")
            parts = [str(int(address[at : at + 2], 16)) for at in (6, 4, 2, 0)]
            found.add((".".join(parts), int(port, 16)))
    return found


def wait_until_ready(network: Network, programs: Sequence[Program], patience_s: float) -> None:
    """Wait until all servers are ready. Raises SimulationError if one does not start."""
    deadline = time.monotonic() + patience_s
    missing = list(programs)
    while missing:
        there = listening(network)
        missing = [one for one in missing if not one.is_ready(there)]
        if missing and time.monotonic() > deadline:
            one = missing[0]
            raise SimulationError(
                phrase(
                    "testbed.programs.does_not_listen",
                    name=one.real.flow.name,
                    after_s=patience_s,
                )
            )
        if missing:
            time.sleep(0.05)
