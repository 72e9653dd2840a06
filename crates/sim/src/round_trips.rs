//! The round trips of one sender: when each of its segments went, until they are acknowledged.
//!
//! One that was sent again says nothing, for nobody knows which of the two was acknowledged (Karn and
//! Partridge 1987). Knows numbers and times; what a sender does with its own estimate of the round
//! trip is its endpoint's business.

use std::collections::VecDeque;

use airtcp_kernel::Time;
use airtcp_tcp::Segment;

/// Segments that were sent and not acknowledged.
#[derive(Debug, Default)]
pub(crate) struct RoundTrips {
    /// The number behind the payload of each, in order, and when it was sent; [`Time::NEVER`] if more
    /// than once.
    sent: VecDeque<(u64, Time)>,
    /// The number behind the last payload that was ever sent.
    sent_up_to: u64,
}

impl RoundTrips {
    /// `segment` is sent.
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

    /// Bytes up to `end` are sent again, perhaps with others that go for the first time.
    #[cold]
    fn sent_again(&mut self, seq: u64, end: u64) {
        let first = self.sent.partition_point(|&(before, _)| before <= seq);
        let last = self.sent.partition_point(|&(before, _)| before < end) + 1;
        for one in self.sent.range_mut(first..last.min(self.sent.len())) {
            one.1 = Time::NEVER;
        }
        if end > self.sent_up_to {
            self.sent.push_back((end, Time::NEVER));
            self.sent_up_to = end;
        }
    }

    /// All before `ack` has been acknowledged: tells `sample` when each segment of it was sent that was
    /// sent once.
    #[inline]
    pub(crate) fn on_ack(&mut self, ack: u64, mut sample: impl FnMut(Time)) {
        while let Some(&(end, at)) = self.sent.front()
            && end <= ack
        {
            self.sent.pop_front();
            if at != Time::NEVER {
                sample(at);
            }
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
        let mut samples = Vec::new();
        trips.on_ack(ack, |at| samples.push(at.as_nanos()));
        samples
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
}
