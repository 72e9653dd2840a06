//! Schedulers written in Python: converts the candidates for them and reports airtime.

use airtcp_kernel::{Duration, Time};
use airtcp_net::Destination;
use airtcp_net::plugin::{self, Candidate, Scheduler};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyList;

use super::Called;

/// A receiver that could be served.
#[pyclass(name = "Candidate", frozen, get_all)]
struct PyCandidate {
    /// Its number in the cell.
    receiver: u32,
    /// When its oldest packet arrived, in nanoseconds of simulated time; None if a frame that
    /// cannot wait is pending for it.
    oldest_ns: Option<u64>,
    /// Its weight; 256 is the default.
    weight: u32,
    /// The data rate of frames to it in bit/s; None if it has none of its own.
    rate_bps: Option<u64>,
}

impl PyCandidate {
    fn new(Candidate { receiver, oldest }: Candidate, about: Option<&Destination>) -> Self {
        Self {
            receiver,
            oldest_ns: oldest.map(Time::as_nanos),
            weight: about.map_or(256, |about| about.weight),
            rate_bps: about.map(|about| about.rate_bps),
        }
    }
}

/// A scheduler with the weights and rates of the receivers, by number.
#[derive(Debug)]
struct OfReceivers {
    called: Called,
    receivers: Box<[Destination]>,
}

impl Scheduler for OfReceivers {
    fn choose(&mut self, candidates: &[Candidate]) -> u32 {
        let receivers = &self.receivers;
        self.called.called(candidates[0].receiver, |called, py| {
            let all = candidates
                .iter()
                .map(|&one| PyCandidate::new(one, receivers.get(one.receiver as usize)));
            let all: Vec<Py<PyCandidate>> =
                all.map(|one| Py::new(py, one)).collect::<PyResult<_>>()?;
            let answer = called.method(py, "choose", (PyList::new(py, all)?,))?;
            let chosen = answer.cast::<PyCandidate>().map_err(|_| {
                PyTypeError::new_err(format!("choose = {answer}: allowed: one of the candidates"))
            })?;
            Ok(chosen.get().receiver)
        })
    }

    fn charge(&mut self, receiver: u32, airtime: Duration) {
        self.called.called((), |called, py| {
            called.method(py, "on_airtime", (receiver, airtime.as_nanos())).map(drop)
        });
    }

    fn breaks(&mut self, law: String) {
        self.called.break_law(law);
    }
}

/// Registers a class of schedulers under a name, for scenarios read from now on.
#[pyfunction]
fn register_scheduler(name: &str, class: Py<PyAny>) {
    let made = Called::maker(name, class);
    plugin::register_scheduler(name, move |receivers| {
        Box::new(OfReceivers { called: made(), receivers: receivers.into() })
    });
}

pub(super) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<PyCandidate>()?;
    module.add_function(wrap_pyfunction!(register_scheduler, module)?)
}
