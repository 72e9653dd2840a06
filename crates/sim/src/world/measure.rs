//! Measurements of a run that belong to no single flow or node, and how much of what began before
//! the measured time counts. Definitions of metrics are in [`metrics`](super::metrics).

use std::ops::AddAssign;

use airtcp_kernel::{Duration, Time, counters};
use airtcp_wlan::{CellCounters, ContenderId, MacCounters};

use super::World;
use super::books::Ledger;
use super::groups::{Scope, scopes};
use super::lost::{LossCounts, Place};
use super::node::{Node, Transmitter};
use super::ppdus::Ppdus;
use crate::app::Drawn;
use crate::medium::Medium;
use crate::outcome::{Halfway, Transfer};
use crate::scenario::Scenario;
use crate::statistics::{Histogram, Level, Series};

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

/// Measurements that belong to no single flow or node.
#[derive(Debug, Default)]
pub(super) struct Measures {
    measuring: bool,
    /// When measuring began.
    pub(super) began: Time,
    pub(super) payload: PayloadFrom,
    /// Nodes with a nonempty queue.
    pub(super) backlogged: Level,
    /// The number of stations among them.
    backlogged_stations: u64,
    pub(super) ap_queue: Level,
    /// Transfers in progress.
    pub(super) active: Histogram,
    pub(super) series: Series,
    pub(super) transfer_times_s: Vec<f64>,
    pub(super) last_ack_times: Mean,
    /// The scope and load time of each page loaded in the measured time.
    pub(super) page_times_s: Vec<(u32, f64)>,
    /// The sum of backlogged stations after each success of an access point, and the number of
    /// successes.
    active_after_ap_success: (u64, u64),
    pub(super) losses: LossCounts,
    pub(super) scopes: Vec<Scope>,
    /// With aggregation, counters of PPDUs.
    pub(super) ppdus: Option<Box<Ppdus>>,
    /// The scope of each of `transfer_times_s`.
    pub(super) transfer_scopes: Vec<u32>,
    /// The transfer of each of `transfer_times_s`, if requested.
    pub(super) transfers: Option<Vec<Transfer>>,
    pub(super) ledger: Ledger,
    /// The counters of each contender when measuring began.
    pub(super) mac_baseline: Vec<MacCounters>,
    /// The counters of the cell when measuring began.
    pub(super) cell_baseline: CellCounters,
    /// The part of the measured time in contention-free periods that have ended.
    pub(super) contention_free: Duration,
    /// The metrics of the first half, when it is over.
    pub(super) halfway: Option<Halfway>,
}

/// The part of payload that counts: of frames on the air when measuring began, only the remaining
/// part.
#[derive(Clone, Copy, Debug)]
pub(super) struct PayloadFrom {
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
pub(super) struct Mean {
    sum: f64,
    count: u64,
}

impl Mean {
    fn add(&mut self, value: f64) {
        self.sum += value;
        self.count += 1;
    }

    pub(super) fn value(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum / self.count as f64)
    }
}

impl AddAssign for Mean {
    fn add_assign(&mut self, other: Self) {
        self.sum += other.sum;
        self.count += other.count;
    }
}

impl Measures {
    pub(super) fn new(scenario: &Scenario, contenders: usize) -> Self {
        let ppdus = || Box::new(Ppdus::new(contenders, scenario.stations.len()));
        Self {
            series: Series::new(scenario.measure_from(), scenario.run.duration, SERIES_BINS),
            scopes: (0..scopes(scenario)).map(|_| Scope::default()).collect(),
            ppdus: scenario.mac.aggregation.is_some().then(ppdus),
            ledger: Ledger::new(scenario.flows.len()),
            mac_baseline: vec![MacCounters::default(); contenders],
            ..Self::default()
        }
    }

    pub(super) fn transfer_started(&mut self, now: Time, scope: u32, entry: usize) {
        self.active.set(now, self.active.value() + 1);
        self.scopes[scope as usize].active.increment(now);
        self.ledger.transfer_started(now, entry);
    }

    /// Counts a completely received transfer, and returns whether it is in the measured time.
    pub(super) fn transfer_received(
        &mut self,
        now: Time,
        started: Time,
        scope: u32,
        entry: usize,
    ) -> bool {
        self.active.set(now, self.active.value() - 1);
        self.scopes[scope as usize].active.decrement(now);
        self.ledger.transfer_received(now, entry);
        if self.measuring {
            if started < self.began {
                self.ledger.carry_over(self.transfer_times_s.len(), self.began - started);
            }
            self.transfer_scopes.push(scope);
            self.transfer_times_s.push((now - started).as_secs_f64());
        }
        self.measuring
    }

    /// Counts a page that the client has completely loaded.
    pub(super) fn page_loaded(&mut self, now: Time, began: Time, scope: u32) {
        if self.measuring {
            if began < self.began {
                self.ledger.carry_page_over(self.page_times_s.len());
            }
            self.page_times_s.push((scope, (now - began).as_secs_f64()));
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

impl World<'_> {
    /// Updates the measurements after queue `id`, which had `before` packets, may have changed.
    pub(super) fn queue_has_changed(&mut self, id: ContenderId, before: usize) {
        let transmitter = &self.transmitters[id as usize];
        let after = transmitter.queue.len();
        self.measures.queue_changed(self.now, transmitter, &mut self.nodes, before, after);
    }

    /// Starts measuring at the end of the warm-up.
    pub(crate) fn start_measuring(&mut self, medium: &mut Medium) {
        medium.settle(self.now);
        let measures = &mut self.measures;
        measures.measuring = true;
        measures.began = self.now;
        measures.backlogged.restart(self.now);
        measures.ap_queue.restart(self.now);
        measures.active.restart(self.now);
        measures.ledger.restart(self.now);
        for scope in &mut measures.scopes {
            scope.active.restart(self.now);
            scope.latency.clear();
        }
        if let Some(ppdus) = &mut measures.ppdus {
            ppdus.clear();
        }
        for (id, baseline) in measures.mac_baseline.iter_mut().enumerate() {
            *baseline = medium.counters(id as ContenderId);
        }
        measures.cell_baseline = medium.cell_counters();
        self.for_each_part(|world, part| {
            let medium = medium.part_mut(part);
            world.measures.payload = PayloadFrom::new(world.now, medium.receiving());
            if let Medium::Field(field) = medium {
                world.start_measuring_field(field);
            }
        });
        for transmitter in &mut self.transmitters {
            transmitter.counts = QueueCounts::default();
        }
        for connection in &mut self.connections {
            connection.start_measuring();
        }
        for flow in &mut self.flows {
            flow.measured = super::flow::Measured::default();
            flow.draws.drawn = Drawn::default();
            if let Some(speech) = &mut flow.speech {
                speech.clear();
            }
        }
    }
}
