//! Sources of jobs: an open stream of arrivals, or users that think between jobs.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use airtcp_kernel::{Distribution, RandomStream, Sampler};

/// A source of jobs.
pub(crate) trait Source {
    /// Returns the time of the next arrival, or infinity if none can come before a departure.
    fn next_arrival(&self) -> f64;
    /// Takes the next arrival and returns its size, which is positive.
    fn arrive(&mut self) -> f64;
    /// Records that a job left at `now`.
    fn departed(&mut self, now: f64);
    /// Checks that no job is lost, given `present` jobs in the system; the error says what is
    /// wrong.
    fn balance(&self, present: usize) -> Result<(), String>;
}

/// A law and its random stream.
struct Draws {
    sampler: Sampler,
    stream: RandomStream,
}

impl Draws {
    fn new((law, stream): (&Distribution, RandomStream)) -> Self {
        Self { sampler: Sampler::new(law.clone()), stream }
    }

    fn time(&mut self) -> f64 {
        self.sampler.draw(&mut self.stream)
    }

    /// Draws a size. It is positive so that slowdown is defined: an exponential draw is zero once
    /// in 2^53 draws.
    fn size(&mut self) -> f64 {
        self.sampler.draw(&mut self.stream).max(f64::MIN_POSITIVE)
    }
}

/// Arrivals that are independent of the system: a renewal process, Poisson if the law is
/// exponential.
pub(crate) struct OpenSource {
    gaps: Draws,
    sizes: Draws,
    next: f64,
}

impl OpenSource {
    pub(crate) fn new(
        gaps: (&Distribution, RandomStream),
        sizes: (&Distribution, RandomStream),
    ) -> Self {
        let mut gaps = Draws::new(gaps);
        let next = gaps.time();
        Self { gaps, sizes: Draws::new(sizes), next }
    }
}

impl Source for OpenSource {
    #[inline]
    fn next_arrival(&self) -> f64 {
        self.next
    }

    #[inline]
    fn arrive(&mut self) -> f64 {
        self.next += self.gaps.time();
        self.sizes.size()
    }

    #[inline]
    fn departed(&mut self, _now: f64) {}

    fn balance(&self, _present: usize) -> Result<(), String> {
        Ok(())
    }
}

/// Sources that think, send one job and wait until it leaves. At time 0 all of them think.
pub(crate) struct ClosedSource {
    sources: usize,
    thinking: BinaryHeap<Reverse<Instant>>,
    think_times: Draws,
    sizes: Draws,
}

/// A time in seconds with a total order.
#[derive(Clone, Copy, PartialEq)]
struct Instant(f64);

impl Eq for Instant {}

impl Ord for Instant {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.total_cmp(&other.0)
    }
}

impl PartialOrd for Instant {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl ClosedSource {
    pub(crate) fn new(
        sources: usize,
        think_times: (&Distribution, RandomStream),
        sizes: (&Distribution, RandomStream),
    ) -> Self {
        let mut think_times = Draws::new(think_times);
        let thinking = (0..sources).map(|_| Reverse(Instant(think_times.time()))).collect();
        Self { sources, thinking, think_times, sizes: Draws::new(sizes) }
    }
}

impl Source for ClosedSource {
    #[inline]
    fn next_arrival(&self) -> f64 {
        self.thinking.peek().map_or(f64::INFINITY, |&Reverse(Instant(time))| time)
    }

    #[inline]
    fn arrive(&mut self) -> f64 {
        self.thinking.pop();
        self.sizes.size()
    }

    #[inline]
    fn departed(&mut self, now: f64) {
        self.thinking.push(Reverse(Instant(now + self.think_times.time())));
    }

    fn balance(&self, present: usize) -> Result<(), String> {
        let (thinking, sources) = (self.thinking.len(), self.sources);
        if thinking + present == sources {
            Ok(())
        } else {
            Err(format!("{thinking} of {sources} sources think while {present} wait"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stream() -> RandomStream {
        RandomStream::new(1, 0, "test", "source")
    }

    #[test]
    fn open_arrivals_add_up_their_gaps() {
        let gap = Distribution::Deterministic { value: 0.5 };
        let size = Distribution::Deterministic { value: 3.0 };
        let mut source = OpenSource::new((&gap, stream()), (&size, stream()));

        let times: Vec<f64> = (0..3)
            .map(|_| {
                let time = source.next_arrival();
                assert_eq!(source.arrive(), 3.0);
                time
            })
            .collect();

        assert_eq!(times, [0.5, 1.0, 1.5]);
    }

    #[test]
    fn a_source_that_waits_does_not_send() {
        let think = Distribution::Deterministic { value: 2.0 };
        let size = Distribution::Deterministic { value: 1.0 };
        let mut source = ClosedSource::new(2, (&think, stream()), (&size, stream()));

        assert_eq!(source.next_arrival(), 2.0);
        source.arrive();
        source.arrive();
        assert_eq!(source.next_arrival(), f64::INFINITY);
        assert_eq!(source.balance(2), Ok(()));
        // One job leaves at 5; its source thinks for 2 s.
        source.departed(5.0);
        assert_eq!(source.next_arrival(), 7.0);
        assert_eq!(source.balance(1), Ok(()));
        assert!(source.balance(2).unwrap_err().contains("1 of 2 sources think while 2 wait"));
    }
}
