"""Read a capture frame by frame into the stations of each basic service set.

Frames are not stored; `stations` describes what is kept.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from airtcp.exceptions import ScenarioError
from airtcp.importer.capture import frames, stations
from airtcp.importer.capture.blocks import Damage, Progress, Record, records
from airtcp.importer.capture.connections import Connection
from airtcp.importer.capture.radiotap import NOTHING, Radio, Reader, Sent
from airtcp.importer.capture.stations import (
    IDLE_NS,
    MOST_CONNECTIONS,
    MOST_DATAGRAMS,
    MOST_SETS,
    MOST_STATIONS,
    ServiceSet,
    Station,
)
from airtcp.importer.capture.streams import Datagrams
from airtcp.importer.capture.transfers import DOWN, UP
from airtcp.importer.source import phrase

#: Frames of two senders that start this close together collided.
_SLOT_NS: Final = 25_000
#: A clock was set if it jumps back by more than the first, or ahead by more than the second.
_BACK_NS: Final = 50 * 10**6
_AHEAD_NS: Final = 3600 * 10**9
_QUIC: Final = 443
_DELIMITER: Final = 4
#: Bytes of headers in an unreadable frame: LLC, IP, TCP with timestamps, and encryption.
_OVERHEAD: Final = 8 + 20 + 32 + 16


class Network:
    """Everything read from a capture."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.sets: dict[bytes, ServiceSet] = {}
        self.control: dict[Sent, int] = {}
        self.block_acks: dict[Sent, int] = {}
        self.channels: dict[int, int] = {}
        self.damage = Damage()
        self.account = stations.Account()
        self.frames = self.begin_ns = self.end_ns = 0
        self.kept = [1 << 30, 0]
        self.short_preambles = self.long_preambles = 0
        self.bad_fcs = self.without_rate = self.wireless = 0
        self._radiotap = Reader()
        self._shift_ns = self._last_ns = 0
        self._rts_from = b""
        self._air: list[tuple[int, bytes, Station | None, int, int]] = []
        self._connections = self._datagrams = 0
        self._wired = ServiceSet("the wire", is_wired=True)
        #: The last PSDU with data: its A-MPDU, set, sender, bytes and frames, and whether after an
        #: RTS.
        self._psdu: tuple[int, ServiceSet | None, bytes, int, int, bool]
        self._psdu = (-1, None, b"", 0, 0, False)

    @property
    def duration_ns(self) -> int:
        """The time from the first to the last frame."""
        return self.end_ns - self.begin_ns

    def read(self, path: Path, progress: Progress = None) -> None:
        """Read a file. Raises ScenarioError if it cannot be opened."""
        try:
            for record in records(path, self.damage, progress):
                self._take(record)
        except OSError as error:
            reason = error.strerror or str(error)
            raise ScenarioError(str(path), "", f"cannot be read: {reason}") from error
        self._judge()
        for one in [*self.sets.values(), self._wired]:
            for station in one.stations.values():
                self._close(station)
        if self._wired.stations:
            self.sets[b""] = self._wired

    def _close(self, station: Station) -> None:
        for connection in station.connections.values():
            connection.close(station.told, station.transfers, self.end_ns, max(self.duration_ns, 1))
        station.connections.clear()
        for way in (UP, DOWN):
            station.bursts[way].close(station.transfers[way], self.end_ns, self.duration_ns)

    def _take(self, record: Record) -> None:
        link, time_ns, data, length = record
        self.frames += 1
        if time_ns < 0:
            self.damage.count("no_time")
            time_ns = self._last_ns - self._shift_ns
        time_ns = self._clock(time_ns)
        if link in frames.WIRED:
            self._on_wire(link, time_ns, data)
            return
        if link not in frames.WIRELESS:
            self.damage.count("link_type", link)
            return
        self.wireless += 1
        radio, reference = NOTHING, -1
        if link == frames.RADIOTAP:
            found = self._radiotap.read(data)
            if found is None:
                self.damage.count("bad_radiotap")
                return
            radio, at, reference = found
        else:
            at = frames.before_frame(link, data)
            if at < 0:
                self.damage.count("bad_header")
                return
        if radio.mhz:
            self.channels[radio.mhz] = self.channels.get(radio.mhz, 0) + 1
        if radio.bad_fcs:
            self.bad_fcs += 1
        if len(data) < at + 10:
            self._too_short(data, at)
            return
        self._on_air(time_ns, data, at, max(length, len(data)), radio, reference)

    def _clock(self, time_ns: int) -> int:
        """Return the time of a frame on a clock without jumps."""
        time_ns += self._shift_ns
        if self.frames == 1:
            self.begin_ns = self.end_ns = self._last_ns = time_ns
            return time_ns
        ahead = time_ns - self._last_ns
        if ahead < -_BACK_NS or ahead > _AHEAD_NS:
            way = "backwards" if ahead < 0 else phrase("capture.ahead")
            self.damage.count("jumps", way)
            self._shift_ns -= ahead
            time_ns = self._last_ns
        self._last_ns = time_ns
        self.begin_ns = min(self.begin_ns, time_ns)
        self.end_ns = max(self.end_ns, time_ns)
        return time_ns

    def _on_air(
        self, time_ns: int, data: bytes, at: int, length: int, radio: Radio, reference: int
    ) -> None:
        control, flags = data[at], data[at + 1]
        kind = control >> 2 & 3
        if kind == 1:
            if not radio.bad_fcs:
                self._control_frame(control >> 4, data, at, radio)
            elif control >> 4 == 12:
                # A CTS-to-self.
                self._heard(time_ns, data[at + 4 : at + 10], None, UP, 1)
            elif len(data) >= at + 16:
                self._heard(time_ns, data[at + 10 : at + 16], None, UP, 1)
            return
        if len(data) < at + 24:
            self._too_short(data, at)
            return
        if kind == 0:
            if radio.bad_fcs:
                self._heard(time_ns, data[at + 10 : at + 16], None, UP, 1)
            elif control == 0x80:
                self._beacon(data, at, length, radio)
            return
        if kind == 3:
            self.damage.count("extension")
            return
        way = flags & 3
        if way == 1:
            bssid, address, way = data[at + 4 : at + 10], data[at + 10 : at + 16], UP
        elif way == 2:
            address, bssid, way = data[at + 4 : at + 10], data[at + 10 : at + 16], DOWN
        else:
            self.account.leave("without_ap")
            return
        one = self.sets.get(bssid)
        if address[0] & 1:
            self.account.leave("multicast")
            return
        station = None if one is None else one.stations.get(address)
        sender = data[at + 10 : at + 16]
        self._note_psdu(one, sender, length - at + (0 if radio.has_fcs else 4), reference)
        if radio.bad_fcs:
            self.account.leave("wrong_fcs")
            if station is not None:
                self._heard(time_ns, sender, station, way, 1)
            return
        if control & 0x40:
            self.account.leave("empty")
            return
        if station is None:
            station = self._new_station(bssid, address)
            if station is None:
                self.account.leave("too_many")
                return
        one = self.sets[bssid]
        self._heard(time_ns, sender, station, way, 0)
        self._data_frame(time_ns, data, at, length, radio, reference, one, station, way)

    def _too_short(self, data: bytes, at: int) -> None:
        # Frame Control has two octets.
        if len(data) > at + 1 and data[at] >> 2 & 3 == 2:
            self.account.leave("too_short")
        else:
            self.damage.count("too_short")

    def _data_frame(
        self,
        time_ns: int,
        data: bytes,
        at: int,
        length: int,
        radio: Radio,
        reference: int,
        one: ServiceSet,
        station: Station,
        way: int,
    ) -> None:
        control, flags = data[at], data[at + 1]
        is_retry, is_qos = bool(flags & 8), bool(control & 0x80)
        size = length - at - (4 if radio.has_fcs else 0)
        station.count(way, radio, size, is_retry=is_retry)
        if radio.sent is None:
            self.without_rate += 1
        elif radio.sent.form == "dsss":
            if radio.short_preamble:
                self.short_preambles += 1
            elif radio.sent.kbps > 1000:
                self.long_preambles += 1
        if station.first_ns < 0:
            station.first_ns = time_ns
        station.last_ns = time_ns
        header = 26 if is_qos else 24
        tid = 0
        if is_qos:
            station.qos += 1
            header += 4 if flags & 0x80 else 0
            if len(data) < at + 26:
                return
            tid = data[at + 24]
        if reference >= 0:
            station.aggregated += 1
        number = data[at + 22] | data[at + 23] << 8
        again = station.is_again(way << 24 | (tid & 15) << 16 | number, is_retry=is_retry)
        if way == DOWN and not again:
            one.wait.sent_down += 1
        begin, end = at + header, at + size
        if number & 15 or flags & 4:
            self.damage.count("fragments")
            return
        if flags & 0x40:
            station.protected += 1
            self.damage.count("encrypted")
            if not again:
                station.bursts[way].add(time_ns, size - header, _OVERHEAD, station.transfers[way])
            return
        if len(data) < begin + 28 and end > begin + 28:
            self.damage.count("bad_ip")
            return
        places = [begin]
        if is_qos and tid & 0x80:
            station.amsdu_bytes = max(station.amsdu_bytes, size - header)
            found = frames.subframes(data, begin, end)
            if found and found[-1][0] + found[-1][1] + 3 < end:
                self.damage.count("cut_amsdus")
            places = [place for place, _ in found]
        for place in places:
            self._packet(
                time_ns,
                data,
                frames.snap_type(data, place),
                place + 8,
                one,
                station,
                way,
                is_retry=is_retry,
                again=again,
            )

    def _note_psdu(self, one: ServiceSet | None, sender: bytes, size: int, reference: int) -> None:
        """Record the size of the last PSDU, with or without an RTS of its sender before it."""
        last, last_set, last_sender, total, last_count, has_rts = self._psdu
        if reference >= 0 and reference == last and sender == last_sender:
            # IEEE 802.11-2020, 9.7.1: delimiters, and padding to 4 octets.
            before = total if last_count > 1 else total + _DELIMITER
            total, count = (before + 3) // 4 * 4 + _DELIMITER + size, last_count + 1
        else:
            if last_set is not None and has_rts:
                last_set.with_rts = min(last_set.with_rts, total)
            elif last_set is not None:
                last_set.without = max(last_set.without, total)
            total, count, has_rts = size, 1, self._rts_from == sender
            self._rts_from = b""
        self._psdu = (reference, one, sender, total, count, has_rts)

    def _packet(
        self,
        time_ns: int,
        data: bytes,
        kind: int,
        at: int,
        one: ServiceSet,
        station: Station,
        way: int,
        *,
        is_retry: bool,
        again: bool,
    ) -> None:
        packet = frames.packet(kind, data, at)
        if packet is None:
            if kind in (0x0800, 0x86DD):
                self.damage.count("bad_ip")
            return
        source, target, protocol, at, _length, total = packet
        if protocol == frames.TCP:
            self._tcp(time_ns, data, packet, one, station, way, is_retry=is_retry)
            return
        if protocol != frames.UDP or again or len(data) < at + 4:
            return
        ports = data[at : at + 4]
        if _QUIC in (ports[0] << 8 | ports[1], ports[2] << 8 | ports[3]):
            self.damage.count("quic")
            station.bursts[way].add(time_ns, total, 20 + 8 + 25, station.transfers[way])
            return
        known = station.datagrams[way]
        key = source + target + ports
        stream = known.get(key)
        if stream is None:
            if self._datagrams >= MOST_DATAGRAMS:
                self.damage.count("many_pairs")
                return
            self._datagrams += 1
            stream = known[key] = Datagrams(time_ns)
        stream.add(time_ns, total)

    def _tcp(
        self,
        time_ns: int,
        data: bytes,
        packet: frames.Packet,
        one: ServiceSet,
        station: Station,
        way: int,
        *,
        is_retry: bool,
    ) -> None:
        source, target, _, at, length, _ = packet
        if len(data) < at + 16:
            self.damage.count("cut_tcp")
            return
        header = (data[at + 12] >> 4) * 4
        payload = length - header
        if header < 20 or payload < 0:
            self.damage.count("bad_tcp")
            return
        # The station's end comes first in the key.
        key = (
            source + target + data[at : at + 4]
            if way == UP
            else target + source + data[at + 2 : at + 4] + data[at : at + 2]
        )
        connection = station.connections.get(key)
        if connection is None:
            if self._connections >= MOST_CONNECTIONS:
                self._forget(time_ns)
            self._connections += 1
            connection = station.connections[key] = Connection()
        read = int.from_bytes
        connection.segment(
            time_ns,
            way,
            (
                read(data[at + 4 : at + 8], "big"),
                read(data[at + 8 : at + 12], "big"),
                data[at + 13],
                data[at + 14] << 8 | data[at + 15],
            ),
            payload,
            data[at + 20 : at + header],
            station.told,
            station.transfers,
            one.wait,
            is_retry=is_retry,
        )

    def _forget(self, time_ns: int) -> None:
        """Close connections that have ended or are idle; if these are too few, the older half."""
        stations = [
            station
            for one in [*self.sets.values(), self._wired]
            for station in one.stations.values()
        ]
        for is_any in (False, True):
            left = 0
            for station in stations:
                for key, connection in list(station.connections.items()):
                    idle = time_ns - connection.last_ns
                    if connection.finished or idle > IDLE_NS or (is_any and left % 2):
                        connection.close(station.told, station.transfers)
                        del station.connections[key]
                    left += 1
            self._connections = sum(len(station.connections) for station in stations)
            if self._connections < MOST_CONNECTIONS // 2:
                return
            self.damage.count("many_connections")

    def _new_station(self, bssid: bytes, address: bytes) -> Station | None:
        one = self.sets.get(bssid)
        if one is None:
            if len(self.sets) >= MOST_SETS:
                return None
            one = self.sets[bssid] = ServiceSet(bssid.hex(":"))
        if len(one.stations) >= MOST_STATIONS:
            return None
        station = one.stations[address] = Station(address.hex(":"))
        return station

    def _control_frame(self, subtype: int, data: bytes, at: int, radio: Radio) -> None:
        if subtype == 11 and len(data) >= at + 16:
            self._rts_from = data[at + 10 : at + 16]
        if radio.sent is None:
            return
        if subtype in (12, 13):
            self.control[radio.sent] = self.control.get(radio.sent, 0) + 1
        elif subtype == 9:
            self.block_acks[radio.sent] = self.block_acks.get(radio.sent, 0) + 1

    def _beacon(self, data: bytes, at: int, length: int, radio: Radio) -> None:
        if len(data) >= at + 36 and not data[at + 34] & 1:
            # No ESS bit in the capability information.
            self.damage.count("mesh")
            return
        bssid = data[at + 16 : at + 22]
        one = self.sets.get(bssid)
        if one is None:
            if len(self.sets) >= MOST_SETS:
                return
            one = self.sets[bssid] = ServiceSet(bssid.hex(":"))
        units, elements = frames.beacon(data, at + 24, length - (4 if radio.has_fcs else 0))
        one.beacons += 1
        one.beacon_units = units
        one.beacon_bytes = length - at + (0 if radio.has_fcs else 4)
        one.beacon_radio = radio
        one.elements |= elements

    def _heard(
        self, time_ns: int, sender: bytes, station: Station | None, way: int, bad: int
    ) -> None:
        """Record a sender: frames that start at the same time collided."""
        if self._air and time_ns - self._air[0][0] > _SLOT_NS:
            self._judge()
        self._air.append((time_ns, sender, station, way, bad))

    def _judge(self) -> None:
        """Count the bad frames of the last transmission, unless it collided."""
        if len({sender for _, sender, *_ in self._air}) == 1:
            for _, _, station, way, bad in self._air:
                if station is not None:
                    station.bad[way] += bad
        self._air.clear()

    def _on_wire(self, link: int, time_ns: int, data: bytes) -> None:
        kind, at = frames.network_layer(link, data)
        packet = frames.packet(kind, data, at)
        if packet is None:
            of_ip = kind in (0x0800, 0x86DD)
            self.damage.count("bad_ip" if of_ip else "no_ip")
            return
        source, target, protocol, place, _, total = packet
        if target[0] >= 224 or target[-1] == 255 or protocol not in (frames.TCP, frames.UDP):
            self.damage.count("other_ip")
            return
        if len(data) < place + 4:
            self.damage.count("bad_ip")
            return
        stations = self._wired.stations
        if source in stations:
            way, address = UP, source
        elif target in stations:
            way, address = DOWN, target
        else:
            way, address = (UP, source) if frames.asks(data, packet) else (DOWN, target)
            if len(stations) >= MOST_STATIONS:
                self.damage.count("many_stations")
                return
            stations[address] = Station(frames.shown(address))
        station = stations[address]
        station.count(way, NOTHING, total, is_retry=False)
        station.first_ns = time_ns if station.first_ns < 0 else station.first_ns
        station.last_ns = time_ns
        self._packet(
            time_ns, data, kind, at, self._wired, station, way, is_retry=False, again=False
        )
