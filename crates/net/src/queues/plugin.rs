//! The interface of registered queue disciplines and schedulers, which may be written in another
//! language.
//!
//! A plug-in decides by packet numbers; `own` holds the packets. If a decision breaks a rule, the
//! queue reports this to the plug-in through `breaks`.

use std::fmt;
use std::sync::Arc;

use airtcp_kernel::{Duration, Registry, Time};
use serde::Deserialize;

use super::Destination;

/// A packet as a discipline sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seen {
    /// The number of the packet in its queue, from 0 in order of arrival.
    pub id: u64,
    /// The flow that it belongs to.
    pub flow: u32,
    /// The node that receives it over the air.
    pub to: u32,
    /// Size, including the IP header and everything above it. \[bit\]
    pub bits: u64,
    /// When it arrived.
    pub arrived: Time,
    /// Whether it is a bare TCP ACK.
    pub is_ack: bool,
}

/// What happens to the packet at the head.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// The packet is sent.
    Sent,
    /// The packet is sent with a congestion mark (CE, RFC 3168), or dropped if its transport is not
    /// ECN-capable.
    Marked,
    /// The packet is dropped.
    Dropped,
}

/// A queue discipline, one instance per queue.
pub trait Discipline: fmt::Debug {
    /// Processes an arriving packet; `is_full`: there is no room for it. Returns the number of the
    /// packet to drop, this one or a queued one, or `None`. A full queue must drop one.
    fn arrives(&mut self, now: Time, packet: Seen, is_full: bool) -> Option<u64>;

    /// Returns the number of the next packet, among those for `receiver` if one is given; `None` if
    /// there is none.
    fn next(&mut self, receiver: Option<u32>) -> Option<u64>;

    /// Removes the packet that [`Self::next`] named, and decides what happens to it.
    fn leaves(&mut self, now: Time, packet: Seen) -> Fate;

    /// Removes a packet that the ACK filter has taken.
    fn is_filtered(&mut self, packet: Seen);

    /// Reports the rule that a decision has broken. The queue continues first in, first out.
    fn breaks(&mut self, law: String);
}

/// A receiver that could be served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// Its number in the cell.
    pub receiver: u32,
    /// When its oldest packet arrived; `None` if a frame that cannot wait is pending for it.
    pub oldest: Option<Time>,
}

/// A scheduler, one instance per access point.
pub trait Scheduler: fmt::Debug {
    /// Returns the receiver that this transmission serves. `candidates` are in ascending order.
    fn choose(&mut self, candidates: &[Candidate]) -> u32;

    /// Charges a receiver with the airtime of an exchange, in either direction.
    fn charge(&mut self, receiver: u32, airtime: Duration);

    /// Reports the rule that a decision has broken. The first candidate is served.
    fn breaks(&mut self, law: String);
}

type MakeDiscipline = dyn Fn() -> Box<dyn Discipline> + Send + Sync;
type MakeScheduler = dyn Fn(&[Destination]) -> Box<dyn Scheduler> + Send + Sync;

static DISCIPLINES: Registry<MakeDiscipline> = Registry::new();
static SCHEDULERS: Registry<MakeScheduler> = Registry::new();

/// Registers a discipline under a name, for configurations read from now on. A name that already
/// exists keeps its constructor, because it may be in use.
pub fn register_discipline(
    name: &str,
    make: impl Fn() -> Box<dyn Discipline> + Send + Sync + 'static,
) {
    DISCIPLINES.register(name, Arc::new(make));
}

/// Like [`register_discipline`], for a scheduler. `make` gets the receivers, indexed by number.
pub fn register_scheduler(
    name: &str,
    make: impl Fn(&[Destination]) -> Box<dyn Scheduler> + Send + Sync + 'static,
) {
    SCHEDULERS.register(name, Arc::new(make));
}

/// Refers to a registered discipline; a configuration has its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct DisciplineNumber(u16);

impl DisciplineNumber {
    pub(super) fn made(self) -> Box<dyn Discipline> {
        DISCIPLINES.maker(self.0)()
    }
}

impl TryFrom<String> for DisciplineNumber {
    type Error = String;

    fn try_from(name: String) -> Result<Self, String> {
        let number = DISCIPLINES.number(&name);
        number.map(Self).ok_or_else(|| format!("no queue discipline `{name}` is registered"))
    }
}

/// Refers to a registered scheduler; a configuration has its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct SchedulerNumber(u16);

impl SchedulerNumber {
    pub(super) fn made(self, receivers: &[Destination]) -> Box<dyn Scheduler> {
        SCHEDULERS.maker(self.0)(receivers)
    }
}

impl TryFrom<String> for SchedulerNumber {
    type Error = String;

    fn try_from(name: String) -> Result<Self, String> {
        let number = SCHEDULERS.number(&name);
        number.map(Self).ok_or_else(|| format!("no scheduler `{name}` is registered"))
    }
}
