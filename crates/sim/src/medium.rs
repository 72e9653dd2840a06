//! The medium of a replication: a cell in which all stations hear each other, a field of several
//! cells, or several media that do not hear each other. It gives the world one interface to all of
//! them.

mod numbers;
mod several;
mod turns;

use airtcp_kernel::Time;
use airtcp_wlan::{Cell, CellCounters, ContenderId, Engine, Field, MacCounters, Supply};

use crate::packet::Packet;
pub(crate) use numbers::Numbers;
pub(crate) use several::Several;

/// The world as its media use it.
pub(crate) trait Host {
    /// Returns the supply of a cell.
    fn cell(&mut self) -> impl Supply<Packet>;

    /// Returns the supply of a field.
    fn field(&mut self) -> impl Supply<Packet>;

    /// Switches to the medium with this number, which may play the world up to `horizon`.
    fn turn_to(&mut self, part: usize, horizon: Time);

    /// Restores the horizon from before [`Self::turn_to`].
    fn turn_to_all(&mut self);

    /// Keeps in the list of ready queues only those of one medium, and returns this medium, if
    /// there are any. `of` is the medium of each contender.
    fn select_ready(&mut self, of: &[u32]) -> Option<u32>;
}

/// The event loop interface of a medium.
pub(crate) trait Steps {
    /// Returns the time of the next event; a new frame may come earlier.
    fn next_time(&self) -> Time;

    /// Plays the event that is due at `now`, as [`Cell::advance`].
    fn advance(&mut self, now: Time, host: &mut impl Host);

    /// Starts contention for the queues that `host` reports.
    fn frames_ready(&mut self, now: Time, host: &mut impl Host);
}

/// Implements [`Steps`] for a medium with its own supply.
macro_rules! steps {
    ($medium:ty, $supply:ident) => {
        impl Steps for $medium {
            #[inline(always)]
            fn next_time(&self) -> Time {
                self.next_time()
            }

            #[inline(always)]
            fn advance(&mut self, now: Time, host: &mut impl Host) {
                self.advance(now, &mut host.$supply());
            }

            #[inline(always)]
            fn frames_ready(&mut self, now: Time, host: &mut impl Host) {
                self.frames_ready(now, &mut host.$supply());
            }
        }
    };
}

steps!(Cell<Packet>, cell);
steps!(Field<Packet>, field);

/// A medium.
// The field is boxed, so that a cell's fields are at known places.
#[derive(Debug)]
pub(crate) enum Medium {
    Cell(Box<Cell<Packet>>),
    Field(Box<Field<Packet>>),
    Several(Several),
}

impl Medium {
    /// Returns the time of the next event; a new frame may come earlier.
    pub(crate) fn next_time(&self) -> Time {
        match self {
            Self::Cell(cell) => cell.next_time(),
            Self::Field(field) => field.next_time(),
            Self::Several(several) => several.next_time(),
        }
    }

