//! Numbers of stations and of their queues.

/// The number of a station or access point in the cell.
pub type StationId = u32;

/// The number of a contending queue of a station in the cell.
pub type ContenderId = u32;

/// The first access point; the only one of a medium with one cell.
pub const ACCESS_POINT: StationId = 0;

/// The receiver of a broadcast frame.
pub const EVERYBODY: StationId = StationId::MAX;
