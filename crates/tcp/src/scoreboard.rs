//! The scoreboard of RFC 6675: what the other end holds beyond the cumulative ACK, and what that
//! implies.
//!
//! The RFC names the highest octet of something. Here each such variable is the number after it:
//! `una` is HighACK + 1 and `max` is HighData + 1.

use crate::Block;
use crate::blocks::Blocks;

/// DupThresh: RFC 6675 section 2; also the number of duplicate ACKs that indicate a loss in RFC
/// 5681 section 3.2.
pub(crate) const DUP_THRESH: u8 = 3;

/// SACKed and retransmitted sequence numbers. Queries use the top few blocks or bisection, so a
/// window of any size costs the same.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scoreboard {
    /// SACKed blocks beyond `una`, not touching it.
    sacked: Blocks,
    /// Octets in `sacked`.
    sacked_octets: u64,
    /// HighRxt: everything retransmitted in this recovery is before it, and so are all earlier
    /// holes.
    high_rxt: u64,
    /// Octets in `sacked` before `high_rxt`.
    sacked_before_rxt: u64,
    /// RescueRxt.
    rescue_rxt: u64,
}

impl Scoreboard {
    /// Update() for the SACK blocks of an ACK; returns true if they contain news. Blocks of data
    /// that was never sent, or is acknowledged, are ignored.
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

    /// Update() for a cumulative ACK of everything before `una`.
    pub(crate) fn advance(&mut self, una: u64) {
        while let Some(block) = self.sacked.pop_through(una) {
            self.sacked_octets -= block.end - block.start;
            self.sacked_before_rxt -= block.before(self.high_rxt);
        }
    }

    /// Clears the scoreboard after a retransmission timeout: RFC 2018 section 8.
    pub(crate) fn clear(&mut self) {
        *self = Self::default();
    }

    /// Raises HighRxt to `number`: holes before it have been retransmitted, or count as
    /// retransmitted.
    pub(crate) fn raise_high_rxt(&mut self, number: u64) {
        if number > self.high_rxt {
            let passed = self.sacked.after(self.high_rxt).take_while(|block| block.start < number);
            self.sacked_before_rxt +=
                passed.map(|block| block.before(number) - block.before(self.high_rxt)).sum::<u64>();
            self.high_rxt = number;
        }
    }

    /// Starts a recovery with the retransmission of everything before `number`: section 5, step
    /// 4.3.
    pub(crate) fn begin_recovery(&mut self, number: u64) {
        self.raise_high_rxt(number);
        self.rescue_rxt = number;
    }

    /// Whether nothing is SACKed beyond the cumulative ACK.
    pub(crate) fn is_empty(&self) -> bool {
        self.sacked.is_empty()
    }

    /// IsLost() of a number that is not SACKed.
    pub(crate) fn is_lost(&self, number: u64, smss: u64) -> bool {
        self.lost(smss).is_some_and(|(end, _)| number < end)
    }

    /// SetPipe(): estimates the octets in the network.
    pub(crate) fn pipe(&self, una: u64, max: u64, smss: u64) -> u64 {
        // Neither SACKed nor lost, plus not SACKed but retransmitted: steps (a) and (b).
        let (start, sacked) = self.lost(smss).unwrap_or((una, self.sacked_octets));
        max - start - sacked + self.retransmitted(una)
    }

    /// Returns the octets from `una` to HighRxt that are not SACKed.
    pub(crate) fn retransmitted(&self, una: u64) -> u64 {
        self.high_rxt.max(una) - una - self.sacked_before_rxt
    }

    /// NextSeg(), rule (1): returns the first hole that is lost and not yet retransmitted, up to a
    /// segment of it.
    pub(crate) fn next_lost(&self, una: u64, smss: u64) -> Option<Block> {
        self.next_hole(una, smss).filter(|hole| self.is_lost(hole.start, smss))
    }

    /// NextSeg(), rule (3): the same, whether lost or not.
    pub(crate) fn next_hole(&self, una: u64, smss: u64) -> Option<Block> {
        let start = self.skip(self.high_rxt.max(una));
        let end = self.end_of_hole(start)?;
        Some(Block { start, end: end.min(start + smss) })
    }

    /// NextSeg(), rule (4): returns the end of the data that is not SACKed, once per recovery; the
    /// recovery lasts until `recover` is acknowledged.
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

    /// Returns `number`, or the end of the block that contains it.
    pub(crate) fn skip(&self, number: u64) -> u64 {
        match self.sacked.after(number).next() {
            Some(block) if block.start <= number => block.end,
            _ => number,
        }
    }

    /// Returns the end of the hole that contains `number`; `None` if nothing beyond it is SACKed.
    pub(crate) fn end_of_hole(&self, number: u64) -> Option<u64> {
        self.sacked.after(number).next().map(|block| block.start)
    }

    /// Returns the number before which everything not SACKed is lost, and the octets SACKed from
    /// there on; `None`: nothing is lost. IsLost() asks for "either DupThresh discontiguous SACKed
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
