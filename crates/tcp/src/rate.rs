//! Delivery rate estimation: draft-cheng-iccrg-delivery-rate-estimation-02.
//!
//! Each segment in flight has a [`Record`] of what had been delivered when it was sent. When it
//! arrives, the bytes delivered since and the elapsed time give a rate sample. Only some congestion
//! controllers need it.

mod ns3;

use airtcp_kernel::{Duration, Time};

use self::ns3::Sampler;

/// State recorded when a segment is sent: section 3.1.2.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Record {
    /// P.delivered and P.delivered_time.
    delivered: u64,
    delivered_at: Time,
    /// P.first_sent_time and P.sent_time.
    first_sent: Time,
    sent: Time,
    /// P.is_app_limited.
    is_app_limited: bool,
    /// P.tx_in_flight, including this segment, and P.lost: draft-ietf-ccwg-bbr, section 4.1.2.1.2.
    tx_in_flight: u64,
    lost: u64,
}

/// State of the connection: section 3.1.1.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rates {
    /// C.delivered and C.delivered_time.
    delivered: u64,
    delivered_at: Time,
    /// C.first_sent_time.
    first_sent: Time,
    /// C.app_limited: samples are limited by the application until this much is delivered; 0: they
    /// are not.
    app_limited: u64,
    /// C.lost.
    lost: u64,
    /// The sampling rules of ns-3, if they are used.
    ns3: Option<Sampler>,
}

/// A rate sample (section 3.1.3), and other data that controllers need. In bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RateSample {
    /// Bytes/s; `None` if the interval was too short.
    pub(crate) rate: Option<f64>,
    /// C.delivered now, and when the sampled segment was sent; `None`: no sample.
    pub(crate) delivered: u64,
    pub(crate) prior_delivered: Option<u64>,
    pub(crate) is_app_limited: bool,
    /// The round trip of the newest segment.
    pub(crate) rtt: Option<Duration>,
    pub(crate) newly_acked: u64,
    pub(crate) newly_lost: u64,
    /// Bytes in flight after the ACK.
    pub(crate) in_flight: u64,
    /// RS.tx_in_flight, in flight when the newest segment was sent, and RS.lost, lost since.
    pub(crate) tx_in_flight: u64,
    pub(crate) lost: u64,
    /// C.is_cwnd_limited: whether the window was full in the last round trip.
    pub(crate) is_cwnd_limited: bool,
}

/// A segment detected as lost.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LostSegment {
    pub(crate) start: u64,
    pub(crate) size: u64,
    /// Bytes in flight when it was sent, including itself.
    pub(crate) tx_in_flight: u64,
    /// Lost since then, including itself.
    pub(crate) lost: u64,
    pub(crate) is_app_limited: bool,
    /// C.delivered now.
    pub(crate) delivered: u64,
}

impl Rates {
    pub(crate) fn new(is_ns3: bool) -> Self {
        Self { ns3: is_ns3.then(Sampler::default), ..Self::default() }
    }

    /// Records that a segment of `size` bytes is sent, with `in_flight` bytes in flight before.
    pub(crate) fn on_sent(&mut self, now: Time, in_flight: u64, size: u64) -> Record {
        if in_flight == 0 {
            (self.first_sent, self.delivered_at) = (now, now);
        }
        Record {
            delivered: self.delivered,
            delivered_at: self.delivered_at,
            first_sent: self.first_sent,
            sent: now,
            is_app_limited: self.app_limited != 0,
            tx_in_flight: in_flight + size,
            lost: self.lost,
        }
    }

    /// Records that the segment with this record was lost.
    pub(crate) fn on_lost(&mut self, start: u64, size: u64, record: &Record) -> LostSegment {
        self.lost += size;
        LostSegment {
            start,
            size,
            tx_in_flight: record.tx_in_flight,
            lost: self.lost - record.lost,
            is_app_limited: record.is_app_limited,
            delivered: self.delivered,
        }
    }

    /// Returns RS.lost: the bytes lost since the segment with this record was sent.
    pub(crate) fn lost_since(&self, record: &Record) -> u64 {
        self.lost - record.lost
    }

    /// Records that the application has no more data although the window has room: section 3.4.
    pub(crate) fn on_app_limited(&mut self, in_flight: u64) {
        self.app_limited = (self.delivered + in_flight).max(1);
    }

    /// Whether it follows the rules of ns-3.
    pub(crate) fn is_ns3(&self) -> bool {
        self.ns3.is_some()
    }

