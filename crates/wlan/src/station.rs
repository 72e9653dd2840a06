//! Stations and their queues by number, and how a queue contends. Knows nothing of what they do.

use airtcp_kernel::RandomStream;

use crate::config::AccessParameters;
use crate::contention::BurstConfig;
use crate::medium::AudibilityClass;

/// A station, the access point included, by its number in the cell.
pub type StationId = u32;

/// A queue of a station that contends for the medium, by its number in the cell.
pub type ContenderId = u32;

/// What a contender is made from.
#[derive(Debug)]
pub struct ContenderConfig {
    /// Whose queue it is. The contenders of one station follow one another, the one with the
    /// highest priority first.
    pub station: StationId,
    /// Whom its station hears.
    pub audibility: AudibilityClass,
    /// How it contends.
    pub access: AccessParameters,
    /// Where its backoffs are drawn from.
    pub backoffs: RandomStream,
    /// Sends in bursts instead of backing off; one contender of a cell at most.
    pub bursts: Option<BurstConfig>,
}

/// The access point, as a station of its cell.
pub const ACCESS_POINT: StationId = 0;

/// Whom a frame is for that all receive.
pub const EVERYBODY: StationId = StationId::MAX;
