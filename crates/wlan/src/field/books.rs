//! The counts of a field, and the airtime that each access point has sensed, by the cells that were on the air. Changes nothing
//! but counts.

use airtcp_kernel::{Duration, Time};

use super::Field;
use super::node::{Culprit, Frame, Kind};
use crate::counters::MacCounters;
use crate::frame::{Frames, Mpdu};
use crate::phy::PhyConfig;
use crate::station::{ContenderId, StationId};

/// The failures of a cell's transmissions by what overlapped them, or kept their receivers from answering.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FailureCounts {
    /// A frame that began within the detection time of theirs, by a station that the sender hears.
    pub same_slot: u64,
    /// A frame of the own cell, by a station that the sender does not hear.
    pub hidden: u64,
    /// A frame of another cell.
    pub neighbour: u64,
}

/// The time so far as an access point senses it. The parts up to `heard` add up to it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct View {
    /// Nothing is on the air.
    pub idle: Duration,
    /// One frame of the own cell with data, ...
    pub data: Duration,
    /// ... with acknowledgments of TCP alone, ...
    pub tcp_ack: Duration,
    /// ... or without data.
    pub control: Duration,
    /// A frame of the own cell, and another.
    pub overlapped: Duration,
    /// Frames of other cells alone.
    pub heard: Duration,
    /// By cell, the time in which any of its frames is on the air.
    pub of_cells: Vec<Duration>,
}

/// The frames on the air at an access point, and how long there were such.
#[derive(Clone, Debug)]
pub(super) struct Sensed {
    /// The cell of the access point.
    cell: u32,
    /// The numbers of frames of the own cell with data, with acknowledgments of TCP, and without data, and of frames of
    /// other cells: 16 bits each, the first of them the lowest.
    counts: u64,
    /// The part of the time that goes on, and since when.
    part: Part,
    since: Time,
    parts: [Duration; PARTS],
    /// Of each other cell the number of its frames on the air, since when there are any, and how long there were.
    of_cells: Vec<(u32, Time, Duration)>,
}

/// The parts of the time, in the order of [`View`].
#[derive(Clone, Copy, Debug)]
enum Part {
    Idle,
    Data,
    TcpAck,
    Control,
    Overlapped,
    Heard,
}

const PARTS: usize = Part::Heard as usize + 1;

/// One frame of each kind among the counts.
const DATA: u64 = 1;
const TCP_ACK: u64 = 1 << 16;
const CONTROL: u64 = 1 << 32;
const OTHER: u64 = 1 << 48;

impl Sensed {
    /// Makes that of the access point of a cell, one of so many.
    pub(super) fn new(cell: u32, cells: usize) -> Self {
        Self {
            cell,
            counts: 0,
            part: Part::Idle,
            since: Time::ZERO,
            parts: [Duration::ZERO; PARTS],
            of_cells: vec![(0, Time::ZERO, Duration::ZERO); cells],
        }
    }

    /// Notes that a frame of `cell` begins or ends, which counts as one of such a kind if the cell is its own.
    #[inline]
    fn note(&mut self, cell: u32, kind: u64, now: Time, begins: bool) {
        self.parts[self.part as usize] += now - self.since;
        self.since = now;
        let one = if cell == self.cell { kind } else { OTHER };
        self.counts = if begins { self.counts + one } else { self.counts - one };
        self.part = match self.counts {
            0 => Part::Idle,
            DATA => Part::Data,
            TCP_ACK => Part::TcpAck,
            CONTROL => Part::Control,
            counts if counts % OTHER == 0 => Part::Heard,
            _ => Part::Overlapped,
        };
        if cell == self.cell {
            return;
        }
        let (count, since, sum) = &mut self.of_cells[cell as usize];
        if begins {
            if *count == 0 {
                *since = now;
            }
            *count += 1;
        } else {
            *count -= 1;
            if *count == 0 {
                *sum += now - *since;
            }
        }
    }

