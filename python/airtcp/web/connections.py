"""Limits of connections: their number, and the time for requests and responses.

A connection is closed if its request is not complete in time, or if its response is not read. When
the maximum is reached, the connection that has been waiting longest for a request is closed, so
that new clients are served.
"""

from __future__ import annotations

import asyncio
import json
import socket
import struct
from typing import Any, Final

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

#: The time for a complete request, with the extra time per byte of its body, and the time for a
#: client to begin reading a response.
PATIENCE_S: Final = 10.0
_PER_BYTE_S: Final = 10.0 / 2**20
_LOOK_S: Final = 0.5
#: The most connections, whatever the number of file descriptors.
_MOST: Final = 512
_LEAST: Final = 16
_WANTED_DESCRIPTORS: Final = 4096
#: File descriptors of the process itself: its program, files of the page, an event loop; and of a
#: worker (two pipes, doubled while it is replaced).
_OWN: Final = 48
_OF_A_WORKER: Final = 4
#: The connections accepted at a time, before any can be closed again, and the length of the
#: backlog.
_AT_A_TIME: Final = 16
_BACKLOG: Final = 1024
_FULL: Final = "as many ask as can be answered at a time; try again in a moment"


def descriptors() -> int | None:
    """Raise the limit of file descriptors and return it; None means unlimited."""
    try:
        import resource
    except ImportError:
        return None
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY:
        return None
    wanted = _WANTED_DESCRIPTORS
    if hard != resource.RLIM_INFINITY:
        wanted = min(hard, wanted)
    if soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
        return wanted
    return soft


def room(available: int | None, workers: int) -> int:
    """Return the number of connections that fit next to `workers`, given the file descriptors."""
    if available is None:
        return _MOST
    left = available - _OWN - _OF_A_WORKER * workers - 2 * _AT_A_TIME
    return max(_LEAST, min(_MOST, left))


class Connections:
    """All connections of a server, at most `most` of them."""

    def __init__(self, most: int) -> None:
        self.most = most
        self._all: set[_Connection] = set()
        self._look: asyncio.TimerHandle | None = None

    def __len__(self) -> int:
        return len(self._all)

    def add(self, one: _Connection) -> None:
        """Add a connection. If there are too many, close another one, or refuse this one."""
        self._all.add(one)
        if self._look is None:
            self._look = one.loop.call_later(_LOOK_S, self._look_around)
        if len(self._all) <= self.most:
            return
        waiting = [other for other in self._all if other is not one and not other.is_answered]
        if waiting:
            min(waiting, key=lambda other: other.since).abort()
        else:
            one.refuse()

    def discard(self, one: _Connection) -> None:
        """Remove a connection that has ended."""
        self._all.discard(one)

    def _look_around(self) -> None:
        self._look = None
        for one in list(self._all):
            if one.is_late():
                one.abort()
            self._look = self._look or one.loop.call_later(_LOOK_S, self._look_around)


class _Connection(H11Protocol):
    """A connection that tracks how long it waits for a request, or for its response to be read."""

    def __init__(self, connections: Connections, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self._connections = connections
        self.since = self.loop.time()
        self._received = 0
        self._left = 0
        self._taken_at = self.since

    @property
    def is_answered(self) -> bool:
        """Whether a request is complete and its response is in progress."""
        cycle = self.cycle
        return cycle is not None and not cycle.more_body and not cycle.response_complete

    def is_late(self) -> bool:
        """Whether the request is not complete in time, or the response is not being read."""
        now = self.loop.time()
        left = self.transport.get_write_buffer_size()
        if left == 0 or left < self._left:
            self._taken_at = now
        self._left = left
        if now - self._taken_at > PATIENCE_S:
            return True
        # While a response is sent, however slowly, no next request is expected.
        if self.is_answered or left:
            return False
        return now - self.since > PATIENCE_S + _PER_BYTE_S * self._received

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._connections.add(self)

    def connection_lost(self, exc: Exception | None) -> None:
        self._connections.discard(self)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        self._received += len(data)
        super().data_received(data)

    def on_response_complete(self) -> None:
        # From now on, wait for the next request or the end of the connection.
        self.since, self._received = self.loop.time(), 0
        super().on_response_complete()

    def abort(self) -> None:
        """Close the connection at once, dropping unsent data."""
        self._connections.discard(self)
        if self.transport.get_write_buffer_size():
            # Reset, so that data queued by the system is dropped too.
            one = self.transport.get_extra_info("socket")
            one.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.transport.abort()

    def refuse(self) -> None:
        """Respond that the server is full, and close the connection."""
        self._connections.discard(self)
        body = json.dumps({"problem": {"message": _FULL, "key": "", "field": "", "more": []}})
        head = (
            "HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/json\r\n"
            f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n"
        )
        self.transport.write((head + body).encode())
        self.transport.close()


def protocol(connections: Connections) -> type[H11Protocol]:
    """Return the protocol class of connections counted in `connections`."""

    class Counted(_Connection):
        def __init__(self, *arguments: Any, **named: Any) -> None:
            super().__init__(connections, *arguments, **named)

    return Counted


class Server(uvicorn.Server):
    """A server that accepts few connections at a time and lets the others wait."""

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start to listen."""
        # asyncio uses one number for both.
        self.config.backlog = _AT_A_TIME
        await super().startup(sockets)
        for one in sockets or ():
            one.listen(_BACKLOG)
