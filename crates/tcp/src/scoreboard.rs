//! The scoreboard of RFC 6675: what the other end holds beyond the cumulative acknowledgment, and
//! what follows from it.
//!
//! Knows numbers that were sent. Does not know windows, timers, or whether the sender is in a
//! recovery. The RFC speaks of the highest octet of something; here every such number is the one
//! after it, so that `una` is HighACK + 1 and `max` is HighData + 1.

use crate::Block;
use crate::blocks::Blocks;

/// DupThresh: RFC 6675 section 2, and the duplicate ACKs that mean a loss in RFC 5681 section 3.2.
pub(crate) const DUP_THRESH: u8 = 3;

/// The numbers that have been SACKed, and those that have been sent again. All questions are answered from the top few
/// blocks or by bisection, so that a window of any size costs the same.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scoreboard {
    /// Beyond `una`, and not touching it.
    sacked: Blocks,
    /// Numbers in `sacked`.
    sacked_octets: u64,
    /// HighRxt: what was sent again in this recovery lies before it, and with it all other holes.
    high_rxt: u64,
    /// Numbers in `sacked` before `high_rxt`.
    sacked_before_rxt: u64,
    /// RescueRxt.
    rescue_rxt: u64,
}

impl Scoreboard {
    /// Update() for the SACK blocks of an acknowledgment; returns whether they tell anything new.
    /// Blocks of what was never sent, or of what is acknowledged, are not believed.
    pub(crate) fn update(&mut self, una: u64, max: u64, blocks: &[Block]) -> bool {
        let is_believed =
            |block: &&Block| una < block.start && block.start < block.end && block.end <= max;
        let mut has_news = false;
        for &block in blocks.iter().filter(is_believed) {
            let new = self.sacked.missing(block);
            if new > 0 {
                self.sacked_octets += new;
                if block.start < self.high_rxt {
                    let end = block.end.min(self.high_rxt);
                    self.sacked_before_rxt += self.sacked.missing(Block { end, ..block });
                }
                self.sacked.insert(block);
                has_news = true;
            }
        }
        has_news
    }

    /// Update() for a cumulative acknowledgment of all before `una`.
    pub(crate) fn advance(&mut self, una: u64) {
        while let Some(block) = self.sacked.pop_through(una) {
            self.sacked_octets -= block.end - block.start;
            self.sacked_before_rxt -= block.before(self.high_rxt);
        }
    }

    /// Forgets all: RFC 2018 section 8, when the retransmission timer has expired.
    pub(crate) fn clear(&mut self) {
        *self = Self::default();
    }

    /// Notes that holes before `number` have been sent again, or are as good as that: sets HighRxt, if it is
    /// lower.
    pub(crate) fn raise_high_rxt(&mut self, number: u64) {
        if number > self.high_rxt {
            let passed = self.sacked.after(self.high_rxt).take_while(|block| block.start < number);
            self.sacked_before_rxt +=
                passed.map(|block| block.before(number) - block.before(self.high_rxt)).sum::<u64>();
            self.high_rxt = number;
        }
    }

    /// Begins a recovery with the retransmission of what lies before `number`: section 5, step 4.3.
    pub(crate) fn begin_recovery(&mut self, number: u64) {
        self.raise_high_rxt(number);
        self.rescue_rxt = number;
    }

    /// Tells whether nothing is SACKed beyond the cumulative acknowledgment.
    pub(crate) fn is_empty(&self) -> bool {
        self.sacked.is_empty()
    }

    /// IsLost() of a number that is not SACKed.
    pub(crate) fn is_lost(&self, number: u64, smss: u64) -> bool {
        self.lost(smss).is_some_and(|(end, _)| number < end)
    }

    /// SetPipe(): the octets that are thought to be in the network.
    pub(crate) fn pipe(&self, una: u64, max: u64, smss: u64) -> u64 {
        // Not SACKed and not lost, then not SACKed and sent again: steps (a) and (b).
        let (start, sacked) = self.lost(smss).unwrap_or((una, self.sacked_octets));
        max - start - sacked + self.retransmitted(una)
    }

    /// Counts what lies from `una` to HighRxt and is not SACKed.
    pub(crate) fn retransmitted(&self, una: u64) -> u64 {
        self.high_rxt.max(una) - una - self.sacked_before_rxt
    }

    /// NextSeg(), rule (1): the first hole, or as much of it as a segment takes, that is not sent again
    /// yet and is lost.
    pub(crate) fn next_lost(&self, una: u64, smss: u64) -> Option<Block> {
        self.next_hole(una, smss).filter(|hole| self.is_lost(hole.start, smss))
    }

    /// NextSeg(), rule (3): the same, lost or not.
    pub(crate) fn next_hole(&self, una: u64, smss: u64) -> Option<Block> {
        let start = self.skip(self.high_rxt.max(una));
        let end = self.end_of_hole(start)?;
        Some(Block { start, end: end.min(start + smss) })
    }

    /// NextSeg(), rule (4): the end of what is not SACKed, once in a recovery that lasts until
    /// `recover` is acknowledged.
    pub(crate) fn rescue(&mut self, una: u64, max: u64, smss: u64, recover: u64) -> Option<Block> {
        if una <= self.rescue_rxt {
            return None;
        }
        let mut highest = self.sacked.iter().rev();
        let (start, end) = match (highest.next(), highest.next()) {
            (None, _) => (una, max),
            (Some(last), _) if last.end < max => (last.end, max),
            (Some(last), before) => (before.map_or(una, |before| before.end), last.start),
        };
        self.rescue_rxt = recover;
        Some(Block { start: end.saturating_sub(smss).max(start), end })
    }

    /// Returns `number`, or the end of the block that it lies in.
    pub(crate) fn skip(&self, number: u64) -> u64 {
        match self.sacked.after(number).next() {
            Some(block) if block.start <= number => block.end,
            _ => number,
        }
    }

    /// Returns the end of the hole that `number` lies in; `None` if nothing beyond it is SACKed.
    pub(crate) fn end_of_hole(&self, number: u64) -> Option<u64> {
        self.sacked.after(number).next().map(|block| block.start)
    }

    /// Returns the number before which all that is not SACKed is lost, and how many octets are SACKed from there
    /// on; `None`: nothing is lost. IsLost() asks for "either DupThresh discontiguous SACKed
    /// sequences" beyond a number, or for "more than (DupThresh - 1) * SMSS bytes" of them.
    fn lost(&self, smss: u64) -> Option<(u64, u64)> {
        let mut octets = 0;
        for (count, block) in (1..).zip(self.sacked.iter().rev()) {
            octets += block.end - block.start;
            if count >= DUP_THRESH || octets > u64::from(DUP_THRESH - 1) * smss {
                return Some((block.start, octets));
            }
        }
        None
    }
}

#[cfg(test)]
mod tests;
