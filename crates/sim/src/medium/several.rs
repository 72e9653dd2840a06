//! Several media that do not hear each other: cells on channels of their own, and a field of the
//! cells that hear others.
//!
//! Each medium has only its own stations and contenders, with its own numbers (`numbers.rs`). They
//! share the world and its links. So no medium may play the world beyond the next event of another.

use airtcp_kernel::Time;
use airtcp_wlan::{CellCounters, ContenderId, Supply};

use super::numbers::{Numbers, Places, Renumbered};
use super::turns::Turns;
use super::{Medium, Steps};
use crate::world::{OverField, World};

/// Several media.
#[derive(Debug)]
pub(crate) struct Several {
    pub(crate) parts: Vec<Medium>,
    /// The world's numbers of each medium's entities, and the inverse.
    numbers: Vec<Numbers>,
    places: Places,
    /// The medium of each contender.
    of_contenders: Vec<u32>,
    /// The next event of each medium.
    turns: Turns,
}

impl Several {
    /// Combines media, with the numbers of each and the medium of each contender.
    pub(crate) fn new(parts: Vec<Medium>, numbers: Vec<Numbers>, of_contenders: Vec<u32>) -> Self {
        let turns = Turns::new(parts.iter().map(Medium::next_time));
        let places = Places::of(&numbers);
        Self { parts, numbers, places, of_contenders, turns }
    }

    /// Returns the medium of `contender`, and its number there.
    pub(super) fn of(&self, contender: ContenderId) -> (&Medium, ContenderId) {
        let part = self.of_contenders[contender as usize] as usize;
        (&self.parts[part], self.places.contenders[contender as usize])
    }

    /// Returns the world's numbers of the entities of medium `part`.
    pub(super) fn numbers(&self, part: usize) -> &Numbers {
        &self.numbers[part]
    }

    /// Reports to `world` the frames of fields on the air.
    pub(super) fn tell_frames_on_air(&self, world: &mut World<'_>) {
        let now = world.now();
        for (medium, numbers) in self.parts.iter().zip(&self.numbers) {
            if let Medium::Field(field) = medium {
                let supply = &mut OverField(world);
                let places = &self.places;
                field.tell_frames_on_air(now, &mut Renumbered { supply, numbers, places });
            }
        }
    }

    /// Returns the sum of the counters.
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
        let (numbers, places) = (&self.numbers[first.part as usize], &self.places);
        let at = match &mut self.parts[first.part as usize] {
            Medium::Cell(cell) => {
                cell.advance(now, &mut Renumbered { supply: world, numbers, places });
                cell.next_time()
            }
            Medium::Field(field) => {
                let supply = &mut OverField(world);
                field.advance(now, &mut Renumbered { supply, numbers, places });
                field.next_time()
            }
            Medium::Several(_) => unreachable!("media are not nested"),
        };
        world.turn_to_all();
        self.turns.set_first(at);
    }

    fn frames_ready(&mut self, now: Time, world: &mut World<'_>) {
        if !world.has_ready() {
            return;
        }
        let Self { parts, numbers, places, of_contenders, turns } = self;
        while let Some(part) = world.select_ready(of_contenders) {
            let numbers = &numbers[part as usize];
            let (before, at) = match &mut parts[part as usize] {
                Medium::Cell(cell) => {
                    let before = cell.next_time();
                    let supply = &mut *world;
                    cell.frames_ready(now, &mut Renumbered { supply, numbers, places });
                    (before, cell.next_time())
                }
                Medium::Field(field) => {
                    let before = field.next_time();
                    let supply = &mut OverField(world);
                    field.frames_ready(now, &mut Renumbered { supply, numbers, places });
                    (before, field.next_time())
                }
                Medium::Several(_) => unreachable!("media are not nested"),
            };
            // Usually the medium is busy, and its next event does not change.
            if at != before {
                turns.set(part, at);
            }
        }
    }
}
