//! Replays the segments of a simulation's own endpoints from outside: the medium must look the
//! same.

use std::sync::{Arc, Mutex};

use airtcp_tcp::Flags;
use serde_json::{Value, json};

use super::*;
use crate::outcome::{Books, Metrics};
use crate::resolved::resolved;
use crate::scenario::Scenario;
use crate::world::log::{ArrivedPacket, Log, SentPacket};

/// Ten endless downloads in 802.11b; 20 stations of several access categories; 20 downloads with
/// A-MPDUs.
const DOWNLOADS: &str = "downloads-10";
const CATEGORIES: &str = "categories-20";
const AGGREGATES: &str = "downloads-20-n";

const MILLISECOND: u64 = 1_000_000;

fn scenario(base: &str, change: impl FnOnce(&mut Value)) -> Scenario {
    let mut value: Value = serde_json::from_str(&resolved(base)).expect("it is JSON");
    value["run"]["warmup_ns"] = json!(200 * MILLISECOND);
    value["run"]["duration_ns"] = json!(1500 * MILLISECOND);
    change(&mut value);
    Scenario::from_json(&value.to_string()).expect("the scenario is valid")
}

fn simulated(scenario: &Scenario) -> (Outcome, Log) {
    simulated_with(scenario, &Frames::default())
}

/// The start times of frames on the air, with interface numbers and the first bytes.
type Frames = Arc<Mutex<Vec<(u32, Time, Vec<u8>)>>>;

/// Radiotap and MAC headers only. The TCP options after them differ: a simulated packet has the
/// usual ones, which the replay does not include.
const HEADERS: u32 = 40;

fn taker(frames: &Frames) -> TakesFrames {
    let frames = Arc::clone(frames);
    Box::new(move |node, at, kept, _| frames.lock().unwrap().push((node, at, kept.to_vec())))
}

fn simulated_with(scenario: &Scenario, frames: &Frames) -> (Outcome, Log) {
    let mut run = Replication::new(scenario, 7, 3);
    run.capture(Out::Taker(taker(frames)), HEADERS);
    let (from, to) = (scenario.measure_from(), scenario.end());
    run.run_until(from, from, to, &RunControl::default()).unwrap();
    run.start_measuring();
    run.run_until(to, from, to, &RunControl::default()).unwrap();
    let log = std::mem::take(&mut run.world.log);
    run.finish_capture().unwrap();
    (run.world.conclude(&mut run.medium).unwrap(), log)
}

/// Returns the segment as read from a packet: options exist only if the packet has them.
fn as_read(segment: &Segment) -> Segment {
    let mut flags = Flags::from_bits(segment.flags.bits());
    if segment.flags.contains(Flags::ECT) {
        flags = flags | Flags::ECT;
    }
    let read = Segment { flags, ..*segment };
    if segment.option_bytes() > 0 { read.with_unknown_options() } else { read }
}

/// Returns `one` as an arrival on this connection.
fn arrival(one: &SentPacket, connection: Option<u32>) -> Arrival {
    Arrival {
        flow: one.flow,
        side: one.side,
        connection,
        segment: as_read(&one.segment),
        sacked: one.sacked.clone(),
        bits: one.bits,
    }
}

/// Creates a datagram from the server of the first flow.
fn datagram(segment: Segment, bits: u64) -> Arrival {
    Arrival { flow: 0, side: Side::Server, connection: None, segment, sacked: Vec::new(), bits }
}

/// A segment, and the size of its packet in bytes.
type Sized = (Segment, Vec<u8>);

fn played(
    scenario: &Scenario,
    sent: &[SentPacket],
    frames: &Frames,
) -> (Outcome, Vec<ArrivedPacket>) {
    let mut live: Live<'_, Sized> = Live::new(scenario, 7, 3, |_| true);
    live.capture(AirCapture {
        frames: taker(frames),
        snaplen: HEADERS,
        bytes: |(_, bytes)| bytes,
        mark: |_| (),
    });
    let mut arrived = Vec::new();
    let mut deliver = |one: HandedOver<Sized>| {
        let Segment { seq, ack, len, .. } = one.payload.0;
        arrived.push(ArrivedPacket { at: one.at, side: one.side, flow: one.flow, seq, ack, len });
    };
    let mut connections = std::collections::BTreeMap::new();
    for one in sent {
        if one.is_reaction {
            live.advance(one.at, &mut deliver).unwrap();
        } else {
            live.advance_to(one.at, &mut deliver).unwrap();
        }
        let connection = one.connection.map(|id| {
            *connections.entry(id).or_insert_with(|| live.open(one.flow, Purpose::Stream))
        });
        let payload = (one.segment, vec![0; one.bits as usize / 8]);
        live.packet_in(one.at, arrival(one, connection), payload);
    }
    live.advance(live.end(), &mut deliver).unwrap();
    (live.conclude().unwrap(), arrived)
}

