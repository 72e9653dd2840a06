//! Missing segments: processes SACK blocks, detects losses, and retransmits.
//!
//! The cost of each query depends only on what changed since the last one, not on the number of
//! segments in flight: segments sent once are in order of time, and retransmitted ones are kept in
//! order of time too.

use airtcp_kernel::{Duration, Time};

use super::{Fate, Latest, News, Sent, SentSegment};
use crate::Block;

impl Sent {
    /// Processes a SACK block of an ACK of everything before `una`.
    #[cold]
    pub(super) fn sack(
        &mut self,
        now: Time,
        una: u64,
        block: Block,
        min_rtt: Duration,
        news: &mut News,
    ) {
        let max = match self.segments.len() {
            0 => una,
            len => self.segments[len - 1].end,
        };
        if block.start < una || block.start >= block.end || block.end > max {
            return;
        }
        let mut number = block.start;
        while number < block.end {
            let mut beyond = self.sacked.after(number).copied();
            let held = beyond.next();
            let (from, next) = match held {
                Some(held) if held.start <= number => (held.end, beyond.next()),
                _ => (number, held),
            };
            let end = next.map_or(block.end, |next| next.start.min(block.end));
            if from < end {
                self.sack_all(now, Block { start: from, end }, min_rtt, news);
            }
            number = end.max(from);
        }
    }

    /// Processes a SACK for `block`, of which no segment was SACKed before.
    fn sack_all(&mut self, now: Time, block: Block, min_rtt: Duration, news: &mut News) {
        let first = self.segments.count_while(|segment| segment.start < block.start);
        let mut end = 0;
        for index in first..self.segments.len() {
            let segment = self.segments[index];
            if segment.end > block.end {
                break;
            }
            let octets = segment.end - segment.start;
            if segment.fate == Fate::Lost {
                self.lost_octets -= octets;
            }
            self.irregular += usize::from(segment.is_regular());
            self.segments[index].fate = Fate::Sacked;
            self.sacked_octets += octets;
            self.sacked_segments += 1;
            news.delivered += octets;
            news.newly_sacked += octets;
            news.note(self.records.get(index), self.is_ns3);
            self.arrived(now, &segment, min_rtt, news);
            if !segment.repeated {
                news.time(now.saturating_since(segment.sent));
            }
            end = segment.end;
        }
        if end > 0 {
            // Only whole segments count as SACKed; the rest of a block may come with another ACK.
            self.sacked.insert(Block { start: self.segments[first].start, end });
        }
    }

    /// Detects losses like RACK_detect_loss() of RFC 8985 section 6.2, step 5: a segment is lost if
    /// it was sent `reo_wnd` or more before one that has arrived. Returns the number of lost
    /// octets, and when the next segment will be lost.
    #[cold]
    pub(crate) fn detect_losses(
        &mut self,
        now: Time,
        latest: &Latest,
        reo_wnd: Duration,
    ) -> (u64, Option<Time>) {
        let (lost_before, told_before) = (self.lost_octets, self.newly_lost.len());
        let due = |sent: Time| sent + latest.rtt + reo_wnd;
        let of_once = self.detect_among_sent_once(now, latest, due);
        let of_again = self.detect_among_sent_again(now, latest, due);
        self.newly_lost[told_before..].sort_unstable_by_key(|(block, _)| block.start);
        (self.lost_octets - lost_before, of_once.max(of_again))
    }

    /// Detects losses among segments sent once, which are in order of time.
    fn detect_among_sent_once(
        &mut self,
        now: Time,
        latest: &Latest,
        due: impl Fn(Time) -> Time,
    ) -> Option<Time> {
        let first = self.segments.count_while(|segment| segment.end <= self.regular_from);
        let mut next = None;
        for index in first..self.segments.len() {
            let segment = self.segments[index];
            if segment.is_regular() {
                if !latest.is_after(segment.sent, segment.end) {
                    break;
                }
                if due(segment.sent) <= now {
                    self.lose_one(index);
                } else {
                    next = next.max(Some(due(segment.sent)));
                }
            }
            if next.is_none() {
                self.regular_from = segment.end;
            }
        }
        next
    }

