//! The segments in flight: when each was sent, and its state. Used by loss recovery by time; see
//! [`sender`](crate::sender).

mod losses;

use std::collections::VecDeque;

use airtcp_kernel::{Duration, Time, Train};

use crate::blocks::Blocks;
use crate::rate::Record;
use crate::{Block, Segments, Timers};

/// A segment that was sent and is not cumulatively acknowledged.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SentSegment {
    pub(crate) start: u64,
    /// The sequence number after the last one.
    pub(crate) end: u64,
    /// When it was last sent.
    pub(crate) sent: Time,
    pub(crate) fate: Fate,
    /// Whether it was sent more than once, so that an ACK does not reveal which copy arrived.
    pub(crate) repeated: bool,
}

impl SentSegment {
    /// Whether it was sent once and is neither SACKed nor lost.
    #[inline]
    fn is_regular(&self) -> bool {
        self.fate == Fate::UnderWay && !self.repeated
    }

    fn block(&self) -> Block {
        Block { start: self.start, end: self.end }
    }
}

/// The state of a segment, as far as it is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// In flight, for the first time or again.
    UnderWay,
    /// SACKed by the other end.
    Sacked,
    /// Lost and not yet retransmitted.
    Lost,
}

/// The segments from SND.UNA to the highest sequence number sent, in order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sent {
    segments: Train<SentSegment>,
    /// The delivery state recorded when each segment was sent; empty unless rates are sampled.
    records: VecDeque<Record>,
    /// If there are records: segments lost since `take_lost` was last called.
    newly_lost: Vec<(Block, Record)>,
    /// Whether the rules of ns-3 select the record that counts.
    is_ns3: bool,
    pub(crate) sacked_octets: u64,
    pub(crate) lost_octets: u64,
    pub(crate) sacked_segments: usize,
    /// The number of segments that were sent twice, SACKed or lost.
    irregular: usize,
    /// A sequence number before which no segment is regular.
    regular_from: u64,
    /// A sequence number before which no segment is lost.
    lost_from: u64,
    /// The SACKed sequence numbers.
    sacked: Blocks,
    /// Retransmitted segments in order of time, as (time, end). Some have arrived since or were
    /// sent again.
    again: VecDeque<(Time, u64)>,
    /// The sequence number after the highest one ever acknowledged or SACKed.
    highest_delivered: u64,
    /// The largest reordering extent in octets.
    reordering: u64,
}

/// What an ACK reveals.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct News {
    /// Newly acknowledged or SACKed octets.
    pub(crate) delivered: u64,
    /// Newly SACKed octets.
    pub(crate) newly_sacked: u64,
    /// The newly delivered segment that was sent last: RFC 8985 section 6.2, step 2. Ignores
    /// segments retransmitted so recently that the ACK must be for another copy.
    pub(crate) latest: Option<Latest>,
    /// The RTT sample that Linux uses, with the end of its segment: the last one by sequence
    /// number, first SACKed, then cumulatively acknowledged.
    last: Option<(u64, Duration)>,
    /// The RTT of the first acknowledged segment that was sent once.
    pub(crate) rtt: Option<Duration>,
    /// The RTT of the last one.
    pub(crate) newest_rtt: Option<Duration>,
    /// The record of the newly delivered segment that was sent last.
    pub(crate) record: Option<Record>,
    /// Whether a segment arrived after one that was sent later: RFC 8985 section 6.2, step 3.
    pub(crate) reordered: bool,
    /// The sequence number after the highest one delivered before.
    delivered_before: u64,
}

impl News {
    /// Records an RTT sample.
    fn time(&mut self, rtt: Duration) {
        self.rtt.get_or_insert(rtt);
        self.newest_rtt = Some(rtt);
    }

    /// Returns the new RACK.rtt: the round trip of the segment sent last, RFC 8985 section 6.2,
    /// step 2, or the sample that Linux uses.
    pub(crate) fn rack_rtt(&self, timers: Timers) -> Option<Duration> {
        match timers {
            Timers::Exact => self.latest.map(|latest| latest.rtt),
            Timers::Linux => self.last.map(|(_, rtt)| rtt),
        }
    }
}

