//! ACK policies written in Python: what a policy learns about arriving data, and which delays it
//! may return.

use airtcp_kernel::Duration;
use airtcp_tcp::acks::{self, AckPolicy, Arrival};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;

use super::Called;

/// In-order data that has arrived and is not acknowledged yet.
#[pyclass(name = "Arrival", frozen, get_all)]
struct PyArrival {
    /// The simulated time in nanoseconds.
    now_ns: u64,
    /// SMSS in bytes.
    mss: u32,
    /// The bytes delivered since the connection began, including these.
    delivered: u64,
    /// The unacknowledged bytes, including these.
    unacknowledged: u64,
    /// The time since the last ACK was sent, in nanoseconds; None before the first.
    since_ack_ns: Option<u64>,
}

impl From<Arrival> for PyArrival {
    fn from(Arrival { now, mss, delivered, unacknowledged, since_ack }: Arrival) -> Self {
        let since_ack_ns = since_ack.map(Duration::as_nanos);
        Self { now_ns: now.as_nanos(), mss, delivered, unacknowledged, since_ack_ns }
    }
}

/// Converts the return value of a policy to a delay.
fn delay(answer: &Bound<'_, PyAny>) -> PyResult<Option<Duration>> {
    if answer.is_none() {
        return Ok(None);
    }
    let nanos: i128 = answer.extract().map_err(|_| {
        PyTypeError::new_err(format!(
            "delay_ns = {answer}: allowed: a whole number of nanoseconds, or None"
        ))
    })?;
    u64::try_from(nanos).map(|nanos| Some(Duration::from_nanos(nanos))).map_err(|_| {
        PyValueError::new_err(format!(
            "delay_ns = {nanos}: an ACK leaves at once at the earliest; allowed: from 0, or None"
        ))
    })
}

impl AckPolicy for Called {
    fn delay(&mut self, arrival: Arrival) -> Option<Duration> {
        self.called(None, |called, py| {
            delay(&called.method(py, "delay_ns", (PyArrival::from(arrival),))?)
        })
    }

    fn copied(&self) -> Box<dyn AckPolicy> {
        Box::new(self.duplicate())
    }
}

/// Registers a class of ACK policies under a name, for scenarios read from now on.
#[pyfunction]
fn register_acks(name: &str, class: Py<PyAny>) {
    let made = Called::maker(name, class);
    acks::register(name, move || Box::new(made()));
}

pub(super) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<PyArrival>()?;
    module.add_function(wrap_pyfunction!(register_acks, module)?)
}
