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
    /// First station of each bucket.
    heads: Vec<u32>,
    /// The station after each station in its bucket.
    next: Vec<u32>,
    /// A bit for each bucket that is not empty.
    occupied: Vec<u64>,
    mask: u64,
    len: usize,
}

impl SlotRing {
    /// A ring for `stations` stations whose slots lie less than `span` apart.
    pub(crate) fn new(stations: usize, span: u32) -> Self {
        let slots = (u64::from(span) + 1).next_power_of_two().max(64);
        Self {
            heads: vec![NONE; slots as usize],
            next: vec![NONE; stations],
            occupied: vec![0; slots as usize / 64],
            mask: slots - 1,
            len: 0,
        }
    }

    /// Puts `station` into `slot`.
    #[inline]
    pub(crate) fn insert(&mut self, station: u32, slot: u64) {
        let bucket = (slot & self.mask) as usize;
        let head = &mut self.heads[bucket];
        self.next[station as usize] = *head;
        *head = station;
        self.occupied[bucket / 64] |= 1 << (bucket % 64);
        self.len += 1;
    }

    /// The first occupied slot at or after `from`, where all stations lie.
    #[inline]
    pub(crate) fn first_from(&self, from: u64) -> Option<u64> {
        if self.len == 0 {
            return None;
        }
        let start = (from & self.mask) as usize;
        let words = self.occupied.len();
        let head = self.occupied[start / 64] >> (start % 64);
        if head != 0 {
            return Some(from + u64::from(head.trailing_zeros()));
        }
        let mut ahead = 64 - (start % 64) as u64;
        for step in 1..=words {
            // Their number is a power of two.
            let word = self.occupied[(start / 64 + step) & (words - 1)];
            if word != 0 {
                return Some(from + ahead + u64::from(word.trailing_zeros()));
            }
            ahead += 64;
        }
        unreachable!("{} stations in the ring, but no bucket is occupied", self.len)
    }

    /// Takes out `station`, which is in a slot at or after `from`, where all lie: which one.
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

    /// Moves the stations of `slot` to the end of `into`.
    #[inline]
    pub(crate) fn take(&mut self, slot: u64, into: &mut Vec<u32>) {
        let bucket = (slot & self.mask) as usize;
        let mut station = std::mem::replace(&mut self.heads[bucket], NONE);
        self.occupied[bucket / 64] &= !(1 << (bucket % 64));
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
        ring.take(base + 70, &mut taken);
        taken.sort_unstable();
        assert_eq!(taken, [1, 2]);
        assert_eq!(ring.first_from(base + 70), Some(base + 1023));
        ring.take(base + 1023, &mut taken);
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
