//! Runs a scenario's medium in real time: packets of real programs over a real TCP arrive, wait in
//! the scenario's queues, contend for the medium, and leave when their frame exchange ends.
//!
//! From the bottom up: [`packet`] parses the IP headers that queues and access categories need;
//! `connections` identifies TCP connections and unwraps sequence numbers; [`Driver`] connects a
//! [`Live`](airtcp_sim::live::Live) replication to IP addresses and has no clock of its own;
//! [`run`](mod@run) has the clock and the TUN devices. [`Lag`] measures how late packets were, and
//! [`Capture`] writes a capture file. The caller creates namespaces and routes, starts the
//! programs, and passes file descriptors.

mod capture;
mod connections;
mod driver;
mod lag;
pub mod packet;
mod pages;
#[cfg(target_os = "linux")]
pub mod run;

pub use capture::{Capture, Way};
pub use driver::{Dialogues, Driver, Node, Side, Site, UseOf};
pub use lag::Lag;
#[cfg(target_os = "linux")]
pub use run::{Board, Progress, run};
