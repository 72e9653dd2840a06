//! The roles of stations: access points, which have the lowest numbers, and stations that exchange
//! frames with one of them. Includes their rate classes.

use std::ops::Range;

use crate::contention::ContenderConfig;
use crate::station::{ACCESS_POINT, ContenderId, StationId};

/// The access points of a medium, and the rate classes of its stations.
#[derive(Debug)]
pub(crate) struct Roles {
    access_points: u32,
    /// The rate class of each station; an access point's own entry is not used.
    rate_classes: Vec<u32>,
    /// The cell of each station, which is the number of its access point.
    cells: Vec<u32>,
}

impl Roles {
    /// Creates the roles of the stations of these cells.
    pub(crate) fn new(cells: Vec<u32>, rate_classes: Vec<u32>) -> Self {
        let access_points = cells.iter().max().map_or(0, |last| last + 1);
        Self { access_points, rate_classes, cells }
    }

    /// Returns the cell of each station.
    pub(crate) fn cells(&self) -> &[u32] {
        &self.cells
    }

    /// Returns whether `station` is an access point.
    #[inline]
    pub(crate) fn is_access_point(&self, station: StationId) -> bool {
        station < self.access_points
    }

    /// Returns the stations that `station` may send to. For an access point these are the stations
    /// of its cell, perhaps with others between them.
    pub(crate) fn receivers(&self, station: StationId) -> Range<StationId> {
        let cell = self.cell(station);
        if !self.is_access_point(station) {
            return cell..cell + 1;
        }
        let of_cell = |&one: &StationId| !self.is_access_point(one) && self.cell(one) == cell;
        let all = || 0..self.cells.len() as StationId;
        let first = all().find(of_cell).unwrap_or(0);
        first..all().rfind(of_cell).map_or(0, |last| last + 1)
    }

    /// Returns the cell of `station`.
    pub(crate) fn cell(&self, station: StationId) -> u32 {
        self.cells[station as usize]
    }

    /// Returns the one of two stations that is not an access point. Its rates and errors apply in
    /// both directions.
    #[inline]
    pub(crate) fn far(&self, sender: StationId, receiver: StationId) -> StationId {
        if self.is_access_point(sender) { receiver } else { sender }
    }

    /// Returns the rate class between an access point and a station, in either direction.
    #[inline]
    pub(crate) fn rate_class(&self, sender: StationId, receiver: StationId) -> u32 {
        self.class_of(self.far(sender, receiver))
    }

    /// Returns the rate class of `station`, which is not an access point.
    #[inline]
    pub(crate) fn class_of(&self, station: StationId) -> u32 {
        self.rate_classes[station as usize]
    }
}

/// Returns the first access point's queue with the highest priority.
pub(super) fn first_of_access_point(contenders: &[ContenderConfig]) -> ContenderId {
    let first = contenders.iter().position(|one| one.station == ACCESS_POINT);
    first.expect("an access point has a queue") as ContenderId
}
