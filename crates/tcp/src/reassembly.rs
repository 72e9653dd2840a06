//! Out-of-order data: which blocks the receiver holds, and which to report first in a SACK option.
//!
//! It tracks sequence numbers, not bytes. Without loss or reordering it does not exist, and nothing
//! is allocated.

use crate::blocks::{Block, Blocks};
use crate::options::MAX_SACK_BLOCKS;

/// The blocks held, and those that changed last.
#[derive(Clone, Debug, Default)]
pub(crate) struct Reassembly {
    held: Blocks,
    /// Starts of the blocks that changed last, latest first; as many as an option can report.
    latest: Vec<u64>,
}

impl Reassembly {
    pub(crate) fn is_empty(&self) -> bool {
        self.held.is_empty()
    }

    /// Adds `start .. end` and merges it with blocks that it overlaps or touches.
    pub(crate) fn insert(&mut self, start: u64, end: u64) {
        if start >= end {
            return;
        }
        let joined = self.held.insert(Block { start, end });
        self.latest.retain(|start| !(joined.start..joined.end).contains(start));
        self.latest.insert(0, joined.start);
        self.latest.truncate(MAX_SACK_BLOCKS);
    }

    /// Called when everything before `next` has arrived in order. Returns how far data now reaches
    /// without a gap, and removes the blocks before that.
    pub(crate) fn advance(&mut self, next: u64) -> u64 {
        let mut reached = next;
        while let Some(block) = self.held.pop_through(next) {
            reached = reached.max(block.end);
        }
        self.latest.retain(|start| *start > reached);
        reached
    }

    /// Returns the blocks for a SACK option and their number. RFC 2018 section 4 wants the block of
    /// the segment that has just arrived first, then "the most recently reported SACK blocks",
    /// those that changed last, as many as fit. If some of the latest have merged, the highest of
    /// the other blocks fill up.
    pub(crate) fn sack_blocks(&self) -> ([Block; MAX_SACK_BLOCKS], usize) {
        let mut blocks = [Block::default(); MAX_SACK_BLOCKS];
        let latest = self.latest.iter().filter_map(|start| self.held.after(*start).next());
        let others = self.held.iter().rev().filter(|block| !self.latest.contains(&block.start));
        let count =
            blocks.iter_mut().zip(latest.chain(others)).map(|(block, held)| *block = *held).count();
        (blocks, count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn held(ranges: &[(u64, u64)]) -> Reassembly {
        let mut reassembly = Reassembly::default();
        for &(start, end) in ranges {
            reassembly.insert(start, end);
        }
        reassembly
    }

    fn reported(reassembly: &Reassembly) -> Vec<(u64, u64)> {
        let (blocks, count) = reassembly.sack_blocks();
        blocks[..count].iter().map(|block| (block.start, block.end)).collect()
    }

    #[test]
    fn empty_ranges_are_not_held() {
        assert!(held(&[(10, 10), (20, 15)]).is_empty());
    }

    #[test]
    fn advance_swallows_what_it_meets_and_keeps_what_lies_beyond_a_gap() {
        let mut reassembly = held(&[(10, 20), (30, 40)]);

        assert_eq!(reassembly.advance(5), 5);
        assert_eq!(reassembly.advance(10), 20);
        assert_eq!(reported(&reassembly), [(30, 40)]);
        assert_eq!(reassembly.advance(45), 45);
        assert!(reassembly.is_empty());
        assert_eq!(reported(&reassembly), []);
    }

    #[test]
    fn the_block_of_the_latest_arrival_is_reported_first() {
        // RFC 2018 section 4 (a) and (c): the newest first, then those reported before it.
        let mut reassembly = held(&[(10, 20), (30, 40), (50, 60)]);
        assert_eq!(reported(&reassembly), [(50, 60), (30, 40), (10, 20)]);

        reassembly.insert(20, 25);
        assert_eq!(reported(&reassembly), [(10, 25), (50, 60), (30, 40)]);
        // Duplicate data changes only the order: its block was touched again.
        reassembly.insert(32, 35);
        assert_eq!(reported(&reassembly), [(30, 40), (10, 25), (50, 60)]);
    }

    #[test]
    fn four_blocks_are_reported_and_no_more() {
        let mut reassembly = held(&[(10, 11), (20, 21), (30, 31), (40, 41), (50, 51), (60, 61)]);
        assert_eq!(reported(&reassembly), [(60, 61), (50, 51), (40, 41), (30, 31)]);

        // Two blocks that merge leave room for another; the higher one is the later.
        reassembly.insert(41, 50);
        assert_eq!(reported(&reassembly), [(40, 51), (60, 61), (30, 31), (20, 21)]);
    }
}
