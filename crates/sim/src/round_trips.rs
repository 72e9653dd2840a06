//! Round-trip times of one sender: when each of its segments was sent, until they are acknowledged.
//!
//! The round trip of a segment ends when the sender learns that it has arrived: by the cumulative
//! acknowledgment, or earlier by a SACK block while a previous segment is missing (RFC 2018). A
//! retransmitted segment gives no sample, because it is unknown which transmission was acknowledged
//! (Karn and Partridge 1987). The endpoint computes its own estimate of the round-trip time
//! elsewhere.

use std::collections::BTreeMap;

use airtcp_kernel::{Time, Train};
use airtcp_tcp::{Block, Blocks, Segment};

/// How the round trip of a segment that was sent once ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Trip {
    /// Acknowledged, and not SACKed before.
    Acknowledged,
    /// SACKed for the first time. The round trip on the path is over, and the cumulative
    /// acknowledgment is still to come.
    Sacked,
    /// Acknowledged after it was SACKed.
    Covered,
}

/// Segments that were sent and not acknowledged.
#[derive(Debug, Default)]
pub(crate) struct RoundTrips {
    /// For each segment in order: the sequence number after its payload, and when it was sent.
    /// [`Time::NEVER`] if it was sent more than once, or was SACKed.
    sent: Train<(u64, Time)>,
    /// The sequence number after the last payload ever sent.
    sent_up_to: u64,
    /// The SACK blocks beyond the cumulative acknowledgment. Boxed, because they are rare.
    beyond: Option<Box<Beyond>>,
}

/// What SACK blocks report beyond the cumulative acknowledgment.
#[derive(Debug, Default)]
struct Beyond {
    sacked: Blocks,
    /// For segments in `sacked` that were sent once: the sequence number after each, and when it
    /// was sent.
    covered: BTreeMap<u64, Time>,
}

impl RoundTrips {
    /// Records that `segment` is sent.
    #[inline]
    pub(crate) fn on_sent(&mut self, now: Time, segment: &Segment) {
        if segment.len == 0 {
            return;
        }
        let end = segment.seq + u64::from(segment.len);
        if segment.seq >= self.sent_up_to {
            self.sent.push_back((end, now));
            self.sent_up_to = end;
        } else {
            self.sent_again(segment.seq, end);
        }
    }

    /// Records that bytes up to `end` are retransmitted, perhaps together with new ones.
    #[cold]
    fn sent_again(&mut self, seq: u64, end: u64) {
        let first = self.sent.count_while(|&(before, _)| before <= seq);
        let last = self.sent.count_while(|&(before, _)| before < end) + 1;
        for place in first..last.min(self.sent.len()) {
            let one = &mut self.sent[place];
            one.1 = Time::NEVER;
            if let Some(beyond) = &mut self.beyond {
                beyond.covered.remove(&one.0);
            }
        }
        if end > self.sent_up_to {
            self.sent.push_back((end, Time::NEVER));
            self.sent_up_to = end;
        }
    }

    /// Processes a cumulative ACK of `ack` with SACK blocks beyond it. Calls `sample` for each
    /// segment whose round trip ends, with the time at which it was sent.
    #[inline]
    pub(crate) fn on_ack(
        &mut self,
        ack: u64,
        blocks: &[Block],
        mut sample: impl FnMut(Trip, Time),
    ) {
        while let Some(&(end, at)) = self.sent.front()
            && end <= ack
        {
            self.sent.remove_front();
            if at != Time::NEVER {
                sample(Trip::Acknowledged, at);
            }
        }
        if !blocks.is_empty() || self.beyond.is_some() {
            self.on_sack(ack, blocks, sample);
        }
    }

