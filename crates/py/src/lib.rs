//! The compiled module `airtcp._core`: conversions between Python and the simulators, without
//! logic.

mod flow;
mod plugin;
#[cfg(target_os = "linux")]
mod testbed;
mod trace;

use airtcp_kernel::Duration;
use airtcp_sim::{InvalidScenario, Outcome, Recording, RunControl, RunError, Simulation, columns};
use pyo3::create_exception;
use pyo3::exceptions::{PyException, PyOSError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use std::fs::File;
use std::io::BufWriter;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::{Duration as StdDuration, Instant};

create_exception!(
    _core,
    SimulationFailed,
    PyRuntimeError,
    "The run has no outcome: a mistake, or overload."
);
create_exception!(_core, Cancelled, PyException, "The run was cancelled.");

fn invalid(error: InvalidScenario) -> PyErr {
    PyValueError::new_err(error.to_string())
}

fn failed(error: RunError) -> PyErr {
    match error {
        RunError::Cancelled => Cancelled::new_err(error.to_string()),
        RunError::CaptureFailed(_) => PyOSError::new_err(error.to_string()),
        RunError::LawViolated(_) | RunError::Overloaded(_) => {
            SimulationFailed::new_err(error.to_string())
        }
    }
}

/// Monitors and stops a run, from another thread or, with `watch`, from the same thread.
#[pyclass(name = "RunControl", frozen)]
struct PyRunControl {
    control: Arc<RunControl>,
    /// The exception that `watch` raised.
    raised: Arc<Mutex<Option<PyErr>>>,
}

/// The time between two calls of `watch`.
const WATCHED_EVERY: StdDuration = StdDuration::from_millis(100);

#[pymethods]
impl PyRunControl {
    /// Creates a control. A few times a second the run's thread handles pending signals, if it is
    /// Python's main thread, and calls `watch`. An exception from either ends the run and is raised
    /// from it.
    #[new]
    #[pyo3(signature = (watch=None))]
    fn new(watch: Option<Py<PyAny>>) -> Self {
        let raised = Arc::default();
        let control = match watch {
            None => RunControl::default(),
            Some(watch) => RunControl::asking(watching(watch, Arc::clone(&raised))),
        };
        Self { control: Arc::new(control), raised }
    }

    /// Asks the run to stop soon.
    fn cancel(&self) {
        self.control.cancel();
    }

    /// Returns the simulated fraction of the run, from 0 to 1.
    #[getter]
    fn progress(&self) -> f64 {
        self.control.progress()
    }
}

impl PyRunControl {
    /// Executes a run of this control in this thread.
    fn watched<T>(&self, run: impl FnOnce() -> T) -> T {
        let control = Arc::clone(&self.control);
        plugin::watched(move || control.cancel(), &self.raised, run)
    }

    /// Returns the exception for a run of this control that has no outcome.
    fn failed(&self, error: RunError) -> PyErr {
        let raised = self.raised.lock().expect("nobody panics with it").take();
        raised.unwrap_or_else(|| failed(error))
    }
}

/// Returns a closure that calls `watch` and returns whether the run may continue.
fn watching(
    watch: Py<PyAny>,
    raised: Arc<Mutex<Option<PyErr>>>,
) -> impl Fn(f64) -> bool + Send + Sync + 'static {
    let last = Mutex::new(Instant::now());
    move |_| {
        let mut last = last.lock().expect("nobody panics with it");
        if last.elapsed() < WATCHED_EVERY {
            return true;
        }
        *last = Instant::now();
        let answer = Python::attach(|py| {
            py.check_signals()?;
            watch.call0(py).map(drop)
        });
        let Err(error) = answer else { return true };
        *raised.lock().expect("nobody panics with it") = Some(error);
        false
    }
}

/// Outcome, transfer times and accounts of a run.
type Run<'py> = (String, Bound<'py, PyBytes>, Bound<'py, PyDict>);

/// The same, with trace and transfers.
type Recorded<'py> = (
    String,
    Bound<'py, PyBytes>,
    Bound<'py, PyDict>,
    Option<Bound<'py, PyDict>>,
    Option<Bound<'py, PyDict>>,
);

/// A scenario that can be simulated any number of times and from several threads at once.
#[pyclass(name = "Simulation", frozen)]
struct PySimulation(Simulation);

#[pymethods]
impl PySimulation {
    /// Parses a resolved scenario; raises ValueError if it is invalid.
    #[new]
    fn new(py: Python<'_>, resolved_json: &str) -> PyResult<Self> {
        py.detach(|| Simulation::from_json(resolved_json)).map(Self).map_err(invalid)
    }

    /// Returns the simulation engine of each cell and why it was chosen, in the order of cells.
    fn engines(&self, py: Python<'_>) -> Vec<(&'static str, &'static str)> {
        let engines = py.detach(|| self.0.engines());
        engines.into_iter().map(|engine| (engine.name(), engine.reason())).collect()
    }

