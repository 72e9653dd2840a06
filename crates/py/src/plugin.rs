//! Congestion controls written in Python: objects of a registered class, called at each event.
//!
//! Knows how an event becomes a call and what a call may set; what it raises, or sets against a law,
//! ends the run that is under way in this thread. Does not know where classes come from: that is
//! `airtcp.plugins`.

use std::cell::RefCell;
use std::sync::{Arc, Mutex};
use std::time::{Duration as StdDuration, Instant};

use airtcp_kernel::Duration;
use airtcp_sim::RunControl;
use airtcp_tcp::plugin::{self, Circumstances, Event, Plugin, Variables};
use pyo3::exceptions::{PyKeyboardInterrupt, PyTimeoutError, PyTypeError, PyValueError};
use pyo3::prelude::*;

/// The longest time that a call may take: a run makes thousands of them.
const LONGEST_CALL: StdDuration = StdDuration::from_secs(1);
/// The largest window that scaling can announce (RFC 7323, 2.3), a thousand times.
const LARGEST_WINDOW: u64 = 1 << 40;

/// The run under way in a thread, and the place for the exception that ends it.
struct UnderWay {
    control: Arc<RunControl>,
    raised: Arc<Mutex<Option<PyErr>>>,
}

thread_local! {
    static UNDER_WAY: RefCell<Option<UnderWay>> = const { RefCell::new(None) };
}

/// Evaluates a run in this thread, which calls of its plug-ins can end.
pub(crate) fn watched<T>(
    control: &Arc<RunControl>,
    raised: &Arc<Mutex<Option<PyErr>>>,
    run: impl FnOnce() -> T,
) -> T {
    let here = UnderWay { control: Arc::clone(control), raised: Arc::clone(raised) };
    let before = UNDER_WAY.replace(Some(here));
    let ended = run();
    UNDER_WAY.set(before);
    ended
}

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

    /// Tells whether slow start goes on: the window is below the threshold.
    #[getter]
    fn in_slow_start(&self) -> bool {
        self.variables.cwnd < self.variables.ssthresh
    }
}

/// An event of a connection, and its circumstances.
#[pyclass(name = "Event", frozen)]
struct PyEvent {
    event: Event,
    at: Circumstances,
}

#[pymethods]
impl PyEvent {
    /// Returns the time of the simulation in nanoseconds.
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

    /// Returns the smoothed round trip in nanoseconds; None before the first.
    #[getter]
    fn srtt_ns(&self) -> Option<u64> {
        self.at.srtt.map(Duration::as_nanos)
    }

    /// Returns the round trip of the newest segment that is acknowledged, in nanoseconds, where single segments are
    /// timed.
    #[getter]
    fn rtt_ns(&self) -> Option<u64> {
        match self.event {
            Event::Acknowledged { rtt, .. } => rtt.map(Duration::as_nanos),
            _ => None,
        }
    }

    /// Returns the bytes that are acknowledged for the first time; 0 at other events.
    #[getter]
    fn acked(&self) -> u64 {
        match self.event {
            Event::Acknowledged { acked, .. } => acked,
            _ => 0,
        }
    }

    /// Tells whether the window was full in the last round trip: else it says nothing about the path (RFC 7661, 4.2).
    #[getter]
    fn was_full(&self) -> bool {
        matches!(self.event, Event::Acknowledged { was_full: true, .. })
    }

    /// Tells whether the window was used by more than half in the last round trip: else slow start waits.
    #[getter]
    fn was_half_used(&self) -> bool {
        matches!(self.event, Event::Acknowledged { was_half_used: true, .. })
    }

    /// Returns the bytes outstanding at a loss or a timeout; None at others, and where the timer sends a segment once
    /// more.
    #[getter]
    fn flight_size(&self) -> Option<u64> {
        match self.event {
            Event::Lost { flight_size } => Some(flight_size),
            Event::TimedOut { flight_size } => flight_size,
            _ => None,
        }
    }
}

/// A control of a connection, made at its first event.
#[derive(Debug)]
struct Called {
    name: Arc<str>,
    class: Arc<Py<PyAny>>,
    object: Option<Py<PyAny>>,
}

impl Called {
    fn call(
        &mut self,
        py: Python<'_>,
        event: Event,
        at: Circumstances,
        before: Variables,
    ) -> PyResult<Variables> {
        let method = match event {
            Event::Acknowledged { .. } => "on_ack",
            Event::Lost { .. } => "on_loss",
            Event::TimedOut { .. } => "on_timeout",
            Event::Idle => "on_idle",
        };
        let object = match &self.object {
            Some(object) => object,
            None => self.object.insert(self.class.call0(py)?),
        };
        let window = Py::new(py, PyWindow { variables: before, mss: at.mss })?;
        let began = Instant::now();
        object.call_method1(py, method, (window.clone_ref(py), PyEvent { event, at }))?;
        let took = began.elapsed();
        if took > LONGEST_CALL {
            return Err(PyTimeoutError::new_err(format!(
                "{method} took {:.1} s; allowed: a second",
                took.as_secs_f64()
            )));
        }
        let after = window.borrow(py).variables;
        Ok(after)
    }
}

impl Plugin for Called {
    fn tell(&mut self, event: Event, at: Circumstances, before: Variables) -> Variables {
        // A run that is to end tells no further event.
        let ends = UNDER_WAY.with_borrow(|run| {
            run.as_ref()
                .is_some_and(|run| run.raised.lock().expect("nobody panics with it").is_some())
        });
        if ends {
            return before;
        }
        Python::attach(|py| {
            self.call(py, event, at, before).unwrap_or_else(|error| {
                let error = explained(py, &self.name, error);
                UNDER_WAY.with_borrow(|run| {
                    let Some(run) = run else { panic!("no run for the plug-in's error: {error}") };
                    *run.raised.lock().expect("nobody panics with it") = Some(error);
                    run.control.cancel();
                });
                before
            })
        })
    }

    fn copied(&self) -> Box<dyn Plugin> {
        let object = self.object.as_ref().map(|object| {
            Python::attach(|py| {
                let copied =
                    py.import("copy").and_then(|copy| copy.call_method1("deepcopy", (object,)));
                copied.map_or_else(|_| object.clone_ref(py), Bound::unbind)
            })
        });
        Box::new(Self { name: Arc::clone(&self.name), class: Arc::clone(&self.class), object })
    }
}

/// Returns the error of a run that ended at an exception of a plug-in, with the line that raised it.
fn explained(py: Python<'_>, name: &str, error: PyErr) -> PyErr {
    if error.is_instance_of::<PyKeyboardInterrupt>(py) {
        return error;
    }
    let value = error.value(py);
    let told = value
        .setattr("__traceback__", error.traceback(py))
        .and_then(|()| py.import("airtcp.plugins"))
        .and_then(|plugins| plugins.call_method1("explained", (name, value)));
    match told {
        Ok(failed) => PyErr::from_value(failed),
        Err(of_telling) => of_telling,
    }
}

/// Registers a class of congestion controls under a name, which scenarios that are read afterwards can have.
#[pyfunction]
fn register_congestion(name: &str, class: Py<PyAny>) {
    let (known, class): (Arc<str>, _) = (name.into(), Arc::new(class));
    plugin::register(name, move || {
        Box::new(Called { name: Arc::clone(&known), class: Arc::clone(&class), object: None })
    });
}

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<PyWindow>()?;
    module.add_class::<PyEvent>()?;
    module.add_function(wrap_pyfunction!(register_congestion, module)?)
}
