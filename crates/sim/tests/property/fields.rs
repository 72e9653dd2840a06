//! Outcomes and captures of several cells stay equal to the last bit. The test compares digests of
//! twelve floors with hidden stations, captures of the receiver, RTS/CTS, access categories and
//! A-MPDUs.
//! `make same` compares more, from Python. If a change is intended, replace `fields.txt` by what
//! the test prints.

use std::fmt::Write as _;
use std::io::{self, Write};
use std::sync::{Arc, Mutex};

use airtcp_sim::{Outcome, Recording, RunControl, Simulation};
use serde_json::{Value, json};

use crate::MILLISECOND;
use crate::parts::{beside_another, without_beacons};
use crate::resolved::resolved;

/// The bytes of a capture.
#[derive(Clone, Default)]
struct Bytes(Arc<Mutex<Vec<u8>>>);

impl Write for Bytes {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// FNV-1a.
fn digest(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, &byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// Two cells of four stations for each group of `base`. Access points hear each other and their own
/// stations. Of two stations of a cell one in three does not hear the other; every second station
/// is heard by the other cell.
fn floor(base: &str, powers_known: bool, rts: bool) -> Value {
    let mut scenario: Value = serde_json::from_str(&resolved(base)).expect("it is JSON");
    scenario["run"]["warmup_ns"] = json!(100 * MILLISECOND);
    scenario["run"]["duration_ns"] = json!(150 * MILLISECOND);
    scenario["mac"]["rts_threshold_bytes"] = if rts { json!(500) } else { Value::Null };
    for group in scenario["stations"].as_array_mut().expect("it is a list") {
        group["count"] = json!(4);
        if powers_known {
            group["needs"] = json!({ "data_db": 16.0, "control_db": 6.0 });
        }
    }
    let mut both = beside_another(&without_beacons(scenario), true);
    both["links"] = json!({});
    let mut cells = vec![0, 1];
    for group in both["stations"].as_array().expect("it is a list") {
        cells.extend([group["cell"].as_u64().unwrap_or(0); 4]);
    }
    let nodes = cells.len();
    let power = |from: usize, to: usize| match (from < 2, to < 2, cells[from] == cells[to]) {
        (true, true, _) => Some(-74),
        (true, false, true) | (false, true, true) => Some(-52 - (from + to) as i32),
        (_, _, true) => (!(from + to).is_multiple_of(3)).then_some(-70),
        _ => from.is_multiple_of(2).then_some(-68 - (to % 5) as i32),
    };
    let row = |from| (0..nodes).map(|to| power(from, to)).collect::<Vec<_>>();
    both["air"]["classes"] = json!((0..nodes).collect::<Vec<_>>());
    both["air"]["received_dbm"] = json!((0..nodes).map(row).collect::<Vec<_>>());
    both["air"]["powers_known"] = json!(powers_known);
    both["air"]["capture_db"] = json!(powers_known.then_some(5.0));
    both
}

fn run(scenario: &Value) -> (Outcome, Vec<u8>) {
    let capture = Bytes::default();
    let simulation = Simulation::from_json(&scenario.to_string()).expect("the scenario is valid");
    let recording = Recording {
        sample_interval: None,
        samples_only: false,
        capture: Some((Box::new(capture.clone()), 256)),
        transfers: false,
    };
    let (outcome, _) =
        simulation.run_recorded(1, 0, recording, &RunControl::default()).expect("the laws hold");
    let bytes = std::mem::take(&mut *capture.0.lock().unwrap());
    (outcome, bytes)
}

#[test]
fn several_cells_and_their_captures_are_what_they_were() {
    let mut told = String::new();
    for base in ["downloads-10", "categories-20", "downloads-20-n"] {
        for (powers_known, rts) in [(false, false), (false, true), (true, false), (true, true)] {
            let (outcome, capture) = run(&floor(base, powers_known, rts));
            let lost: u64 = outcome
                .cells
                .iter()
                .map(|cell| cell.failures.hidden + cell.failures.neighbour)
                .sum();
            assert!(lost > 0, "{base}: nothing is hidden");
            let json = serde_json::to_string(&outcome).expect("it is plain data");
            let (outcome, capture) = (digest(json.as_bytes()), digest(&capture));
            writeln!(told, "{base} {powers_known} {rts} {outcome:016x} {capture:016x}").unwrap();
        }
    }
    assert_eq!(told, include_str!("fields.txt"), "{told}");
}
