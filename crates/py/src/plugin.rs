//! Algorithms written in Python: objects of a registered class, called at each event.
//!
//! Knows how an object is made and called; what it raises, or sets against a law, ends the run that is under way in
//! this thread. Each kind of algorithm has a file. Does not know where classes come from: that is `airtcp.plugins`.

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

/// The longest time that a call may take: a run makes thousands of them.
const LONGEST_CALL: StdDuration = StdDuration::from_secs(1);

/// The run under way in a thread, and the place for the exception that ends it.
struct UnderWay {
    stop: Box<dyn Fn()>,
    raised: Arc<Mutex<Option<PyErr>>>,
}

thread_local! {
    static UNDER_WAY: RefCell<Option<UnderWay>> = const { RefCell::new(None) };
}

/// Evaluates a run in this thread, which calls of its plug-ins can end by `stop`.
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

/// Tells whether the run of this thread is to end: then it calls nothing any more.
fn ends() -> bool {
    UNDER_WAY.with_borrow(|run| {
        run.as_ref().is_some_and(|run| run.raised.lock().expect("nobody panics with it").is_some())
    })
}

/// Ends the run of this thread by an exception.
fn end(error: PyErr) {
    UNDER_WAY.with_borrow(|run| {
        let Some(run) = run else { panic!("no run for the plug-in's error: {error}") };
        *run.raised.lock().expect("nobody panics with it") = Some(error);
        (run.stop)();
    });
}

/// An object of a registered class, made at its first call.
#[derive(Debug)]
struct Called {
    name: Arc<str>,
    class: Arc<Py<PyAny>>,
    object: Option<Py<PyAny>>,
}

impl Called {
    /// Returns what makes one for each connection, queue or access point.
    fn maker(name: &str, class: Py<PyAny>) -> impl Fn() -> Self + Send + Sync + 'static {
        let (name, class): (Arc<str>, _) = (name.into(), Arc::new(class));
        move || Self { name: Arc::clone(&name), class: Arc::clone(&class), object: None }
    }

    /// Evaluates `call`; where it fails, ends the run and returns `otherwise`, as for a run that is to end.
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

    /// Returns the object, made without arguments at first.
    fn object(&mut self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        let object = match &self.object {
            Some(object) => object,
            None => self.object.insert(self.class.call0(py)?),
        };
        Ok(object.clone_ref(py))
    }

    /// Calls a method of the object, and refuses one that takes too long.
    fn method<'py>(
        &mut self,
        py: Python<'py>,
        method: &str,
        arguments: impl PyCallArgs<'py>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let object = self.object(py)?;
        let began = Instant::now();
        let answer = object.bind(py).call_method1(method, arguments)?;
        let took = began.elapsed();
        if took > LONGEST_CALL {
            return Err(PyTimeoutError::new_err(format!(
                "{method} took {:.1} s; allowed: a second",
                took.as_secs_f64()
            )));
        }
        Ok(answer)
    }

    /// Ends the run since an answer has broken a law.
    fn break_law(&mut self, law: String) {
        self.called((), |_, _| Err(PyValueError::new_err(law)));
    }

    /// Makes a copy for another connection, with the state of the object.
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

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    congestion::register(module)?;
    acks::register(module)?;
    queues::register(module)?;
    schedulers::register(module)
}
