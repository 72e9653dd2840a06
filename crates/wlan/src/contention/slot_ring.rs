//! Stations sorted by the slot in which their backoff ends: a ring of buckets with a bitmap.
//!
//! Backoffs are bounded by CWmax, so a ring somewhat longer than that holds all of them at
//! once; inserting is O(1), the next occupied slot is found 64 slots at a time. Knows slots, not
//! time.

/// No station.
const NONE: u32 = u32::MAX;

/// Buckets of stations by absolute slot number.
#[derive(Debug)]
pub(crate) struct SlotRing {
    /// A bit for each bucket that is not empty, 64 to a word; their number is a power of two.
    occupied: Vec<u64>,
    /// The first station of each bucket.
    heads: Vec<u32>,
    /// The station after each station in its bucket.
    next: Vec<u32>,
    len: usize,
}

impl SlotRing {
    /// Makes a ring for `stations` stations whose slots lie less than `span` apart.
    pub(crate) fn new(stations: usize, span: u32) -> Self {
        let slots = (u64::from(span) + 1).next_power_of_two().max(64) as usize;
        Self {
            occupied: vec![0; slots / 64],
            heads: vec![NONE; slots],
            next: vec![NONE; stations],
            len: 0,
        }
    }

    /// Returns the word with the bit of `slot`.
    #[inline]
    fn word(&self, slot: u64) -> u64 {
        self.occupied[(slot / 64) as usize & (self.occupied.len() - 1)]
    }

    /// Returns the word with the bit of `slot`, to be changed.
    #[inline]
    fn word_mut(&mut self, slot: u64) -> &mut u64 {
        let place = (slot / 64) as usize & (self.occupied.len() - 1);
        &mut self.occupied[place]
    }

    /// Returns the bucket of `slot`.
    #[inline]
    fn head_mut(&mut self, slot: u64) -> &mut u32 {
        let place = slot as usize & (self.heads.len() - 1);
        &mut self.heads[place]
    }

    /// Puts `station` into `slot`.
    // Called from a few places, most of them rare: without a word it is not inlined in the frequent one.
    #[inline(always)]
    pub(crate) fn insert(&mut self, station: u32, slot: u64) {
        *self.word_mut(slot) |= 1 << (slot % 64);
        self.next[station as usize] = std::mem::replace(self.head_mut(slot), station);
        self.len += 1;
    }

    /// Returns the first occupied slot at or after `from`, where all stations lie.
    #[inline]
    pub(crate) fn first_from(&self, from: u64) -> Option<u64> {
        if self.len == 0 {
            return None;
        }
        let here = self.word(from) >> (from % 64);
        if here != 0 {
            return Some(from + u64::from(here.trailing_zeros()));
        }
        // After a turn the first word comes again, for slots before `from` in it.
        for words in 1..=self.occupied.len() as u64 {
            let first = (from / 64 + words) * 64;
            let occupied = self.word(first);
            if occupied != 0 {
                return Some(first + u64::from(occupied.trailing_zeros()));
            }
        }
        unreachable!("{} stations in the ring, but no bucket is occupied", self.len)
    }

    /// Takes out `station`, which is in a slot at or after `from`, where all lie, and returns that slot.
    ///
    /// # Panics
    /// If it is in none.
    #[cold]
    pub(crate) fn remove(&mut self, station: u32, from: u64) -> u64 {
        let mut slot = self.first_from(from).expect("the ring has the station");
        let mut others = Vec::new();
        loop {
            others.clear();
            self.take(slot, &mut others);
            let place = others.iter().position(|&one| one == station);
            // In the order in which they were: the last is the first again.
            for &other in others.iter().rev().filter(|&&other| other != station) {
                self.insert(other, slot);
            }
            if place.is_some() {
                return slot;
            }
            slot = self.first_from(slot + 1).expect("the ring has the station");
        }
    }

    /// Takes out the station of `slot`, where there is one, and returns it if it is alone there.
    #[inline]
    pub(crate) fn take_only(&mut self, slot: u64) -> Option<u32> {
        let station = *self.head_mut(slot);
        if self.next[station as usize] != NONE {
            return None;
        }
        *self.head_mut(slot) = NONE;
        *self.word_mut(slot) &= !(1 << (slot % 64));
        self.len -= 1;
        Some(station)
    }

    /// Moves the stations of `slot` to the end of `into`.
    #[inline]
    pub(crate) fn take(&mut self, slot: u64, into: &mut Vec<u32>) {
        *self.word_mut(slot) &= !(1 << (slot % 64));
        let mut station = std::mem::replace(self.head_mut(slot), NONE);
        while station != NONE {
            into.push(station);
            self.len -= 1;
            station = self.next[station as usize];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_next_slot_across_words_and_around_the_end() {
        let mut ring = SlotRing::new(4, 1023);
        let base = 10_000 * 1024 - 10;
        ring.insert(0, base + 1023);
        ring.insert(1, base + 70);
        ring.insert(2, base + 70);

        assert_eq!(ring.first_from(base), Some(base + 70));
        let mut taken = Vec::new();
        assert_eq!(ring.take_only(base + 70), None);
        ring.take(base + 70, &mut taken);
        taken.sort_unstable();
        assert_eq!(taken, [1, 2]);
        assert_eq!(ring.first_from(base + 70), Some(base + 1023));
        assert_eq!(ring.take_only(base + 1023), Some(0));
        assert_eq!(ring.first_from(base + 1023), None);
    }

    #[test]
    fn one_can_be_taken_out_of_the_middle() {
        let mut ring = SlotRing::new(4, 1023);
        for (station, slot) in [(0, 100), (1, 700), (2, 700), (3, 700)] {
            ring.insert(station, slot);
        }

        assert_eq!(ring.remove(2, 90), 700);
        assert_eq!(ring.remove(0, 90), 100);

        assert_eq!(ring.first_from(90), Some(700));
        let mut taken = Vec::new();
        ring.take(700, &mut taken);
        assert_eq!(taken, [3, 1]);
        assert_eq!(ring.first_from(90), None);
    }

    #[test]
    fn a_slot_in_the_same_word_but_before_the_start_is_a_turn_away() {
        let mut ring = SlotRing::new(1, 63);
        // 64 buckets: slot 64 + 3 lies in bucket 3, behind the start at bucket 5.
        ring.insert(0, 64 + 3);

        assert_eq!(ring.first_from(5), Some(67));
    }
}
