//! IEEE 802.11 in one cell where every station hears every other: how long frames last
//! ([`phy`]), what a frame exchange consists of ([`exchange`]), and who may send when
//! ([`contention`], the DCF of IEEE Std 802.11-2016 clause 10.3).
//!
//! Knows stations by number, frames by size, and time. Knows no queue, no packet and no TCP: the
//! caller says that a station has a frame, and gets told whose exchange starts when.

mod burst;
pub mod config;
mod contender;
pub mod contention;
mod counters;
pub mod exchange;
mod group;
pub mod phy;
mod settings;
mod slot_ring;

pub use burst::{AccessScheme, BurstConfig};
pub use config::{
    AccessCategory, AccessParameters, AfterCollision, ArrivalBeforeOwnAck, BeaconConfig, Colliders,
    EdcaConfig, MacConfig, PhyConfig, Rules,
};
pub use contender::Retry;
pub use contention::{ContenderConfig, ContenderId, Contention, StationId};
pub use counters::MacCounters;
pub use exchange::{FrameTable, FrameTimes};
pub use phy::{Modulation, Rate};
