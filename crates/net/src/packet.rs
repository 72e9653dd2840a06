//! A packet as queues and wires see it: its size, its flow, whom it is for, when it came. Does not
//! know what is in it.

use airtcp_kernel::Time;

/// A packet that carries a `B`: a simulated TCP segment, or the place of real bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet<B> {
    /// Size, with the headers of IP and of what IP carries. \[bit\]
    pub bits: u64,
    /// The time at which it came to the queue where it waits or waited last.
    pub arrived: Time,
    /// Of which flow it is: flows share a queue by this number.
    pub flow: u32,
    /// The node that receives it from the air, by its number in the cell.
    pub to: u32,
    /// Its contents.
    pub body: B,
}
