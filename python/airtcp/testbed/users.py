"""The users of one station: HTTP and FTP clients that make transfers on schedule.

It runs as a program in the network of a station, by its file path, and uses only the standard
library. Its input is a JSON object on one line of standard input: `kind`, `server` (address and
port), `epoch_ns` (time zero on the monotonic clock), `folder` where the server finds its files, and

- `web`: one user. `pauses` in seconds and `sizes` in bytes, each pause before its transfer; `pad`
  is the least size of a request, in bytes; file names begin with `prefix`; `uploads`.
- `pages`: one user. `pauses` and `pages`, each with the sizes of its objects in bytes, the document
  first; `connections`, the number of parallel connections; `pad` and `prefix`. Names end in the
  numbers of page and object and the number of objects, for readers of packet captures.
- `open`: `transfers`, each with its time in seconds and its size in bytes, independent of each
  other; `pad`, `prefix` and `uploads`.
- `ftp`: the same `transfers`, by `users` users (`user`, `password`) who log in before;
  `name_bytes`, the length of file names; `uploads`.

Files are created before they are requested, as sparse files. Errors are printed on standard error,
and end the program with status 1.
"""

from __future__ import annotations

import contextlib
import ftplib
import http.client
import io
import itertools
import json
import os
import queue
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

_BUFFER = 1 << 16
_LOG_IN_AT_ONCE = 4


def wait_until(epoch_ns: int, at_s: float) -> None:
    """Sleep until a time on the clock of the simulation."""
    late_s = (time.monotonic_ns() - epoch_ns) / 1e9 - at_s
    if late_s < 0:
        time.sleep(-late_s)


def made(folder: Path, name: str, size: int) -> Path:
    """Create a sparse file of this many zeros."""
    path = folder / name
    with path.open("wb") as file:
        file.truncate(size)
    return path


def fetch(told: dict[str, Any], name: str, size: int) -> None:
    """Make one transfer by HTTP, over its own connection."""
    path = Path(told["folder"], name)
    connection = http.client.HTTPConnection(*told["server"])
    if told["uploads"]:
        ask(connection, told, "PUT", name, {"Connection": "close", "Content-Length": str(size)})
        connection.send(Zeros(size))
        read(connection)
    else:
        made(path.parent, name, size)
        ask(connection, told, "GET", name, {"Connection": "close"})
        check(read(connection), size)
    connection.close()
    path.unlink()


def read(connection: http.client.HTTPConnection) -> int:
    """Read a response to its end. Return its size in bytes."""
    answer = connection.getresponse()
    if answer.status not in (http.client.OK, http.client.CREATED):
        raise OSError(f"the server responds {answer.status} {answer.reason}")
    buffer = bytearray(_BUFFER)
    count = 0
    while got := answer.readinto(buffer):
        count += got
    return count


def check(count: int, size: int) -> None:
    """Check that the transfer is complete."""
    if count != size:
        raise OSError(f"{count} of {size} bytes arrived")


def ask(
    connection: http.client.HTTPConnection,
    told: dict[str, Any],
    method: str,
    name: str,
    headers: dict[str, str],
) -> None:
    """Send a request, padded to the least size."""
    target = f"/{name}"
    headers = {"Host": told["server"][0]} | headers
    lines = [f"{method} {target} HTTP/1.1", *(f"{key}: {text}" for key, text in headers.items())]
    missing = told["pad"] - len("\r\n".join(lines) + "\r\n\r\n") - len("X: \r\n")
    if missing >= 0:
        headers["X"] = "x" * missing
    connection.putrequest(method, target, skip_host=True, skip_accept_encoding=True)
    for key, text in headers.items():
        connection.putheader(key, text)
    connection.endheaders()


