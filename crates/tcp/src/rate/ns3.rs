//! How ns-3's tcp-rate-ops.cc (3.44) takes rate samples, where it differs from Linux.
//!
//! A segment ends an interval only if more had been delivered when it was sent than for the last
//! one that did. Until then that interval stays, while delivered bytes count on. If many segments
//! are sent between two ACKs, as before an A-MPDU, samples are too high. The minimum *smoothed* RTT
//! limits the interval from below.

use airtcp_kernel::{Duration, Time};

use super::{RateSample, Record};

/// Timestamps count milliseconds; round trips are differences of them.
const TICK_NS: u64 = 1_000_000;
/// The RTT that stands for "none".
const LEAST_RTT: Duration = Duration::from_micros(1);

/// State kept from one ACK to the next.
#[derive(Clone, Debug, Default)]
pub(super) struct Sampler {
    last: Option<(Record, Duration)>,
    /// The RTT smoothed over all ACKs, and its minimum.
    smoothed: Option<Duration>,
    least: Option<Duration>,
}

impl Sampler {
    /// See [`Rates::on_ack`](super::Rates::on_ack); `delivered` is the total.
    pub(super) fn sample(
        &mut self,
        now: Time,
        newest: Option<Record>,
        newly_acked: u64,
        rtt: Option<Duration>,
        delivered: u64,
        first_sent: &mut Time,
    ) -> RateSample {
        let rtt = rtt.map(|rtt| in_ticks(now, rtt));
        if let Some(rtt) = rtt {
            let before = self.smoothed.unwrap_or(rtt);
            let smoothed = Duration::from_nanos((7 * before.as_nanos() + rtt.as_nanos()) / 8);
            self.smoothed = Some(smoothed);
            self.least = Some(self.least.map_or(smoothed, |least| least.min(smoothed)));
        }
        let last = self.last.as_ref();
        if let Some(record) = newest.filter(|it| last.is_none_or(|last| it.is_newer(&last.0, true)))
        {
            *first_sent = record.sent;
            self.last = Some((record, record.interval(now)));
        }
        let last = self.last.filter(|_| newest.is_some());
        let is_told = |interval| {
            interval > Duration::ZERO && self.least.is_none_or(|least| interval >= least)
        };
        let told = last.filter(|(_, interval)| is_told(*interval));
        RateSample {
            rate: told.map(|(record, interval)| record.rate(delivered, interval)),
            delivered,
            prior_delivered: told.map(|(record, _)| record.delivered),
            is_app_limited: last.is_some_and(|(record, _)| record.is_app_limited),
            rtt,
            newly_acked,
            newly_lost: 0,
            in_flight: 0,
            tx_in_flight: 0,
            lost: 0,
            is_cwnd_limited: false,
        }
    }
}

/// Converts a round trip that ends now to a clock of whole ticks.
fn in_ticks(now: Time, rtt: Duration) -> Duration {
    let tick = |time: u64| time - time % TICK_NS;
    let now = now.as_nanos();
    Duration::from_nanos(tick(now) - tick(now - rtt.as_nanos())).max(LEAST_RTT)
}

#[cfg(test)]
mod tests {
    use super::super::Rates;
    use super::*;

    const fn at(micros: u64) -> Time {
        Time::from_nanos(micros * 1000)
    }

    #[test]
    fn an_interval_stays_while_nothing_newer_comes_and_what_is_delivered_counts_on() {
        // Two segments of 1000 bytes are sent at 10 ms, before anything is delivered. The first is
        // acknowledged at 20 ms: 1000 bytes in 10 ms. The second at 30 ms: 2000 bytes, still in 10
        // ms.
        let mut rates = Rates::new(true);
        let first = rates.on_sent(at(10_000), 0, 1000);
        let second = rates.on_sent(at(10_000), 1000, 1000);
        assert_eq!(rates.on_ack(at(20_000), Some(first), 1000, None, None).rate, Some(1e5));
        assert_eq!(rates.on_ack(at(30_000), Some(second), 1000, None, None).rate, Some(2e5));
    }

    #[test]
    fn round_trips_are_differences_of_milliseconds() {
        assert_eq!(in_ticks(at(5999), Duration::from_micros(2000)), Duration::from_millis(2));
        assert_eq!(in_ticks(at(6001), Duration::from_micros(2100)), Duration::from_millis(3));
        assert_eq!(in_ticks(at(6900), Duration::from_micros(800)), LEAST_RTT);
    }
}
