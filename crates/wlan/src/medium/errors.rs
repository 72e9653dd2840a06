//! Frame errors: frames that are lost without a collision, with a probability that depends on their
//! size.
//!
//! The cell handles the consequences of an error.

use airtcp_kernel::RandomStream;
use serde::Deserialize;

use crate::station::StationId;

/// The frame errors of a station, in both directions.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FrameErrors {
    /// The loss probability of a frame; below 1.
    pub rate: f64,
    /// If given, `rate` applies to an MSDU of this many bytes, and bits are lost independently.
    /// Otherwise it applies to every frame of any size.
    pub of_bytes: Option<u64>,
    /// Smaller MSDUs are never lost.
    pub least_bytes: u64,
}

impl FrameErrors {
    /// Returns the loss probability of a frame with an MSDU of `msdu_bits`.
    pub fn probability(&self, msdu_bits: u64) -> f64 {
        if msdu_bits < 8 * self.least_bytes {
            return 0.0;
        }
        match self.of_bytes {
            None => self.rate,
            Some(of) => 1.0 - libm::pow(1.0 - self.rate, msdu_bits as f64 / (8 * of) as f64),
        }
    }
}

/// The random draws that decide which frames are lost.
#[derive(Debug)]
pub(crate) struct ErrorModel {
    /// The errors of each station, shared by both directions; `None` for a station without losses.
    stations: Vec<Option<Station>>,
}

#[derive(Debug)]
struct Station {
    errors: FrameErrors,
    draws: RandomStream,
    /// The last size, and its probability.
    last: (u64, f64),
}

impl ErrorModel {
    /// Creates the draws from the errors of each station and their random streams, in the order of
    /// station numbers.
    pub(crate) fn new(stations: Vec<Option<(FrameErrors, RandomStream)>>) -> Self {
        let stations = stations.into_iter().map(|station| {
            station.map(|(errors, draws)| Station { errors, draws, last: (u64::MAX, 0.0) })
        });
        Self { stations: stations.collect() }
    }

    /// Returns true if no frame is ever lost.
    pub(crate) fn is_perfect(&self) -> bool {
        self.stations.iter().all(Option::is_none)
    }

    /// Handles [`Self::loses`] at a PHY rate with a loss probability of `rate` for 1500-byte
    /// frames.
    pub(crate) fn loses_at(&mut self, station: StationId, msdu_bits: u64, rate: f64) -> bool {
        let Some(Some(station)) = self.stations.get_mut(station as usize) else { return false };
        let errors = FrameErrors { rate, of_bytes: Some(1_500), least_bytes: 0 };
        rate > 0.0 && station.draws.unit() < errors.probability(msdu_bits)
    }

    /// Draws for a frame to or from `station` with an MSDU of `msdu_bits`. Returns true if it is
    /// lost.
    pub(crate) fn loses(&mut self, station: StationId, msdu_bits: u64) -> bool {
        let Some(Some(station)) = self.stations.get_mut(station as usize) else { return false };
        if station.last.0 != msdu_bits {
            station.last = (msdu_bits, station.errors.probability(msdu_bits));
        }
        let probability = station.last.1;
        probability > 0.0 && station.draws.unit() < probability
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 10 % at 1500 bytes: the success probability is sqrt(0.9) for half the size, and 0.9^2 for
    /// twice the size.
    #[test]
    fn bits_are_lost_independently() {
        let errors = FrameErrors { rate: 0.1, of_bytes: Some(1_500), least_bytes: 0 };

        for (bits, come_through) in [(12_000, 0.9), (6_000, 0.9_f64.sqrt()), (24_000, 0.81)] {
            assert!((1.0 - errors.probability(bits) - come_through).abs() < 1e-12);
        }
    }

    #[test]
    fn short_frames_may_be_safe() {
        let errors = FrameErrors { rate: 0.1, of_bytes: None, least_bytes: 500 };

        assert_eq!(errors.probability(3_999), 0.0);
        assert_eq!(errors.probability(4_000), 0.1);
    }

    /// 10,000 frames at 0.3: 3000 lost, within 4 * sqrt(2100) = 183.
    #[test]
    fn as_many_are_lost_as_it_says() {
        let errors = FrameErrors { rate: 0.3, of_bytes: None, least_bytes: 0 };
        let stream = RandomStream::new(1, 0, "sta/0", "frame errors");
        let mut model = ErrorModel::new(vec![None, Some((errors, stream))]);

        let lost = (0..10_000).filter(|_| model.loses(1, 12_000)).count();

        assert!(lost.abs_diff(3_000) < 183, "{lost}");
        assert!(!model.loses(0, 12_000));
        assert!(!model.is_perfect());
    }
}
