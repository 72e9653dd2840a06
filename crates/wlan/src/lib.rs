//! IEEE 802.11: the duration of PPDUs ([`phy`]), frames ([`frame`]), contention ([`contention`],
//! the DCF of IEEE Std 802.11-2020 clause 10.3), what follows an access to the medium (`exchange`;
//! frame times are in [`sequence`]), and what is received (`medium`). [`Cell`] combines them into
//! the MAC of the access point and all stations. [`Field`] does so for several cells, or with
//! hidden stations.
//!
//! Stations are numbers here, and packets are sizes. The crate owns no clock, no queue and no TCP.
//! The caller says when a queue has a frame, and learns what happens to it.

mod cell;
pub mod config;
pub mod contention;
mod counters;
mod engine;
mod events;
mod exchange;
mod field;
pub mod frame;
mod medium;
mod peer;
pub mod phy;
mod rate_control;
pub mod sequence;
mod station;
#[cfg(any(test, feature = "testing"))]
pub mod testing;

// The tests of the field include a plain reference, which uses what this crate does not export.
#[cfg(test)]
extern crate self as airtcp_wlan;
#[cfg(test)]
#[path = "../tests/field/mod.rs"]
mod field_tests;

pub use cell::Cell;
pub use config::{
    AccessCategory, AccessParameters, AfterCollision, AggregationConfig, ArrivalBeforeOwnAck,
    BeaconConfig, Colliders, CwReset, Delivery, EdcaConfig, FailedBlockAck, MacConfig,
    NarrowCollider, OfdmaAcknowledgment, OfdmaConfig, OfdmaScheduler, OfdmaUplink, OtherLinks,
    PairConfig, PcfConfig, PollOrder, Rules, TxopProtection, WeakerBefore,
};
pub use contention::{
    Access, AccessScheme, BurstConfig, BurstLength, ContenderConfig, Contention, Retry,
};
pub use counters::{CellCounters, MacCounters};
pub use engine::Engine;
pub use events::{
    Began, CfFrame, HeardBy, HeardFrame, HeardKind, MacEvent, Supply, TriggeredFrames,
    TriggeredPsdu,
};
pub use field::{AirtimeParts, FailureCounts, Field, HearingConfig, View};
pub use frame::{Emlsr, Frames, LOWEST_OFDM_RATE, Mpdu, Msdu, Ppdu, Trigger, UserPsdu};
pub use medium::{CollidedFrame, FrameErrors, MediumConfig};
pub use phy::{
    Amendment, Format, HighRate, HighRateTiming, Modulation, PhyConfig, Protection, ProtectionKind,
    Rate, ResourceUnit,
};
pub use rate_control::{MinstrelRules, RateControlConfig};
pub use sequence::dcf::{FrameTable, FrameTimes};
pub use station::{ACCESS_POINT, ContenderId, EVERYBODY, StationId};
