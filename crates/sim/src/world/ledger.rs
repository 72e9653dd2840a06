//! What a run counts, and the records computed from it. The world reports what happens, and asks
//! for the records at the end; the ledger reads the world's [`Entities`] and changes none of them.
//!
//! This file has measurements that belong to no single flow or node, and how much of what began
//! before the measured time counts. Airtime is in [`accounts`], sums for estimators in [`blocks`],
//! delays in [`latency`], PPDUs in [`ppdus`]. At the end [`figures`] and [`groups`] compute the
//! [`metrics`].

mod accounts;
mod blocks;
mod figures;
mod groups;
mod latency;
mod metrics;
mod ppdus;

use std::ops::AddAssign;

use airtcp_kernel::{Duration, Time, counters};
use airtcp_wlan::{CellCounters, MacCounters};

use super::flow::Flow;
use super::lost::{LossCounts, Place};
use super::node::{Node, Transmitter};
use super::parts::{Entities, Parts};
use crate::airtime::{AirtimeAccount, Colliding};
use crate::medium::Medium;
use crate::outcome::{Halfway, Transfer};
use crate::scenario::Scenario;
use crate::statistics::{Histogram, Level, Series};
use accounts::{Aside, FieldBooks};
pub(crate) use blocks::BLOCKS;
use blocks::Blocks;
pub(super) use groups::scope;
use groups::{Scope, scopes};
use latency::Latency;
pub(super) use latency::{Jitter, Speech};
use ppdus::Ppdus;

/// Intervals of the goodput series.
const SERIES_BINS: usize = 100;

counters! {
    /// The counters of one or several queues.
    pub(super) struct QueueCounts {
        pub(super) arrivals: u64,
        /// Counted if the packet arrived in the measured time, also for later drops by CoDel.
        pub(super) queue_drops: u64,
    }
}

/// Everything that a run counts outside of flows, connections and queues.
#[derive(Debug, Default)]
pub(super) struct Ledger {
    measuring: bool,
    /// When measuring began.
    pub(super) began: Time,
    /// The airtime of the current medium, and the payload on the air when measuring began.
    pub(super) airtime: AirtimeAccount,
    payload: PayloadFrom,
    /// The same of the other media.
    aside: Aside,
    /// Additional accounts for a field; empty for a cell.
    field: FieldBooks,
    /// The colliding frames reported so far, if several cells share the medium.
    colliding: Vec<Colliding>,
    /// Nodes with a nonempty queue.
    backlogged: Level,
    /// The number of stations among them.
    backlogged_stations: u64,
    ap_queue: Level,
    /// Transfers in progress.
    active: Histogram,
    series: Series,
    transfer_times_s: Vec<f64>,
    last_ack_times: Mean,
    /// The scope and load time of each page loaded in the measured time.
    page_times_s: Vec<(u32, f64)>,
    /// The sum of backlogged stations after each success of an access point, and the number of
    /// successes.
    active_after_ap_success: (u64, u64),
    losses: LossCounts,
    scopes: Vec<Scope>,
    /// With aggregation, counters of PPDUs.
    pub(super) ppdus: Option<Box<Ppdus>>,
    /// The scope of each of `transfer_times_s`.
    transfer_scopes: Vec<u32>,
    /// The transfer of each of `transfer_times_s`, if requested.
    pub(super) transfers: Option<Vec<Transfer>>,
    blocks: Blocks,
    /// The counters of each contender when measuring began.
    mac_baseline: Vec<MacCounters>,
    /// The counters of the cell when measuring began.
    cell_baseline: CellCounters,
    /// The part of the measured time in contention-free periods that have ended.
    contention_free: Duration,
    /// The metrics of the first half, when it is over.
    halfway: Option<Halfway>,
}

/// The part of payload that counts: of frames on the air when measuring began, only the remaining
/// part.
#[derive(Clone, Copy, Debug)]
struct PayloadFrom {
    /// Frames received later count as a whole.
    whole_after: Time,
    /// For frames received at that time: the remaining duration, and the full one.
    rest: Duration,
    all: Duration,
}

impl Default for PayloadFrom {
    fn default() -> Self {
        Self { whole_after: Time::NEVER, rest: Duration::ZERO, all: Duration::ZERO }
    }
}

