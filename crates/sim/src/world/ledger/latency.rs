//! Delays of packets of some flows: round trips, queueing, reordering, one-way delays of datagrams;
//! and received datagrams. Reset at the end of the warm-up.

use std::ops::AddAssign;

use airtcp_kernel::{Duration, Time};

use super::metrics::fraction;
use crate::delays::Delays;
use crate::e_model::Codec;
use crate::outcome::Metrics;
use crate::round_trips::Trip;

/// The delays of packets of some flows.
#[derive(Clone, Debug, Default)]
pub(in crate::world) struct Latency {
    /// Round-trip times at the sender, of segments sent once, by what ended the round trip.
    acknowledged: Delays,
    sacked: Delays,
    covered: Delays,
    /// Delays from the arrival at the access point's queue to the MAC acknowledgment.
    pub(in crate::world) ap_queue: Delays,
    /// Delays from the reception of frames to their delivery.
    pub(in crate::world) reorder: Delays,
    /// One-way delays of datagrams.
    pub(in crate::world) packet: Delays,
    /// The sum over datagrams of 16 times the jitter in nanoseconds.
    jitter_sum: u128,
    /// Lost datagrams.
    pub(in crate::world) lost: u64,
}

/// The receiver state of a flow of datagrams.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::world) struct Jitter {
    /// The delay of the last datagram, in nanoseconds.
    last: Option<u64>,
    /// 16 times the estimate in nanoseconds.
    estimate: u64,
}

/// The packets of one direction of a call.
#[derive(Clone, Debug)]
pub(in crate::world) struct Speech {
    codec: Codec,
    delays: Delays,
    lost: u64,
}

impl Speech {
    pub(in crate::world) fn new(codec: Codec) -> Self {
        Self { codec, delays: Delays::default(), lost: 0 }
    }

    pub(in crate::world) fn clear(&mut self) {
        *self = Self::new(self.codec);
    }

    pub(in crate::world) fn received(&mut self, delay: Duration) {
        self.delays.add(delay);
    }

    pub(in crate::world) fn lost(&mut self) {
        self.lost += 1;
    }

    /// Returns R of the E-model; `None` if nothing was sent.
    pub(in crate::world) fn rating(&self) -> Option<f64> {
        self.codec.best_rating(&self.delays, self.lost)
    }
}

impl Latency {
    /// Counts a received datagram that was sent at `sent`.
    #[inline]
    pub(in crate::world) fn datagram(&mut self, sent: Time, now: Time, jitter: &mut Jitter) {
        let delay = now - sent;
        self.packet.add(delay);
        self.jitter_sum += u128::from(jitter.next(delay.as_nanos()));
    }

    /// Counts the round trip of a segment that was sent at `sent`.
    #[inline(always)]
    pub(in crate::world) fn round_trip(&mut self, trip: Trip, sent: Time, now: Time) {
        let delays = match trip {
            Trip::Acknowledged => &mut self.acknowledged,
            Trip::Sacked => &mut self.sacked,
            Trip::Covered => &mut self.covered,
        };
        delays.add(now - sent);
    }

    pub(in crate::world) fn clear(&mut self) {
        *self = Self::default();
    }

    /// Returns the histograms in the order of [`DelayBin::kind`](crate::outcome::DelayBin).
    pub(in crate::world) fn kinds(&self) -> [&Delays; 6] {
        let Self { acknowledged, sacked, covered, ap_queue, reorder, packet, .. } = self;
        [acknowledged, sacked, covered, ap_queue, reorder, packet]
    }

