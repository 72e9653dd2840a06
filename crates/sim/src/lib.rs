//! Puts the pieces together: stations and an access point with queues, wired paths behind it,
//! applications over TCP and UDP, and what is measured of them.
//!
//! From the bottom: [`scenario`] is the resolved form that a run is made from; `packet`,
//! `queue` (with `red`) and `wire` are the places where a packet can be; `connection` and `application` make
//! packets; `world` is the event loop that moves them; `statistics` and `airtime` measure;
//! `conservation` checks at the end of every run that nothing was lost or made up; [`outcome`]
//! is the answer. Random numbers, event order and time come from `airtcp-kernel`, contention
//! from `airtcp-wlan`, TCP from `airtcp-tcp`. Knows no file and no thread.

mod airtime;
mod application;
mod connection;
mod conservation;
mod control;
pub mod outcome;
mod packet;
mod queue;
mod red;
pub mod scenario;
mod statistics;
mod wire;
mod world;

pub use airtcp_kernel::random_stream::GENERATOR;
pub use control::{RunControl, RunError};
pub use outcome::Outcome;
pub use scenario::{InvalidScenario, Scenario};

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
    /// [`RunError::Cancelled`] if `control` asked for it, [`RunError::LawViolated`] if the books
    /// do not balance at the end, which is a mistake of this program.
    pub fn run(
        &self,
        seed: u64,
        replication: u64,
        control: &RunControl,
    ) -> Result<Outcome, RunError> {
        world::World::new(&self.scenario, seed, replication).run(control)
    }

    /// The scenario.
    pub fn scenario(&self) -> &Scenario {
        &self.scenario
    }
}