impl PayloadFrom {
    /// Starts counting at `now`. `arriving` is the start and end of the arrival of frames on the
    /// air.
    fn new(now: Time, arriving: Option<(Time, Time)>) -> Self {
        match arriving {
            Some((begin, end)) if begin < now => {
                Self { whole_after: end, rest: end - now, all: end - begin }
            }
            _ => Self { whole_after: now, ..Self::default() },
        }
    }

    #[cold]
    fn share_of(self, bits: u64, came: Time) -> u64 {
        if came < self.whole_after || self.all == Duration::ZERO {
            return 0;
        }
        let product = u128::from(bits) * u128::from(self.rest.as_nanos());
        (product / u128::from(self.all.as_nanos())) as u64
    }
}

/// A mean being computed.
#[derive(Clone, Copy, Debug, Default)]
struct Mean {
    sum: f64,
    count: u64,
}

impl Mean {
    fn add(&mut self, value: f64) {
        self.sum += value;
        self.count += 1;
    }

    fn value(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum / self.count as f64)
    }
}

impl AddAssign for Mean {
    fn add_assign(&mut self, other: Self) {
        self.sum += other.sum;
        self.count += other.count;
    }
}

impl Ledger {
    pub(super) fn new(scenario: &Scenario, contenders: usize, parts: &Parts) -> Self {
        let ppdus = || Box::new(Ppdus::new(contenders, scenario.stations.len()));
        let mut accounts = accounts::of_media(scenario, parts).into_iter();
        Self {
            // The first one is current.
            airtime: accounts.next().expect("there is a medium"),
            aside: Aside::new(accounts),
            field: FieldBooks::new(if scenario.air.is_some() { contenders } else { 0 }),
            series: Series::new(scenario.measure_from(), scenario.run.duration, SERIES_BINS),
            scopes: (0..scopes(scenario)).map(|_| Scope::default()).collect(),
            ppdus: scenario.mac.aggregation.is_some().then(ppdus),
            blocks: Blocks::new(scenario.flows.len()),
            mac_baseline: vec![MacCounters::default(); contenders],
            ..Self::default()
        }
    }

    /// Returns the delays of packets of a scope.
    #[inline(always)]
    pub(super) fn latency(&mut self, scope: u32) -> &mut Latency {
        &mut self.scopes[scope as usize].latency
    }

    /// Returns the number of transfers in progress.
    pub(super) fn active_transfers(&self) -> usize {
        self.active.value()
    }

    pub(super) fn transfer_started(&mut self, now: Time, flow: &Flow<'_>) {
        self.active.set(now, self.active.value() + 1);
        self.scopes[flow.scope as usize].active.increment(now);
        self.blocks.transfer_started(now, flow.entry);
    }

