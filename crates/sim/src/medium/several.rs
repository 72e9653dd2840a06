//! Several media that do not hear each other: cells on channels of their own, and a field of those that do hear another.
//!
//! Knows which contender is on which, and which of them is next. Each has the numbers of all stations and contenders, of
//! which those of the others are never ready on it. What they share is the world alone, by its wires: none may play it
//! beyond the next event of another.

use airtcp_kernel::Time;
use airtcp_wlan::{CellCounters, ContenderId};

use super::Medium;
use crate::world::World;

/// Several media.
#[derive(Debug)]
pub(crate) struct Several {
    pub(crate) parts: Vec<Medium>,
    /// The medium of each contender.
    of_contenders: Vec<u32>,
}

/// The medium whose event is next.
#[derive(Clone, Copy, Debug)]
pub(crate) struct First {
    pub(crate) part: usize,
    /// The time of the event.
    pub(crate) at: Time,
    /// That of the first event of another.
    pub(crate) then: Time,
}

impl Several {
    /// Puts media together, with that of each contender.
    pub(crate) fn new(parts: Vec<Medium>, of_contenders: Vec<u32>) -> Self {
        Self { parts, of_contenders }
    }

    /// Returns the medium of `contender`.
    pub(super) fn of(&self, contender: ContenderId) -> &Medium {
        &self.parts[self.of_contenders[contender as usize] as usize]
    }

    /// Finds the medium that is next; of several at one instant the first.
    pub(crate) fn first(&self) -> First {
        let mut first = First { part: 0, at: Time::NEVER, then: Time::NEVER };
        for (part, medium) in self.parts.iter().enumerate() {
            let at = medium.next_time();
            if at < first.at {
                first = First { part, at, then: first.at };
            } else {
                first.then = first.then.min(at);
            }
        }
        first
    }

    /// Plays what is due at `now` on one medium, and the world up to the next event of another.
    pub(super) fn advance(&mut self, now: Time, world: &mut World<'_>) {
        let First { part, at, then } = self.first();
        debug_assert_eq!(at, now);
        world.turn_to(part, then);
        self.parts[part].advance(now, world);
        world.turn_to_all();
    }

    /// Lets all contend that `world` tells of, each on its medium.
    pub(super) fn frames_ready(&mut self, now: Time, world: &mut World<'_>) {
        let Self { parts, of_contenders } = self;
        while let Some(part) = world.select_ready(of_contenders) {
            parts[part as usize].frames_ready(now, world);
        }
    }

    /// Adds up what happened so far.
    pub(super) fn cell_counters(&self) -> CellCounters {
        let of_parts = self.parts.iter().map(Medium::cell_counters);
        of_parts.fold(CellCounters::default(), |sum, one| sum + one)
    }
}
