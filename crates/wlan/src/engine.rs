//! The engine that plays a medium, and why. All engines follow the same rules. A faster engine is
//! used only if its results are equal.

use airtcp_kernel::Duration;

use crate::config::MacConfig;
use crate::contention::ContenderConfig;

/// An engine, with the reason for its choice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Engine {
    /// A cell in which all stations hear each other and send single frames. An exchange that
    /// nothing disturbs is one step.
    CellPlain,
    /// A cell with beacons, bursts or TXOPs.
    CellSteps,
    /// A cell with contention-free periods.
    CellPolled,
    /// A cell with aggregation.
    CellAggregates,
    /// Several cells that hear each other evenly. An exchange is three events.
    FieldExchanges,
    /// Several cells, frame by frame at each listener, with the first reason why their exchanges
    /// cannot be played as a whole.
    FieldFrames(&'static str),
}

impl Engine {
    /// Chooses the engine of a cell.
    pub(crate) fn of_cell(mac: &MacConfig, contenders: &[ContenderConfig]) -> Self {
        let sends_one_frame =
            |one: &ContenderConfig| one.bursts.is_none() && one.access.txop_limit == Duration::ZERO;
        if mac.aggregation.is_some() {
            Self::CellAggregates
        } else if mac.pcf.is_some() {
            Self::CellPolled
        } else if mac.beacon.is_none() && contenders.iter().all(sends_one_frame) {
            Self::CellPlain
        } else {
            Self::CellSteps
        }
    }

    /// Returns the name of the engine.
    pub fn name(self) -> &'static str {
        match self {
            Self::CellPlain | Self::CellSteps | Self::CellPolled | Self::CellAggregates => "cell",
            Self::FieldExchanges => "field by exchanges",
            Self::FieldFrames(_) => "field by frames",
        }
    }

    /// Returns the reason for its choice.
    pub fn reason(self) -> &'static str {
        match self {
            Self::CellPlain => "all stations hear each other; single frames",
            Self::CellSteps => "all stations hear each other; beacons, bursts or TXOPs",
            Self::CellPolled => "all stations hear each other; contention-free periods",
            Self::CellAggregates => "all stations hear each other; aggregated frames",
            Self::FieldExchanges => "cells hear each other entirely or not at all",
            Self::FieldFrames(reason) => reason,
        }
    }
}
