//! The simulated system, open or closed processor sharing, and the limits of its parameters.

use std::fmt;

use airtcp_kernel::Distribution;
use serde::{Deserialize, Serialize};

use crate::law;

/// A processor-sharing system. While k jobs are present, `capacity[k - 1]` is shared among them
/// equally; the last value of the table applies to any larger k. Sizes are in any unit of work,
/// capacities in that unit per second, times in seconds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase", deny_unknown_fields)]
pub enum System {
    /// Jobs arrive from outside. This is M/G/1-PS if `interarrival` is exponential and there is one
    /// capacity.
    Open {
        /// The time between arrivals.
        interarrival: Distribution,
        /// The size of a job.
        sizes: Distribution,
        /// The capacities C_1, C_2, ...
        capacity: Vec<f64>,
        /// The largest number of jobs present. An arrival that finds this many is blocked: counted
        /// and lost.
        limit: Option<usize>,
        /// A flow of the packet simulator. With the same laws, seed and replication, the jobs are
        /// the transfers of that flow, one by one. `None`: draw separate jobs.
        transfers_of: Option<String>,
    },
    /// Each of `sources` thinks, sends a job, waits until it is served, and thinks again: the
    /// queueing model of paper M, section 4.2.
    Closed {
        /// The number of sources.
        sources: usize,
        /// The think times of a source.
        think_times: Distribution,
        /// The size of a job.
        sizes: Distribution,
        /// The capacities C_1, C_2, ...
        capacity: Vec<f64>,
    },
}

/// Limit on the sources of a closed system; each uses memory.
const MOST_SOURCES: usize = 10_000_000;

impl System {
    pub(crate) fn check(&self) -> Result<(), InvalidSystem> {
        match self {
            Self::Open { interarrival, sizes, capacity, limit, .. } => {
                check_service(sizes, capacity)?;
                check_law("interarrival", interarrival)?;
                match limit {
                    Some(0) => Err(InvalidSystem("limit: must be at least 1, not 0".into())),
                    Some(_) => Ok(()),
                    None => check_stable(interarrival, sizes, capacity),
                }
            }
            Self::Closed { sources, think_times, sizes, capacity } => {
                check_service(sizes, capacity)?;
                check_law("think_times", think_times)?;
                check_sources(*sources)
            }
        }
    }
}

pub(crate) fn check_sources(sources: usize) -> Result<(), InvalidSystem> {
    if (1..=MOST_SOURCES).contains(&sources) {
        Ok(())
    } else {
        Err(InvalidSystem(format!("sources: must be between 1 and {MOST_SOURCES}, not {sources}")))
    }
}

pub(crate) fn check_law(name: &str, law: &Distribution) -> Result<(), InvalidSystem> {
    law::check(law).map_err(|problem| InvalidSystem(format!("{name}: {problem}")))
}

pub(crate) fn check_service(sizes: &Distribution, capacity: &[f64]) -> Result<(), InvalidSystem> {
    check_law("sizes", sizes)?;
    if capacity.is_empty() {
        return Err(InvalidSystem("capacity: must not be empty".into()));
    }
    for (index, &value) in capacity.iter().enumerate() {
        law::magnitude(&format!("capacity[{index}]"), value).map_err(InvalidSystem)?;
    }
    Ok(())
}

/// Checks stability. Only the last capacity, which serves arbitrarily many jobs, decides whether
/// their number stays finite.
fn check_stable(
    interarrival: &Distribution,
    sizes: &Distribution,
    capacity: &[f64],
) -> Result<(), InvalidSystem> {
    let served = capacity[capacity.len() - 1] * law::mean(interarrival);
    let load = law::mean(sizes) / served;
    if load < 1.0 {
        Ok(())
    } else {
        Err(InvalidSystem(format!(
            "limit: required at a load of {load} (of the last capacity): without one, the load \
             must be below 1 or the jobs pile up for ever"
        )))
    }
}

/// Checks that the load of a server that blocks no job is below 1.
pub(crate) fn check_load(load: f64) -> Result<(), InvalidSystem> {
    if load < 1.0 {
        Ok(())
    } else {
        Err(InvalidSystem(format!("a server has a load of {load}: it must be below 1")))
    }
}

/// A system that cannot be simulated. The text names the parameter and the allowed values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidSystem(pub(crate) String);

impl fmt::Display for InvalidSystem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for InvalidSystem {}

#[cfg(test)]
mod tests {
    use super::*;

    fn open(mean: f64, capacity: &[f64], limit: Option<usize>) -> System {
        System::Open {
            interarrival: Distribution::Exponential { mean: 1.0 },
            sizes: Distribution::Exponential { mean },
            capacity: capacity.to_vec(),
            limit,
            transfers_of: None,
        }
    }

    fn closed(sources: usize, think: f64) -> System {
        System::Closed {
            sources,
            think_times: Distribution::Deterministic { value: think },
            sizes: Distribution::Deterministic { value: 1.0 },
            capacity: vec![1.0],
        }
    }

    #[test]
    fn systems_that_can_be_simulated_pass() {
        for system in [
            open(0.9, &[1.0], None),
            // Slow while few jobs are present, fast enough for many.
            open(0.9, &[0.1, 0.5, 1.0], None),
            open(3.0, &[1.0], Some(1)),
            closed(1, 1.0),
            closed(MOST_SOURCES, 1.0),
        ] {
            assert_eq!(system.check(), Ok(()), "{system:?}");
        }
    }

    #[test]
    fn others_are_refused_by_the_name_of_the_parameter() {
        for (system, name) in [
            (open(1.0, &[1.0], None), "limit: required at a load of 1 "),
            (open(0.9, &[2.0, 0.5], None), "limit: required at a load of 1.8 "),
            (open(0.5, &[1.0], Some(0)), "limit: must be"),
            (open(0.5, &[], None), "capacity: "),
            (open(0.5, &[1.0, 0.0], None), "capacity[1] must"),
            (open(-1.0, &[1.0], None), "sizes: mean must"),
            (closed(0, 1.0), "sources: "),
            (closed(MOST_SOURCES + 1, 1.0), "sources: "),
            (closed(1, 0.0), "think_times: value must"),
        ] {
            let refusal = system.check().unwrap_err().to_string();

            assert!(refusal.starts_with(name), "{system:?}: {refusal}");
        }
    }
}
