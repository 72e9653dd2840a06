//! Neighbour cells that must not matter. A neighbour that is not heard does not change a single bit
//! of a cell, whatever both send. Nor does a neighbour that is heard and silent. The results also
//! stay the same with an observer, and without the MAC's shortcut.

use airtcp_sim::Outcome;
use airtcp_sim::testing::play;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::scenarios::scenario;
use crate::{run, run_recorded};

/// Makes a scenario valid for several cells: without beacons and bursts.
pub(crate) fn without_beacons(mut scenario: Value) -> Value {
    scenario["mac"]["beacon"] = Value::Null;
    scenario["mac"]["pcf"] = Value::Null;
    scenario["ap"]["access"] = json!({ "scheme": "standard" });
    scenario
}

/// Makes TCP learn nothing from the MAC. In one cell a connection learns of a collision when it
/// begins, and in several cells when the response is missing; `world/feedback.rs` explains it.
fn without_feedback(mut scenario: Value) -> Value {
    for flow in scenario["flows"].as_array_mut().expect("it is a list") {
        for path in ["/tcp", "/tcp/sending_end"] {
            let Some(end) = flow.pointer_mut(path).filter(|end| end.is_object()) else { continue };
            end["mac_feedback"] = Value::Null;
            if end["ack_skip"].is_object() {
                end["ack_skip"]["adaptive"] = Value::Null;
            }
        }
    }
    scenario
}

/// Adds a second cell to that of `scenario`, with stations, flows and a link like its own. Its
/// access point has the highest number before the stations. Stations of both cells all hear each
/// other, or none of the other cell.
pub(crate) fn beside_another(scenario: &Value, hear: bool) -> Value {
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
    let between = if hear { json!(-50.0) } else { Value::Null };
    both["air"] = json!({
        "classes": classes, "received_dbm": [[-50.0, between], [between, -50.0]],
        "sense_dbm": -82.0, "energy_dbm": -62.0, "noise_dbm": -94.0, "detect_ns": 4_000,
        "capture_db": null, "obss_pd_dbm": null, "powers_known": false, "power_dbm": 20.0,
    });
    both
}

/// The medium of a floor: powers between up to eight classes of nodes, and its rules.
#[derive(Clone, Debug)]
struct Floor {
    /// Powers in dBm, by classes of sender and listener. Stations always hear the access point of
    /// their own cell.
    powers: Vec<Option<i32>>,
    powers_known: bool,
    energy: i32,
    capture: Option<f64>,
    obss_pd: Option<f64>,
    need: u32,
}

/// The maximum number of classes: two access points and twice three groups.
const MOST_CLASSES: usize = 8;

fn floor() -> impl Strategy<Value = Floor> {
    let power = prop_oneof![2 => (-92..-45).prop_map(Some), 1 => Just(None), 1 => Just(Some(-50))];
    let powers = prop::collection::vec(power, MOST_CLASSES * MOST_CLASSES);
    let energy = prop_oneof![Just(-62), Just(-82)];
    let capture = prop::option::of(Just(5.0));
    let obss_pd = prop::option::of(Just(-72.0));
    (powers, any::<bool>(), energy, capture, obss_pd, 4_u32..25).prop_map(
        |(powers, powers_known, energy, capture, obss_pd, need)| Floor {
            powers,
            powers_known,
            energy,
            capture,
            obss_pd,
            need,
        },
    )
}

/// Gives a scenario of two cells this medium; each access point and each group is a class.
fn on_floor(mut scenario: Value, floor: &Floor) -> Value {
    let groups = scenario["stations"].as_array_mut().expect("it is a list");
    let mut cells = vec![0, 1];
    let mut classes = vec![0, 1];
    for group in groups {
        let count = group["count"].as_u64().expect("it is a number") as usize;
        classes.extend(std::iter::repeat_n(cells.len(), count));
        cells.push(group["cell"].as_u64().unwrap_or(0) as usize);
        if floor.powers_known {
            group["needs"] = json!({ "data_db": floor.need, "control_db": floor.need.min(8) });
        }
    }
    let power = |from: usize, to: usize| {
        let is_link = cells[from] == cells[to] && from.min(to) < 2;
        let power = floor.powers[from * MOST_CLASSES + to];
        match power.map(|power| if floor.powers_known { power } else { -50 }) {
            None if is_link => Some(-55),
            power => power,
        }
    };
    let all = 0..cells.len();
    let row = |from| all.clone().map(|to| power(from, to)).collect::<Vec<_>>();
    scenario["air"] = json!({
        "classes": classes, "received_dbm": all.clone().map(row).collect::<Vec<_>>(),
        "sense_dbm": -82.0, "energy_dbm": floor.energy, "noise_dbm": -94.0, "detect_ns": 4_000,
        "capture_db": floor.capture, "obss_pd_dbm": floor.obss_pd,
        "powers_known": floor.powers_known, "power_dbm": 20.0,
    });
    scenario
}

