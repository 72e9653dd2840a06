//! One frame: as it comes from a queue, and as the MAC keeps it until it is done with it.

use crate::station::StationId;

/// A packet that a queue hands over to be sent, with its receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Msdu<P> {
    /// The station of the cell that it is for.
    pub receiver: StationId,
    /// Its size, without LLC and MAC headers.
    pub bits: u64,
    /// The contents; the MAC does not look into them.
    pub payload: P,
}

/// A frame that the MAC holds until it is acknowledged or given up; or a packet more that the frame
/// before it carries, an A-MSDU (IEEE Std 802.11-2020, 9.3.2.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mpdu<P> {
    /// Which of its sender's it is: 0, 1, 2, ... in the order in which they were handed over. A
    /// frame that is sent again keeps its number.
    pub id: u64,
    /// The receiver; [`crate::EVERYBODY`] may be.
    pub receiver: StationId,
    /// Its size, MAC header, LLC header and FCS included; or what it adds to the size of the frame.
    pub bits: u64,
    /// A flag: it is a packet more in the frame before it, which has that number, and shares its
    /// fate.
    pub is_further: bool,
    /// The number of times that it was sent, or was to be sent and lost an internal collision, without success.
    pub failures: u16,
    /// The number of times that it was lost after its RTS had got through.
    pub failures_after_rts: u16,
    /// A flag: its receiver has it, so that only the acknowledgment is still to come.
    pub is_received: bool,
    /// The contents.
    pub payload: P,
}
