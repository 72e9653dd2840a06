//! The congestion window of RFC 5681, RFC 6582 and RFC 6675: how `cwnd` and `ssthresh` answer to
//! events.
//!
//! Knows byte counts. Does not know sequence numbers, timers, or which event comes when: that is
//! the [sender](crate::sender)'s state machine. Integers alone, so that every machine agrees.

use crate::{Aimd, Config};

/// `cwnd` and `ssthresh` in bytes.
#[derive(Clone, Debug)]
pub(crate) struct CongestionWindow {
    cwnd: u64,
    ssthresh: u64,
    /// What congestion avoidance has not yet paid out, in units of a byte divided by `cwnd`.
    fraction: u64,
}

impl CongestionWindow {
    pub(crate) fn new(config: &Config) -> Self {
        Self {
            cwnd: initial_window(config),
            // RFC 5681 section 3.1: "The initial value of ssthresh SHOULD be set arbitrarily high".
            ssthresh: config.initial_ssthresh.unwrap_or(u64::MAX),
            fraction: 0,
        }
    }

    #[inline]
    pub(crate) fn cwnd(&self) -> u64 {
        self.cwnd
    }

    pub(crate) fn ssthresh(&self) -> u64 {
        self.ssthresh
    }

    /// `acked` bytes of new data are acknowledged outside fast recovery.
    #[inline]
    pub(crate) fn on_ack(&mut self, config: &Config, acked: u64) {
        let smss = u64::from(config.mss);
        if self.cwnd < self.ssthresh {
            // RFC 5681 (2): cwnd += min (N, SMSS).
            self.cwnd = self.cwnd.saturating_add(acked.min(smss));
        } else {
            // RFC 5681 (3): cwnd += SMSS*SMSS/cwnd, which is one segment in a round trip of one ACK
            // for each. The remainder is kept for the next time, which makes the rounding up "to 1
            // byte" that the RFC asks for unnecessary.
            let growth = config.aimd.increased(smss * smss).saturating_add(self.fraction);
            self.fraction = growth % self.cwnd;
            self.cwnd = self.cwnd.saturating_add(growth / self.cwnd);
        }
    }

    /// The third duplicate ACK with `flight_size` bytes outstanding, limited transmit not counted:
    /// RFC 5681 section 3.2, steps 2 and 3.
    pub(crate) fn on_fast_retransmit(&mut self, config: &Config, flight_size: u64) {
        self.decrease(config, flight_size);
        self.set_cwnd(self.ssthresh.saturating_add(3 * u64::from(config.mss)));
    }

    /// A loss that SACK blocks have revealed: RFC 6675 section 5, step 4.2. `flight_size` is the same
    /// as in [`Self::on_fast_retransmit`].
    pub(crate) fn on_sack_loss(&mut self, config: &Config, flight_size: u64) {
        self.decrease(config, flight_size);
        self.set_cwnd(self.ssthresh);
    }

    /// A further duplicate ACK in fast recovery: a segment has left the network, RFC 5681
    /// section 3.2, step 4.
    pub(crate) fn inflate(&mut self, config: &Config) {
        self.cwnd = self.cwnd.saturating_add(u64::from(config.mss));
    }

    /// The end of Reno's fast recovery: RFC 5681 section 3.2, step 6. That of a recovery with SACK, too,
    /// where `cwnd` has been `ssthresh` all the time.
    pub(crate) fn deflate(&mut self) {
        self.set_cwnd(self.ssthresh);
    }

    /// A partial acknowledgment of `acked` bytes in NewReno's fast recovery: RFC 6582 section 3.2,
    /// step 3. Never below one segment: the RFC has no floor, and a retransmission is not counted.
    pub(crate) fn on_partial_ack(&mut self, config: &Config, acked: u64) {
        let smss = u64::from(config.mss);
        let put_back = if acked >= smss { smss } else { 0 };
        self.set_cwnd((self.cwnd.saturating_sub(acked) + put_back).max(smss));
    }

