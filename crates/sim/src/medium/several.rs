//! Several media that do not hear each other: cells on channels of their own, and a field of those that do hear another.
//!
//! Knows which contender is on which, and which of them is next. Each has the numbers of all stations and contenders, of
//! which those of the others are never ready on it. What they share is the world alone, by its wires: none may play it
//! beyond the next event of another.

use airtcp_kernel::Time;
use airtcp_wlan::{CellCounters, ContenderId, Supply};

use super::{Medium, Steps};
use crate::world::World;

/// Several media.
#[derive(Debug)]
pub(crate) struct Several {
    pub(crate) parts: Vec<Medium>,
    /// The medium of each contender.
    of_contenders: Vec<u32>,
    /// The time of the next event of each medium.
    times: Vec<Time>,
    /// The first of these.
    first: First,
}

/// The medium whose event is next.
#[derive(Clone, Copy, Debug)]
struct First {
    part: usize,
    /// The time of the event.
    at: Time,
    /// That of the first event of another.
    then: Time,
}

impl Several {
    /// Puts media together, with that of each contender.
    pub(crate) fn new(parts: Vec<Medium>, of_contenders: Vec<u32>) -> Self {
        let times = parts.iter().map(Medium::next_time).collect();
        let first = First { part: 0, at: Time::NEVER, then: Time::NEVER };
        let mut several = Self { parts, of_contenders, times, first };
        several.find_first();
        several
    }

    /// Returns the medium of `contender`.
    pub(super) fn of(&self, contender: ContenderId) -> &Medium {
        &self.parts[self.of_contenders[contender as usize] as usize]
    }

    /// Finds the medium that is next; of several at one instant the first.
    fn find_first(&mut self) {
        let mut first = First { part: 0, at: Time::NEVER, then: Time::NEVER };
        for (part, &at) in self.times.iter().enumerate() {
            if at < first.at {
                first = First { part, at, then: first.at };
            } else {
                first.then = first.then.min(at);
            }
        }
        self.first = first;
    }

    /// Adds up what happened so far.
    pub(super) fn cell_counters(&self) -> CellCounters {
        let of_parts = self.parts.iter().map(Medium::cell_counters);
        of_parts.fold(CellCounters::default(), |sum, one| sum + one)
    }
}

impl Steps for Several {
    fn next_time(&self) -> Time {
        self.first.at
    }

    fn advance(&mut self, now: Time, world: &mut World<'_>) {
        let First { part, at, then } = self.first;
        debug_assert_eq!(at, now);
        world.turn_to(part, then);
        self.parts[part].advance(now, world);
        world.turn_to_all();
        self.times[part] = self.parts[part].next_time();
        self.find_first();
    }

    fn frames_ready(&mut self, now: Time, world: &mut World<'_>) {
        if !world.has_ready() {
            return;
        }
        let Self { parts, of_contenders, times, .. } = self;
        let mut is_other = false;
        while let Some(part) = world.select_ready(of_contenders) {
            let part = part as usize;
            parts[part].frames_ready(now, world);
            let at = parts[part].next_time();
            is_other |= at != times[part];
            times[part] = at;
        }
        // Most often the medium is busy, and nothing else is next.
        if is_other {
            self.find_first();
        }
    }
}
