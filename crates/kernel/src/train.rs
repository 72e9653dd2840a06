//! A FIFO queue of items in a ring buffer. The ring's length is a power of two, so a mask maps an
//! item's number to its place.

use std::ops::{Index, IndexMut};

/// A ring buffer of items.
#[derive(Clone, Debug)]
pub struct Train<T> {
    /// The ring; unused places hold stale items.
    places: Vec<T>,
    /// The number of the first item. Its place is this number modulo the length of the ring.
    first: usize,
    /// The number that the next item will get.
    end: usize,
}

impl<T> Default for Train<T> {
    fn default() -> Self {
        Self { places: Vec::new(), first: 0, end: 0 }
    }
}

impl<T: Copy> Train<T> {
    /// Returns the number of items.
    #[inline]
    pub fn len(&self) -> usize {
        self.end - self.first
    }

    /// Whether the queue is empty.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.end == self.first
    }

    /// Returns the place of the item with number `number`.
    #[inline]
    fn place(&self, number: usize) -> usize {
        number & self.places.len().wrapping_sub(1)
    }

    /// Returns the first item.
    #[inline]
    pub fn front(&self) -> Option<&T> {
        if self.is_empty() { None } else { self.places.get(self.place(self.first)) }
    }

    /// Removes the first item.
    #[inline]
    pub fn remove_front(&mut self) {
        debug_assert!(!self.is_empty());
        self.first += 1;
        if self.is_empty() {
            // Start at place 0 again: a short queue then stays in one cache line.
            (self.first, self.end) = (0, 0);
        }
    }

    /// Removes and returns the last item.
    pub fn pop_back(&mut self) -> Option<T> {
        let last = self.len().checked_sub(1)?;
        let item = self[last];
        self.end -= 1;
        Some(item)
    }

    /// Removes and returns the item `behind` places after the first.
    ///
    /// # Panics
    /// If there is no such item.
    pub fn remove(&mut self, behind: usize) -> T {
        let len = self.len();
        assert!(behind < len, "no item {behind} of {len}");
        let item = self[behind];
        for place in behind + 1..len {
            self[place - 1] = self[place];
        }
        self.end -= 1;
        item
    }

    /// Appends the item that `make` returns.
    // A closure constructs a large item in place instead of copying it there.
    #[inline(always)]
    pub fn push_back_with(&mut self, make: impl Fn() -> T) {
        if self.len() == self.places.len() {
            self.grow(make());
        }
        let place = self.place(self.end);
        self.end += 1;
        self.places[place] = make();
    }

    /// Appends an item.
    #[inline(always)]
    pub fn push_back(&mut self, item: T) {
        self.push_back_with(|| item);
    }

    /// Doubles the ring and fills the free places with `item`.
    #[cold]
    #[inline(never)]
    fn grow(&mut self, item: T) {
        let len = self.len();
        let mut places: Vec<T> = self.iter().copied().collect();
        places.resize((2 * len).max(4), item);
        (self.places, self.first, self.end) = (places, 0, len);
    }

    /// Counts the leading items for which `is_so` holds. The items must be partitioned: after the
    /// first item that fails, all fail.
    pub fn count_while(&self, is_so: impl Fn(&T) -> bool) -> usize {
        let (mut from, mut to) = (0, self.len());
        while from < to {
            let middle = from.midpoint(to);
            if is_so(&self[middle]) { from = middle + 1 } else { to = middle }
        }
        from
    }

    /// Iterates over the items from first to last.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        (0..self.len()).map(|behind| &self[behind])
    }
}

/// The item `behind` places after the first.
impl<T: Copy> Index<usize> for Train<T> {
    type Output = T;

    #[inline]
    fn index(&self, behind: usize) -> &T {
        debug_assert!(behind < self.len());
        &self.places[self.place(self.first + behind)]
    }
}

impl<T: Copy> IndexMut<usize> for Train<T> {
    #[inline]
    fn index_mut(&mut self, behind: usize) -> &mut T {
        debug_assert!(behind < self.len());
        let place = self.place(self.first + behind);
        &mut self.places[place]
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use super::*;
    use crate::RandomStream;

    /// Compares random pushes and removals with a standard `VecDeque`.
    #[test]
    fn what_came_first_leaves_first() {
        let mut stream = RandomStream::new(1, 0, "test", "train");
        let (mut train, mut beside) = (Train::default(), VecDeque::new());
        for item in 0..20_000_u32 {
            // Grows first, then shrinks, again and again. Sometimes removes an item at the other
            // end or in the middle.
            if stream.up_to(19) == 0 && !beside.is_empty() {
                assert_eq!(train.pop_back(), beside.pop_back());
                let behind = stream.up_to(beside.len() as u32) as usize;
                if behind < beside.len() {
                    assert_eq!(Some(train.remove(behind)), beside.remove(behind));
                }
            } else if stream.up_to(99) < 30 + 40 * (item / 500 % 2) && !beside.is_empty() {
                train.remove_front();
                beside.pop_front();
            } else {
                train.push_back(item);
                beside.push_back(item);
            }
            assert_eq!((train.front(), train.len()), (beside.front(), beside.len()));
            assert_eq!(train.is_empty(), beside.is_empty());
            assert!(item % 100 > 0 || train.iter().eq(&beside));
            let bound = item.saturating_sub(stream.up_to(200));
            let below = beside.partition_point(|&one| one < bound);
            assert_eq!(train.count_while(|&one| one < bound), below);
        }
    }
}
