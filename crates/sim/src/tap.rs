//! A connection of others as it can be seen from the network between its two ends: what has
//! come in order, what was sent again, how long round trips took.
//!
//! Knows numbers and times of segments. Does not know what its ends think: windows, estimates and
//! timers are theirs.

use std::collections::BTreeMap;

use airtcp_kernel::Time;
use airtcp_tcp::{Block, Flags, Segment};

use crate::connection::{Side, TcpCounts};
use crate::round_trips::{RoundTrips, Trip};

/// The purpose of a foreign connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// Payload that goes the way of its flow counts as goodput, up to the end of the run.
    Stream,
    /// As [`Self::Stream`], and it is one transfer from its first segment to its last byte.
    Transfer,
    /// Payload that goes the way of its flow counts as goodput; to which transfer it belongs is said by
    /// whoever brings the packets.
    Part,
    /// Messages around transfers: they count on the air, and not as goodput.
    Dialogue,
}

/// One connection, seen from between its ends.
#[derive(Debug)]
pub(crate) struct Tap {
    pub(crate) flow: u32,
    pub(crate) purpose: Purpose,
    /// The time at which its first segment was sent.
    pub(crate) began: Time,
    /// Which end sends what its flow is there for.
    sender: Side,
    ends: [EndSeen; 2],
    round_trips: RoundTrips,
    /// The time at which payload came last that was next in order.
    pub(crate) last_came: Time,
    /// The bytes of it.
    pub(crate) delivered: u64,
    is_complete: bool,
    pub(crate) counts: TcpCounts,
}

/// The segments that one end has sent.
#[derive(Debug, Default)]
struct EndSeen {
    /// The number behind the last that was sent.
    up_to: u64,
    /// The next number that the other end waits for, once it is known.
    next: Option<u64>,
    /// Payload that came beyond a gap: from each number to another.
    beyond: BTreeMap<u64, u64>,
    /// The number of its FIN.
    fin: Option<u64>,
}

impl EndSeen {
    /// Begins: all before `first` counts as come.
    fn begin(&mut self, first: u64) {
        self.next.get_or_insert(first);
    }

    /// Takes payload, and returns how many bytes are in order now that were not.
    fn came(&mut self, seq: u64, end: u64) -> u64 {
        let before = *self.next.get_or_insert(seq);
        if end > before {
            let known = self.beyond.entry(seq).or_insert(end);
            *known = end.max(*known);
        }
        let mut next = before;
        while let Some(first) = self.beyond.first_entry()
            && *first.key() <= next
        {
            next = next.max(first.remove());
        }
        self.next = Some(next);
        next - before
    }
}

/// The effect of the arrival of a segment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Came {
    /// Bytes of the flow's direction that are in order now.
    pub(crate) delivered: u64,
    /// A flag: the last of them has come, and nothing will come any more.
    pub(crate) completes: bool,
}

impl Tap {
    /// Makes a connection of which nothing was seen yet.
    pub(crate) fn new(flow: u32, purpose: Purpose, began: Time, sender: Side) -> Self {
        Self {
            flow,
            purpose,
            began,
            sender,
            ends: Default::default(),
            round_trips: RoundTrips::default(),
            last_came: began,
            delivered: 0,
            is_complete: false,
            counts: TcpCounts::default(),
        }
    }

    /// Learns that `side` has sent a segment.
    pub(crate) fn on_sent(&mut self, now: Time, side: Side, segment: &Segment) {
        let sent = &mut self.ends[side as usize];
        self.counts.segments += 1;
        // SYN and FIN take a number, too.
        let end = segment.end() + u64::from(segment.flags.contains(Flags::SYN));
        let is_again = segment.seq < sent.up_to && segment.seq < end;
        self.counts.retransmissions += u64::from(is_again);
        sent.up_to = sent.up_to.max(end);
        if side == self.sender {
            self.round_trips.on_sent(now, segment);
        }
    }

