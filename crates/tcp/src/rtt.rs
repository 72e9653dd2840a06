//! The retransmission timeout of RFC 6298, computed from RTT samples.
//!
//! It times one segment at a time and discards it when anything is retransmitted (Karn's
//! algorithm). The [sender](crate::sender) runs the timer.

use std::num::NonZeroU64;

use airtcp_kernel::{Duration, Time};

use crate::{At, Config, RtoFloor};

/// The RTO for data after a lost SYN: RFC 6298 (5.7).
const RTO_AFTER_SYN_TIMEOUT: Duration = Duration::from_secs(3);

/// SRTT, RTTVAR and RTO of RFC 6298 section 2, and the segment being timed.
#[derive(Clone, Debug)]
pub(crate) struct RttEstimator {
    /// Zero before the first sample.
    srtt: Duration,
    rttvar: Duration,
    rto: Duration,
    timed: Option<Timed>,
}

/// The segment being timed.
#[derive(Clone, Copy, Debug)]
struct Timed {
    /// The ACK number that covers it; not zero, which keeps the `Option` small.
    end: NonZeroU64,
    sent: Time,
}

impl RttEstimator {
    pub(crate) fn new(config: &Config) -> Self {
        Self {
            srtt: Duration::ZERO,
            rttvar: Duration::ZERO,
            // RFC 6298 (2.1), with the configured value.
            rto: config.initial_rto,
            timed: None,
        }
    }

    /// Records a segment that ends before `end` and is sent for the first time.
    #[inline]
    pub(crate) fn on_sent(&mut self, now: Time, end: u64) {
        // RFC 6298 section 3 wants at least one sample per round trip; this takes exactly one.
        if self.timed.is_none() {
            self.timed = NonZeroU64::new(end).map(|end| Timed { end, sent: now });
        }
    }

    /// Stops timing because something is retransmitted. RFC 6298 section 3: "RTT samples MUST NOT
    /// be made using segments that were retransmitted". A later segment is not timed either: its
    /// ACK waits until the hole is filled, which is not the path's delay.
    pub(crate) fn on_retransmission(&mut self) {
        self.timed = None;
    }

    /// Processes a cumulative ACK of everything before `ack`.
    #[inline]
    pub(crate) fn on_ack(&mut self, at: At<'_>, ack: u64) {
        if let Some(Timed { end, sent }) = self.timed
            && end.get() <= ack
        {
            self.timed = None;
            self.measure(at.config, at.now.saturating_since(sent));
        }
    }

    /// Processes the echoed timestamp in an ACK of new data: its segment was sent `rtt` ago. The
    /// echo identifies the copy that arrived, so it counts if no segment is being timed. Otherwise
    /// our own clock is finer, as in Linux.
    pub(crate) fn on_echo(&mut self, config: &Config, rtt: Duration) {
        if self.timed.is_none() {
            self.measure(config, rtt);
        }
    }

    /// Backs off. RFC 6298 (5.5): "the host MUST set RTO <- RTO * 2", up to the maximum of (2.5).
    /// The value stays until the next RTT sample.
    pub(crate) fn back_off(&mut self, config: &Config) {
        self.rto = (self.rto * 2).min(config.max_rto);
    }

    /// Sets the RTO for data after a lost SYN. RFC 6298 (5.7): if the timer of a SYN has expired
    /// and the RTO is less than 3 seconds, it is set to 3 seconds when data transmission begins.
    /// (There is no RTT sample then, because the SYN was sent twice.)
    pub(crate) fn after_syn_timeout(&mut self, config: &Config) {
        if config.initial_rto < RTO_AFTER_SYN_TIMEOUT {
            self.rto = RTO_AFTER_SYN_TIMEOUT.min(config.max_rto);
        }
    }

    /// Returns SRTT once there is an RTT sample.
    pub(crate) fn srtt(&self) -> Option<Duration> {
        (self.srtt > Duration::ZERO).then_some(self.srtt)
    }

    #[inline]
    pub(crate) fn rto(&self) -> Duration {
        self.rto
    }

