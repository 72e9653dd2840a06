//! Which bare TCP ACKs need not wait any longer since a newer one says more (the rule of Linux's
//! sch_cake; Høiland-Jørgensen, Täht and Morton 2018, section 4.3).

use serde::Deserialize;

use super::Inspect;
use crate::Packet;

/// The number of bare ACKs of a connection that stay in a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AckFilter {
    /// One that the newest covers, and the newest.
    Conservative,
    /// The newest alone.
    Aggressive,
}

/// A TCP segment that only acknowledges: no payload, no SYN, no FIN, no echo of ECN.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BareAck {
    /// Of which connection of its flow.
    pub connection: u32,
    /// The next number that it expects.
    pub ack: u64,
    /// A flag: it has SACK blocks, which no newer one need repeat.
    pub has_sack: bool,
}

/// Finds the place in a `line`, which has the oldest packet first, of the ACK that goes since `newer` comes.
pub(super) fn superseded<'a, B: Inspect + 'a>(
    line: impl Iterator<Item = &'a Packet<B>>,
    newer: &Packet<B>,
    rule: AckFilter,
) -> Option<usize> {
    let newest = newer.body.bare_ack()?;
    // A duplicate ACK says what an equal one has not said: that something came.
    let is_covered =
        |one: BareAck| one.connection == newest.connection && one.ack < newest.ack && !one.has_sack;
    let mut covered = line
        .enumerate()
        .filter(|(_, one)| one.flow == newer.flow && one.body.bare_ack().is_some_and(is_covered))
        .map(|(place, _)| place);
    let oldest = covered.next()?;
    match rule {
        AckFilter::Aggressive => Some(oldest),
        AckFilter::Conservative => covered.next().map(|_| oldest),
    }
}
