//! Additive increase and multiplicative decrease: RFC 5681 section 3.1, with the factors of
//! [`Aimd`].

use super::{Controller, Delivery, Moment, Window, initial_window};
use crate::{Aimd, Config, RenoGrowth};

/// Reno's congestion control.
#[derive(Clone, Debug, Default)]
pub(crate) struct Reno {
    /// Growth in congestion avoidance that is not applied yet: in units of a byte divided by
    /// `cwnd`, or in acknowledged bytes.
    fraction: u64,
}

impl Controller for Reno {
    #[inline]
    fn on_ack(&mut self, window: &mut Window, moment: &Moment<'_>, delivery: Delivery) {
        let config = moment.config;
        if config.rules.reno_growth == RenoGrowth::PerByte {
            self.grow_by_bytes(window, config, delivery);
        } else if window.cwnd < window.ssthresh {
            window.slow_start(config, delivery);
        } else if delivery.validates_avoidance() {
            // RFC 5681 (3): cwnd += SMSS*SMSS/cwnd, one segment per round trip if each segment is
            // acknowledged. The remainder is kept, so the RFC's rounding up "to 1 byte" is not
            // needed.
            let smss = u64::from(config.mss);
            let growth = config.aimd.increased(smss * smss).saturating_add(self.fraction);
            self.fraction = growth % window.cwnd;
            window.cwnd = window.cwnd.saturating_add(growth / window.cwnd);
        }
    }

    fn on_loss(&mut self, window: &mut Window, moment: &Moment<'_>, flight_size: u64) {
        window.ssthresh = threshold(moment.config.aimd, moment.config, flight_size);
        self.fraction = 0;
    }

    /// Sets the threshold to at most half of the flight, as in RFC 5681 (4), even if the configured
    /// factor leaves more after duplicate ACKs. With more than half the next slow start would
    /// overshoot the queue as much as the last one, and the connection would never get out of
    /// timeouts.
    fn on_timeout(&mut self, window: &mut Window, moment: &Moment<'_>, flight_size: Option<u64>) {
        if let Some(flight_size) = flight_size {
            let config = moment.config;
            window.ssthresh = threshold(config.aimd, config, flight_size).min(threshold(
                Aimd::STANDARD,
                config,
                flight_size,
            ));
        }
        self.fraction = 0;
    }

    fn on_idle(&mut self, window: &mut Window, moment: &Moment<'_>) {
        window.cwnd = window.cwnd.min(initial_window(moment.config));
        self.fraction = 0;
    }
}

impl Reno {
    /// Grows by bytes: one segment per window of acknowledged bytes (RFC 5681 section 3.1, "A TCP
    /// ... SHOULD ... count the number of bytes"). As in Linux's `tcp_reno_cong_avoid`, slow start
    /// ends exactly at the threshold, and the rest of the ACK counts in congestion avoidance.
    #[inline(never)]
    fn grow_by_bytes(&mut self, window: &mut Window, config: &Config, delivery: Delivery) {
        let mut acked = delivery.acked;
        if window.cwnd < window.ssthresh {
            let before = window.cwnd;
            window.slow_start(config, delivery);
            window.cwnd = window.cwnd.min(window.ssthresh);
            acked = acked.saturating_sub(window.cwnd - before);
            if window.cwnd < window.ssthresh {
                return;
            }
        }
        if delivery.validates_avoidance() && acked > 0 {
            let smss = u64::from(config.mss);
            self.fraction = self.fraction.saturating_add(acked);
            let windows = self.fraction / window.cwnd;
            self.fraction %= window.cwnd;
            let growth = config.aimd.increased(windows.saturating_mul(smss));
            window.cwnd = window.cwnd.saturating_add(growth);
        }
    }
}

