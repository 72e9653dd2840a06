//! Property tests: any valid system runs to its end, keeps the conservation laws (each run checks
//! them itself), has a consistent outcome, and gives the same outcome again. `AIRTCP_CASES` sets
//! the number of cases.

use std::num::NonZeroU64;
use std::sync::atomic::AtomicBool;

use airtcp_flow::{Distribution, Outcome, Plan, Simulation, System};
use proptest::prelude::*;

/// Draws sizes and times over six orders of magnitude.
fn magnitude() -> impl Strategy<Value = f64> {
    (-3.0..3.0_f64).prop_map(|exponent| 10_f64.powf(exponent))
}

fn law() -> impl Strategy<Value = Distribution> {
    let values = prop::collection::btree_set(1_u32..100_000, 1..20);
    prop_oneof![
        magnitude().prop_map(|value| Distribution::Deterministic { value }),
        magnitude().prop_map(|mean| Distribution::Exponential { mean }),
        (1.01..5.0_f64, magnitude())
            .prop_map(|(shape, scale)| Distribution::Pareto { shape, scale }),
        (0.001..0.999_f64, magnitude(), magnitude()).prop_map(|(probability, mean_1, mean_2)| {
            Distribution::Hyperexponential { probability, mean_1, mean_2 }
        }),
        (-3.0..3.0_f64, 0.01..4.0_f64)
            .prop_map(|(mu, sigma)| Distribution::Lognormal { mu, sigma }),
        (prop_oneof![Just(0.0), magnitude()], magnitude())
            .prop_map(|(low, width)| Distribution::Uniform { low, high: low + width }),
        (values, magnitude(), 0_u32..3).prop_map(|(values, unit, more)| Distribution::Empirical {
            counts: values.iter().map(|value| value % 3 + more).map(|n| n.max(1)).collect(),
            values: values.into_iter().map(|value| f64::from(value) * unit).collect(),
        }),
    ]
}

fn capacity() -> impl Strategy<Value = Vec<f64>> {
    prop_oneof![
        magnitude().prop_map(|one| vec![one]),
        prop::collection::vec(magnitude(), 1..40),
        // Deterministic sizes and gaps that tie exactly.
        Just(vec![1.0]),
    ]
}

fn open_system() -> impl Strategy<Value = System> {
    let limit = prop_oneof![Just(None), (1_usize..50).prop_map(Some), Just(Some(100_000))];
    (law(), law(), capacity(), limit).prop_map(|(interarrival, sizes, capacity, limit)| {
        System::Open { interarrival, sizes, capacity, limit, transfers_of: None }
    })
}

fn closed_system() -> impl Strategy<Value = System> {
    (prop_oneof![1_usize..5, 1_usize..3_000], law(), law(), capacity()).prop_map(
        |(sources, think_times, sizes, capacity)| System::Closed {
            sources,
            think_times,
            sizes,
            capacity,
        },
    )
}

fn plan() -> impl Strategy<Value = Plan> {
    let jobs = prop_oneof![1_u64..10, 1_u64..4_000];
    (prop_oneof![Just(0), 0_u64..1_000], jobs, any::<bool>()).prop_map(
        |(warmup_jobs, jobs, keep_jobs)| Plan {
            warmup_jobs,
            jobs: NonZeroU64::new(jobs).expect("positive"),
            keep_jobs,
        },
    )
}

/// Estimates the number of arrivals per departure. A system that blocks nearly all arrivals is
/// valid but takes long.
fn arrivals_per_departure(system: &System) -> f64 {
    let System::Open { interarrival, sizes, capacity, .. } = system else { return 1.0 };
    let slowest = capacity.iter().copied().fold(f64::INFINITY, f64::min);
    mean(sizes) / mean(interarrival) / slowest
}

fn mean(law: &Distribution) -> f64 {
    match law {
        Distribution::Deterministic { value } => *value,
        Distribution::Exponential { mean } => *mean,
        Distribution::Pareto { shape, scale } => scale * shape / (shape - 1.0),
        Distribution::Hyperexponential { probability, mean_1, mean_2 } => {
            probability * mean_1 + (1.0 - probability) * mean_2
        }
        Distribution::Lognormal { mu, sigma } => (mu + sigma * sigma / 2.0).exp(),
        Distribution::Uniform { low, high } => (low + high) / 2.0,
        // The largest value is an upper bound of the mean.
        Distribution::Empirical { values, .. } => values.last().copied().expect("a value"),
    }
}

fn run(simulation: &Simulation, seed: u64, plan: Plan) -> Outcome {
    simulation.run(seed, 0, plan, &AtomicBool::new(false)).expect("the laws hold")
}