    /// Starts contention for the queues that `host` reports.
    pub(crate) fn frames_ready(&mut self, now: Time, host: &mut impl Host) {
        match self {
            Self::Cell(cell) => cell.frames_ready(now, &mut host.cell()),
            Self::Field(field) => field.frames_ready(now, &mut host.field()),
            Self::Several(several) => several.frames_ready(now, host),
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

    /// Makes a field report its frames to the stations that hear them.
    pub(crate) fn tell_frames(&mut self) {
        match self {
            Self::Cell(_) => {}
            Self::Field(field) => field.tell_frames(),
            Self::Several(several) => several.parts.iter_mut().for_each(Self::tell_frames),
        }
    }

    /// Reports to `host` the frames of a field on the air, if frames are reported.
    pub(crate) fn tell_frames_on_air(&self, now: Time, host: &mut impl Host) {
        match self {
            Self::Cell(_) => {}
            Self::Field(field) => field.tell_frames_on_air(now, &mut host.field()),
            Self::Several(several) => several.tell_frames_on_air(now, host),
        }
    }

    /// Brings counters and views up to `now`, so that they can be read.
    pub(crate) fn settle(&mut self, now: Time) {
        match self {
            Self::Cell(_) => {}
            Self::Field(field) => field.settle(now),
            Self::Several(several) => several.parts.iter_mut().for_each(|one| one.settle(now)),
        }
    }

    /// Returns the medium with this number; a single medium has number 0.
    pub(crate) fn part(&self, part: usize) -> &Self {
        if let Self::Several(several) = self { &several.parts[part] } else { self }
    }

    /// Returns the world's numbers of the entities of the medium with this number; `None` for a
    /// single medium, which has the world's numbers.
    pub(crate) fn numbers(&self, part: usize) -> Option<&Numbers> {
        if let Self::Several(several) = self { Some(several.numbers(part)) } else { None }
    }

    /// Returns the cell of a medium that is a link.
    fn link(&self) -> &Cell<Packet> {
        let Self::Cell(cell) = self else { unreachable!("links are cells") };
        cell
    }

    /// Mutable version of [`Self::link`].
    fn link_mut(&mut self) -> &mut Cell<Packet> {
        let Self::Cell(cell) = self else { unreachable!("links are cells") };
        cell
    }

    /// Mutable version of [`Self::part`].
    pub(crate) fn part_mut(&mut self, part: usize) -> &mut Self {
        match self {
            Self::Several(several) => &mut several.parts[part],
            alone => alone,
        }
    }

    /// Returns the counters of a contender.
    pub(crate) fn counters(&self, contender: ContenderId) -> MacCounters {
        match self {
            Self::Cell(cell) => *cell.counters(contender),
            Self::Field(field) => *field.counters(contender),
            Self::Several(several) => {
                several.of(contender).map(|(medium, own)| medium.counters(own)).sum()
            }
        }
    }

    /// Returns the counters of the medium; a field counts failures by overlap as collisions.
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

    /// Lists the packets of `contender` that the MAC holds and that were not received, or that wait
    /// in reorder buffers.
    pub(crate) fn list_waiting(&self, contender: ContenderId, waiting: &mut Vec<Packet>) {
        match self {
            Self::Cell(cell) => {
                // A packet that was received but not yet acknowledged already counts as received.
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
                for (medium, own) in several.of(contender) {
                    medium.list_waiting(own, waiting);
                }
            }
        }
    }

    /// Checks the invariants of `contender`.
    pub(crate) fn check_laws(&self, contender: ContenderId) -> Result<(), String> {
        match self {
            Self::Cell(cell) => cell.check_laws(contender),
            Self::Field(field) => field.check_laws(contender),
            Self::Several(several) => several.check_laws(contender),
        }
    }

    /// Returns when the frames arrive, first to last, that will be reported as received next, if
    /// known.
    pub(crate) fn receiving(&mut self) -> Option<(Time, Time)> {
        match self {
            Self::Cell(cell) => cell.receiving(),
            Self::Field(_) | Self::Several(_) => None,
        }
    }

    /// Returns when the current contention-free period began, if there is one.
    pub(crate) fn contention_free_since(&self) -> Option<Time> {
        match self {
            Self::Cell(cell) => cell.contention_free_since(),
            Self::Field(_) | Self::Several(_) => None,
        }
    }
}

#[cfg(any(test, feature = "testing"))]
impl Medium {
    /// Switches off the shortcut of cells and the whole exchanges of fields.
    pub(crate) fn play_in_steps(&mut self) {
        match self {
            Self::Cell(cell) => cell.play_in_steps(),
            Self::Field(field) => field.play_in_frames(),
            Self::Several(several) => several.parts.iter_mut().for_each(Self::play_in_steps),
        }
    }

    /// Returns how many exchanges the shortcut played to their ends, or were played as a whole.
    pub(crate) fn straight(&self) -> u64 {
        match self {
            Self::Cell(cell) => cell.straight(),
            Self::Field(field) => field.whole(),
            Self::Several(several) => several.parts.iter().map(Self::straight).sum(),
        }
    }
}
