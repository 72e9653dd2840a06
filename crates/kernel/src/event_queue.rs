//! The pending events of one run, in a total order: time, then class, then order of scheduling.
//!
//! The caller numbers the classes; the class decides which of several simultaneous events comes
//! first. A sequence number makes events of one class first in, first out. The order never depends
//! on the heap, so a run is the same on every machine.
//!
//! Timers of one length expire in the order in which they were set. The queue keeps such events in
//! a FIFO lane, whose front is the next event. All other events are in a heap.

use std::cmp::{Ordering, Reverse};
use std::collections::{BinaryHeap, VecDeque};

use crate::time::{Duration, Time};

/// Pending events of type `E`. `push` and `pop` take O(log n), or O(1) for timers of one length;
/// `next_time` takes O(1).
#[derive(Debug)]
pub struct EventQueue<E> {
    /// FIFO lanes: events in order of their keys, each less than [`NEARBY`] after the one before
    /// it.
    lanes: [VecDeque<Entry<E>>; LANES],
    /// All other events.
    heap: BinaryHeap<Reverse<Entry<E>>>,
    scheduled: u64,
    now: Time,
    /// The time of the next event.
    next: Time,
}

#[derive(Debug)]
struct Entry<E> {
    /// The time in the upper 64 bits, then the class in 8 bits and the sequence number in 56. One
    /// integer, so that a single comparison orders two events.
    key: u128,
    event: E,
}

const SEQUENCE_BITS: u32 = 56;

/// One lane for delayed-ACK timers and one for retransmission timers.
const LANES: usize = 2;

/// Bound on the time between neighbors in a lane. A timer of a different length would block the
/// lane.
const NEARBY: Duration = Duration::from_millis(50);

impl<E> EventQueue<E> {
    /// Creates an empty queue at time 0.
    pub fn new() -> Self {
        Self {
            lanes: std::array::from_fn(|_| VecDeque::new()),
            heap: BinaryHeap::new(),
            scheduled: 0,
            now: Time::ZERO,
            next: Time::NEVER,
        }
    }

    /// Schedules `event` at `time`: before all events of the same time with a larger `class`, and
    /// after earlier-scheduled events of its own class.
    ///
    /// # Panics
    /// If `time` is before the last popped event: the caller has broken causality.
    pub fn push(&mut self, time: Time, class: u8, event: E) {
        assert!(time >= self.now, "event scheduled for {time}, but it is {} already", self.now);
        let rank = (u64::from(class) << SEQUENCE_BITS) | self.scheduled;
        self.scheduled += 1;
        let key = u128::from(time.as_nanos()) << 64 | u128::from(rank);
        let entry = Entry { key, event };
        let is_behind = |last: &Entry<E>| last.key < key && time - last.time() < NEARBY;
        match self.lanes.iter_mut().find(|lane| lane.back().is_none_or(is_behind)) {
            Some(lane) => lane.push_back(entry),
            None => self.heap.push(Reverse(entry)),
        }
        self.next = self.next.min(time);
    }

    /// Removes and returns the next event, with its time.
    pub fn pop(&mut self) -> Option<(Time, E)> {
        let (mut place, mut first, mut second) = (LANES, NO_KEY, NO_KEY);
        if let Some(Reverse(entry)) = self.heap.peek() {
            first = entry.key;
        }
        for (lane, entries) in self.lanes.iter().enumerate() {
            let key = entries.front().map_or(NO_KEY, |entry| entry.key);
            if key < first {
                (place, second, first) = (lane, first, key);
            } else {
                second = second.min(key);
            }
        }
        // The new front of this lane may still come before the fronts of the others.
        let (entry, behind) = match self.lanes.get_mut(place) {
            Some(lane) => (lane.pop_front()?, lane.front().map_or(NO_KEY, |entry| entry.key)),
            None => {
                let Reverse(entry) = self.heap.pop()?;
                (entry, self.heap.peek().map_or(NO_KEY, |Reverse(entry)| entry.key))
            }
        };
        self.now = entry.time();
        self.next = time_of(second.min(behind));
        Some((self.now, entry.event))
    }

    /// Returns the time of the next event, or [`Time::NEVER`] if the queue is empty.
    #[inline]
    pub fn next_time(&self) -> Time {
        self.next
    }

    /// Returns the number of events scheduled since the start.
    pub fn scheduled(&self) -> u64 {
        self.scheduled
    }
}

impl<E> Default for EventQueue<E> {
    fn default() -> Self {
        Self::new()
    }
}

/// Sentinel for "no event", at [`Time::NEVER`]. Sorts after every real key.
const NO_KEY: u128 = u128::MAX;

fn time_of(key: u128) -> Time {
    Time::from_nanos((key >> 64) as u64)
}

impl<E> Entry<E> {
    fn time(&self) -> Time {
        time_of(self.key)
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

    // The heap calls `le`; the default takes more than these two instructions.
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
    use crate::RandomStream;

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

    /// Compares the queue with a list that is searched for its minimum. Sets 1,000 timers, half of
    /// them of 100 ms, each up to 2 ms after the one before, and pops expired ones in between.
    #[test]
    fn lanes_change_no_order() {
        let mut draws = RandomStream::new(1, 0, "queue", "times");
        let (mut queue, mut list) = (EventQueue::new(), Vec::new());
        let (mut now, mut gone_off) = (Time::ZERO, 0);
        for number in 0..1_000_u32 {
            now += Duration::from_micros(u64::from(draws.up_to(2_000)));
            let lengths = [100, 100, 100, 1_000, 200 + u64::from(draws.up_to(300)), 0];
            let time = now + Duration::from_millis(lengths[draws.up_to(5) as usize]);
            let class = draws.up_to(2) as u8;
            queue.push(time, class, number);
            list.push((time, class, number));
            while queue.next_time() <= now || number == 999 {
                let &first = list.iter().min().expect("as many are in the list");
                assert_eq!(queue.next_time(), first.0);
                assert_eq!(queue.pop(), Some((first.0, first.2)));
                list.retain(|&one| one != first);
                gone_off += 1;
                if list.is_empty() {
                    break;
                }
            }
        }
        assert_eq!((gone_off, queue.pop(), queue.next_time()), (1_000, None, Time::NEVER));
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