    pub(in crate::world) fn metrics(&self) -> Metrics {
        let datagrams = self.packet.count();
        let jitter = |sum: u128| sum as f64 / 16.0 / datagrams as f64 / 1e9;
        let mut metrics = Metrics::from([
            ("packet_loss", fraction(self.lost, self.lost + datagrams)),
            ("jitter_s", (datagrams > 0).then(|| jitter(self.jitter_sum))),
        ]);
        let names = [
            ["rtt_s", "rtt_p50_s", "rtt_p90_s", "rtt_p95_s", "rtt_p99_s"],
            ["path_rtt_s", "path_rtt_p50_s", "path_rtt_p90_s", "path_rtt_p95_s", "path_rtt_p99_s"],
            [
                "ap_queue_delay_s",
                "ap_queue_delay_p50_s",
                "ap_queue_delay_p90_s",
                "ap_queue_delay_p95_s",
                "ap_queue_delay_p99_s",
            ],
            [
                "reorder_delay_s",
                "reorder_delay_p50_s",
                "reorder_delay_p90_s",
                "reorder_delay_p95_s",
                "reorder_delay_p99_s",
            ],
            [
                "packet_delay_s",
                "packet_delay_p50_s",
                "packet_delay_p90_s",
                "packet_delay_p95_s",
                "packet_delay_p99_s",
            ],
        ];
        // Almost all segments are acknowledged without a SACK before, and need only one record.
        let (mut rtt, mut path_rtt) = (self.acknowledged.clone(), self.acknowledged.clone());
        rtt += &self.covered;
        path_rtt += &self.sacked;
        let delays = [&rtt, &path_rtt, &self.ap_queue, &self.reorder, &self.packet];
        for ([mean, quantiles @ ..], delays) in names.into_iter().zip(delays) {
            metrics.insert(mean, delays.mean_s());
            metrics.extend(quantiles.into_iter().zip(delays.quantiles_s([0.5, 0.9, 0.95, 0.99])));
        }
        metrics
    }
}

impl AddAssign<&Self> for Latency {
    fn add_assign(&mut self, other: &Self) {
        self.acknowledged += &other.acknowledged;
        self.sacked += &other.sacked;
        self.covered += &other.covered;
        self.ap_queue += &other.ap_queue;
        self.reorder += &other.reorder;
        self.packet += &other.packet;
        self.jitter_sum += other.jitter_sum;
        self.lost += other.lost;
    }
}

impl Jitter {
    /// Adds a sixteenth of the change in delay to the estimate (RFC 3550, 6.4.1 and A.8).
    #[inline]
    fn next(&mut self, delay: u64) -> u64 {
        let change = self.last.replace(delay).map_or(0, |last| delay.abs_diff(last));
        self.estimate += change;
        self.estimate -= (self.estimate - change + 8) >> 4;
        self.estimate
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One segment is acknowledged after 10 ms. The other is SACKed after 10 ms and covered after
    /// 30 ms.
    #[test]
    fn a_trip_on_the_path_does_not_wait_for_earlier_segments() {
        let mut latency = Latency::default();
        let at = |millis| Time::ZERO + Duration::from_millis(millis);
        latency.round_trip(Trip::Acknowledged, at(0), at(10));
        latency.round_trip(Trip::Sacked, at(5), at(15));
        latency.round_trip(Trip::Covered, at(5), at(35));

        let metrics = latency.metrics();

        assert_eq!((metrics["rtt_s"], metrics["path_rtt_s"]), (Some(0.02), Some(0.01)));
    }

    /// Datagrams that take 100, 116, 116 and 84 us: |D| = 16, 0, 32, so J = 0, 1, 1 - 1/16 and
    /// 15/16 + (32 - 15/16) / 16 us.
    #[test]
    fn jitter_is_that_of_rfc_3550() {
        let mut latency = Latency::default();
        let mut jitter = Jitter::default();
        for (sent, took) in [(0, 100), (1_000, 116), (2_000, 116), (3_000, 84)] {
            let sent = Time::ZERO + Duration::from_micros(sent);
            latency.datagram(sent, sent + Duration::from_micros(took), &mut jitter);
        }
        latency.lost = 1;

        let metrics = latency.metrics();

        let last = 0.9375 + (32.0 - 0.9375) / 16.0;
        let mean_us = (0.0 + 1.0 + 0.9375 + last) / 4.0;
        let found = metrics["jitter_s"].unwrap();
        // The estimate has a unit of a sixteenth of a nanosecond.
        assert!((found - mean_us * 1e-6).abs() < 1e-10, "{found}");
        assert_eq!(metrics["packet_delay_s"], Some(104e-6));
        assert_eq!(metrics["packet_loss"], Some(0.2));
        assert_eq!(metrics["rtt_s"], None);
    }
}
