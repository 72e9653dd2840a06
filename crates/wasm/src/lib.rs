//! The simulator for browsers: one request in, one reply out, both in the memory of the module.
//!
//! A caller asks `input` for a place, writes a request there as JSON, calls `reply`, and reads as
//! many bytes at `output`. The reply to an empty request names the random generator. A reply is a list of blobs: the length of the name and that of the
//! content as little-endian `u32`, the name, and the content.

use std::cell::RefCell;
use std::io::{self, Write};
use std::sync::{Arc, Mutex};

use airtcp_kernel::Duration;
use airtcp_sim::columns::{self, Columns};
use airtcp_sim::trace::EventKind;
use airtcp_sim::{Recording, RunControl, RunError, Simulation, Trace};
use serde::Deserialize;
use serde_json::json;

/// What to do with a resolved scenario.
#[derive(Deserialize)]
struct Request {
    scenario: String,
    /// Without a run, the engines of the cells.
    run: Option<Run>,
}

/// One replication, and its optional records.
#[derive(Deserialize)]
struct Run {
    seed: u64,
    replication: u64,
    sample_interval_ns: Option<u64>,
    samples_only: bool,
    transfers: bool,
    /// The bytes of each frame in a capture; none without it.
    snaplen: Option<u32>,
}

/// A capture in memory.
#[derive(Clone, Default)]
struct Capture(Arc<Mutex<Vec<u8>>>);

impl Write for Capture {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().expect("nobody panics with it").write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

thread_local! {
    static INPUT: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
    static OUTPUT: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

#[cfg(target_arch = "wasm32")]
#[link(wasm_import_module = "airtcp")]
unsafe extern "C" {
    /// Receives the simulated share of a run; 0 ends the run.
    safe fn watch(share: f64) -> i32;
}

/// Where nobody watches, a run goes on.
#[cfg(not(target_arch = "wasm32"))]
fn watch(_: f64) -> i32 {
    1
}

/// Returns the place for a request of `length` bytes.
#[unsafe(no_mangle)]
pub extern "C" fn input(length: usize) -> *mut u8 {
    INPUT.with_borrow_mut(|input| {
        input.clear();
        input.resize(length, 0);
        input.as_mut_ptr()
    })
}

/// Answers the request, and returns the length of the reply.
#[unsafe(no_mangle)]
pub extern "C" fn reply() -> usize {
    let request = INPUT.take();
    let blobs = answered(&request).unwrap_or_else(|(kind, text)| vec![(kind, text.into_bytes())]);
    let mut output = Vec::new();
    for (name, content) in blobs {
        for length in [name.len(), content.len()] {
            let length = u32::try_from(length).expect("the module's memory has 32-bit addresses");
            output.extend(length.to_le_bytes());
        }
        output.extend(name.as_bytes());
        output.extend(content);
    }
    let length = output.len();
    OUTPUT.set(output);
    length
}

/// Returns the place of the last reply.
#[unsafe(no_mangle)]
pub extern "C" fn output() -> *const u8 {
    OUTPUT.with_borrow(|output| output.as_ptr())
}

/// Named blobs of a reply.
type Blobs = Vec<(String, Vec<u8>)>;

/// Returns the blobs of an answer, or the kind of an error and its text.
fn answered(request: &[u8]) -> Result<Blobs, (String, String)> {
    if request.is_empty() {
        return Ok(vec![("generator".to_owned(), airtcp_sim::GENERATOR.into())]);
    }
    let invalid = |text: String| ("invalid".to_owned(), text);
    let request: Request =
        serde_json::from_slice(request).map_err(|error| invalid(error.to_string()))?;
    let simulation =
        Simulation::from_json(&request.scenario).map_err(|error| invalid(error.to_string()))?;
    let Some(run) = request.run else {
        let engines = simulation.engines();
        let engines: Vec<_> = engines.iter().map(|one| [one.name(), one.reason()]).collect();
        return Ok(vec![("engines".to_owned(), json!(engines).to_string().into_bytes())]);
    };
    let file = Capture::default();
    let recording = Recording {
        sample_interval: run.sample_interval_ns.map(Duration::from_nanos),
        samples_only: run.samples_only,
        transfers: run.transfers,
        capture: run.snaplen.map(|snaplen| (Box::new(file.clone()) as _, snaplen)),
    };
    let control = RunControl::asking(|share| watch(share) != 0);
    let (outcome, trace) = simulation
        .run_recorded(run.seed, run.replication, recording, &control)
        .map_err(|error| {
            let kind = if error == RunError::Cancelled { "cancelled" } else { "failed" };
            (kind.to_owned(), error.to_string())
        })?;
    let text = serde_json::to_vec(&outcome).expect("an outcome is plain data");
    let mut blobs = vec![
        ("outcome".to_owned(), text),
        ("transfer_times_s".to_owned(), columns::transfer_times(&outcome)),
    ];
    if run.snaplen.is_some() {
        let bytes = std::mem::take(&mut *file.0.lock().expect("nobody panics with it"));
        blobs.push(("capture".to_owned(), bytes));
    }
    add(&mut blobs, "accounts", columns::books(&outcome.books));
    if let Some(rows) = &outcome.transfers {
        add(&mut blobs, "transfers", columns::transfers(rows));
    }
    if let Some(trace) = &trace {
        blobs.push(("trace".to_owned(), names(trace)));
        for (table, columns) in columns::tables(trace) {
            add(&mut blobs, table, columns);
        }
    }
    Ok(blobs)
}

/// Returns what a trace has beside its tables, as JSON.
fn names(trace: &Trace) -> Vec<u8> {
    let names = json!({
        "interval_ns": trace.interval.as_nanos(),
        "flow_names": trace.flow_names,
        "queue_names": trace.queue_names,
        "event_names": EventKind::ALL.map(EventKind::name),
        "node_names": trace.node_names,
    });
    names.to_string().into_bytes()
}

/// Adds the columns of a table under names such as `accounts.sums`.
fn add(blobs: &mut Blobs, table: &str, columns: Columns) {
    blobs.extend(columns.into_iter().map(|(name, bytes)| (format!("{table}.{name}"), bytes)));
}
