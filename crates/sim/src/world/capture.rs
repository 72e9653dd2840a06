//! Which frames go into a capture file, and with whose addresses and which numbers.
//!
//! Hooks look first whether there is a file, and change nothing in the world. An exchange is written
//! when it begins: nothing else can be on the air before it ends. What the bytes are is in
//! [`pcap`](crate::pcap).

use std::collections::BTreeMap;
use std::io::Write;

use airtcp_kernel::{Duration, Time};
use airtcp_tcp::{Flags, Timestamps};
use airtcp_wlan::{
    ACCESS_POINT, AccessCategory, ContenderId, FrameTimes, Modulation, Mpdu, Psdu, Rate, StationId,
};

use super::World;
use super::node::NodeId;
use crate::app::Service;
use crate::connection::Side;
use crate::control::RunError;
use crate::packet::Packet;
use crate::pcap::PcapWriter;
use crate::pcap::frame::{Address, DataHeader, Frame};
use crate::pcap::packet::{
    Endpoints, Ip, TIMESTAMPS_BYTES, TcpHeader, on_wire, options, syn_options, tcp,
    timestamps_option, udp, wrapped,
};
use crate::scenario::TcpConfig;

/// Sequence numbers of MSDUs wrap here (IEEE 802.11-2020, 9.2.4.4.2).
const SEQUENCE_NUMBERS: u16 = 1 << 12;
/// A TU (IEEE 802.11-2020, 3.1).
const TIME_UNIT_NS: u64 = 1_024_000;
/// RFC 6335: ports that nobody owns, from here on.
const FIRST_EPHEMERAL_PORT: u16 = 49_152;
const EPHEMERAL_PORTS: u32 = 65_536 - 49_152;
/// Ports of servers. Not those of FTP: there, Wireshark would look for text.
const SERVER_PORT: u16 = 5_001;
const DIALOGUE_PORT: u16 = 5_002;
const FILE_PORT: u16 = 5_003;
/// Both ports of datagrams: discard (RFC 863), whose data may be anything. Wireshark takes them at
/// other ports for a header of some protocol, and small ones for a header that is cut off.
const DATAGRAM_PORT: u16 = 9;
/// Connections after one another begin so far apart (4.4BSD), so that a port that is used again is
/// not taken for the connection before.
const ISN_STEP: u32 = 64_000;

/// Writes the capture file of one replication.
#[derive(Debug)]
pub(super) struct Capture {
    pcap: PcapWriter,
    frame: Frame,
    packet: Vec<u8>,
    /// The MSDU that each transmitter has sent last.
    sent: Vec<Sent>,
    /// The last sequence number: of a node, under EDCA of a queue and a receiver.
    sequence_numbers: BTreeMap<(ContenderId, StationId), u16>,
    /// The last identification of an IP packet, by sender.
    ids: BTreeMap<Ip, u16>,
    /// The numbers of each connection, by place.
    connections: Vec<Numbers>,
    /// How many connections each flow has opened.
    opened: Vec<u32>,
}

/// An MSDU on the air.
#[derive(Clone, Copy, Debug)]
struct Sent {
    /// The number that the MAC gave its frame.
    mpdu: u64,
    sequence_number: u16,
    id: u16,
    /// Whether the data frame was on the air, not an RTS alone.
    data: bool,
}

/// What tells a connection from the others of its flow.
#[derive(Clone, Copy, Debug, Default)]
struct Numbers {
    client_port: u16,
    server_port: u16,
    /// Initial sequence numbers, by [`Side`].
    isn: [u32; 2],
}

