//! Records of a run as columns of little-endian numbers, the form in which Python reads them.

use airtcp_kernel::Log;

use crate::outcome::{Books, DelayBin, Outcome, Transfer};
use crate::trace::Trace;

/// Columns by name.
pub type Columns = Vec<(&'static str, Vec<u8>)>;

/// Returns the measured transfer times in seconds as `float64`.
pub fn transfer_times(outcome: &Outcome) -> Vec<u8> {
    doubles(outcome.transfer_times_s.iter().copied())
}

/// Returns the metrics of everything in `names`, in this order, as `float64`; NaN if a metric does
/// not exist. Numbers that JSON cannot express count as missing.
pub fn metrics(outcome: &Outcome, names: &[String]) -> Vec<u8> {
    let metric = |name: &String| outcome.metrics.get(name.as_str()).copied().flatten();
    let exists = |name| metric(name).filter(|value| value.is_finite());
    doubles(names.iter().map(|name| exists(name).unwrap_or(f64::NAN)))
}

/// Returns the transfers: columns of `int64`.
pub fn transfers(rows: &[Transfer]) -> Columns {
    let column = |value: fn(&Transfer) -> u64| longs(rows.iter().map(value));
    vec![
        ("flow", column(|transfer| transfer.flow.into())),
        ("began_ns", column(|transfer| transfer.began.as_nanos())),
        ("bytes", column(|transfer| transfer.bytes)),
    ]
}

/// Returns the accounts: scopes as `uint32`, delay histograms as `uint64`, everything else as
/// `float64`.
pub fn books(books: &Books) -> Columns {
    let pages = &books.pages;
    let delays = |value: fn(&DelayBin) -> u64| longs(books.delays.iter().map(value));
    let scopes = |scopes: &[u32]| scopes.iter().flat_map(|scope| scope.to_le_bytes()).collect();
    vec![
        ("entries", doubles([f64::from(books.entries)])),
        ("sums", doubles(books.rows.iter().flat_map(|row| row.columns()))),
        ("pages", doubles(books.rows.iter().flat_map(|row| row.of_pages()))),
        ("carried_over_index", doubles(books.carried_over.iter().map(|one| one.index.into()))),
        ("carried_over_age_s", doubles(books.carried_over.iter().map(|one| one.age_s))),
        ("under_way_entry", doubles(books.under_way.iter().map(|one| one.entry.into()))),
        ("under_way_age_s", doubles(books.under_way.iter().map(|one| one.age_s))),
        ("page_times_s", doubles(pages.times_s.iter().copied())),
        ("page_carried_over_index", doubles(pages.carried_over.iter().copied().map(f64::from))),
        ("page_under_way_entry", doubles(pages.under_way.iter().map(|one| one.entry.into()))),
        ("page_under_way_age_s", doubles(pages.under_way.iter().map(|one| one.age_s))),
        ("delay_scopes", delays(|one| one.scope.into())),
        ("delay_kinds", delays(|one| one.kind.into())),
        ("delay_bins", delays(|one| one.bin.into())),
        ("delay_counts", delays(|one| one.count)),
        ("scopes", scopes(&books.scopes)),
        ("page_scopes", scopes(&pages.scopes)),
    ]
}

/// Returns the tables of a trace: columns of `int64`; -1 means that a value does not exist.
pub fn tables(trace: &Trace) -> [(&'static str, Columns); 4] {
    let log = &trace.flows;
    let flows = vec![
        times(log),
        column("flow", log, |sample| u64::from(sample.flow).into()),
        column("delivered_bytes", log, |sample| sample.delivered_bytes.into()),
        column("connections", log, |sample| u64::from(sample.connections).into()),
        column("cwnd_bytes", log, |sample| sample.window.map(|window| window.cwnd)),
        column("ssthresh_bytes", log, |sample| sample.window?.ssthresh),
        column("flight_size_bytes", log, |sample| sample.window.map(|window| window.flight_size)),
        column("srtt_ns", log, |sample| sample.srtt.map(|srtt| srtt.as_nanos())),
    ];
    let log = &trace.queues;
    let queues = vec![
        times(log),
        column("queue", log, |sample| u64::from(sample.queue).into()),
        column("packets", log, |sample| sample.packets.into()),
    ];
    let log = &trace.events;
    let events = vec![
        times(log),
        column("event", log, |event| (event.kind as u64).into()),
        column("flow", log, |event| u64::from(event.flow).into()),
        column("queue", log, |event| event.queue.map(u64::from)),
        column("cwnd_bytes", log, |event| event.sender.map(|(window, _)| window.cwnd)),
        column("ssthresh_bytes", log, |event| event.sender?.0.ssthresh),
        column("flight_size_bytes", log, |event| {
            event.sender.map(|(window, _)| window.flight_size)
        }),
        column("cwnd_after_bytes", log, |event| event.sender.map(|(_, after)| after)),
    ];
    let log = &trace.ppdus;
    let ppdus = vec![
        times(log),
        column("queue", log, |ppdu| u64::from(ppdu.queue).into()),
        column("receiver", log, |ppdu| u64::from(ppdu.receiver).into()),
        column("mpdus", log, |ppdu| u64::from(ppdu.mpdus).into()),
        column("bytes", log, |ppdu| ppdu.bytes.into()),
        column("rate_bps", log, |ppdu| ppdu.rate.into()),
        column("airtime_ns", log, |ppdu| ppdu.airtime.as_nanos().into()),
        column("failed", log, |ppdu| u64::from(ppdu.failed).into()),
    ];
    [("flows", flows), ("queues", queues), ("events", events), ("ppdus", ppdus)]
}

fn times<R>(log: &Log<R>) -> (&'static str, Vec<u8>) {
    ("time_ns", longs(log.entries().iter().map(|(at, _)| at.as_nanos())))
}

fn column<R>(
    name: &'static str,
    log: &Log<R>,
    value: impl Fn(&R) -> Option<u64>,
) -> (&'static str, Vec<u8>) {
    let number = |record| {
        value(record).map_or(-1, |value| i64::try_from(value).unwrap_or(i64::MAX)).to_le_bytes()
    };
    (name, log.entries().iter().flat_map(|(_, record)| number(record)).collect())
}

fn doubles(values: impl IntoIterator<Item = f64>) -> Vec<u8> {
    values.into_iter().flat_map(f64::to_le_bytes).collect()
}

fn longs(values: impl IntoIterator<Item = u64>) -> Vec<u8> {
    values.into_iter().flat_map(u64::to_le_bytes).collect()
}