/// Computes ssthresh = max (FlightSize / 2, 2*SMSS) of RFC 5681 (4), with the configured factor
/// instead of one half.
fn threshold(aimd: Aimd, config: &Config, flight_size: u64) -> u64 {
    aimd.decreased(flight_size).max(2 * u64::from(config.mss))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::scene::Scene;

    fn scene(config: Config, cwnd: u64, ssthresh: u64) -> Scene<Reno> {
        Scene::new(config, Reno::default(), cwnd, ssthresh)
    }

    #[test]
    fn slow_start_grows_by_what_is_acknowledged_but_one_segment_at_most() {
        let mut scene = scene(Config::standard(), 2000, 10_000);

        assert_eq!(scene.ack(400), 2400);
        assert_eq!(scene.ack(2000), 3400);
    }

    #[test]
    fn congestion_avoidance_keeps_the_fraction() {
        let mut scene = scene(Config::standard(), 3000, 3000);

        // 1000^2 / 3000 = 333 + 1000/3000; then (10^6 + 1000) / 3333 = 300 + 1100/3333;
        // then (10^6 + 1100) / 3633 = 275 + 2025/3633.
        for expected in [3333, 3633, 3908] {
            assert_eq!(scene.ack(1000), expected);
        }
        assert_eq!(scene.controller.fraction, 2025);
    }

    #[test]
    fn by_bytes_a_window_that_is_acknowledged_adds_a_segment_in_however_many_acks() {
        let mut config = Config::standard();
        config.rules.reno_growth = RenoGrowth::PerByte;
        for each in [1000, 2000] {
            let mut scene = scene(config.clone(), 10_000, 10_000);
            let windows: Vec<u64> = (0..11_000 / each).map(|_| scene.ack(each)).collect();
            let at = (10_000 / each - 1) as usize;
            assert_eq!((windows[at - 1], windows[at]), (10_000, 11_000), "{each} bytes an ACK");
        }
        // If an ACK covers two segments, RFC 5681 (3) adds half of that.
        let mut scene = scene(Config::standard(), 10_000, 10_000);
        let last = (0..5).map(|_| scene.ack(2000)).last();
        assert!(last.is_some_and(|cwnd| cwnd < 10_500));
    }

    #[test]
    fn by_bytes_slow_start_ends_at_the_threshold_and_the_rest_counts_on() {
        let mut config = Config::standard();
        config.rules.reno_growth = RenoGrowth::PerByte;
        config.rules.slow_start_limit = 0;
        let mut scene = scene(config, 8000, 10_000);
        // 2000 of 9000 bytes reach the threshold. The other 7000 are less than a window; with 3000
        // more they are enough.
        assert_eq!([scene.ack(9000), scene.ack(3000)], [10_000, 11_000]);
    }

    #[test]
    fn congestion_avoidance_grows_even_when_the_step_is_below_a_byte() {
        let mut scene = scene(Config::standard(), 4_000_000, 2000);

        // A quarter of a byte per ACK, and slightly less after the first whole byte, so the second
        // byte comes with the ninth ACK.
        for _ in 0..9 {
            scene.ack(1000);
        }

        assert_eq!(scene.window.cwnd, 4_000_002);
    }

    #[test]
    fn a_loss_halves_the_flight_not_the_window() {
        let mut scene = scene(Config::standard(), 50_000, u64::MAX);

        assert_eq!(scene.loss(20_000), 10_000);
    }

    #[test]
    fn the_increase_scales_congestion_avoidance_and_not_slow_start() {
        let config = Config { aimd: Aimd::new(3.0, 0.5), ..Config::standard() };

        // 3 * 1000^2 / 3000.
        assert_eq!(scene(config.clone(), 3000, 3000).ack(1000), 4000);
        assert_eq!(scene(config, 2000, 3000).ack(1000), 3000);
    }

    #[test]
    fn a_decrease_of_seven_eighths_keeps_seven_eighths_but_of_a_timeout_a_half() {
        let config = Config { aimd: Aimd::new(1.0, 0.875), ..Config::standard() };

        assert_eq!(scene(config.clone(), 16_000, 8000).loss(16_000), 14_000);
        assert_eq!(scene(config, 16_000, 8000).timeout(Some(16_000)), 8000);
    }

    #[test]
    fn two_segments_are_the_least_threshold() {
        assert_eq!(scene(Config::standard(), 3000, u64::MAX).timeout(Some(3000)), 2000);
    }

    #[test]
    fn a_second_timeout_of_the_same_segment_keeps_the_threshold() {
        let mut scene = scene(Config::standard(), 20_000, u64::MAX);

        assert_eq!(scene.timeout(Some(20_000)), 10_000);
        assert_eq!(scene.timeout(None), 10_000);
    }

    #[test]
    fn a_loss_a_timeout_and_idleness_forget_the_fraction() {
        let mut scene = scene(Config::standard(), 3000, 3000);

        for event in [
            |scene: &mut Scene<Reno>| scene.loss(3000),
            |scene: &mut Scene<Reno>| scene.timeout(None),
            |scene: &mut Scene<Reno>| scene.tell(Reno::on_idle).window.cwnd,
        ] {
            scene.window = Window { cwnd: 3000, ssthresh: 3000 };
            scene.ack(1000);
            assert_ne!(scene.controller.fraction, 0);
            event(&mut scene);
            assert_eq!(scene.controller.fraction, 0);
        }
    }

    #[test]
    fn idleness_shrinks_to_the_initial_window_and_never_grows() {
        let mut wide = scene(Config::standard(), 30_000, 15_000);
        wide.tell(Reno::on_idle);
        assert_eq!((wide.window.cwnd, wide.window.ssthresh), (2000, 15_000));

        let mut narrow = scene(Config::standard(), 1000, 15_000);
        narrow.tell(Reno::on_idle);
        assert_eq!(narrow.window.cwnd, 1000);
    }

    #[test]
    fn an_unbounded_window_saturates() {
        let mut scene = scene(Config::standard(), u64::MAX - 10, u64::MAX);

        scene.ack(1000);
        assert_eq!(scene.ack(1000), u64::MAX);
    }
}
