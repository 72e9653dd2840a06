//! Conversions between Python and `airtcp-testbed`, without logic.

use std::fs::File;
use std::io::BufWriter;
use std::net::Ipv4Addr;
use std::os::fd::{BorrowedFd, RawFd};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use airtcp_kernel::{Distribution, Duration, RandomStream, Sampler};
use airtcp_sim::live::Purpose;
use airtcp_sim::scenario::ApplicationConfig;
use airtcp_sim::{RunError, Simulation};
use airtcp_testbed::{Board, Capture, Dialogues, Driver, Node, Progress, Site, UseOf, run};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use crate::{PySimulation, failed, plugin, written};

/// Monitors and stops a testbed from another thread.
#[pyclass(name = "TestbedControl", frozen)]
struct PyTestbedControl(Arc<Board>);

#[pymethods]
impl PyTestbedControl {
    #[new]
    fn new() -> Self {
        Self(Arc::default())
    }

    /// Asks the run to stop soon.
    fn stop(&self) {
        self.0.stop();
    }

    /// Returns counts and the lateness of packets so far, including the share of packets more than
    /// `bound_us` microseconds late.
    fn progress<'py>(&self, py: Python<'py>, bound_us: u64) -> PyResult<Bound<'py, PyDict>> {
        let Progress { elapsed, counts, lag, strays, refused } = self.0.progress();
        let seconds = |quantile: Option<Duration>| quantile.map(Duration::as_secs_f64);
        let told = PyDict::new(py);
        told.set_item("elapsed_s", elapsed.as_secs_f64())?;
        told.set_item("payload_bytes", counts.payload_bytes)?;
        told.set_item("ap_queue_packets", counts.ap_queue_packets)?;
        let mpdus = (counts.ap_ppdus > 0).then(|| counts.ap_mpdus as f64 / counts.ap_ppdus as f64);
        told.set_item("ap_mpdus_per_ppdu", mpdus)?;
        told.set_item("successes", counts.successes)?;
        told.set_item("collisions", counts.collisions)?;
        told.set_item("losses", counts.losses)?;
        told.set_item("packets", lag.packets())?;
        told.set_item("lag_p50_s", seconds(lag.quantile(0.5)))?;
        told.set_item("lag_p99_s", seconds(lag.quantile(0.99)))?;
        told.set_item("lag_max_s", lag.largest().as_secs_f64())?;
        told.set_item("lag_share_above", lag.share_above(Duration::from_micros(bound_us)))?;
        told.set_item("strays", strays)?;
        told.set_item("refused", refused)?;
        Ok(told)
    }
}

/// A capture file with one interface per name, for the packets of the nodes and for the frames on
/// the air. A thread with the creator's priority writes it.
#[pyclass(name = "TestbedCapture", frozen)]
struct PyTestbedCapture(Mutex<Option<Capture>>);

#[pymethods]
impl PyTestbedCapture {
    #[new]
    fn new(path: PathBuf, nodes: Vec<String>, air: Vec<String>, snaplen: u32) -> PyResult<Self> {
        let file = BufWriter::new(File::create(path)?);
        Ok(Self(Mutex::new(Some(Capture::new(file, &nodes, &air, snaplen)?))))
    }

    /// Waits until everything is written. Raises OSError if a write failed.
    fn finish(&self, py: Python<'_>) -> PyResult<()> {
        let capture = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        py.detach(|| capture.map_or(Ok(()), Capture::finish))?;
        Ok(())
    }
}

fn address(text: &str) -> PyResult<Ipv4Addr> {
    text.parse().map_err(|_| PyValueError::new_err(format!("no IPv4 address: {text}")))
}

fn purpose(text: &str) -> PyResult<Purpose> {
    match text {
        "stream" => Ok(Purpose::Stream),
        "transfer" => Ok(Purpose::Transfer),
        "part" | "pages" => Ok(Purpose::Part),
        "dialogue" => Ok(Purpose::Dialogue),
        other => Err(PyValueError::new_err(format!("no purpose: {other}"))),
    }
}

/// Duplicates the descriptor of a device; the caller keeps its own.
fn device(fd: RawFd) -> PyResult<File> {
    if fd < 0 {
        return Err(PyValueError::new_err("not a file descriptor"));
    }
    // SAFETY: the descriptor is not negative and is borrowed only for this call, which fails if it
    // is not open.
    let borrowed = unsafe { BorrowedFd::borrow_raw(fd) };
    Ok(File::from(borrowed.try_clone_to_owned()?))
}

/// A server's address, the purpose of its connections, and the FTP control port. Port 0: the first
/// connection to each port is a dialogue.
type Server = (String, String, Option<u16>);

