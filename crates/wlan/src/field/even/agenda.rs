//! The pending events of an even field: ends of frames and timeouts in order, and the next access
//! of each listener. Most accesses are preempted by another station's. Keys and stations only.

use crate::field::clock::Key;
use crate::field::listener::ListenerId;
use crate::field::node::NONE;
use crate::station::StationId;

/// Pending ends and timeouts, sorted with the first event last in memory: it is popped most often,
/// and new events are usually soon.
#[derive(Debug)]
pub(super) struct Agenda(Vec<Event>);

/// Pending accesses: a bit for each listener that has one, their number, and the first access if
/// known.
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
    /// The listener of the station that accesses the medium; or the sender of the data that end or
    /// are answered.
    pub(super) of: u32,
}

impl Event {
    /// Sorts after every other event.
    pub(super) const NEVER: Self = Self { key: Key::NEVER, station: NONE, of: u32::MAX };

    /// True if it comes after `other`.
    #[inline(always)]
    pub(super) fn is_behind(self, other: Self) -> bool {
        self.key > other.key || self.key == other.key && self.station > other.station
    }
}

impl Accesses {
    const UNKNOWN: Event = Event { key: Key::UNKNOWN, station: NONE, of: u32::MAX };

    /// Creates the accesses of `listeners` listeners; none is pending.
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

    /// Cancels the access of the listener at `place`.
    #[inline]
    pub(super) fn forget(&mut self, place: ListenerId) {
        let pending = &mut self.pending[place as usize / 64];
        self.number -= (*pending >> (place % 64)) as u32 & 1;
        *pending &= !(1 << (place % 64));
        if self.first.of == place {
            self.first = if self.number == 0 { Event::NEVER } else { Self::UNKNOWN };
        }
    }

    /// Returns the first access, if it is known.
    #[inline(always)]
    pub(super) fn first(&self) -> Option<Event> {
        (self.first.key != Key::UNKNOWN).then_some(self.first)
    }

    /// Finds the first access. `access` returns the access of a listener.
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
    /// Creates an empty agenda.
    pub(super) fn new() -> Self {
        Self(vec![Event::NEVER])
    }

    /// Returns the first event; [`Event::NEVER`] if there is none.
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

    /// Removes the first event, if there is one.
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

    /// Events added in pseudo-random order come out by time, and by station at one instant.
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

    /// Accesses of 1 to 200 listeners are set and cancelled in pseudo-random order. The first is
    /// always the minimum.
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
