"""The networks of a testbed: creation, running programs inside, and cleanup.

Nothing here is visible outside: the PID, mount and network namespaces live as long as the keeper
process, which lives as long as our end of a socket is open. Even if this process is killed, the
kernel closes the socket and cleans up.
"""

from __future__ import annotations

import array
import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Final

from airtcp.exceptions import QuestionError
from airtcp.phrases import phrase
from airtcp.testbed.site import Node

_KEEPER: Final = Path(__file__).with_name("keeper.py")
_TUN: Final = Path("/dev/net/tun")
#: A slow machine creates about ten networks a second.
_PATIENCE_S: Final = 60.0
_FDS_AT_ONCE: Final = 64
#: The lowest real-time priority.
_PROMPT: Final = 1
#: Programs that every testbed needs, and their Debian packages.
_PROGRAMS: Final = {
    "ip": "iproute2",
    "unshare": "util-linux",
    "nsenter": "util-linux",
    "chrt": "util-linux",
}


def check_machine(programs: dict[str, str] | None = None) -> None:
    """Check that this machine can run a testbed with `programs` (Debian packages by program).

    Raises QuestionError.
    """
    if not sys.platform.startswith("linux"):
        raise QuestionError(phrase("testbed.network.not_linux", platform=sys.platform))
    wanted = _PROGRAMS | (programs or {})
    missing = {program: wanted[program] for program in wanted if not _found(program)}
    if missing:
        packages = " ".join(sorted(set(missing.values())))
        raise QuestionError(
            phrase("testbed.network.programs_missing", missing=missing, packages=packages)
        )
    try:
        os.close(os.open(_TUN, os.O_RDWR | os.O_CLOEXEC))
    except OSError as error:
        # The device exists but is not accessible, so no kernel module is missing.
        todo = phrase("testbed.network.modprobe")
        if isinstance(error, PermissionError):
            todo = phrase("testbed.network.chmod", tun=_TUN)
        raise QuestionError(
            phrase("testbed.network.no_tun", tun=_TUN, why=error.strerror, todo=todo)
        ) from error


def _found(program: str) -> str | None:
    """Find a program, also in the directories of servers, which users do not search."""
    path = os.pathsep.join([os.environ.get("PATH", os.defpath), "/usr/sbin", "/sbin"])
    return shutil.which(program, path=path)


