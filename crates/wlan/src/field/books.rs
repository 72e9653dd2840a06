//! Counters of a field, and the airtime that each access point senses, by the cells on the air.
//! Changes only counters.

use airtcp_kernel::{Duration, Time, counters};

use super::Field;
use super::hearing::Hearing;
use super::node::{Culprit, Frame, Kind};
use crate::counters::MacCounters;
use crate::exchange::Roles;
use crate::frame::{Frames, Mpdu};
use crate::phy::PhyConfig;
use crate::station::{ContenderId, StationId};

counters! {
    /// Failed transmissions of a queue or cell, by the cause: what overlapped them or kept the receiver
    /// from responding.
    #[derive(serde::Serialize)]
    pub struct FailureCounts {
        /// A frame that began within the detection time, from a station that the sender hears.
        pub same_slot: u64,
        /// A frame of the own cell, from a station that the sender does not hear or had not detected.
        pub hidden: u64,
        /// A frame of another cell.
        pub neighbour: u64,
    }
}

counters! {
    /// Airtime by what is on the air at an access point. The parts sum to the total.
    pub struct AirtimeParts {
        /// Nothing is on the air.
        pub idle: Duration,
        /// One data frame of the own cell is on the air.
        pub data: Duration,
        /// One frame of the own cell is on the air that contains only TCP acknowledgments.
        pub tcp_ack: Duration,
        /// One frame of the own cell is on the air that contains no data.
        pub control: Duration,
        /// A frame of the own cell overlaps with another frame.
        pub overlapped: Duration,
        /// Only frames of other cells are on the air.
        pub heard: Duration,
    }
}

impl AirtimeParts {
    /// Returns the time of the own cell's frames.
    pub fn own(&self) -> Duration {
        self.data + self.tcp_ack + self.control + self.overlapped
    }

    /// Returns the sum of all parts.
    pub fn total(&self) -> Duration {
        self.idle + self.own() + self.heard
    }
}

/// The airtime so far as an access point senses it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct View {
    /// By what is on the air.
    pub parts: AirtimeParts,
    /// For each cell, the time in which any of its frames is on the air.
    pub of_cells: Vec<Duration>,
}

/// The transmissions on the air at an access point, and their durations so far.
#[derive(Clone, Debug)]
pub(super) struct Sensed {
    /// The cell of the access point.
    cell: u32,
    /// Numbers of frames on the air, 16 bits each, lowest first: the own cell's data, TCP
    /// acknowledgments and frames without data, then frames of other cells.
    counts: u64,
    /// The current part, and when it began.
    part: Part,
    since: Time,
    parts: [Duration; PARTS],
    /// The transmissions of each other cell, if the access point senses some stations of a cell and
    /// not all.
    of_cells: Option<Vec<OnAir>>,
    /// For each cell, whether the access point senses all of it.
    hears: Vec<bool>,
}

/// The transmissions of a cell on the air: their number, when the first began, and the total time
/// so far.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct OnAir {
    count: u32,
    since: Time,
    sum: Duration,
}

impl OnAir {
    /// Records that a transmission begins or ends.
    #[inline]
    pub(super) fn note(&mut self, now: Time, begins: bool) {
        if begins {
            if self.count == 0 {
                self.since = now;
            }
            self.count += 1;
        } else {
            self.count -= 1;
            if self.count == 0 {
                self.sum += now - self.since;
            }
        }
    }

    /// Records a transmission of length `time` during which no other was on the air.
    #[inline]
    pub(super) fn passes(&mut self, time: Duration) {
        self.sum += time;
    }

    fn until(&self, now: Time) -> Duration {
        if self.count > 0 { self.sum + (now - self.since) } else { self.sum }
    }
}

/// The parts of the airtime, in the order of [`AirtimeParts`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    Idle,
    Data,
    TcpAck,
    Control,
    Overlapped,
    Heard,
}

const PARTS: usize = Part::Heard as usize + 1;

/// Increments of `counts`: one frame of each kind.
const DATA: u64 = 1;
const TCP_ACK: u64 = 1 << 16;
const CONTROL: u64 = 1 << 32;
const OTHER: u64 = 1 << 48;