    // Passed by value, so that the captures of `sample` need not be in memory for ACKs without
    // SACK.
    #[cold]
    #[inline(never)]
    fn on_sack(&mut self, ack: u64, blocks: &[Block], mut sample: impl FnMut(Trip, Time)) {
        let Self { sent, sent_up_to, beyond } = self;
        let told = beyond.get_or_insert_default();
        while let Some(first) = told.covered.first_entry()
            && *first.key() <= ack
        {
            sample(Trip::Covered, first.remove());
        }
        while told.sacked.pop_through(ack).is_some() {}
        for &block in blocks {
            // A block below the acknowledgment is a duplicate (RFC 2883); a block of unsent bytes
            // is ignored.
            if block.start <= ack || block.end <= block.start || block.end > *sent_up_to {
                continue;
            }
            for gap in told.sacked.gaps(block) {
                let first = sent.count_while(|&(end, _)| end <= gap.start);
                let last = sent.count_while(|&(end, _)| end <= gap.end);
                let mut begin = first.checked_sub(1).map_or(ack, |before| sent[before].0);
                for place in first..last {
                    let one = &mut sent[place];
                    if begin >= gap.start && one.1 != Time::NEVER {
                        let at = std::mem::replace(&mut one.1, Time::NEVER);
                        told.covered.insert(one.0, at);
                        sample(Trip::Sacked, at);
                    }
                    begin = one.0;
                }
            }
            told.sacked.insert(block);
        }
        if told.sacked.is_empty() && told.covered.is_empty() {
            *beyond = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use airtcp_tcp::Flags;

    use super::*;

    fn at(nanos: u64) -> Time {
        Time::from_nanos(nanos)
    }

    fn segment(seq: u64, len: u32) -> Segment {
        Segment { seq, ack: 0, len, flags: Flags::ACK }
    }

    fn samples(trips: &mut RoundTrips, ack: u64) -> Vec<u64> {
        let told = told(trips, ack, &[]);
        assert!(told.iter().all(|&(how, _)| how == Trip::Acknowledged));
        told.into_iter().map(|(_, at)| at).collect()
    }

    fn told(trips: &mut RoundTrips, ack: u64, blocks: &[(u64, u64)]) -> Vec<(Trip, u64)> {
        let blocks: Vec<_> = blocks.iter().map(|&(start, end)| Block { start, end }).collect();
        let mut told = Vec::new();
        trips.on_ack(ack, &blocks, |how, at| told.push((how, at.as_nanos())));
        told
    }

    fn five() -> RoundTrips {
        let mut trips = RoundTrips::default();
        for n in 0..5 {
            trips.on_sent(at(10 * (n + 1)), &segment(1 + 100 * n, 100));
        }
        trips
    }

    #[test]
    fn an_ack_covers_several_segments() {
        let mut trips = RoundTrips::default();
        for (seq, nanos) in [(1, 10), (101, 20), (201, 30)] {
            trips.on_sent(at(nanos), &segment(seq, 100));
        }
        trips.on_sent(at(40), &segment(301, 0));

        assert!(samples(&mut trips, 100).is_empty());
        assert_eq!(samples(&mut trips, 201), [10, 20]);
        assert!(samples(&mut trips, 201).is_empty());
        assert_eq!(samples(&mut trips, 301), [30]);
    }

    /// The second of four segments is retransmitted; the others were sent once.
    #[test]
    fn a_segment_that_was_sent_twice_has_no_round_trip() {
        let mut trips = RoundTrips::default();
        for (seq, nanos) in [(1, 10), (101, 20), (201, 30), (301, 40)] {
            trips.on_sent(at(nanos), &segment(seq, 100));
        }
        trips.on_sent(at(50), &segment(101, 100));

        assert_eq!(samples(&mut trips, 401), [10, 30, 40]);
    }

    /// Parts of two segments and new data are sent in one segment: none of the three gives a
    /// sample.
    #[test]
    fn what_is_cut_anew_has_no_round_trip() {
        let mut trips = RoundTrips::default();
        for (seq, nanos) in [(1, 10), (101, 20), (201, 30)] {
            trips.on_sent(at(nanos), &segment(seq, 100));
        }
        trips.on_sent(at(50), &segment(151, 200));
        trips.on_sent(at(60), &segment(351, 100));

        assert_eq!(samples(&mut trips, 451), [10, 60]);
    }

    /// The first of five segments is missing. The round trip of each other one on the path ends
    /// when a block reports it for the first time; that of the ACK when all are covered. The first
    /// is retransmitted and gives no sample.
    #[test]
    fn a_block_ends_the_trip_on_the_path() {
        let mut trips = five();

        assert_eq!(told(&mut trips, 1, &[(101, 201)]), [(Trip::Sacked, 20)]);
        let two = [(Trip::Sacked, 30), (Trip::Sacked, 40)];
        assert_eq!(told(&mut trips, 1, &[(101, 401)]), two);
        assert!(told(&mut trips, 1, &[(101, 401)]).is_empty());
        trips.on_sent(at(60), &segment(1, 100));
        let covered = [20, 30, 40].map(|at| (Trip::Covered, at));
        assert_eq!(told(&mut trips, 401, &[]), covered);
        assert_eq!(samples(&mut trips, 501), [50]);
        assert!(trips.beyond.is_none() && trips.sent.is_empty());
    }

    /// Two blocks have a gap between them, which a joining block closes. A part of a segment, a
    /// duplicate, and unsent bytes end no round trip.
    #[test]
    fn what_a_block_does_not_hold_whole_is_under_way() {
        let mut trips = five();

        let apart = [(301, 401), (101, 201)];
        assert_eq!(told(&mut trips, 1, &apart), [(Trip::Sacked, 40), (Trip::Sacked, 20)]);
        assert_eq!(told(&mut trips, 1, &[(101, 401)]), [(Trip::Sacked, 30)]);
        assert!(told(&mut trips, 1, &[(401, 450)]).is_empty());
        assert!(told(&mut trips, 1, &[(1, 1), (501, 601)]).is_empty());
        assert_eq!(
            told(&mut trips, 501, &[(1, 101)]),
            [(Trip::Acknowledged, 10), (Trip::Acknowledged, 50)]
                .into_iter()
                .chain([20, 30, 40].map(|at| (Trip::Covered, at)))
                .collect::<Vec<_>>()
        );
    }

    /// After a timeout everything is retransmitted, including SACKed segments: it is unknown what
    /// the next ACK is for.
    #[test]
    fn what_was_sacked_and_goes_again_is_not_covered() {
        let mut trips = five();
        told(&mut trips, 1, &[(101, 301)]);

        trips.on_sent(at(90), &segment(1, 100));
        trips.on_sent(at(91), &segment(101, 100));

        let covered = [(Trip::Acknowledged, 40), (Trip::Acknowledged, 50), (Trip::Covered, 30)];
        assert_eq!(told(&mut trips, 501, &[]), covered);
    }
}
