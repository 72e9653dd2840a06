"""The first process inside the namespaces of a testbed: creates its networks and keeps them alive.

It runs as a program by its file path and uses only the standard library, no other module of airtcp.
Its standard input is a socket of the process that started it. It is process 1 of a PID namespace:
when it ends for any reason, the kernel ends all processes in the namespace, and networks, devices
and the mounts of its mount namespace disappear. It ends when the socket is closed, so nothing is
left of a testbed whose owner was killed.

The request is a JSON object on one line: `nodes`, each with its `name`, `addresses`, `routes` (in
the syntax of `ip route add`), `mtu`, `queue` (the packet queue of its device), `flags` of its TUN
device, `gso` (whether TCP may send several segments in one buffer) and `sysctls`. The response is a
JSON object on one line, with `devices` or with an `error`, and the devices as file descriptors, in
the order of the nodes.
"""

from __future__ import annotations

import array
import contextlib
import ctypes
import fcntl
import json
import os
import signal
import socket
import struct
import subprocess
import sys
from pathlib import Path
from typing import Any

#: <linux/if_tun.h>
_TUNSETIFF = 0x400454CA
_IFF_TUN = 0x0001
_IFF_NO_PI = 0x1000
#: <sched.h>, <sys/mount.h>
_CLONE_NEWNET = 0x40000000
#: File descriptors per message (the kernel's limit SCM_MAX_FD is 253).
_AT_ONCE = 64


def _tun(name: str, flags: int) -> int:
    """Create a TUN device in this network. It exists while its file descriptor is open."""
    fd = os.open("/dev/net/tun", os.O_RDWR | os.O_CLOEXEC | os.O_NONBLOCK)
    request = struct.pack("16sH22x", name.encode(), _IFF_TUN | _IFF_NO_PI | flags)
    fcntl.ioctl(fd, _TUNSETIFF, request)
    return fd


def _enter_new_network() -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(_CLONE_NEWNET) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


def _ip(batch: str) -> None:
    ran = subprocess.run(
        ["ip", "-batch", "-"], input=batch, text=True, capture_output=True, check=False
    )
    if ran.returncode != 0:
        raise OSError(ran.stderr.strip() or f"ip ended with status {ran.returncode}")


def _set(sysctls: dict[str, str]) -> None:
    for key, value in sysctls.items():
        try:
            Path("/proc/sys", *key.split(".")).write_text(value, encoding="ascii")
        except OSError as error:
            raise OSError(f"{key} = {value}: {error.strerror}") from error


def _make(node: dict[str, Any]) -> int:
    """Create a network with its device, and a name for it where `ip netns` looks for names."""
    _enter_new_network()
    name = node["name"]
    place = Path("/run/netns", name)
    place.touch()
    subprocess.run(["mount", "--bind", "/proc/self/ns/net", str(place)], check=True)
    fd = _tun("air", node["flags"])
    # Not `ip netns exec`, which would mount a new /sys: this process is already in the network.
    _set(node["sysctls"])
    gso = "" if node["gso"] else " gso_max_segs 1"
    lines = ["link set lo up", f"link set air mtu {node['mtu']} txqueuelen {node['queue']}{gso}"]
    lines += [f"address add {one}/32 dev air" for one in node["addresses"]]
    lines += ["link set air up"]
    lines += [f"route add {one}" for one in node["routes"]]
    _ip("\n".join(lines) + "\n")
    return fd


def _send(sock: socket.socket, text: str, fds: list[int]) -> None:
    sock.sendall(text.encode() + b"\n")
    for first in range(0, len(fds), _AT_ONCE):
        some = array.array("i", fds[first : first + _AT_ONCE])
        sock.sendmsg([b"."], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, some)])


def _reap(*_: object) -> None:
    """Reap orphaned processes, which become children of process 1."""
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0] > 0:
            pass


def main() -> None:
    """Create the requested networks, and stay until the other end of the socket is closed."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    sock = socket.socket(fileno=os.dup(0))
    with sock.makefile("r", encoding="utf-8") as lines:
        asked = json.loads(lines.readline())
    try:
        # Names of networks and files of programs are private to this testbed and vanish with it.
        subprocess.run(["mount", "-t", "tmpfs", "tmpfs", "/run"], check=True, capture_output=True)
        Path("/run/netns").mkdir()
        Path("/run/airtcp").mkdir()
        fds = [_make(node) for node in asked["nodes"]]
    except (OSError, subprocess.CalledProcessError) as error:
        said = getattr(error, "stderr", None)
        why = said.decode().strip() if said else str(error)
        _send(sock, json.dumps({"error": why}), [])
        sys.exit(1)
    _send(sock, json.dumps({"devices": len(fds)}), fds)
    for fd in fds:
        os.close(fd)
    signal.signal(signal.SIGCHLD, _reap)
    while sock.recv(1):
        pass


if __name__ == "__main__":
    main()