impl Sensed {
    /// Creates the record of every access point.
    pub(super) fn of_all(
        hearing: &Hearing,
        roles: &Roles,
        stations: u32,
        access_points: usize,
    ) -> Vec<Self> {
        let mut all = vec![0; access_points];
        let mut heard = vec![vec![0; access_points]; access_points];
        for station in 0..stations {
            let cell = roles.cell(station) as usize;
            all[cell] += 1;
            for &viewer in hearing.viewers_of(station) {
                heard[viewer as usize][cell] += 1;
            }
        }
        (0..).zip(&heard).map(|(cell, heard)| Self::new(cell, heard, &all)).collect()
    }

    /// Creates the record of the access point of `cell`. `heard` is the number of stations of each
    /// cell that it senses (or is itself), `stations` the number that exists.
    fn new(cell: u32, heard: &[u32], stations: &[u32]) -> Self {
        let counts = || heard.iter().zip(stations);
        let is_in_part = counts().any(|(&heard, &all)| heard > 0 && heard < all);
        Self {
            cell,
            counts: 0,
            part: Part::Idle,
            since: Time::ZERO,
            parts: [Duration::ZERO; PARTS],
            of_cells: is_in_part.then(|| vec![OnAir::default(); stations.len()]),
            hears: counts().map(|(heard, all)| heard == all).collect(),
        }
    }

    /// Records that a frame of `cell` begins or ends. `own` is the change of the counts if `cell`
    /// is the access point's, else `other`.
    // Inlined for speed: every start and end of a frame calls it for each access point that hears
    // it.
    #[inline(always)]
    fn note(&mut self, cell: u32, (own, other): (u64, u64), now: Time, begins: bool) {
        let one = if cell == self.cell { own } else { other };
        self.counts = self.counts.wrapping_add(one);
        self.parts[self.part as usize] += now - self.since;
        self.since = now;
        self.part = if self.counts == 0 {
            Part::Idle
        } else if self.counts < OTHER {
            match self.counts {
                DATA => Part::Data,
                TCP_ACK => Part::TcpAck,
                CONTROL => Part::Control,
                _ => Part::Overlapped,
            }
        } else if self.counts.is_multiple_of(OTHER) {
            Part::Heard
        } else {
            Part::Overlapped
        };
        if let Some(of_cells) = &mut self.of_cells {
            of_cells[cell as usize].note(now, begins);
        }
    }

    /// Returns the view at `now`; `cells` has the transmissions of each cell.
    fn until(&self, now: Time, cells: &[OnAir]) -> View {
        let mut parts = self.parts;
        parts[self.part as usize] += now - self.since;
        let [idle, data, tcp_ack, control, overlapped, heard] = parts;
        let parts = AirtimeParts { idle, data, tcp_ack, control, overlapped, heard };
        let of_cell = |cell: usize| {
            if cell == self.cell as usize {
                parts.own()
            } else if let Some(of_cells) = &self.of_cells {
                of_cells[cell].until(now)
            } else if self.hears[cell] {
                cells[cell].until(now)
            } else {
                Duration::ZERO
            }
        };
        let of_cells = (0..cells.len()).map(of_cell).collect();
        View { parts, of_cells }
    }
}

impl Sensed {
    /// Records that a frame of `cell` of kind `counts` begins or ends.
    #[inline(never)]
    pub(super) fn note_counts(&mut self, cell: u32, counts: Counts, now: Time, begins: bool) {
        self.note(cell, counts.changes(begins), now, begins);
    }
}

/// The kind of a frame, as an increment of the counts of its own cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Counts(u64);

impl Counts {
    /// A response.
    pub(super) const CONTROL: Self = Self(CONTROL);

    /// Classifies `frame`.
    #[inline(always)]
    pub(super) fn of(frame: &Frame) -> Self {
        match frame.kind {
            Kind::Data => Self::of_data(frame.has_data),
            _ => Self::CONTROL,
        }
    }

    /// Classifies data frames: with data, or with TCP acknowledgments only.
    #[inline(always)]
    pub(super) fn of_data(has_data: bool) -> Self {
        Self(if has_data { DATA } else { TCP_ACK })
    }

    /// Returns how the counts change when the frame begins or ends, in its own cell and in others.
    #[inline(always)]
    fn changes(self, begins: bool) -> (u64, u64) {
        if begins { (self.0, OTHER) } else { (self.0.wrapping_neg(), OTHER.wrapping_neg()) }
    }
}