/// Formats the results of the first groups, flows and stations only.
fn told(outcome: &Outcome, groups: usize, flows: usize) -> String {
    let of_group = |group: &str| {
        let is_its = |name: &str| name.rsplit_once('/').is_some_and(|(known, _)| known == group);
        outcome.stations.iter().filter(|one| is_its(&one.name)).collect::<Vec<_>>()
    };
    let groups = &outcome.groups[..groups];
    let stations: Vec<_> = groups.iter().map(|group| of_group(&group.name)).collect();
    let mut flows = outcome.flows[..flows].to_vec();
    for flow in &mut flows {
        // A fair share depends on all flows.
        flow.starved = false;
    }
    format!("{groups:#?}\n{flows:#?}\n{stations:#?}")
}

/// Checks that a scenario has the same outcome with an observer, and without the shortcut.
fn stays_watched_and_in_steps(
    scenario: &Value,
    seed: u64,
    outcome: &Outcome,
) -> Result<(), TestCaseError> {
    let (mut again, _) = run_recorded(scenario, seed);
    again.transfers = None;
    prop_assert_eq!(&again, outcome);
    let simulation = airtcp_sim::Simulation::from_json(&scenario.to_string()).expect("it is valid");
    let (in_steps, _) = play(&simulation, seed, true).expect("the laws hold");
    prop_assert_eq!(&in_steps, outcome);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: crate::cases(120),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn a_neighbour_that_nobody_hears_changes_no_bit(
        scenario in scenario().prop_map(without_beacons).prop_map(without_feedback),
        seed in any::<u64>(),
    ) {
        let alone = run(&scenario, seed);
        let scenario = beside_another(&scenario, false);
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

        stays_watched_and_in_steps(&scenario, seed, &both)?;
    }

    /// The other cell has stations and sends nothing. The rules are those of cells that share the
    /// medium.
    #[test]
    fn a_silent_neighbour_that_all_hear_changes_no_bit(
        scenario in scenario().prop_map(without_beacons).prop_map(without_feedback),
        seed in any::<u64>(),
    ) {
        let mut scenario = scenario;
        scenario["phy"]["slot_time_ns"] = json!(20_000);
        for (rule, shared) in [
            ("after_collision", "difs"),
            ("colliders", "ack-timeout+difs"),
            ("delivery", "ppdu"),
            ("txop_protection", "single"),
        ] {
            scenario["mac"]["rules"][rule] = json!(shared);
        }
        let alone = run(&scenario, seed);
        let mut beside = beside_another(&scenario, true);
        beside["flows"] = scenario["flows"].clone();
        beside["cells"][0]["name"] = json!("ap");
        let both = run(&beside, seed);

        let (groups, flows) = (alone.groups.len(), alone.flows.len());
        let (alone, beside_it) = (told(&alone, groups, flows), told(&both, groups, flows));
        let differ = alone.lines().zip(beside_it.lines()).find(|(one, other)| one != other);
        prop_assert_eq!(differ, None);
        let [own, other] = &both.cells[..] else { panic!("there are two") };
        prop_assert_eq!(own.airtime.heard, 0.0);
        prop_assert!((own.airtime.own - other.airtime.heard).abs() < 1e-12);
        prop_assert_eq!(own.airtime.idle, other.airtime.idle);
        stays_watched_and_in_steps(&beside, seed, &both)?;
    }

    /// The access point of one cell hears the frames of the other, except while frames of its own
    /// cell are on the air.
    #[test]
    fn where_all_hear_all_the_time_of_one_cell_is_heard_by_the_other(
        scenario in scenario().prop_map(without_beacons),
        seed in any::<u64>(),
    ) {
        let mut scenario = beside_another(&scenario, true);
        scenario["phy"]["slot_time_ns"] = json!(20_000);
        let both = run(&scenario, seed);

        let [one, other] = &both.cells[..] else { panic!("there are two") };
        for (cell, place, its) in [(one, 1, other), (other, 0, one)] {
            let airtime = &cell.airtime;
            prop_assert!((airtime.own + airtime.heard + airtime.idle - 1.0).abs() < 1e-12);
            prop_assert!(airtime.heard <= its.airtime.own + 1e-12);
            let heard = cell.waits_for.iter().find(|(of, _)| *of == place);
            prop_assert!((heard.map_or(0.0, |one| one.1) - its.airtime.own).abs() < 1e-12);
            prop_assert_eq!((cell.failures.hidden, cell.failures.neighbour), (0, 0));
        }
        prop_assert_eq!(one.airtime.idle, other.airtime.idle);
        stays_watched_and_in_steps(&scenario, seed, &both)?;
    }

    #[test]
    fn any_floor_keeps_the_laws_and_says_the_same_when_it_is_watched(
        scenario in scenario().prop_map(without_beacons),
        floor in floor(),
        seed in any::<u64>(),
    ) {
        let scenario = on_floor(beside_another(&scenario, true), &floor);
        let outcome = run(&scenario, seed);

        prop_assert_eq!(outcome.cells.len(), 2);
        for cell in &outcome.cells {
            let sum = cell.airtime.own + cell.airtime.heard + cell.airtime.idle;
            prop_assert!((sum - 1.0).abs() < 1e-12, "{:?}", cell);
        }
        for (name, value) in &outcome.metrics {
            if let Some(value) = value {
                prop_assert!(value.is_finite() && *value >= 0.0, "{name} is {value}");
                prop_assert!(!name.contains("probability") || *value <= 1.0, "{name} is {value}");
            }
        }
        stays_watched_and_in_steps(&scenario, seed, &outcome)?;
    }
}
