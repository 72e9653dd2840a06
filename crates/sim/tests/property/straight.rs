//! The MAC's shortcut is only an abbreviation: without it, every outcome is the same bit for bit.
//! Cells with aggregation never use it, and are excluded.

use std::cell::Cell;

use airtcp_sim::Simulation;
use airtcp_sim::testing::{Exchanges, play};
use proptest::prelude::*;
use proptest::test_runner::TestRunner;

use crate::scenarios::scenario_without_aggregation;

/// The minimum share of exchanges of all scenarios that the shortcut must play for this test to be
/// meaningful. It is .43 or so; some hundred scenarios do not fall below the minimum by chance.
const LEAST_SHARE: f64 = 0.3;

#[test]
fn the_straight_line_changes_no_outcome() {
    let config = ProptestConfig {
        cases: crate::cases(150),
        failure_persistence: None,
        ..ProptestConfig::default()
    };
    let counted = Cell::new(Exchanges::default());
    let same = |(scenario, seed): (serde_json::Value, u64)| {
        let simulation = Simulation::from_json(&scenario.to_string()).expect("it is valid");
        let (straight, exchanges) = play(&simulation, seed, false).expect("the laws hold");
        let (in_steps, others) = play(&simulation, seed, true).expect("the laws hold");
        // The formatted float shows all its bits, including the sign of a zero.
        let (straight, in_steps) = (format!("{straight:#?}"), format!("{in_steps:#?}"));
        let differ = straight.lines().zip(in_steps.lines()).find(|(one, other)| one != other);
        prop_assert_eq!(differ, None);
        prop_assert_eq!(straight.len(), in_steps.len());
        prop_assert_eq!((others.all, others.straight), (exchanges.all, 0));
        let Exchanges { all, straight } = counted.get();
        counted
            .set(Exchanges { all: all + exchanges.all, straight: straight + exchanges.straight });
        Ok(())
    };
    TestRunner::new(config).run(&(scenario_without_aggregation(), any::<u64>()), same).unwrap();
    let Exchanges { all, straight } = counted.get();
    let share = straight as f64 / all as f64;
    assert!(share >= LEAST_SHARE, "{straight} of {all} exchanges took the straight line");
}
