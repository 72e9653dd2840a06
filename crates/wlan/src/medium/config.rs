//! The configuration of a medium: its PHY, its rules, its stations and their queues.

use std::collections::BTreeMap;

use airtcp_kernel::RandomStream;

use super::FrameErrors;
use crate::config::{MacConfig, PairConfig};
use crate::contention::ContenderConfig;
use crate::phy::{PhyConfig, Rate};
use crate::rate_control::RateControlConfig;

/// The configuration of a [`Cell`](crate::Cell) or a [`Field`](crate::Field).
#[derive(Debug)]
pub struct MediumConfig<'a> {
    /// PHY timings and frame sizes.
    pub phy: &'a PhyConfig,
    /// MAC rules.
    pub mac: MacConfig,
    /// The cell of each station. Access points have the lowest station numbers, in the order of
    /// their cells. A station exchanges frames only with the access point of its cell.
    pub cells: Vec<u32>,
    /// Data and control rates of each rate class.
    pub rates: Vec<(Rate, Rate)>,
    /// Capabilities of rate classes that support less than the medium does.
    pub pairs: BTreeMap<u32, PairConfig>,
    /// The rate class of each station, in the order of their numbers. It applies to frames in both
    /// directions. An access point's own entry is not used.
    pub rate_classes: Vec<u32>,
    /// The error model of frames to and from each station, and the random stream of the losses, in
    /// the order of station numbers.
    pub errors: Vec<Option<(FrameErrors, RandomStream)>>,
    /// Rate control of each station that has it, in the order of station numbers. Other stations
    /// have the rate of their class; the list may be shorter than the number of stations.
    pub rate_controls: Vec<Option<RateControlConfig>>,
    /// The queues, in the order of their numbers. Queues of one station are adjacent, highest
    /// priority first. Each access point has at least one.
    pub contenders: Vec<ContenderConfig>,
}
