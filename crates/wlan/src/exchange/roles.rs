//! Stations by their roles: the access point, and those that send to it and receive from it. Knows at
//! which rates each goes, and no frame.

use crate::contention::ContenderConfig;
use crate::station::{ContenderId, StationId};

/// The access point of a cell, and the rates of its stations.
#[derive(Debug)]
pub(crate) struct Roles {
    access_point: StationId,
    /// The class of each station; the access point's own is not used.
    rate_classes: Vec<u32>,
}

impl Roles {
    /// Makes the roles of a cell with this access point.
    pub(crate) fn new(access_point: StationId, rate_classes: Vec<u32>) -> Self {
        Self { access_point, rate_classes }
    }

    /// Returns the access point.
    pub(super) fn access_point(&self) -> StationId {
        self.access_point
    }

    /// Returns the station of the two that is no access point. Rates and errors are its own, whether it
    /// sends or receives.
    #[inline]
    pub(super) fn far(&self, sender: StationId, receiver: StationId) -> StationId {
        if sender == self.access_point { receiver } else { sender }
    }

    /// Returns the class of the rates between an access point and a station, in either direction.
    #[inline]
    pub(super) fn rate_class(&self, sender: StationId, receiver: StationId) -> u32 {
        self.class_of(self.far(sender, receiver))
    }

    /// Returns the class of the rates to and from `station`, which is no access point.
    #[inline]
    pub(super) fn class_of(&self, station: StationId) -> u32 {
        self.rate_classes[station as usize]
    }
}

/// Returns the queue of the access point with the highest priority.
pub(super) fn first_of_access_point(
    access_point: StationId,
    contenders: &[ContenderConfig],
) -> ContenderId {
    let first = contenders.iter().position(|one| one.station == access_point);
    first.expect("an access point has a queue") as ContenderId
}
