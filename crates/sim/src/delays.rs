//! Statistics of many delays: the mean, and quantiles in bounded memory.
//!
//! A histogram has 128 intervals per doubling of the delay. So a quantile is known within 1/128 of
//! its value (0.8 %), however many delays there are. The mean is exact.

use std::ops::AddAssign;

use airtcp_kernel::Duration;

/// Bits of an `f32` below those that select the interval: 7 of the 23 bits of the fraction are
/// kept.
const DROPPED_BITS: u32 = 16;
/// The interval of 1 ns, minus one: 0 is the first interval.
const BEFORE_FIRST: u32 = (1.0_f32.to_bits() >> DROPPED_BITS) - 1;

/// The histogram grows by this many intervals, which is one doubling.
const DOUBLING: usize = 128;

/// Recorded delays.
#[derive(Clone, Debug, Default)]
pub(crate) struct Delays {
    /// Counts by interval, from `first` on, as far as delays occurred. A scenario of many groups
    /// has thousands of these histograms, and few delays are near a nanosecond.
    counts: Vec<u64>,
    first: usize,
    sum_ns: u128,
}

impl Delays {
    #[inline(always)]
    pub(crate) fn add(&mut self, delay: Duration) {
        let nanos = delay.as_nanos();
        let interval = interval(nanos);
        self.sum_ns += u128::from(nanos);
        // For an interval before the first one the difference wraps to more than any length.
        match self.counts.get_mut(interval.wrapping_sub(self.first)) {
            Some(count) => *count += 1,
            None => self.add_outside(interval),
        }
    }

    /// Records a delay of zero, like [`Self::add`].
    #[inline(always)]
    pub(crate) fn add_none(&mut self) {
        match self.counts.first_mut() {
            Some(count) if self.first == 0 => *count += 1,
            _ => self.add_outside(0),
        }
    }

    #[cold]
    fn add_outside(&mut self, interval: usize) {
        let from = interval / DOUBLING * DOUBLING;
        self.cover(from, from + DOUBLING);
        self.counts[interval - self.first] = 1;
    }

    /// Extends the counts to the intervals `from .. to`, without spare capacity.
    fn cover(&mut self, from: usize, to: usize) {
        if self.counts.is_empty() {
            self.first = from;
        }
        let (begin, end) = (self.first.min(from), (self.first + self.counts.len()).max(to));
        let mut counts = Vec::with_capacity(end - begin);
        counts.resize(self.first - begin, 0);
        counts.extend_from_slice(&self.counts);
        counts.resize(end - begin, 0);
        (self.counts, self.first) = (counts, begin);
    }

