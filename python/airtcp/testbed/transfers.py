"""Finite transfers with real servers, nginx for HTTP and ProFTPD for FTP, and users at stations.

Sizes and times equal those that the simulator draws for its first replication with the same seed.
"""

from __future__ import annotations

import json
import math
import subprocess
import sys
from abc import abstractmethod
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING, Any, ClassVar, Final

from airtcp.exceptions import SimulationError, one_line
from airtcp.phrases import phrase
from airtcp.testbed.program import Program
from airtcp.testbed.site import SERVER, RealFlow

if TYPE_CHECKING:
    from airtcp.testbed.carrier import Carrier
    from airtcp.testbed.network import Network

_USERS: Final = Path(__file__).with_name("users.py")
_HTTP_PORT: Final = 80
_FTP_PORT: Final = 21
#: The directory of files, as programs of a testbed see it.
_FILES: Final = "/run/airtcp"
#: More transfers than any real run has.
_MOST_TURNS: Final = 100_000
#: After this many pages, the same pages repeat.
_MOST_PAGES: Final = 1000
#: The number of users of a station that log in before the first transfer.
_LOGGED_IN: Final = 32
#: "RETR " or "STOR ", and the end of the line.
_COMMAND_BYTES: Final = 7

#: Allow uploads of files of any size.
_UPLOADS: Final = "dav_methods PUT; client_max_body_size 0;"
#: The password of every user is "airtcp".
_PASSWORD: Final = "$1$airtcp$kYvMuw6QZ4cusY4fJZ4G51"


def _configure(path: Path, fields: dict[str, Any]) -> None:
    """Write the configuration of a server, from the template of the same name next to here."""
    template = Path(__file__).with_name(path.name).read_text(encoding="ascii")
    path.write_text(Template(template).substitute(fields), encoding="ascii")


class Transfers(Program):
    """Transfers between one station and the server of its entry."""

    def __init__(self, real: RealFlow, seed: int) -> None:
        super().__init__(real, seed)
        self._application = real.flow.application.model_dump(by_alias=True)
        self._users: subprocess.Popen[str] | None = None
        self._folder = f"{_FILES}/{real.entry}"

    @property
    def _uploads(self) -> bool:
        return self.real.flow.direction == "upload"

    @abstractmethod
    def told(self) -> dict[str, Any]:
        """Return the instructions for the users."""

    def step(self, network: Network, air: Carrier) -> None:
        """Start the users, and check that they keep running."""
        if self._users is None:
            told = {"folder": self._folder, "epoch_ns": air.epoch_ns} | self.told()
            self._users = network.start(
                self.client,
                [sys.executable, "-I", "-S", str(_USERS)],
                stdin=subprocess.PIPE,
                stderr=subprocess.PIPE,
                promptly=True,
            )
            assert self._users.stdin is not None
            self._users.stdin.write(json.dumps(told) + "\n")
            self._users.stdin.flush()
        elif self._users.poll() is not None:
            _, said = self._users.communicate()
            raise SimulationError(
                phrase("testbed.programs.users_ended", station=self.real.station)
                + one_line((said or "").strip())
            )

    def _folder_in(self, network: Network) -> Path:
        """Return the directory of the server's files, as seen from outside."""
        folder = network.files / str(self.real.entry)
        folder.mkdir(exist_ok=True)
        return folder

    def _times_and_sizes(self, gaps: dict[str, Any]) -> list[tuple[float, int]]:
        """Return times and sizes of transfers with these interarrival times, until the end."""
        times: list[float] = []
        at_s, count = 0.0, 256
        while not times or (times[-1] < self.until_s and len(times) < _MOST_TURNS):
            count *= 2
            at_s, times = 0.0, []
            for gap in self._gaps(gaps, "arrival", count):
                at_s += gap
                times.append(at_s)
        times = [one for one in times if one < self.until_s]
        return list(zip(times, self._sizes(len(times)), strict=True))

    def _gaps(self, law: dict[str, Any], purpose: str, count: int) -> list[float]:
        """Return the first gaps of a distribution. For a constant one, the first gap is randomized.

        So users and sources with constant gaps do not run in step.
        """
        gaps = self.draws(law, purpose, count)
        if law["kind"] == "deterministic":
            gaps[0] *= self.draws({"kind": "uniform", "low": 0.0, "high": 1.0}, purpose, 1)[0]
        return gaps

    def _sizes(self, count: int) -> list[int]:
        draws = self.draws(self._application["size"], "transfer size", count)
        return [self._whole(one) for one in draws]

    def _whole(self, drawn: float) -> int:
        """Round up to whole bytes, at least one, and to whole segments if they are padded."""
        size = max(1, math.ceil(drawn))
        tcp = self.real.flow.tcp
        if tcp is not None and tcp.pad_last_segment:
            size = math.ceil(size / tcp.mss_bytes) * tcp.mss_bytes
        return size


