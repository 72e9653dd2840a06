//! The event loop of several servers: runs until enough jobs have left.
//!
//! `concurrent` and `coupled` choose the next event and decide how servers share jobs or slow each
//! other down.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::run::EVENTS_PER_LOOK;
use crate::server::Server;
use crate::window::MeasuredWindow;
use crate::{Outcome, Plan, RunError};

/// Running servers.
pub(crate) struct Several {
    pub(crate) now: f64,
    pub(crate) servers: Vec<Server>,
    events: u64,
}

/// Job sources of several servers, which decide the order of events.
pub(crate) trait Play {
    /// Executes one event and returns true if it was a departure. A departure precedes an arrival
    /// at the same time.
    fn step(&mut self, motion: &mut Several, windows: &mut [MeasuredWindow]) -> bool;
    /// Checks that the sources lost no job; the error says what is wrong.
    fn balance(&self, servers: &[Server]) -> Result<(), String>;
}

impl Several {
    /// Starts at time 0 with empty servers.
    pub(crate) fn new(servers: Vec<Server>) -> Self {
        Self { now: 0.0, servers, events: 0 }
    }

    /// Warms up, measures, checks the conservation laws of both windows, and returns the outcome of
    /// each server.
    pub(crate) fn measure(
        mut self,
        mut jobs: impl Play,
        plan: Plan,
        cancelled: &AtomicBool,
    ) -> Result<Vec<Outcome>, RunError> {
        if plan.warmup_jobs > 0 {
            self.window(&mut jobs, plan.warmup_jobs, false, cancelled)?;
        }
        let windows = self.window(&mut jobs, plan.jobs.get(), plan.keep_jobs, cancelled)?;
        let both = windows.into_iter().zip(&self.servers);
        Ok(both.map(|(window, server)| window.outcome(self.now, server, self.events)).collect())
    }

    /// Runs until `count` more jobs have left, counted over all servers.
    fn window(
        &mut self,
        jobs: &mut impl Play,
        count: u64,
        keep: bool,
        cancelled: &AtomicBool,
    ) -> Result<Vec<MeasuredWindow>, RunError> {
        let open = |server| MeasuredWindow::open(self.now, server, keep);
        let mut windows: Vec<MeasuredWindow> = self.servers.iter().map(open).collect();
        let mut left = 0;
        while left < count {
            if self.events.is_multiple_of(EVENTS_PER_LOOK) && cancelled.load(Ordering::Relaxed) {
                return Err(RunError::Cancelled);
            }
            self.events += 1;
            left += u64::from(jobs.step(self, &mut windows));
        }
        for (window, server) in windows.iter().zip(&self.servers) {
            window.books(self.now, server).balance().map_err(RunError::LawViolated)?;
        }
        jobs.balance(&self.servers).map_err(RunError::LawViolated)?;
        Ok(windows)
    }
}
