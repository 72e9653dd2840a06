//! SACK options (RFC 2018), timestamps (RFC 7323) and changing windows, stored apart from their
//! segments.
//!
//! A segment is copied at every hop, and most connections never use these options; 32 bytes of
//! blocks in each segment made a simulated exchange 4 to 8 % slower. A segment therefore holds only
//! the place of its options in [`SegmentOptions`], which keeps them until the segment has arrived
//! or is lost.

use crate::{Block, Segment};

/// "The 40 bytes available for TCP options can specify a maximum of 4 blocks" (RFC 2018 section 3).
pub(crate) const MAX_SACK_BLOCKS: usize = 4;
/// With timestamps: "this will reduce the maximum number of SACK blocks to 3" (RFC 2018 section 3).
const MAX_SACK_BLOCKS_WITH_TIMESTAMPS: usize = 3;

/// Limit on the options in flight between two ends; segments beyond it have none. That is harmless:
/// later segments repeat the blocks and timestamps.
const MAX_OPTIONS: usize = 1 << 16;
/// Initial capacity.
const FIRST_OPTIONS: usize = 4;
/// A place that does not exist.
const NO_PLACE: u32 = u32::MAX;

/// The place of a segment's options, and the number of blocks in its SACK option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) blocks: u8,
    pub(crate) slot: u16,
}

/// The timestamps option: RFC 7323 section 3.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Timestamps {
    /// TSval: the sender's clock when the segment was sent.
    pub value: u32,
    /// TSecr: a TSval of the other end.
    pub echo: u32,
}

/// Options that few segments have.
#[derive(Clone, Copy, Debug, Default)]
struct Rare {
    blocks: [Block; MAX_SACK_BLOCKS],
    window: u64,
}

/// The options of all segments in flight between two ends.
// Either all segments of a connection have timestamps or none. They are stored contiguously, and
// free places are linked through them, so a segment without other options touches eight bytes here.
#[derive(Clone, Debug)]
pub struct SegmentOptions {
    /// The timestamps by place. In a free place the value is the next free place, or `NO_PLACE`.
    stamps: Vec<Timestamps>,
    /// The other options of these places, grown on demand.
    rare: Vec<Rare>,
    /// The place freed last.
    free: u32,
    under_way: u32,
}

impl Default for SegmentOptions {
    fn default() -> Self {
        Self::new()
    }
}

impl SegmentOptions {
    /// Creates an empty store.
    pub const fn new() -> Self {
        Self { stamps: Vec::new(), rare: Vec::new(), free: NO_PLACE, under_way: 0 }
    }

    /// Returns the SACK blocks of a segment in flight; empty without that option.
    #[inline]
    pub fn blocks(&self, segment: &Segment) -> &[Block] {
        match segment.place() {
            None => &[],
            Some(place) if place.blocks == 0 => &[],
            Some(place) => &self.rare[usize::from(place.slot)].blocks[..usize::from(place.blocks)],
        }
    }

    /// Returns the timestamps of a segment in flight.
    #[inline]
    pub fn timestamps(&self, segment: &Segment) -> Option<Timestamps> {
        segment.has_timestamps().then(|| self.stamps_of(segment))
    }

    /// Returns the timestamps of a segment that has them.
    #[inline]
    pub(crate) fn stamps_of(&self, segment: &Segment) -> Timestamps {
        self.stamps[usize::from(segment.slot())]
    }

    /// Returns `segment`, which is about to be sent, with a SACK option for the first four of
    /// `blocks`, or three if there are timestamps. Returns it unchanged if there is neither.
    pub fn attach(
        &mut self,
        segment: Segment,
        blocks: &[Block],
        timestamps: Option<Timestamps>,
    ) -> Segment {
        let most = match timestamps {
            None => MAX_SACK_BLOCKS,
            Some(_) => MAX_SACK_BLOCKS_WITH_TIMESTAMPS,
        };
        let blocks = &blocks[..blocks.len().min(most)];
        if blocks.is_empty() && timestamps.is_none() {
            return segment;
        }
        match self.keep(timestamps.unwrap_or_default()) {
            None => segment,
            Some(slot) => {
                if !blocks.is_empty() {
                    self.rare_at(slot).blocks[..blocks.len()].copy_from_slice(blocks);
                }
                let place = Place { blocks: blocks.len() as u8, slot };
                segment.with_options(place, timestamps.is_some())
            }
        }
    }

