//! The laws that sizes and times are drawn from.
//!
//! Logarithms and powers come from the `libm` crate. The last bit of the C library's results
//! differs between machines, so using it would make draws differ too.

use serde::{Deserialize, Serialize};

use crate::random_stream::RandomStream;

/// A law of non-negative numbers, as the resolved scenario specifies it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase", deny_unknown_fields)]
pub enum Distribution {
    /// Always `value`.
    Deterministic {
        /// The value.
        value: f64,
    },
    /// Exponential with mean `mean`.
    Exponential {
        /// The mean.
        mean: f64,
    },
    /// Pareto: P(X > x) = (scale / x)^shape for x >= scale.
    Pareto {
        /// The tail index.
        shape: f64,
        /// The smallest value.
        scale: f64,
    },
    /// Exponential with mean `mean_1` with probability `probability`, else with mean `mean_2`.
    Hyperexponential {
        /// Probability of the first branch.
        probability: f64,
        /// Mean of the first branch.
        mean_1: f64,
        /// Mean of the second branch.
        mean_2: f64,
    },
    /// exp(N(mu, sigma^2)).
    Lognormal {
        /// Mean of the logarithm.
        mu: f64,
        /// Standard deviation of the logarithm.
        sigma: f64,
    },
    /// Uniform between `low` and `high`.
    Uniform {
        /// The lower end.
        low: f64,
        /// The upper end.
        high: f64,
    },
    /// `values[i]` with probability proportional to `counts[i]`.
    Empirical {
        /// The values, ascending.
        values: Vec<f64>,
        /// How often each value was observed.
        counts: Vec<u32>,
    },
}

/// A [`Distribution`] prepared for drawing.
#[derive(Clone, Debug, Deserialize)]
#[serde(from = "Distribution")]
pub struct Sampler {
    law: Distribution,
    /// The cumulative counts of an empirical law; empty for other laws.
    cumulative: Vec<u64>,
}

impl Sampler {
    /// Prepares `law` for drawing.
    pub fn new(law: Distribution) -> Self {
        let cumulative = match &law {
            Distribution::Empirical { counts, .. } => counts
                .iter()
                .scan(0_u64, |sum, &count| {
                    *sum += u64::from(count);
                    Some(*sum)
                })
                .collect(),
            _ => Vec::new(),
        };
        Self { law, cumulative }
    }

    /// Whether all draws are equal.
    pub fn is_constant(&self) -> bool {
        matches!(self.law, Distribution::Deterministic { .. })
    }

    /// Draws once. Every law except the lognormal and the hyperexponential uses one number of
    /// `stream`.
    pub fn draw(&self, stream: &mut RandomStream) -> f64 {
        match &self.law {
            Distribution::Deterministic { value } => *value,
            Distribution::Exponential { mean } => exponential(*mean, stream),
            Distribution::Pareto { shape, scale } => scale * libm::pow(stream.unit(), -1.0 / shape),
            Distribution::Hyperexponential { probability, mean_1, mean_2 } => {
                let mean = if stream.unit() <= *probability { mean_1 } else { mean_2 };
                exponential(*mean, stream)
            }
            Distribution::Lognormal { mu, sigma } => libm::exp(mu + sigma * normal(stream)),
            Distribution::Uniform { low, high } => low + (high - low) * stream.unit(),
            Distribution::Empirical { values, .. } => {
                let total = *self.cumulative.last().expect("an empirical law has values");
                // unit() lies in (0, 1], so the rank lies in 1 ..= total.
                let rank = ((stream.unit() * total as f64).ceil() as u64).clamp(1, total);
                values[self.cumulative.partition_point(|&sum| sum < rank)]
            }
        }
    }
}

impl From<Distribution> for Sampler {
    fn from(law: Distribution) -> Self {
        Self::new(law)
    }
}

fn exponential(mean: f64, stream: &mut RandomStream) -> f64 {
    -mean * libm::log(stream.unit())
}

/// Draws a standard normal number by the method of Box and Muller (1958). It discards the second
/// number of the pair, so that a draw depends only on the stream.
fn normal(stream: &mut RandomStream) -> f64 {
    let radius = libm::sqrt(-2.0 * libm::log(stream.unit()));
    radius * libm::cos(2.0 * std::f64::consts::PI * stream.unit())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Asserts that 40,000 draws follow `cdf`, by the Kolmogorov-Smirnov distance. The 99.9 % point
    /// is 1.95 / sqrt(40000) = 0.00975.
    fn assert_law(law: Distribution, cdf: impl Fn(f64) -> f64) {
        let sampler = Sampler::new(law.clone());
        let mut stream = RandomStream::new(7, 0, "test", "law");
        let mut draws: Vec<f64> = (0..40_000).map(|_| sampler.draw(&mut stream)).collect();
        draws.sort_by(f64::total_cmp);
        let n = draws.len() as f64;
        let distance = draws
            .iter()
            .enumerate()
            .map(|(i, &x)| {
                let f = cdf(x);
                (f - i as f64 / n).abs().max((f - (i + 1) as f64 / n).abs())
            })
            .fold(0.0, f64::max);

        assert!(distance < 0.00975, "{law:?}: distance {distance}");
    }

    #[test]
    fn continuous_laws_have_their_distribution_functions() {
        assert_law(Distribution::Exponential { mean: 3.0 }, |x| 1.0 - (-x / 3.0).exp());
        assert_law(Distribution::Pareto { shape: 1.5, scale: 2.0 }, |x| 1.0 - (2.0 / x).powf(1.5));
        assert_law(
            Distribution::Hyperexponential { probability: 0.25, mean_1: 10.0, mean_2: 1.0 },
            |x| 1.0 - 0.25 * (-x / 10.0).exp() - 0.75 * (-x).exp(),
        );
        assert_law(Distribution::Uniform { low: 2.0, high: 5.0 }, |x| (x - 2.0) / 3.0);
        assert_law(Distribution::Lognormal { mu: 1.0, sigma: 0.5 }, |x| {
            0.5 * (1.0 + libm::erf((x.ln() - 1.0) / (0.5 * std::f64::consts::SQRT_2)))
        });
    }

    #[test]
    fn empirical_law_has_its_frequencies() {
        let sampler = Sampler::new(Distribution::Empirical {
            values: vec![1.0, 5.0, 7.0],
            counts: vec![1, 0, 3],
        });
        let mut stream = RandomStream::new(7, 0, "test", "empirical");
        let draws: Vec<f64> = (0..10_000).map(|_| sampler.draw(&mut stream)).collect();

        // Standard deviation of the share: sqrt(0.25 * 0.75 / 10000) = 0.0043. The bound is 4 of
        // them.
        let ones = draws.iter().filter(|&&x| x == 1.0).count() as f64 / 1e4;
        assert!((ones - 0.25).abs() < 0.0174, "{ones}");
        assert!(draws.iter().all(|&x| x == 1.0 || x == 7.0));
    }
}