    /// The end of NewReno's fast recovery with `flight_size` bytes still outstanding: RFC 6582
    /// section 3.2, step 3, full acknowledgments, option (1), which sends no burst.
    pub(crate) fn on_full_ack(&mut self, config: &Config, flight_size: u64) {
        let smss = u64::from(config.mss);
        self.set_cwnd(self.ssthresh.min(flight_size.max(smss) + smss));
    }

    /// The retransmission timer expired: `cwnd` falls to the loss window, one segment.
    /// `flight_size` is `None` if this segment was sent again by the timer before: RFC 5681
    /// section 3.1, "the value of ssthresh is held constant".
    ///
    /// Half of it is left at most, as (4) says, whatever a loss leaves that duplicate ACKs tell of:
    /// with more than half the slow start that follows overshoots a queue by as much as the last
    /// one did, and a connection never leaves the timeouts.
    pub(crate) fn on_timeout(&mut self, config: &Config, flight_size: Option<u64>) {
        if let Some(flight_size) = flight_size {
            self.decrease(config, flight_size);
            let half = Aimd::STANDARD.decreased(flight_size).max(2 * u64::from(config.mss));
            self.ssthresh = self.ssthresh.min(half);
        }
        self.set_cwnd(u64::from(config.mss));
    }

    /// RFC 5681 section 3.1: if the SYN or its answer was lost, the initial window is one segment.
    pub(crate) fn on_syn_loss(&mut self, config: &Config) {
        self.set_cwnd(u64::from(config.mss));
    }

    /// Nothing was sent for longer than the RTO: RFC 5681 section 4.1, RW = min(IW, cwnd).
    pub(crate) fn on_idle(&mut self, config: &Config) {
        self.set_cwnd(self.cwnd.min(initial_window(config)));
    }

    /// RFC 5681 (4): ssthresh = max (FlightSize / 2, 2*SMSS), or another factor than one half.
    fn decrease(&mut self, config: &Config, flight_size: u64) {
        self.ssthresh = config.aimd.decreased(flight_size).max(2 * u64::from(config.mss));
    }

    fn set_cwnd(&mut self, cwnd: u64) {
        self.cwnd = cwnd;
        self.fraction = 0;
    }
}