impl World<'_> {
    /// Writes what is on the air; of each frame the first `snaplen` bytes.
    pub(crate) fn capture(&mut self, out: Box<dyn Write + Send>, snaplen: u32) {
        let nobody = Sent { mpdu: u64::MAX, sequence_number: 0, id: 0, data: false };
        self.capture = Some(Box::new(Capture {
            pcap: PcapWriter::new(out, snaplen, &self.scenario.phy),
            frame: Frame::default(),
            packet: Vec::new(),
            sent: vec![nobody; self.transmitters.len()],
            sequence_numbers: BTreeMap::new(),
            ids: BTreeMap::new(),
            connections: Vec::new(),
            opened: vec![0; self.flows.len()],
        }));
    }

    /// Whether the file still takes what is written.
    pub(crate) fn check_capture(&self) -> Result<(), RunError> {
        let failure = self.capture.as_ref().and_then(|capture| capture.pcap.failure());
        failure.map_or(Ok(()), |failure| Err(RunError::CaptureFailed(failure)))
    }

    /// Writes what is left to write.
    pub(crate) fn finish_capture(&mut self) -> Result<(), RunError> {
        if let Some(capture) = &mut self.capture {
            capture.pcap.finish();
        }
        self.check_capture()
    }

    /// A connection for `service` has been put in place `id`.
    #[inline]
    pub(super) fn capture_connection(&mut self, id: u32, service: Service) {
        let Some(capture) = &mut self.capture else { return };
        let connection = &self.connections[id as usize];
        let opened = &mut capture.opened[connection.flow as usize];
        let isn = opened.wrapping_mul(ISN_STEP);
        let numbers = Numbers {
            server_port: match service {
                Service::Transfer => SERVER_PORT,
                Service::Dialogue => DIALOGUE_PORT,
                Service::File => FILE_PORT,
            },
            client_port: FIRST_EPHEMERAL_PORT + (*opened % EPHEMERAL_PORTS) as u16,
            isn: [isn, isn.wrapping_add(1 << 31)],
        };
        *opened += 1;
        match capture.connections.get_mut(id as usize) {
            Some(place) => *place = numbers,
            // Places are filled in order before any is used again.
            None => capture.connections.push(numbers),
        }
    }

    /// Whether anything is written.
    #[inline]
    pub(super) fn is_captured(&self) -> bool {
        self.capture.is_some()
    }

    /// `by` sends `psdu` in an exchange that begins at `start`.
    #[cold]
    pub(super) fn capture_exchange(
        &mut self,
        by: ContenderId,
        start: Time,
        times: &FrameTimes,
        psdu: &Psdu<Packet>,
    ) {
        if let Some(mut capture) = self.capture.take() {
            for mpdu in psdu.mpdus() {
                self.write_exchange(&mut capture, by, start, times, mpdu);
            }
            self.capture = Some(capture);
        }
    }

    /// The first frame collides of the exchange in which `by` sends `psdu`.
    pub(super) fn capture_collider(
        &mut self,
        by: ContenderId,
        start: Time,
        times: &FrameTimes,
        psdu: &Psdu<Packet>,
    ) {
        if let Some(mut capture) = self.capture.take() {
            for mpdu in psdu.mpdus() {
                self.write_collider(&mut capture, by, start, times, mpdu);
            }
            self.capture = Some(capture);
        }
    }

    /// The access point of queue `by` sends a beacon at `start`.
    pub(super) fn capture_beacon(
        &mut self,
        by: ContenderId,
        start: Time,
        mpdu: &Mpdu<()>,
        intact: bool,
    ) {
        if let Some(capture) = &mut self.capture
            && let Some(beacon) = self.scenario.mac.beacon
        {
            let interval = beacon.interval.as_nanos() / TIME_UNIT_NS;
            capture.frame.beacon(
                address_of(self.transmitters[by as usize].node),
                (mpdu.id % u64::from(SEQUENCE_NUMBERS)) as u16,
                start.as_nanos() / 1_000,
                u16::try_from(interval).unwrap_or(u16::MAX),
                mpdu.bits.div_ceil(8) as usize,
            );
            capture.pcap.write(start, beacon.rate, intact, &capture.frame);
        }
    }

    fn write_exchange(
        &self,
        capture: &mut Capture,
        by: ContenderId,
        start: Time,
        times: &FrameTimes,
        mpdu: &Mpdu<Packet>,
    ) {
        let (data_rate, control_rate) = self.rates(&mpdu.payload);
        let protection_rate = self.protection_rate(data_rate, control_rate);
        let [sender, receiver] = self.addresses_on_air(by, &mpdu.payload);
        let [rts, cts, data, ack] = times.intervals(&self.scenario.phy);
        let left = |end: Duration| micros_up(ack.1 - end);
        if times.rts > Duration::ZERO {
            capture.frame.rts(left(rts.1), receiver, sender);
            capture.pcap.write(start + rts.0, protection_rate, true, &capture.frame);
            capture.frame.cts(left(cts.1), sender);
            capture.pcap.write(start + cts.0, protection_rate, true, &capture.frame);
        } else if times.cts > Duration::ZERO {
            capture.frame.cts(left(cts.1), sender);
            capture.pcap.write(start + cts.0, protection_rate, true, &capture.frame);
        }
        self.build_data(capture, by, mpdu, left(data.1));
        capture.pcap.write(start + data.0, data_rate, true, &capture.frame);
        capture.frame.ack(sender);
        capture.pcap.write(start + ack.0, control_rate, true, &capture.frame);
    }

    fn write_collider(
        &self,
        capture: &mut Capture,
        by: ContenderId,
        start: Time,
        times: &FrameTimes,
        mpdu: &Mpdu<Packet>,
    ) {
        let (data_rate, control_rate) = self.rates(&mpdu.payload);
        let protection_rate = self.protection_rate(data_rate, control_rate);
        let [rts, cts, data, ack] = times.intervals(&self.scenario.phy);
        if times.rts > Duration::ZERO {
            let [sender, receiver] = self.addresses_on_air(by, &mpdu.payload);
            capture.frame.rts(micros_up(ack.1 - rts.1), receiver, sender);
            capture.pcap.write(start, protection_rate, false, &capture.frame);
        } else {
            if times.cts > Duration::ZERO {
                let [sender, _] = self.addresses_on_air(by, &mpdu.payload);
                capture.frame.cts(micros_up(ack.1 - cts.1), sender);
                capture.pcap.write(start, protection_rate, false, &capture.frame);
            }
            self.build_data(capture, by, mpdu, micros_up(ack.1 - data.1));
            capture.pcap.write(start + data.0, data_rate, false, &capture.frame);
        }
    }

    /// The rate of RTS and CTS before data at `data_rate`.
    fn protection_rate(&self, data_rate: Rate, control_rate: Rate) -> Rate {
        let protection = self.scenario.phy.protection;
        let of_ofdm = protection.filter(|_| data_rate.modulation == Modulation::Ofdm);
        of_ofdm.map_or(control_rate, |one| one.rate)
    }

    /// Makes the data frame of `by` that is `mpdu`.
    fn build_data(
        &self,
        capture: &mut Capture,
        by: ContenderId,
        mpdu: &Mpdu<Packet>,
        duration: u16,
    ) {
        let packet = &mpdu.payload;
        let transmitter = &self.transmitters[by as usize];
        let from_ap = self.nodes[transmitter.node as usize].is_access_point();
        let flow = self.flow_of(packet);
        let side = if from_ap { Side::Server } else { Side::Station };
        let last = &mut capture.sent[by as usize];
        if last.mpdu != mpdu.id {
            // 10.3.2.11.2: one count for each receiver and TID, or one for all without QoS.
            let key = match transmitter.category {
                None => (by, ACCESS_POINT),
                Some(_) => (by, packet.to),
            };
            let source = ip_of(flow.entry, flow.station, side);
            *last = Sent {
                mpdu: mpdu.id,
                sequence_number: next(&mut capture.sequence_numbers, key) % SEQUENCE_NUMBERS,
                id: next(&mut capture.ids, source),
                data: false,
            };
        }
        let retry = std::mem::replace(&mut last.data, true);
        let header = DataHeader {
            from_ap,
            retry,
            duration,
            station: address_of(flow.station),
            bssid: address_of(flow.access_point),
            distant: server_address(flow.entry),
            sequence_number: last.sequence_number,
            tid: transmitter.category.map(tid),
        };
        let id = last.id;
        capture.packet.clear();
        self.build_packet(capture, packet, side, id);
        capture.frame.data(&header, &capture.packet, packet.body.segment.len as usize);
    }

    /// Makes the headers of an IP packet that `side` sent.
    fn build_packet(&self, capture: &mut Capture, packet: &Packet, side: Side, id: u16) {
        let flow = self.flow_of(packet);
        let payload = packet.body.segment.len as usize;
        let numbers = match packet.body.owner.connection() {
            None => Numbers { client_port: DATAGRAM_PORT, server_port: DATAGRAM_PORT, isn: [0; 2] },
            Some(id) => capture.connections[id as usize],
        };
        let station = (ip_of(flow.entry, flow.station, Side::Station), numbers.client_port);
        let server = (ip_of(flow.entry, flow.station, Side::Server), numbers.server_port);
        let (from, to) = match side {
            Side::Station => (station, server),
            Side::Server => (server, station),
        };
        let ends = Endpoints { from: from.0, to: to.0, from_port: from.1, to_port: to.1, id };
        let Some(place) = packet.body.owner.connection() else {
            udp(&mut capture.packet, &ends, payload);
            return;
        };
        let config = flow.tcp();
        let (mine, theirs) = match side {
            Side::Station => (numbers.isn[0], numbers.isn[1]),
            Side::Server => (numbers.isn[1], numbers.isn[0]),
        };
        let segment = &packet.body.segment;
        let timestamps = self.connections[place as usize].timestamps(segment);
        let told = 320 + if timestamps.is_some() { 8 * TIMESTAMPS_BYTES } else { 0 };
        let filling = (config.packets.header_bits.saturating_sub(told) / 8) as usize;
        let (shift, window) = scaled_window(config);
        let mut option_bytes = Vec::new();
        if let Some(Timestamps { value, echo }) = timestamps {
            timestamps_option(&mut option_bytes, value, echo);
        }
        let syn = segment.flags.contains(Flags::SYN);
        if syn {
            syn_options(&mut option_bytes, config.mss_option(), config.has_sack(), shift, filling);
        } else {
            let blocks = self.connections[place as usize].sack_blocks(segment);
            let blocks = blocks.iter().map(|block| on_wire(theirs, block));
            options(&mut option_bytes, blocks, filling);
        }
        let acknowledges = segment.flags.contains(Flags::ACK);
        let header = TcpHeader {
            seq: wrapped(mine, segment.seq),
            ack: if acknowledges { wrapped(theirs, segment.ack) } else { 0 },
            flags: segment.flags.bits(),
            // RFC 7323 section 2.2: the window of a SYN is not scaled.
            window: if syn { window_of_syn(config) } else { window },
            options: &option_bytes,
        };
        tcp(&mut capture.packet, &ends, &header, payload);
    }

    /// Who sends the data frame, and to whom.
    fn addresses_on_air(&self, by: ContenderId, packet: &Packet) -> [Address; 2] {
        let sender = self.transmitters[by as usize].node;
        let flow = self.flow_of(packet);
        let from_station = sender == flow.station;
        let receiver = if from_station { flow.access_point } else { flow.station };
        [address_of(sender), address_of(receiver)]
    }

    /// Data and control rate of the exchange of a packet.
    fn rates(&self, packet: &Packet) -> (Rate, Rate) {
        let group = &self.scenario.stations[self.flow_of(packet).rate_class as usize];
        (group.data_rate, group.control_rate)
    }
}