    fn measure(&mut self, config: &Config, rtt: Duration) {
        // Tests use paths without delay; zero stands for "never measured".
        let r = rtt.as_nanos().max(1);
        let (srtt, rttvar) = if self.srtt == Duration::ZERO {
            // RFC 6298 (2.2).
            (r, r / 2)
        } else {
            // RFC 6298 (2.3): alpha = 1/8, beta = 1/4, RTTVAR first, with the old SRTT.
            let srtt = self.srtt.as_nanos();
            let rttvar = self.rttvar.as_nanos();
            ((7 * srtt + r) / 8, (3 * rttvar + srtt.abs_diff(r)) / 4)
        };
        self.srtt = Duration::from_nanos(srtt.max(1));
        self.rttvar = Duration::from_nanos(rttvar);
        // RFC 6298 (2.2) to (2.5).
        let variation = config.clock_granularity.max(self.rttvar * 4);
        let rto = match config.rules.rto_floor {
            RtoFloor::Timeout => (self.srtt + variation).max(config.min_rto),
            RtoFloor::Variation => self.srtt + variation.max(config.min_rto),
        };
        self.rto = rto.min(config.max_rto);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Rules;

    const fn at(millis: u64) -> Time {
        Time::from_nanos(millis * 1_000_000)
    }

    fn timed(rtt: &mut RttEstimator, config: &Config, millis: u64) {
        rtt.on_sent(at(0), 2);
        rtt.on_ack(config.at(at(millis)), 2);
    }

    #[test]
    fn the_first_sample_gives_three_times_itself() {
        let config = Config { min_rto: Duration::ZERO, ..Config::standard() };
        let mut rtt = RttEstimator::new(&config);

        assert_eq!(rtt.rto(), Duration::from_secs(1));
        timed(&mut rtt, &config, 100);

        // SRTT = 100, RTTVAR = 50, RTO = 100 + 4 * 50.
        assert_eq!(rtt.rto(), Duration::from_millis(300));
    }

    #[test]
    fn the_second_sample_weighs_one_eighth_and_one_quarter() {
        let config = Config { min_rto: Duration::ZERO, ..Config::standard() };
        let mut rtt = RttEstimator::new(&config);

        timed(&mut rtt, &config, 80);
        timed(&mut rtt, &config, 160);

        // RTTVAR = 3/4 * 40 + 1/4 * |80 - 160| = 50, SRTT = 7/8 * 80 + 1/8 * 160 = 90,
        // RTO = 90 + 4 * 50 = 290.
        assert_eq!(rtt.rto(), Duration::from_millis(290));
    }

    #[test]
    fn the_clock_granularity_is_the_least_margin() {
        let config = Config {
            min_rto: Duration::ZERO,
            clock_granularity: Duration::from_millis(500),
            ..Config::standard()
        };
        let mut rtt = RttEstimator::new(&config);

        timed(&mut rtt, &config, 100);

        assert_eq!(rtt.rto(), Duration::from_millis(600));
    }

    #[test]
    fn minimum_and_maximum_bound_the_timeout() {
        let config = Config { max_rto: Duration::from_secs(2), ..Config::standard() };
        let mut rtt = RttEstimator::new(&config);

        timed(&mut rtt, &config, 1);
        assert_eq!(rtt.rto(), Duration::from_millis(200));

        timed(&mut rtt, &config, 10_000);
        assert_eq!(rtt.rto(), Duration::from_secs(2));
        rtt.back_off(&config);
        assert_eq!(rtt.rto(), Duration::from_secs(2));
    }

    #[test]
    fn the_minimum_may_bound_what_stands_beside_the_round_trip() {
        let rules = Rules { rto_floor: RtoFloor::Variation, ..Rules::standard() };
        let config = Config { rules, ..Config::standard() };
        let mut rtt = RttEstimator::new(&config);

        // 4 * RTTVAR = 2 * 10 ms, raised to 200 ms.
        timed(&mut rtt, &config, 10);
        assert_eq!(rtt.rto(), Duration::from_millis(210));
    }

    #[test]
    fn a_backed_off_timeout_stays_until_the_next_sample() {
        let config = Config::standard();
        let mut rtt = RttEstimator::new(&config);

        timed(&mut rtt, &config, 100);
        rtt.on_sent(at(200), 3);
        rtt.on_retransmission();
        rtt.back_off(&config);
        rtt.on_ack(config.at(at(900)), 3);
        assert_eq!(rtt.rto(), Duration::from_millis(600));

        rtt.on_sent(at(1000), 4);
        rtt.on_ack(config.at(at(1100)), 4);
        // RTTVAR = 3/4 * 50 = 37.5, SRTT = 100, RTO = 250.
        assert_eq!(rtt.rto(), Duration::from_millis(250));
    }

    #[test]
    fn only_one_segment_is_timed_at_once() {
        let config = Config { min_rto: Duration::ZERO, ..Config::standard() };
        let mut rtt = RttEstimator::new(&config);

        rtt.on_sent(at(0), 2);
        rtt.on_sent(at(90), 3);
        rtt.on_ack(config.at(at(100)), 3);

        assert_eq!(rtt.rto(), Duration::from_millis(300));
    }

    #[test]
    fn three_seconds_after_a_syn_timeout_unless_the_timeout_was_longer() {
        let config = Config::standard();
        let mut rtt = RttEstimator::new(&config);
        rtt.back_off(&config);
        rtt.after_syn_timeout(&config);
        assert_eq!(rtt.rto(), Duration::from_secs(3));

        // With an initial RTO of 3 s the clause does not apply and the backed-off value stays.
        let config = Config { initial_rto: Duration::from_secs(3), ..Config::standard() };
        let mut rtt = RttEstimator::new(&config);
        rtt.back_off(&config);
        rtt.after_syn_timeout(&config);
        assert_eq!(rtt.rto(), Duration::from_secs(6));
    }
}