class Network:
    """Networks with their TUN devices, while the context is active.

    `devices` are file descriptors, in the order of the nodes. Raises QuestionError if the kernel
    does not allow their creation.
    """

    def __init__(self, nodes: Sequence[Node]) -> None:
        self._nodes = nodes
        self.devices: list[int] = []
        self._running: list[subprocess.Popen[Any]] = []
        self._is_root = os.geteuid() == 0

    def __enter__(self) -> Network:
        ours, theirs = socket.socketpair()
        self._socket = ours
        user = [] if self._is_root else ["--user", "--map-root-user"]
        command = [
            "unshare", *user, "--pid", "--fork", "--kill-child", "--mount", "--mount-proc", "--net",
            "--", sys.executable, "-I", "-S", str(_KEEPER),
        ]  # fmt: skip
        with theirs:
            # A separate session, so that only this process receives Ctrl-C.
            self._unshare = subprocess.Popen(
                command,
                stdin=theirs.fileno(),
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                start_new_session=True,
            )
        try:
            self._make()
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    def _make(self) -> None:
        asked = {"nodes": [node.asked() for node in self._nodes]}
        self._socket.settimeout(_PATIENCE_S)
        answer: dict[str, Any] = {}
        with contextlib.suppress(ConnectionError, TimeoutError, json.JSONDecodeError):
            self._socket.sendall(json.dumps(asked).encode() + b"\n")
            answer = json.loads(self._line())
        if "devices" not in answer:
            raise QuestionError(self._refusal(answer.get("error")))
        while len(self.devices) < answer["devices"]:
            _, parts, _, _ = self._socket.recvmsg(1, socket.CMSG_SPACE(4 * _FDS_AT_ONCE))
            for _, _, data in parts:
                fds = array.array("i")
                fds.frombytes(data[: len(data) - len(data) % fds.itemsize])
                self.devices.extend(fds)
        self._pid = _only_child(self._unshare.pid)

    def _line(self) -> bytes:
        """Read one line from the keeper, and no byte more, since descriptors follow."""
        line = bytearray()
        while not line.endswith(b"\n"):
            byte = self._socket.recv(1)
            if not byte:
                break
            line += byte
        return bytes(line)

    def _refusal(self, error: str | None) -> str:
        if error is None:
            assert self._unshare.stderr is not None
            self._unshare.kill()
            lines = self._unshare.stderr.read().decode(errors="replace").strip().splitlines()
            error = lines[-1] if lines else phrase("testbed.network.no_message")
        hint = "" if self._is_root else phrase("testbed.network.try_as_root")
        return phrase("testbed.network.not_allowed", error=error, hint=hint)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for process in self._running:
            process.terminate()
        for fd in self.devices:
            os.close(fd)
        self.devices.clear()
        # The keeper ends, and the kernel ends all processes and networks.
        self._socket.close()
        try:
            self._unshare.wait(_PATIENCE_S)
        except subprocess.TimeoutExpired:
            self._unshare.kill()
            self._unshare.wait()
        if self._unshare.stderr is not None:
            self._unshare.stderr.close()
        for process in self._running:
            process.wait()
            for stream in (process.stdin, process.stdout, process.stderr):
                if stream is not None:
                    with contextlib.suppress(BrokenPipeError):
                        stream.close()

    @property
    def files(self) -> Path:
        """The directory that programs see as /run/airtcp. It vanishes with the networks."""
        return Path(f"/proc/{self._pid}/root/run/airtcp")

    def inside(self, node: str, command: Sequence[str]) -> list[str]:
        """Return the command line that runs `command` in the network of `node`."""
        user = [] if self._is_root else ["--user", "--preserve-credentials"]
        return [
            "nsenter", "--target", str(self._pid), *user, "--pid", "--mount",
            f"--net=/proc/{self._pid}/root/run/netns/{node}", "--", *command,
        ]  # fmt: skip

    def start(
        self,
        node: str,
        command: Sequence[str],
        *,
        stdin: int | IO[Any] | None = subprocess.DEVNULL,
        stdout: int | IO[Any] | None = subprocess.DEVNULL,
        stderr: int | IO[Any] | None = subprocess.DEVNULL,
        text: bool = True,
        variables: Mapping[str, str] | None = None,
        promptly: bool = False,
    ) -> subprocess.Popen[Any]:
        """Start a program in the network of a node. It ends with the networks at the latest.

        With `promptly` it gets real-time priority below the carrier's, if that is allowed: a real
        station has its own processor, and does not wait for other stations.
        """
        first = ["chrt", "--rr", str(_PROMPT)] if promptly and _may_be_prompt() else []
        process = subprocess.Popen(
            first + self.inside(node, command),
            stdin=stdin,
            stdout=stdout,
            stderr=stderr,
            text=text,
            env=environment() | dict(variables or {}),
            start_new_session=True,
        )
        self._running.append(process)
        return process

    def counters(self, node: str) -> dict[str, int]:
        """Return the kernel's TCP counters of a network (proc_net_netstat, RFC 4022)."""
        shown = subprocess.run(
            self.inside(node, ["cat", "/proc/net/netstat", "/proc/net/snmp"]),
            capture_output=True,
            text=True,
            check=False,
        ).stdout
        lines = [line.split() for line in shown.splitlines()]
        counters: dict[str, int] = {}
        for names, values in zip(lines[::2], lines[1::2], strict=False):
            for name, value in zip(names[1:], values[1:], strict=False):
                counters[f"{names[0].rstrip(':')}.{name}"] = int(value)
        return counters


@cache
def _may_be_prompt() -> bool:
    """Whether programs may have real-time priority."""
    command = ["chrt", "--rr", str(_PROMPT), "true"]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


def environment() -> dict[str, str]:
    """Return the current environment plus server directories in PATH."""
    path = os.environ.get("PATH", os.defpath)
    return os.environ | {"PATH": f"{path}:/usr/sbin:/sbin"}


def _only_child(pid: int) -> int:
    """Return the process that `unshare` created."""
    children = Path(f"/proc/{pid}/task/{pid}/children")
    deadline = time.monotonic() + _PATIENCE_S
    while time.monotonic() < deadline:
        found = children.read_text(encoding="ascii").split()
        if found:
            return int(found[0])
        time.sleep(0.01)
    raise QuestionError(phrase("testbed.network.keeper_ended"))


def end(process: subprocess.Popen[Any]) -> None:
    """End a program that is no longer needed, with all processes of its session."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGTERM)