class Page:
    """One page, loaded as by a browser: the document, then the rest over several connections."""

    def __init__(self, told: dict[str, Any], number: int, sizes: list[int]) -> None:
        self._told = told
        self._unasked: queue.SimpleQueue[tuple[Path, int]] = queue.SimpleQueue()
        for place, size in enumerate(sizes):
            name = f"{told['prefix']}{number}.{place}.{len(sizes)}"
            self._unasked.put((made(Path(told["folder"]), name, size), size))
        self._others = min(told["connections"], len(sizes) - 1) - 1

    def load(self) -> None:
        """Load the complete page, then close its connections."""
        connection = http.client.HTTPConnection(*self._told["server"])
        self._next(connection)
        others = [
            threading.Thread(target=guarded, args=(self._go_on,), daemon=True)
            for _ in range(self._others)
        ]
        for one in others:
            one.start()
        self._go_on(connection)
        for one in others:
            one.join()

    def _go_on(self, connection: http.client.HTTPConnection | None = None) -> None:
        """Request the remaining objects one after the other, over one connection."""
        connection = connection or http.client.HTTPConnection(*self._told["server"])
        while self._next(connection):
            pass
        connection.close()

    def _next(self, connection: http.client.HTTPConnection) -> bool:
        """Load the next object. Return False if there is none."""
        try:
            path, size = self._unasked.get_nowait()
        except queue.Empty:
            return False
        ask(connection, self._told, "GET", path.name, {})
        check(read(connection), size)
        path.unlink()
        return True


class Users:
    """FTP users who have logged in, ready for transfers."""

    def __init__(self, told: dict[str, Any]) -> None:
        self._told = told
        self._idle: queue.SimpleQueue[ftplib.FTP] = queue.SimpleQueue()

    def log_in(self) -> ftplib.FTP:
        """Log in one more user."""
        address, port = self._told["server"]
        user = ftplib.FTP()
        user.connect(address, port)
        user.login(self._told["user"], self._told["password"])
        user.voidcmd("TYPE I")
        return user

    def log_in_many(self, count: int) -> None:
        """Log in this many users, one after the other."""
        for _ in range(count):
            self._idle.put(self.log_in())

    def transfer(self, number: int, size: int) -> None:
        """Make one transfer by an idle user; log in another one if there is none."""
        name = str(number).zfill(self._told["name_bytes"])
        folder = Path(self._told["folder"])
        try:
            user = self._idle.get_nowait()
        except queue.Empty:
            user = self.log_in()
        if self._told["uploads"]:
            user.storbinary(f"STOR {name}", Zeros(size), _BUFFER)
        else:
            made(folder, name, size)
            with user.transfercmd(f"RETR {name}") as data:
                buffer = bytearray(_BUFFER)
                while data.recv_into(buffer):
                    pass
            user.voidresp()
        with contextlib.suppress(FileNotFoundError):
            (folder / name).unlink()
        self._idle.put(user)


class Zeros(io.RawIOBase):
    """A readable file of this many zeros."""

    def __init__(self, size: int) -> None:
        self._left = size

    def read(self, size: int = -1, /) -> bytes:
        """Return the next zeros."""
        some = self._left if size < 0 else min(size, self._left)
        self._left -= some
        return bytes(some)


def guarded(what: Callable[[], None]) -> None:
    """Call a function; if it fails, end the program."""
    try:
        what()
    except Exception as error:
        print(f"{type(error).__name__}: {error}", file=sys.stderr, flush=True)
        os._exit(1)


def start(what: Callable[[], None]) -> None:
    """Call a function in a new thread."""
    threading.Thread(target=guarded, args=(what,), daemon=True).start()


def browse(told: dict[str, Any]) -> None:
    """Act as one user: think, transfer, and think again."""
    wait_until(told["epoch_ns"], 0.0)
    what = told["sizes"] if "sizes" in told else told["pages"]
    turns: Iterator[tuple[float, Any]] = itertools.cycle(zip(told["pauses"], what, strict=True))
    for number, (pause, one) in enumerate(turns):
        time.sleep(pause)
        if "pages" in told:
            Page(told, number, one).load()
        else:
            fetch(told, f"{told['prefix']}{number}", one)


def at_their_times(told: dict[str, Any], transfer: Callable[[int, int], None]) -> None:
    """Start all transfers, each when it is due."""
    for number, (at_s, size) in enumerate(told["transfers"]):
        wait_until(told["epoch_ns"], at_s)
        start(lambda number=number, size=size: transfer(number, size))  # type: ignore[misc]


def main() -> None:
    """Follow the instructions, and keep running."""
    told = json.loads(sys.stdin.readline())
    if told["kind"] in ("web", "pages"):
        guarded(lambda: browse(told))
    elif told["kind"] == "open":
        at_their_times(told, lambda number, size: fetch(told, f"{told['prefix']}{number}", size))
    else:
        users = Users(told)
        for _ in range(_LOG_IN_AT_ONCE):
            start(lambda: users.log_in_many(told["users"] // _LOG_IN_AT_ONCE))
        at_their_times(told, users.transfer)
    while True:
        time.sleep(1000)


if __name__ == "__main__":
    main()