/// The address of a node: locally administered, and its number.
fn address_of(node: NodeId) -> Address {
    let [a, b, c, d] = node.to_be_bytes();
    [2, 0, a, b, c, d]
}

/// The address of what is behind the access point on the way to a flow's server.
fn server_address(kind: usize) -> Address {
    let [a, b, c, d] = (kind as u32).to_be_bytes();
    [2, 1, a, b, c, d]
}

/// Stations are 10.0.0.1 and so on; the servers of each entry of the scenario have one address, in a
/// network for such tests (RFC 2544): 198.18.0.1 and so on.
fn ip_of(kind: usize, station: NodeId, side: Side) -> Ip {
    match side {
        Side::Station => (10 << 24 | station).to_be_bytes(),
        Side::Server => (198 << 24 | 18 << 16 | (kind as u32 + 1)).to_be_bytes(),
    }
}

/// IEEE 802.11-2020, Table 10-1: the first user priority of the category; with EDCA the TID is one.
fn tid(category: AccessCategory) -> u8 {
    match category {
        AccessCategory::Voice => 6,
        AccessCategory::Video => 5,
        AccessCategory::BestEffort => 0,
        AccessCategory::Background => 1,
    }
}

/// RFC 7323: by how much the window is shifted, and what then stands in a header.
fn scaled_window(config: &TcpConfig) -> (u8, u16) {
    let window = config.endpoint.receive_window;
    let shift = (0..14).find(|&shift| window >> shift <= u64::from(u16::MAX)).unwrap_or(14);
    (shift, u16::try_from(window >> shift).unwrap_or(u16::MAX))
}

fn window_of_syn(config: &TcpConfig) -> u16 {
    u16::try_from(config.endpoint.receive_window).unwrap_or(u16::MAX)
}

/// The next number of a count that begins with 0.
fn next<K: Ord>(counts: &mut BTreeMap<K, u16>, key: K) -> u16 {
    let count = counts.entry(key).or_insert(u16::MAX);
    *count = count.wrapping_add(1);
    *count
}

fn micros_up(span: Duration) -> u16 {
    u16::try_from(span.as_nanos().div_ceil(1_000)).unwrap_or(i16::MAX as u16).min(i16::MAX as u16)
}
