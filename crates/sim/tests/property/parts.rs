//! Cells that do not hear each other: a neighbour that nobody hears changes no bit of a cell, whatever the two send, and
//! with a watcher or without the straight line of the MAC all of it says what it said before.

use airtcp_sim::Outcome;
use airtcp_sim::testing::play;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::scenarios::scenario;
use crate::{run, run_recorded};

/// Makes a scenario fit for a cell of several, which has neither beacons nor bursts.
fn without_beacons(mut scenario: Value) -> Value {
    scenario["mac"]["beacon"] = Value::Null;
    scenario["mac"]["pcf"] = Value::Null;
    scenario["ap"]["access"] = json!({ "scheme": "standard" });
    scenario
}

/// Puts a second cell beside that of `scenario`, with stations, flows and a link like its own. Its access point has the
/// highest number but for stations, and nobody of one hears any of the other.
fn beside_another(scenario: &Value) -> Value {
    let mut both = scenario.clone();
    let list = |key: &str| scenario[key].as_array().expect("it is a list").clone();
    let (mut stations, mut flows) = (list("stations"), list("flows"));
    let named = |value: &Value| json!(format!("other {}", value.as_str().expect("it is a name")));
    for mut group in list("stations") {
        group["name"] = named(&group["name"]);
        group["cell"] = json!(1);
        stations.push(group);
    }
    for mut flow in list("flows") {
        flow["name"] = named(&flow["name"]);
        flow["stations"] = named(&flow["stations"]);
        for link in flow["path"].as_array_mut().expect("it is a list") {
            if link.is_string() {
                *link = json!("other uplink");
            }
        }
        flows.push(flow);
    }
    both["links"]["other uplink"] = both["links"]["uplink"].clone();
    let count = |group: &Value| group["count"].as_u64().expect("it is a number") as usize;
    let mut classes = vec![0, 1];
    for group in &stations {
        classes.extend(std::iter::repeat_n(group["cell"].as_u64().unwrap_or(0), count(group)));
    }
    both["stations"] = json!(stations);
    both["flows"] = json!(flows);
    both["cells"] = json!([
        { "name": "here", "streams": "ap", "channel": 1, "ap": scenario["ap"] },
        { "name": "there", "channel": 6, "ap": scenario["ap"] },
    ]);
    both["air"] = json!({
        "classes": classes, "received_dbm": [[-50.0, null], [null, -50.0]],
        "sense_dbm": -82.0, "energy_dbm": -62.0, "noise_dbm": -94.0, "detect_ns": 4_000,
        "capture_db": null, "obss_pd_dbm": null, "powers_known": false, "power_dbm": 20.0,
    });
    both
}

/// Writes all that the outcome tells of the first groups, flows and stations, and of nobody else.
fn told(outcome: &Outcome, groups: usize, flows: usize) -> String {
    let of_group = |group: &str| {
        let is_its = |name: &str| name.rsplit_once('/').is_some_and(|(known, _)| known == group);
        outcome.stations.iter().filter(|one| is_its(&one.name)).collect::<Vec<_>>()
    };
    let groups = &outcome.groups[..groups];
    let stations: Vec<_> = groups.iter().map(|group| of_group(&group.name)).collect();
    let mut flows = outcome.flows[..flows].to_vec();
    for flow in &mut flows {
        // A fair share is one among all flows.
        flow.starved = false;
    }
    format!("{groups:#?}\n{flows:#?}\n{stations:#?}")
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: crate::cases(400),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn a_neighbour_that_nobody_hears_changes_no_bit(
        scenario in scenario().prop_map(without_beacons),
        seed in any::<u64>(),
    ) {
        let alone = run(&scenario, seed);
        let scenario = beside_another(&scenario);
        let both = run(&scenario, seed);

        let (groups, flows) = (alone.groups.len(), alone.flows.len());
        let (alone, beside) = (told(&alone, groups, flows), told(&both, groups, flows));
        let differ = alone.lines().zip(beside.lines()).find(|(one, other)| one != other);
        prop_assert_eq!(differ, None);
        prop_assert_eq!(alone.len(), beside.len());
        for cell in &both.cells {
            let sum = cell.airtime.own + cell.airtime.idle;
            prop_assert!((sum - 1.0).abs() < 1e-12 && cell.airtime.heard == 0.0, "{:?}", cell);
            prop_assert_eq!((cell.failures.hidden, cell.failures.neighbour), (0, 0));
        }

        let (mut again, _) = run_recorded(&scenario, seed);
        again.transfers = None;
        prop_assert_eq!(&again, &both);
        let simulation = airtcp_sim::Simulation::from_json(&scenario.to_string()).expect("it is valid");
        let (in_steps, _) = play(&simulation, seed, true).expect("the laws hold");
        prop_assert_eq!(&in_steps, &both);
    }
}
