//! A foreign connection as seen in the network between its ends: what was received in order, what
//! was retransmitted, and round-trip times.
//!
//! Windows, estimates and timers of its ends are not visible.

use std::collections::BTreeMap;

use airtcp_kernel::Time;
use airtcp_tcp::{Block, Flags, Segment};

use crate::connection::{Side, TcpCounts};
use crate::round_trips::{RoundTrips, Trip};

/// The purpose of a foreign connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// Payload in the direction of its flow counts as goodput, until the end of the run.
    Stream,
    /// As [`Self::Stream`]; it is one transfer from its first segment to its last byte.
    Transfer,
    /// Payload in the direction of its flow counts as goodput. The caller says to which transfer it
    /// belongs.
    Part,
    /// Messages that accompany transfers: they use airtime, and do not count as goodput.
    Dialogue,
}

/// A connection, seen from between its ends.
#[derive(Debug)]
pub(crate) struct Tap {
    pub(crate) flow: u32,
    pub(crate) purpose: Purpose,
    /// When its first segment was sent.
    pub(crate) began: Time,
    /// The end that sends the flow's payload.
    sender: Side,
    ends: [EndSeen; 2],
    round_trips: RoundTrips,
    /// When the last in-order payload was received.
    pub(crate) last_came: Time,
    /// The bytes received in order.
    pub(crate) delivered: u64,
    is_complete: bool,
    pub(crate) counts: TcpCounts,
}

/// The segments that one end has sent.
#[derive(Debug, Default)]
struct EndSeen {
    /// The sequence number after the last sent byte.
    up_to: u64,
    /// The next sequence number that the other end expects, once it is known.
    next: Option<u64>,
    /// Payload received beyond a gap: start and end of each range.
    beyond: BTreeMap<u64, u64>,
    /// The sequence number of its FIN.
    fin: Option<u64>,
}

impl EndSeen {
    /// Starts at `first`: everything before counts as received.
    fn begin(&mut self, first: u64) {
        self.next.get_or_insert(first);
    }

    /// Processes payload, and returns how many bytes are newly in order.
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
    /// Newly in-order bytes in the flow's direction.
    pub(crate) delivered: u64,
    /// Whether the last byte was received, so that nothing follows.
    pub(crate) completes: bool,
}

impl Tap {
    /// Creates a connection on which nothing was seen yet.
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

    /// Records that `side` sent a segment.
    pub(crate) fn on_sent(&mut self, now: Time, side: Side, segment: &Segment) {
        let sent = &mut self.ends[side as usize];
        self.counts.segments += 1;
        // SYN and FIN also take a sequence number.
        let end = segment.end() + u64::from(segment.flags.contains(Flags::SYN));
        let is_again = segment.seq < sent.up_to && segment.seq < end;
        self.counts.retransmissions += u64::from(is_again);
        sent.up_to = sent.up_to.max(end);
        if side == self.sender {
            self.round_trips.on_sent(now, segment);
        }
    }

    /// Records that a segment of the other end, with these SACK blocks, reached `side`. Calls
    /// `sample` for each segment whose round trip ends, with the time at which it was sent.
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

    /// The second of three segments is lost and retransmitted. Data beyond the gap count when it is
    /// closed, the retransmitted segment gives no round-trip sample, and the FIN ends the transfer.
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
