//! FTP transfers with their dialogues, packet by packet.

use serde_json::{Value, json};

use super::*;
use crate::Simulation;
use crate::control::RunControl;
use crate::replication::Replication;
use crate::resolved::resolved;
use crate::scenario::Scenario;

const SECOND: u64 = 1_000_000_000;

/// 802.11b at 11 Mb/s: one station whose transfers begin every `interarrival`.
fn scenario(direction: &str, interarrival: Value, size: u64, duration_s: u64) -> Scenario {
    let mut scenario: Value = serde_json::from_str(&resolved("downloads-10")).expect("it is JSON");
    scenario["stations"][0]["count"] = json!(1);
    let flow = &mut scenario["flows"][0];
    flow["name"] = json!("file");
    flow["direction"] = json!(direction);
    flow["application"] = json!({
        "kind": "ftp", "interarrival": interarrival,
        "size": { "kind": "deterministic", "value": size },
        "control": {
            "pasv_bytes": 6, "reply_227_bytes": 49, "retr_bytes": 34, "reply_150_bytes": 88,
            "reply_226_bytes": 23,
        },
    });
    flow["tcp"]["handshake"] = json!("three-way");
    flow["tcp"]["mss_bytes"] = json!(1460);
    for window in ["receive_window_bytes", "initial_window_bytes"] {
        flow["tcp"][window] = json!(6 * 1460);
    }
    // Longer than the delayed-ACK timer, for which the ACK of 226 waits.
    flow["tcp"]["min_rto_ns"] = json!(SECOND);
    flow["tcp"]["delayed_ack"] =
        json!({ "thresholds": [[0, 2]], "timeout_ns": SECOND / 5, "adaptive": false });
    scenario["run"]["warmup_ns"] = json!(0);
    scenario["run"]["duration_ns"] = json!(duration_s * SECOND);
    Scenario::from_json(&scenario.to_string()).expect("the scenario is valid")
}

/// Returns the world after the first transfer, which begins within the first of 10 s.
fn first_of(scenario: &Scenario) -> World<'_> {
    let mut run = Replication::new(scenario, 1, 0);
    let to = scenario.end();
    run.run_until(to, scenario.measure_from(), to, &RunControl::default()).unwrap();
    run.world
}

/// PASV, 227, SYN, SYN with ACK, ACK, RETR, 150, the file with its FIN, its ACK, FIN, its ACK, 226,
/// and the ACK of 226 after 200 ms. The ACK of 150 is not separate, because 226 comes first.
#[test]
fn a_short_download_takes_thirteen_packets() {
    let every_10_s = json!({ "kind": "deterministic", "value": 10.0 });
    let scenario = scenario("download", every_10_s, 1000, 10);
    let world = first_of(&scenario);

    let books = world.flows[0].books;
    assert_eq!((books.packets.sent, books.packets.received), (13, 13));
    assert_eq!(books.bytes.sent, 6 + 49 + 34 + 88 + 1000 + 23);
    // The control connection is still open, the data connection is not.
    let open: Vec<bool> = world.connections.iter().map(|connection| connection.open).collect();
    assert_eq!(open, [true, false]);
}

/// Received bytes of a file count, and those of the dialogue do not.
#[test]
fn only_the_bytes_of_transfers_are_delivered() {
    for direction in ["download", "upload"] {
        let every_10_s = json!({ "kind": "deterministic", "value": 10.0 });
        let scenario = scenario(direction, every_10_s, 100_000, 20);
        let mut run = Replication::new(&scenario, 1, 0);
        run.start_measuring();
        let to = scenario.end();
        run.run_until(to, scenario.measure_from(), to, &RunControl::default()).unwrap();

        let flow = &run.world.flows[0];
        assert_eq!((flow.measured.transfers, flow.measured.delivered_bytes), (2, 200_000));
        assert!(flow.books.bytes.received > 200_000, "{direction}");
    }
}

/// The same number of packets: STOR instead of RETR, and no other packet carries the ACK of the
/// file after 150.
#[test]
fn an_upload_has_the_same_dialogue() {
    let every_10_s = json!({ "kind": "deterministic", "value": 10.0 });
    let scenario = scenario("upload", every_10_s, 1000, 10);
    let world = first_of(&scenario);

    let books = world.flows[0].books;
    assert_eq!((books.packets.sent, books.bytes.sent), (13, 6 + 49 + 34 + 88 + 1000 + 23));
}

/// 2000 transfers of 20 ms each, one every 300 ms: only two or three at a time are stored.
#[test]
fn transfers_that_have_ended_are_forgotten() {
    let at_random = json!({ "kind": "exponential", "mean": 0.3 });
    let scenario = scenario("download", at_random, 10_000, 600);
    let mut run = Replication::new(&scenario, 1, 0);
    run.start_measuring();
    let to = scenario.end();
    run.run_until(to, scenario.measure_from(), to, &RunControl::default()).unwrap();
    let world = run.world;

    assert!(world.flows[0].measured.transfers > 1800);
    // A session is busy until the ACK of 226, some 220 ms in all, and each keeps a connection.
    assert!(world.connections.len() <= 24, "{} connections", world.connections.len());
}

/// A user begins before the end of the previous transfer: several sessions, each with its transfer.
#[test]
fn transfers_of_a_station_overlap() {
    let at_random = json!({ "kind": "exponential", "mean": 0.1 });
    let scenario = scenario("download", at_random, 20_000, 60);
    let outcome = Simulation { scenario }.run(1, 0, &RunControl::default()).unwrap();

    assert!(outcome.active_flows_distribution.len() > 3);
    // Little's law: transfers in progress are the arrival rate times their duration.
    let mean_time = outcome.metrics["transfer_time_s"].unwrap();
    let active = outcome.metrics["active_flows"].unwrap();
    let rate = outcome.counts.transfers as f64 / 60.0;
    assert!((active / (rate * mean_time) - 1.0).abs() < 0.02, "{active} {rate} {mean_time}");
}

#[test]
fn an_overload_without_end_is_an_error() {
    let at_once = json!({ "kind": "exponential", "mean": 1e-6 });
    let scenario = scenario("download", at_once, 1_000_000, 1);
    let outcome = Simulation { scenario }.run(1, 0, &RunControl::default());

    let text = outcome.unwrap_err().to_string();
    assert!(text.contains("flow file/0") && text.contains("100000"), "{text}");
}
