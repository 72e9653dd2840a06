"""Provide `airtcp._core` in a browser, over the WebAssembly module of `crates/wasm`.

The worker that runs Python stores the module's exports in `airtcpCore`, and calls `airtcpWatch`
with the simulated fraction of a run. The flow-level simulator and the testbed are not included.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Callable, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

import js  # type: ignore[import-not-found]  # Pyodide has it
from airtcp._version import __version__  # noqa: F401  # a part of the core


class SimulationFailed(RuntimeError):  # noqa: N818  # the core names it
    """A run has no result, because of a bug or overload."""


class Cancelled(Exception):  # noqa: N818  # the core names it
    """The run was cancelled."""


class RunControl:
    """Monitor and stop a run in the same thread."""

    def __init__(self, watch: Callable[[], object] | None = None) -> None:
        """Initialize; `watch` is called at each percent of a run, and may raise to stop it."""
        self.progress = 0.0
        self._watch = watch
        self._raised: BaseException | None = None

    def cancel(self) -> None:
        """Do nothing: the only possible caller waits for the run."""

    def _watched(self, share: float) -> int:
        self.progress = share
        try:
            if self._watch is not None:
                self._watch()
        except BaseException as error:
            # An exception must not cross the module's stack frames.
            self._raised = error
            return 0
        return 1


class Simulation:
    """A resolved scenario."""

    def __init__(self, resolved_json: str) -> None:
        """Check a scenario. Raises ValueError if it is invalid."""
        self._scenario = resolved_json
        self._engines = json.loads(_asked({"scenario": resolved_json})["engines"])

    def engines(self) -> list[tuple[str, str]]:
        """Return the engine of each cell and the reason for its choice, in the order of cells."""
        return [(name, reason) for name, reason in self._engines]

    def run(
        self, seed: int, replication: int, control: RunControl
    ) -> tuple[str, bytes, dict[str, bytes]]:
        """Simulate one replication, as the compiled core does."""
        text, times, accounts, _, _ = self.run_recorded(seed, replication, control)
        return text, times, accounts

    def run_metrics(
        self, seed: int, replication: int, control: RunControl, names: Sequence[str]
    ) -> bytes:
        """Simulate one replication, and return selected metrics, as the compiled core does."""
        text, _, _ = self.run(seed, replication, control)
        metrics = json.loads(text)["metrics"]
        found = [metrics.get(name) for name in names]
        values = [float("nan") if one is None else one for one in found]
        return struct.pack(f"<{len(values)}d", *values)

    def run_recorded(
        self,
        seed: int,
        replication: int,
        control: RunControl,
        *,
        sample_interval_ns: int | None = None,
        pcap: str | PathLike[str] | None = None,
        snaplen: int = 0,
        transfers: bool = False,
        samples_only: bool = False,
    ) -> tuple[str, bytes, dict[str, bytes], dict[str, Any] | None, dict[str, bytes] | None]:
        """Simulate one replication and record it, as the compiled core does."""
        run = {
            "seed": seed,
            "replication": replication,
            "sample_interval_ns": sample_interval_ns,
            "samples_only": samples_only,
            "transfers": transfers,
            "snaplen": None if pcap is None else snaplen,
        }
        blobs = _asked({"scenario": self._scenario, "run": run}, control)
        if pcap is not None:
            Path(pcap).write_bytes(blobs["capture"])
        trace = None
        if "trace" in blobs:
            trace = json.loads(blobs["trace"])
            trace |= {name: _table(blobs, name) for name in ("flows", "queues", "events", "ppdus")}
        return (
            blobs["outcome"].decode(),
            blobs["transfer_times_s"],
            _table(blobs, "accounts"),
            trace,
            _table(blobs, "transfers") if transfers else None,
        )


#: The exceptions that a reply can name.
_ERRORS = {"invalid": ValueError, "failed": SimulationFailed, "cancelled": Cancelled}


def _asked(request: dict[str, Any], control: RunControl | None = None) -> dict[str, bytes]:
    """Return the blobs of a reply. Raises the exception that the reply names."""
    content = json.dumps(request).encode() if request else b""
    core = js.airtcpCore
    js.airtcpWatch = (control or RunControl())._watched
    place = core.input(len(content))
    js.Uint8Array.new(core.memory.buffer, place, len(content)).assign(content)
    length = core.reply()
    if control is not None and control._raised is not None:
        raise control._raised
    reply = js.Uint8Array.new(core.memory.buffer, core.output(), length).to_bytes()
    blobs = {}
    place = 0
    while place < len(reply):
        of_name, of_content = struct.unpack_from("<II", reply, place)
        place += 8
        name = reply[place : place + of_name].decode()
        place += of_name
        blobs[name] = reply[place : place + of_content]
        place += of_content
    for name, error in _ERRORS.items():
        if name in blobs:
            raise error(blobs[name].decode())
    return blobs


def _table(blobs: dict[str, bytes], table: str) -> dict[str, bytes]:
    """Return the columns of a table."""
    return {
        name.removeprefix(f"{table}."): content
        for name, content in blobs.items()
        if name.startswith(f"{table}.")
    }


GENERATOR = _asked({})["generator"].decode()
