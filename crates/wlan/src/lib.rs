//! IEEE 802.11: how long PPDUs last ([`phy`]),
//! what is sent ([`frame`]), who may send when ([`contention`], the DCF of IEEE Std 802.11-2020
//! clause 10.3), what follows an access to the medium (`exchange`; the times of its frames are in
//! [`sequence`]), and what of it comes through (`medium`). [`Cell`] puts them together: the MAC of the
//! access point and all stations. [`Field`] does so for several cells, or where not all hear all.
//!
//! Knows stations by number, packets by size, and time. Owns no clock and no queue, and knows no TCP:
//! the caller says that a queue has something to send and when it is, and is told what becomes of it.

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
pub mod phy;
mod rate_control;
pub mod sequence;
mod station;
#[cfg(any(test, feature = "testing"))]
pub mod testing;

pub use cell::{Cell, CellConfig};
pub use config::{
    AccessCategory, AccessParameters, AfterCollision, AggregationConfig, ArrivalBeforeOwnAck,
    BeaconConfig, Colliders, CwReset, Delivery, EdcaConfig, FailedBlockAck, MacConfig, PairConfig,
    PcfConfig, PollOrder, Rules, TxopProtection, WeakerBefore,
};
pub use contention::{Access, AccessScheme, BurstConfig, ContenderConfig, Contention, Retry};
pub use counters::{CellCounters, MacCounters};
pub use engine::{ByFrames, Engine};
pub use events::{Began, CfFrame, HeardBy, HeardFrame, HeardKind, MacEvent, Supply};
pub use field::{FailureCounts, Field, FieldConfig, HearingConfig, View};
pub use frame::{Frames, Mpdu, Msdu, Ppdu, UserPsdu};
pub use medium::{CollidedFrame, FrameErrors};
pub use phy::{
    Amendment, Format, HighRate, HighRateTiming, Modulation, PhyConfig, Protection, ProtectionKind,
    Rate,
};
pub use rate_control::RateControlConfig;
pub use sequence::dcf::{FrameTable, FrameTimes};
pub use station::{ContenderId, EVERYBODY, StationId};