class Http(Transfers):
    """Transfers of `web`, `bulk` with a size, `replay`, and `ftp` without its dialogue, by HTTP."""

    purpose = "transfer"
    kinds: ClassVar[frozenset[str]] = frozenset({"web", "bulk", "replay", "ftp"})
    packages: ClassVar[dict[str, str]] = {"nginx": "nginx-light"}

    def start_server(self, network: Network) -> None:
        """Start one server for all stations of an entry."""
        if self.real.index == 0:
            folder = self._folder_in(network)
            fields = {
                "folder": self._folder,
                "address": self.real.server_address,
                "port": _HTTP_PORT,
                "more": _UPLOADS if self._uploads else "",
            }
            _configure(folder / "nginx.conf", fields)
            command = ["nginx", "-p", self._folder, "-c", f"{self._folder}/nginx.conf"]
            network.start(SERVER, command, promptly=True)

    def is_ready(self, listening: set[tuple[str, int]]) -> bool:
        """Whether the server listens."""
        return (self.real.server_address, _HTTP_PORT) in listening

    def told(self) -> dict[str, Any]:
        """Return the think times and sizes of the user, or the times and sizes of transfers."""
        asked = self._application
        told: dict[str, Any] = {
            "server": [self.real.server_address, _HTTP_PORT],
            "pad": asked.get("request_bytes", 0),
            "prefix": f"{self.real.index}-",
            "uploads": self._uploads,
        }
        if asked["kind"] == "web":
            pauses = self._pauses()
            return told | {"kind": "web", "pauses": pauses, "sizes": self._sizes(len(pauses))}
        if asked["kind"] == "bulk":
            begins_s = self.draws(asked["start"], "pause", 1)[0]
            transfers = [(begins_s, self._sizes(1)[0])]
        elif asked["kind"] == "replay":
            transfers = [
                (at_s, self._whole(size)) for at_s, size in asked["transfers"][self.real.index]
            ]
        else:
            transfers = self._times_and_sizes(asked["interarrival"])
        return told | {"kind": "open", "transfers": transfers}

    def _pauses(self) -> list[float]:
        """Return think times that last beyond the end."""
        pauses: list[float] = []
        count = 16
        while sum(pauses) < self.until_s and len(pauses) < _MOST_TURNS:
            count *= 2
            pauses = self._gaps(self._application["think_time"], "pause", count)
        return pauses


class Pages(Http):
    """Pages of many objects, by clients that load them as browsers do."""

    purpose = "pages"

    def told(self) -> dict[str, Any]:
        """Return the think times and pages of the user."""
        from airtcp import _core

        told = super().told()
        del told["sizes"]
        # Without think times there could be far more pages than are ever loaded.
        told["pauses"] = told["pauses"][:_MOST_PAGES]
        tcp = self.real.flow.tcp
        pages = _core.drawn_pages(
            json.dumps(self._application),
            self.seed,
            0,
            f"{self.real.flow.name}/{self.real.index}",
            tcp.mss_bytes if tcp is not None and tcp.pad_last_segment else None,
            len(told["pauses"]),
        )
        connections = self._application["page"]["connections"]
        return told | {"kind": "pages", "pages": pages, "connections": connections}


class Ftp(Transfers):
    """Transfers of `ftp` with its dialogue, by users who have logged in before."""

    purpose = "part"
    dialogues = _FTP_PORT
    packages: ClassVar[dict[str, str]] = {"proftpd": "proftpd-core"}

    def start_server(self, network: Network) -> None:
        """Start one server for all stations of an entry."""
        folder = self._folder_in(network)
        (folder / str(self.real.index)).mkdir()
        with (folder / "passwd").open("a", encoding="ascii") as known:
            home = f"{self._folder}/{self.real.index}"
            known.write(f"{self._user}:{_PASSWORD}:0:0::{home}:/bin/sh\n")
        if self.real.index == 0:
            fields = {
                "folder": self._folder,
                "address": self.real.server_address,
                "port": _FTP_PORT,
            }
            _configure(folder / "proftpd.conf", fields)
            (folder / "group").write_text("root:x:0:\n", encoding="ascii")
            for one in ("passwd", "group"):
                (folder / one).chmod(0o600)
            network.start(
                SERVER,
                ["proftpd", "-n", "-q", "-c", f"{self._folder}/proftpd.conf"],
                promptly=True,
            )

    def is_ready(self, listening: set[tuple[str, int]]) -> bool:
        """Whether the server listens."""
        return (self.real.server_address, _FTP_PORT) in listening

    @property
    def _user(self) -> str:
        return f"user{self.real.index}"

    def told(self) -> dict[str, Any]:
        """Return the login of the users, and the times and sizes of transfers."""
        control = self._application["control"]
        return {
            "kind": "ftp",
            "server": [self.real.server_address, _FTP_PORT],
            "folder": f"{self._folder}/{self.real.index}",
            "user": self._user,
            "password": "airtcp",
            "users": _LOGGED_IN,
            "uploads": self._uploads,
            # The reply 150 repeats the name.
            "name_bytes": max(1, control["retr_bytes"] - _COMMAND_BYTES),
            "transfers": self._times_and_sizes(self._application["interarrival"]),
        }
