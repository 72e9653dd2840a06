//! The medium of a replication: a cell in which all hear all, or a field of several cells. Says alike of both what the
//! world asks of them.

use airtcp_kernel::Time;
use airtcp_wlan::{Cell, CellCounters, ContenderId, Field, MacCounters};

use crate::packet::Packet;
use crate::world::{OverField, World};

/// A medium.
// The field is apart, so that a cell is where its fields are known.
#[derive(Debug)]
pub(crate) enum Medium {
    Cell(Box<Cell<Packet>>),
    Field(Box<Field<Packet>>),
}

impl Medium {
    /// Returns the time of the next event, unless a frame is ready before.
    pub(crate) fn next_time(&self) -> Time {
        match self {
            Self::Cell(cell) => cell.next_time(),
            Self::Field(field) => field.next_time(),
        }
    }

    /// Lets all contend that `world` tells of.
    pub(crate) fn frames_ready(&mut self, now: Time, world: &mut World<'_>) {
        match self {
            Self::Cell(cell) => cell.frames_ready(now, world),
            Self::Field(field) => field.frames_ready(now, &mut OverField(world)),
        }
    }

    /// Returns what a contender did so far.
    pub(crate) fn counters(&self, contender: ContenderId) -> &MacCounters {
        match self {
            Self::Cell(cell) => cell.counters(contender),
            Self::Field(field) => field.counters(contender),
        }
    }

    /// Returns what happened so far; of a field the failures by overlap, as collisions.
    pub(crate) fn cell_counters(&self) -> CellCounters {
        match self {
            Self::Cell(cell) => *cell.cell_counters(),
            Self::Field(field) => {
                let of_cells = field.failures().iter();
                let collisions = of_cells.map(|one| one.same_slot + one.hidden + one.neighbour);
                CellCounters { collisions: collisions.sum(), ..CellCounters::default() }
            }
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
        }
    }

    /// Checks the books of `contender`.
    pub(crate) fn check_laws(&self, contender: ContenderId) -> Result<(), String> {
        match self {
            Self::Cell(cell) => cell.check_laws(contender),
            Self::Field(field) => field.check_laws(contender),
        }
    }

    /// Returns from when to when the frames arrive that are told of as received next, where that is known.
    pub(crate) fn receiving(&mut self) -> Option<(Time, Time)> {
        match self {
            Self::Cell(cell) => cell.receiving(),
            Self::Field(_) => None,
        }
    }

    /// Returns the beginning of the contention-free period that there is, if there is one.
    pub(crate) fn contention_free_since(&self) -> Option<Time> {
        match self {
            Self::Cell(cell) => cell.contention_free_since(),
            Self::Field(_) => None,
        }
    }
}