    /// Simulates one replication. Returns the outcome as JSON, the transfer times in seconds as
    /// bytes of little-endian float64 numbers, and the accounts as columns of such bytes.
    fn run<'py>(
        &self,
        py: Python<'py>,
        seed: u64,
        replication: u64,
        control: &PyRunControl,
    ) -> PyResult<Run<'py>> {
        let shared = Arc::clone(&control.control);
        let (json, times, books) = py
            .detach(|| {
                let outcome = control.watched(|| self.0.run(seed, replication, &shared))?;
                let (json, times) = written(&outcome);
                Ok((json, times, outcome.books))
            })
            .map_err(|error| control.failed(error))?;
        Ok((json, PyBytes::new(py, &times), trace::dictionary(py, &columns::books(&books))?))
    }

    /// Simulates one replication. Returns the metrics in `names`, over everything and in this
    /// order, as bytes of little-endian float64 numbers; NaN if a metric does not exist.
    fn run_metrics<'py>(
        &self,
        py: Python<'py>,
        seed: u64,
        replication: u64,
        control: &PyRunControl,
        names: Vec<String>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let shared = Arc::clone(&control.control);
        let row = py
            .detach(|| {
                let end = control.watched(|| self.0.run(seed, replication, &shared))?;
                Ok(columns::metrics(&end, &names))
            })
            .map_err(|error| control.failed(error))?;
        Ok(PyBytes::new(py, &row))
    }

    /// Like `run`, with optional records: a trace if there is a sample interval (not zero), a
    /// capture of the first `snaplen` bytes of each frame if there is a file for it, and the
    /// transfers if requested. With `samples_only` the trace has no events and no PPDUs.
    #[pyo3(signature = (
        seed, replication, control, *, sample_interval_ns, pcap, snaplen, transfers, samples_only
    ))]
    #[expect(clippy::too_many_arguments, reason = "Python gives them by name")]
    fn run_recorded<'py>(
        &self,
        py: Python<'py>,
        seed: u64,
        replication: u64,
        control: &PyRunControl,
        sample_interval_ns: Option<u64>,
        pcap: Option<PathBuf>,
        snaplen: u32,
        transfers: bool,
        samples_only: bool,
    ) -> PyResult<Recorded<'py>> {
        if sample_interval_ns == Some(0) {
            return Err(PyValueError::new_err("sample_interval_ns must not be zero"));
        }
        let mut recording = Recording {
            sample_interval: sample_interval_ns.map(Duration::from_nanos),
            transfers,
            samples_only,
            ..Recording::default()
        };
        if let Some(path) = pcap {
            recording.capture = Some((Box::new(BufWriter::new(File::create(path)?)), snaplen));
        }
        let shared = Arc::clone(&control.control);
        let ((json, times), books, transfers, trace) = py
            .detach(|| {
                let (outcome, trace) = control
                    .watched(|| self.0.run_recorded(seed, replication, recording, &shared))?;
                Ok((written(&outcome), outcome.books, outcome.transfers, trace))
            })
            .map_err(|error| control.failed(error))?;
        let trace = trace.map(|trace| trace::to_python(py, &trace)).transpose()?;
        let transfers = transfers.map(|rows| trace::dictionary(py, &columns::transfers(&rows)));
        let transfers = transfers.transpose()?;
        let books = trace::dictionary(py, &columns::books(&books))?;
        Ok((json, PyBytes::new(py, &times), books, trace, transfers))
    }
}

/// Returns an outcome as JSON, and its transfer times as bytes.
fn written(outcome: &Outcome) -> (String, Vec<u8>) {
    let json = serde_json::to_string(outcome).expect("an outcome is plain data");
    (json, columns::transfer_times(outcome))
}

/// Returns the airtime in nanoseconds of a frame of `bits` bits (including MAC header and FCS) at
/// `rate_bps`, which must be one of the scenario's data or control rates.
#[pyfunction]
fn airtime_ns(resolved_json: &str, bits: u64, rate_bps: u64) -> PyResult<u64> {
    let simulation = Simulation::from_json(resolved_json).map_err(invalid)?;
    let airtime = simulation.scenario().airtime(bits, rate_bps);
    airtime
        .map(|airtime| airtime.as_nanos())
        .ok_or_else(|| PyValueError::new_err(format!("rate_bps: the scenario has no {rate_bps}")))
}

#[pymodule]
fn _core(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<PySimulation>()?;
    module.add_class::<PyRunControl>()?;
    module.add_function(wrap_pyfunction!(airtime_ns, module)?)?;
    flow::register(module)?;
    plugin::register(module)?;
    #[cfg(target_os = "linux")]
    testbed::register(module)?;
    module.add("SimulationFailed", module.py().get_type::<SimulationFailed>())?;
    module.add("Cancelled", module.py().get_type::<Cancelled>())?;
    module.add("GENERATOR", airtcp_sim::GENERATOR)?;
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    Ok(())
}
