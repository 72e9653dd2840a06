//! The result of one replication.

use serde::Serialize;

pub use crate::histogram::Bins;

/// The measurements from the last departure of the warm-up to the last departure of the run. Times
/// are in seconds, work is in the unit of the sizes.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Outcome {
    /// The measured time in seconds.
    pub seconds: f64,
    /// Jobs that arrived, including the blocked ones.
    pub offered: u64,
    /// Jobs that were blocked because the limit was reached.
    pub blocked: u64,
    /// Jobs that were served and left.
    pub completed: u64,
    /// Arrivals and departures since time 0.
    pub events: u64,
    /// Mean sojourn time of the completed jobs.
    pub mean_sojourn_s: f64,
    /// Mean slowdown: the sojourn time divided by the time the job would take alone, at C_1.
    pub mean_slowdown: f64,
    /// Mean size of the completed jobs.
    pub mean_size: f64,
    /// Time average of the number of jobs present.
    pub mean_active: f64,
    /// Work done per second.
    pub work_per_s: f64,
    /// Fraction of the time with 0, 1, 2, ... jobs present.
    pub active_distribution: Vec<f64>,
    /// The sojourn times of completed jobs.
    pub sojourn_histogram: Bins,
    /// The slowdowns of completed jobs.
    pub slowdown_histogram: Bins,
    /// The completed jobs by size, ascending; classes without a job are left out.
    pub size_classes: Vec<SizeClass>,
    /// Sojourn times of the completed jobs in order of departure, if `Plan::keep_jobs` is set.
    #[serde(skip)]
    pub sojourns_s: Vec<f64>,
    /// Their sizes, in the same order.
    #[serde(skip)]
    pub sizes: Vec<f64>,
}

/// The completed jobs with sizes between a power of two and the next.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct SizeClass {
    /// Lower end, a power of two, inclusive.
    pub low: f64,
    /// Upper end, the next power of two, exclusive.
    pub high: f64,
    /// The number of jobs.
    pub jobs: u64,
    /// Their mean size.
    pub mean_size: f64,
    /// Their mean sojourn time.
    pub mean_sojourn_s: f64,
    /// Their mean slowdown.
    pub mean_slowdown: f64,
}
