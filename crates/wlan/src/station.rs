//! Stations, their queues and who hears whom, by number. Knows nothing of what they do.

/// A station, the access point included, by its number in the cell.
pub type StationId = u32;

/// A queue of a station that contends for the medium, by its number in the cell.
pub type ContenderId = u32;

/// A class of stations that sense the same transmissions, and so find the medium busy at the same
/// times, by its number: the classes of a cell are numbered from 0 on.
pub type AudibilityClass = u32;

/// The class of all stations of a cell in which every station hears every other.
pub const ALL_HEAR_ALL: AudibilityClass = 0;

/// The receiver of a frame for all.
pub const EVERYBODY: StationId = StationId::MAX;
