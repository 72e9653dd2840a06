//! IEEE 802.11 in one cell where every station hears every other: how long frames last
//! ([`phy`]), what follows an access to the medium ([`sequence`]), and who may send when
//! ([`contention`], the DCF of IEEE Std 802.11-2020 clause 10.3).
//!
//! Knows stations by number, frames by size, and time. Knows no queue, no packet and no TCP: the
//! caller says that a station has a frame, and gets told whose exchange starts when.

pub mod config;
pub mod contention;
mod counters;
pub mod phy;
pub mod sequence;
mod station;

pub use config::{
    AccessCategory, AccessParameters, AfterCollision, ArrivalBeforeOwnAck, BeaconConfig, Colliders,
    EdcaConfig, MacConfig, Rules,
};
pub use contention::{AccessScheme, BurstConfig, CollidedFrame, Contention, Retry};
pub use counters::MacCounters;
pub use phy::{Modulation, PhyConfig, Rate};
pub use sequence::dcf::{FrameTable, FrameTimes};
pub use station::{ContenderConfig, ContenderId, StationId};