    /// Processes an ACK for `newly_acked` bytes; `newest` is the record of the newest segment among
    /// them, and `rtt` its round trip.
    pub(crate) fn on_ack(
        &mut self,
        now: Time,
        newest: Option<Record>,
        newly_acked: u64,
        rtt: Option<Duration>,
        min_rtt: Option<Duration>,
    ) -> RateSample {
        if newly_acked > 0 {
            self.delivered += newly_acked;
            self.delivered_at = now;
        }
        if self.app_limited != 0 && self.delivered > self.app_limited {
            self.app_limited = 0;
        }
        if let Some(sampler) = &mut self.ns3 {
            let first_sent = &mut self.first_sent;
            return sampler.sample(now, newest, newly_acked, rtt, self.delivered, first_sent);
        }
        let mut rate = None;
        if let Some(record) = newest {
            self.first_sent = record.sent;
            let interval = record.interval(now);
            let is_told =
                interval > Duration::ZERO && min_rtt.is_none_or(|least| interval >= least);
            rate = is_told.then(|| record.rate(self.delivered, interval));
        }
        RateSample {
            rate,
            delivered: self.delivered,
            prior_delivered: newest.map(|record| record.delivered),
            is_app_limited: newest.is_some_and(|record| record.is_app_limited),
            rtt,
            newly_acked,
            newly_lost: 0,
            in_flight: 0,
            tx_in_flight: newest.map_or(0, |record| record.tx_in_flight),
            lost: 0,
            is_cwnd_limited: false,
        }
    }
}

impl Record {
    /// Whether it was sent after `other`: more had been delivered, or it was sent later. On a tie
    /// in delivered bytes ns-3 keeps the first.
    pub(crate) fn is_newer(&self, other: &Self, is_ns3: bool) -> bool {
        if is_ns3 {
            return self.delivered > other.delivered;
        }
        (self.delivered, self.sent) >= (other.delivered, other.sent)
    }

    /// Returns the longer of the send interval and the ACK interval, for a segment that is
    /// acknowledged now.
    fn interval(&self, now: Time) -> Duration {
        let send = self.sent.saturating_since(self.first_sent);
        send.max(now.saturating_since(self.delivered_at))
    }

    /// Returns the rate in bytes/s, given the total `delivered`.
    fn rate(&self, delivered: u64, interval: Duration) -> f64 {
        (delivered - self.delivered) as f64 / interval.as_secs_f64()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn at(millis: u64) -> Time {
        Time::from_nanos(millis * 1_000_000)
    }

    #[test]
    fn a_sample_is_what_arrives_in_the_longer_of_sending_and_acknowledging() {
        // Two segments of 1000 bytes are sent at 0 and 10 ms, and acknowledged at 100 and 130 ms.
        // The second sample: both arrived since time 0, when nothing had been delivered, so 2000
        // bytes in 130 ms.
        let mut rates = Rates::default();
        let first = rates.on_sent(at(0), 0, 1000);
        let second = rates.on_sent(at(10), 1000, 1000);
        assert_eq!(rates.on_ack(at(100), Some(first), 1000, None, None).rate, Some(10_000.0));
        let sample = rates.on_ack(at(130), Some(second), 1000, None, None);
        assert!((sample.rate.unwrap() - 2000.0 / 0.13).abs() < 1e-6);
        // A segment sent at 100 ms and acknowledged at 200 ms: its own bytes and the second's 1000.
        let mut rates = Rates::default();
        let first = rates.on_sent(at(0), 0, 1000);
        let second = rates.on_sent(at(10), 1000, 1000);
        rates.on_ack(at(100), Some(first), 1000, None, None);
        let third = rates.on_sent(at(100), 1000, 1000);
        rates.on_ack(at(110), Some(second), 1000, None, None);
        assert_eq!(rates.on_ack(at(200), Some(third), 1000, None, None).rate, Some(20_000.0));
    }

    #[test]
    fn acknowledgments_that_come_together_do_not_raise_the_rate_beyond_the_sending() {
        // Ten segments, one every 10 ms, and all their ACKs at 150 ms: nothing had been delivered
        // since time 0, 150 ms ago.
        let mut rates = Rates::default();
        let records: Vec<_> =
            (0..10).map(|index| rates.on_sent(at(10 * index), index * 1000, 1000)).collect();
        let sample = rates.on_ack(at(150), Some(records[9]), 10_000, None, None);
        assert!((sample.rate.unwrap() - 10_000.0 / 0.15).abs() < 1e-6);
    }

    #[test]
    fn a_sample_of_an_idle_application_says_so_until_what_it_sent_is_delivered() {
        let mut rates = Rates::default();
        let before = rates.on_sent(at(0), 0, 1000);
        rates.on_app_limited(1000);
        let during = rates.on_sent(at(1), 1000, 1000);
        assert!(!rates.on_ack(at(100), Some(before), 1000, None, None).is_app_limited);
        assert!(rates.on_ack(at(101), Some(during), 1000, None, None).is_app_limited);
        assert!(!rates.on_sent(at(102), 0, 1000).is_app_limited);
    }

    #[test]
    fn an_interval_below_the_least_round_trip_tells_nothing() {
        let mut rates = Rates::default();
        let record = rates.on_sent(at(0), 0, 1000);
        let sample = rates.on_ack(at(5), Some(record), 1000, None, Some(Duration::from_millis(10)));
        assert_eq!((sample.rate, sample.delivered), (None, 1000));
    }
}
