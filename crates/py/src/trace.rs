//! Traces and transfers for Python: columns of little-endian numbers, and the names that they
//! index.

use airtcp_kernel::Log;
use airtcp_sim::outcome::{Books, DelayBin, Transfer};
use airtcp_sim::trace::{EventKind, Trace};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

/// Returns a dictionary of names and tables. A table is a dictionary of `int64` columns; -1 means
/// that a value does not exist.
pub(crate) fn to_python<'py>(py: Python<'py>, trace: &Trace) -> PyResult<Bound<'py, PyDict>> {
    let answer = PyDict::new(py);
    answer.set_item("interval_ns", trace.interval.as_nanos())?;
    answer.set_item("flow_names", &trace.flow_names)?;
    answer.set_item("queue_names", &trace.queue_names)?;
    answer.set_item("event_names", EventKind::ALL.map(EventKind::name))?;

    let flows = table(py, &trace.flows)?;
    let log = &trace.flows;
    column(&flows, "flow", log, |sample| u64::from(sample.flow).into())?;
    column(&flows, "delivered_bytes", log, |sample| sample.delivered_bytes.into())?;
    column(&flows, "connections", log, |sample| u64::from(sample.connections).into())?;
    column(&flows, "cwnd_bytes", log, |sample| sample.window.map(|window| window.cwnd))?;
    column(&flows, "ssthresh_bytes", log, |sample| sample.window?.ssthresh)?;
    column(&flows, "flight_size_bytes", log, |sample| {
        sample.window.map(|window| window.flight_size)
    })?;
    column(&flows, "srtt_ns", log, |sample| sample.srtt.map(|srtt| srtt.as_nanos()))?;
    answer.set_item("flows", flows)?;

    let queues = table(py, &trace.queues)?;
    column(&queues, "queue", &trace.queues, |sample| u64::from(sample.queue).into())?;
    column(&queues, "packets", &trace.queues, |sample| sample.packets.into())?;
    answer.set_item("queues", queues)?;

    let events = table(py, &trace.events)?;
    let log = &trace.events;
    column(&events, "event", log, |event| (event.kind as u64).into())?;
    column(&events, "flow", log, |event| u64::from(event.flow).into())?;
    column(&events, "queue", log, |event| event.queue.map(u64::from))?;
    column(&events, "cwnd_bytes", log, |event| event.sender.map(|(window, _)| window.cwnd))?;
    column(&events, "ssthresh_bytes", log, |event| event.sender?.0.ssthresh)?;
    column(&events, "flight_size_bytes", log, |event| {
        event.sender.map(|(window, _)| window.flight_size)
    })?;
    column(&events, "cwnd_after_bytes", log, |event| event.sender.map(|(_, after)| after))?;
    answer.set_item("events", events)?;

    answer.set_item("node_names", &trace.node_names)?;
    let ppdus = table(py, &trace.ppdus)?;
    let log = &trace.ppdus;
    column(&ppdus, "queue", log, |ppdu| u64::from(ppdu.queue).into())?;
    column(&ppdus, "receiver", log, |ppdu| u64::from(ppdu.receiver).into())?;
    column(&ppdus, "mpdus", log, |ppdu| u64::from(ppdu.mpdus).into())?;
    column(&ppdus, "bytes", log, |ppdu| ppdu.bytes.into())?;
    column(&ppdus, "rate_bps", log, |ppdu| ppdu.rate.into())?;
    column(&ppdus, "airtime_ns", log, |ppdu| ppdu.airtime.as_nanos().into())?;
    column(&ppdus, "failed", log, |ppdu| u64::from(ppdu.failed).into())?;
    answer.set_item("ppdus", ppdus)?;
    Ok(answer)
}