impl News {
    fn note(&mut self, record: Option<&Record>, is_ns3: bool) {
        if let Some(record) = record
            && self.record.is_none_or(|before| record.is_newer(&before, is_ns3))
        {
            self.record = Some(*record);
        }
    }
}

/// Of the segments known to have arrived, the one sent last.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Latest {
    pub(crate) sent: Time,
    pub(crate) end: u64,
    /// Its RTT, or RACK.rtt: that of segments that have arrived since.
    pub(crate) rtt: Duration,
}

impl Latest {
    /// RACK_sent_after() of RFC 8985 section 6.2.
    pub(crate) fn is_after(&self, sent: Time, end: u64) -> bool {
        (self.sent, self.end) > (sent, end)
    }
}

impl Sent {
    pub(crate) fn new(is_ns3: bool) -> Self {
        Self { is_ns3, ..Self::default() }
    }

    /// Returns when the oldest segment without a cumulative ACK was last sent.
    pub(crate) fn oldest(&self) -> Option<Time> {
        self.segments.front().map(|segment| segment.sent)
    }

    /// Adds a segment that is sent for the first time.
    #[inline]
    pub(crate) fn push(&mut self, now: Time, start: u64, end: u64) {
        let fate = Fate::UnderWay;
        self.segments.push_back(SentSegment { start, end, sent: now, fate, repeated: false });
    }

    /// Stores the `record` of the segment that was just sent and begins at `start`.
    pub(crate) fn record(&mut self, start: u64, record: Record) {
        let index = self.segments.count_while(|segment| segment.start < start);
        if index < self.records.len() {
            self.records[index] = record;
        } else {
            self.records.push_back(record);
        }
    }

    /// Whether nothing is SACKed or lost and nothing was sent twice.
    #[inline]
    pub(crate) fn is_in_order(&self) -> bool {
        self.irregular == 0
    }

    /// Processes a cumulative ACK of everything before `una` if everything is in order and there
    /// are no records. Returns the send time and the end of the last segment that is acknowledged
    /// completely.
    #[inline]
    pub(crate) fn pass(&mut self, una: u64) -> Option<(Time, u64)> {
        let mut last = None;
        while let Some(&SentSegment { sent, start, end, .. }) = self.segments.front() {
            if end > una {
                if start < una {
                    self.segments[0].start = una;
                }
                break;
            }
            last = Some((sent, end));
            self.segments.remove_front();
        }
        if let Some((_, end)) = last {
            self.highest_delivered = end;
        }
        last
    }

    /// Processes a cumulative ACK of everything before `una`, with SACK blocks. `min_rtt` is the
    /// minimum RTT so far, below which nothing can arrive.
    #[inline]
    pub(crate) fn on_ack(
        &mut self,
        now: Time,
        una: u64,
        blocks: &[Block],
        min_rtt: Duration,
    ) -> News {
        let mut news = News { delivered_before: self.highest_delivered, ..News::default() };
        for block in blocks {
            self.sack(now, una, *block, min_rtt, &mut news);
        }
        let last_sacked = news.last.take();
        while let Some(&segment) = self.segments.front() {
            if segment.start >= una {
                break;
            }
            let end = segment.end.min(una);
            let octets = end - segment.start;
            self.segments[0].start = end;
            let mut record = None;
            if segment.end <= una {
                self.segments.remove_front();
                self.irregular -= usize::from(!segment.is_regular());
                record = self.records.pop_front();
            }
            match segment.fate {
                Fate::Sacked => {
                    self.sacked_octets -= octets;
                    self.sacked_segments -= usize::from(segment.end <= una);
                    continue;
                }
                Fate::Lost => self.lost_octets -= octets,
                Fate::UnderWay => {}
            }
            news.delivered += octets;
            news.note(record.as_ref(), self.is_ns3);
            if segment.end <= una {
                self.arrived(now, &segment, min_rtt, &mut news);
                if !segment.repeated {
                    news.time(now.saturating_since(segment.sent));
                }
            }
        }
        self.sacked.forget_before(una);
        if self.irregular == 0 {
            self.again.clear();
        }
        news.last = news.last.or(last_sacked);
        news
    }

