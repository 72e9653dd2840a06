//! The rate at which a path delivers: draft-cheng-iccrg-delivery-rate-estimation-02.
//!
//! Each segment under way has a [`Record`] of what had been delivered when it left; when it arrives, what
//! was delivered since, and how long that took, is a sample. Kept only for controllers that ask. Does
//! not know what is done with a sample.

mod ns3;

use airtcp_kernel::{Duration, Time};

use self::ns3::Sampler;

/// The record of a segment when it is sent: section 3.1.2.
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
    /// P.tx_in_flight, this segment included, and P.lost: draft-ietf-ccwg-bbr, section 4.1.2.1.2.
    tx_in_flight: u64,
    lost: u64,
}

/// The connection's part: section 3.1.1.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rates {
    /// C.delivered and C.delivered_time.
    delivered: u64,
    delivered_at: Time,
    /// C.first_sent_time.
    first_sent: Time,
    /// C.app_limited: until so much is delivered, samples are of the application's making; 0: none.
    app_limited: u64,
    /// C.lost.
    lost: u64,
    /// Of which segments there are samples in ns-3, if its rules are kept.
    ns3: Option<Sampler>,
}

/// A sample: section 3.1.3, and what controllers want to know besides. In bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RateSample {
    /// Bytes a second; `None` if the interval was too short to tell.
    pub(crate) rate: Option<f64>,
    /// C.delivered now, and when the segment that this is a sample of was sent; `None`: there is none.
    pub(crate) delivered: u64,
    pub(crate) prior_delivered: Option<u64>,
    pub(crate) is_app_limited: bool,
    /// The round trip of the newest segment.
    pub(crate) rtt: Option<Duration>,
    pub(crate) newly_acked: u64,
    pub(crate) newly_lost: u64,
    /// Under way after the acknowledgment.
    pub(crate) in_flight: u64,
    /// RS.tx_in_flight: under way when the newest segment left; and RS.lost: found lost since.
    pub(crate) tx_in_flight: u64,
    pub(crate) lost: u64,
    /// C.is_cwnd_limited: the window has been full in the last round trip.
    pub(crate) is_cwnd_limited: bool,
}

/// A segment that was found lost.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LostSegment {
    pub(crate) start: u64,
    pub(crate) size: u64,
    /// Under way when it left, itself included.
    pub(crate) tx_in_flight: u64,
    /// Found lost since, itself included.
    pub(crate) lost: u64,
    pub(crate) is_app_limited: bool,
    /// C.delivered now.
    pub(crate) delivered: u64,
}

impl Rates {
    pub(crate) fn new(is_ns3: bool) -> Self {
        Self { ns3: is_ns3.then(Sampler::default), ..Self::default() }
    }

    /// Notes that a segment of `size` is sent, with so much under way before.
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

    /// Notes that the segment with these numbers and this record was found lost.
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

    /// Returns the bytes found lost since the segment with this record left: RS.lost.
    pub(crate) fn lost_since(&self, record: &Record) -> u64 {
        self.lost - record.lost
    }

    /// Notes that there is nothing more to send with room in the window and so much under way: section 3.4.
    pub(crate) fn on_app_limited(&mut self, in_flight: u64) {
        self.app_limited = (self.delivered + in_flight).max(1);
    }

    /// Tells whether the rules of ns-3 are kept.
    pub(crate) fn is_ns3(&self) -> bool {
        self.ns3.is_some()
    }

    /// Takes `newly_acked` bytes that have arrived, the newest of which has this record, and whose round trip is `rtt`.
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
    /// Tells whether it was sent after another one: more had been delivered, or it left later. ns-3 keeps the first
    /// of those for which as much had been.
    pub(crate) fn is_newer(&self, other: &Self, is_ns3: bool) -> bool {
        if is_ns3 {
            return self.delivered > other.delivered;
        }
        (self.delivered, self.sent) >= (other.delivered, other.sent)
    }

    /// Returns the longer of sending and acknowledging, for a segment that is acknowledged now.
    fn interval(&self, now: Time) -> Duration {
        let send = self.sent.saturating_since(self.first_sent);
        send.max(now.saturating_since(self.delivered_at))
    }

    /// Returns the bytes a second, of which `delivered` have arrived in all.
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
        // Two segments of 1000 bytes leave at 0 and 10 ms, and are acknowledged at 100 and 130 ms. The second's
        // sample: both arrived since nothing was delivered, at time 0, so 2000 bytes in 130 ms.
        let mut rates = Rates::default();
        let first = rates.on_sent(at(0), 0, 1000);
        let second = rates.on_sent(at(10), 1000, 1000);
        assert_eq!(rates.on_ack(at(100), Some(first), 1000, None, None).rate, Some(10_000.0));
        let sample = rates.on_ack(at(130), Some(second), 1000, None, None);
        assert!((sample.rate.unwrap() - 2000.0 / 0.13).abs() < 1e-6);
        // One that is sent at 100 ms and acknowledged at 200 ms: the second's 1000 bytes and its own.
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
        // Ten segments, one every 10 ms, and their acknowledgments all at 150 ms: nothing was delivered since
        // time 0, which is 150 ms ago.
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
