//! Blocks of sequence numbers, and sets of them.
//!
//! The receiver uses them for out-of-order data, the sender for the SACK scoreboard.

use std::collections::VecDeque;
use std::collections::vec_deque::Iter;
use std::ops::Range;

/// Contiguous sequence numbers from `start` (inclusive) to `end` (exclusive): a block of RFC 2018
/// section 3, with its left and right edges.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Block {
    /// The first sequence number of the block.
    pub start: u64,
    /// The sequence number after the last one of the block.
    pub end: u64,
}

impl Block {
    /// Returns how many numbers of the block are below `number`.
    pub(crate) fn before(self, number: u64) -> u64 {
        self.end.min(number).saturating_sub(self.start)
    }
}

/// A sorted set of blocks that do not touch. New data arrives at the end and holes are filled from
/// the beginning, so a deque makes both cheap, however many blocks there are.
#[derive(Clone, Debug, Default)]
pub struct Blocks(VecDeque<Block>);

impl Blocks {
    /// Adds `new`, which must not be empty, and merges it with the blocks that it overlaps or
    /// touches. Returns the merged block.
    pub fn insert(&mut self, new: Block) -> Block {
        let touched = self.touched(new);
        if touched.is_empty() {
            self.0.insert(touched.start, new);
            return new;
        }
        let (first, last) = (self.0[touched.start], self.0[touched.end - 1]);
        let joined = Block { start: first.start.min(new.start), end: last.end.max(new.end) };
        self.0[touched.start] = joined;
        self.0.drain(touched.start + 1..touched.end);
        joined
    }

    /// Removes and returns the first block if it begins at or before `number`.
    pub fn pop_through(&mut self, number: u64) -> Option<Block> {
        if self.0.front()?.start <= number { self.0.pop_front() } else { None }
    }

    /// Removes the blocks that end at or before `number`.
    pub(crate) fn forget_before(&mut self, number: u64) {
        while self.0.front().is_some_and(|first| first.end <= number) {
            self.0.pop_front();
        }
    }

    /// Whether the set is empty.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Iterates over all blocks, ascending.
    pub(crate) fn iter(&self) -> Iter<'_, Block> {
        self.0.iter()
    }

    /// Iterates over the blocks that `new` overlaps or touches.
    pub(crate) fn overlapped(&self, new: Block) -> Iter<'_, Block> {
        self.0.range(self.touched(new))
    }

    /// Iterates over the blocks that end after `number`, ascending.
    pub(crate) fn after(&self, number: u64) -> Iter<'_, Block> {
        self.0.range(self.0.partition_point(|block| block.end <= number)..)
    }

    /// Iterates over the parts of `new` that no block covers, ascending.
    pub fn gaps(&self, new: Block) -> impl Iterator<Item = Block> {
        let mut start = new.start;
        let end = Block { start: new.end, end: new.end };
        self.overlapped(new).copied().chain([end]).filter_map(move |held| {
            let gap = Block { start, end: held.start };
            start = start.max(held.end);
            (gap.start < gap.end).then_some(gap)
        })
    }

    /// Returns how many numbers of `new` no block covers.
    pub(crate) fn missing(&self, new: Block) -> u64 {
        let held =
            |block: &Block| block.end.min(new.end).saturating_sub(block.start.max(new.start));
        new.end - new.start - self.overlapped(new).map(held).sum::<u64>()
    }

    fn touched(&self, new: Block) -> Range<usize> {
        let first = self.0.partition_point(|block| block.end < new.start);
        let after = self.0.partition_point(|block| block.start <= new.end);
        first..after
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn blocks(ranges: &[(u64, u64)]) -> Blocks {
        let mut blocks = Blocks::default();
        for &(start, end) in ranges {
            blocks.insert(Block { start, end });
        }
        blocks
    }

    fn ranges(blocks: &Blocks) -> Vec<(u64, u64)> {
        blocks.iter().map(|block| (block.start, block.end)).collect()
    }

    #[test]
    fn apart_stays_apart_in_order() {
        assert_eq!(ranges(&blocks(&[(30, 40), (10, 20)])), [(10, 20), (30, 40)]);
    }

    #[test]
    fn touching_and_overlapping_blocks_join() {
        assert_eq!(ranges(&blocks(&[(10, 20), (20, 30)])), [(10, 30)]);
        assert_eq!(ranges(&blocks(&[(20, 30), (10, 20)])), [(10, 30)]);
        assert_eq!(ranges(&blocks(&[(10, 20), (30, 40), (15, 35)])), [(10, 40)]);
        assert_eq!(ranges(&blocks(&[(10, 40), (20, 30)])), [(10, 40)]);
        assert_eq!(ranges(&blocks(&[(10, 20), (30, 40), (50, 60), (5, 55)])), [(5, 60)]);
    }

    #[test]
    fn insert_returns_the_block_that_holds_what_was_added() {
        let mut blocks = blocks(&[(10, 20), (30, 40)]);

        assert_eq!(blocks.insert(Block { start: 20, end: 25 }), Block { start: 10, end: 25 });
        assert_eq!(blocks.insert(Block { start: 12, end: 13 }), Block { start: 10, end: 25 });
    }

    #[test]
    fn missing_counts_what_no_block_holds() {
        let blocks = blocks(&[(10, 20), (30, 40)]);

        assert_eq!(blocks.missing(Block { start: 5, end: 45 }), 20);
        assert_eq!(blocks.missing(Block { start: 15, end: 35 }), 10);
        assert_eq!(blocks.missing(Block { start: 20, end: 30 }), 10);
        assert_eq!(blocks.missing(Block { start: 12, end: 18 }), 0);
    }

    #[test]
    fn gaps_are_what_no_block_holds() {
        let blocks = blocks(&[(10, 20), (30, 40)]);
        let gaps = |start, end| {
            let gaps = blocks.gaps(Block { start, end });
            gaps.map(|gap| (gap.start, gap.end)).collect::<Vec<_>>()
        };

        assert_eq!(gaps(5, 45), [(5, 10), (20, 30), (40, 45)]);
        assert_eq!(gaps(15, 30), [(20, 30)]);
        assert_eq!(gaps(12, 18), []);
        assert_eq!(gaps(20, 22), [(20, 22)]);
    }

    #[test]
    fn after_begins_with_the_block_that_a_number_lies_in() {
        let blocks = blocks(&[(10, 20), (30, 40)]);

        assert_eq!(blocks.after(19).len(), 2);
        assert_eq!(blocks.after(20).collect::<Vec<_>>(), [&Block { start: 30, end: 40 }]);
        assert_eq!(blocks.after(40).len(), 0);
    }

    #[test]
    fn pop_through_takes_what_begins_there_and_leaves_the_rest() {
        let mut blocks = blocks(&[(10, 20), (30, 40), (50, 60)]);

        assert_eq!(blocks.pop_through(9), None);
        assert_eq!(blocks.pop_through(30), Some(Block { start: 10, end: 20 }));
        assert_eq!(blocks.pop_through(30), Some(Block { start: 30, end: 40 }));
        assert_eq!(blocks.pop_through(30), None);
        assert_eq!(ranges(&blocks), [(50, 60)]);
    }

    #[test]
    fn before_counts_within_the_block() {
        let block = Block { start: 10, end: 20 };

        assert_eq!([5, 10, 14, 20, 25].map(|number| block.before(number)), [0, 0, 4, 10, 10]);
    }
}
