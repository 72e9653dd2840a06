//! A packet as queues and links see it: size, flow, receiver and arrival time. Its contents are
//! opaque.

use airtcp_kernel::Time;

/// A packet with contents `B`: a simulated TCP segment, or a reference to real bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet<B> {
    /// Size, including the IP header and everything above it. \[bit\]
    pub bits: u64,
    /// When it arrived at the queue that holds it or held it last.
    pub arrived: Time,
    /// The flow that it belongs to. Queues separate flows by this number.
    pub flow: u32,
    /// The number, in the cell, of the node that receives it over the air.
    pub to: u32,
    /// Its contents.
    pub body: B,
}
