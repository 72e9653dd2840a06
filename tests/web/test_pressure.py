"""What one client can take from the others: memory, connections, workers, folders.

All of it on 127.0.0.1, and bounded in number and time. The long ones, which `make verify` runs, say
what they measured; alone they are

    .venv/bin/python -m pytest -s -m verify tests/web/test_pressure.py
"""

import json
import os
import select
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from airtcp.web.connections import room
from serving import Web, ended, started

SLACK_MIB = 24
EXAMPLE = Path(__file__).parents[2] / "python" / "airtcp" / "examples" / "saturated-stations.toml"


@pytest.fixture
def alone() -> Iterator[Web]:
    """A server of which nobody else asks anything."""
    with tempfile.TemporaryDirectory() as folder:
        server = started("--runs", "1", folder=Path(folder))
        yield server
        said = ended(server)
        assert "Traceback" not in said, said


@pytest.fixture
def narrow() -> Iterator[Web]:
    """A server that may have 256 descriptors, and no more."""
    with tempfile.TemporaryDirectory() as folder:
        server = started("--runs", "1", folder=Path(folder), descriptors=256)
        yield server
        said = ended(server)
        assert "Traceback" not in said, said


def connected(web: Web) -> socket.socket:
    place = urlsplit(web.url)
    assert place.hostname == "127.0.0.1"
    return socket.create_connection((place.hostname, place.port), timeout=10)


def is_closed(one: socket.socket) -> bool:
    """Whether the other end has closed, whatever it said before."""
    one.settimeout(0)
    try:
        while one.recv(65536):
            pass
    except BlockingIOError:
        return False
    except OSError:
        pass  # reset
    return True


def slow(web: Web, stack: ExitStack, count: int) -> list[socket.socket]:
    """So many connections of which each has sent a part of a request."""
    head = f"POST /api/predict HTTP/1.1\r\nHost: {urlsplit(web.url).netloc}\r\n"
    body = f"{head}Content-Type: application/json\r\nContent-Length: 1000\r\n\r\n{{"
    parts = ["", "GET / HT", head, body]
    found = []
    for number in range(count):
        one = stack.enter_context(connected(web))
        one.sendall(parts[number % len(parts)].encode())
        found.append(one)
    return found


def slowest_answer(web: Web, times: int, first: int = 1) -> float:
    """The longest that one of some new questions takes."""
    slowest = 0.0
    for seed in range(first, first + times):
        begin = time.monotonic()
        source = {"example": "saturated-stations", "changes": {"run.seed": seed}}
        status, told = web.ask("api/predict", {"source": source})
        slowest = max(slowest, time.monotonic() - begin)
        assert status == 200, told
    return slowest


def test_what_is_half_sent_or_never_taken_is_closed_in_time(alone: Web) -> None:
    slowest_answer(alone, 1)
    place = urlsplit(alone.url)
    with ExitStack() as stack:
        begin = time.monotonic()
        late = slow(alone, stack, 40)
        # Whoever asks for much and takes none of it.
        for _ in range(4):
            one = stack.enter_context(connected(alone))
            one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            request = f"GET /static/main.js HTTP/1.1\r\nHost: {place.netloc}\r\n\r\n"
            one.sendall(request.encode() * 400)
            late.append(one)
        # Whoever goes on, in a body that comes slowly but comes, is heard.
        source = json.dumps(
            {"source": {"text": "#" * 900_000 + "\n" + EXAMPLE.read_text()}}
        ).encode()
        steady = stack.enter_context(connected(alone))
        head = (
            f"POST /api/predict HTTP/1.1\r\nHost: {place.netloc}\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(source)}\r\n\r\n"
        )
        steady.sendall(head.encode())
        for part in range(0, len(source), 60_000):
            steady.sendall(source[part : part + 60_000])
            time.sleep(0.75)
            # Its own answers go on.
            slowest_answer(alone, 1, 1000 + part)
        assert time.monotonic() - begin > 11.0
        steady.settimeout(10)
        assert steady.recv(100).startswith(b"HTTP/1.1 200")
        assert [one for one in late if not is_closed(one)] == []


def test_connections_give_way_where_there_are_few_descriptors(narrow: Web) -> None:
    slowest_answer(narrow, 1)
    with ExitStack() as stack:
        late = slow(narrow, stack, 600)
        # How long it takes is another question, which a machine that does much else cannot answer.
        slowest_answer(narrow, 20, 2)
        open_ones = [one for one in late if not is_closed(one)]
        there = len(os.listdir(f"/proc/{narrow.process.pid}/fd"))
    assert 50 < len(open_ones) < 200, "those that came last, as many as there is room for"
    assert open_ones == late[-len(open_ones) :]
    assert there < 240


