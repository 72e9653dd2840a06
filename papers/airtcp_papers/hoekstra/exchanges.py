"""Count the packets of an FTP download in captures of a testbed.

It parses pcapng, IPv4 and TCP as far as needed: what each node has sent, with flags and payload
sizes. It compares them with paper H's packet count.
"""

from __future__ import annotations

import operator
import struct
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import astuple, dataclass, field
from pathlib import Path
from typing import Final, NamedTuple

#: From pcapng (draft-ietf-opsawg-pcapng): packet blocks, and the flags of outbound packets.
_ENHANCED_PACKET: Final = 6
_OUTBOUND: Final = 2
_CONTROL_PORT: Final = 21
_FIN, _SYN = 1, 2
#: Packets without data in paper H's (6) and (17): three of the handshake, three of the close. The
#: ACK of the last segments belongs to (16).
_MODEL_EMPTY: Final = 6.0
#: Relative to the sum of squares; rounding is much smaller.
_NO_SPREAD: Final = 1e-6


@dataclass(frozen=True)
class Packets:
    """Sums over transfers captured from their first packet to their last.

    `segments` counts data in full segments, `again` retransmissions; `acks` counts the clients' TCP
    ACKs for data, without the handshake's. `segments_squared` and `segments_acks` are sums of
    squares and products; they separate ACKs per segment from ACKs per transfer. `empty` counts all
    other packets without data, including those of the control connection.
    """

    transfers: int
    segments: float
    segments_squared: float
    acks: int
    segments_acks: float
    again: int
    empty: float

    @classmethod
    def together(cls, parts: Sequence[Packets]) -> Packets:
        """Return the sums over several captures."""
        return cls(*(sum(values) for values in zip(*map(astuple, parts), strict=True)))

    @property
    def segments_per_ack(self) -> float:
        """The additional segments per additional ACK in longer transfers.

        This is the slope of a least-squares line. If all transfers are equally long there is no
        slope; then it is all segments over all ACKs, as in (16) and (19): S - 1/2 in cycles, and
        one more ACK.
        """
        n = self.transfers
        spread = self.segments_squared - self.segments**2 / n
        if spread < _NO_SPREAD * self.segments_squared:
            return (self.segments - 0.5 * n) / (self.acks - n)
        return spread / (self.segments_acks - self.segments * self.acks / n)

    @property
    def further(self) -> float:
        """The packets without data per transfer that are not in paper H's model.

        ACKs in cycles with `segments_per_ack` are not among them.
        """
        n = self.transfers
        in_cycles = (self.segments / n - 0.5) / self.segments_per_ack + 1.0
        return self.empty / n - _MODEL_EMPTY + self.acks / n - in_cycles


class _Sent(NamedTuple):
    """A TCP segment that a node has sent."""

    at_s: float
    by_server: bool
    #: Ports of the client and of the server.
    ports: tuple[int, int]
    seq: int
    flags: int
    payload: int
    text: bytes


@dataclass
class _Connection:
    """What was captured of a data connection."""

    began_s: float
    first: int | None = None
    up_to: int = 0
    again: int = 0
    acks: int = 0
    empty: int = 0
    fins: set[bool] = field(default_factory=set)


def packets_of(capture: Path, from_s: float, mss_bytes: int) -> Packets:
    """Count the transfers of a capture that begin at `from_s` or later and end in it.

    Raises ValueError if there are none.
    """
    ended: list[_Connection] = []
    open_now: dict[tuple[int, int], _Connection] = {}
    control = transfers = 0
    for sent in _sent(capture):
        if sent.ports[1] == _CONTROL_PORT:
            if sent.at_s >= from_s:
                control += sent.payload == 0 and not sent.flags & (_SYN | _FIN)
                transfers += sent.text.startswith((b"PASV", b"EPSV"))
            continue
        if sent.flags & _SYN and not sent.by_server:
            before = open_now.pop(sent.ports, None)
            if before is not None:
                ended.append(before)
            open_now[sent.ports] = _Connection(sent.at_s)
        if sent.ports in open_now:
            _count(open_now[sent.ports], sent)
    ended += open_now.values()
    whole = [one for one in ended if one.began_s >= from_s and len(one.fins) == 2]
    if not whole or not transfers:
        raise ValueError(f"{capture} has no transfer that was seen as a whole")
    segments = [(one.up_to - (one.first or 0)) / mss_bytes for one in whole]
    # The handshake's third packet is an ACK of no data.
    acks = [one.acks - 1 for one in whole]
    return Packets(
        transfers=len(whole),
        segments=sum(segments),
        segments_squared=sum(one**2 for one in segments),
        acks=sum(acks),
        segments_acks=sum(map(operator.mul, segments, acks)),
        again=sum(one.again for one in whole),
        empty=sum(one.empty for one in whole) + len(whole) * (1 + control / transfers),
    )


def _count(connection: _Connection, sent: _Sent) -> None:
    if sent.flags & _FIN:
        connection.fins.add(sent.by_server)
    if sent.payload:
        if connection.first is None:
            connection.first = connection.up_to = sent.seq
        # A download of 4 GB would wrap around.
        end = sent.seq + sent.payload
        connection.again += end <= connection.up_to
        connection.up_to = max(connection.up_to, end)
    elif sent.by_server or sent.flags & (_SYN | _FIN):
        connection.empty += 1
    else:
        connection.acks += 1


def _sent(capture: Path) -> Iterator[_Sent]:
    """Yield TCP segments in the order in which they were sent; interface 0 is the server's."""
    data = capture.read_bytes()
    offsets: dict[tuple[tuple[int, int], bool], int] = defaultdict(int)
    at = 0
    while at < len(data):
        kind, length = struct.unpack_from("<II", data, at)
        body = at + 8
        at += length
        if kind != _ENHANCED_PACKET:
            continue
        node, high, low, kept, whole = struct.unpack_from("<IIIII", data, body)
        options = body + 20 + (kept + 3) // 4 * 4
        if options + 8 > at - 4 or struct.unpack_from("<I", data, options + 4)[0] != _OUTBOUND:
            continue
        packet = data[body + 20 : body + 20 + kept]
        header = 4 * (packet[0] & 0xF)
        source, destination, seq = struct.unpack_from("!HHI", packet, header)
        words, flags = struct.unpack_from("!BB", packet, header + 12)
        ports = (destination, source) if node == 0 else (source, destination)
        # Unwrap sequence numbers beyond 2^32, relative to the first of each end.
        first = offsets.setdefault((ports, node == 0), seq)
        if flags & _SYN:
            first = offsets[ports, node == 0] = seq
        yield _Sent(
            at_s=(high << 32 | low) / 1e9,
            by_server=node == 0,
            ports=ports,
            seq=(seq - first) % 2**32,
            flags=flags,
            payload=whole - header - 4 * (words >> 4),
            text=packet[header + 4 * (words >> 4) :],
        )