/// Removes what is invisible from outside: timeouts, and the number of events.
fn seen(mut outcome: Outcome) -> Outcome {
    let forget = |metrics: &mut Metrics| metrics.remove("tcp_timeouts");
    forget(&mut outcome.metrics);
    for group in &mut outcome.groups {
        forget(&mut group.all);
        let directions = [&mut group.download, &mut group.upload];
        directions.into_iter().flatten().for_each(|one| {
            forget(one);
        });
    }
    outcome.counts.events = 0;
    // Only simulations keep estimator sums and first-half metrics.
    outcome.books = Books::default();
    outcome.halfway = None;
    outcome.counts.tcp_timeouts = 0;
    outcome.flows.iter_mut().for_each(|flow| flow.timeouts = 0);
    outcome
}

fn assert_same_air(scenario: &Scenario) {
    let [frames, frames_again] = [Frames::default(), Frames::default()];
    let (outcome, log) = simulated_with(scenario, &frames);
    let (again, arrived) = played(scenario, &log.sent, &frames_again);

    assert!(log.arrived.len() > 500, "{} packets", log.arrived.len());
    let first = log.arrived.iter().zip(&arrived).find(|(one, other)| one != other);
    assert_eq!(first, None, "the first packet that comes elsewhere or at another time");
    assert_eq!(log.arrived.len(), arrived.len());
    let [frames, frames_again] = [frames, frames_again].map(|one| one.lock().unwrap().clone());
    assert!(frames.len() > log.arrived.len());
    let first = frames.iter().zip(&frames_again).find(|(one, other)| one != other);
    assert_eq!(first, None, "the first frame that is another");
    assert_eq!(frames.len(), frames_again.len());
    let (again, outcome) = (seen(again), seen(outcome));
    assert_eq!(again.flows, outcome.flows);
    assert_eq!(again.stations, outcome.stations);
    assert_eq!(again, outcome);
}

#[test]
fn downloads_meet_the_same_air() {
    assert_same_air(&scenario(DOWNLOADS, |_| ()));
}

/// Queues overflow, packets wait before links, and are retransmitted.
#[test]
fn losses_and_wires_are_the_same() {
    let scenario = scenario(DOWNLOADS, |value| {
        value["ap"]["queue"]["limit"] = json!(20);
        value["flows"][0]["path"] = json!([{
            "rate_bps": 10_000_000, "delay_ns": 5 * MILLISECOND,
            "queue": { "discipline": "fifo", "limit": 30, "mac_limit": null, "ack_filter": null },
            "loss": { "rate": 0.001, "acks": false },
        }]);
        value["flows"][0]["tcp"]["receive_window_bytes"] = json!(64_000);
        value["flows"][0]["tcp"]["variant"] = json!("sack");
    });
    let (outcome, _) = simulated(&scenario);
    assert!(outcome.metrics["path_rtt_s"] < outcome.metrics["rtt_s"]);

    assert!(outcome.counts.tcp_retransmissions > 0);
    assert!(outcome.counts.ap_queue_drops + outcome.counts.wired_drops > 0);
    assert_same_air(&scenario);
}

/// The call rating depends on received and lost datagrams; a full queue loses some.
#[test]
fn calls_are_rated_the_same() {
    let scenario = scenario(DOWNLOADS, |value| {
        value["ap"]["queue"]["limit"] = json!(12);
        let group = value["stations"][0]["name"].clone();
        value["flows"].as_array_mut().unwrap().push(json!({
            "name": "speech", "stations": group, "direction": "download", "path": [],
            "start_spread_ns": 0, "tcp": null,
            "application": {
                "kind": "udp", "packet_bytes": 200, "rate_bps": 80_000,
                "voice": { "delay_s": 0.02, "impairment": 0.0, "robustness": 25.1 },
            },
        }));
    });
    let (outcome, _) = simulated(&scenario);

    let rating = outcome.metrics["r_factor"].expect("there is a call");
    assert!(rating > 0.0 && rating < 93.0, "{rating}");
    assert!(outcome.metrics["packet_loss"] > Some(0.0));
    assert_same_air(&scenario);
}