    /// Counts a completely received transfer of `flow`, whose number is `id`.
    pub(super) fn transfer_received(
        &mut self,
        now: Time,
        (id, flow): (u32, &mut Flow<'_>),
        began: Time,
        bytes: u64,
    ) {
        self.active.set(now, self.active.value() - 1);
        self.scopes[flow.scope as usize].active.decrement(now);
        self.blocks.transfer_received(now, flow.entry);
        if self.measuring {
            if began < self.began {
                self.blocks.carry_over(self.transfer_times_s.len(), self.began - began);
            }
            let time_s = (now - began).as_secs_f64();
            self.transfer_scopes.push(flow.scope);
            self.transfer_times_s.push(time_s);
            flow.measured.transfers += 1;
            flow.measured.transfer_time_sum_s += time_s;
            if let Some(transfers) = &mut self.transfers {
                transfers.push(Transfer { flow: id, began, bytes });
            }
        }
    }

    /// Counts a page that a user requests.
    pub(super) fn page_asked(&mut self, now: Time, entry: usize) {
        self.blocks.page_asked(now, entry);
    }

    /// Counts a page that `flow` has completely loaded.
    pub(super) fn page_loaded(&mut self, now: Time, began: Time, flow: &Flow<'_>) {
        if flow.page_asked.is_some() {
            self.blocks.page_loaded(now, flow.entry);
        }
        if self.measuring {
            if began < self.began {
                self.blocks.carry_page_over(self.page_times_s.len());
            }
            self.page_times_s.push((flow.scope, (now - began).as_secs_f64()));
        }
    }

    /// Counts a transfer whose sender has the last ACK.
    pub(super) fn transfer_acknowledged(&mut self, now: Time, started: Time, scope: u32) {
        if self.measuring {
            let time_s = (now - started).as_secs_f64();
            self.last_ack_times.add(time_s);
            self.scopes[scope as usize].last_ack_times.add(time_s);
        }
    }

    /// Counts payload delivered to an application, and returns the part in the measured time.
    #[inline]
    pub(super) fn delivered(&mut self, now: Time, bytes: u64) -> u64 {
        if !self.measuring {
            return 0;
        }
        self.series.add(now, bytes);
        bytes
    }

    /// Updates the state of `transmitter`'s queue, which changed from `before` to `after` packets.
    #[inline]
    pub(super) fn queue_changed(
        &mut self,
        now: Time,
        transmitter: &Transmitter,
        nodes: &mut [Node],
        before: usize,
        after: usize,
    ) {
        if transmitter.at_access_point {
            self.ap_queue.change(now, after as i64 - before as i64);
        }
        if (before == 0) != (after == 0) {
            self.backlog_changed(now, &mut nodes[transmitter.node as usize], after > 0);
        }
    }

    /// Counts a packet that joins the queue of an access point.
    #[inline(always)]
    pub(super) fn ap_queue_grows(&mut self, now: Time) {
        self.ap_queue.increment(now);
    }

    /// Counts a packet that leaves the queue of an access point.
    #[inline(always)]
    pub(super) fn ap_queue_shrinks(&mut self, now: Time) {
        self.ap_queue.decrement(now);
    }

    /// Counts a queue of `node` that has become nonempty (`grows`) or empty.
    #[inline]
    pub(super) fn backlog_changed(&mut self, now: Time, node: &mut Node, grows: bool) {
        if grows {
            node.backlogged_queues += 1;
            if node.backlogged_queues == 1 {
                self.backlogged.increment(now);
                self.backlogged_stations += u64::from(!node.is_access_point());
            }
        } else {
            node.backlogged_queues -= 1;
            if node.backlogged_queues == 0 {
                self.backlogged.decrement(now);
                self.backlogged_stations -= u64::from(!node.is_access_point());
            }
        }
    }

    /// Returns the mean number of stations with a packet after a success of an access point.
    pub(super) fn active_after_ap_success(&self) -> Option<f64> {
        let (sum, count) = self.active_after_ap_success;
        (count > 0).then(|| sum as f64 / count as f64)
    }

    /// Counts a successful exchange of the access point, and the stations that then have a packet.
    #[inline]
    pub(super) fn ap_success(&mut self) {
        if self.measuring {
            self.active_after_ap_success.0 += self.backlogged_stations;
            self.active_after_ap_success.1 += 1;
        }
    }

    /// Counts payload that was received over the medium at `came`.
    #[inline]
    pub(super) fn payload_received(&mut self, came: Time, scope: u32, bytes: u32) {
        let mut bits = u64::from(bytes) * 8;
        if came <= self.payload.whole_after {
            bits = self.payload.share_of(bits, came);
        }
        self.scopes[scope as usize].payload_bits += bits;
    }

    /// Counts a packet lost at `place`; `at_access_point` says whether an access point lost it.
    pub(super) fn lost(&mut self, place: Place, at_access_point: bool) {
        *self.losses.of(place, at_access_point) += u64::from(self.measuring);
    }
}

impl Ledger {
    /// Starts measuring at the end of the warm-up.
    pub(super) fn start_measuring(&mut self, now: Time, medium: &mut Medium) {
        (self.measuring, self.began) = (true, now);
        self.backlogged.restart(now);
        self.ap_queue.restart(now);
        self.active.restart(now);
        self.blocks.restart(now);
        for scope in &mut self.scopes {
            scope.active.restart(now);
            scope.latency.clear();
        }
        if let Some(ppdus) = &mut self.ppdus {
            ppdus.clear();
        }
        for (id, baseline) in (0..).zip(&mut self.mac_baseline) {
            *baseline = medium.counters(id);
        }
        self.cell_baseline = medium.cell_counters();
        self.start_accounts(now, medium);
    }
}