/// Runs the medium in real time.
///
/// - TUN devices, by descriptor: the server's first, then those of the stations that have an
///   address, in order.
/// - The addresses of the stations.
/// - A server for each entry of flows; none if the entry is simulated.
/// - The monotonic time of time zero.
/// - The file for captured packets.
///
/// Returns the outcome as JSON and the transfer times as in `Simulation.run`, or None if it was
/// stopped.
#[pyfunction]
#[pyo3(signature = (simulation, seed, devices, stations, servers, epoch_ns, control, capture=None))]
#[expect(clippy::too_many_arguments, reason = "Python gives them by name")]
fn run_testbed<'py>(
    py: Python<'py>,
    simulation: &PySimulation,
    seed: u64,
    devices: Vec<RawFd>,
    stations: Vec<Option<String>>,
    servers: Vec<Option<Server>>,
    epoch_ns: u64,
    control: &PyTestbedControl,
    capture: Option<&PyTestbedCapture>,
) -> PyResult<Option<(String, Bound<'py, PyBytes>)>> {
    let real = (1..).zip(&stations).filter(|(_, address)| address.is_some());
    let nodes = std::iter::once(Node::Server).chain(real.map(|(number, _)| Node::Station(number)));
    let nodes: Vec<Node> = nodes.collect();
    if nodes.len() != devices.len() {
        return Err(PyValueError::new_err("as many devices as the server and stations"));
    }
    let devices = devices.into_iter().map(device);
    let mut devices: Vec<(Node, File)> = nodes
        .into_iter()
        .zip(devices)
        .map(|(node, fd)| Ok((node, fd?)))
        .collect::<PyResult<_>>()?;
    let station = |text: &Option<String>| text.as_deref().map(address).transpose();
    let stations = stations.iter().map(station).collect::<PyResult<_>>()?;
    let server = |one: &Option<Server>| -> PyResult<Option<(Ipv4Addr, UseOf)>> {
        let Some((text, of, dialogues)) = one else { return Ok(None) };
        let dialogues = match dialogues {
            None if of == "pages" => Dialogues::Pages,
            None => Dialogues::None,
            Some(0) => Dialogues::First,
            Some(port) => Dialogues::Ftp(*port),
        };
        Ok(Some((address(text)?, UseOf { purpose: purpose(of)?, dialogues })))
    };
    let servers = servers.iter().map(server).collect::<PyResult<_>>()?;
    let site = Site { stations, servers };
    let simulation: &Simulation = &simulation.0;
    let board = Arc::clone(&control.0);
    let raised = Arc::default();
    let stop = {
        let board = Arc::clone(&board);
        move || board.stop()
    };
    let outcome = py.detach(|| {
        plugin::watched(stop, &raised, || {
            let mut driver = Driver::new(simulation.scenario(), seed, &site);
            let capture = capture.map(|one| one.0.lock().unwrap_or_else(PoisonError::into_inner));
            let capture = capture.as_ref().and_then(|one| one.as_ref());
            if let Some(capture) = capture {
                driver.capture(capture.frames(), capture.snaplen());
            }
            run(&mut driver, &mut devices, epoch_ns, &board, capture)?;
            match driver.conclude() {
                Ok(outcome) => Ok(Some(written(&outcome))),
                Err(RunError::Cancelled) => Ok(None),
                Err(error) => Err(error),
            }
        })
    });
    if let Some(error) = raised.lock().unwrap_or_else(PoisonError::into_inner).take() {
        return Err(error);
    }
    let outcome = outcome.map_err(failed)?;
    Ok(outcome.map(|(json, times)| (json, PyBytes::new(py, &times))))
}

/// Draws numbers from a law, given as JSON, with the stream of a flow, purpose and replication: the
/// same numbers that the simulator draws. Returns little-endian float64 numbers.
#[pyfunction]
fn drawn<'py>(
    py: Python<'py>,
    law_json: &str,
    seed: u64,
    replication: u64,
    flow: &str,
    purpose: &str,
    count: usize,
) -> PyResult<Bound<'py, PyBytes>> {
    let law: Distribution =
        serde_json::from_str(law_json).map_err(|error| PyValueError::new_err(error.to_string()))?;
    let mut stream = RandomStream::new(seed, replication, flow, purpose);
    let law = Sampler::new(law);
    let draws = std::iter::repeat_with(|| law.draw(&mut stream)).take(count);
    let bytes: Vec<u8> = draws.flat_map(f64::to_le_bytes).collect();
    Ok(PyBytes::new(py, &bytes))
}

/// Draws the sizes in bytes of the objects of a flow's first pages, as the simulator draws them;
/// each page begins with its document. `application_json` is the application in the resolved
/// scenario. Raises ValueError if the application has no pages.
#[pyfunction]
fn drawn_pages(
    application_json: &str,
    seed: u64,
    replication: u64,
    flow: &str,
    pad: Option<u32>,
    count: usize,
) -> PyResult<Vec<Vec<u64>>> {
    let application: ApplicationConfig = serde_json::from_str(application_json)
        .map_err(|error| PyValueError::new_err(error.to_string()))?;
    application
        .pages(seed, replication, flow, pad, count)
        .ok_or_else(|| PyValueError::new_err("it transfers no pages"))
}

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<PyTestbedCapture>()?;
    module.add_class::<PyTestbedControl>()?;
    module.add_function(wrap_pyfunction!(drawn, module)?)?;
    module.add_function(wrap_pyfunction!(drawn_pages, module)?)?;
    module.add_function(wrap_pyfunction!(run_testbed, module)?)?;
    Ok(())
}
