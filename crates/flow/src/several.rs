//! The event loop of one server or several: runs until enough jobs have left.
//!
//! `concurrent` and `coupled` choose the next event and decide how servers share jobs or slow each
//! other down.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::server::Server;
use crate::window::MeasuredWindow;
use crate::{Outcome, Plan, RunError};

/// Events between two checks for cancellation.
const EVENTS_PER_LOOK: u64 = 1 << 16;

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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::concurrent::Jobs;
    use crate::server::Capacity;
    use crate::source::Source;
    use std::num::NonZeroU64;

    /// Jobs as (time, size), in reverse order of arrival.
    struct Script(Vec<(f64, f64)>);

    impl Source for Script {
        fn next_arrival(&self) -> f64 {
            self.0.last().map_or(f64::INFINITY, |&(time, _)| time)
        }

        fn arrive(&mut self) -> f64 {
            self.0.pop().expect("an arrival was due").1
        }

        fn departed(&mut self, _now: f64) {}

        fn balance(&self, _present: usize) -> Result<(), String> {
            Ok(())
        }
    }

    fn run(
        jobs: &[(f64, f64)],
        table: &[f64],
        limit: Option<usize>,
        (warmup_jobs, measured): (u64, u64),
    ) -> Outcome {
        let script = Script(jobs.iter().rev().copied().collect());
        let plan = Plan {
            warmup_jobs,
            jobs: NonZeroU64::new(measured).expect("a script measures a job"),
            keep_jobs: true,
        };
        let servers = vec![Server::new(Capacity::new(table), limit)];
        Several::new(servers)
            .measure(Jobs::of_one_server(script), plan, &AtomicBool::new(false))
            .expect("the laws hold and nobody cancels")
            .remove(0)
    }

    /// The first job is alone until 1 and has 2 left. At half speed the second finishes at 3 and
    /// the first, alone again, at 4. The third arrives at that moment and is alone until 6.
    const THREE: [(f64, f64); 3] = [(0.0, 3.0), (1.0, 1.0), (4.0, 2.0)];

    #[test]
    fn three_jobs_share_one_capacity() {
        let outcome = run(&THREE, &[1.0], None, (0, 3));

        assert_eq!(outcome.sojourns_s, [2.0, 4.0, 2.0]);
        assert_eq!(outcome.sizes, [1.0, 3.0, 2.0]);
        // Two jobs are present from 1 to 3; the server is never empty.
        assert_eq!(outcome.seconds, 6.0);
        assert_eq!(outcome.active_distribution, [0.0, 4.0 / 6.0, 2.0 / 6.0]);
        assert_eq!(outcome.mean_active, 8.0 / 6.0);
        assert_eq!(outcome.mean_sojourn_s, 8.0 / 3.0);
        assert_eq!(outcome.mean_size, 2.0);
        // Alone they take 1, 3 and 2 s.
        assert_eq!(outcome.mean_slowdown, (2.0 + 4.0 / 3.0 + 1.0) / 3.0);
        assert_eq!(outcome.work_per_s, 1.0);
        assert_eq!((outcome.offered, outcome.completed, outcome.events), (3, 3, 6));
    }

    #[test]
    fn sizes_are_told_apart_by_powers_of_two() {
        let classes = run(&THREE, &[1.0], None, (0, 3)).size_classes;

        // Size 1 in 1 .. 2; sizes 3 and 2 in 2 .. 4, with sojourns 4 and 2, slowdowns 4/3 and 1.
        let ends: Vec<_> = classes.iter().map(|class| (class.low, class.high)).collect();
        assert_eq!(ends, [(1.0, 2.0), (2.0, 4.0)]);
        assert_eq!(classes.iter().map(|class| class.jobs).collect::<Vec<_>>(), [1, 2]);
        assert_eq!(classes[1].mean_size, 2.5);
        assert_eq!(classes[1].mean_sojourn_s, 3.0);
        assert_eq!(classes[1].mean_slowdown, (4.0 / 3.0 + 1.0) / 2.0);
    }

    #[test]
    fn twice_the_capacity_halves_the_slowdown_too() {
        // Alone, at 2 units/s, the first job would finish at 1.5. It has 2 left at 1 s, when the
        // second arrives. From 1 to 2 each gets one unit, so both finish at 2.
        let outcome = run(&THREE[..2], &[2.0], None, (0, 2));

        assert_eq!(outcome.sojourns_s, [2.0, 1.0]);
        // Alone the first takes 3/2 s, the second 1/2 s.
        assert_eq!(outcome.mean_slowdown, (2.0 / 1.5 + 1.0 / 0.5) / 2.0);
    }

    #[test]
    fn capacity_follows_the_number_of_jobs() {
        // The first job is alone, at C_1 = 1, until 1 and has 3 left. Then two jobs share C_2 = 3,
        // 1.5 each, and both finish at 3, the first one first.
        let outcome = run(&[(0.0, 4.0), (1.0, 3.0)], &[1.0, 3.0], None, (0, 2));

        assert_eq!(outcome.sojourns_s, [3.0, 2.0]);
        assert_eq!(outcome.active_distribution, [0.0, 1.0 / 3.0, 2.0 / 3.0]);
        // 4 and 3 units in 3 s; alone, at C_1 = 1, they would take 4 and 3 s.
        assert_eq!(outcome.work_per_s, 7.0 / 3.0);
        assert_eq!(outcome.mean_slowdown, (3.0 / 4.0 + 2.0 / 3.0) / 2.0);
    }

    #[test]
    fn beyond_the_table_its_last_capacity_holds() {
        // Three jobs arrive at once and get 1 each of C_3 = C_2 = 3.
        let outcome = run(&[(2.0, 1.0), (2.0, 1.0), (2.0, 1.0)], &[1.0, 3.0], None, (0, 3));

        assert_eq!(outcome.sojourns_s, [1.0, 1.0, 1.0]);
        assert_eq!(outcome.active_distribution, [2.0 / 3.0, 0.0, 0.0, 1.0 / 3.0]);
    }

    #[test]
    fn a_blocked_job_is_gone() {
        // The second job arrives while the only place is occupied, the third at the moment it
        // becomes free.
        let outcome = run(&[(0.0, 2.0), (1.0, 5.0), (2.0, 1.0)], &[1.0], Some(1), (0, 2));

        assert_eq!(outcome.sojourns_s, [2.0, 1.0]);
        assert_eq!((outcome.offered, outcome.blocked, outcome.completed), (3, 1, 2));
        assert_eq!(outcome.active_distribution, [0.0, 1.0]);
    }

    #[test]
    fn what_happened_in_the_warm_up_does_not_count() {
        // The window begins at 3, when the second job leaves; the first is present until 4.
        let outcome = run(&THREE, &[1.0], None, (1, 2));

        assert_eq!(outcome.sojourns_s, [4.0, 2.0]);
        assert_eq!(outcome.seconds, 3.0);
        assert_eq!(outcome.active_distribution, [0.0, 1.0]);
        assert_eq!((outcome.offered, outcome.completed), (1, 2));
    }

    #[test]
    fn a_window_may_end_while_jobs_are_present() {
        let outcome = run(&THREE, &[1.0], None, (0, 1));

        assert_eq!(outcome.sojourns_s, [2.0]);
        assert_eq!(outcome.seconds, 3.0);
        assert_eq!(outcome.mean_active, 5.0 / 3.0);
    }

    #[test]
    fn a_job_may_outlast_the_window() {
        // The window begins at 3, when the second job finishes, and ends at 5.5, when the third
        // does. The third also runs at half speed, because the first is present all the time.
        let outcome = run(&[(0.0, 10.0), (1.0, 1.0), (3.5, 1.0)], &[1.0], None, (1, 1));

        assert_eq!(outcome.sojourns_s, [2.0]);
        assert_eq!(outcome.active_distribution, [0.0, 0.5 / 2.5, 2.0 / 2.5]);
    }

    #[test]
    fn jobs_that_leave_together_make_an_empty_window() {
        let outcome = run(&[(1.0, 1.0), (1.0, 1.0)], &[1.0], None, (1, 1));

        assert_eq!((outcome.seconds, outcome.mean_active), (0.0, 0.0));
        assert_eq!(outcome.sojourns_s, [2.0]);
    }

    #[test]
    fn a_run_can_be_cancelled() {
        let servers = vec![Server::new(Capacity::new(&[1.0]), None)];
        let plan = Plan { warmup_jobs: 0, jobs: NonZeroU64::MIN, keep_jobs: false };

        let jobs = Jobs::of_one_server(Script(THREE.to_vec()));
        let answer = Several::new(servers).measure(jobs, plan, &AtomicBool::new(true));

        assert_eq!(answer, Err(RunError::Cancelled));
    }
}
