//! Assigns packets to TCP connections and unwraps their sequence numbers to 64 bits.

use std::collections::HashMap;

use airtcp_sim::live::{Purpose, Side};
use airtcp_tcp::{Block, Flags, Segment};

use crate::packet::Tcp;

/// The connections seen so far.
#[derive(Debug, Default)]
pub(crate) struct Connections {
    known: HashMap<Key, Connection>,
    /// The number of connections opened so far, by flow and the server's port.
    opened: HashMap<(u32, u16), u64>,
}

/// A flow, and the ports of its station and its server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Key {
    pub(crate) flow: u32,
    pub(crate) station_port: u16,
    pub(crate) server_port: u16,
}

#[derive(Debug)]
struct Connection {
    id: u32,
    /// The highest number used by each side.
    highest: [Option<u64>; 2],
    /// The initial sequence number of the SYN that opened it.
    opened: Option<u32>,
}

impl Connections {
    /// Returns how many connections of a flow to this server port have been opened so far.
    pub(crate) fn opened(&self, flow: u32, server_port: u16) -> u64 {
        self.opened.get(&(flow, server_port)).copied().unwrap_or(0)
    }

    /// Assigns a segment from `side` to its connection and unwraps its numbers and SACK blocks. For
    /// a new connection it calls `replace` with the connection and the one that it replaces;
    /// `replace` returns its number. A connection that was already open when the capture began
    /// counts as a dialogue.
    pub(crate) fn read(
        &mut self,
        key: Key,
        side: Side,
        tcp: &Tcp,
        purpose: Purpose,
        mut replace: impl FnMut(Option<u32>, Purpose) -> u32,
    ) -> (u32, Segment, Vec<Block>) {
        let opens = tcp.flags.contains(Flags::SYN) && !tcp.flags.contains(Flags::ACK);
        let known = self.known.get(&key);
        let is_known = known.is_some_and(|known| !opens || known.opened == Some(tcp.seq));
        if !is_known {
            let purpose = if opens { purpose } else { Purpose::Dialogue };
            let id = replace(known.map(|known| known.id), purpose);
            let opened = opens.then_some(tcp.seq);
            if opens {
                *self.opened.entry((key.flow, key.server_port)).or_default() += 1;
            }
            self.known.insert(key, Connection { id, highest: [None; 2], opened });
        }
        let connection = self.known.get_mut(&key).expect("it was put in");
        let seq = unwrapped(&mut connection.highest[side as usize], tcp.seq);
        let ack = if tcp.flags.contains(Flags::ACK) {
            unwrapped(&mut connection.highest[side.other() as usize], tcp.ack)
        } else {
            0
        };
        let segment = Segment { seq, ack, len: tcp.len, flags: tcp.flags };
        let mut highest = connection.highest[side.other() as usize];
        let mut edge = |number| unwrapped(&mut highest, number);
        let blocks = tcp.sacked.iter().flatten();
        let sacked: Vec<_> =
            blocks.map(|&(start, end)| Block { start: edge(start), end: edge(end) }).collect();
        let segment = if sacked.is_empty() { segment } else { segment.with_unknown_options() };
        (connection.id, segment, sacked)
    }
}

/// Returns the 64-bit number with these lower 32 bits that is closest to the highest one so far.
fn unwrapped(highest: &mut Option<u64>, number: u32) -> u64 {
    // Start above 2^32, to leave room for earlier numbers that arrive late.
    let before = *highest.get_or_insert((1 << 32) + u64::from(number));
    let ahead = number.wrapping_sub(before as u32).cast_signed();
    let value = before.wrapping_add_signed(i64::from(ahead));
    *highest = Some(before.max(value));
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: Key = Key { flow: 0, station_port: 40_000, server_port: 80 };

    fn segment(seq: u32, ack: u32, flags: Flags) -> Tcp {
        Tcp { source_port: 1, destination_port: 2, seq, ack, flags, len: 10, sacked: [None; 4] }
    }

    #[test]
    fn numbers_do_not_wrap() {
        let mut highest = None;
        let first = unwrapped(&mut highest, u32::MAX - 4);
        let next = unwrapped(&mut highest, 5);
        let late = unwrapped(&mut highest, u32::MAX - 2);

        assert_eq!(next - first, 10);
        assert_eq!(late - first, 2);
        assert_eq!(highest, Some(next));
    }

    /// A retransmitted SYN belongs to the same connection. A SYN with another number, after the
    /// ports were released, opens a new one.
    #[test]
    fn a_new_syn_is_a_new_connection() {
        let mut connections = Connections::default();
        let mut opened = Vec::new();
        let mut read = |side, tcp: Tcp| {
            connections.read(KEY, side, &tcp, Purpose::Transfer, |old, purpose| {
                opened.push((old, purpose));
                opened.len() as u32 - 1
            })
        };

        let (first, syn, _) = read(Side::Station, segment(100, 0, Flags::SYN));
        let (again, ..) = read(Side::Station, segment(100, 0, Flags::SYN));
        let (answer, ack, _) = read(Side::Server, segment(7, 101, Flags::SYN | Flags::ACK));
        let (other, ..) = read(Side::Station, segment(5000, 0, Flags::SYN));

        assert_eq!((first, again, answer, other), (0, 0, 0, 1));
        assert_eq!(ack.ack, syn.seq + 1);
        assert_eq!(opened, [(None, Purpose::Transfer), (Some(0), Purpose::Transfer)]);
    }

    #[test]
    fn what_nobody_saw_begin_is_no_transfer() {
        let mut purposes = Vec::new();
        let tcp = segment(100, 1, Flags::ACK);
        Connections::default().read(KEY, Side::Server, &tcp, Purpose::Stream, |_, purpose| {
            purposes.push(purpose);
            0
        });

        assert_eq!(purposes, [Purpose::Dialogue]);
    }
}
