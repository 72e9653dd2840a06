//! Conversions between Python and `airtcp-flow`, without logic.

use std::num::NonZeroU64;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use airtcp_flow::{Concurrent, Coupled, Plan, RunError, Simulation};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::{Cancelled, SimulationFailed};

fn failed(error: RunError) -> PyErr {
    match error {
        RunError::Cancelled => Cancelled::new_err(error.to_string()),
        RunError::LawViolated(_) => SimulationFailed::new_err(error.to_string()),
    }
}

fn invalid(error: impl ToString) -> PyErr {
    PyValueError::new_err(error.to_string())
}

fn little_endian(numbers: &[f64]) -> Vec<u8> {
    numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
}

/// Stops runs of `FlowSimulation` from another thread.
#[pyclass(name = "FlowControl", frozen)]
struct PyFlowControl(Arc<AtomicBool>);

#[pymethods]
impl PyFlowControl {
    #[new]
    fn new() -> Self {
        Self(Arc::default())
    }

    /// Asks the runs to stop soon.
    fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// A processor-sharing system that can be simulated any number of times and from several threads at
/// once.
#[pyclass(name = "FlowSimulation", frozen)]
struct PyFlowSimulation(Simulation);

#[pymethods]
impl PyFlowSimulation {
    /// Parses a system in JSON; raises ValueError if it is invalid.
    #[new]
    fn new(system_json: &str) -> PyResult<Self> {
        Simulation::new(serde_json::from_str(system_json).map_err(invalid)?)
            .map(Self)
            .map_err(invalid)
    }

    /// Simulates one replication. Returns the outcome as JSON, then sojourn times and sizes of the
    /// measured jobs as bytes of little-endian float64 numbers; these are empty unless `keep_jobs`
    /// is set.
    #[expect(clippy::too_many_arguments, reason = "Python names them")]
    fn run<'py>(
        &self,
        py: Python<'py>,
        seed: u64,
        replication: u64,
        warmup_jobs: u64,
        jobs: NonZeroU64,
        keep_jobs: bool,
        control: &PyFlowControl,
    ) -> PyResult<(String, Bound<'py, PyBytes>, Bound<'py, PyBytes>)> {
        let cancelled = Arc::clone(&control.0);
        let plan = Plan { warmup_jobs, jobs, keep_jobs };
        let (json, sojourns, sizes) = py
            .detach(|| {
                let outcome = self.0.run(seed, replication, plan, &cancelled)?;
                let json = serde_json::to_string(&outcome).expect("an outcome is plain data");
                Ok((json, little_endian(&outcome.sojourns_s), little_endian(&outcome.sizes)))
            })
            .map_err(failed)?;
        Ok((json, PyBytes::new(py, &sojourns), PyBytes::new(py, &sizes)))
    }
}

/// Defines a class of several servers that can be simulated.
macro_rules! servers {
    ($class:ident, $name:literal, $system:ty, $doc:literal) => {
        #[doc = $doc]
        #[pyclass(name = $name, frozen)]
        struct $class($system);

        #[pymethods]
        impl $class {
            /// Parses a system in JSON; raises ValueError if it is invalid.
            #[new]
            fn new(system_json: &str) -> PyResult<Self> {
                let system: $system = serde_json::from_str(system_json).map_err(invalid)?;
                system.check().map_err(invalid)?;
                Ok(Self(system))
            }

            /// Simulates one replication and returns the outcomes of the servers as JSON.
            fn run(
                &self,
                py: Python<'_>,
                seed: u64,
                replication: u64,
                warmup_jobs: u64,
                jobs: NonZeroU64,
                control: &PyFlowControl,
            ) -> PyResult<String> {
                let plan = Plan { warmup_jobs, jobs, keep_jobs: false };
                py.detach(|| {
                    let found = self.0.run(seed, replication, plan, &control.0)?;
                    Ok(serde_json::to_string(&found).expect("an outcome is plain data"))
                })
                .map_err(failed)
            }
        }
    };
}

servers!(
    PyConcurrentFlows,
    "ConcurrentFlows",
    Concurrent,
    "Parallel processor-sharing servers; otherwise like `FlowSimulation`."
);
servers!(
    PyCoupledFlows,
    "CoupledFlows",
    Coupled,
    "Servers that slow each other down; otherwise like `ConcurrentFlows`."
);

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<PyFlowSimulation>()?;
    module.add_class::<PyConcurrentFlows>()?;
    module.add_class::<PyCoupledFlows>()?;
    module.add_class::<PyFlowControl>()
}