    /// Detects losses among retransmitted segments.
    fn detect_among_sent_again(
        &mut self,
        now: Time,
        latest: &Latest,
        due: impl Fn(Time) -> Time,
    ) -> Option<Time> {
        let (mut next, mut kept) = (None, 0);
        while let Some(&(sent, end)) = self.again.get(kept)
            && sent <= latest.sent
        {
            let index = self.segments.count_while(|segment| segment.end < end);
            let is_under_way = |segment: &SentSegment| {
                segment.end == end && segment.sent == sent && segment.fate == Fate::UnderWay
            };
            if index < self.segments.len() && is_under_way(&self.segments[index]) {
                let is_before = latest.is_after(sent, end);
                if !is_before || due(sent) > now {
                    next = next.max(is_before.then(|| due(sent)));
                    kept += 1;
                    continue;
                }
                self.lose_one(index);
            }
            self.again.remove(kept);
        }
        next
    }

    /// Marks a segment in flight as lost.
    fn lose_one(&mut self, index: usize) {
        let segment = &mut self.segments[index];
        self.irregular += usize::from(segment.is_regular());
        segment.fate = Fate::Lost;
        self.lost_octets += segment.end - segment.start;
        self.lost_from = self.lost_from.min(segment.start);
        if let Some(record) = self.records.get(index) {
            self.newly_lost.push((segment.block(), *record));
        }
    }

    /// Marks losses when the retransmission timer has expired, RFC 8985 section 6.3: the first
    /// segment, and those sent so long ago that `detect_losses` would mark them.
    pub(crate) fn lose_at_timeout(&mut self, now: Time, wait: Duration) {
        for index in 0..self.segments.len() {
            let SentSegment { sent, fate, .. } = self.segments[index];
            if fate == Fate::UnderWay && (index == 0 || sent + wait <= now) {
                self.lose_one(index);
            }
        }
    }

    /// Marks the segments in flight within `block` as lost. Returns true if there were any.
    pub(crate) fn lose(&mut self, block: Block) -> bool {
        let before = self.lost_octets;
        for index in 0..self.segments.len() {
            let SentSegment { start, end, fate, .. } = self.segments[index];
            if fate == Fate::UnderWay && block.start <= start && end <= block.end {
                self.lose_one(index);
            }
        }
        self.lost_octets > before
    }

    /// Retransmits the first lost segment.
    pub(crate) fn resend_lost(&mut self, now: Time) -> Option<Block> {
        if self.lost_octets == 0 {
            return None;
        }
        let from = self.segments.count_while(|segment| segment.end <= self.lost_from);
        let index =
            (from..self.segments.len()).find(|index| self.segments[*index].fate == Fate::Lost)?;
        let lost = &mut self.segments[index];
        *lost = SentSegment { sent: now, fate: Fate::UnderWay, repeated: true, ..*lost };
        let block = lost.block();
        self.lost_octets -= block.end - block.start;
        self.lost_from = block.end;
        self.again.push_back((now, block.end));
        Some(block)
    }

    /// Retransmits the last segment as a probe: RFC 8985 section 7.3.
    pub(crate) fn resend_last(&mut self, now: Time) -> Option<Block> {
        let index = self.segments.len().checked_sub(1)?;
        let last = &mut self.segments[index];
        let octets = last.end - last.start;
        if last.fate == Fate::Sacked {
            return None;
        }
        if last.fate == Fate::Lost {
            self.lost_octets -= octets;
        }
        self.irregular += usize::from(last.is_regular());
        *last = SentSegment { sent: now, fate: Fate::UnderWay, repeated: true, ..*last };
        let block = last.block();
        self.again.push_back((now, block.end));
        Some(block)
    }
}

#[cfg(test)]
mod tests;
