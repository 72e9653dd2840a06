//! The medium of a replication: a cell in which all hear all, a field of several cells, or several of them that do not
//! hear each other. Says alike of all what the world asks of them.

mod numbers;
mod several;
mod turns;

use airtcp_kernel::Time;
use airtcp_wlan::{Cell, CellCounters, ContenderId, Engine, Field, MacCounters};

use crate::packet::Packet;
use crate::world::{OverField, World};
pub(crate) use numbers::Numbers;
pub(crate) use several::Several;

/// The steps in which a medium is played.
pub(crate) trait Steps {
    /// Returns the time of the next event, unless a frame is ready before.
    fn next_time(&self) -> Time;

    /// Plays what is due at `now`, as [`Cell::advance`].
    fn advance(&mut self, now: Time, world: &mut World<'_>);

    /// Lets all contend that `world` tells of.
    fn frames_ready(&mut self, now: Time, world: &mut World<'_>);
}

impl Steps for Cell<Packet> {
    #[inline(always)]
    fn next_time(&self) -> Time {
        self.next_time()
    }

    #[inline(always)]
    fn advance(&mut self, now: Time, world: &mut World<'_>) {
        self.advance(now, world);
    }

    #[inline(always)]
    fn frames_ready(&mut self, now: Time, world: &mut World<'_>) {
        self.frames_ready(now, world);
    }
}

impl Steps for Field<Packet> {
    #[inline(always)]
    fn next_time(&self) -> Time {
        self.next_time()
    }

    #[inline(always)]
    fn advance(&mut self, now: Time, world: &mut World<'_>) {
        self.advance(now, &mut OverField(world));
    }

    #[inline(always)]
    fn frames_ready(&mut self, now: Time, world: &mut World<'_>) {
        self.frames_ready(now, &mut OverField(world));
    }
}

/// A medium.
// The field is apart, so that a cell is where its fields are known.
#[derive(Debug)]
pub(crate) enum Medium {
    Cell(Box<Cell<Packet>>),
    Field(Box<Field<Packet>>),
    Several(Several),
}

impl Medium {
    /// Returns the time of the next event, unless a frame is ready before.
    pub(crate) fn next_time(&self) -> Time {
        match self {
            Self::Cell(cell) => cell.next_time(),
            Self::Field(field) => field.next_time(),
            Self::Several(several) => several.next_time(),
        }
    }

    /// Lets all contend that `world` tells of.
    pub(crate) fn frames_ready(&mut self, now: Time, world: &mut World<'_>) {
        match self {
            Self::Cell(cell) => cell.frames_ready(now, world),
            Self::Field(field) => field.frames_ready(now, &mut OverField(world)),
            Self::Several(several) => several.frames_ready(now, world),
        }
    }

    /// Returns the engine of the medium with this number.
    pub(crate) fn engine(&self, part: usize) -> Engine {
        match self.part(part) {
            Self::Cell(cell) => cell.engine(),
            Self::Field(field) => field.engine(),
            Self::Several(_) => unreachable!("media are not nested"),
        }
    }

    /// Has the frames of a field told to those that hear them.
    pub(crate) fn tell_frames(&mut self) {
        match self {
            Self::Cell(_) => {}
            Self::Field(field) => field.tell_frames(),
            Self::Several(several) => several.parts.iter_mut().for_each(Self::tell_frames),
        }
    }

    /// Tells `world` of the frames of a field that are on the air, if it has asked for frames.
    pub(crate) fn tell_frames_on_air(&self, world: &mut World<'_>) {
        match self {
            Self::Cell(_) => {}
            Self::Field(field) => field.tell_frames_on_air(world.now(), &mut OverField(world)),
            Self::Several(several) => several.tell_frames_on_air(world),
        }
    }

    /// Brings counts and views to `now`, which are read then.
    pub(crate) fn settle(&mut self, now: Time) {
        match self {
            Self::Cell(_) => {}
            Self::Field(field) => field.settle(now),
            Self::Several(several) => several.parts.iter_mut().for_each(|one| one.settle(now)),
        }
    }

    /// Returns the medium with this number; one alone has the first.
    pub(crate) fn part(&self, part: usize) -> &Self {
        if let Self::Several(several) = self { &several.parts[part] } else { self }
    }

    /// Returns the world's numbers of what the medium with this number has; one alone has the world's.
    pub(crate) fn numbers(&self, part: usize) -> Option<&Numbers> {
        if let Self::Several(several) = self { Some(several.numbers(part)) } else { None }
    }

    /// Does as [`Self::part`], to change it.
    pub(crate) fn part_mut(&mut self, part: usize) -> &mut Self {
        match self {
            Self::Several(several) => &mut several.parts[part],
            alone => alone,
        }
    }

    /// Returns what a contender did so far.
    pub(crate) fn counters(&self, contender: ContenderId) -> &MacCounters {
        match self {
            Self::Cell(cell) => cell.counters(contender),
            Self::Field(field) => field.counters(contender),
            Self::Several(several) => {
                let (medium, own) = several.of(contender);
                medium.counters(own)
            }
        }
    }

    /// Returns what happened so far; of a field the failures by overlap, as collisions.
    pub(crate) fn cell_counters(&self) -> CellCounters {
        match self {
            Self::Cell(cell) => *cell.cell_counters(),
            Self::Field(field) => {
                let of_queues = field.failures().iter();
                let collisions = of_queues.map(|one| one.same_slot + one.hidden + one.neighbour);
                CellCounters { collisions: collisions.sum(), ..CellCounters::default() }
            }
            Self::Several(several) => several.cell_counters(),
        }
    }

    /// Lists the packets of `contender` that the MAC holds and that were not received, or wait at their receivers.
    pub(crate) fn list_waiting(&self, contender: ContenderId, waiting: &mut Vec<Packet>) {
        match self {
            Self::Cell(cell) => {
                // A packet that was received but not acknowledged yet has been counted as received.
                let held = cell.held(contender).filter(|mpdu| !mpdu.is_received);
                waiting.extend(held.map(|mpdu| mpdu.payload));
                waiting.extend(cell.held_back(contender).map(|mpdu| mpdu.payload));
            }
            Self::Field(field) => {
                let held = field.held(contender).filter(|mpdu| !mpdu.is_received);
                waiting.extend(held.map(|mpdu| mpdu.payload));
                waiting.extend(field.held_back(contender).map(|mpdu| mpdu.payload));
            }
            Self::Several(several) => {
                let (medium, own) = several.of(contender);
                medium.list_waiting(own, waiting);
            }
        }
    }

    /// Checks the books of `contender`.
    pub(crate) fn check_laws(&self, contender: ContenderId) -> Result<(), String> {
        match self {
            Self::Cell(cell) => cell.check_laws(contender),
            Self::Field(field) => field.check_laws(contender),
            Self::Several(several) => {
                let (medium, own) = several.of(contender);
                medium.check_laws(own)
            }
        }
    }

    /// Returns from when to when the frames arrive that are told of as received next, where that is known.
    pub(crate) fn receiving(&mut self) -> Option<(Time, Time)> {
        match self {
            Self::Cell(cell) => cell.receiving(),
            Self::Field(_) | Self::Several(_) => None,
        }
    }

    /// Returns the beginning of the contention-free period that there is, if there is one.
    pub(crate) fn contention_free_since(&self) -> Option<Time> {
        match self {
            Self::Cell(cell) => cell.contention_free_since(),
            Self::Field(_) | Self::Several(_) => None,
        }
    }
}

#[cfg(any(test, feature = "testing"))]
impl Medium {
    /// Switches the straight line of cells and the whole exchanges of fields off.
    pub(crate) fn play_in_steps(&mut self) {
        match self {
            Self::Cell(cell) => cell.play_in_steps(),
            Self::Field(field) => field.play_in_frames(),
            Self::Several(several) => several.parts.iter_mut().for_each(Self::play_in_steps),
        }
    }

    /// Returns how many exchanges took the straight line to their ends, or were played as a whole.
    pub(crate) fn straight(&self) -> u64 {
        match self {
            Self::Cell(cell) => cell.straight(),
            Self::Field(field) => field.whole(),
            Self::Several(several) => several.parts.iter().map(Self::straight).sum(),
        }
    }
}
