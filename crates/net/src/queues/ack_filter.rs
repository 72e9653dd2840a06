//! ACK filtering: removes queued bare TCP ACKs that a newer one makes redundant, by the rule of
//! Linux's sch_cake (Høiland-Jørgensen, Täht and Morton 2018, section 4.3).

use serde::Deserialize;

use super::Inspect;
use crate::Packet;

/// How many bare ACKs of a connection stay in a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AckFilter {
    /// Keep the newest and one that it covers.
    Conservative,
    /// Keep only the newest.
    Aggressive,
}

/// A bare TCP ACK: no payload, no SYN, no FIN, no ECN echo.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BareAck {
    /// The connection within its flow.
    pub connection: u32,
    /// The acknowledgment number.
    pub ack: u64,
    /// Whether it has SACK blocks; a newer ACK need not repeat them, so it is kept.
    pub has_sack: bool,
}

/// Returns the place of the ACK that `newer` makes redundant, if any. `line` has the oldest packet
/// first.
pub(super) fn superseded<'a, B: Inspect + 'a>(
    line: impl Iterator<Item = &'a Packet<B>>,
    newer: &Packet<B>,
    rule: AckFilter,
) -> Option<usize> {
    let newest = newer.body.bare_ack()?;
    // A duplicate ACK is not redundant: it reports that another segment arrived.
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
