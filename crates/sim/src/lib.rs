//! Combines the parts of a simulation: stations and an access point with queues, wired paths behind
//! it, applications over TCP and UDP, and measurements.
//!
//! From the bottom: [`scenario`] is the resolved form of a scenario. `packet` is what queues and
//! the links of `airtcp-net` hold. `app` decides what is sent, and `connection` turns it into
//! packets. `world` moves packets, and `replication` is the loop over the world and the cell of
//! `airtcp-wlan`. `statistics` and `airtime` measure. `conservation` checks at the end of every run
//! that no packet vanished or appeared from nowhere. [`outcome`] is the result, [`trace`] an
//! optional record of the run, and [`columns`] the form of both for Python. Random numbers, event order and time come from `airtcp-kernel`,
//! contention from `airtcp-wlan`, TCP from `airtcp-tcp`.

mod airtime;
mod app;
pub mod columns;
mod connection;
mod conservation;
mod control;
mod delays;
mod e_model;
pub mod live;
mod medium;
pub mod outcome;
mod packet;
mod pcap;
pub mod pcapng;
mod replication;
#[cfg(test)]
#[path = "../tests/resolved/mod.rs"]
mod resolved;
mod round_trips;
pub mod scenario;
mod statistics;
mod tap;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
pub mod trace;
mod world;

use std::io::Write;

use airtcp_kernel::Duration;
pub use airtcp_kernel::random_stream::GENERATOR;
use airtcp_wlan::Engine;
pub use control::{RunControl, RunError};
pub use outcome::{GroupAirtime, Outcome};
use replication::Replication;
pub use scenario::{InvalidScenario, Scenario};
pub use trace::Trace;

/// Optional records of a run; by default none.
#[derive(Default)]
pub struct Recording {
    /// The time between two samples of flows and queues in the trace.
    pub sample_interval: Option<Duration>,
    /// Whether the trace has only samples. A long run has millions of events and PPDUs.
    pub samples_only: bool,
    /// The capture file, and the maximum number of bytes kept of each frame. The format is pcap if
    /// all stations hear each other, else pcapng with an interface for each node.
    pub capture: Option<(Box<dyn Write + Send>, u32)>,
    /// Whether the outcome lists each transfer.
    pub transfers: bool,
}

/// A scenario that can be simulated repeatedly, and in several threads at once.
#[derive(Debug)]
pub struct Simulation {
    scenario: Scenario,
}

impl Simulation {
    /// Reads the resolved form of a scenario.
    ///
    /// # Errors
    /// If `json` is not the resolved form, or contradicts itself.
    pub fn from_json(json: &str) -> Result<Self, InvalidScenario> {
        Ok(Self { scenario: Scenario::from_json(json)? })
    }

    /// Simulates one replication. The outcome depends only on the scenario, `seed` and
    /// `replication`.
    ///
    /// # Errors
    /// [`RunError::Cancelled`] if `control` asked for it, [`RunError::Overloaded`] if transfers
    /// pile up without bound, [`RunError::LawViolated`] if a conservation law is violated at the
    /// end, which is a bug of this program.
    pub fn run(
        &self,
        seed: u64,
        replication: u64,
        control: &RunControl,
    ) -> Result<Outcome, RunError> {
        let replication = Replication::new(&self.scenario, seed, replication);
        replication.run(control).map(|(outcome, _)| outcome)
    }

    /// Simulates as [`Self::run`], and records what `recording` asks for. There is a trace if it
    /// has a sample interval. The outcome is that of [`Self::run`], plus its transfers if
    /// requested.
    ///
    /// # Errors
    /// As [`Self::run`], and [`RunError::CaptureFailed`] if the capture cannot be written.
    ///
    /// # Panics
    /// If the sample interval is zero.
    pub fn run_recorded(
        &self,
        seed: u64,
        replication: u64,
        recording: Recording,
        control: &RunControl,
    ) -> Result<(Outcome, Option<Trace>), RunError> {
        let mut replication = Replication::new(&self.scenario, seed, replication);
        if let Some(interval) = recording.sample_interval {
            replication = replication.traced(interval, recording.samples_only);
        }
        if let Some((out, snaplen)) = recording.capture {
            replication = replication.captured(out, snaplen);
        }
        if recording.transfers {
            replication = replication.with_transfers();
        }
        replication.run(control)
    }

    /// Returns the engine of each cell, in the order of cells.
    pub fn engines(&self) -> Vec<Engine> {
        Replication::new(&self.scenario, 0, 0).engines()
    }

    /// Returns the scenario.
    pub fn scenario(&self) -> &Scenario {
        &self.scenario
    }
}
