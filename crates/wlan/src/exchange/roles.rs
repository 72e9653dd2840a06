//! The roles of stations: access points, and stations that exchange frames with one of them.
//! Includes their rate classes.

use std::ops::Range;

use crate::contention::ContenderConfig;
use crate::station::{ContenderId, StationId};

/// The access points of a medium, and the rate classes of its stations.
#[derive(Debug)]
pub(crate) struct Roles {
    /// The first access point; the others follow it.
    first: StationId,
    access_points: u32,
    /// The rate class of each station; an access point's own entry is not used.
    rate_classes: Vec<u32>,
    /// The cell of each station, as the index of its access point; empty if there is only one.
    cells: Vec<u32>,
}

impl Roles {
    /// Creates the roles of a cell with this access point.
    pub(crate) fn new(access_point: StationId, rate_classes: Vec<u32>) -> Self {
        Self { first: access_point, access_points: 1, rate_classes, cells: Vec::new() }
    }

    /// Returns the cell of each station, if there are several cells.
    pub(crate) fn cells(&self) -> &[u32] {
        &self.cells
    }

    /// Creates the roles of several cells. Access points have the lowest station numbers, in the
    /// order of their cells.
    pub(crate) fn of_cells(cells: Vec<u32>, rate_classes: Vec<u32>) -> Self {
        let access_points = cells.iter().max().map_or(0, |last| last + 1);
        Self { first: 0, access_points, rate_classes, cells }
    }

    /// Returns the access point of a medium with one.
    pub(crate) fn access_point(&self) -> StationId {
        self.first
    }

    /// Returns whether `station` is an access point.
    #[inline]
    pub(crate) fn is_access_point(&self, station: StationId) -> bool {
        station.wrapping_sub(self.first) < self.access_points
    }

    /// Returns the stations that `station` may send to. For an access point these are the stations
    /// of its cell, perhaps with others between them.
    pub(crate) fn receivers(&self, station: StationId) -> Range<StationId> {
        let cell = self.cells.get(station as usize);
        if !self.is_access_point(station) {
            let access_point = self.first + cell.unwrap_or(&0);
            return access_point..access_point + 1;
        }
        let Some(cell) = cell else { return 0..self.rate_classes.len() as StationId };
        let of_cell =
            |&one: &StationId| !self.is_access_point(one) && self.cells[one as usize] == *cell;
        let all = || 0..self.cells.len() as StationId;
        let first = all().find(of_cell).unwrap_or(0);
        first..all().rfind(of_cell).map_or(0, |last| last + 1)
    }

    /// Returns the cell of `station`.
    pub(crate) fn cell(&self, station: StationId) -> u32 {
        self.cells.get(station as usize).copied().unwrap_or(0)
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

/// Returns the access point's queue with the highest priority.
pub(super) fn first_of_access_point(
    access_point: StationId,
    contenders: &[ContenderConfig],
) -> ContenderId {
    let first = contenders.iter().position(|one| one.station == access_point);
    first.expect("an access point has a queue") as ContenderId
}
