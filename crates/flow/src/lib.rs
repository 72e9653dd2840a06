//! A flow-level simulator of processor sharing: jobs arrive, share a capacity equally, and leave.
//!
//! From the bottom up: [`system`] defines the simulated system; `law` checks distributions;
//! `source` generates jobs; `server` shares the capacity among the jobs present; `window` and
//! `histogram` measure; `conservation` checks at the end of every run that no job, time or work was
//! lost or created; [`concurrent`] has one server or several parallel ones, [`coupled`] several that
//! slow each other down; `several` is the event loop of both; [`outcome`] is the result. Random
//! numbers and laws come from `airtcp-kernel`. The crate has no packets and no stations: a job has a
//! size, in a unit that the caller chooses.
//!
//! # Algorithm
//! The server's clock is the *attained service*: the service that a job has received if it has been
//! present since the server was last empty. With k jobs present the clock runs at C_k / k. The next
//! job to leave is the one with the smallest attained service at its end, however C_k changes. A
//! binary heap keeps the jobs in that order, so an event costs O(log k), not O(k).
//!
//! # Time
//! Time is seconds in `f64`, not the integer nanoseconds of the packet simulator. There,
//! simultaneous starts are physics. Here every law except the deterministic one has a density, and
//! rounding a departure time to nanoseconds would distort the remaining work of k jobs more than
//! `f64` rounding does. A departure precedes an arrival at exactly the same time. The price: after
//! n jobs, times are accurate to n * 1e-16 mean interarrival times, so the slowdown of jobs smaller
//! than that fraction of the mean size is meaningless.

pub mod concurrent;
mod conservation;
pub mod coupled;
mod histogram;
mod law;
pub mod outcome;
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

use concurrent::Jobs;
use server::{Capacity, Server};
use several::Several;
use source::{ClosedSource, OpenSource};

/// The length of a replication.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plan {
    /// Departures in the warm-up, before measurement starts.
    pub warmup_jobs: u64,
    /// Departures while measuring.
    pub jobs: NonZeroU64,
    /// Whether to keep the size and sojourn time of every measured job.
    pub keep_jobs: bool,
}

/// Why a run has no outcome.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunError {
    /// The caller cancelled the run.
    Cancelled,
    /// A conservation law is violated, which is a bug in this program. The text names the law.
    LawViolated(String),
}

impl RunError {
    /// Adds the seed and the replication to the text of a violated law.
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

/// A system that can be simulated any number of times and from several threads at once.
#[derive(Clone, Debug)]
pub struct Simulation {
    system: System,
}

impl Simulation {
    /// Creates a simulation of `system`.
    ///
    /// # Errors
    /// If a parameter is out of range, or if the load is 1 or more and no limit blocks jobs.
    pub fn new(system: System) -> Result<Self, InvalidSystem> {
        system.check()?;
        Ok(Self { system })
    }

    /// Simulates one replication: starts with an empty system, discards `plan.warmup_jobs`
    /// departures, then measures `plan.jobs` departures. The outcome depends only on the system,
    /// `seed`, `replication` and `plan`. The run stops soon after `cancelled` is set.
    ///
    /// # Errors
    /// [`RunError::Cancelled`] if the caller cancelled the run; [`RunError::LawViolated`] if a
    /// conservation law is violated at the end, which is a bug in this program.
    pub fn run(
        &self,
        seed: u64,
        replication: u64,
        plan: Plan,
        cancelled: &AtomicBool,
    ) -> Result<Outcome, RunError> {
        // The streams belong to the system, not to a job. The n-th job is the same at any capacity,
        // so capacities are compared on common random numbers.
        let stream = |purpose| RandomStream::new(seed, replication, "flows", purpose);
        let server = |capacity, limit| vec![Server::new(Capacity::new(capacity), limit)];
        let outcomes = match &self.system {
            System::Open { interarrival, sizes, capacity, limit, transfers_of } => {
                let of_flow = |flow, purpose| RandomStream::new(seed, replication, flow, purpose);
                let (gaps, of_sizes) = match transfers_of {
                    Some(flow) => (of_flow(flow, ARRIVAL), of_flow(flow, TRANSFER_SIZE)),
                    None => (stream("interarrival"), stream("size")),
                };
                let source = OpenSource::new((interarrival, gaps), (sizes, of_sizes));
                Several::new(server(capacity, *limit)).measure(
                    Jobs::of_one_server(source),
                    plan,
                    cancelled,
                )
            }
            System::Closed { sources, think_times, sizes, capacity } => {
                let thinking = (think_times, stream("think"));
                let source = ClosedSource::new(*sources, thinking, (sizes, stream("size")));
                Several::new(server(capacity, None)).measure(
                    Jobs::of_one_server(source),
                    plan,
                    cancelled,
                )
            }
        };
        let outcome = outcomes.map(|mut of_servers| of_servers.remove(0));
        outcome.map_err(|error| error.of_replication(seed, replication))
    }

    /// Returns the simulated system.
    pub fn system(&self) -> &System {
        &self.system
    }
}
