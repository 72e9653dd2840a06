//! SACK options (RFC 2018), kept beside the segments that carry them.
//!
//! A segment is copied at every step of its way, and nearly none has such an option: 32 bytes of
//! blocks in each of them made a simulated exchange 4 to 8 % slower. So a segment holds where its
//! blocks are, and [`SackOptions`] holds the blocks until the segment has arrived or is lost.

use crate::{Block, Segment};

/// "The 40 bytes available for TCP options can specify a maximum of 4 blocks" (RFC 2018 section 3);
/// there are no other options here.
pub(crate) const MAX_SACK_BLOCKS: usize = 4;

/// Options under way at once between two ends; segments beyond that have none. A list of blocks is
/// advice, and the next one says the same.
const MAX_OPTIONS: usize = 1 << 16;

/// The SACK option of one segment: how many blocks, at least one, and where they are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SackOption {
    pub(crate) blocks: u8,
    pub(crate) slot: u16,
}

/// The SACK options of all segments under way between two ends.
#[derive(Clone, Debug, Default)]
pub struct SackOptions {
    slots: Vec<[Block; MAX_SACK_BLOCKS]>,
    free: Vec<u16>,
}

impl SackOptions {
    /// No options.
    pub const fn new() -> Self {
        Self { slots: Vec::new(), free: Vec::new() }
    }

    /// The blocks of a segment under way; none if it has no such option.
    #[inline]
    pub fn blocks(&self, segment: &Segment) -> &[Block] {
        match segment.sack_option() {
            None => &[],
            Some(option) => &self.slots[usize::from(option.slot)][..usize::from(option.blocks)],
        }
    }

    /// `segment`, which is about to be sent, with the first four of `blocks` in a SACK option; as it is
    /// if there are none.
    pub fn attach(&mut self, segment: Segment, blocks: &[Block]) -> Segment {
        segment.with_sack(self.keep(&blocks[..blocks.len().min(MAX_SACK_BLOCKS)]))
    }

    fn keep(&mut self, blocks: &[Block]) -> Option<SackOption> {
        if blocks.is_empty() {
            return None;
        }
        let slot = match self.free.pop() {
            Some(slot) => slot,
            None if self.slots.len() < MAX_OPTIONS => {
                self.slots.push(Default::default());
                (self.slots.len() - 1) as u16
            }
            None => return None,
        };
        self.slots[usize::from(slot)][..blocks.len()].copy_from_slice(blocks);
        Some(SackOption { blocks: blocks.len() as u8, slot })
    }

    /// A segment has arrived, or is lost, and will never be asked about again. To be called once
    /// for each segment that was sent.
    #[inline]
    pub fn release(&mut self, segment: &Segment) {
        if segment.option_bytes() > 0 {
            self.free_slot(segment);
        }
    }

    #[cold]
    fn free_slot(&mut self, segment: &Segment) {
        if let Some(SackOption { slot, .. }) = segment.sack_option() {
            debug_assert!(!self.free.contains(&slot), "a segment came to two ends");
            self.free.push(slot);
        }
    }

    /// How many segments with such an option are under way.
    pub fn under_way(&self) -> usize {
        self.slots.len() - self.free.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Flags;

    const ACK: Segment = Segment { seq: 1, ack: 7, len: 0, flags: Flags::ACK };

    fn block(start: u64) -> Block {
        Block { start, end: start + 5 }
    }

    #[test]
    fn blocks_are_kept_until_they_are_released() {
        let mut options = SackOptions::new();
        let first = options.attach(ACK, &[block(10)]);
        let second = options.attach(ACK, &[block(20), block(30)]);

        assert_eq!(options.blocks(&first), [block(10)]);
        assert_eq!(options.blocks(&second), [block(20), block(30)]);
        assert_eq!(options.under_way(), 2);

        options.release(&first);
        let third = options.attach(ACK, &[block(40), block(50), block(60)]);
        assert_eq!(options.blocks(&second), [block(20), block(30)]);
        assert_eq!(options.blocks(&third), [block(40), block(50), block(60)]);
        assert_eq!((options.under_way(), options.slots.len()), (2, 2));
    }

    #[test]
    fn no_blocks_are_no_option_and_four_are_the_most() {
        let mut options = SackOptions::new();

        assert_eq!(options.blocks(&ACK), []);
        assert_eq!(options.attach(ACK, &[]), ACK);
        options.release(&ACK);
        let five = [10, 20, 30, 40, 50].map(block);
        let segment = options.attach(ACK, &five);
        assert_eq!(options.blocks(&segment), &five[..4]);
    }

    #[test]
    fn an_option_changes_nothing_else_of_its_segment() {
        let mut options = SackOptions::new();
        options.attach(ACK, &[block(10)]);
        let segment = options.attach(ACK, &[block(10); 4]);

        assert_eq!((segment.seq, segment.ack, segment.len, segment.end()), (1, 7, 0, 1));
        assert!(segment.flags.contains(Flags::ACK) && !segment.flags.contains(Flags::SYN));
    }

    #[test]
    fn an_option_has_two_bytes_of_padding_and_is_a_multiple_of_four() {
        let mut options = SackOptions::new();
        let mut bytes = |count| options.attach(ACK, &[block(10); 4][..count]).option_bytes();

        assert_eq!([0, 1, 2, 3, 4].map(&mut bytes), [0, 12, 20, 28, 36]);
    }

    #[test]
    fn when_all_places_are_taken_segments_go_without() {
        let mut options = SackOptions::new();
        for _ in 0..MAX_OPTIONS {
            assert_eq!(options.attach(ACK, &[block(10)]).option_bytes(), 12);
        }
        assert_eq!(options.attach(ACK, &[block(10)]), ACK);
        assert_eq!(options.under_way(), MAX_OPTIONS);
    }
}