/// IW, at least one segment.
fn initial_window(config: &Config) -> u64 {
    config.initial_window.max(u64::from(config.mss))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Aimd;
    use crate::config::example;

    fn window(cwnd: u64, ssthresh: u64) -> CongestionWindow {
        CongestionWindow { cwnd, ssthresh, fraction: 0 }
    }

    #[test]
    fn slow_start_grows_by_what_is_acknowledged_but_one_segment_at_most() {
        let config = example();
        let mut window = window(2000, 10_000);

        window.on_ack(&config, 400);
        assert_eq!(window.cwnd(), 2400);
        window.on_ack(&config, 2000);
        assert_eq!(window.cwnd(), 3400);
    }

    #[test]
    fn congestion_avoidance_keeps_the_fraction() {
        let config = example();
        let mut window = window(3000, 3000);

        // 1000^2 / 3000 = 333 + 1000/3000; then (10^6 + 1000) / 3333 = 300 + 1100/3333;
        // then (10^6 + 1100) / 3633 = 275 + 2025/3633.
        for expected in [3333, 3633, 3908] {
            window.on_ack(&config, 1000);
            assert_eq!(window.cwnd(), expected);
        }
        assert_eq!(window.fraction, 2025);
    }

    #[test]
    fn congestion_avoidance_grows_even_when_the_step_is_below_a_byte() {
        let config = example();
        let mut window = window(4_000_000, 2000);

        // A quarter of a byte per ACK, a trace less after the first whole byte: the second one comes
        // with the ninth.
        for _ in 0..9 {
            window.on_ack(&config, 1000);
        }

        assert_eq!(window.cwnd(), 4_000_002);
    }

    #[test]
    fn fast_retransmit_halves_the_flight_not_the_window() {
        let config = example();
        let mut window = window(50_000, u64::MAX);

        window.on_fast_retransmit(&config, 20_000);
        assert_eq!((window.ssthresh(), window.cwnd()), (10_000, 13_000));
        window.inflate(&config);
        assert_eq!(window.cwnd(), 14_000);
        window.deflate();
        assert_eq!(window.cwnd(), 10_000);
    }

    #[test]
    fn a_loss_revealed_by_sack_halves_the_flight_and_adds_nothing() {
        let config = example();
        let mut window = window(50_000, u64::MAX);

        window.on_sack_loss(&config, 20_000);

        assert_eq!((window.ssthresh(), window.cwnd()), (10_000, 10_000));
    }

    #[test]
    fn the_increase_scales_congestion_avoidance_and_not_slow_start() {
        let config = Config { aimd: Aimd::new(3.0, 0.5), ..example() };

        // 3 * 1000^2 / 3000.
        let mut avoiding = window(3000, 3000);
        avoiding.on_ack(&config, 1000);
        assert_eq!(avoiding.cwnd(), 4000);

        let mut starting = window(2000, 3000);
        starting.on_ack(&config, 1000);
        assert_eq!(starting.cwnd(), 3000);
    }

    #[test]
    fn a_decrease_of_seven_eighths_keeps_seven_eighths_but_of_a_timeout_a_half() {
        let config = Config { aimd: Aimd::new(1.0, 0.875), ..example() };

        let mut duplicates = window(16_000, 8000);
        duplicates.on_fast_retransmit(&config, 16_000);
        assert_eq!((duplicates.ssthresh(), duplicates.cwnd()), (14_000, 17_000));

        let mut timeout = window(16_000, 8000);
        timeout.on_timeout(&config, Some(16_000));
        assert_eq!((timeout.ssthresh(), timeout.cwnd()), (8000, 1000));
    }

    #[test]
    fn two_segments_are_the_least_threshold() {
        let config = example();
        let mut window = window(3000, u64::MAX);

        window.on_timeout(&config, Some(3000));

        assert_eq!((window.ssthresh(), window.cwnd()), (2000, 1000));
    }

    #[test]
    fn a_second_timeout_of_the_same_segment_keeps_the_threshold() {
        let config = example();
        let mut window = window(20_000, u64::MAX);

        window.on_timeout(&config, Some(20_000));
        window.on_timeout(&config, None);

        assert_eq!((window.ssthresh(), window.cwnd()), (10_000, 1000));
    }

    #[test]
    fn a_partial_ack_takes_what_it_acknowledges_and_puts_one_segment_back() {
        let config = example();
        let mut window = window(8000, 4000);

        window.on_partial_ack(&config, 3000);
        assert_eq!(window.cwnd(), 6000);
        window.on_partial_ack(&config, 1000);
        assert_eq!(window.cwnd(), 6000);
        window.on_partial_ack(&config, 500);
        assert_eq!(window.cwnd(), 5500);
        window.on_partial_ack(&config, 50_000);
        assert_eq!(window.cwnd(), 1000);
    }

    #[test]
    fn a_full_ack_leaves_no_room_for_a_burst() {
        let config = example();

        let mut quiet = window(13_000, 10_000);
        quiet.on_full_ack(&config, 0);
        assert_eq!(quiet.cwnd(), 2000);

        let mut busy = window(13_000, 10_000);
        busy.on_full_ack(&config, 12_000);
        assert_eq!(busy.cwnd(), 10_000);
    }

    #[test]
    fn idleness_shrinks_to_the_initial_window_and_never_grows() {
        let config = example();

        let mut wide = window(30_000, 15_000);
        wide.on_idle(&config);
        assert_eq!((wide.cwnd(), wide.ssthresh()), (2000, 15_000));

        let mut narrow = window(1000, 15_000);
        narrow.on_idle(&config);
        assert_eq!(narrow.cwnd(), 1000);
    }

    #[test]
    fn an_unbounded_window_saturates() {
        let config = example();
        let mut window = window(u64::MAX - 10, u64::MAX);

        window.on_ack(&config, 1000);
        window.on_ack(&config, 1000);

        assert_eq!(window.cwnd(), u64::MAX);
    }
}
