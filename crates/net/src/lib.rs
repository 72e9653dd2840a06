//! Where packets are while they are not on the air: queues in front of the MAC ([`queues`]), and
//! wired links ([`wire`]).
//!
//! A [`Packet`] has a size, a flow, a receiver and an arrival time; its contents are opaque. The
//! caller passes the current time to each call and decides what happens to dropped packets. The
//! crate contains no radio, TCP or scenario code.

mod packet;
pub mod queues;
#[cfg(test)]
mod testing;
pub mod wire;

pub use packet::Packet;
pub use queues::plugin;
pub use queues::{BareAck, Destination, Inspect, Queue, QueueConfig, Scheduler, Served};
pub use wire::{LinkConfig, Loss, LossConfig, Wires};