    /// Returns the view at `now`.
    fn until(&self, now: Time) -> View {
        let mut parts = self.parts;
        parts[self.part as usize] += now - self.since;
        let [idle, data, tcp_ack, control, overlapped, heard] = parts;
        let of_cell = |(cell, &(count, since, sum)): (u32, &(u32, Time, Duration))| {
            if cell == self.cell {
                data + tcp_ack + control + overlapped
            } else if count > 0 {
                sum + (now - since)
            } else {
                sum
            }
        };
        let of_cells = (0..).zip(&self.of_cells).map(of_cell).collect();
        View { idle, data, tcp_ack, control, overlapped, heard, of_cells }
    }
}

impl<P: Clone> Field<P> {
    /// Tells the views of the access points that hear `sender` that a frame of it begins or ends.
    #[inline]
    pub(super) fn tell_views(&mut self, sender: StationId, now: Time, frame: &Frame, begins: bool) {
        let cell = self.roles.cell(sender);
        let kind = match frame.kind {
            Kind::Data if frame.has_data => DATA,
            Kind::Data => TCP_ACK,
            _ => CONTROL,
        };
        for &station in self.hearing.viewers_of(sender) {
            self.sensed[station as usize].note(cell, kind, now, begins);
        }
    }

    /// Counts a failure of `by` at `station`, by `culprit` if there is one.
    pub(super) fn count_failure(&mut self, station: StationId, by: ContenderId, culprit: Culprit) {
        let counters = &mut self.queues[by as usize].contender.counters;
        if culprit == Culprit::NOBODY {
            counters.failures += 1;
            return;
        }
        counters.collisions += 1;
        let cell = self.roles.cell(station);
        let failures = &mut self.failures[cell as usize];
        let Culprit { station: other, apart } = culprit;
        let is_heard = self.hearing.power(other, station) >= self.hearing.sense;
        let count = if is_heard && apart <= self.hearing.detect {
            &mut failures.same_slot
        } else if self.roles.cell(other) == cell {
            &mut failures.hidden
        } else {
            &mut failures.neighbour
        };
        *count += 1;
    }

    /// Returns what a contender did so far.
    pub fn counters(&self, contender: ContenderId) -> &MacCounters {
        &self.queues[contender as usize].contender.counters
    }

    /// Returns the failures of each cell so far.
    pub fn failures(&self) -> &[FailureCounts] {
        &self.failures
    }

    /// Returns what each access point has sensed up to `now`.
    pub fn views(&self, now: Time) -> impl Iterator<Item = View> {
        self.sensed.iter().map(move |sensed| sensed.until(now))
    }

    /// Returns the frames of `contender`'s queue that the MAC holds: on the air, or to be sent again.
    pub fn held(&self, contender: ContenderId) -> impl Iterator<Item = &Mpdu<P>> {
        let psdu = self.originators[contender as usize].frames();
        let waiting = self.aggregate().into_iter().flat_map(move |one| one.waiting(contender));
        psdu.map_or(&[][..], Frames::mpdus).iter().chain(waiting)
    }

    /// Returns the frames of `contender`'s queue that have come to their receivers and wait there for earlier
    /// ones.
    pub fn held_back(&self, contender: ContenderId) -> impl Iterator<Item = &Mpdu<P>> {
        self.aggregate().into_iter().flat_map(move |one| one.held_back(contender))
    }

    /// Returns the settings of the PHY.
    pub fn phy(&self) -> &PhyConfig {
        self.frames.phy()
    }

    /// Checks the books of `contender`: every attempt has ended or is under way, and every frame handed over was
    /// acknowledged or given up, or is still held.
    ///
    /// # Errors
    /// Which law is broken.
    pub fn check_laws(&self, contender: ContenderId) -> Result<(), String> {
        if let Some(law) = &self.broken_law {
            return Err(law.clone());
        }
        let originator = &self.originators[contender as usize];
        let exchange = self.nodes[originator.station as usize].exchange;
        let is_under_way = exchange.is_some_and(|one| one.by == contender);
        self.counters(contender).check_attempts(is_under_way)?;
        if let Some(aggregates) = self.aggregate() {
            aggregates.check_laws(contender, originator.frames())?;
        }
        let held = self.held(contender).count() as u64;
        if originator.next_id == originator.done + held {
            Ok(())
        } else {
            let (handed_over, done) = (originator.next_id, originator.done);
            Err(format!("of {handed_over} frames {done} are done and {held} held"))
        }
    }
}
