//! Contenders sorted by the slot in which their backoff ends: a ring of buckets with a bitmap.
//!
//! CWmax bounds backoffs, so a ring slightly longer than CWmax holds all of them. Inserting is
//! O(1). The search for the next occupied slot covers 64 slots at a time. Contenders of a bucket
//! are linked through their own records ([`Linked`]).

use crate::station::ContenderId;

/// No contender.
pub(crate) const NOBODY: ContenderId = ContenderId::MAX;

/// Records of contenders, each with a link to the next one in its bucket.
pub(crate) trait Linked {
    /// Returns the link of a contender; only the ring changes it.
    fn behind(&mut self, id: ContenderId) -> &mut ContenderId;
}

/// Buckets of contenders by absolute slot number.
#[derive(Clone, Debug)]
pub(crate) struct SlotRing {
    /// A bit for each bucket that is not empty, 64 per word. The number of buckets is a power of
    /// two.
    occupied: Vec<u64>,
    /// The first contender of each bucket.
    heads: Vec<ContenderId>,
    len: usize,
}

impl SlotRing {
    /// Creates a ring for contenders whose slots differ by less than `span`.
    pub(crate) fn new(span: u32) -> Self {
        let slots = (u64::from(span) + 1).next_power_of_two().max(64) as usize;
        Self { occupied: vec![0; slots / 64], heads: vec![NOBODY; slots], len: 0 }
    }

    /// Returns the word with the bit of `slot`.
    #[inline]
    fn word(&self, slot: u64) -> u64 {
        self.occupied[(slot / 64) as usize & (self.occupied.len() - 1)]
    }

    /// Returns the word with the bit of `slot`, to change it.
    #[inline]
    fn word_mut(&mut self, slot: u64) -> &mut u64 {
        let place = (slot / 64) as usize & (self.occupied.len() - 1);
        &mut self.occupied[place]
    }

    /// Returns the first contender of `slot`.
    #[inline]
    pub(crate) fn head(&self, slot: u64) -> ContenderId {
        self.heads[slot as usize & (self.heads.len() - 1)]
    }

    /// Returns the bucket of `slot`, to change it.
    #[inline]
    fn head_mut(&mut self, slot: u64) -> &mut ContenderId {
        let place = slot as usize & (self.heads.len() - 1);
        &mut self.heads[place]
    }

    /// Inserts a contender into `slot`; `behind` is its link.
    // Called from a few places, most of them rare. Without this attribute it is not inlined in the
    // frequent one.
    #[inline(always)]
    pub(crate) fn insert(&mut self, id: ContenderId, behind: &mut ContenderId, slot: u64) {
        *self.word_mut(slot) |= 1 << (slot % 64);
        *behind = std::mem::replace(self.head_mut(slot), id);
        self.len += 1;
    }

    /// Returns the first occupied slot at or after `from`. All contenders must be at or after
    /// `from`.
    #[inline]
    pub(crate) fn first_from(&self, from: u64) -> Option<u64> {
        if self.len == 0 {
            return None;
        }
        let here = self.word(from) >> (from % 64);
        if here != 0 {
            return Some(from + u64::from(here.trailing_zeros()));
        }
        // After a full turn the first word comes again, for its slots before `from`.
        for words in 1..=self.occupied.len() as u64 {
            let first = (from / 64 + words) * 64;
            let occupied = self.word(first);
            if occupied != 0 {
                return Some(first + u64::from(occupied.trailing_zeros()));
            }
        }
        unreachable!("{} contenders in the ring, but no bucket is occupied", self.len)
    }

    /// Removes a contender from `slot`, which has it.
    #[inline]
    pub(crate) fn remove(&mut self, id: ContenderId, all: &mut impl Linked, slot: u64) {
        let behind = std::mem::replace(all.behind(id), NOBODY);
        let head = self.head(slot);
        if head != id {
            let mut before = head;
            while *all.behind(before) != id {
                before = *all.behind(before);
            }
            *all.behind(before) = behind;
        } else {
            *self.head_mut(slot) = behind;
            if behind == NOBODY {
                *self.word_mut(slot) &= !(1 << (slot % 64));
            }
        }
        self.len -= 1;
    }

    /// Removes and returns the contender of `slot` if it is the only one. The slot must be
    /// occupied.
    #[inline]
    pub(crate) fn take_only(&mut self, slot: u64, all: &mut impl Linked) -> Option<ContenderId> {
        let id = *self.head_mut(slot);
        if *all.behind(id) != NOBODY {
            return None;
        }
        *self.head_mut(slot) = NOBODY;
        *self.word_mut(slot) &= !(1 << (slot % 64));
        self.len -= 1;
        Some(id)
    }

    /// Moves the contenders of `slot` to the end of `into`.
    #[inline]
    pub(crate) fn take(&mut self, slot: u64, all: &mut impl Linked, into: &mut Vec<ContenderId>) {
        *self.word_mut(slot) &= !(1 << (slot % 64));
        let mut id = std::mem::replace(self.head_mut(slot), NOBODY);
        while id != NOBODY {
            into.push(id);
            self.len -= 1;
            id = *all.behind(id);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Linked for [ContenderId; 4] {
        fn behind(&mut self, id: ContenderId) -> &mut ContenderId {
            &mut self[id as usize]
        }
    }

    /// Inserts each of these contenders into its slot.
    fn fill(ring: &mut SlotRing, links: &mut [ContenderId; 4], all: &[(ContenderId, u64)]) {
        for &(id, slot) in all {
            ring.insert(id, links.behind(id), slot);
        }
    }

    #[test]
    fn finds_the_next_slot_across_words_and_around_the_end() {
        let (mut ring, mut links) = (SlotRing::new(1023), [NOBODY; 4]);
        let base = 10_000 * 1024 - 10;
        fill(&mut ring, &mut links, &[(0, base + 1023), (1, base + 70), (2, base + 70)]);

        assert_eq!(ring.first_from(base), Some(base + 70));
        let mut taken = Vec::new();
        assert_eq!(ring.take_only(base + 70, &mut links), None);
        ring.take(base + 70, &mut links, &mut taken);
        taken.sort_unstable();
        assert_eq!(taken, [1, 2]);
        assert_eq!(ring.first_from(base + 70), Some(base + 1023));
        assert_eq!(ring.take_only(base + 1023, &mut links), Some(0));
        assert_eq!(ring.first_from(base + 1023), None);
    }

    #[test]
    fn one_can_be_taken_out_of_the_middle() {
        let (mut ring, mut links) = (SlotRing::new(1023), [NOBODY; 4]);
        fill(&mut ring, &mut links, &[(0, 100), (1, 700), (2, 700), (3, 700)]);

        ring.remove(2, &mut links, 700);
        ring.remove(0, &mut links, 100);

        assert_eq!(ring.first_from(90), Some(700));
        let mut taken = Vec::new();
        ring.take(700, &mut links, &mut taken);
        assert_eq!(taken, [3, 1]);
        assert_eq!(ring.first_from(90), None);
    }

    #[test]
    fn a_slot_in_the_same_word_but_before_the_start_is_a_turn_away() {
        let (mut ring, mut links) = (SlotRing::new(63), [NOBODY; 4]);
        // 64 buckets: slot 64 + 3 is in bucket 3, before the start at bucket 5.
        fill(&mut ring, &mut links, &[(0, 64 + 3)]);

        assert_eq!(ring.first_from(5), Some(67));
    }
}
