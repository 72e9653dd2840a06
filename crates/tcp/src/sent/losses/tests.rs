//! Compares the segments in flight with a plain list that is searched from end to end for each
//! query.

use proptest::prelude::*;

use super::super::{Fate, Latest, Sent, SentSegment};
use crate::Block;
use airtcp_kernel::{Duration, Time};

const LEN: u64 = 100;

fn at(micros: u64) -> Time {
    Time::from_nanos(micros * 1000)
}

/// The plain list: RFC 8985 section 6.2, implemented literally.
#[derive(Default)]
struct Plain(Vec<SentSegment>);

impl Plain {
    fn ack(&mut self, una: u64, blocks: &[Block]) {
        for block in blocks {
            for segment in &mut self.0 {
                if block.start <= segment.start && segment.end <= block.end {
                    segment.fate = Fate::Sacked;
                }
            }
        }
        self.0.retain(|segment| segment.end > una);
        if let Some(first) = self.0.first_mut() {
            first.start = first.start.max(una);
        }
    }

    fn detect(&mut self, now: Time, latest: &Latest, wait: Duration) -> (u64, Option<Time>) {
        let (mut lost, mut next) = (0, None);
        for segment in &mut self.0 {
            if segment.fate == Fate::UnderWay && latest.is_after(segment.sent, segment.end) {
                if segment.sent + latest.rtt + wait <= now {
                    segment.fate = Fate::Lost;
                    lost += segment.end - segment.start;
                } else {
                    next = next.max(Some(segment.sent + latest.rtt + wait));
                }
            }
        }
        (lost, next)
    }

    fn resend(&mut self, now: Time, is_last: bool) -> Option<Block> {
        let mut lost = self.0.iter_mut().filter(|segment| segment.fate == Fate::Lost);
        let segment = match is_last {
            false => lost.next()?,
            true => self.0.last_mut().filter(|last| last.fate != Fate::Sacked)?,
        };
        *segment = SentSegment { sent: now, fate: Fate::UnderWay, repeated: true, ..*segment };
        Some(segment.block())
    }

    fn octets(&self, fate: Fate) -> u64 {
        let of = self.0.iter().filter(|segment| segment.fate == fate);
        of.map(|segment| segment.end - segment.start).sum()
    }
}

/// An event: its kind, and numbers that select the segments.
type Event = (u8, u64, u64, u64);

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, ..ProptestConfig::default() })]

    /// Segments are sent, acknowledged, SACKed (in blocks that may begin and end inside segments),
    /// lost and retransmitted; some of this at the same instant.
    #[test]
    fn what_is_lost_does_not_depend_on_how_it_is_looked_for(
        events in prop::collection::vec((0..9_u8, 0..40_u64, 0..12_u64, 0..30_u64), 1..120)
    ) {
        let (mut sent, mut plain) = (Sent::new(false), Plain::default());
        let (mut now, mut una, mut max) = (at(0), 1, 1);
        let mut latest: Option<Latest> = None;
        for (kind, which, length, micros) in events as Vec<Event> {
            now += Duration::from_micros(micros / 3 * 10);
            match kind {
                0..3 => {
                    for _ in 0..=length / 2 {
                        sent.push(now, max, max + LEN);
                        let fate = Fate::UnderWay;
                        let (start, end) = (max, max + LEN);
                        plain.0.push(SentSegment { start, end, sent: now, fate, repeated: false });
                        max += LEN;
                    }
                }
                3..6 => {
                    // A fifth of the blocks do not begin or end at segment boundaries.
                    let odd = if micros % 5 == 0 { 37 } else { 0 };
                    let start = una + which % 20 * LEN + odd;
                    let block = Block { start, end: (start + (1 + length) * LEN + odd).min(max) };
                    let step = if kind == 3 { length % 4 * LEN + odd } else { 0 };
                    una = (una + step).min(max);
                    let blocks: Vec<Block> =
                        Some(block).filter(|one| una <= one.start && one.start < one.end).into_iter().collect();
                    let news = sent.on_ack(now, una, &blocks, Duration::ZERO);
                    plain.ack(una, &blocks);
                    if let Some(news) = news.latest
                        && latest.is_none_or(|before| news.is_after(before.sent, before.end))
                    {
                        latest = Some(news);
                    }
                }
                6 => prop_assert_eq!(sent.resend_lost(now), plain.resend(now, false)),
                7 if which % 4 == 0 => {
                    prop_assert_eq!(sent.resend_last(now), plain.resend(now, true));
                }
                _ => {
                    if let Some(latest) = latest {
                        let wait = Duration::from_micros(which % 3 * 40);
                        let found = sent.detect_losses(now, &latest, wait);
                        prop_assert_eq!(found, plain.detect(now, &latest, wait));
                    }
                }
            }
            prop_assert_eq!(sent.segments.len(), plain.0.len());
            for (one, other) in sent.segments.iter().zip(&plain.0) {
                prop_assert_eq!((one.start, one.end, one.sent), (other.start, other.end, other.sent));
                prop_assert_eq!((one.fate, one.repeated), (other.fate, other.repeated));
            }
            prop_assert_eq!(sent.lost_octets, plain.octets(Fate::Lost));
            prop_assert_eq!(sent.sacked_octets, plain.octets(Fate::Sacked));
            prop_assert_eq!(sent.is_in_order(), plain.0.iter().all(SentSegment::is_regular));
        }
    }
}
