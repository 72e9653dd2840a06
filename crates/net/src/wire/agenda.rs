//! The next event on each of many wires, in a total order.

use airtcp_kernel::Time;

/// The next event on a wire. Of several simultaneous events, the one scheduled first comes first.
// One integer, so that a single comparison orders two events. The time is in the upper half,
// followed by the sequence number, whether it is a departure, and the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Due(u128);

/// Bits of a wire's number in [`Due`].
pub(super) const WIRE_BITS: u32 = 24;

#[derive(Clone, Copy)]
pub(super) enum DueKind {
    Arrival,
    Departure,
}

impl Due {
    #[inline]
    pub(super) fn time(self) -> Time {
        Time::from_nanos((self.0 >> 64) as u64)
    }

    #[inline]
    pub(super) fn wire(self) -> usize {
        (self.0 & ((1 << WIRE_BITS) - 1)) as usize
    }

    #[inline]
    pub(super) fn is_departure(self) -> bool {
        self.0 >> WIRE_BITS & 1 == DueKind::Departure as u128
    }
}

/// A binary heap of events. The most frequent operation replaces the first event by the next one on
/// its wire, in one pass.
#[derive(Debug, Default)]
pub(super) struct Agenda {
    heap: Vec<Due>,
    /// The number of events scheduled so far.
    scheduled: u64,
}

impl Agenda {
    #[inline]
    pub(super) fn first(&self) -> Option<Due> {
        self.heap.first().copied()
    }

    pub(super) fn scheduled(&self) -> u64 {
        self.scheduled
    }

    #[inline]
    pub(super) fn push(&mut self, time: Time, kind: DueKind, wire: usize) {
        let due = self.due(time, kind, wire);
        let mut hole = self.heap.len();
        self.heap.push(due);
        while hole > 0 {
            let parent = (hole - 1) / 2;
            if self.heap[parent] <= due {
                break;
            }
            self.heap[hole] = self.heap[parent];
            hole = parent;
        }
        self.heap[hole] = due;
    }

    /// Replaces the first event.
    #[inline]
    pub(super) fn replace_first(&mut self, time: Time, kind: DueKind, wire: usize) {
        let due = self.due(time, kind, wire);
        self.sink(due);
    }

    #[inline]
    pub(super) fn remove_first(&mut self) {
        if let Some(last) = self.heap.pop()
            && !self.heap.is_empty()
        {
            self.sink(last);
        }
    }

    /// Sifts `due` down from the root, which is free.
    #[inline]
    fn sink(&mut self, due: Due) {
        let mut hole = 0;
        loop {
            let mut child = 2 * hole + 1;
            let Some(&left) = self.heap.get(child) else { break };
            let mut least = left;
            if let Some(&right) = self.heap.get(child + 1)
                && right < left
            {
                (child, least) = (child + 1, right);
            }
            if due <= least {
                break;
            }
            self.heap[hole] = least;
            hole = child;
        }
        self.heap[hole] = due;
    }

    #[inline]
    fn due(&mut self, time: Time, kind: DueKind, wire: usize) -> Due {
        let rank = (self.scheduled << 1 | kind as u64) << WIRE_BITS | wire as u64;
        self.scheduled += 1;
        Due(u128::from(time.as_nanos()) << 64 | u128::from(rank))
    }
}

#[cfg(test)]
mod tests {
    use std::cmp::Reverse;
    use std::collections::BinaryHeap;

    use airtcp_kernel::RandomStream;

    use super::*;

    /// Compares random events, many of them simultaneous, with the standard heap.
    #[test]
    fn the_first_is_that_of_the_standard_librarys_heap() {
        let mut stream = RandomStream::new(1, 0, "test", "agenda");
        let mut agenda = Agenda::default();
        let mut beside = BinaryHeap::new();
        for _ in 0..50_000 {
            let (time, wire) =
                (Time::from_nanos(stream.up_to(40).into()), stream.up_to(9) as usize);
            let mut numbered = Agenda { heap: Vec::new(), scheduled: agenda.scheduled };
            let due = numbered.due(time, DueKind::Arrival, wire);
            match stream.up_to(7) {
                0..3 => {
                    agenda.push(time, DueKind::Arrival, wire);
                    beside.push(Reverse(due));
                }
                3..6 if !beside.is_empty() => {
                    agenda.replace_first(time, DueKind::Arrival, wire);
                    beside.pop();
                    beside.push(Reverse(due));
                }
                _ => {
                    agenda.remove_first();
                    beside.pop();
                }
            }
            assert_eq!(agenda.first(), beside.peek().map(|&Reverse(due)| due));
        }
        let first = Agenda::default().due(Time::from_nanos(5), DueKind::Departure, 7);
        assert_eq!(
            (first.time(), first.wire(), first.is_departure()),
            (Time::from_nanos(5), 7, true)
        );
    }
}
