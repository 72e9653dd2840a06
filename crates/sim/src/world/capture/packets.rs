//! The IP packets in captured frames: addresses, ports and numbers of each flow and connection, and
//! the bytes of foreign packets.
//!
//! Only the length of a foreign packet is used. The bytes of simulated packets are in
//! [`pcap::packet`](crate::pcap::packet).

use airtcp_tcp::{Flags, Timestamps};

use super::super::node::NodeId;
use super::super::parts::Entities;
use crate::app::Service;
use crate::connection::Side;
use crate::packet::Packet;
use crate::pcap::frame::Address;
use crate::pcap::packet::{
    Endpoints, Ip, TIMESTAMPS_BYTES, TcpHeader, on_wire, options, syn_options, tcp,
    timestamps_option, udp, wrapped,
};

/// RFC 6335: dynamic ports begin here.
const FIRST_EPHEMERAL_PORT: u16 = 49_152;
const EPHEMERAL_PORTS: u32 = 65_536 - 49_152;
/// Port of servers. It is not an FTP port, because Wireshark would look for text there.
const SERVER_PORT: u16 = 5_001;
const DIALOGUE_PORT: u16 = 5_002;
const FILE_PORT: u16 = 5_003;
/// Both ports of datagrams: discard (RFC 863), whose data may be anything. At other ports Wireshark
/// would decode the data as a header of some protocol, perhaps a truncated one.
const DATAGRAM_PORT: u16 = 9;
/// Distance between the initial sequence numbers of successive connections (4.4BSD), so that a
/// reused port is not mistaken for the previous connection.
const ISN_STEP: u32 = 64_000;

/// The numbers that distinguish a connection from others of its flow.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Numbers {
    client_port: u16,
    server_port: u16,
    /// Initial sequence numbers, by [`Side`].
    isn: [u32; 2],
}

/// Addresses and numbers that distinguish the packets of a capture.
#[derive(Debug)]
pub(super) struct Names {
    /// The numbers of each connection, by slot.
    connections: Vec<Numbers>,
    /// The number of connections that each flow has opened.
    opened: Vec<u32>,
}

impl Names {
    pub(super) fn new(flows: usize) -> Self {
        Self { connections: Vec::new(), opened: vec![0; flows] }
    }

    /// Records that a connection of `flow` for `service` was stored in slot `id`.
    pub(super) fn open(&mut self, id: u32, flow: u32, service: Service) {
        let opened = &mut self.opened[flow as usize];
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
        match self.connections.get_mut(id as usize) {
            Some(place) => *place = numbers,
            // Slots are filled in order before any is reused.
            None => self.connections.push(numbers),
        }
    }
}

/// The foreign packets, by their slots.
#[derive(Debug)]
pub(super) struct ForeignBytes {
    /// The first bytes of each, and the number of the others.
    kept: Vec<(Vec<u8>, usize)>,
    /// Sets the ECN mark (CE) in a packet.
    pub(super) mark: fn(&mut [u8]),
}

impl Default for ForeignBytes {
    fn default() -> Self {
        Self { kept: Vec::new(), mark: |_| {} }
    }
}

impl ForeignBytes {
    /// Stores the first `most` bytes of a packet; the file does not contain more.
    pub(super) fn keep(&mut self, place: u32, bytes: &[u8], most: usize) {
        let place = place as usize;
        if place >= self.kept.len() {
            self.kept.resize_with(place + 1, Default::default);
        }
        let (head, more) = &mut self.kept[place];
        let first = &bytes[..bytes.len().min(most)];
        head.clear();
        head.extend(first);
        *more = bytes.len() - first.len();
    }

    /// Returns the first bytes of the packet in slot `place` with these `flags`, and the number of
    /// the other bytes.
    pub(super) fn packet(&self, place: u32, flags: Flags) -> (Vec<u8>, usize) {
        let (head, more) = &self.kept[place as usize];
        let mut head = head.clone();
        if flags.contains(Flags::CE) {
            (self.mark)(&mut head);
        }
        (head, *more)
    }
}

