//! Compares the simulator, draw for draw, with a slow program that keeps the remaining work of
//! every job and visits all of them at every event.
//!
//! The two round differently. In an open system the difference vanishes whenever the system is
//! empty. A closed system is chaotic: a slightly late departure delays the next arrivals, and the
//! delay grows tenfold in about 600 jobs. The closed runs are therefore short and many.

use std::num::NonZeroU64;
use std::sync::atomic::AtomicBool;

use airtcp_flow::{Distribution, Outcome, Plan, Simulation, System};
use airtcp_kernel::{RandomStream, Sampler};

struct Waiting {
    arrived: f64,
    size: f64,
    left: f64,
}

/// Returns the sojourn times and sizes of the jobs in order of departure, and the number of blocked
/// jobs.
fn slow_processor_sharing(system: &System, seed: u64, jobs: u64) -> (Vec<(f64, f64)>, u64) {
    let (pauses, sizes, capacity, limit, sources, purpose) = match system {
        System::Open { interarrival, sizes, capacity, limit, .. } => {
            (interarrival, sizes, capacity, limit.unwrap_or(usize::MAX), None, "interarrival")
        }
        System::Closed { sources, think_times, sizes, capacity } => {
            (think_times, sizes, capacity, usize::MAX, Some(*sources), "think")
        }
    };
    let mut pause_stream = RandomStream::new(seed, 0, "flows", purpose);
    let mut size_stream = RandomStream::new(seed, 0, "flows", "size");
    let (pauses, sizes) = (Sampler::new(pauses.clone()), Sampler::new(sizes.clone()));
    let mut pause = move || pauses.draw(&mut pause_stream);
    let mut arrivals: Vec<f64> = (0..sources.unwrap_or(1)).map(|_| pause()).collect();

    let (mut now, mut blocked) = (0.0, 0);
    let mut waiting: Vec<Waiting> = Vec::new();
    let mut done = Vec::new();
    while done.len() < jobs as usize {
        let k = waiting.len();
        let rate = if k == 0 { 0.0 } else { capacity[k.min(capacity.len()) - 1] / k as f64 };
        let least = waiting.iter().map(|job| job.left).fold(f64::INFINITY, f64::min);
        let next = arrivals.iter().copied().fold(f64::INFINITY, f64::min);
        let end = if k == 0 { f64::INFINITY } else { now + least / rate };
        if end <= next {
            for job in &mut waiting {
                job.left -= least;
            }
            now = end;
            let first = waiting.iter().position(|job| job.left == 0.0).expect("one is done");
            let job = waiting.remove(first);
            done.push((now - job.arrived, job.size));
            if sources.is_some() {
                arrivals.push(now + pause());
            }
        } else {
            for job in &mut waiting {
                job.left -= (next - now) * rate;
            }
            now = next;
            let index = arrivals.iter().position(|&time| time == next).expect("one comes");
            arrivals.remove(index);
            if sources.is_none() {
                arrivals.push(now + pause());
            }
            let size = sizes.draw(&mut size_stream);
            if waiting.len() < limit {
                waiting.push(Waiting { arrived: now, size, left: size });
            } else {
                blocked += 1;
            }
        }
    }
    (done, blocked)
}

fn fast(system: &System, seed: u64, jobs: u64) -> Outcome {
    let plan =
        Plan { warmup_jobs: 0, jobs: NonZeroU64::new(jobs).expect("not zero"), keep_jobs: true };
    Simulation::new(system.clone())
        .expect("the system is valid")
        .run(seed, 0, plan, &AtomicBool::new(false))
        .expect("the laws hold")
}

fn assert_alike(system: &System, seed: u64, jobs: u64) -> Outcome {
    let outcome = fast(system, seed, jobs);
    let (slow, blocked) = slow_processor_sharing(system, seed, jobs);
    assert_eq!(outcome.sojourns_s.len(), slow.len());
    for (index, (sojourn, size)) in slow.into_iter().enumerate() {
        let ours = outcome.sojourns_s[index];
        assert_eq!(outcome.sizes[index], size, "{system:?}: job {index}");
        assert!((ours - sojourn).abs() <= 1e-7 * sojourn, "job {index}: {ours}, {sojourn}");
    }
    assert_eq!(outcome.blocked, blocked);
    outcome
}

#[test]
fn open_system_agrees_draw_for_draw() {
    let system = System::Open {
        interarrival: Distribution::Exponential { mean: 1.0 },
        sizes: Distribution::Pareto { shape: 1.5, scale: 1.0 },
        capacity: vec![3.0 / 0.9],
        limit: None,
        transfers_of: None,
    };

    assert_alike(&system, 11, 20_000);
}

#[test]
fn open_system_with_a_limit_and_a_table_agrees() {
    let system = System::Open {
        interarrival: Distribution::Uniform { low: 0.0, high: 2.0 },
        sizes: Distribution::Hyperexponential { probability: 0.1, mean_1: 5.0, mean_2: 0.5 },
        capacity: vec![1.0, 0.5, 0.9, 0.8],
        limit: Some(6),
        transfers_of: None,
    };

    let outcome = assert_alike(&system, 11, 20_000);

    // At a load above 1 the limit blocks a large part of the jobs.
    assert!(outcome.blocked > 1_000, "{}", outcome.blocked);
}

#[test]
fn closed_system_agrees() {
    let system = System::Closed {
        sources: 20,
        think_times: Distribution::Lognormal { mu: 1.0, sigma: 1.0 },
        sizes: Distribution::Exponential { mean: 1.0 },
        capacity: vec![1.0, 1.8, 2.4, 2.8, 3.0],
    };
    for seed in 0..40 {
        let outcome = assert_alike(&system, seed, 500);

        assert!(outcome.active_distribution.len() > 6, "the table was used beyond its end");
    }
}