/// ACKs and data are classified by the contents of packets.
#[test]
fn access_categories_are_the_same() {
    assert_same_air(&scenario(CATEGORIES, |_| ()));
}

#[test]
fn aggregates_are_the_same() {
    assert_same_air(&scenario(AGGREGATES, |_| ()));
}

/// Turns a scenario of one group into one of two cells that hear each other; the second has no
/// stations. Half of the first cell's stations do not hear the other half.
fn over_a_field(value: &mut Value) {
    let count = value["stations"][0]["count"].as_u64().expect("it is a number");
    let ap = value["ap"].clone();
    let cell = |name: &str| json!({ "name": name, "channel": null, "ap": ap });
    value["cells"] = json!([cell("left"), cell("right")]);
    value["stations"][0]["cell"] = json!(0);
    let stations = (0..count).map(|place| 2 + u64::from(2 * place >= count));
    let classes: Vec<u64> = [0, 1].into_iter().chain(stations).collect();
    value["air"] = json!({
        "classes": classes,
        "received_dbm": [
            [-50.0, -70.0, -50.0, -50.0],
            [-70.0, -50.0, null, null],
            [-50.0, null, -50.0, null],
            [-50.0, null, null, -50.0],
        ],
        "sense_dbm": -82.0, "energy_dbm": -62.0, "noise_dbm": -94.0, "detect_ns": 4000,
        "capture_db": null, "obss_pd_dbm": null, "powers_known": false, "power_dbm": 20.0,
    });
}

/// Frames of each node; several nodes receive the same frames.
#[test]
fn each_node_of_a_field_hears_the_same() {
    for base in [DOWNLOADS, AGGREGATES] {
        let scenario = scenario(base, over_a_field);
        assert_same_air(&scenario);

        let frames = Frames::default();
        let (outcome, _) = simulated_with(&scenario, &frames);
        let frames = frames.lock().unwrap();
        let nodes: std::collections::BTreeSet<u32> = frames.iter().map(|one| one.0).collect();
        assert_eq!(nodes.len(), outcome.stations.len(), "interfaces: {nodes:?}");
        assert!(outcome.cells[0].failures.hidden > 0);
    }
}

/// Uploads with packets from outside, together with simulated downloads.
#[test]
fn some_flows_can_be_simulated_beside() {
    let scenario = scenario(DOWNLOADS, |value| {
        let mut upload = value["flows"][0].clone();
        upload["name"] = json!("upload");
        upload["direction"] = json!("upload");
        value["flows"].as_array_mut().unwrap().push(upload);
    });
    let (outcome, log) = simulated(&scenario);
    let mut live: Live<'_, ()> = Live::new(&scenario, 7, 3, |flow| flow.entry == 1);
    let is_foreign = |flow: u32| live.flows()[flow as usize].entry == 1;
    let sent: Vec<SentPacket> =
        log.sent.iter().filter(|one| is_foreign(one.flow)).cloned().collect();
    let mut connections = std::collections::BTreeMap::new();
    for one in &sent {
        if one.is_reaction {
            live.advance(one.at, |_| ()).unwrap();
        } else {
            live.advance_to(one.at, |_| ()).unwrap();
        }
        let open = || live.open(one.flow, Purpose::Stream);
        let id = *connections.entry(one.connection).or_insert_with(open);
        live.packet_in(one.at, arrival(one, Some(id)), ());
    }
    live.advance(live.end(), |_| ()).unwrap();
    let again = live.conclude().unwrap();

    let goodput = |outcome: &Outcome| outcome.flows.iter().map(|flow| flow.goodput_bps).collect();
    let (one, other): (Vec<f64>, Vec<f64>) = (goodput(&outcome), goodput(&again));
    assert!(one.iter().all(|&rate| rate > 0.0));
    assert_eq!(one, other);
    assert_eq!(outcome.stations, again.stations);
}

