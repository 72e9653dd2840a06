"""Requests that pass the guard: hosts and origins in all valid spellings."""

import asyncio
from typing import Any

import pytest
from airtcp.web.guard import Guard, is_loopback

PASS = (
    "localhost", "LocalHost:8765", "localhost.", "127.0.0.1", "127.0.0.1:80", "127.8.9.10:1",
    "[::1]", "[::1]:8765", "[0:0:0:0:0:0:0:1]:1",
)  # fmt: skip
REFUSED = (
    "", "evil.com", "evil.com:8765", "evil.com@localhost", "evil.com@localhost:8765",
    r"evil.com\@localhost", "127.0.0.1%00.evil.com", "localhost%00.evil.com", "[::1%lo]",
    "[::1%25evil.com]:1", "localhost.evil.com", "localhost..", "127.0.0.1.evil.com", "127.1",
    "2130706433", "0x7f.0.0.1", "127.0.0.1:80:80", "127.0.0.1:", "127.0.0.1:http", "::1",
    "[127.0.0.1]", "[localhost]", "localhost/evil.com", "localhost?evil.com", "localhost#evil.com",
    "evil.com#@localhost", "localhost, evil.com", " localhost", "localhost\u00a0", "\u217cocalhost",
    "0.0.0.0", "[::]", "10.0.0.1", "[::1]evil.com", "evil.com[::1]", "user:word@127.0.0.1",
)  # fmt: skip


async def status(*headers: tuple[str, str], method: str = "GET") -> int:
    """Return the status of a request with these headers to a server without a token."""

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})

    said: list[Any] = []

    async def receive() -> Any:
        raise AssertionError("no body is read")

    async def send(message: Any) -> None:
        said.append(message)

    raw = [(name.encode(), value.encode("latin-1", "replace")) for name, value in headers]
    scope = {"type": "http", "method": method, "path": "/api/start", "headers": raw}
    await Guard(app, token=None)(scope, receive, send)
    return int(said[0]["status"])


@pytest.mark.parametrize("host", PASS)
def test_a_loopback_host_passes(host: str) -> None:
    assert asyncio.run(status(("host", host))) == 200


@pytest.mark.parametrize("host", REFUSED)
def test_any_other_host_is_refused(host: str) -> None:
    assert asyncio.run(status(("host", host))) == 403


@pytest.mark.parametrize(
    ("origin", "expected"),
    [
        ("http://localhost:8765", 200),
        ("https://localhost:8765", 200),
        ("http://localhost", 403),
        ("http://localhost:8765.evil.com", 403),
        ("http://evil.com@localhost:8765", 403),
        ("ftp://localhost:8765", 403),
        ("//localhost:8765", 403),
        ("localhost:8765", 403),
        ("null", 403),
        ("", 403),
    ],
)
def test_what_changes_something_comes_from_a_page_of_this_server(
    origin: str, expected: int
) -> None:
    asked = status(("host", "localhost:8765"), ("origin", origin), method="POST")
    assert asyncio.run(asked) == expected


def test_where_to_listen_is_asked_without_brackets() -> None:
    assert all(map(is_loopback, ("localhost", "127.0.0.1", "127.3.2.1", "::1")))
    assert not any(map(is_loopback, ("0.0.0.0", "::", "example.org", "", "::1%lo")))
