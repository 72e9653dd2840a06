//! Queue disciplines and schedulers that come from outside of this crate, under names that are registered.
//!
//! Knows what such an algorithm is told, and what it may decide; what it decides against a law is told to it, and it
//! reports that to its own maker. Knows no language that it is written in. The packets themselves stay with `own`.

use std::fmt;
use std::sync::Arc;

use airtcp_kernel::{Duration, Registry, Time};
use serde::Deserialize;

use super::Destination;

/// A packet as a discipline sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seen {
    /// The number of the packet in its queue, from 0 on in the order of arrival.
    pub id: u64,
    /// Of which flow it is.
    pub flow: u32,
    /// The node that receives it from the air.
    pub to: u32,
    /// Size with the headers of IP and above. \[bit\]
    pub bits: u64,
    /// The time at which it came.
    pub arrived: Time,
    /// A flag: it is a TCP segment that only acknowledges.
    pub is_ack: bool,
}

/// The fate of the packet that goes next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It is sent.
    Sent,
    /// It is sent with a mark of congestion (CE, RFC 3168), or dropped if its transport knows none.
    Marked,
    /// It is dropped.
    Dropped,
}

/// A queue discipline of one queue.
pub trait Discipline: fmt::Debug {
    /// Takes a packet that comes; `is_full`: there is no room for it. Returns the number of the packet that is dropped,
    /// this one or another that waits, if one is. A full queue must drop one.
    fn arrives(&mut self, now: Time, packet: Seen, is_full: bool) -> Option<u64>;

    /// Returns the number of the packet that goes next, of those for `receiver` if one is given; `None` if none waits.
    fn next(&mut self, receiver: Option<u32>) -> Option<u64>;

    /// Forgets the packet that [`Self::next`] named, and returns what becomes of it.
    fn leaves(&mut self, now: Time, packet: Seen) -> Fate;

    /// Forgets a packet that a filter of ACKs has taken out.
    fn is_filtered(&mut self, packet: Seen);

    /// Takes word of a law that a decision has broken. The queue goes on first in, first out.
    fn breaks(&mut self, law: String);
}

/// A receiver that can be served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// Its number in the cell.
    pub receiver: u32,
    /// The time at which its oldest packet came; `None`: what waits for it cannot wait.
    pub oldest: Option<Time>,
}

/// A scheduler of one access point.
pub trait Scheduler: fmt::Debug {
    /// Returns the receiver that an access serves, one of the candidates, which are in ascending order.
    fn choose(&mut self, candidates: &[Candidate]) -> u32;

    /// Takes the airtime of an exchange with a receiver, in either direction.
    fn charge(&mut self, receiver: u32, airtime: Duration);

    /// Takes word of a law that a decision has broken. The first candidate is served.
    fn breaks(&mut self, law: String);
}

type MakeDiscipline = dyn Fn() -> Box<dyn Discipline> + Send + Sync;
type MakeScheduler = dyn Fn(&[Destination]) -> Box<dyn Scheduler> + Send + Sync;

static DISCIPLINES: Registry<MakeDiscipline> = Registry::new();
static SCHEDULERS: Registry<MakeScheduler> = Registry::new();

/// Registers a discipline under a name, for configurations that are read afterwards. A name that is registered already
/// keeps its maker, for it may be in use.
pub fn register_discipline(
    name: &str,
    make: impl Fn() -> Box<dyn Discipline> + Send + Sync + 'static,
) {
    DISCIPLINES.register(name, Arc::new(make));
}

/// Does as [`register_discipline`] with a scheduler, which is made for receivers by their numbers.
pub fn register_scheduler(
    name: &str,
    make: impl Fn(&[Destination]) -> Box<dyn Scheduler> + Send + Sync + 'static,
) {
    SCHEDULERS.register(name, Arc::new(make));
}

/// A registered discipline, in a configuration by its name.
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

/// A registered scheduler, in a configuration by its name.
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
