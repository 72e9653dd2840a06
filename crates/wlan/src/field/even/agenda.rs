//! The events of an even field that are pending: ends of frames and waits in their order, and the next access of each
//! listener, of which most are forestalled by others. Knows keys and stations, and no event.

use crate::field::clock::Key;
use crate::field::listener::ListenerId;
use crate::field::node::NONE;
use crate::station::StationId;

/// The ends that are pending, the first of all last: most often it is the first that is played, and what follows it is soon.
#[derive(Debug)]
pub(super) struct Agenda(Vec<Event>);

/// The accesses that are pending: a bit for each listener that has one, their number, and the first of all, if it is known.
#[derive(Debug)]
pub(super) struct Accesses {
    pending: Vec<u64>,
    number: u32,
    first: Event,
}

/// An event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Event {
    pub(super) key: Key,
    pub(super) station: StationId,
    /// The listener of the station whose access it is, or the sender of the data that end or are answered.
    pub(super) of: u32,
}

impl Event {
    /// The event behind all others.
    pub(super) const NEVER: Self = Self { key: Key::NEVER, station: NONE, of: u32::MAX };

    /// Tells whether it comes behind `other`.
    #[inline(always)]
    pub(super) fn is_behind(self, other: Self) -> bool {
        self.key > other.key || self.key == other.key && self.station > other.station
    }
}

impl Accesses {
    const UNKNOWN: Event = Event { key: Key::UNKNOWN, station: NONE, of: u32::MAX };

    /// Makes those of so many listeners, of which none has one.
    pub(super) fn new(listeners: usize) -> Self {
        Self { pending: vec![0; listeners.div_ceil(64)], number: 0, first: Event::NEVER }
    }

    /// Sets the access of a listener.
    #[inline]
    pub(super) fn set(&mut self, event: Event) {
        let pending = &mut self.pending[event.of as usize / 64];
        self.number += u32::from(*pending >> (event.of % 64) & 1 == 0);
        *pending |= 1 << (event.of % 64);
        if self.first.is_behind(event) {
            self.first = event;
        } else if self.first.of == event.of {
            self.first = Self::UNKNOWN;
        }
    }

    /// Forgets the access of the listener at `place`.
    #[inline]
    pub(super) fn forget(&mut self, place: ListenerId) {
        let pending = &mut self.pending[place as usize / 64];
        self.number -= (*pending >> (place % 64)) as u32 & 1;
        *pending &= !(1 << (place % 64));
        if self.first.of == place {
            self.first = if self.number == 0 { Event::NEVER } else { Self::UNKNOWN };
        }
    }

    /// Returns the first of all, if it is known.
    #[inline(always)]
    pub(super) fn first(&self) -> Option<Event> {
        (self.first.key != Key::UNKNOWN).then_some(self.first)
    }

    /// Looks up the first of all, where `access` tells that of a listener.
    #[inline]
    pub(super) fn find_first(&mut self, access: impl Fn(ListenerId) -> Event) -> Event {
        self.first = Event::NEVER;
        for (word, &pending) in (0..).zip(&self.pending) {
            let mut pending = pending;
            while pending != 0 {
                let event = access(word * 64 + pending.trailing_zeros());
                pending &= pending - 1;
                if self.first.is_behind(event) {
                    self.first = event;
                }
            }
        }
        self.first
    }
}

impl Agenda {
    /// Makes an empty one.
    pub(super) fn new() -> Self {
        Self(vec![Event::NEVER])
    }

    /// Returns the first event; that of nobody if there is none.
    #[inline]
    pub(super) fn first(&self) -> Event {
        self.0.last().copied().unwrap_or(Event::NEVER)
    }

    /// Adds an event.
    #[inline]
    pub(super) fn add(&mut self, event: Event) {
        self.0.push(event);
        let events = &mut self.0[..];
        let mut place = events.len() - 1;
        for other in (0..place).rev() {
            if !event.is_behind(events[other]) {
                break;
            }
            events[other + 1] = events[other];
            place = other;
        }
        events[place] = event;
    }

    /// Takes the first event out, where there is one.
    #[inline]
    pub(super) fn pass_first(&mut self) {
        debug_assert!(self.0.len() > 1, "there is one");
        self.0.truncate(self.0.len() - 1);
    }
}

#[cfg(test)]
mod tests {
    use airtcp_kernel::Time;

    use super::*;
    use crate::field::clock::Rank;

    /// Events that come in an order that looks like none leave in that of their times, and of several at one instant in
    /// that of their stations.
    #[test]
    fn each_is_first_in_its_turn() {
        let mut agenda = Agenda::new();
        let mut all = Vec::new();
        for one in 0..400_u32 {
            let time = Time::from_nanos(u64::from(one * 7_919 % 101));
            let (key, station) = (Key::new(time, Rank::Start), one * 31 % 400);
            let event = Event { key, station, of: one };
            agenda.add(event);
            all.push(event);
        }
        all.sort_unstable_by_key(|event| (event.key, event.station));
        for event in all {
            assert_eq!(agenda.first(), event);
            agenda.pass_first();
        }
        assert_eq!(agenda.first().key.time(), Time::NEVER);
    }

    /// Accesses of 1 to 200 listeners that come and go in an order that looks like none: the first is the least of those
    /// that are there.
    #[test]
    fn the_first_access_is_the_least_of_all() {
        for listeners in [1, 5, 64, 65, 200_u32] {
            let mut accesses = Accesses::new(listeners as usize);
            let mut all = vec![Event::NEVER; listeners as usize];
            for step in 0..2_000_u32 {
                let place = step * 7_919 % listeners;
                if step % 3 == 1 {
                    all[place as usize] = Event::NEVER;
                    accesses.forget(place);
                } else {
                    let time = Time::from_nanos(u64::from(step * 31 % 97));
                    let event =
                        Event { key: Key::new(time, Rank::Start), station: place, of: place };
                    all[place as usize] = event;
                    accesses.set(event);
                }
                let least = all.iter().copied().min_by_key(|event| (event.key, event.station));
                let first = accesses.first();
                let first = first.unwrap_or_else(|| accesses.find_first(|one| all[one as usize]));
                assert_eq!(Some(first), least);
            }
        }
    }
}
