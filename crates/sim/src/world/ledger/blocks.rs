//! Sums for estimators: what the applications drew, began, received and had in progress, per
//! traffic entry at the ends of equal blocks of the measured time.
//!
//! Packets need no work here, and transfers only little.

use airtcp_kernel::{Duration, Time};

use super::super::flow::Flow;
use super::{Entities, Ledger};
use crate::outcome::{Books, CarriedOver, DelayBin, PageBooks, Sums, UnderWay};
use crate::statistics::Level;

/// The number of equal blocks of the measured time.
pub(crate) const BLOCKS: u64 = 20;

/// The sums of all traffic entries.
#[derive(Debug, Default)]
pub(super) struct Blocks {
    /// The number of transfers in progress, by traffic entry.
    active: Vec<Level>,
    /// The pages, by traffic entry.
    pages: Vec<Pages>,
    /// The sums since measuring began: for the end of each block, those of all entries.
    rows: Vec<Sums>,
    /// The transfers that ended in the measured time and had begun before.
    carried_over: Vec<CarriedOver>,
    /// The indices of the loaded pages that were requested before measuring began.
    pages_carried_over: Vec<u32>,
}

/// The pages of an entry.
#[derive(Debug, Default)]
struct Pages {
    /// The number of pages in progress.
    loading: Level,
    /// The number of pages loaded since measuring began.
    loaded: u64,
    /// The time since then without a page in progress, up to `changed`.
    without: Duration,
    /// When the first page was requested, or the last one was loaded.
    changed: Time,
}

impl Pages {
    fn asked(&mut self, now: Time) {
        if self.loading.value() == 0 {
            self.without += now - self.changed;
        }
        self.loading.increment(now);
    }

    fn loaded(&mut self, now: Time) {
        self.loading.decrement(now);
        self.loaded += 1;
        self.changed = now;
    }

    fn restart(&mut self, now: Time) {
        self.loading.restart(now);
        (self.loaded, self.without, self.changed) = (0, Duration::ZERO, now);
    }

    /// Returns the time without a page in progress.
    fn without(&self, now: Time) -> Duration {
        if self.loading.value() == 0 { self.without + (now - self.changed) } else { self.without }
    }
}

impl Blocks {
    pub(super) fn new(entries: usize) -> Self {
        let active = (0..entries).map(|_| Level::default()).collect();
        let pages = (0..entries).map(|_| Pages::default()).collect();
        Self { active, pages, ..Self::default() }
    }

    pub(super) fn transfer_started(&mut self, now: Time, entry: usize) {
        self.active[entry].increment(now);
    }

    pub(super) fn transfer_received(&mut self, now: Time, entry: usize) {
        self.active[entry].decrement(now);
    }

    pub(super) fn page_asked(&mut self, now: Time, entry: usize) {
        self.pages[entry].asked(now);
    }

    pub(super) fn page_loaded(&mut self, now: Time, entry: usize) {
        self.pages[entry].loaded(now);
    }

    /// Records an ended transfer that had begun before measuring: its index among the ended
    /// transfers, and its age when measuring began.
    pub(super) fn carry_over(&mut self, index: usize, age: Duration) {
        self.carried_over.push(CarriedOver { index: index as u32, age_s: age.as_secs_f64() });
    }

    /// Records a loaded page that was requested before measuring began, by its index among the
    /// loaded pages.
    pub(super) fn carry_page_over(&mut self, index: usize) {
        self.pages_carried_over.push(index as u32);
    }

    pub(super) fn restart(&mut self, now: Time) {
        self.rows.clear();
        for level in &mut self.active {
            level.restart(now);
        }
        for pages in &mut self.pages {
            pages.restart(now);
        }
    }
}

impl Ledger {
    /// Closes a block, which ends at `now`. Returns whether it is the last one of the first half.
    pub(in crate::world) fn close_block(&mut self, now: Time, flows: &[Flow<'_>]) -> bool {
        let measured = now - self.began;
        let blocks = &mut self.blocks;
        let first = blocks.rows.len();
        let integral_s = |level: &Level| level.average(now, measured) * measured.as_secs_f64();
        let entries = blocks.active.iter().zip(&blocks.pages);
        blocks.rows.extend(entries.map(|(active, pages)| Sums {
            active_s: integral_s(active),
            loaded: pages.loaded as f64,
            loading_s: integral_s(&pages.loading),
            pageless_s: pages.without(now).as_secs_f64(),
            ..Sums::default()
        }));
        for flow in flows {
            let (sums, drawn) = (&mut blocks.rows[first + flow.entry], flow.draws.drawn);
            sums.units += drawn.units as f64;
            sums.unit_bytes += drawn.bytes;
            sums.pauses += drawn.pauses as f64;
            sums.paused_s += drawn.paused_s;
            sums.begun += flow.measured.begun as f64;
            sums.ended += flow.measured.transfers as f64;
            sums.ended_s += flow.measured.transfer_time_sum_s;
            sums.delivered_bytes += flow.measured.delivered_bytes as f64;
        }
        blocks.rows.len() * 2 == blocks.active.len() * BLOCKS as usize
    }

    /// Returns the sums and lists at the end of the measured time.
    pub(super) fn take_books(&mut self, all: Entities<'_>) -> Books {
        let now = all.now;
        let since = |flow: &Flow, began: Time| UnderWay {
            entry: flow.entry as u32,
            age_s: (now - began).as_secs_f64(),
        };
        let of_flow = |flow| move |&began: &Time| since(flow, began);
        let under_way = all.flows.iter().flat_map(|flow| flow.under_way.iter().map(of_flow(flow)));
        let loading = all.flows.iter().flat_map(|flow| flow.page_asked.iter().map(of_flow(flow)));
        let (under_way, loading) = (under_way.collect(), loading.collect());
        let pages = std::mem::take(&mut self.page_times_s);
        let (scopes, times_s) = pages.into_iter().unzip();
        let carried_over = std::mem::take(&mut self.blocks.pages_carried_over);
        let mut delays = Vec::new();
        for (scope, of) in (0..).zip(&self.scopes) {
            for (kind, seen) in (0..).zip(of.latency.kinds()) {
                delays.extend(seen.bins().map(|(bin, count)| DelayBin { scope, kind, bin, count }));
            }
        }
        Books {
            delays,
            under_way,
            pages: PageBooks { times_s, scopes, carried_over, under_way: loading },
            entries: self.blocks.active.len() as u32,
            rows: std::mem::take(&mut self.blocks.rows),
            carried_over: std::mem::take(&mut self.blocks.carried_over),
            scopes: std::mem::take(&mut self.transfer_scopes),
        }
    }
}
