//! Processor sharing at the level of flows: jobs arrive, share a capacity equally, and leave.
//!
//! From the bottom: [`system`] says what is simulated; `law` what a distribution must be like;
//! `source` makes the jobs arrive; `server` shares the capacity among those present; `window`
//! and `histogram` measure; `conservation` checks at the end of every run that no job, no second
//! and no work was lost or made up; `run` is the event loop; [`outcome`] is the answer;
//! [`concurrent`] has several servers side by side, [`coupled`] several that slow each other down, and `several` is the
//! event loop of both. Random numbers and laws come from `airtcp-kernel`. Knows no packet, no station, no file and no
//! thread; a job has a size, in a unit that is the caller's business.
//!
//! # Algorithm
//! The server's clock is the *attained service*: what a job has got that is present since the
//! last time when nobody was. With k jobs present it runs at C_k / k, so the job that leaves next
//! is the one with the smallest attained service at its end, however C_k changes; a binary heap
//! keeps them in that order. An event costs O(log k), not O(k).
//!
//! # Time
//! Time is seconds in `f64`, not the integer nanoseconds of the packet simulator. There,
//! simultaneous starts are physics; here every law but the deterministic has a density, and what
//! a rounded departure time would do to the remaining work of k jobs is worse than what rounding
//! does to a `f64`. A departure and an arrival at exactly the same time happen in this order. The
//! price: after n jobs, times are known to n * 1e-16 mean times between arrivals, so that the
//! slowdown of jobs smaller than that fraction of the mean size means nothing.

pub mod concurrent;
mod conservation;
pub mod coupled;
mod histogram;
mod law;
pub mod outcome;
mod run;
mod server;
mod several;
mod source;
pub mod system;
mod window;

use std::fmt;
use std::num::NonZeroU64;
use std::sync::atomic::AtomicBool;

use airtcp_kernel::RandomStream;
use airtcp_kernel::random_stream::{ARRIVAL, TRANSFER_SIZE};
pub use airtcp_kernel::{Distribution, random_stream::GENERATOR};

pub use concurrent::{Concurrent, Split};
pub use coupled::{Arrivals, Coupled, Queue};
pub use outcome::Outcome;
pub use system::{InvalidSystem, System};

use run::Run;
use server::{Capacity, Server};
use source::{ClosedSource, OpenSource};

/// The length of a replication.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plan {
    /// Jobs that leave before anything is measured.
    pub warmup_jobs: u64,
    /// Jobs that leave while it is measured.
    pub jobs: NonZeroU64,
    /// A flag: keep size and sojourn time of every measured job.
    pub keep_jobs: bool,
}

/// Why a run gave no outcome.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunError {
    /// The caller asked for it; nothing is wrong.
    Cancelled,
    /// A conservation law does not hold: a mistake of this program. The text names the law.
    LawViolated(String),
}

impl RunError {
    /// Tells in which replication a law was violated.
    fn of_replication(self, seed: u64, replication: u64) -> Self {
        match self {
            Self::LawViolated(law) => {
                Self::LawViolated(format!("{law} (seed {seed}, replication {replication})"))
            }
            Self::Cancelled => self,
        }
    }
}

impl fmt::Display for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cancelled => f.write_str("the run was cancelled"),
            Self::LawViolated(law) => write!(f, "a conservation law is violated: {law}"),
        }
    }
}

impl std::error::Error for RunError {}

/// A system that can be simulated, any number of times and from several threads at once.
#[derive(Clone, Debug)]
pub struct Simulation {
    system: System,
}

impl Simulation {
    /// Takes a system.
    ///
    /// # Errors
    /// If a parameter is out of range, or more work arrives than can be served and no limit
    /// turns it away.
    pub fn new(system: System) -> Result<Self, InvalidSystem> {
        system.check()?;
        Ok(Self { system })
    }

    /// Simulates one replication: an empty system, `plan.warmup_jobs` departures that are not
    /// measured, `plan.jobs` that are. The outcome depends on the system, `seed`, `replication`
    /// and `plan` alone. Once `cancelled` is set the run stops soon.
    ///
    /// # Errors
    /// [`RunError::Cancelled`] if asked for, [`RunError::LawViolated`] if the books do not
    /// balance at the end, which is a mistake of this program.
    pub fn run(
        &self,
        seed: u64,
        replication: u64,
        plan: Plan,
        cancelled: &AtomicBool,
    ) -> Result<Outcome, RunError> {
        // All jobs are alike, so the streams belong to the system. The n-th job is the same one
        // whatever the capacity: capacities are compared on common random numbers.
        let stream = |purpose| RandomStream::new(seed, replication, "flows", purpose);
        let outcome = match &self.system {
            System::Open { interarrival, sizes, capacity, limit, transfers_of } => {
                let of_flow = |flow, purpose| RandomStream::new(seed, replication, flow, purpose);
                let (gaps, of_sizes) = match transfers_of {
                    Some(flow) => (of_flow(flow, ARRIVAL), of_flow(flow, TRANSFER_SIZE)),
                    None => (stream("interarrival"), stream("size")),
                };
                let source = OpenSource::new((interarrival, gaps), (sizes, of_sizes));
                Run::new(source, Server::new(Capacity::new(capacity), *limit))
                    .measure(plan, cancelled)
            }
            System::Closed { sources, think_times, sizes, capacity } => {
                let thinking = (think_times, stream("think"));
                let source = ClosedSource::new(*sources, thinking, (sizes, stream("size")));
                Run::new(source, Server::new(Capacity::new(capacity), None))
                    .measure(plan, cancelled)
            }
        };
        outcome.map_err(|error| error.of_replication(seed, replication))
    }

    /// Returns the system.
    pub fn system(&self) -> &System {
        &self.system
    }
}
