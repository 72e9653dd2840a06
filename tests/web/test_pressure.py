"""How much memory one client can take from the others.

All requests are local, and bounded in number and time.
"""

import select
import socket
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from serving import Web, ended, started

SLACK_MIB = 24


@pytest.fixture
def alone() -> Iterator[Web]:
    """A server without other clients."""
    with tempfile.TemporaryDirectory() as folder:
        server = started("--runs", "1", folder=Path(folder))
        yield server
        said = ended(server)
        assert "Traceback" not in said, said


def connected(web: Web) -> socket.socket:
    place = urlsplit(web.url)
    assert place.hostname == "127.0.0.1"
    return socket.create_connection((place.hostname, place.port), timeout=10)


def sent(web: Web, count: int, text: str, expected: int) -> None:
    """Send questions of .9 MB each, all different, and check the status of the responses."""
    for number in range(count):
        filled = f"# {number}\n" + ("#" * 99 + "\n") * 9000 + text
        status, _ = web.ask("api/scenario", {"source": {"text": filled}})
        assert status == expected


def grown(web: Web, count: int, text: str, expected: int) -> float:
    """Return by how many MiB the server grows over `count` of these questions."""
    sent(web, 4, text, expected)
    before = web.memory_mib()
    sent(web, count, text, expected)
    after = web.memory_mib()
    print(f"{count} bodies of .9 MB, status {expected}: {before:.0f} MiB before, {after:.0f} after")
    return after - before


def test_refused_bodies_are_not_kept(alone: Web) -> None:
    assert grown(alone, 40, "[phy]\nno = 1\n", 422) < SLACK_MIB


def test_too_much_at_a_time_is_refused(alone: Web) -> None:
    """Twelve incomplete uploads: more than the server holds at a time."""
    place = urlsplit(alone.url)
    size = 15 * 2**20
    head = f"POST /api/uploads HTTP/1.1\r\nHost: {place.netloc}\r\nContent-Length: {size}\r\n\r\n"
    with ExitStack() as stack:
        waiting = []
        for _ in range(12):
            one = stack.enter_context(connected(alone))
            one.settimeout(5)
            with suppress(OSError):  # refused while it sends
                one.sendall(head.encode() + bytes(size - 1))
            waiting.append(one)
        # A small request still gets through, or is told that the server is full.
        source = {"example": "saturated-stations"}
        begin = time.monotonic()
        status, _ = alone.ask("api/predict", {"source": source})
        assert status in (200, 503)
        assert time.monotonic() - begin < 2.0
        assert alone.memory_mib() < 250
        heard, _, _ = select.select(waiting, [], [], 2.0)
        assert len(heard) >= 8, "no more than four of them fit"
    until = time.monotonic() + 10
    while status != 200 and time.monotonic() < until:
        status, _ = alone.ask("api/predict", {"source": source})
    assert status == 200
