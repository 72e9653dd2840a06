//! Puts the pieces together: stations and an access point with queues, wired paths behind it,
//! applications over TCP and UDP, and what is measured of them.
//!
//! From the bottom: [`scenario`] is the resolved form that a run is made from; `packet` is what
//! waits in the queues and travels on the wires of `airtcp-net`; `app` says what is to
//! be sent and `connection` makes packets of it; `world` moves them, and `replication` is the loop over it and the cell of `airtcp-wlan`; `statistics` and `airtime` measure;
//! `conservation` checks at the end of every run that nothing was lost or made up; [`outcome`]
//! is the answer, and [`trace`] what a run tells on its way if it is asked to. Random numbers, event order and time come from `airtcp-kernel`, contention
//! from `airtcp-wlan`, TCP from `airtcp-tcp`. Knows no file and no thread.

mod airtime;
mod app;
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

/// The records that a run is asked for; by default none.
#[derive(Default)]
pub struct Recording {
    /// Between two samples of flows and queues in the trace.
    pub sample_interval: Option<Duration>,
    /// A flag: the trace has samples, and no events or PPDUs, of which a long run has millions.
    pub samples_only: bool,
    /// The file of what is on the air, and the greatest number of bytes that it has of each frame: pcap where all hear
    /// all, else pcapng with an interface for each node.
    pub capture: Option<(Box<dyn Write + Send>, u32)>,
    /// A flag: the outcome has each transfer.
    pub transfers: bool,
}

/// The measured times of a run that has several, one after the other.
#[derive(Clone, Copy, Debug)]
pub struct Batches {
    /// Their greatest number.
    pub most: u32,
    /// Their least number.
    pub least: u32,
    /// The work after which no further one begins, if there are so many: the events of the world, and twice the
    /// attempts and the TCP segments of the measured times so far. Counted, so that it depends on nothing but the run.
    pub work: u64,
}

/// A scenario that can be simulated, any number of times and from several threads at once.
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

    /// Simulates one replication. The outcome depends on the scenario, `seed` and
    /// `replication` alone.
    ///
    /// # Errors
    /// [`RunError::Cancelled`] if `control` asked for it, [`RunError::Overloaded`] if transfers pile
    /// up without bound, [`RunError::LawViolated`] if the books do not balance at the end, which is
    /// a mistake of this program.
    pub fn run(
        &self,
        seed: u64,
        replication: u64,
        control: &RunControl,
    ) -> Result<Outcome, RunError> {
        let replication = Replication::new(&self.scenario, seed, replication);
        replication.run(control).map(|(outcome, _)| outcome)
    }

    /// Simulates the warm-up of one replication, and then several times the measured time, one after the
    /// other: an outcome for each. The first is that of [`Self::run`].
    ///
    /// # Errors
    /// As [`Self::run`].
    pub fn run_batches(
        &self,
        seed: u64,
        replication: u64,
        batches: &Batches,
        control: &RunControl,
    ) -> Result<Vec<Outcome>, RunError> {
        Replication::new(&self.scenario, seed, replication).run_batches(batches, control)
    }

    /// Does as [`Self::run`], and writes down what `recording` asks for: there is a trace if it has a sample
    /// interval. The outcome is that of [`Self::run`], and has its transfers if they are asked for.
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

    /// Returns the engine that plays each cell, in the order of cells.
    pub fn engines(&self) -> Vec<Engine> {
        Replication::new(&self.scenario, 0, 0).engines()
    }

    /// Returns the scenario.
    pub fn scenario(&self) -> &Scenario {
        &self.scenario
    }
}
