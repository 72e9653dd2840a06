//! Stations by their roles: access points, and those that send to one and receive from it. Knows at
//! which rates each goes, and no frame.

use std::ops::Range;

use crate::contention::ContenderConfig;
use crate::station::{ContenderId, StationId};

/// The access points of a medium, and the rates of its stations.
#[derive(Debug)]
pub(crate) struct Roles {
    /// The first access point; the others follow it.
    first: StationId,
    access_points: u32,
    /// The class of each station; an access point's own is not used.
    rate_classes: Vec<u32>,
    /// The cell of each station, as the place of its access point among them; none if there is one alone.
    cells: Vec<u32>,
}

impl Roles {
    /// Makes the roles of a cell with this access point.
    pub(crate) fn new(access_point: StationId, rate_classes: Vec<u32>) -> Self {
        Self { first: access_point, access_points: 1, rate_classes, cells: Vec::new() }
    }

    /// Returns the cell of each station, of several.
    pub(crate) fn cells(&self) -> &[u32] {
        &self.cells
    }

    /// Makes the roles of several cells, of which the access points have the first numbers, in their order.
    pub(crate) fn of_cells(cells: Vec<u32>, rate_classes: Vec<u32>) -> Self {
        let access_points = cells.iter().max().map_or(0, |last| last + 1);
        Self { first: 0, access_points, rate_classes, cells }
    }

    /// Returns the access point of a medium that has one.
    pub(super) fn access_point(&self) -> StationId {
        self.first
    }

    /// Tells whether `station` is an access point.
    #[inline]
    pub(crate) fn is_access_point(&self, station: StationId) -> bool {
        station.wrapping_sub(self.first) < self.access_points
    }

    /// Returns the stations that `station` may send to: at an access point those of its cell, and perhaps
    /// others between them.
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

    /// Returns the station of the two that is no access point. Rates and errors are its own, whether it
    /// sends or receives.
    #[inline]
    pub(crate) fn far(&self, sender: StationId, receiver: StationId) -> StationId {
        if self.is_access_point(sender) { receiver } else { sender }
    }

    /// Returns the class of the rates between an access point and a station, in either direction.
    #[inline]
    pub(crate) fn rate_class(&self, sender: StationId, receiver: StationId) -> u32 {
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