impl<P: Clone> Field<P> {
    /// Updates the views of the access points that sense `sender` when a frame of it begins or
    /// ends.
    #[inline(always)]
    pub(super) fn tell_views(&mut self, sender: StationId, now: Time, frame: &Frame, begins: bool) {
        let Self { roles, cells_on_air, sensed, hearing, .. } = self;
        let cell = roles.cell(sender);
        cells_on_air[cell as usize].note(now, begins);
        let counts = Counts::of(frame).changes(begins);
        for &station in hearing.viewers_of(sender) {
            sensed[station as usize].note(cell, counts, now, begins);
        }
    }

    /// Counts a failure of `by` at `station`, caused by `culprit` if there is one.
    pub(super) fn count_failure(&mut self, station: StationId, by: ContenderId, culprit: Culprit) {
        let counters = &mut self.air.queues[by as usize].counters;
        if culprit == Culprit::NOBODY {
            counters.failures += 1;
            return;
        }
        counters.collisions += 1;
        let failures = &mut self.failures[by as usize];
        let Culprit { station: other, apart } = culprit;
        let is_heard = self.hearing.power(other, station) >= self.hearing.sense;
        let count = if is_heard && apart <= self.hearing.detect {
            &mut failures.same_slot
        } else if self.roles.cell(other) == self.roles.cell(station) {
            &mut failures.hidden
        } else {
            &mut failures.neighbour
        };
        *count += 1;
    }

    /// Returns the counters of a contender.
    pub fn counters(&self, contender: ContenderId) -> &MacCounters {
        &self.air.queues[contender as usize].counters
    }

    /// Returns the failures of each queue.
    pub fn failures(&self) -> &[FailureCounts] {
        &self.failures
    }

    /// Returns the airtime views of the access points at `now`. The field must have been settled to
    /// `now` ([`Self::settle`]).
    pub fn views(&self, now: Time) -> impl Iterator<Item = View> {
        let mut cells = self.cells_on_air.clone();
        self.exchanges_on_air(now, &mut cells);
        let views: Vec<_> = self.sensed.iter().map(|sensed| sensed.until(now, &cells)).collect();
        views.into_iter()
    }

    /// Adds the exchanges of an even field that are on the air at `now` without a collision.
    fn exchanges_on_air(&self, now: Time, cells: &mut [OnAir]) {
        for (cell, time) in self.even.on_air(now) {
            cells[cell as usize].passes(time);
        }
    }

    /// Returns the frames of `contender`'s queue that the MAC holds: on the air, or to be
    /// retransmitted.
    pub fn held(&self, contender: ContenderId) -> impl Iterator<Item = &Mpdu<P>> {
        let psdu = self.originators[contender as usize].frames();
        let waiting = self.aggregate().into_iter().flat_map(move |one| one.waiting(contender));
        psdu.map_or(&[][..], Frames::mpdus).iter().chain(waiting)
    }

    /// Returns the frames of `contender`'s queue that wait in the receiver's reorder buffer for
    /// earlier ones.
    pub fn held_back(&self, contender: ContenderId) -> impl Iterator<Item = &Mpdu<P>> {
        self.aggregate().into_iter().flat_map(move |one| one.held_back(contender))
    }

    /// Returns the settings of the PHY.
    pub fn phy(&self) -> &PhyConfig {
        self.frames.phy()
    }

    /// Checks the counters of `contender`. Every attempt has ended or is on the air. Every dequeued
    /// frame was acknowledged, given up, or is still held.
    ///
    /// # Errors
    /// The violated invariant.
    pub fn check_laws(&self, contender: ContenderId) -> Result<(), String> {
        if let Some(law) = &self.broken_law {
            return Err(law.clone());
        }
        let originator = &self.originators[contender as usize];
        let exchange = self.air.nodes[originator.station as usize].exchange;
        let is_under_way = exchange.is_some_and(|one| one.by == contender)
            || self.even.has_exchange(originator.station);
        self.counters(contender).check_attempts(is_under_way)?;
        if let Some(aggregates) = self.aggregate() {
            aggregates.check_laws(contender, originator.frames().as_slice())?;
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
