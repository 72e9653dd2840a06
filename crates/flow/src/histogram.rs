//! A histogram of positive numbers with bins of equal relative width.

use serde::Serialize;

/// Mantissa bits in the bin index: an octave has 2 to this power bins.
const MANTISSA_BITS: u32 = 8;
const SHIFT: u32 = f64::MANTISSA_DIGITS - 1 - MANTISSA_BITS;
/// All non-negative numbers: sign bit 0, 11 bits of exponent.
const BINS: usize = 1 << (11 + MANTISSA_BITS);

/// A histogram of non-negative numbers. A bin holds the numbers with the same exponent and the same
/// first 8 bits of the mantissa. Its width is at most 1/256 of its lower end.
#[derive(Clone, Debug)]
pub(crate) struct Histogram {
    /// Sparse in practice: pages of zeros that are never touched take no memory.
    counts: Vec<u64>,
}

/// The non-empty bins of a histogram, in ascending order.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Bins {
    /// Lower ends, inclusive.
    pub low: Vec<f64>,
    /// Upper ends, exclusive.
    pub high: Vec<f64>,
    /// The number of values in each bin.
    pub counts: Vec<u64>,
}

impl Histogram {
    pub(crate) fn new() -> Self {
        Self { counts: vec![0; BINS] }
    }

    /// Counts `value`, which must be neither negative nor NaN.
    #[inline]
    pub(crate) fn add(&mut self, value: f64) {
        self.counts[(value.to_bits() >> SHIFT) as usize] += 1;
    }

    pub(crate) fn bins(&self) -> Bins {
        let mut bins = Bins::default();
        for (index, &count) in self.counts.iter().enumerate().filter(|&(_, &count)| count > 0) {
            bins.low.push(f64::from_bits((index as u64) << SHIFT));
            bins.high.push(f64::from_bits((index as u64 + 1) << SHIFT));
            bins.counts.push(count);
        }
        bins
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_lie_in_their_bins() {
        let mut values = vec![0.0, f64::MIN_POSITIVE, 1e-9, 0.1, 1.0, 1.003_9, 1.004, 255.9, 1e100];
        let mut histogram = Histogram::new();
        values.iter().for_each(|&value| histogram.add(value));
        let bins = histogram.bins();

        // 1 and 1.0039 share the bin from 1 to 1 + 1/256 = 1.00390625.
        values.retain(|&value| value != 1.003_9);
        assert_eq!(bins.counts, [1, 1, 1, 1, 2, 1, 1, 1]);
        for ((value, low), high) in values.iter().zip(&bins.low).zip(&bins.high) {
            assert!(low <= value && value < high, "{value} in {low} .. {high}");
        }
        assert_eq!((bins.low[4], bins.high[4]), (1.0, 1.0 + 1.0 / 256.0));
        // From 255 to 256 a bin is half a unit wide.
        assert_eq!((bins.low[6], bins.high[6]), (255.5, 256.0));
    }
}
