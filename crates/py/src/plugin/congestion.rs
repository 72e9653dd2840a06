//! Congestion controls written in Python: converts events of a connection into calls, and checks
//! what a call sets.

use airtcp_kernel::Duration;
use airtcp_tcp::plugin::{self, Circumstances, Event, Plugin, Variables};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;

use super::Called;

/// Limit on the window: 1000 times the largest one that scaling can announce (RFC 7323, 2.3).
const LARGEST_WINDOW: u64 = 1 << 40;

/// The congestion window and the slow start threshold of a connection, in bytes.
#[pyclass(name = "Window")]
struct PyWindow {
    variables: Variables,
    mss: u32,
}

impl PyWindow {
    fn checked(&self, name: &str, value: &Bound<'_, PyAny>) -> PyResult<u64> {
        let bytes: i128 = value.extract().map_err(|_| {
            PyTypeError::new_err(format!("{name} = {value}: allowed: a whole number of bytes"))
        })?;
        let least = i128::from(self.mss);
        if (least..=i128::from(LARGEST_WINDOW)).contains(&bytes) {
            return Ok(bytes as u64);
        }
        Err(PyValueError::new_err(format!(
            "{name} = {bytes} B: at least a segment, {least} B (RFC 5681, section 3.1), and at most 2^40 B"
        )))
    }
}

#[pymethods]
impl PyWindow {
    /// Returns the congestion window.
    #[getter]
    fn cwnd(&self) -> u64 {
        self.variables.cwnd
    }

    #[setter]
    fn set_cwnd(&mut self, value: &Bound<'_, PyAny>) -> PyResult<()> {
        self.variables.cwnd = self.checked("cwnd", value)?;
        Ok(())
    }

    /// Returns the slow start threshold; None before the first loss.
    #[getter]
    fn ssthresh(&self) -> Option<u64> {
        (self.variables.ssthresh != u64::MAX).then_some(self.variables.ssthresh)
    }

    #[setter]
    fn set_ssthresh(&mut self, value: &Bound<'_, PyAny>) -> PyResult<()> {
        self.variables.ssthresh =
            if value.is_none() { u64::MAX } else { self.checked("ssthresh", value)? };
        Ok(())
    }

    /// Whether the connection is in slow start: the window is below the threshold.
    #[getter]
    fn in_slow_start(&self) -> bool {
        self.variables.cwnd < self.variables.ssthresh
    }
}

/// An event of a connection and the state of the connection.
#[pyclass(name = "Event", frozen, get_all)]
#[derive(Default)]
struct PyEvent {
    /// The simulated time in nanoseconds.
    now_ns: u64,
    /// SMSS in bytes.
    mss: u32,
    /// IW in bytes.
    initial_window: u64,
    /// The smoothed round-trip time in nanoseconds; None before the first sample.
    srtt_ns: Option<u64>,
    /// The round-trip time of the newest acknowledged segment in nanoseconds, if single segments
    /// are timed; None otherwise.
    rtt_ns: Option<u64>,
    /// The newly acknowledged bytes; 0 at other events.
    acked: u64,
    /// Whether the window was full in the last round trip; otherwise the ACK says nothing about the
    /// path (RFC 7661, 4.2).
    was_full: bool,
    /// Whether more than half of the window was used in the last round trip; otherwise slow start
    /// pauses.
    was_half_used: bool,
    /// The bytes outstanding at a loss or a timeout; None at other events, and if the timer expires
    /// again for the same segment.
    flight_size: Option<u64>,
}

impl PyEvent {
    fn new(event: Event, at: Circumstances) -> Self {
        let Circumstances { now, mss, initial_window, srtt } = at;
        let srtt_ns = srtt.map(Duration::as_nanos);
        let any = Self { now_ns: now.as_nanos(), mss, initial_window, srtt_ns, ..Self::default() };
        match event {
            Event::Acknowledged { acked, rtt, was_full, was_half_used } => {
                Self { acked, rtt_ns: rtt.map(Duration::as_nanos), was_full, was_half_used, ..any }
            }
            Event::Lost { flight_size } => Self { flight_size: Some(flight_size), ..any },
            Event::TimedOut { flight_size } => Self { flight_size, ..any },
            Event::Idle => any,
        }
    }
}

impl Plugin for Called {
    fn tell(&mut self, event: Event, at: Circumstances, before: Variables) -> Variables {
        let method = match event {
            Event::Acknowledged { .. } => "on_ack",
            Event::Lost { .. } => "on_loss",
            Event::TimedOut { .. } => "on_timeout",
            Event::Idle => "on_idle",
        };
        self.called(before, |called, py| {
            let window = Py::new(py, PyWindow { variables: before, mss: at.mss })?;
            called.method(py, method, (window.clone_ref(py), PyEvent::new(event, at)))?;
            let after = window.borrow(py).variables;
            Ok(after)
        })
    }

    fn copied(&self) -> Box<dyn Plugin> {
        Box::new(self.duplicate())
    }
}

/// Registers a class of congestion controls under a name, for scenarios read from now on.
#[pyfunction]
fn register_congestion(name: &str, class: Py<PyAny>) {
    let made = Called::maker(name, class);
    plugin::register(name, move || Box::new(made()));
}

pub(super) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<PyWindow>()?;
    module.add_class::<PyEvent>()?;
    module.add_function(wrap_pyfunction!(register_congestion, module)?)
}
