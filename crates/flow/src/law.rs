//! Which laws can be simulated here, and their means.

use airtcp_kernel::Distribution;

/// Sizes, times and capacities lie between `SMALLEST` and `LARGEST`, so that no product or quotient
/// of three of them overflows a `f64`.
pub(crate) const SMALLEST: f64 = 1e-100;
pub(crate) const LARGEST: f64 = 1e100;

/// Checks that draws from a law are positive and have a mean; the error names the parameter.
pub(crate) fn check(law: &Distribution) -> Result<(), String> {
    match law {
        Distribution::Deterministic { value } => magnitude("value", *value),
        Distribution::Exponential { mean } => magnitude("mean", *mean),
        Distribution::Pareto { shape, scale } => {
            magnitude("scale", *scale)?;
            demand(*shape > 1.0 && shape.is_finite(), "shape", "greater than 1", *shape)
        }
        Distribution::Hyperexponential { probability, mean_1, mean_2 } => {
            magnitude("mean_1", *mean_1)?;
            magnitude("mean_2", *mean_2)?;
            let inside = *probability > 0.0 && *probability < 1.0;
            demand(inside, "probability", "between 0 and 1", *probability)
        }
        Distribution::Lognormal { mu, sigma } => {
            // A normal number made of 53 random bits has a magnitude below 8.6.
            let reach = mu.abs() + 9.0 * sigma;
            demand(*sigma > 0.0, "sigma", "greater than 0", *sigma)?;
            demand(reach <= LARGEST.ln(), "|mu| + 9 sigma", "at most 230", reach)?;
            magnitude("the mean", mean(law))
        }
        Distribution::Uniform { low, high } => {
            magnitude("high", *high)?;
            demand(*low >= 0.0 && low < high, "low", "at least 0 and below high", *low)
        }
        Distribution::Empirical { values, counts } => {
            if values.len() != counts.len() {
                return Err("values and counts must have the same length".into());
            }
            if counts.iter().all(|&count| count == 0) {
                return Err("counts must not all be 0".into());
            }
            values.iter().try_for_each(|&value| magnitude("values", value))
        }
    }
}

/// Returns E\[X\] of a law that passed [`check`].
pub(crate) fn mean(law: &Distribution) -> f64 {
    match law {
        Distribution::Deterministic { value } => *value,
        Distribution::Exponential { mean } => *mean,
        Distribution::Pareto { shape, scale } => shape / (shape - 1.0) * scale,
        Distribution::Hyperexponential { probability, mean_1, mean_2 } => {
            probability * mean_1 + (1.0 - probability) * mean_2
        }
        Distribution::Lognormal { mu, sigma } => (mu + sigma * sigma / 2.0).exp(),
        Distribution::Uniform { low, high } => f64::midpoint(*low, *high),
        Distribution::Empirical { values, counts } => {
            let total: f64 = counts.iter().map(|&count| f64::from(count)).sum();
            values.iter().zip(counts).map(|(value, &count)| value * f64::from(count) / total).sum()
        }
    }
}

/// Checks that a size, a time or a capacity is in range.
pub(crate) fn magnitude(name: &str, value: f64) -> Result<(), String> {
    demand((SMALLEST..=LARGEST).contains(&value), name, "between 1e-100 and 1e100", value)
}

fn demand(holds: bool, name: &str, wanted: &str, value: f64) -> Result<(), String> {
    if holds { Ok(()) } else { Err(format!("{name} must be {wanted}, not {value}")) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use airtcp_kernel::{RandomStream, Sampler};

    fn laws() -> Vec<Distribution> {
        vec![
            Distribution::Deterministic { value: 3.0 },
            Distribution::Exponential { mean: 2.0 },
            // E[X^2] is finite, so that a sample mean has a standard error: shape 4, variance 2/9 *
            // 9.
            Distribution::Pareto { shape: 4.0, scale: 3.0 },
            Distribution::Hyperexponential { probability: 0.25, mean_1: 10.0, mean_2: 1.0 },
            Distribution::Lognormal { mu: 1.0, sigma: 0.5 },
            Distribution::Uniform { low: 0.0, high: 5.0 },
            Distribution::Empirical { values: vec![1.0, 5.0, 7.0], counts: vec![1, 0, 3] },
        ]
    }

    #[test]
    fn means_are_those_of_the_draws() {
        const DRAWS: u32 = 200_000;
        for law in laws() {
            let sampler = Sampler::new(law.clone());
            let mut stream = RandomStream::new(3, 0, "test", "mean");
            let draws: Vec<f64> = (0..DRAWS).map(|_| sampler.draw(&mut stream)).collect();
            let sample = draws.iter().sum::<f64>() / f64::from(DRAWS);
            let variance =
                draws.iter().map(|x| (x - sample).powi(2)).sum::<f64>() / f64::from(DRAWS);
            let error = 4.0 * (variance / f64::from(DRAWS)).sqrt();

            assert!((mean(&law) - sample).abs() <= error + 1e-12, "{law:?}: {sample}");
        }
    }

    #[test]
    fn laws_that_can_be_simulated_pass() {
        for law in laws() {
            assert_eq!(check(&law), Ok(()), "{law:?}");
        }
    }

    #[test]
    fn laws_that_cannot_are_refused_by_the_name_of_the_parameter() {
        let empirical = |values: &[f64], counts: &[u32]| Distribution::Empirical {
            values: values.to_vec(),
            counts: counts.to_vec(),
        };
        let hyperexponential =
            |probability| Distribution::Hyperexponential { probability, mean_1: 1.0, mean_2: 1.0 };
        for (law, name) in [
            (Distribution::Deterministic { value: 0.0 }, "value"),
            (Distribution::Deterministic { value: f64::NAN }, "value"),
            (Distribution::Exponential { mean: -1.0 }, "mean"),
            (Distribution::Exponential { mean: f64::INFINITY }, "mean"),
            (Distribution::Pareto { shape: 1.0, scale: 1.0 }, "shape"),
            (Distribution::Pareto { shape: f64::NAN, scale: 1.0 }, "shape"),
            (Distribution::Pareto { shape: 2.0, scale: 1e-200 }, "scale"),
            (hyperexponential(1.0), "probability"),
            (Distribution::Lognormal { mu: 0.0, sigma: 0.0 }, "sigma"),
            (Distribution::Lognormal { mu: 0.0, sigma: f64::NAN }, "sigma"),
            (Distribution::Lognormal { mu: 200.0, sigma: 5.0 }, "|mu| + 9 sigma"),
            (Distribution::Lognormal { mu: 0.0, sigma: 25.0 }, "the mean"),
            (Distribution::Uniform { low: 2.0, high: 2.0 }, "low"),
            (Distribution::Uniform { low: -1.0, high: 2.0 }, "low"),
            (empirical(&[1.0], &[1, 2]), "values and counts"),
            (empirical(&[1.0], &[0]), "counts"),
            (empirical(&[], &[]), "counts"),
            (empirical(&[0.0, 1.0], &[1, 1]), "values"),
        ] {
            let refusal = check(&law).unwrap_err();

            assert!(refusal.starts_with(name), "{law:?}: {refusal}");
        }
    }
}
