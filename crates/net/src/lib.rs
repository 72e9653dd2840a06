//! The places of packets while they are not on the air: queues in front of the MAC ([`queues`]), and
//! wires ([`wire`]).
//!
//! A [`Packet`] says how large it is, of which flow, whom it is for and when it came; what is in it is
//! the caller's business. Time comes with each call. Knows no radio, no TCP and no scenario; what
//! happens to a packet that is dropped is for the caller to say, too.

mod packet;
pub mod queues;
#[cfg(test)]
mod testing;
pub mod wire;

pub use packet::Packet;
pub use queues::plugin;
pub use queues::{BareAck, Destination, Inspect, Queue, QueueConfig, Scheduler, Served};
pub use wire::{LinkConfig, Loss, LossConfig, Wires};
