//! A frame: as the queue releases it, and as the MAC keeps it.

use crate::station::StationId;

/// A packet that a queue releases for transmission, with its receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Msdu<P> {
    /// The receiving station of the cell.
    pub receiver: StationId,
    /// Its size, without LLC and MAC headers.
    pub bits: u64,
    /// The contents; the MAC does not inspect them.
    pub payload: P,
}

/// A frame that the MAC holds until it is acknowledged or given up; or a further packet in the
/// frame before it, which is an A-MSDU (IEEE Std 802.11-2020, 9.3.2.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mpdu<P> {
    /// Its number at its sender: 0, 1, 2, ... in the order of dequeuing. A retransmission keeps the
    /// number.
    pub id: u64,
    /// The receiver, perhaps [`crate::EVERYBODY`].
    pub receiver: StationId,
    /// Its size, including MAC header, LLC header and FCS. For a further packet, what it adds to
    /// the size of the frame.
    pub bits: u64,
    /// Whether it is a further packet of the frame before it. It has the frame's number and is
    /// received or lost with it.
    pub is_further: bool,
    /// How often it failed: it was sent without success, or lost an internal collision.
    pub failures: u16,
    /// How often it was lost after its RTS had succeeded.
    pub failures_after_rts: u16,
    /// Whether its receiver has it, so that only the acknowledgment is missing.
    pub is_received: bool,
    /// The contents.
    pub payload: P,
}