    pub(crate) fn count(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// Returns the mean in seconds; `None` without delays.
    pub(crate) fn mean_s(&self) -> Option<f64> {
        let count = self.count();
        (count > 0).then(|| self.sum_ns as f64 / count as f64 / 1e9)
    }

    /// Returns for each interval with delays its upper bound in seconds, and the number of delays
    /// up to it.
    pub(crate) fn until(&self) -> impl Iterator<Item = (f64, u64)> {
        let mut sum = 0;
        self.counts.iter().enumerate().filter(|&(_, &count)| count > 0).map(move |(at, count)| {
            sum += count;
            (bounds_ns(self.first + at).1 / 1e9, sum)
        })
    }

    /// Returns each bin that has delays, and its count.
    pub(crate) fn bins(&self) -> impl Iterator<Item = (u32, u64)> {
        let all = (self.first as u32..).zip(self.counts.iter().copied());
        all.filter(|&(_, count)| count > 0)
    }

    /// Returns the quantiles of these `shares` in ascending order, in seconds, within 1/128 of the
    /// exact values. A quantile is the delay of rank `share (n - 1)`, counted from 0, with delays
    /// spread evenly within an interval. `None` without delays.
    pub(crate) fn quantiles_s<const N: usize>(&self, shares: [f64; N]) -> [Option<f64>; N] {
        debug_assert!(shares.is_sorted());
        let Some(last) = self.count().checked_sub(1) else { return [None; N] };
        let (mut interval, mut below, mut count) = (0, 0, self.counts[0]);
        shares.map(|share| {
            let rank = share * last as f64;
            while rank >= (below + count) as f64 {
                below += count;
                interval += 1;
                // The last rank is below the total count.
                count = self.counts[interval];
            }
            let part = (rank - below as f64 + 0.5) / count as f64;
            let (from, to) = bounds_ns(self.first + interval);
            Some((from + (to - from) * part.min(1.0)) / 1e9)
        })
    }
}

impl AddAssign<&Self> for Delays {
    fn add_assign(&mut self, other: &Self) {
        if !other.counts.is_empty() {
            self.cover(other.first, other.first + other.counts.len());
            let own = self.counts.iter_mut().skip(other.first - self.first);
            for (count, &more) in own.zip(&other.counts) {
                *count += more;
            }
        }
        self.sum_ns += other.sum_ns;
    }
}

/// Combines the exponent and the first bits of the fraction, which order numbers as their values
/// do.
#[inline]
fn interval(nanos: u64) -> usize {
    let bits = (nanos as i64 as f32).to_bits() >> DROPPED_BITS;
    bits.saturating_sub(BEFORE_FIRST) as usize
}

/// Returns the bounds of an interval in nanoseconds.
fn bounds_ns(interval: usize) -> (f64, f64) {
    let begin =
        |interval: u32| f64::from(f32::from_bits((interval + BEFORE_FIRST) << DROPPED_BITS));
    // Below 128, each whole nanosecond has its own interval.
    let from = if interval == 0 { 0.0 } else { begin(interval as u32) };
    if from < 128.0 { (from, from) } else { (from, begin(interval as u32 + 1)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nanos(nanos: u64) -> Duration {
        Duration::from_nanos(nanos)
    }

    fn of(all: impl IntoIterator<Item = u64>) -> Delays {
        let mut delays = Delays::default();
        all.into_iter().for_each(|one| delays.add(nanos(one)));
        delays
    }

    #[test]
    fn without_a_delay_there_is_no_number() {
        let delays = Delays::default();

        assert_eq!((delays.mean_s(), delays.quantiles_s([0.5]), delays.count()), (None, [None], 0));
    }

    #[test]
    fn the_mean_is_exact() {
        assert_eq!(of([0, 1, 2_000_000_001, 4]).mean_s(), Some(2_000_000_006.0 / 4.0 / 1e9));
    }

    /// At any size, an interval begins within 1/128 before each of its numbers.
    #[test]
    fn intervals_are_narrow_and_in_order() {
        let mut last = 0;
        for exponent in 0..62 {
            for fraction in 0..1_000 {
                let number = (1 << exponent) + ((1_u64 << exponent) / 1_000) * fraction;
                let here = interval(number);
                assert!(here >= last);
                last = here;
                let (from, to) = bounds_ns(here);
                assert!(to - from <= from / 128.0, "{number}");
                // An f32 has 24 bits, so a number next to a bound may count as beyond it.
                let slack = number as f64 * 2.0_f64.powi(-24);
                assert!(from <= number as f64 + slack, "{from} {number}");
                assert!(number as f64 <= to + slack, "{to} {number}");
            }
        }
        assert_eq!((interval(0), interval(1)), (0, 1));
    }

    /// Quantiles of 10,000 delays over four decades compared with those of the sorted list.
    #[test]
    fn quantiles_are_those_of_the_list_within_an_interval() {
        let mut all: Vec<u64> =
            (1..=10_000_u64).map(|k| 1_000 + k * k * (k % 7 + 1) * 100).collect();
        let delays = of(all.iter().copied());
        all.sort_unstable();

        let shares = [0.0, 0.01, 0.5, 0.9, 0.95, 0.99, 1.0];
        for (share, found) in shares.into_iter().zip(delays.quantiles_s(shares)) {
            let exact = all[(share * 9_999.0) as usize] as f64 / 1e9;
            let found = found.unwrap();
            assert!((found / exact - 1.0).abs() <= 1.0 / 128.0, "{share}: {found} for {exact}");
        }
    }

    #[test]
    fn sums_do_not_depend_on_who_saw_what() {
        let mut sum = of([5, 70_000, 8_000_000]);
        sum += &of([6, 9_000]);
        let all = of([6, 5, 9_000, 8_000_000, 70_000]);

        let all_of = |delays: &Delays| (delays.until().collect::<Vec<_>>(), delays.sum_ns);
        assert_eq!(all_of(&sum), all_of(&all));
    }

    #[test]
    fn none_is_a_delay_of_zero() {
        let (mut first, mut last) = (of([]), of([70_000, 5]));
        first.add_none();
        first += &of([70_000, 5]);
        last.add_none();
        last.add_none();

        let until = |delays: &Delays| delays.until().collect::<Vec<_>>();
        assert_eq!(until(&first), until(&of([0, 5, 70_000])));
        assert_eq!(until(&last), until(&of([0, 0, 5, 70_000])));
    }

    #[test]
    fn room_is_for_the_delays_that_were_seen() {
        // From 100 us to 1 s there are 14 doublings.
        for order in [[100_000, 1_000_000_000, 5_000_000], [1_000_000_000, 5_000_000, 100_000]] {
            let delays = of(order);

            assert!(delays.counts.capacity() <= 15 * DOUBLING, "{}", delays.counts.capacity());
            assert_eq!(delays.count(), 3);
        }
        let mut sum = of([1_000_000_000]);
        sum += &of([100_000]);
        assert!(sum.counts.capacity() <= 15 * DOUBLING);
        sum += &Delays::default();
        assert_eq!(sum.count(), 2);
    }
}
