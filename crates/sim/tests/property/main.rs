//! Every valid scenario runs to its end and obeys the conservation laws, which each run checks
//! itself. A second run with a trace gives the same results, and the trace agrees with them.
//! `AIRTCP_CASES` sets the number of scenarios.

mod fields;
mod parts;
#[path = "../resolved/mod.rs"]
mod resolved;
mod scenarios;
mod straight;

use airtcp_kernel::Duration;
use airtcp_sim::trace::{EventKind, Trace};
use airtcp_sim::{GroupAirtime, Outcome, Recording, RunControl, Simulation};
use proptest::prelude::*;
use serde_json::Value;

use scenarios::{MILLISECOND, scenario};

fn run(scenario: &Value, seed: u64) -> Outcome {
    let simulation = Simulation::from_json(&scenario.to_string()).expect("the scenario is valid");
    simulation.run(seed, 0, &RunControl::default()).expect("the laws hold")
}

/// Runs the scenario with a sample every 10 ms, a capture, and transfers.
fn run_recorded(scenario: &Value, seed: u64) -> (Outcome, Trace) {
    let simulation = Simulation::from_json(&scenario.to_string()).expect("the scenario is valid");
    let recording = Recording {
        sample_interval: Some(Duration::from_millis(10)),
        samples_only: false,
        capture: Some((Box::new(std::io::sink()), 256)),
        transfers: true,
    };
    let (outcome, trace) =
        simulation.run_recorded(seed, 0, recording, &RunControl::default()).expect("the laws hold");
    (outcome, trace.expect("it was asked for"))
}

fn happened(trace: &Trace, kind: EventKind, from_ns: u64) -> u64 {
    let events = trace.events.entries().iter();
    events.filter(|(at, event)| event.kind == kind && at.as_nanos() >= from_ns).count() as u64
}

/// Checks that the counters by group and direction add up to the totals.
fn assert_parts_add_up(outcome: &Outcome) {
    let close = |sum: f64, whole: f64, what: &str| {
        assert!((sum - whole).abs() <= 1e-9 * whole.max(1.0), "{what}: {sum}, not {whole}");
    };
    let additive = [
        "goodput_bps",
        "active_flows",
        "channel_utilization",
        "tcp_retransmissions",
        "tcp_timeouts",
    ];
    for name in additive {
        let over_groups = outcome.groups.iter().map(|group| group.all[name].unwrap()).sum();
        close(over_groups, outcome.metrics[name].unwrap(), name);
    }
    for group in &outcome.groups {
        for name in additive.into_iter().chain(["airtime_share"]) {
            let directions = [&group.download, &group.upload].into_iter().flatten();
            close(directions.map(|part| part[name].unwrap()).sum(), group.all[name].unwrap(), name);
        }
        let airtime = group.airtime;
        let parts = airtime.data + airtime.tcp_ack + airtime.control;
        close(parts, group.all["airtime_share"].unwrap(), "airtime of a group");
        if group.all["transfer_time_s"].is_some() {
            let p99 = group.all["transfer_time_p99_s"].unwrap();
            assert!(p99 <= outcome.transfer_times_s.iter().copied().fold(0.0, f64::max));
        }
    }
    let of_groups = |part: fn(&GroupAirtime) -> f64| {
        outcome.groups.iter().map(|group| part(&group.airtime)).sum()
    };
    close(of_groups(|airtime| airtime.data), outcome.airtime.data, "airtime of data");
    close(of_groups(|airtime| airtime.tcp_ack), outcome.airtime.tcp_ack, "airtime of TCP ACKs");
}

/// Returns the requested number of cases, or else `otherwise`.
fn cases(otherwise: u32) -> u32 {
    std::env::var("AIRTCP_CASES")
        .map_or(otherwise, |cases| cases.parse().expect("a number of cases"))
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: cases(150),
        // A failure prints its scenario; a file of seeds would only hide it.
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn any_valid_scenario_runs_and_keeps_the_laws(scenario in scenario(), seed in any::<u64>()) {
        let outcome = run(&scenario, seed);

        let airtime = outcome.airtime;
        let sum = airtime.idle + airtime.data + airtime.tcp_ack + airtime.control
            + airtime.collision;
        prop_assert!((sum - 1.0).abs() < 1e-12, "airtime adds up to {sum}");
        let distribution: f64 = outcome.active_flows_distribution.iter().sum();
        prop_assert!((distribution - 1.0).abs() < 1e-9, "{distribution}");
        for (name, value) in &outcome.metrics {
            if let Some(value) = value {
                prop_assert!(value.is_finite() && *value >= 0.0, "{name} is {value}");
                prop_assert!(!name.contains("probability") || *value <= 1.0, "{name} is {value}");
            }
        }
        assert_parts_add_up(&outcome);
        // The first received frame may have begun before the measured time: at most 1500 bytes at 1
        // Mb/s, 12 ms. With aggregation it may have waited for a lost frame, together with all
        // others of its window.
        let measured_ms = scenario["run"]["duration_ns"].as_f64().unwrap() / 1e6;
        let payload_ms = outcome.metrics["channel_utilization"].unwrap() * measured_ms;
        if scenario["mac"]["aggregation"].is_null() {
            prop_assert!(payload_ms <= measured_ms + 12.0, "{payload_ms} ms of payload");
        }
        prop_assert!(outcome.counts.mac_exchanges + outcome.counts.collisions
            <= outcome.counts.mac_attempts + 1);
        for station in &outcome.stations {
            prop_assert!(station.successes + station.collisions <= station.attempts);
        }
        prop_assert!(outcome.counts.beacon_collisions <= outcome.counts.beacons);
        prop_assert!(outcome.counts.simultaneous_sends <= outcome.counts.collisions);

        let (mut again, trace) = run_recorded(&scenario, seed);
        let transfers = again.transfers.take().expect("they were asked for");
        prop_assert_eq!(transfers.len(), outcome.transfer_times_s.len());
        prop_assert!(transfers.iter().all(|transfer| transfer.bytes > 0));
        prop_assert_eq!(&again, &outcome);
        let warmup = scenario["run"]["warmup_ns"].as_u64().unwrap();
        let total = warmup + scenario["run"]["duration_ns"].as_u64().unwrap();
        let samples = (total / (10 * MILLISECOND)) as usize;
        prop_assert_eq!(trace.flows.entries().len(), samples * outcome.flows.len());
        let counts = &outcome.counts;
        let drops = counts.ap_queue_drops + counts.station_queue_drops + counts.wired_drops;
        let lost_on_links = happened(&trace, EventKind::LinkLoss, warmup);
        for (kind, count) in [
            (EventKind::Retransmission, counts.tcp_retransmissions),
            (EventKind::Timeout, counts.tcp_timeouts),
            (EventKind::TransferEnd, counts.transfers),
            (EventKind::QueueDrop, drops - lost_on_links),
            (EventKind::MacDrop, counts.mac_drops),
        ] {
            prop_assert_eq!(happened(&trace, kind, warmup), count, "{:?}", kind);
        }
    }
}
