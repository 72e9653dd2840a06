//! Traces and columns for Python.

use airtcp_sim::columns::{Columns, tables};
use airtcp_sim::trace::{EventKind, Trace};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

/// Returns a dictionary of names and tables.
pub(crate) fn to_python<'py>(py: Python<'py>, trace: &Trace) -> PyResult<Bound<'py, PyDict>> {
    let answer = PyDict::new(py);
    answer.set_item("interval_ns", trace.interval.as_nanos())?;
    answer.set_item("flow_names", &trace.flow_names)?;
    answer.set_item("queue_names", &trace.queue_names)?;
    answer.set_item("event_names", EventKind::ALL.map(EventKind::name))?;
    answer.set_item("node_names", &trace.node_names)?;
    for (name, columns) in tables(trace) {
        answer.set_item(name, dictionary(py, &columns)?)?;
    }
    Ok(answer)
}

/// Returns a dictionary of columns.
pub(crate) fn dictionary<'py>(py: Python<'py>, columns: &Columns) -> PyResult<Bound<'py, PyDict>> {
    let table = PyDict::new(py);
    for (name, bytes) in columns {
        table.set_item(name, PyBytes::new(py, bytes))?;
    }
    Ok(table)
}
