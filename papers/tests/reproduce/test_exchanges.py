"""Counting packets in captures of downloads: two of them, packet by packet."""

import struct
from pathlib import Path

import pytest
from airtcp_papers.hoekstra.exchanges import Packets, packets_of

ACK, FIN, SYN = 16, 1, 2
SERVER, CLIENT, AIR = 0, 1, 2
OUT, IN = 2, 1


def block(kind: int, body: bytes) -> bytes:
    length = struct.pack("<I", len(body) + 12)
    return struct.pack("<I", kind) + length + body + length


def packet(
    node: int,
    at_s: float,
    ports: tuple[int, int],
    seq: int,
    flags: int,
    payload: bytes | int = 0,
    way: int = OUT,
) -> bytes:
    """Return a packet cut to 60 bytes; `ports` are the client's and the server's."""
    text = payload if isinstance(payload, bytes) else bytes(payload)
    pair = ports if node == CLIENT else ports[::-1]
    tcp = struct.pack("!HHIIBBHHH", *pair, seq % 2**32, 0, 5 << 4, flags, 0, 0, 0)
    whole = bytes([0x45]) + bytes(19) + tcp + text
    kept = whole[:60]
    nanos = round(at_s * 1e9)
    head = struct.pack("<IIIII", node, nanos >> 32, nanos % 2**32, len(kept), len(whole))
    flags_option = struct.pack("<HHII", 2, 4, way, 0)
    return block(6, head + kept + bytes(-len(kept) % 4) + flags_option)


#: The server's sequence numbers wrap at 2^32 within the first segment.
FIRST = 2**32 - 500


def download(port: int, at_s: float, segments: int, *, again: bool = False) -> bytes:
    """Return a download: ACKs for every second segment and the last one, full and with the FIN."""
    ports = (port, 50_000 + port)
    out = [
        packet(CLIENT, at_s, ports, 7, SYN),
        packet(SERVER, at_s, ports, FIRST - 1, SYN | ACK),
        packet(CLIENT, at_s, ports, 8, ACK),
    ]
    for number in range(segments):
        last = FIN if number + 1 == segments else 0
        out.append(packet(SERVER, at_s, ports, FIRST + 1000 * number, ACK | last, 1000))
        # A received copy does not count as a packet.
        out.append(packet(CLIENT, at_s, ports, FIRST + 1000 * number, ACK, 1000, way=IN))
        if number % 2 == 1 or last:
            out.append(packet(CLIENT, at_s, ports, 8, ACK))
    if again:
        out.insert(-1, packet(SERVER, at_s, ports, FIRST, ACK, 1000))
    out.append(packet(CLIENT, at_s, ports, 8, FIN | ACK))
    out.append(packet(SERVER, at_s, ports, FIRST + 1000 * segments + 1, ACK))
    return b"".join(out)


def dialogue(at_s: float) -> bytes:
    """Return PASV, 227, an ACK of the client: two packets with data, and one without."""
    ports = (4000, 21)
    return (
        packet(CLIENT, at_s, ports, 1, ACK, b"PASV\r\n")
        + packet(SERVER, at_s, ports, 1, ACK, b"227 Entering\r\n")
        + packet(CLIENT, at_s, ports, 7, ACK)
    )


#: A frame on the air, which is not parsed.
FRAME = block(6, struct.pack("<IIIII", AIR, 0, 5, 4, 4) + b"\x45\0\0\0")


def capture(folder: Path, *parts: bytes) -> Path:
    path = folder / "nodes.pcapng"
    path.write_bytes(block(0x0A0D0D0A, bytes(16)) + b"".join(parts))
    return path


def test_two_downloads_are_counted(tmp_path: Path) -> None:
    """10 and 20 segments with 5 and 10 ACKs; each transfer has five packets without data, and an
    ACK on the control connection. Two of three transfers count: one begins too early."""
    path = capture(
        tmp_path,
        *(dialogue(0.5), download(1, 0.5, 6)),
        *(dialogue(1.5), download(2, 1.5, 10), FRAME),
        *(dialogue(2.5), download(3, 2.5, 20, again=True)),
    )

    found = packets_of(path, 1.0, 1000)
    assert (found.transfers, found.segments, found.acks, found.again) == (2, 30, 15, 1)
    # The handshake's three, the client's FIN and its ACK; and one on the control connection.
    assert found.empty == 2 * (5 + 1)
    assert found.segments_per_ack == pytest.approx(2.0)
    # With an ACK per cycle, (S - 1/2) / 2 + 1 in the model, it is 3/4 more than S / 2.
    assert found.further == pytest.approx(6 - 6 - 0.75)


def test_a_download_that_has_not_ended_does_not_count(tmp_path: Path) -> None:
    closing = 2 * len(packet(CLIENT, 1.5, (3, 50_003), 8, ACK))
    path = capture(tmp_path, dialogue(1.5), download(2, 1.5, 10), download(3, 1.5, 8)[:-closing])

    assert packets_of(path, 1.0, 1000).transfers == 1
    with pytest.raises(ValueError, match="no transfer that was seen as a whole"):
        packets_of(path, 2.0, 1000)


def test_acks_of_each_transfer_are_told_from_those_of_segments() -> None:
    """S = 50 and 150 with 4 + S / 1.8 ACKs: the fit finds this line."""
    sizes = (50.0, 150.0)
    acks = [4 + size / 1.8 for size in sizes]
    both = Packets.together(
        [
            Packets(1, size, size**2, count, size * count, 0, 7.0)  # type: ignore[arg-type]
            for size, count in zip(sizes, acks, strict=True)
        ]
    )

    assert both.transfers == 2
    assert both.segments_per_ack == pytest.approx(1.8)
    # One more than the model's six around the data, and 4 - 1 + 0.5 / 1.8 of data.
    assert both.further == pytest.approx(1 + 3 + 0.5 / 1.8)


def test_where_sizes_are_the_same_all_acks_are_those_of_segments() -> None:
    same = Packets(2, 200.0, 2 * 100.0**2, 112, 112 * 100.0, 0, 12.0)

    # 99.5 segments are in cycles, with 55 of 56 ACKs.
    assert same.segments_per_ack == pytest.approx(99.5 / 55)
    assert same.further == pytest.approx(0.0)