    /// Processes a segment that has arrived: RFC 8985 section 6.2, steps 2 and 3.
    #[inline]
    fn arrived(&mut self, now: Time, segment: &SentSegment, min_rtt: Duration, news: &mut News) {
        let rtt = now.saturating_since(segment.sent);
        self.highest_delivered = self.highest_delivered.max(segment.end);
        if segment.end <= news.delivered_before && !segment.repeated {
            news.reordered = true;
            self.reordering = self.reordering.max(news.delivered_before - segment.start);
        }
        if segment.repeated && rtt < min_rtt {
            return;
        }
        let is_later = news.latest.is_none_or(|latest| !latest.is_after(segment.sent, segment.end));
        if is_later {
            news.latest = Some(Latest { sent: segment.sent, end: segment.end, rtt });
        }
        if news.last.is_none_or(|(end, _)| segment.end > end) {
            news.last = Some((segment.end, rtt));
        }
    }

    /// Returns the segments lost since the last call; empty without records.
    pub(crate) fn take_lost(&mut self) -> Vec<(Block, Record)> {
        std::mem::take(&mut self.newly_lost)
    }

    /// Estimates the octets in the network.
    #[inline]
    pub(crate) fn pipe(&self, una: u64, max: u64) -> u64 {
        max - una - self.sacked_octets - self.lost_octets
    }

    pub(crate) fn has_lost(&self) -> bool {
        self.lost_octets > 0
    }

    /// Counts the segments by state.
    pub(crate) fn count(&self) -> Segments {
        let of = |fate| self.segments.iter().filter(move |segment| segment.fate == fate);
        let retransmitted = of(Fate::UnderWay).filter(|segment| segment.repeated).count();
        Segments {
            unacknowledged: self.segments.len(),
            sacked: self.sacked_segments,
            lost: of(Fate::Lost).count() + retransmitted,
            retransmitted,
            reordering: self.reordering,
        }
    }

    /// Returns the number of segments that are in flight, SACKed or lost.
    pub(crate) fn len(&self) -> usize {
        self.segments.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn at(millis: u64) -> Time {
        Time::from_nanos(millis * 1_000_000)
    }

    /// RFC 8985 section 6.2, step 2, orders segments by send time; Linux orders them by sequence
    /// number, SACKed ones first.
    #[test]
    fn the_round_trip_of_an_acknowledgment_of_many_is_that_of_the_last_sent_or_in_linux_of_the_last_by_number()
     {
        let many = || {
            let mut sent = Sent::new(false);
            for start in [1, 1001, 2001] {
                sent.push(at(0), start, start + 1000);
            }
            sent.lose(Block { start: 1, end: 1001 });
            sent.resend_lost(at(100));
            sent
        };
        let rtts = |news: &News| {
            [Timers::Exact, Timers::Linux]
                .map(|timers| news.rack_rtt(timers).expect("something has arrived"))
        };
        let (short, long) = (Duration::from_millis(120), Duration::from_millis(220));

        let news = many().on_ack(at(220), 3001, &[], Duration::ZERO);
        assert_eq!(rtts(&news), [short, long]);
        let sacked = [Block { start: 2001, end: 3001 }];
        let news = many().on_ack(at(220), 1001, &sacked, Duration::ZERO);
        assert_eq!(rtts(&news), [short, short]);
        let news = many().on_ack(at(220), 1, &sacked, Duration::ZERO);
        assert_eq!(rtts(&news), [long, long]);
        // A retransmission that is acknowledged faster than the minimum RTT gives no sample.
        let news = many().on_ack(at(220), 1001, &sacked, Duration::from_millis(121));
        assert_eq!(rtts(&news), [long, long]);
    }
}
