//! SACK options (RFC 2018), kept beside the segments that carry them.
//!
//! A segment is copied at every step of its way, and nearly none has such an option: 32 bytes of
//! blocks in each of them made a simulated exchange 4 to 8 % slower. So a segment holds where its
//! blocks are, and [`SackOptions`] holds the blocks until the segment has arrived or is lost.

use std::num::NonZeroU8;

use crate::{Block, Segment};

/// "The 40 bytes available for TCP options can specify a maximum of 4 blocks" (RFC 2018 section 3);
/// there are no other options here.
pub(crate) const MAX_SACK_BLOCKS: usize = 4;

/// Options under way at once between two ends; segments beyond that have none. A list of blocks is
/// advice, and the next one says the same.
const MAX_OPTIONS: usize = 1 << 16;

/// The SACK option of one segment: how many blocks, and where they are kept.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct SackOption {
    blocks: NonZeroU8,
    /// Two bytes rather than one `u16`, which would make a segment larger.
    slot: [u8; 2],
}

impl SackOption {
    /// The bytes that the option adds to the TCP header: two of padding, kind and length, and eight
    /// for each block.
    pub const fn bytes(self) -> u32 {
        4 + 8 * self.blocks.get() as u32
    }

    fn slot(self) -> usize {
        usize::from(u16::from_ne_bytes(self.slot))
    }
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
        match segment.sack {
            None => &[],
            Some(option) => &self.slots[option.slot()][..usize::from(option.blocks.get())],
        }
    }

    /// Keeps the first four of `blocks` for a segment that is about to be sent; `None` if there is
    /// none.
    pub fn keep(&mut self, blocks: &[Block]) -> Option<SackOption> {
        let blocks = &blocks[..blocks.len().min(MAX_SACK_BLOCKS)];
        let count = NonZeroU8::new(blocks.len() as u8)?;
        let slot = match self.free.pop() {
            Some(slot) => slot,
            None if self.slots.len() < MAX_OPTIONS => {
                self.slots.push(Default::default());
                (self.slots.len() - 1) as u16
            }
            None => return None,
        };
        self.slots[usize::from(slot)][..blocks.len()].copy_from_slice(blocks);
        Some(SackOption { blocks: count, slot: slot.to_ne_bytes() })
    }

    /// A segment has arrived, or is lost, and will never be asked about again. To be called once
    /// for each segment that was sent.
    #[inline]
    pub fn release(&mut self, segment: &Segment) {
        if let Some(option) = segment.sack {
            let slot = option.slot() as u16;
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

    fn segment(sack: Option<SackOption>) -> Segment {
        Segment { seq: 1, ack: 1, len: 0, flags: Flags::ACK, sack }
    }

    fn block(start: u64) -> Block {
        Block { start, end: start + 5 }
    }

    #[test]
    fn blocks_are_kept_until_they_are_released() {
        let mut options = SackOptions::new();
        let first = segment(options.keep(&[block(10)]));
        let second = segment(options.keep(&[block(20), block(30)]));

        assert_eq!(options.blocks(&first), [block(10)]);
        assert_eq!(options.blocks(&second), [block(20), block(30)]);
        assert_eq!(options.under_way(), 2);

        options.release(&first);
        let third = segment(options.keep(&[block(40), block(50), block(60)]));
        assert_eq!(options.blocks(&second), [block(20), block(30)]);
        assert_eq!(options.blocks(&third), [block(40), block(50), block(60)]);
        assert_eq!((options.under_way(), options.slots.len()), (2, 2));
    }

    #[test]
    fn no_blocks_are_no_option_and_four_are_the_most() {
        let mut options = SackOptions::new();

        assert_eq!(options.blocks(&segment(None)), []);
        assert!(options.keep(&[]).is_none());
        let five = [10, 20, 30, 40, 50].map(block);
        let kept = segment(options.keep(&five));
        assert_eq!(options.blocks(&kept), &five[..4]);
    }

    #[test]
    fn an_option_has_two_bytes_of_padding_and_is_a_multiple_of_four() {
        let mut options = SackOptions::new();
        let mut bytes = |count| options.keep(&[block(10); 4][..count]).map(SackOption::bytes);

        assert_eq!([1, 2, 3, 4].map(&mut bytes), [Some(12), Some(20), Some(28), Some(36)]);
    }

    #[test]
    fn when_all_places_are_taken_segments_go_without() {
        let mut options = SackOptions::new();
        for _ in 0..MAX_OPTIONS {
            assert!(options.keep(&[block(10)]).is_some());
        }
        assert!(options.keep(&[block(10)]).is_none());
    }
}
