//! Time averages and value lists, updated during a run.

use airtcp_kernel::{Duration, Time};

/// A number that changes at instants, and its integral over time.
#[derive(Debug, Default)]
pub(crate) struct Level {
    value: u64,
    /// The sum of all changes, each times the nanoseconds at which it happened. At time t the
    /// integral is `value` t minus this sum.
    moment: i128,
}

impl Level {
    /// Adds `change` to the number.
    #[inline]
    pub(crate) fn change(&mut self, now: Time, change: i64) {
        self.moment += i128::from(now.as_nanos() as i64) * i128::from(change);
        self.value = self.value.wrapping_add_signed(change);
    }

    #[inline]
    pub(crate) fn increment(&mut self, now: Time) {
        self.moment += i128::from(now.as_nanos());
        self.value += 1;
    }

    #[inline]
    pub(crate) fn decrement(&mut self, now: Time) {
        self.moment -= i128::from(now.as_nanos());
        self.value -= 1;
    }

    pub(crate) fn value(&self) -> u64 {
        self.value
    }

    /// Resets the integral; the value stays.
    pub(crate) fn restart(&mut self, now: Time) {
        self.moment = i128::from(self.value) * i128::from(now.as_nanos());
    }

    /// Returns the average since the last [`Self::restart`], which was `measured` ago.
    pub(crate) fn average(&self, now: Time, measured: Duration) -> f64 {
        let integral = i128::from(self.value) * i128::from(now.as_nanos()) - self.moment;
        integral as f64 / measured.as_nanos() as f64
    }
}

/// How long a small number had each of its values.
#[derive(Debug, Default)]
pub(crate) struct Histogram {
    value: usize,
    since: Time,
    time_at: Vec<Duration>,
}

impl Histogram {
    pub(crate) fn set(&mut self, now: Time, value: usize) {
        if self.time_at.len() <= self.value {
            self.time_at.resize(self.value + 1, Duration::ZERO);
        }
        self.time_at[self.value] += now - self.since;
        self.since = now;
        self.value = value;
    }

    pub(crate) fn value(&self) -> usize {
        self.value
    }

    /// Resets the history; the value stays.
    pub(crate) fn restart(&mut self, now: Time) {
        self.set(now, self.value);
        self.time_at.clear();
    }

    /// Returns the shares of `measured` spent at 0, 1, 2, ..., up to the largest value seen.
    pub(crate) fn shares(&mut self, now: Time, measured: Duration) -> Vec<f64> {
        self.set(now, self.value);
        self.time_at.iter().map(|time| ratio(*time, measured)).collect()
    }
}

/// Bytes that arrived in each of a number of equal intervals.
#[derive(Debug, Default)]
pub(crate) struct Series {
    bins: Vec<u64>,
    bin: usize,
    bin_end: Time,
    bin_width: Duration,
}

impl Series {
    pub(crate) fn new(from: Time, duration: Duration, bins: usize) -> Self {
        let bin_width = Duration::from_nanos(duration.as_nanos().div_ceil(bins as u64));
        Self { bins: vec![0; bins], bin: 0, bin_end: from + bin_width, bin_width }
    }

    #[inline]
    pub(crate) fn add(&mut self, now: Time, bytes: u64) {
        while now >= self.bin_end {
            self.bin += 1;
            self.bin_end += self.bin_width;
        }
        // The run ends within the last bin.
        self.bins[self.bin] += bytes;
    }

    /// Returns bits per second in each interval; the last may be a few nanoseconds shorter than
    /// nominal.
    pub(crate) fn rates_bps(&self) -> Vec<f64> {
        let width = self.bin_width.as_secs_f64();
        self.bins.iter().map(|&bytes| 8.0 * bytes as f64 / width).collect()
    }
}

/// Divides `part` by `whole`.
pub(crate) fn ratio(part: Duration, whole: Duration) -> f64 {
    part.as_nanos() as f64 / whole.as_nanos() as f64
}

/// Computes the `share` quantile of ascending values, interpolated linearly between order statistics
/// (type 7 of Hyndman and Fan 1996); `None` without values.
pub(crate) fn quantile(sorted: &[f64], share: f64) -> Option<f64> {
    let last = sorted.len().checked_sub(1)?;
    let position = share * last as f64;
    let below = position.floor() as usize;
    let above = (below + 1).min(last);
    Some(sorted[below] + (position - below as f64) * (sorted[above] - sorted[below]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(nanos: u64) -> Time {
        Time::from_nanos(nanos)
    }

    #[test]
    fn a_level_averages_over_time_since_its_restart() {
        let mut level = Level::default();
        level.change(at(10), 4);
        level.restart(at(20));
        level.decrement(at(25));

        // 5 ns at 4 and 15 ns at 3.
        let average = level.average(at(40), Duration::from_nanos(20));
        assert!((average - 65.0 / 20.0).abs() < 1e-12);
    }

    #[test]
    fn a_histogram_shares_out_the_time() {
        let mut histogram = Histogram::default();
        histogram.set(at(0), 2);
        histogram.restart(at(10));
        histogram.set(at(15), 0);

        assert_eq!(histogram.shares(at(30), Duration::from_nanos(20)), [0.75, 0.0, 0.25]);
    }

    #[test]
    fn a_series_skips_empty_intervals() {
        let mut series = Series::new(at(100), Duration::from_nanos(1_000), 4);
        series.add(at(100), 1);
        series.add(at(1_099), 5);

        assert_eq!(series.bins, [1, 0, 0, 5]);
    }

    #[test]
    fn quantiles_interpolate() {
        let values = [1.0, 2.0, 4.0];

        assert_eq!(quantile(&values, 0.5), Some(2.0));
        assert_eq!(quantile(&values, 0.75), Some(3.0));
        assert_eq!(quantile(&values, 1.0), Some(4.0));
        assert_eq!(quantile(&[], 0.5), None);
    }
}
