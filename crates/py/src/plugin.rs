//! Algorithms written in Python: objects of a registered class, called at each event.
//!
//! An exception, or a value that breaks a rule, ends the run in this thread. Each kind of algorithm
//! has its own file. `airtcp.plugins` finds the classes.

mod acks;
mod congestion;
mod queues;
mod schedulers;

use std::cell::RefCell;
use std::sync::{Arc, Mutex};
use std::time::{Duration as StdDuration, Instant};

use pyo3::call::PyCallArgs;
use pyo3::exceptions::{PyKeyboardInterrupt, PyTimeoutError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;

/// The longest CPU time of a call: a run makes thousands of them.
const LONGEST_CALL: StdDuration = StdDuration::from_secs(1);

/// Returns the CPU time of this thread. Unlike wall time, it excludes waiting for a busy machine
/// and for plug-ins of other threads. \[ns\]
fn cpu_time(py: Python<'_>) -> PyResult<u64> {
    static CLOCK: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    CLOCK.import(py, "time", "thread_time_ns")?.call0()?.extract()
}

/// The run of a thread, and the place for the exception that ends it.
struct UnderWay {
    stop: Box<dyn Fn()>,
    raised: Arc<Mutex<Option<PyErr>>>,
}

thread_local! {
    static UNDER_WAY: RefCell<Option<UnderWay>> = const { RefCell::new(None) };
}

/// Executes a run in this thread; its plug-ins can end it through `stop`.
pub(crate) fn watched<T>(
    stop: impl Fn() + 'static,
    raised: &Arc<Mutex<Option<PyErr>>>,
    run: impl FnOnce() -> T,
) -> T {
    let here = UnderWay { stop: Box::new(stop), raised: Arc::clone(raised) };
    let before = UNDER_WAY.replace(Some(here));
    let ended = run();
    UNDER_WAY.set(before);
    ended
}

/// Whether the run of this thread is about to end. If so, no plug-in is called any more.
fn ends() -> bool {
    UNDER_WAY.with_borrow(|run| {
        run.as_ref().is_some_and(|run| run.raised.lock().expect("nobody panics with it").is_some())
    })
}

/// Ends the run of this thread with an exception.
fn end(error: PyErr) {
    UNDER_WAY.with_borrow(|run| {
        let Some(run) = run else { panic!("no run for the plug-in's error: {error}") };
        *run.raised.lock().expect("nobody panics with it") = Some(error);
        (run.stop)();
    });
}

/// An object of a registered class, created at its first call.
#[derive(Debug)]
struct Called {
    name: Arc<str>,
    class: Arc<Py<PyAny>>,
    object: Option<Py<PyAny>>,
}

impl Called {
    /// Returns the constructor for each connection, queue or access point.
    fn maker(name: &str, class: Py<PyAny>) -> impl Fn() -> Self + Send + Sync + 'static {
        let (name, class): (Arc<str>, _) = (name.into(), Arc::new(class));
        move || Self { name: Arc::clone(&name), class: Arc::clone(&class), object: None }
    }

    /// Executes `call`. If it fails, ends the run; then, and in a run that is ending, returns
    /// `otherwise`.
    fn called<T>(
        &mut self,
        otherwise: T,
        call: impl FnOnce(&mut Self, Python<'_>) -> PyResult<T>,
    ) -> T {
        if ends() {
            return otherwise;
        }
        Python::attach(|py| {
            call(self, py).unwrap_or_else(|error| {
                end(explained(py, &self.name, error));
                otherwise
            })
        })
    }

    /// Returns the object; the first call creates it, without arguments.
    fn object(&mut self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        let object = match &self.object {
            Some(object) => object,
            None => self.object.insert(self.class.call0(py)?),
        };
        Ok(object.clone_ref(py))
    }

    /// Calls a method of the object; an error if it takes too much CPU time.
    fn method<'py>(
        &mut self,
        py: Python<'py>,
        method: &str,
        arguments: impl PyCallArgs<'py>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let object = self.object(py)?;
        let (began, before) = (Instant::now(), cpu_time(py)?);
        let answer = object.bind(py).call_method1(method, arguments)?;
        if began.elapsed() <= LONGEST_CALL {
            return Ok(answer);
        }
        let took = StdDuration::from_nanos(cpu_time(py)?.saturating_sub(before));
        if took > LONGEST_CALL {
            return Err(PyTimeoutError::new_err(format!(
                "{method} took {:.1} s of CPU time; allowed: a second",
                took.as_secs_f64()
            )));
        }
        Ok(answer)
    }

    /// Ends the run because a return value broke a rule.
    fn break_law(&mut self, law: String) {
        self.called((), |_, _| Err(PyValueError::new_err(law)));
    }

    /// Copies the object with its state, for another connection.
    fn duplicate(&self) -> Self {
        let object = self.object.as_ref().map(|object| {
            Python::attach(|py| {
                let copied =
                    py.import("copy").and_then(|copy| copy.call_method1("deepcopy", (object,)));
                copied.map_or_else(|_| object.clone_ref(py), Bound::unbind)
            })
        });
        Self { name: Arc::clone(&self.name), class: Arc::clone(&self.class), object }
    }
}

/// Returns the error for a run that a plug-in's exception ended, with the line that raised it.
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

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    congestion::register(module)?;
    acks::register(module)?;
    queues::register(module)?;
    schedulers::register(module)
}
