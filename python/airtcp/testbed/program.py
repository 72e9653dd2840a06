"""A pair of a real server and a real client, which make the traffic of one flow that is real.

Knows what a testbed asks of every such pair. Does not know any program.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar

from airtcp.testbed.site import RealFlow, netns_name

if TYPE_CHECKING:
    from airtcp.testbed.carrier import Carrier
    from airtcp.testbed.network import Network


class Program(ABC):
    """The program that makes the traffic of one flow.

    `purpose` and `dialogues` say what its connections are for, as `airtcp._core.run_testbed` wants
    it; `packages` are the Debian packages of the programs that it needs.
    """

    purpose = "stream"
    dialogues: int | None = None
    packages: ClassVar[dict[str, str]] = {}

    def __init__(self, real: RealFlow, seed: int) -> None:
        self.real = real
        self.seed = seed
        #: The end of the air, which is known when its warm-up is.
        self.until_s = 0.0

    @abstractmethod
    def start_server(self, network: Network) -> None:
        """Start what has to be there before the first packet."""

    @abstractmethod
    def is_ready(self, listening: set[tuple[str, int]]) -> bool:
        """Tell whether the server is there, given where something listens."""

    @abstractmethod
    def step(self, network: Network, air: Carrier) -> None:
        """Do what is due by now. Raises SimulationError."""

    def draws(self, law: dict[str, Any], purpose: str, count: int) -> list[float]:
        """The first draws of a law that the simulator makes for this flow in replication 0.

        `purpose` is that of a stream of random numbers (randomness.md): the testbed has the
        transfers of the simulation with the same seed.
        """
        import numpy as np

        from airtcp import _core

        flow = f"{self.real.flow.name}/{self.real.index}"
        told = _core.drawn(json.dumps(law), self.seed, 0, flow, purpose, count)
        numbers: list[float] = np.frombuffer(told, dtype="<f8").tolist()
        return numbers

    @property
    def client(self) -> str:
        """The network of its client."""
        return netns_name(self.real.station)
