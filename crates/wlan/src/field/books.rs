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
    on_air: OnAir,
    since: Time,
}

/// The frames on the air at an access point.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct OnAir {
    data: u32,
    tcp_ack: u32,
    control: u32,
    others: u32,
    /// The number of those of each cell, and since when there are any.
    of_cells: Vec<(u32, Time)>,
}

impl View {
    pub(super) fn new(cells: usize) -> Self {
        Self {
            of_cells: vec![Duration::ZERO; cells],
            on_air: OnAir { of_cells: vec![(0, Time::ZERO); cells], ..OnAir::default() },
            ..Self::default()
        }
    }

    /// Adds the time up to `now`.
    fn settle(&mut self, now: Time) {
        let past = now - self.since;
        self.since = now;
        let OnAir { data, tcp_ack, control, others, .. } = self.on_air;
        let own = data + tcp_ack + control;
        let part = match (own, others) {
            (0, 0) => &mut self.idle,
            (0, _) => &mut self.heard,
            (1, 0) if data > 0 => &mut self.data,
            (1, 0) if tcp_ack > 0 => &mut self.tcp_ack,
            (1, 0) => &mut self.control,
            _ => &mut self.overlapped,
        };
        *part += past;
    }

    /// Returns the view at `now`.
    fn until(&self, now: Time) -> Self {
        let mut view = self.clone();
        view.settle(now);
        for (sum, &(count, since)) in view.of_cells.iter_mut().zip(&self.on_air.of_cells) {
            if count > 0 {
                *sum += now - since;
            }
        }
        view
    }
}

impl<P: Clone> Field<P> {
    /// Tells the view of `station`, if it is an access point, that a frame of `sender` begins or ends.
    #[inline]
    pub(super) fn tell_view(
        &mut self,
        station: StationId,
        sender: StationId,
        now: Time,
        frame: &Frame,
        begins: bool,
    ) {
        let Some(view) = self.views.get_mut(station as usize) else { return };
        let cell = self.roles.cell(sender);
        view.settle(now);
        let on_air = &mut view.on_air;
        let of_kind = if cell != station {
            &mut on_air.others
        } else if frame.kind != Kind::Data {
            &mut on_air.control
        } else if frame.has_data {
            &mut on_air.data
        } else {
            &mut on_air.tcp_ack
        };
        let (count, since) = &mut on_air.of_cells[cell as usize];
        if begins {
            if *count == 0 {
                *since = now;
            }
            *of_kind += 1;
            *count += 1;
        } else {
            *of_kind -= 1;
            *count -= 1;
            if *count == 0 {
                view.of_cells[cell as usize] += now - *since;
            }
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
        self.views.iter().map(move |view| view.until(now))
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
