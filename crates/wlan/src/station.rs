//! Stations, their queues and who hears whom, by number. Knows nothing of what they do.

/// A station, the access point included, by its number in the cell.
pub type StationId = u32;

/// A queue of a station that contends for the medium, by its number in the cell.
pub type ContenderId = u32;

/// The receiver of a frame for all.
pub const EVERYBODY: StationId = StationId::MAX;
