//! The round trips of one sender: when each of its segments went, until they are acknowledged.
//!
//! The trip of a segment on the path ends when the sender is told that it has come: by the cumulative
//! acknowledgment, or by a SACK block before that, as long as a segment before it is missing (RFC 2018).
//! One that was sent again says nothing, for nobody knows which of the two was acknowledged (Karn and
//! Partridge 1987). Knows numbers and times; what a sender does with its own estimate of the round
//! trip is its endpoint's business.

use std::collections::BTreeMap;

use airtcp_kernel::{Time, Train};
use airtcp_tcp::{Block, Blocks, Segment};

/// The end of the round trip of a segment that was sent once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Trip {
    /// Acknowledged, and not SACKed before.
    Acknowledged,
    /// SACKed for the first time: the trip on the path is over, and the cumulative acknowledgment is
    /// to come.
    Sacked,
    /// Acknowledged after it was SACKed.
    Covered,
}

/// Segments that were sent and not acknowledged.
#[derive(Debug, Default)]
pub(crate) struct RoundTrips {
    /// The number behind the payload of each, in order, and when it was sent; [`Time::NEVER`] if more
    /// than once, or if it is among those that were SACKed.
    sent: Train<(u64, Time)>,
    /// The number behind the last payload that was ever sent.
    sent_up_to: u64,
    /// The record of SACK blocks, until all of them are acknowledged: apart, for it is rare.
    beyond: Option<Box<Beyond>>,
}

/// The record of what SACK blocks tell of beyond the cumulative acknowledgment.
#[derive(Debug, Default)]
struct Beyond {
    sacked: Blocks,
    /// Of the segments in `sacked` that were sent once: the number behind each, and when it was sent.
    covered: BTreeMap<u64, Time>,
}

impl RoundTrips {
    /// Notes that `segment` is sent.
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

    /// Notes that bytes up to `end` are sent again, perhaps with others that go for the first time.
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

    /// Takes an acknowledgment of all before `ack`, with SACKs of these blocks beyond it: tells `sample` how
    /// the round trip of each segment is over for which it is, and when that was sent.
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

    // By value, so that what `sample` knows need not lie in memory for all that come without SACK.
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
            // A block below the acknowledgment is a duplicate (RFC 2883); one of unsent bytes is not believed.
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

    /// The second of four is sent again; the others have gone once.
    #[test]
    fn a_segment_that_was_sent_twice_has_no_round_trip() {
        let mut trips = RoundTrips::default();
        for (seq, nanos) in [(1, 10), (101, 20), (201, 30), (301, 40)] {
            trips.on_sent(at(nanos), &segment(seq, 100));
        }
        trips.on_sent(at(50), &segment(101, 100));

        assert_eq!(samples(&mut trips, 401), [10, 30, 40]);
    }

    /// Parts of two segments and something new go in one: none of the three has a round trip.
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

    /// The first of five is missing: the path's trip of each other is over when a block tells of it for the
    /// first time, once; that of the ACK when all are covered. The first goes again and has none.
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

    /// Two blocks with a gap between them, which a block that joins them closes; a part of a segment, a
    /// duplicate, and what was never sent end no trip.
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

    /// After a timeout all is sent again, what is SACKed too: nobody knows what the next ACK is for.
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