    /// Adds timestamps to `segment`, which may have SACK blocks.
    #[inline]
    pub(crate) fn stamp(&mut self, segment: Segment, timestamps: Timestamps) -> Segment {
        if !segment.has_options() {
            let Some(slot) = self.keep(timestamps) else { return segment };
            return segment.with_stamps_at(slot);
        }
        self.stamp_beside(segment, timestamps)
    }

    /// Like [`Self::stamp`], for a segment that may have other options.
    #[inline(never)]
    fn stamp_beside(&mut self, segment: Segment, timestamps: Timestamps) -> Segment {
        let Some(place) = segment.place() else {
            return self.attach(segment, &[], Some(timestamps));
        };
        self.stamps[usize::from(place.slot)] = timestamps;
        let blocks = place.blocks.min(MAX_SACK_BLOCKS_WITH_TIMESTAMPS as u8);
        segment.with_options(Place { blocks, ..place }, true)
    }

    /// Returns the window in bytes that a segment in flight advertises; `None` if it has none.
    pub fn window(&self, segment: &Segment) -> Option<u64> {
        let place = segment.place().filter(|_| segment.has_window())?;
        Some(self.rare[usize::from(place.slot)].window)
    }

    /// Adds a window in bytes to `segment`, which may have other options.
    pub fn say_window(&mut self, segment: Segment, window: u64) -> Segment {
        let kept = || self.keep(Timestamps::default()).map(|slot| Place { blocks: 0, slot });
        let Some(place) = segment.place().or_else(kept) else { return segment };
        self.rare_at(place.slot).window = window;
        segment.with_window(place)
    }

    /// Allocates a place for options; `None` if all places are in use.
    #[inline]
    pub(crate) fn keep(&mut self, timestamps: Timestamps) -> Option<u16> {
        let slot = self.free;
        match self.stamps.get_mut(slot as usize) {
            Some(free) => {
                self.free = free.value;
                *free = timestamps;
                self.under_way += 1;
                Some(slot as u16)
            }
            None => self.keep_in_new_place(timestamps),
        }
    }

    /// Like [`Self::keep`], when no place is free: doubles the capacity.
    #[cold]
    #[inline(never)]
    fn keep_in_new_place(&mut self, timestamps: Timestamps) -> Option<u16> {
        let taken = self.stamps.len();
        let places = (2 * taken).clamp(FIRST_OPTIONS, MAX_OPTIONS);
        // Link each new place to the next one.
        let next = |place| if place + 1 < places { place as u32 + 1 } else { NO_PLACE };
        self.stamps.extend((taken..places).map(|place| Timestamps { value: next(place), echo: 0 }));
        let free = self.stamps.get_mut(taken)?;
        self.free = std::mem::replace(free, timestamps).value;
        self.under_way += 1;
        Some(taken as u16)
    }

    /// Returns the other options of this place.
    #[cold]
    fn rare_at(&mut self, slot: u16) -> &mut Rare {
        let known = self.rare.len().max(usize::from(slot) + 1);
        self.rare.resize(known, Rare::default());
        &mut self.rare[usize::from(slot)]
    }

    /// Frees the options of a segment that has arrived or is lost. Call it once for each segment
    /// sent.
    #[inline]
    pub fn release(&mut self, segment: &Segment) {
        if segment.has_options()
            && let Some(Place { slot, .. }) = segment.place()
        {
            debug_assert!(!self.is_free(slot), "a segment came to two ends");
            self.stamps[usize::from(slot)].value = self.free;
            self.free = u32::from(slot);
            self.under_way -= 1;
        }
    }