impl Names {
    /// Creates the headers of an IP packet that `side` sent.
    pub(super) fn build_packet(
        &self,
        all: Entities<'_>,
        out: &mut Vec<u8>,
        packet: &Packet,
        side: Side,
        id: u16,
    ) {
        let flow = all.flow_of(packet);
        let payload = packet.body.payload_bytes() as usize;
        let numbers = match packet.body.connection() {
            None => Numbers { client_port: DATAGRAM_PORT, server_port: DATAGRAM_PORT, isn: [0; 2] },
            Some(id) => self.connections[id as usize],
        };
        let station = (ip_of(flow.entry, flow.station, Side::Station), numbers.client_port);
        let server = (ip_of(flow.entry, flow.station, Side::Server), numbers.server_port);
        let (from, to) = match side {
            Side::Station => (station, server),
            Side::Server => (server, station),
        };
        let ecn = ecn_bits(packet.body.flags());
        let ends = Endpoints { from: from.0, to: to.0, from_port: from.1, to_port: to.1, id, ecn };
        let Some((place, segment)) = packet.body.segment() else {
            udp(out, &ends, payload);
            return;
        };
        let config = flow.tcp();
        let receive_window = flow.end(side).receive_window;
        let (mine, theirs) = match side {
            Side::Station => (numbers.isn[0], numbers.isn[1]),
            Side::Server => (numbers.isn[1], numbers.isn[0]),
        };
        let timestamps = all.connections[place as usize].timestamps(segment);
        let told = 320 + if timestamps.is_some() { 8 * TIMESTAMPS_BYTES } else { 0 };
        let header_bits = u64::from(config.packets.header_bits);
        let filling = (header_bits.saturating_sub(told) / 8) as usize;
        let (shift, window) = scaled_window(receive_window);
        let mut option_bytes = Vec::new();
        if let Some(Timestamps { value, echo }) = timestamps {
            timestamps_option(&mut option_bytes, value, echo);
        }
        let syn = segment.flags.contains(Flags::SYN);
        if syn {
            syn_options(&mut option_bytes, config.mss_option(), config.has_sack(), shift, filling);
        } else {
            let blocks = all.connections[place as usize].sack_blocks(segment);
            let blocks = blocks.iter().map(|block| on_wire(theirs, block));
            options(&mut option_bytes, blocks, filling);
        }
        let acknowledges = segment.flags.contains(Flags::ACK);
        let header = TcpHeader {
            seq: wrapped(mine, segment.seq),
            ack: if acknowledges { wrapped(theirs, segment.ack) } else { 0 },
            flags: segment.flags.bits(),
            // RFC 7323 section 2.2: the window of a SYN is not scaled.
            window: if syn { window_of_syn(receive_window) } else { window },
            options: &option_bytes,
        };
        tcp(out, &ends, &header, payload);
    }
}

/// Returns the MAC address of the node beyond the access point, on the path to a flow's server.
pub(super) fn server_address(kind: usize) -> Address {
    let [a, b, c, d] = (kind as u32).to_be_bytes();
    [2, 1, a, b, c, d]
}

/// Returns the IP address of an end. Stations are 10.0.0.1 and so on. The servers of each scenario
/// entry share one address of a test network (RFC 2544): 198.18.0.1 and so on.
pub(super) fn ip_of(kind: usize, station: NodeId, side: Side) -> Ip {
    match side {
        Side::Station => (10 << 24 | station).to_be_bytes(),
        Side::Server => (198 << 24 | 18 << 16 | (kind as u32 + 1)).to_be_bytes(),
    }
}

/// Returns the ECN bits of an IP header, ECT(0) and CE: RFC 3168 section 5.
fn ecn_bits(flags: Flags) -> u8 {
    if flags.contains(Flags::CE) {
        0b11
    } else if flags.contains(Flags::ECT) {
        0b10
    } else {
        0
    }
}

/// Returns the window scale (RFC 7323), and the scaled window of a header.
fn scaled_window(window: u64) -> (u8, u16) {
    let shift = (0..14).find(|&shift| window >> shift <= u64::from(u16::MAX)).unwrap_or(14);
    (shift, u16::try_from(window >> shift).unwrap_or(u16::MAX))
}

fn window_of_syn(window: u64) -> u16 {
    u16::try_from(window).unwrap_or(u16::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The packet in slot 1, of which a frame contains at most six bytes.
    #[test]
    fn a_marked_packet_is_marked_in_its_frame_alone() {
        let mut foreign = ForeignBytes { mark: |bytes| bytes[1] |= 3, ..ForeignBytes::default() };
        foreign.keep(1, &[0x45, 2, 0, 9, 5, 6, 7, 8, 9], 6);

        let marked = foreign.packet(1, Flags::ACK | Flags::ECT | Flags::CE);
        let unmarked = foreign.packet(1, Flags::ACK | Flags::ECT);
        assert_eq!(marked, (vec![0x45, 3, 0, 9, 5, 6], 3));
        assert_eq!(unmarked, (vec![0x45, 2, 0, 9, 5, 6], 3));
    }
}
