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
#[pyclass(name = "Event", frozen)]
struct PyEvent {
    event: Event,
    at: Circumstances,
}

#[pymethods]
impl PyEvent {
    /// Returns the simulated time in nanoseconds.
    #[getter]
    fn now_ns(&self) -> u64 {
        self.at.now.as_nanos()
    }

    /// Returns SMSS in bytes.
    #[getter]
    fn mss(&self) -> u32 {
        self.at.mss
    }

    /// Returns IW in bytes.
    #[getter]
    fn initial_window(&self) -> u64 {
        self.at.initial_window
    }

    /// Returns the smoothed round-trip time in nanoseconds; None before the first sample.
    #[getter]
    fn srtt_ns(&self) -> Option<u64> {
        self.at.srtt.map(Duration::as_nanos)
    }

    /// Returns the round-trip time of the newest acknowledged segment in nanoseconds, if single
    /// segments are timed; None otherwise.
    #[getter]
    fn rtt_ns(&self) -> Option<u64> {
        match self.event {
            Event::Acknowledged { rtt, .. } => rtt.map(Duration::as_nanos),
            _ => None,
        }
    }

    /// Returns the newly acknowledged bytes; 0 at other events.
    #[getter]
    fn acked(&self) -> u64 {
        match self.event {
            Event::Acknowledged { acked, .. } => acked,
            _ => 0,
        }
    }

    /// Whether the window was full in the last round trip; otherwise the ACK says nothing about the
    /// path (RFC 7661, 4.2).
    #[getter]
    fn was_full(&self) -> bool {
        matches!(self.event, Event::Acknowledged { was_full: true, .. })
    }

    /// Whether more than half of the window was used in the last round trip; otherwise slow start
    /// pauses.
    #[getter]
    fn was_half_used(&self) -> bool {
        matches!(self.event, Event::Acknowledged { was_half_used: true, .. })
    }

    /// Returns the bytes outstanding at a loss or a timeout; None at other events, and if the timer
    /// expires again for the same segment.
    #[getter]
    fn flight_size(&self) -> Option<u64> {
        match self.event {
            Event::Lost { flight_size } => Some(flight_size),
            Event::TimedOut { flight_size } => flight_size,
            _ => None,
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
            called.method(py, method, (window.clone_ref(py), PyEvent { event, at }))?;
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
