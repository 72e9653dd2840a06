//! The measurements of a window, and its account for the conservation laws. The event loop reports
//! each event to it.

use crate::conservation::JobBooks;
use crate::histogram::Histogram;
use crate::outcome::{Outcome, SizeClass};
use crate::server::{Job, Server};

/// Sums over jobs.
#[derive(Clone, Copy, Debug, Default)]
struct Sums {
    jobs: u64,
    size: f64,
    sojourn: f64,
    slowdown: f64,
}

impl Sums {
    #[inline]
    fn add(&mut self, size: f64, sojourn: f64, slowdown: f64) {
        self.jobs += 1;
        self.size += size;
        self.sojourn += sojourn;
        self.slowdown += slowdown;
    }
}

/// One size class for each exponent of a positive `f64`.
const CLASSES: usize = 1 << 11;
const EXPONENT_SHIFT: u32 = f64::MANTISSA_DIGITS - 1;

/// The measurements since the window was opened.
#[derive(Debug)]
pub(crate) struct MeasuredWindow {
    start: f64,
    present_before: usize,
    unfinished_before: f64,
    offered: u64,
    blocked: u64,
    admitted_work: f64,
    /// Seconds with k jobs present, for k = 0, 1, 2, ...
    seconds: Vec<f64>,
    /// Seconds at speed 1 that were lost to slowdown with k jobs present. Grows on demand.
    lost: Vec<f64>,
    /// Total time, within the window, that the completed jobs were present.
    job_seconds: f64,
    sojourns: Histogram,
    slowdowns: Histogram,
    all: Sums,
    by_size: Vec<Sums>,
    /// C_1, the reference for slowdown.
    alone: f64,
    kept: Option<Kept>,
}

#[derive(Debug, Default)]
struct Kept {
    sojourns: Vec<f64>,
    sizes: Vec<f64>,
}

impl MeasuredWindow {
    /// Starts measuring at `now`. `keep`: whether to record every job.
    pub(crate) fn open(now: f64, server: &Server, keep: bool) -> Self {
        Self {
            start: now,
            present_before: server.present(),
            unfinished_before: server.unfinished(),
            offered: 0,
            blocked: 0,
            admitted_work: 0.0,
            seconds: vec![0.0; server.present() + 1],
            lost: Vec::new(),
            job_seconds: 0.0,
            sojourns: Histogram::new(),
            slowdowns: Histogram::new(),
            all: Sums::default(),
            by_size: vec![Sums::default(); CLASSES],
            alone: server.capacity().of(1),
            kept: keep.then(Kept::default),
        }
    }

    /// Records `seconds` with `present` jobs.
    #[inline]
    pub(crate) fn pass(&mut self, present: usize, seconds: f64) {
        self.seconds[present] += seconds;
    }

    /// Records that the server ran at speed 1 - `less` during `seconds` with `present` jobs.
    #[inline]
    pub(crate) fn slowed(&mut self, present: usize, seconds: f64, less: f64) {
        if present >= self.lost.len() {
            self.lost.resize(present + 1, 0.0);
        }
        self.lost[present] += seconds * less;
    }

    /// Counts an admitted job; `present` includes it.
    #[inline]
    pub(crate) fn admitted(&mut self, size: f64, present: usize) {
        self.offered += 1;
        self.admitted_work += size;
        if present >= self.seconds.len() {
            self.seconds.push(0.0);
        }
    }

    /// Counts a blocked job.
    #[inline]
    pub(crate) fn blocked(&mut self) {
        self.offered += 1;
        self.blocked += 1;
    }

    /// Counts a job that left at `now`.
    #[inline]
    pub(crate) fn departed(&mut self, now: f64, job: &Job) {
        let sojourn = now - job.arrived;
        let slowdown = sojourn * self.alone / job.size;
        self.job_seconds += now - job.arrived.max(self.start);
        self.sojourns.add(sojourn);
        self.slowdowns.add(slowdown);
        self.all.add(job.size, sojourn, slowdown);
        let class = (job.size.to_bits() >> EXPONENT_SHIFT) as usize;
        self.by_size[class].add(job.size, sojourn, slowdown);
        if let Some(kept) = &mut self.kept {
            kept.sojourns.push(sojourn);
            kept.sizes.push(job.size);
        }
    }

    /// Returns the account at `now`.
    pub(crate) fn books(&self, now: f64, server: &Server) -> JobBooks {
        let present = server.arrivals().map(|arrived| now - arrived.max(self.start));
        JobBooks {
            offered: self.offered,
            blocked: self.blocked,
            completed: self.all.jobs,
            present_before: self.present_before,
            present_after: server.present(),
            events: self.offered + self.all.jobs,
            seconds: now - self.start,
            state_seconds: self.seconds.iter().sum(),
            state_job_seconds: self.job_seconds_by_state(),
            job_seconds: self.job_seconds + present.sum::<f64>(),
            unfinished_before: self.unfinished_before,
            admitted_work: self.admitted_work,
            unfinished_after: server.unfinished(),
            state_work: self.work_by_state(server),
            most_work: server.capacity().largest() * now,
        }
    }

    /// Returns the outcome at `now`, after at least one departure; `events` counts from time 0.
    pub(crate) fn outcome(self, now: f64, server: &Server, events: u64) -> Outcome {
        let seconds = now - self.start;
        let jobs = self.all.jobs as f64;
        // A window of length 0 (all jobs left at one moment) saw a single state.
        let share = |sum: f64| if seconds > 0.0 { sum / seconds } else { 0.0 };
        let mean_active = share(self.job_seconds_by_state());
        let work_per_s = share(self.work_by_state(server));
        let classes = self.by_size.iter().enumerate().filter(|(_, sums)| sums.jobs > 0);
        let kept = self.kept.unwrap_or_default();
        Outcome {
            seconds,
            offered: self.offered,
            blocked: self.blocked,
            completed: self.all.jobs,
            events,
            mean_sojourn_s: self.all.sojourn / jobs,
            mean_slowdown: self.all.slowdown / jobs,
            mean_size: self.all.size / jobs,
            mean_active,
            work_per_s,
            active_distribution: self.seconds.iter().map(|&sum| share(sum)).collect(),
            sojourn_histogram: self.sojourns.bins(),
            slowdown_histogram: self.slowdowns.bins(),
            size_classes: classes.map(|(exponent, sums)| size_class(exponent, sums)).collect(),
            sojourns_s: kept.sojourns,
            sizes: kept.sizes,
        }
    }

    fn job_seconds_by_state(&self) -> f64 {
        self.seconds.iter().enumerate().map(|(jobs, seconds)| jobs as f64 * seconds).sum()
    }

    fn work_by_state(&self, server: &Server) -> f64 {
        let capacity = server.capacity();
        let lost = |jobs: usize| self.lost.get(jobs).copied().unwrap_or(0.0);
        let served = |(jobs, seconds): (usize, &f64)| capacity.of(jobs) * (seconds - lost(jobs));
        self.seconds.iter().enumerate().map(served).sum()
    }
}

fn size_class(exponent: usize, sums: &Sums) -> SizeClass {
    let power = |exponent: usize| f64::from_bits((exponent as u64) << EXPONENT_SHIFT);
    let jobs = sums.jobs as f64;
    SizeClass {
        low: power(exponent),
        high: power(exponent + 1),
        jobs: sums.jobs,
        mean_size: sums.size / jobs,
        mean_sojourn_s: sums.sojourn / jobs,
        mean_slowdown: sums.slowdown / jobs,
    }
}
