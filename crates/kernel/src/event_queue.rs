//! The pending events of one run, in a total order: time, then class, then order of scheduling.
//!
//! A class says what goes first among events of one instant (the caller numbers them); the
//! sequence number makes events of one class first in, first out. Nothing is left to the heap's
//! taste, so a run is the same on every machine. The queue knows nothing of what events mean.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

use crate::time::Time;

/// Pending events of type `E`; `push` and `pop` take O(log n), `next_time` O(1).
#[derive(Debug)]
pub struct EventQueue<E> {
    heap: BinaryHeap<Reverse<Entry<E>>>,
    scheduled: u64,
    now: Time,
    /// The time of the first event.
    next: Time,
}

#[derive(Debug)]
struct Entry<E> {
    /// The time in the upper half, and then the class in 8 bits and the sequence number in 56: one
    /// number, so that one comparison tells which of two is first.
    key: u128,
    event: E,
}

const SEQUENCE_BITS: u32 = 56;

impl<E> EventQueue<E> {
    /// Makes an empty queue at the start of time.
    pub fn new() -> Self {
        Self { heap: BinaryHeap::new(), scheduled: 0, now: Time::ZERO, next: Time::NEVER }
    }

    /// Schedules `event` for `time`, before all events of the same time with a larger `class`
    /// and after those of its own class that were scheduled earlier.
    ///
    /// # Panics
    /// If `time` lies before the event that was popped last: the caller has broken causality.
    pub fn push(&mut self, time: Time, class: u8, event: E) {
        assert!(time >= self.now, "event scheduled for {time}, but it is {} already", self.now);
        let rank = (u64::from(class) << SEQUENCE_BITS) | self.scheduled;
        self.scheduled += 1;
        let key = u128::from(time.as_nanos()) << 64 | u128::from(rank);
        self.heap.push(Reverse(Entry { key, event }));
        self.next = self.next.min(time);
    }

    /// Takes the first event out, with its time.
    pub fn pop(&mut self) -> Option<(Time, E)> {
        let Reverse(entry) = self.heap.pop()?;
        self.now = entry.time();
        self.next = self.heap.peek().map_or(Time::NEVER, |Reverse(entry)| entry.time());
        Some((self.now, entry.event))
    }

    /// Returns the time of the first event; [`Time::NEVER`] if there is none.
    #[inline]
    pub fn next_time(&self) -> Time {
        self.next
    }

    /// Returns the number of events that have been scheduled since the start.
    pub fn scheduled(&self) -> u64 {
        self.scheduled
    }
}

impl<E> Default for EventQueue<E> {
    fn default() -> Self {
        Self::new()
    }
}

impl<E> Entry<E> {
    fn time(&self) -> Time {
        Time::from_nanos((self.key >> 64) as u64)
    }
}

impl<E> Ord for Entry<E> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.key.cmp(&other.key)
    }
}

impl<E> PartialOrd for Entry<E> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }

    // What the heap asks, in two instructions.
    fn le(&self, other: &Self) -> bool {
        self.key <= other.key
    }

    fn ge(&self, other: &Self) -> bool {
        self.key >= other.key
    }
}

impl<E> PartialEq for Entry<E> {
    fn eq(&self, other: &Self) -> bool {
        self.key == other.key
    }
}

impl<E> Eq for Entry<E> {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_is_time_then_class_then_sequence() {
        let mut queue = EventQueue::new();
        let early = Time::from_nanos(1);
        let late = Time::from_nanos(2);
        queue.push(late, 0, "late");
        queue.push(early, 1, "second class");
        queue.push(early, 0, "first in");
        queue.push(early, 0, "second in");

        let order: Vec<_> = std::iter::from_fn(|| queue.pop()).collect();

        assert_eq!(
            order,
            [(early, "first in"), (early, "second in"), (early, "second class"), (late, "late")]
        );
        assert_eq!(queue.next_time(), Time::NEVER);
    }

    #[test]
    #[should_panic(expected = "already")]
    fn the_past_is_closed() {
        let mut queue = EventQueue::new();
        queue.push(Time::from_nanos(5), 0, ());
        queue.pop();

        queue.push(Time::from_nanos(4), 0, ());
    }
}
