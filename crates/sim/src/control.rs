//! Control of a run from another thread or its own: progress, cancellation, and the errors that end
//! it.

use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Shared between a run and its observer. It never changes the results of the run.
#[derive(Default)]
pub struct RunControl {
    /// The simulated share of the run, in units of 2^-32.
    progress: AtomicU64,
    cancelled: AtomicBool,
    may_go_on: Option<Box<dyn Fn(f64) -> bool + Send + Sync>>,
}

impl RunControl {
    /// Creates a control that calls `may_go_on` in the thread of the run with the simulated share,
    /// for a caller whose thread has other duties. It is called at each per cent of a run, and a few
    /// times a second in long runs.
    pub fn asking(may_go_on: impl Fn(f64) -> bool + Send + Sync + 'static) -> Self {
        Self { may_go_on: Some(Box::new(may_go_on)), ..Self::default() }
    }

    /// Returns the simulated share of the run, from 0 to 1.
    pub fn progress(&self) -> f64 {
        self.progress.load(Ordering::Relaxed) as f64 / (1_u64 << 32) as f64
    }

    /// Asks the run to stop soon.
    pub fn cancel(&self) {
        self.cancelled.store(true, Ordering::Relaxed);
    }

    pub(crate) fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed)
            || self.may_go_on.as_ref().is_some_and(|may_go_on| !may_go_on(self.progress()))
    }

    pub(crate) fn set_progress(&self, share: f64) {
        self.progress.store((share * (1_u64 << 32) as f64) as u64, Ordering::Relaxed);
    }
}

impl fmt::Debug for RunControl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RunControl")
            .field("progress", &self.progress())
            .field("cancelled", &self.cancelled)
            .finish_non_exhaustive()
    }
}

/// Why a run gave no outcome.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RunError {
    /// The caller asked for it; nothing is wrong.
    Cancelled,
    /// Transfers begin so much faster than they end that memory would run out: the offered load
    /// exceeds the capacity of the network. The text names the flow and the time.
    Overloaded(String),
    /// Writing to the capture file failed. The text says why.
    CaptureFailed(String),
    /// A conservation law is violated, which is a bug of this program. The text names the law, the
    /// seed and the replication.
    LawViolated(String),
}

impl fmt::Display for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cancelled => f.write_str("the run was cancelled"),
            Self::Overloaded(text) => f.write_str(text),
            Self::CaptureFailed(why) => write!(f, "{why}"),
            Self::LawViolated(law) => write!(f, "a conservation law is violated: {law}"),
        }
    }
}

impl std::error::Error for RunError {}