/// A packet that arrives on a long idle medium is sent at once, and takes the duration of its
/// frame.
#[test]
fn a_single_packet_takes_its_frame() {
    let scenario = scenario(DOWNLOADS, |value| {
        value["stations"][0]["count"] = json!(1);
        value["mac"]["rts_threshold_bytes"] = json!(null);
        value["mac"]["rules"]["immediate_access"] = json!(true);
    });
    let mut live: Live<'_, &str> = Live::new(&scenario, 1, 0, |_| true);
    let at = Time::ZERO + Duration::from_millis(3);
    let segment = Segment { seq: 0, ack: 0, len: 1472, flags: Flags::NONE };
    let arrival = datagram(segment, 1500 * 8);
    live.advance(at, |_| panic!("nothing has come in")).unwrap();
    live.packet_in(at, arrival, "a datagram");
    let mut came = Vec::new();
    while let due = live.next_deadline()
        && came.is_empty()
    {
        live.advance(due, |one| came.push(one)).unwrap();
    }

    let overhead_bits = scenario.phy.mac_header_bits + scenario.phy.llc_bits;
    let rate_bps = scenario.stations[0].data_rate.bps;
    let frame = scenario.airtime(12_000 + overhead_bits, rate_bps).unwrap();
    let expected = at + frame + scenario.phy.propagation_delay;
    let [one] = came.as_slice() else { panic!("{came:?}") };
    assert_eq!((one.payload, one.side, one.at), ("a datagram", Side::Station, expected));
}

/// After the radiotap header, a MAC header of 24 octets and LLC, the frame has the unchanged
/// packet, and then the FCS.
#[test]
fn a_frame_has_the_packet_that_came_in() {
    let scenario = scenario(DOWNLOADS, |value| {
        value["mac"]["rts_threshold_bytes"] = json!(null);
    });
    let mut live: Live<'_, Vec<u8>> = Live::new(&scenario, 1, 0, |_| true);
    let frames = Frames::default();
    live.capture(AirCapture {
        frames: taker(&frames),
        snaplen: 2000,
        bytes: Vec::as_slice,
        mark: |_| (),
    });
    let packet: Vec<u8> = (0..100).collect();
    let segment = Segment { seq: 0, ack: 0, len: 72, flags: Flags::NONE };
    let arrival = datagram(segment, 800);
    live.packet_in(Time::ZERO, arrival, packet.clone());
    live.advance(Time::ZERO + Duration::from_millis(50), |_| ()).unwrap();

    let frames = frames.lock().unwrap();
    let [(0, _, data), (0, _, ack)] = frames.as_slice() else { panic!("{frames:?}") };
    let headers = usize::from(data[2]) + 24 + 8;
    assert_eq!(data[headers..headers + 100], packet);
    assert_eq!(data.len(), headers + 100 + 4);
    assert_eq!(ack.len(), usize::from(ack[2]) + 14);
}

/// Transfers reported by the caller: one begins and ends in the measured time, and one is still in
/// progress. Their connections alone do not count as transfers.
#[test]
fn transfers_that_are_told_count_as_those_that_are_seen() {
    let scenario = scenario(DOWNLOADS, |_| ());
    let mut live: Live<'_, ()> = Live::new(&scenario, 1, 0, |_| true);
    let at = |millis| Time::ZERO + Duration::from_millis(millis);
    live.open(0, Purpose::Part);
    for (millis, flow) in [(500, 0), (1200, 1)] {
        live.advance(at(millis), |_| ()).unwrap();
        live.begin_transfer(flow);
    }
    live.advance(at(1400), |_| ()).unwrap();
    live.end_transfer(0, Duration::from_millis(900));
    live.advance(live.end(), |_| ()).unwrap();
    let outcome = live.conclude().unwrap();

    assert_eq!(outcome.transfer_times_s, [0.9]);
    assert_eq!((outcome.flows[0].transfers, outcome.flows[1].transfers), (1, 0));
    // 0.9 s of one transfer and 0.5 s of the other, of 1.5 s.
    let active = outcome.metrics["active_flows"].unwrap();
    assert!((active - 1.4 / 1.5).abs() < 1e-12, "{active}");
}
