//! Several servers in motion: the loop over their events, until enough jobs have left.
//!
//! Knows windows, books and when to stop. Which event is next, and what speeds and splits do to servers, is the
//! business of `concurrent` and `coupled`.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::run::EVENTS_PER_LOOK;
use crate::server::Server;
use crate::window::MeasuredWindow;
use crate::{Outcome, Plan, RunError};

/// Servers in motion.
pub(crate) struct Several {
    pub(crate) now: f64,
    pub(crate) servers: Vec<Server>,
    events: u64,
}

/// The jobs of several servers, and the order of their events.
pub(crate) trait Play {
    /// Plays one event, and tells whether it was a departure, which comes before an arrival at the same time.
    fn step(&mut self, motion: &mut Several, windows: &mut [MeasuredWindow]) -> bool;
    /// Says what is wrong with the sources, if anything.
    fn balance(&self, servers: &[Server]) -> Result<(), String>;
}

impl Several {
    /// Begins at time 0, with servers that are empty.
    pub(crate) fn new(servers: Vec<Server>) -> Self {
        Self { now: 0.0, servers, events: 0 }
    }

    /// Warms up, measures, checks the laws of both. Gives the outcome of each server.
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

    /// Goes on until `count` more have left, from whatever server.
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
