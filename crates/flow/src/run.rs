//! The event loop of a system with one server.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::server::Server;
use crate::source::Source;
use crate::window::MeasuredWindow;
use crate::{Outcome, Plan, RunError};

/// Events between two checks for cancellation.
pub(crate) const EVENTS_PER_LOOK: u64 = 1 << 16;

/// A running system.
pub(crate) struct Run<S> {
    now: f64,
    events: u64,
    source: S,
    server: Server,
}

impl<S: Source> Run<S> {
    /// Starts at time 0 with an empty server.
    pub(crate) fn new(source: S, server: Server) -> Self {
        Self { now: 0.0, events: 0, source, server }
    }

    /// Warms up, measures, and checks the conservation laws of both windows.
    pub(crate) fn measure(
        mut self,
        plan: Plan,
        cancelled: &AtomicBool,
    ) -> Result<Outcome, RunError> {
        if plan.warmup_jobs > 0 {
            self.window(plan.warmup_jobs, false, cancelled)?;
        }
        let window = self.window(plan.jobs.get(), plan.keep_jobs, cancelled)?;
        Ok(window.outcome(self.now, &self.server, self.events))
    }

    /// Runs until `jobs` more jobs have left.
    fn window(
        &mut self,
        jobs: u64,
        keep: bool,
        cancelled: &AtomicBool,
    ) -> Result<MeasuredWindow, RunError> {
        let mut window = MeasuredWindow::open(self.now, &self.server, keep);
        while window.completed() < jobs {
            if self.events.is_multiple_of(EVENTS_PER_LOOK) && cancelled.load(Ordering::Relaxed) {
                return Err(RunError::Cancelled);
            }
            self.step(&mut window);
        }
        self.source.balance(self.server.present()).map_err(RunError::LawViolated)?;
        window.books(self.now, &self.server).balance().map_err(RunError::LawViolated)?;
        Ok(window)
    }

    /// Executes one event. A departure precedes an arrival at the same time, so that its place is
    /// free.
    #[inline]
    fn step(&mut self, window: &mut MeasuredWindow) {
        self.events += 1;
        let arrival = self.source.next_arrival();
        let departure = self.server.next_departure(self.now);
        if departure <= arrival {
            window.pass(self.server.present(), departure - self.now);
            self.now = departure;
            let job = self.server.depart();
            self.source.departed(departure);
            window.departed(departure, &job);
        } else {
            window.pass(self.server.present(), arrival - self.now);
            self.server.serve(arrival - self.now);
            self.now = arrival;
            let size = self.source.arrive();
            if self.server.admit(arrival, size) {
                window.admitted(size, self.server.present());
            } else {
                window.blocked();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::server::Capacity;
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
        let server = Server::new(Capacity::new(table), limit);
        Run::new(script, server)
            .measure(plan, &AtomicBool::new(false))
            .expect("the laws hold and nobody cancels")
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
        let server = Server::new(Capacity::new(&[1.0]), None);
        let plan = Plan { warmup_jobs: 0, jobs: NonZeroU64::MIN, keep_jobs: false };

        let answer = Run::new(Script(THREE.to_vec()), server).measure(plan, &AtomicBool::new(true));

        assert_eq!(answer, Err(RunError::Cancelled));
    }
}