    /// Learns that a segment that the other end had sent, with these SACK blocks, has come to `side`. Tells `sample`
    /// how the round trip of each segment is over for which it is, and when that was sent.
    pub(crate) fn on_arrival(
        &mut self,
        now: Time,
        side: Side,
        segment: &Segment,
        sacked: &[Block],
        sample: impl FnMut(Trip, Time),
    ) -> Came {
        if side == self.sender && segment.flags.contains(Flags::ACK) {
            self.round_trips.on_ack(segment.ack, sacked, sample);
        }
        let sent = &mut self.ends[side.other() as usize];
        let mut seq = segment.seq;
        if segment.flags.contains(Flags::SYN) {
            seq += 1;
            sent.begin(seq);
        }
        let end = seq + u64::from(segment.len);
        let fresh = if segment.len > 0 { sent.came(seq, end) } else { 0 };
        if segment.flags.contains(Flags::FIN) {
            sent.fin = Some(end);
        }
        if side == self.sender {
            return Came::default();
        }
        if fresh > 0 {
            self.last_came = now;
            self.delivered += fresh;
        }
        let sent = &self.ends[side.other() as usize];
        let is_complete = sent.fin.is_some() && sent.fin == sent.next;
        let completes = is_complete && !self.is_complete;
        self.is_complete |= is_complete;
        Came { delivered: fresh, completes }
    }
}

#[cfg(test)]
mod tests {
    use airtcp_kernel::Duration;

    use super::*;

    fn at(millis: u64) -> Time {
        Time::ZERO + Duration::from_micros(1000 * millis)
    }

    fn segment(seq: u64, len: u32, flags: Flags) -> Segment {
        Segment { seq, ack: 0, len, flags }
    }

    fn ack(ack: u64) -> Segment {
        Segment { seq: 1, ack, len: 0, flags: Flags::ACK }
    }

    /// The second of three segments is lost and sent again: what came beyond the gap counts when it is
    /// closed, the round trip of what went twice says nothing, and the FIN ends the transfer.
    #[test]
    fn a_lost_segment_holds_back_what_is_behind_it() {
        let mut tap = Tap::new(0, Purpose::Transfer, at(0), Side::Server);
        let mut round_trips = Vec::new();
        let data = |seq| segment(seq, 1000, Flags::ACK);
        let last = segment(2001, 1000, Flags::ACK | Flags::FIN);
        let mut came = |tap: &mut Tap, millis, side, segment: &Segment| {
            let blocks = if millis == 8 { &[Block { start: 2001, end: 3001 }][..] } else { &[] };
            tap.on_arrival(at(millis), side, segment, blocks, |trip, sent| {
                round_trips.push((trip, at(millis) - sent));
            })
        };

        tap.on_sent(at(0), Side::Station, &segment(0, 0, Flags::SYN));
        tap.on_sent(at(1), Side::Server, &segment(0, 0, Flags::SYN | Flags::ACK));
        came(&mut tap, 2, Side::Station, &segment(0, 0, Flags::SYN | Flags::ACK));
        for (millis, one) in [(3, data(1)), (4, data(1001)), (5, last)] {
            tap.on_sent(at(millis), Side::Server, &one);
        }
        let first = came(&mut tap, 6, Side::Station, &data(1));
        let behind = came(&mut tap, 7, Side::Station, &last);
        came(&mut tap, 8, Side::Server, &ack(1001));
        tap.on_sent(at(9), Side::Server, &data(1001));
        let all = came(&mut tap, 10, Side::Station, &data(1001));
        let again = came(&mut tap, 11, Side::Station, &data(1001));
        came(&mut tap, 12, Side::Server, &ack(3002));

        assert_eq!(first, Came { delivered: 1000, completes: false });
        assert_eq!(behind, Came::default());
        assert_eq!(all, Came { delivered: 2000, completes: true });
        assert_eq!(again, Came::default());
        assert_eq!((tap.last_came, tap.delivered), (at(10), 3000));
        let acknowledged = (Trip::Acknowledged, at(8) - at(3));
        let sacked = (Trip::Sacked, at(8) - at(5));
        assert_eq!(round_trips, [acknowledged, sacked, (Trip::Covered, at(12) - at(5))]);
        assert_eq!((tap.counts.segments, tap.counts.retransmissions), (6, 1));
    }
}
