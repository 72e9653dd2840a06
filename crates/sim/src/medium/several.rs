//! Several media that do not hear each other: cells on channels of their own, and a field of those that do hear another.
//!
//! Knows which contender is on which, and which of them is next. Each has the numbers of all stations and contenders, of
//! which those of the others are never ready on it. What they share is the world alone, by its wires: none may play it
//! beyond the next event of another.

use airtcp_kernel::Time;
use airtcp_wlan::{CellCounters, ContenderId, Supply};

use super::turns::Turns;
use super::{Medium, Steps};
use crate::world::World;

/// Several media.
#[derive(Debug)]
pub(crate) struct Several {
    pub(crate) parts: Vec<Medium>,
    /// The medium of each contender.
    of_contenders: Vec<u32>,
    /// The next event of each medium.
    turns: Turns,
}

impl Several {
    /// Puts media together, with that of each contender.
    pub(crate) fn new(parts: Vec<Medium>, of_contenders: Vec<u32>) -> Self {
        let turns = Turns::new(parts.iter().map(Medium::next_time));
        Self { parts, of_contenders, turns }
    }

    /// Returns the medium of `contender`.
    pub(super) fn of(&self, contender: ContenderId) -> &Medium {
        &self.parts[self.of_contenders[contender as usize] as usize]
    }

    /// Adds up what happened so far.
    pub(super) fn cell_counters(&self) -> CellCounters {
        let of_parts = self.parts.iter().map(Medium::cell_counters);
        of_parts.fold(CellCounters::default(), |sum, one| sum + one)
    }
}

impl Steps for Several {
    fn next_time(&self) -> Time {
        self.turns.first().0.at
    }

    fn advance(&mut self, now: Time, world: &mut World<'_>) {
        let (first, then) = self.turns.first();
        debug_assert_eq!(first.at, now);
        world.turn_to(first.part as usize, then);
        let medium = &mut self.parts[first.part as usize];
        medium.advance(now, world);
        let at = medium.next_time();
        world.turn_to_all();
        self.turns.set_first(at);
    }

    fn frames_ready(&mut self, now: Time, world: &mut World<'_>) {
        if !world.has_ready() {
            return;
        }
        let Self { parts, of_contenders, turns } = self;
        while let Some(part) = world.select_ready(of_contenders) {
            let medium = &mut parts[part as usize];
            let before = medium.next_time();
            medium.frames_ready(now, world);
            let at = medium.next_time();
            // Most often the medium is busy, and nothing else is next.
            if at != before {
                turns.set(part, at);
            }
        }
    }
}
