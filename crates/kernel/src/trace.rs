//! Sinks for traces of a run: time-stamped records, sampling instants, and bytes for a file.
//!
//! Nothing here draws a random number or schedules an event, so tracing does not change a run.

use std::fmt;
use std::io::{self, Write};

use crate::time::{Duration, Time};

/// Records of one kind, in order of time.
#[derive(Clone, Debug)]
pub struct Log<R> {
    entries: Vec<(Time, R)>,
}

impl<R> Log<R> {
    /// Creates an empty log.
    pub const fn new() -> Self {
        Self { entries: Vec::new() }
    }

    /// Appends a record at `at`, which must not be earlier than the last one.
    pub fn record(&mut self, at: Time, record: R) {
        debug_assert!(self.entries.last().is_none_or(|(last, _)| *last <= at));
        self.entries.push((at, record));
    }

    /// Returns all records with their times.
    pub fn entries(&self) -> &[(Time, R)] {
        &self.entries
    }
}

impl<R> Default for Log<R> {
    fn default() -> Self {
        Self::new()
    }
}

/// Sampling instants: one interval after the start, two, three, ...
#[derive(Clone, Copy, Debug)]
pub struct Ticks {
    next: Time,
    interval: Duration,
}

impl Ticks {
    /// Creates instants at multiples of `interval`.
    ///
    /// # Panics
    /// If the interval is zero.
    pub fn new(interval: Duration) -> Self {
        assert!(interval > Duration::ZERO, "samples need an interval");
        Self { next: Time::ZERO + interval, interval }
    }

    /// Returns the next instant and advances past it, if it is not later than `until`.
    pub fn next_until(&mut self, until: Time) -> Option<Time> {
        if self.next > until {
            return None;
        }
        let tick = self.next;
        self.next += self.interval;
        Some(tick)
    }

    /// Returns the sampling interval.
    pub fn interval(&self) -> Duration {
        self.interval
    }
}

/// A sink of bytes for a file. After the first write error it discards everything; the run can
/// check for the error at any time.
pub struct ByteSink {
    out: Box<dyn Write + Send>,
    failure: Option<io::Error>,
}

impl ByteSink {
    /// Writes to `out`, which should be buffered.
    pub fn new(out: Box<dyn Write + Send>) -> Self {
        Self { out, failure: None }
    }

    /// Writes some bytes.
    pub fn write(&mut self, bytes: &[u8]) {
        if self.failure.is_none() {
            self.failure = self.out.write_all(bytes).err();
        }
    }

    /// Returns the error of the first failed write, if any.
    pub fn failure(&self) -> Option<&io::Error> {
        self.failure.as_ref()
    }

    /// Flushes the buffer.
    pub fn flush(&mut self) {
        if self.failure.is_none() {
            self.failure = self.out.flush().err();
        }
    }
}

impl fmt::Debug for ByteSink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ByteSink").field("failure", &self.failure).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_come_once_each_and_include_the_end() {
        let mut ticks = Ticks::new(Duration::from_nanos(4));
        let mut until = |nanos| {
            std::iter::from_fn(|| ticks.next_until(Time::from_nanos(nanos)))
                .map(Time::as_nanos)
                .collect::<Vec<_>>()
        };

        assert_eq!(until(3), []);
        assert_eq!(until(8), [4, 8]);
        assert_eq!(until(8), []);
        assert_eq!(until(17), [12, 16]);
    }

    /// Accepts this many bytes, then fails.
    struct Disk(usize);

    impl Write for Disk {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            if bytes.len() > self.0 {
                return Err(io::ErrorKind::StorageFull.into());
            }
            self.0 -= bytes.len();
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn the_first_failure_is_the_last() {
        let mut sink = ByteSink::new(Box::new(Disk(4)));
        sink.write(b"abc");
        assert!(sink.failure().is_none());
        sink.write(b"de");
        sink.write(b"f");
        sink.flush();

        assert_eq!(sink.failure().unwrap().kind(), io::ErrorKind::StorageFull);
    }

    #[test]
    fn a_log_keeps_the_order_of_what_happens_at_once() {
        let mut log = Log::new();
        for (nanos, record) in [(1, 'a'), (2, 'c'), (2, 'b')] {
            log.record(Time::from_nanos(nanos), record);
        }

        let records: Vec<char> = log.entries().iter().map(|(_, record)| *record).collect();
        assert_eq!(records, ['a', 'c', 'b']);
    }
}