    fn is_free(&self, slot: u16) -> bool {
        let next = |place: &u32| self.stamps.get(*place as usize).map(|free| free.value);
        std::iter::successors(Some(self.free), next).any(|place| place == u32::from(slot))
    }

    /// Returns the number of segments in flight with such options.
    pub fn under_way(&self) -> usize {
        self.under_way as usize
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
        let mut options = SegmentOptions::new();
        let first = options.attach(ACK, &[block(10)], None);
        let second = options.attach(ACK, &[block(20), block(30)], None);

        assert_eq!(options.blocks(&first), [block(10)]);
        assert_eq!(options.blocks(&second), [block(20), block(30)]);
        assert_eq!(options.under_way(), 2);

        options.release(&first);
        let third = options.attach(ACK, &[block(40), block(50), block(60)], None);
        assert_eq!(options.blocks(&second), [block(20), block(30)]);
        assert_eq!(options.blocks(&third), [block(40), block(50), block(60)]);
        assert_eq!((options.under_way(), third.slot()), (2, first.slot()));
    }

    #[test]
    fn no_blocks_are_no_option_and_four_are_the_most() {
        let mut options = SegmentOptions::new();

        assert_eq!(options.blocks(&ACK), []);
        assert_eq!(options.attach(ACK, &[], None), ACK);
        options.release(&ACK);
        let five = [10, 20, 30, 40, 50].map(block);
        let segment = options.attach(ACK, &five, None);
        assert_eq!(options.blocks(&segment), &five[..4]);
    }

    #[test]
    fn an_option_changes_nothing_else_of_its_segment() {
        let mut options = SegmentOptions::new();
        options.attach(ACK, &[block(10)], None);
        let segment = options.attach(ACK, &[block(10); 4], None);

        assert_eq!((segment.seq, segment.ack, segment.len, segment.end()), (1, 7, 0, 1));
        assert!(segment.flags.contains(Flags::ACK) && !segment.flags.contains(Flags::SYN));
    }

    #[test]
    fn an_option_has_two_bytes_of_padding_and_is_a_multiple_of_four() {
        let mut options = SegmentOptions::new();
        let mut bytes = |count| options.attach(ACK, &[block(10); 4][..count], None).option_bytes();

        assert_eq!([0, 1, 2, 3, 4].map(&mut bytes), [0, 12, 20, 28, 36]);
    }

    #[test]
    fn timestamps_take_the_place_of_a_block() {
        let mut options = SegmentOptions::new();
        let timestamps = Timestamps { value: 7, echo: 3 };

        let stamped = options.attach(ACK, &[], Some(timestamps));
        assert_eq!((stamped.option_bytes(), options.blocks(&stamped)), (0, &[][..]));
        let blocks = [10, 20, 30, 40].map(block);
        for four in [
            options.attach(ACK, &blocks, Some(timestamps)),
            // The same as the first, in two steps.
            options.attach(ACK, &blocks, None),
        ] {
            let four = options.stamp(four, timestamps);
            assert_eq!((four.option_bytes(), options.blocks(&four)), (28, &blocks[..3]));
            assert_eq!(options.timestamps(&four), Some(timestamps));
            options.release(&four);
        }
        let syn = Segment { flags: Flags::SYN, ..ACK };
        let syn = options.stamp(syn, timestamps).with_window_scale();
        assert_eq!((syn.option_bytes(), options.timestamps(&syn)), (4, Some(timestamps)));
        assert_eq!(options.timestamps(&ACK.with_window_scale()), None);
        options.release(&syn);
        options.release(&stamped);
        assert_eq!(options.under_way(), 0);
    }

    #[test]
    fn when_all_places_are_taken_segments_go_without() {
        let mut options = SegmentOptions::new();
        for _ in 0..MAX_OPTIONS {
            assert_eq!(options.attach(ACK, &[block(10)], None).option_bytes(), 12);
        }
        assert_eq!(options.attach(ACK, &[block(10)], None), ACK);
        assert_eq!(options.under_way(), MAX_OPTIONS);
    }
}