def test_requests_that_are_whole_are_not_given_up_for_others(narrow: Web) -> None:
    """More questions at a time than there are connections: each is answered or refused in words."""
    place = urlsplit(narrow.url)
    said: list[bytes] = []
    with ExitStack() as stack:
        asked = []
        for seed in range(300):
            changes = {"run.seed": seed + 1}
            source = {"source": {"example": "saturated-stations", "changes": changes}}
            body = json.dumps(source).encode()
            one = stack.enter_context(connected(narrow))
            head = (
                f"POST /api/predict HTTP/1.1\r\nHost: {place.netloc}\r\nConnection: close\r\n"
                f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
            )
            one.sendall(head.encode() + body)
            asked.append(one)
        for one in asked:
            one.settimeout(60)
            answer = b""
            try:
                while part := one.recv(65536):
                    answer += part
            except ConnectionResetError:
                pass  # refused before it was read
            said.append(answer)
    answered = [one for one in said if one.startswith(b"HTTP/1.1 200")]
    refused = [one for one in said if b"try again in a moment" in one or not one]
    assert len(answered) + len(refused) == len(said)
    assert len(answered) >= 100
    assert all(one.endswith(b"}") for one in answered)


def test_descriptors_are_raised_where_they_may_be_and_shared_out() -> None:
    told = "from airtcp.web.connections import descriptors; print(descriptors())"
    for bound, expected in (("ulimit -Sn 256", "4096"), ("ulimit -n 300", "300")):
        command = ["sh", "-c", f'{bound} && exec "$@"', "sh", sys.executable, "-c", told]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
        assert done.stdout.strip() == expected
    assert room(None, 4) == room(4096, 4) == 512
    assert 64 < room(256, 4) < 256 - 4 * 4
    assert room(256, 200) == 16


def sent(web: Web, count: int, text: str, expected: int) -> None:
    """Questions of .9 MB each, no two alike, and the status of their answers."""
    for number in range(count):
        filled = f"# {number}\n" + ("#" * 99 + "\n") * 9000 + text
        status, _ = web.ask("api/scenario", {"source": {"text": filled}})
        assert status == expected


def grown(web: Web, count: int, text: str, expected: int) -> float:
    """By how many MiB the server grows over so many of these."""
    sent(web, 4, text, expected)
    before = web.memory_mib()
    sent(web, count, text, expected)
    after = web.memory_mib()
    print(f"{count} bodies of .9 MB, status {expected}: {before:.0f} MiB before, {after:.0f} after")
    return after - before


def test_refused_bodies_are_not_kept(alone: Web) -> None:
    assert grown(alone, 60, "[phy]\nno = 1\n", 422) < SLACK_MIB


def test_too_much_at_a_time_is_refused(alone: Web) -> None:
    """Twelve uploads of which each stops before its end: more than may be held together."""
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
        # A small request has room beside them, or hears that there is none.
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


def test_the_folder_of_a_server_that_was_killed_goes_with_the_next(tmp_path: Path) -> None:
    def folders() -> set[Path]:
        return set(tmp_path.glob("airtcp-web-*"))

    first = started(folder=tmp_path)
    killed = folders()
    assert len(killed) == 1
    first.ask("api/uploads", raw=b"size\n1000\n", method="POST")
    first.process.kill()
    first.process.wait()
    assert first.process.stdout is not None
    first.process.stdout.close()
    assert folders() == killed
    # What is none of a dead server's stays: a link, a folder without a lock, one that others read.
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir(mode=0o700)
    (elsewhere / "lock").write_text("mine")
    (tmp_path / "airtcp-web-link").symlink_to(elsewhere)
    (tmp_path / "airtcp-web-other").mkdir(mode=0o700)
    (tmp_path / "airtcp-web-open").mkdir()
    (tmp_path / "airtcp-web-open").chmod(0o755)
    (tmp_path / "airtcp-web-open" / "lock").write_text("")
    kept = folders() - killed

    second = started(folder=tmp_path)
    try:
        (mine,) = folders() - kept
        assert mine not in killed
        third = started(folder=tmp_path)
        try:
            assert third.ask("api/start")[0] == 200
            assert mine in folders(), "its process lives"
            assert len(folders() - kept) == 2
        finally:
            ended(third)
        assert second.ask("api/predict", {"source": {"example": "saturated-stations"}})[0] == 200
    finally:
        ended(second)
    assert folders() == kept
    assert (elsewhere / "lock").read_text() == "mine"


@pytest.mark.verify
def test_two_thousand_requests_leave_the_memory_level(alone: Web) -> None:
    def asked(first: int, last: int) -> float:
        slowest = 0.0
        for number in range(first, last):
            changes = {"run.seed": number + 1, "stations.sensor.count": 1 + number % 40}
            source = {"example": "saturated-stations", "changes": changes}
            begin = time.monotonic()
            status, told = alone.ask(
                ("api/predict", "api/scenario")[number % 2], {"source": source}
            )
            slowest = max(slowest, time.monotonic() - begin)
            assert status == 200, told
        return slowest

    asked(0, 200)
    before = alone.memory_mib(), alone.memory_mib("models")
    slowest = asked(200, 2200)
    after = alone.memory_mib(), alone.memory_mib("models")
    print(
        f"2,000 requests, no two alike: server {before[0]:.1f} MiB before, {after[0]:.1f} after; "
        f"workers {before[1]:.1f} and {after[1]:.1f}; the slowest answer {1e3 * slowest:.0f} ms"
    )
    # What they were told is kept, some 8 kB each, and no more than that.
    assert after[0] - before[0] < SLACK_MIB
    assert after[1] - before[1] < SLACK_MIB
    asked(200, 2200)
    again = alone.memory_mib()
    print(f"the same once more: {again:.1f} MiB")
    assert again - after[0] < 4.0
