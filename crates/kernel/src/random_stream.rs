//! Reproducible random numbers: one stream per (seed, replication, entity, purpose).
//!
//! A stream depends only on those four, never on which other streams exist or are used. Changing
//! the TCP of one station leaves the backoffs of all others as they were, so fixes can be compared
//! on common random numbers. The generator is xoshiro256++ (Blackman and Vigna 2018), keyed by
//! SplitMix64. Both are fixed forever, because stored results name them.

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// Name and version of the generator, as written into results.
pub const GENERATOR: &str = "xoshiro256++/splitmix64-key-1";

/// The purpose of interarrival times of open-loop transfers. The packet simulator and the flow
/// simulator draw the same transfers if they use the same entity.
pub const ARRIVAL: &str = "arrival";

/// The purpose of transfer sizes.
pub const TRANSFER_SIZE: &str = "transfer size";

/// One independent stream of random numbers.
#[derive(Clone, Debug)]
pub struct RandomStream(Xoshiro256PlusPlus);

impl RandomStream {
    /// Creates the stream of `entity` (for example `"laptop/3"`) for `purpose` (for example
    /// `"backoff"`) in one replication of an experiment.
    pub fn new(seed: u64, replication: u64, entity: &str, purpose: &str) -> Self {
        let mut key = SplitMix64(seed);
        key.absorb(replication);
        key.absorb_text(entity);
        key.absorb_text(purpose);
        let mut state = [0; 32];
        for word in state.chunks_exact_mut(8) {
            word.copy_from_slice(&key.next().to_le_bytes());
        }
        Self(Xoshiro256PlusPlus::from_seed(state))
    }

    /// Draws uniformly from the integers `0 ..= max`, without bias (Lemire 2019).
    #[inline(always)]
    pub fn up_to(&mut self, max: u32) -> u32 {
        let range = u64::from(max) + 1;
        loop {
            // The product of 32 random bits and the range: its upper half is the draw. Its lower
            // half reveals draws in the remainder that would favor some values; those are rejected.
            let product = u64::from(self.0.next_u32()) * range;
            let low = product & 0xffff_ffff;
            if low >= range || low >= (1 << 32) % range {
                return (product >> 32) as u32;
            }
        }
    }

    /// Draws uniformly from the multiples of 2^-53 in (0, 1]. The result is never zero, so its
    /// logarithm is finite.
    #[inline]
    pub fn unit(&mut self) -> f64 {
        ((self.0.next_u64() >> 11) + 1) as f64 * (1.0 / (1_u64 << 53) as f64)
    }
}

/// SplitMix64 (Steele, Lea, Flood 2014) as a sponge: absorbs words, then generates the key.
struct SplitMix64(u64);

impl SplitMix64 {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn absorb(&mut self, word: u64) {
        self.0 = self.next() ^ word;
    }

    /// Absorbs the length as well, so that ("ab", "c") and ("a", "bc") give different streams.
    fn absorb_text(&mut self, text: &str) {
        self.absorb(text.len() as u64);
        for chunk in text.as_bytes().chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.absorb(u64::from_le_bytes(word));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stream(entity: &str) -> RandomStream {
        RandomStream::new(1, 0, entity, "backoff")
    }

    /// Protects stored results: the first draws of a named stream must never change.
    #[test]
    fn stream_is_stable() {
        let mut backoff = stream("ap");

        let draws: Vec<u32> = (0..8).map(|_| backoff.up_to(31)).collect();

        assert_eq!(draws, STABLE_DRAWS);
    }
    const STABLE_DRAWS: [u32; 8] = [30, 6, 12, 28, 10, 27, 10, 18];

    #[test]
    fn every_part_of_the_name_makes_another_stream() {
        let first = |mut s: RandomStream| s.unit();
        let mut values = vec![
            first(RandomStream::new(1, 0, "ap", "backoff")),
            first(RandomStream::new(2, 0, "ap", "backoff")),
            first(RandomStream::new(1, 1, "ap", "backoff")),
            first(RandomStream::new(1, 0, "sta", "backoff")),
            first(RandomStream::new(1, 0, "ap", "size")),
            first(RandomStream::new(1, 0, "apb", "ackoff")),
        ];
        values.sort_by(f64::total_cmp);
        values.dedup();

        assert_eq!(values.len(), 6);
    }

    /// Chi-square over 32 equally likely backoffs: 31 degrees of freedom, 99.9 % point 61.1.
    #[test]
    fn backoff_is_uniform() {
        const DRAWS: u32 = 320_000;
        let mut counts = [0_u32; 32];
        let mut backoff = stream("laptop/0");
        for _ in 0..DRAWS {
            counts[backoff.up_to(31) as usize] += 1;
        }

        let expected = f64::from(DRAWS) / 32.0;
        let chi_square: f64 =
            counts.iter().map(|&n| (f64::from(n) - expected).powi(2) / expected).sum();

        assert!(chi_square < 61.1, "chi-square {chi_square}");
    }

    #[test]
    fn ranges_that_are_no_power_of_two_are_uniform_too() {
        let mut draws = stream("laptop/1");
        let mut counts = [0_u32; 3];
        for _ in 0..300_000 {
            counts[draws.up_to(2) as usize] += 1;
        }

        // Standard deviation of each count: sqrt(300000 * 1/3 * 2/3) = 258. The bound is 4 of them.
        assert!(counts.iter().all(|&n| n.abs_diff(100_000) < 1_033), "{counts:?}");
        assert_eq!(draws.up_to(0), 0);
    }
}
