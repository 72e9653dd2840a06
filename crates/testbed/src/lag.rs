//! The lateness of packets in a real-time run.

use airtcp_kernel::Duration;

/// The histogram has a resolution of 1 us up to this value. Of later packets only the maximum is
/// kept.
const LONGEST_US: usize = 100_000;

/// The distribution of how late packets left, compared with the medium's clock.
#[derive(Clone, Debug)]
pub struct Lag {
    /// Packets per whole microsecond of lateness.
    counts: Vec<u64>,
    total: u64,
    largest: Duration,
}

impl Default for Lag {
    fn default() -> Self {
        Self { counts: vec![0; LONGEST_US + 1], total: 0, largest: Duration::ZERO }
    }
}

impl Lag {
    /// Counts a packet that was `late`.
    pub fn add(&mut self, late: Duration) {
        let micros = (late.as_nanos() / 1000) as usize;
        self.counts[micros.min(LONGEST_US)] += 1;
        self.total += 1;
        self.largest = self.largest.max(late);
    }

    /// Returns the number of packets.
    pub fn packets(&self) -> u64 {
        self.total
    }

    /// Returns the lateness of the latest packet.
    pub fn largest(&self) -> Duration {
        self.largest
    }

    /// Returns the quantile `share` of the lateness, rounded up to a microsecond; `None` if there
    /// were no packets.
    pub fn quantile(&self, share: f64) -> Option<Duration> {
        let wanted = (share * self.total as f64).ceil().max(1.0) as u64;
        let mut seen = 0;
        let micros = self.counts.iter().position(|count| {
            seen += count;
            self.total > 0 && seen >= wanted
        })?;
        let bound = Duration::from_micros(micros as u64 + 1);
        Some(if micros < LONGEST_US { bound.min(self.largest) } else { self.largest })
    }

    /// Returns the share of packets that were later than `bound`, a whole number of microseconds.
    pub fn share_above(&self, bound: Duration) -> f64 {
        let micros = ((bound.as_nanos() / 1000) as usize).min(LONGEST_US);
        let later: u64 = self.counts[micros..].iter().sum();
        if self.total == 0 { 0.0 } else { later as f64 / self.total as f64 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_those_of_what_was_added() {
        let mut lag = Lag::default();
        assert_eq!(lag.quantile(0.5), None);
        assert_eq!(lag.share_above(Duration::ZERO), 0.0);

        // Packets 1 .. 99 us late, and one a second late.
        for micros in 1..100 {
            lag.add(Duration::from_micros(micros));
        }
        lag.add(Duration::from_millis(1000));

        assert_eq!(lag.packets(), 100);
        assert_eq!(lag.quantile(0.5), Some(Duration::from_micros(51)));
        assert_eq!(lag.quantile(0.99), Some(Duration::from_micros(100)));
        assert_eq!(lag.quantile(1.0), Some(Duration::from_millis(1000)));
        assert_eq!(lag.largest(), Duration::from_millis(1000));
        assert_eq!(lag.share_above(Duration::from_micros(90)), 0.11);
    }
}
