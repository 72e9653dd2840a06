//! The next event on each of many wires, in a total order.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

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

/// The events of all wires. The most frequent operation replaces the first event by the next one
/// on its wire.
#[derive(Debug, Default)]
pub(super) struct Agenda {
    heap: BinaryHeap<Reverse<Due>>,
    /// The number of events scheduled so far.
    scheduled: u64,
}

impl Agenda {
    #[inline]
    pub(super) fn first(&self) -> Option<Due> {
        self.heap.peek().map(|&Reverse(due)| due)
    }

    pub(super) fn scheduled(&self) -> u64 {
        self.scheduled
    }

    #[inline]
    pub(super) fn push(&mut self, time: Time, kind: DueKind, wire: usize) {
        let due = self.due(time, kind, wire);
        self.heap.push(Reverse(due));
    }

    /// Replaces the first event.
    #[inline]
    pub(super) fn replace_first(&mut self, time: Time, kind: DueKind, wire: usize) {
        let due = self.due(time, kind, wire);
        if let Some(mut first) = self.heap.peek_mut() {
            *first = Reverse(due);
        }
    }

    #[inline]
    pub(super) fn remove_first(&mut self) {
        self.heap.pop();
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
    use super::*;

    #[test]
    fn events_come_by_time_and_then_in_the_order_of_scheduling() {
        let at = Time::from_nanos;
        let mut agenda = Agenda::default();
        agenda.push(at(5), DueKind::Departure, 7);
        agenda.push(at(3), DueKind::Arrival, 1);
        agenda.push(at(5), DueKind::Arrival, 2);
        let mut seen = Vec::new();
        while let Some(due) = agenda.first() {
            seen.push((due.time(), due.wire(), due.is_departure()));
            if seen.len() == 1 {
                agenda.replace_first(at(5), DueKind::Arrival, 1);
            } else {
                agenda.remove_first();
            }
        }
        let later = [(at(5), 7, true), (at(5), 2, false), (at(5), 1, false)];
        assert_eq!(seen, [&[(at(3), 1, false)][..], &later].concat());
    }
}
