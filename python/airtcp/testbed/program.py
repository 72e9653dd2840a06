"""The interface of traffic programs: a real server and a real client for one flow."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar

from airtcp.testbed.site import RealFlow, netns_name

if TYPE_CHECKING:
    from airtcp.testbed.carrier import Carrier
    from airtcp.testbed.network import Network


class Program(ABC):
    """The program that generates the traffic of one flow.

    `purpose` and `dialogues` describe its connections for `airtcp._core.run_testbed`. `packages`
    are the Debian packages that it needs.
    """

    purpose = "stream"
    dialogues: int | None = None
    packages: ClassVar[dict[str, str]] = {}

    def __init__(self, real: RealFlow, seed: int) -> None:
        self.real = real
        self.seed = seed
        #: The end of the simulated time; set once the warm-up is known.
        self.until_s = 0.0

    @abstractmethod
    def start_server(self, network: Network) -> None:
        """Start everything that must run before the first packet."""

    @abstractmethod
    def is_ready(self, listening: set[tuple[str, int]]) -> bool:
        """Whether the server is ready, given the addresses and ports that listen."""

    @abstractmethod
    def step(self, network: Network, air: Carrier) -> None:
        """Do what is due by now. Raises SimulationError."""

    def draws(self, law: dict[str, Any], purpose: str, count: int) -> list[float]:
        """Return the first draws of a distribution, as the simulator makes them in replication 0.

        `purpose` selects the stream of random numbers: with the same seed, the testbed has the same
        transfers as the simulation.
        """
        import numpy as np

        from airtcp import _core

        flow = f"{self.real.flow.name}/{self.real.index}"
        told = _core.drawn(json.dumps(law), self.seed, 0, flow, purpose, count)
        numbers: list[float] = np.frombuffer(told, dtype="<f8").tolist()
        return numbers

    @property
    def client(self) -> str:
        """The name of its client's network."""
        return netns_name(self.real.station)