/// Returns a table of transfers: columns of `int64`.
pub(crate) fn transfers<'py>(py: Python<'py>, rows: &[Transfer]) -> PyResult<Bound<'py, PyDict>> {
    let table = PyDict::new(py);
    let set = |name: &str, value: fn(&Transfer) -> u64| {
        let bytes: Vec<u8> = rows.iter().flat_map(|row| value(row).to_le_bytes()).collect();
        table.set_item(name, PyBytes::new(py, &bytes))
    };
    set("flow", |transfer| transfer.flow.into())?;
    set("began_ns", |transfer| transfer.began.as_nanos())?;
    set("bytes", |transfer| transfer.bytes)?;
    Ok(table)
}

/// Returns the columns of the accounts: scopes as `uint32`, delay histograms as `uint64`,
/// everything else as `float64`.
pub(crate) fn books<'py>(py: Python<'py>, books: &Books) -> PyResult<Bound<'py, PyDict>> {
    let table = PyDict::new(py);
    let set = |name: &str, values: &mut dyn Iterator<Item = f64>| {
        let bytes: Vec<u8> = values.flat_map(f64::to_le_bytes).collect();
        table.set_item(name, PyBytes::new(py, &bytes))
    };
    set("entries", &mut std::iter::once(f64::from(books.entries)))?;
    set("sums", &mut books.rows.iter().flat_map(|row| row.columns()))?;
    set("pages", &mut books.rows.iter().flat_map(|row| row.of_pages()))?;
    set("carried_over_index", &mut books.carried_over.iter().map(|one| f64::from(one.index)))?;
    set("carried_over_age_s", &mut books.carried_over.iter().map(|one| one.age_s))?;
    set("under_way_entry", &mut books.under_way.iter().map(|one| f64::from(one.entry)))?;
    set("under_way_age_s", &mut books.under_way.iter().map(|one| one.age_s))?;
    let pages = &books.pages;
    set("page_times_s", &mut pages.times_s.iter().copied())?;
    set("page_carried_over_index", &mut pages.carried_over.iter().map(|&place| f64::from(place)))?;
    set("page_under_way_entry", &mut pages.under_way.iter().map(|one| f64::from(one.entry)))?;
    set("page_under_way_age_s", &mut pages.under_way.iter().map(|one| one.age_s))?;
    let set_delays = |name: &str, value: fn(&DelayBin) -> u64| {
        let bytes: Vec<u8> = books.delays.iter().flat_map(|one| value(one).to_le_bytes()).collect();
        table.set_item(name, PyBytes::new(py, &bytes))
    };
    set_delays("delay_scopes", |one| one.scope.into())?;
    set_delays("delay_kinds", |one| one.kind.into())?;
    set_delays("delay_bins", |one| one.bin.into())?;
    set_delays("delay_counts", |one| one.count)?;
    for (name, scopes) in [("scopes", &books.scopes), ("page_scopes", &pages.scopes)] {
        let scopes: Vec<u8> = scopes.iter().flat_map(|scope| scope.to_le_bytes()).collect();
        table.set_item(name, PyBytes::new(py, &scopes))?;
    }
    Ok(table)
}

fn table<'py, R>(py: Python<'py>, log: &Log<R>) -> PyResult<Bound<'py, PyDict>> {
    let table = PyDict::new(py);
    let times: Vec<u8> =
        log.entries().iter().flat_map(|(at, _)| at.as_nanos().to_le_bytes()).collect();
    table.set_item("time_ns", PyBytes::new(py, &times))?;
    Ok(table)
}

fn column<R>(
    table: &Bound<'_, PyDict>,
    name: &str,
    log: &Log<R>,
    value: impl Fn(&R) -> Option<u64>,
) -> PyResult<()> {
    let number =
        |record| value(record).map_or(-1, |value| i64::try_from(value).unwrap_or(i64::MAX));
    let values: Vec<u8> =
        log.entries().iter().flat_map(|(_, record)| number(record).to_le_bytes()).collect();
    table.set_item(name, PyBytes::new(table.py(), &values))
}
