//! The books of a measured time: what the applications drew, began, received and had in progress, added up for each
//! entry of the traffic at the ends of equal blocks of time. Estimators are made of these sums.
//!
//! Knows nothing of laws or estimators. Nothing is done here for a packet, and little for a transfer.

use airtcp_kernel::{Duration, Time};

use super::World;
use super::flow::Flow;
use crate::outcome::{Books, CarriedOver, Sums, UnderWay};
use crate::statistics::Level;

/// The number of equal blocks of the measured time.
pub(crate) const BLOCKS: u64 = 20;

/// The books of all entries of the traffic.
#[derive(Debug, Default)]
pub(super) struct Ledger {
    /// The transfers in progress, by the entry of the traffic.
    active: Vec<Level>,
    /// The sums since measuring began: for the end of each block those of all entries.
    rows: Vec<Sums>,
    /// The transfers that ended and had begun before measuring did.
    carried_over: Vec<CarriedOver>,
}

impl Ledger {
    pub(super) fn new(entries: usize) -> Self {
        let active = (0..entries).map(|_| Level::default()).collect();
        Self { active, ..Self::default() }
    }

    pub(super) fn transfer_started(&mut self, now: Time, entry: usize) {
        self.active[entry].increment(now);
    }

    pub(super) fn transfer_received(&mut self, now: Time, entry: usize) {
        self.active[entry].decrement(now);
    }

    /// Counts the transfer that is the number `index` of those that ended, and had had this `age` when measuring
    /// began.
    pub(super) fn carry_over(&mut self, index: usize, age: Duration) {
        self.carried_over.push(CarriedOver { index: index as u32, age_s: age.as_secs_f64() });
    }

    pub(super) fn restart(&mut self, now: Time) {
        self.rows.clear();
        for level in &mut self.active {
            level.restart(now);
        }
    }
}

impl Flow<'_> {
    /// Notes a transfer that begins.
    pub(super) fn begin_transfer(&mut self, now: Time) {
        self.under_way.push(now);
        self.measured.begun += 1;
    }

    /// Forgets the transfer that began at `began`, if it was noted.
    pub(super) fn end_transfer(&mut self, began: Time) {
        if let Some(place) = self.under_way.iter().position(|&one| one == began) {
            self.under_way.swap_remove(place);
        }
    }
}

impl World<'_> {
    /// Closes a block, which ends at `now`.
    pub(crate) fn close_block(&mut self, now: Time) {
        let began = self.measures.began;
        let ledger = &mut self.measures.ledger;
        let first = ledger.rows.len();
        ledger.rows.extend(ledger.active.iter().map(|level| Sums {
            active_s: level.average(now, now - began) * (now - began).as_secs_f64(),
            ..Sums::default()
        }));
        for flow in &self.flows {
            let (sums, drawn) = (&mut ledger.rows[first + flow.entry], flow.draws.drawn);
            sums.units += drawn.units as f64;
            sums.unit_bytes += drawn.bytes;
            sums.pauses += drawn.pauses as f64;
            sums.paused_s += drawn.paused_s;
            sums.begun += flow.measured.begun as f64;
            sums.ended += flow.measured.transfers as f64;
            sums.ended_s += flow.measured.transfer_time_sum_s;
            sums.delivered_bytes += flow.measured.delivered_bytes as f64;
        }
    }

    /// Takes the books out, at the end of the measured time.
    pub(super) fn take_books(&mut self) -> Books {
        let now = self.now;
        let under_way = self.flows.iter().flat_map(|flow| {
            flow.under_way.iter().map(move |&began| UnderWay {
                entry: flow.entry as u32,
                age_s: (now - began).as_secs_f64(),
            })
        });
        Books {
            under_way: under_way.collect(),
            entries: self.scenario.flows.len() as u32,
            rows: std::mem::take(&mut self.measures.ledger.rows),
            carried_over: std::mem::take(&mut self.measures.ledger.carried_over),
            scopes: std::mem::take(&mut self.measures.transfer_scopes),
        }
    }
}