fn check(system: System, plan: Plan, seed: u64) -> Result<(), TestCaseError> {
    prop_assume!(arrivals_per_departure(&system) < 100.0);
    // An open system without a limit may be overloaded; it is rejected.
    let simulation = match Simulation::new(system) {
        Ok(simulation) => simulation,
        Err(refusal) => {
            prop_assert!(refusal.to_string().starts_with("limit: required"), "{refusal}");
            return Ok(());
        }
    };
    let outcome = run(&simulation, seed, plan);

    prop_assert_eq!(outcome.completed, plan.jobs.get());
    prop_assert!(outcome.blocked <= outcome.offered);
    let time: f64 = outcome.active_distribution.iter().sum();
    prop_assert!(outcome.seconds == 0.0 || (time - 1.0).abs() < 1e-9, "{}", time);
    prop_assert_eq!(outcome.sojourn_histogram.counts.iter().sum::<u64>(), outcome.completed);
    prop_assert_eq!(outcome.slowdown_histogram.counts.iter().sum::<u64>(), outcome.completed);
    prop_assert_eq!(
        outcome.size_classes.iter().map(|class| class.jobs).sum::<u64>(),
        outcome.completed
    );
    prop_assert!(outcome.mean_sojourn_s.is_finite() && outcome.mean_sojourn_s >= 0.0);
    prop_assert!(outcome.mean_slowdown.is_finite());
    for class in &outcome.size_classes {
        prop_assert!(class.low <= class.mean_size * (1.0 + 1e-12));
        prop_assert!(class.mean_size <= class.high * (1.0 + 1e-12));
    }
    let kept = if plan.keep_jobs { plan.jobs.get() as usize } else { 0 };
    prop_assert_eq!((outcome.sojourns_s.len(), outcome.sizes.len()), (kept, kept));

    prop_assert_eq!(&run(&simulation, seed, plan), &outcome);
    // Keeping the jobs must not change anything else.
    let other = Plan { keep_jobs: !plan.keep_jobs, ..plan };
    let again = run(&simulation, seed, other);
    prop_assert_eq!(
        (again.mean_sojourn_s, again.active_distribution, again.events),
        (outcome.mean_sojourn_s, outcome.active_distribution, outcome.events)
    );
    Ok(())
}

fn cases() -> u32 {
    std::env::var("AIRTCP_CASES").map_or(100, |cases| cases.parse().expect("a number of cases"))
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: cases(),
        // A failure prints its system, so a file of seeds is not needed.
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn open_systems_keep_the_laws(system in open_system(), plan in plan(), seed in any::<u64>()) {
        check(system, plan, seed)?;
    }

    #[test]
    fn closed_systems_keep_the_laws(system in closed_system(), plan in plan(), seed in any::<u64>()) {
        check(system, plan, seed)?;
    }

    /// With one capacity no job is served faster than alone.
    #[test]
    fn nobody_is_faster_than_alone(
        sizes in law(), load in 0.05..0.95_f64, rate in magnitude(), seed in any::<u64>()
    ) {
        let interarrival = Distribution::Exponential { mean: mean(&sizes) / (rate * load) };
        let system = System::Open {
            interarrival,
            sizes,
            capacity: vec![rate],
            limit: None,
            transfers_of: None,
        };
        let plan = Plan {
            warmup_jobs: 0,
            jobs: NonZeroU64::new(2_000).expect("positive"),
            keep_jobs: true,
        };
        let outcome = run(&Simulation::new(system).expect("stable"), seed, plan);

        let longest = outcome.seconds;
        for (sojourn, size) in outcome.sojourns_s.iter().zip(&outcome.sizes) {
            // Times have the precision of the longest one.
            prop_assert!(*sojourn >= size / rate * (1.0 - 1e-9) - 1e-15 * longest);
        }
        prop_assert!(outcome.work_per_s <= rate * (1.0 + 1e-9));
    }

    /// Another seed or another replication gives another sample.
    #[test]
    fn seeds_and_replications_differ(seed in 0..u64::MAX) {
        let simulation = Simulation::new(System::Open {
            interarrival: Distribution::Exponential { mean: 1.0 },
            sizes: Distribution::Exponential { mean: 0.5 },
            capacity: vec![1.0],
            limit: None,
            transfers_of: None,
        })
        .expect("stable");
        let plan = Plan { warmup_jobs: 0, jobs: NonZeroU64::MIN, keep_jobs: false };
        let sojourn = |seed, replication| {
            let outcome = simulation.run(seed, replication, plan, &AtomicBool::new(false));
            outcome.expect("the laws hold").mean_sojourn_s
        };

        prop_assert_ne!(sojourn(seed, 0), sojourn(seed + 1, 0));
        prop_assert_ne!(sojourn(seed, 0), sojourn(seed, 1));
    }
}
