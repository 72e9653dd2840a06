//! Consecutive batches are the parts of one measured time: their counters add up, and their times
//! to the nanosecond.

use airtcp_sim::{Batches, Outcome, RunControl, Simulation};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::scenarios::scenario;

const PARTS: u32 = 4;

/// A value of an outcome whose mean over batches equals its value for the whole run.
type Mean = fn(&Outcome) -> f64;

/// Runs `scenario` in batches, each as long as its measured time.
fn run(scenario: &Value, seed: u64, batches: Batches) -> Vec<Outcome> {
    let simulation = Simulation::from_json(&scenario.to_string()).expect("the scenario is valid");
    simulation.run_batches(seed, 0, &batches, &RunControl::default()).expect("the laws hold")
}

/// Returns the counters of an outcome except for events, which include the warm-up.
fn counts(outcome: &Outcome) -> Vec<(String, u64)> {
    let counts = serde_json::to_value(outcome.counts).expect("they are numbers");
    let counts = counts.as_object().expect("they have names");
    let number = |value: &Value| value.as_u64().expect("they are counts");
    counts
        .iter()
        .filter(|(name, _)| *name != "events")
        .map(|(name, count)| (name.clone(), number(count)))
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: crate::cases(100),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn batches_add_up_to_one_long_measured_time(scenario in scenario(), seed in any::<u64>()) {
        let batches = Batches { most: PARTS, least: PARTS, work: u64::MAX };
        let parts = run(&scenario, seed, batches);
        let mut long = scenario.clone();
        let duration = scenario["run"]["duration_ns"].as_u64().unwrap();
        long["run"]["duration_ns"] = json!(u64::from(PARTS) * duration);
        let whole = run(&long, seed, Batches { most: 1, ..batches }).remove(0);

        prop_assert_eq!(parts.len(), PARTS as usize);
        prop_assert_eq!(&parts[0], &run(&scenario, seed, Batches { most: 1, ..batches })[0]);
        let each: Vec<_> = parts.iter().map(counts).collect();
        for (at, (name, count)) in counts(&whole).into_iter().enumerate() {
            let sum: u64 = each.iter().map(|part| part[at].1).sum();
            prop_assert_eq!(sum, count, "{}", name);
        }
        let means: [(&str, Mean); 9] = [
            ("idle", |outcome| outcome.airtime.idle),
            ("data", |outcome| outcome.airtime.data),
            ("TCP ACKs", |outcome| outcome.airtime.tcp_ack),
            ("control", |outcome| outcome.airtime.control),
            ("collision", |outcome| outcome.airtime.collision),
            ("goodput", |outcome| outcome.metrics["goodput_bps"].unwrap() / 1e6),
            ("transfers in progress", |outcome| outcome.metrics["active_flows"].unwrap()),
            ("packets in queues", |outcome| outcome.metrics["ap_queue_packets"].unwrap()),
            ("backlogged nodes", |outcome| outcome.metrics["mean_backlogged_nodes"].unwrap()),
        ];
        for (name, value) in means {
            let mean = parts.iter().map(value).sum::<f64>() / f64::from(PARTS);
            let of_whole = value(&whole);
            prop_assert!(
                (mean - of_whole).abs() <= 1e-9 * of_whole.max(1.0),
                "{}: {}, not {}", name, mean, of_whole
            );
        }
        let times: Vec<_> = parts.iter().flat_map(|part| part.transfer_times_s.clone()).collect();
        prop_assert_eq!(times, whole.transfer_times_s);
    }

    #[test]
    fn no_batch_begins_after_the_work_is_done(scenario in scenario(), seed in any::<u64>()) {
        let enough = run(&scenario, seed, Batches { most: PARTS, least: 2, work: 0 });

        prop_assert_eq!(enough.len(), 2);
    }
}
