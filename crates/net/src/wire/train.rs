//! A line of items, first in, first out, in a ring whose length is a power of two: a place in it is found by one mask.
//! Knows nothing of the items.

/// Items in their order.
#[derive(Debug)]
pub(super) struct Train<T> {
    /// The ring; what no item is in is left over.
    places: Vec<T>,
    /// The number of items that have left; modulo the length of the ring the place of the first.
    left: usize,
    len: usize,
}

impl<T> Default for Train<T> {
    fn default() -> Self {
        Self { places: Vec::new(), left: 0, len: 0 }
    }
}

impl<T: Copy> Train<T> {
    #[inline]
    pub(super) fn len(&self) -> usize {
        self.len
    }

    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.len == 0
    }

    #[inline]
    fn place(&self, behind: usize) -> usize {
        self.left.wrapping_add(behind) & self.places.len().wrapping_sub(1)
    }

    /// Returns the first item.
    #[inline]
    pub(super) fn front(&self) -> Option<&T> {
        if self.is_empty() { None } else { self.places.get(self.place(0)) }
    }

    /// Forgets the first item.
    #[inline]
    pub(super) fn remove_front(&mut self) {
        debug_assert!(!self.is_empty());
        self.left = self.left.wrapping_add(1);
        self.len -= 1;
    }

    /// Puts a copy of an item at the end, and returns it.
    // By reference: so it is copied to its place here and nowhere else.
    #[inline]
    pub(super) fn push_back(&mut self, item: &T) -> &mut T {
        if self.len == self.places.len() {
            self.grow(item);
        }
        let place = self.place(self.len);
        self.len += 1;
        let place = &mut self.places[place];
        *place = *item;
        place
    }

    /// Doubles the ring; `item` fills what is free.
    #[cold]
    fn grow(&mut self, item: &T) {
        let mut places: Vec<T> = self.iter().copied().collect();
        places.resize((2 * self.len).max(4), *item);
        (self.places, self.left) = (places, 0);
    }

    /// Counts the items from the first on that are so, as no item behind them is.
    pub(super) fn count_while(&self, is_so: impl Fn(&T) -> bool) -> usize {
        let (mut from, mut to) = (0, self.len);
        while from < to {
            let middle = from.midpoint(to);
            if is_so(&self.places[self.place(middle)]) { from = middle + 1 } else { to = middle }
        }
        from
    }

    /// Walks through the items, the first one first.
    pub(super) fn iter(&self) -> impl Iterator<Item = &T> {
        (0..self.len).map(|behind| &self.places[self.place(behind)])
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use airtcp_kernel::RandomStream;

    use super::*;

    /// Items that come and go at random, and a queue of the standard library beside.
    #[test]
    fn what_came_first_leaves_first() {
        let mut stream = RandomStream::new(1, 0, "test", "train");
        let (mut train, mut beside) = (Train::default(), VecDeque::new());
        for item in 0..20_000_u32 {
            // Growing at first, then shrinking, time and again.
            if stream.up_to(99) < 30 + 40 * (item / 500 % 2) && !beside.is_empty() {
                train.remove_front();
                beside.pop_front();
            } else {
                assert_eq!(*train.push_back(&item), item);
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
