"""Connections: as many as there are descriptors for, and none for which nothing comes.

Knows sockets, descriptors and how far a request has come. Does not know who may ask, or what. A
request that is not whole in time, and an answer that is not taken, end their connection; where
there are as many as may be, the one that has kept its request or its next one back for longest
gives way, so that whoever comes is heard.
"""

from __future__ import annotations

import asyncio
import json
import socket
import struct
from typing import Any, Final

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

#: How long a request may take to be whole, with so much more for each byte of its body, and how
#: long an answer may wait before any of it is taken.
PATIENCE_S: Final = 10.0
_PER_BYTE_S: Final = 10.0 / 2**20
_LOOK_S: Final = 0.5
#: More connections are not for pages of one machine, whatever descriptors there are.
_MOST: Final = 512
_LEAST: Final = 16
_WANTED_DESCRIPTORS: Final = 4096
#: Descriptors of the process itself: its program, files of the page, an event loop; and of a worker
#: (two pipes, and the same again while it is replaced).
_OWN: Final = 48
_OF_A_WORKER: Final = 4
#: How many connections are taken at a time, before any of them can be closed again, and how many
#: may wait to be.
_AT_A_TIME: Final = 16
_BACKLOG: Final = 1024
_FULL: Final = "as many ask as can be answered at a time; try again in a moment"


def descriptors() -> int | None:
    """How many descriptors this process may have, raised as far as it may be; None: no bound."""
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
    """How many connections there may be, beside so many workers, of the descriptors there are."""
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
        """Take one more, in whose place another may have to go, or itself."""
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
        """Forget one that has ended."""
        self._all.discard(one)

    def _look_around(self) -> None:
        self._look = None
        for one in list(self._all):
            if one.is_late():
                one.abort()
            self._look = self._look or one.loop.call_later(_LOOK_S, self._look_around)


class _Connection(H11Protocol):
    """A connection that knows since when it waits for a request, or for its answer to be taken."""

    def __init__(self, connections: Connections, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self._connections = connections
        self.since = self.loop.time()
        self._received = 0
        self._left = 0
        self._taken_at = self.since

    @property
    def is_answered(self) -> bool:
        """Whether a request is whole and its answer under way."""
        cycle = self.cycle
        return cycle is not None and not cycle.more_body and not cycle.response_complete

    def is_late(self) -> bool:
        """Whether a request is not whole in time, or its answer not taken."""
        now = self.loop.time()
        left = self.transport.get_write_buffer_size()
        if left == 0 or left < self._left:
            self._taken_at = now
        self._left = left
        if now - self._taken_at > PATIENCE_S:
            return True
        # While an answer goes out, however slowly, no next request is waited for.
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
        # From now on the next request is waited for, or the end.
        self.since, self._received = self.loop.time(), 0
        super().on_response_complete()

    def abort(self) -> None:
        """End it at once, whatever was still to be said."""
        self._connections.discard(self)
        if self.transport.get_write_buffer_size():
            # What the system still has of the answer goes with it (a reset).
            one = self.transport.get_extra_info("socket")
            one.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.transport.abort()

    def refuse(self) -> None:
        """Say that there is no room, and end it."""
        self._connections.discard(self)
        body = json.dumps({"problem": {"message": _FULL, "key": "", "field": "", "more": []}})
        head = (
            "HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/json\r\n"
            f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n"
        )
        self.transport.write((head + body).encode())
        self.transport.close()


def protocol(connections: Connections) -> type[H11Protocol]:
    """The protocol of connections that are counted there."""

    class Counted(_Connection):
        def __init__(self, *arguments: Any, **named: Any) -> None:
            super().__init__(connections, *arguments, **named)

    return Counted


class Server(uvicorn.Server):
    """A server that takes few connections at a time, and lets the others wait."""

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start to listen."""
        # asyncio has one number for both.
        self.config.backlog = _AT_A_TIME
        await super().startup(sockets)
        for one in sockets or ():
            one.listen(_BACKLOG)
