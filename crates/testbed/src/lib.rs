//! The air in real time: packets of real programs over a real TCP come in, wait in the queues of a
//! scenario, contend for its medium, and go out when their exchange has ended.
//!
//! From the bottom: [`packet`] reads of an IP packet what queues and access categories look at;
//! `connections` gives its numbers a meaning; [`Driver`] puts a [`Live`](airtcp_sim::live::Live)
//! replication behind addresses, and owns no clock; [`run`](mod@run) has the clock and the TUN devices; [`Lag`] is
//! how late it was, and [`Capture`] a file of all of it. Knows no namespace, no route and no program: who makes them gives file descriptors.

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
