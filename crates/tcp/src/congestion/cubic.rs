//! CUBIC: RFC 9438. The window is a cubic function of the time since the last loss. It is flat
//! around the window at which the loss occurred, and never grows more slowly than Reno's.
//!
//! The curve is computed in segments and seconds, with additions, multiplications, divisions and
//! the cube root of `libm`; all of these give the same bits on every machine. The window is a whole
//! number of bytes.

mod linux;

use airtcp_kernel::{Duration, Time};

use self::linux::Steps;
use super::{Controller, Delivery, Moment, Window, initial_window};
use crate::{Config, CubicGrowth};

/// RFC 9438 section 4.6: beta_cubic "SHOULD be set to 0.7", the factor that a loss leaves of the
/// window.
const BETA: f64 = 0.7;
/// Section 5: "C SHOULD be set to 0.4", in segments per second cubed.
const C: f64 = 0.4;
/// Section 4.3: alpha_cubic = 3 * (1 - beta_cubic) / (1 + beta_cubic). With this increase, in
/// segments per round trip, AIMD has the same average window as Reno.
const ALPHA: f64 = 3.0 * (1.0 - BETA) / (1.0 + BETA);

/// The state of RFC 9438 section 4.1.2. Windows are in segments.
#[derive(Clone, Debug, Default)]
pub(crate) struct Cubic {
    /// W_max, the window just before the last reduction, or less after fast convergence; 0: none.
    w_max: f64,
    /// The current congestion avoidance epoch; `None` before its first ACK.
    epoch: Option<Epoch>,
    /// cwnd_prior, the window at the last reduction; 0: none.
    cwnd_prior: f64,
    /// When congestion avoidance paused because the application had no data. The pause does not
    /// count in the epoch.
    idle_since: Option<Time>,
    /// Growth of less than a byte, in segments.
    fraction: f64,
    /// State of Linux's stepwise growth.
    steps: Steps,
}

/// A congestion avoidance epoch.
#[derive(Clone, Debug)]
struct Epoch {
    start: Time,
    /// K: the time in seconds after which W_cubic reaches W_max.
    k: f64,
    /// W_cubic at K.
    origin: f64,
    /// W_est, the Reno-friendly window.
    w_est: f64,
}

impl Epoch {
    /// Computes W_cubic(t) = C * (t - K)^3 + W_max: Figure 1 of RFC 9438.
    fn w_cubic(&self, t: f64) -> f64 {
        let d = t - self.k;
        C * d * d * d + self.origin
    }
}

impl Cubic {
    /// Begins the epoch with this window: section 4.2.
    fn begin_epoch(&self, now: Time, cwnd: f64) -> Epoch {
        if cwnd < self.w_max {
            // Figure 2: K = cbrt((W_max - cwnd_epoch) / C).
            let k = libm::cbrt((self.w_max - cwnd) / C);
            Epoch { start: now, k, origin: self.w_max, w_est: cwnd }
        } else {
            // Beyond W_max there is no plateau. The same holds in the first epoch after a timeout
            // (section 4.8): K = 0, and W_max is the window at the start of the epoch.
            Epoch { start: now, k: 0.0, origin: cwnd, w_est: cwnd }
        }
    }

    /// Returns the growth of the window in segments: sections 4.2 to 4.5.
    fn growth(&mut self, moment: &Moment<'_>, cwnd: f64, acked: f64) -> f64 {
        let mut epoch = self.epoch.take().unwrap_or_else(|| self.begin_epoch(moment.now, cwnd));
        if let Some(since) = self.idle_since.take() {
            // Section 5.8: the epoch pauses while the window is not used.
            epoch.start = epoch.start + moment.now.saturating_since(since.max(epoch.start));
        }
        let t = seconds(moment.now.saturating_since(epoch.start));
        // Section 4.3: once W_est reaches cwnd_prior, alpha_cubic is 1, as in Reno.
        let alpha = if epoch.w_est < self.cwnd_prior { ALPHA } else { 1.0 };
        epoch.w_est += alpha * acked / cwnd;
        let growth = if epoch.w_cubic(t) < epoch.w_est {
            // Section 4.3, the Reno-friendly region.
            epoch.w_est - cwnd
        } else {
            // Sections 4.4 and 4.5: towards W_cubic one round trip ahead, at most 1.5 times the
            // window.
            let rtt = seconds(moment.rtt.srtt().unwrap_or(Duration::ZERO));
            let target = epoch.w_cubic(t + rtt).clamp(cwnd, 1.5 * cwnd);
            (target - cwnd) / cwnd * acked
        };
        self.epoch = Some(epoch);
        growth.max(0.0)
    }

    /// Grows the window by sections 4.2 to 4.5, in whole bytes.
    #[inline(never)]
    fn grow_along_curve(&mut self, window: &mut Window, moment: Moment<'_>, delivery: Delivery) {
        let smss = f64::from(moment.config.mss);
        let cwnd = window.cwnd as f64 / smss;
        let acked = delivery.acked as f64 / smss;
        let growth = self.growth(&moment, cwnd + self.fraction, acked) + self.fraction;
        let bytes = (growth * smss) as u64;
        self.fraction = growth - bytes as f64 / smss;
        window.cwnd = window.cwnd.saturating_add(bytes);
    }

    /// Reduces the window after either kind of loss: sections 4.6 and 4.7.
    fn reduce(&mut self, window: &mut Window, config: &Config, flight_size: u64) {
        let smss = f64::from(config.mss);
        let cwnd = window.cwnd as f64 / smss;
        self.cwnd_prior = cwnd;
        // Section 4.7, fast convergence: below the last W_max another flow needs room. A difference
        // of less than a segment, which no packet can show, comes from the flat end of the curve
        // and does not count.
        self.w_max = if cwnd + 1.0 <= self.w_max { cwnd * (1.0 + BETA) / 2.0 } else { cwnd };
        // Section 4.6: ssthresh = flight_size * beta_cubic, at least two segments.
        let left = match config.rules.cubic_growth {
            CubicGrowth::Standard => (flight_size as f64 * BETA) as u64,
            CubicGrowth::Linux => linux::left_of(flight_size, u64::from(config.mss)),
        };
        window.ssthresh = left.max(2 * u64::from(config.mss));
        self.end_stage();
        self.fraction = 0.0;
    }

    /// See [`Controller::on_ack`].
    #[inline(always)]
    pub(crate) fn on_ack_in_line(
        &mut self,
        window: &mut Window,
        moment: Moment<'_>,
        delivery: Delivery,
    ) {
        if let Some(rtt) = delivery.rtt {
            let least = self.steps.least_rtt;
            self.steps.least_rtt = Some(least.map_or(rtt, |least| least.min(rtt)));
        }
        if window.cwnd < window.ssthresh {
            window.slow_start(moment.config, delivery);
            return;
        }
        if !delivery.validates_avoidance() {
            self.idle_since.get_or_insert(moment.now);
            return;
        }
        if moment.config.rules.cubic_growth == CubicGrowth::Linux {
            self.grow_in_steps(window, moment, delivery);
        } else {
            self.grow_along_curve(window, moment, delivery);
        }
    }

    #[inline(always)]
    fn grow_in_steps(&mut self, window: &mut Window, moment: Moment<'_>, delivery: Delivery) {
        let smss = u64::from(moment.config.mss);
        let acked = delivery.acked.div_ceil(smss);
        let gained = self.steps.growth(moment.now, window.cwnd / smss, self.w_max, acked);
        window.cwnd = window.cwnd.saturating_add(gained * smss);
    }

    fn end_stage(&mut self) {
        self.epoch = None;
        self.steps.end_stage();
    }
}

impl Controller for Cubic {
    fn on_ack(&mut self, window: &mut Window, moment: &Moment<'_>, delivery: Delivery) {
        self.on_ack_in_line(window, *moment, delivery);
    }

    fn on_loss(&mut self, window: &mut Window, moment: &Moment<'_>, flight_size: u64) {
        self.reduce(window, moment.config, flight_size);
    }

    fn on_timeout(&mut self, window: &mut Window, moment: &Moment<'_>, flight_size: Option<u64>) {
        if let Some(flight_size) = flight_size {
            self.reduce(window, moment.config, flight_size);
        }
        // Section 4.8: a timeout starts over.
        self.w_max = 0.0;
        self.end_stage();
    }

    fn on_idle(&mut self, window: &mut Window, moment: &Moment<'_>) {
        window.cwnd = window.cwnd.min(initial_window(moment.config));
        self.end_stage();
        self.fraction = 0.0;
    }

    fn on_resume(&mut self, moment: &Moment<'_>, last_sent: Time) {
        self.steps.skip(last_sent, moment.now);
    }
}

fn seconds(span: Duration) -> f64 {
    span.as_nanos() as f64 * 1e-9
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::scene::Scene;

    fn scene(cwnd: u64, ssthresh: u64) -> Scene<Cubic> {
        Scene::new(Config::standard(), Cubic::default(), cwnd, ssthresh)
    }

    #[test]
    fn both_kinds_of_loss_leave_seven_tenths_of_the_flight_and_two_segments_at_least() {
        assert_eq!(scene(50_000, u64::MAX).loss(20_000), 14_000);
        assert_eq!(scene(50_000, u64::MAX).timeout(Some(20_000)), 14_000);
        assert_eq!(scene(50_000, 9000).timeout(None), 9000);
        assert_eq!(scene(2000, u64::MAX).loss(2000), 2000);
    }

    /// `bictcp_recalc_ssthresh`: 5 * 717 / 1024 is 3.5, and 10 * 717 / 1024 is 7.002.
    #[test]
    fn linux_is_left_with_whole_segments() {
        let rules = crate::Rules { cubic_growth: CubicGrowth::Linux, ..crate::Rules::standard() };
        let config = Config { rules, ..Config::standard() };
        for (segments, left) in [(2, 2), (5, 3), (6, 4), (10, 7), (100, 70)] {
            let mut scene = Scene::new(config.clone(), Cubic::default(), segments * 1000, u64::MAX);
            assert_eq!(scene.loss(segments * 1000), left * 1000);
        }
    }

    #[test]
    fn after_a_timeout_there_is_no_plateau() {
        let mut scene = scene(100_000, 100_000);
        scene.timeout(Some(100_000));
        scene.window.cwnd = 70_000;
        scene.ack(1000);

        // 5 s later W_cubic is 70 + 0.4 * 5^3 = 120 segments, more than 1.5 times the window. An
        // ACK for one of 70 segments adds a 70th of the allowed 35 segments, 500 bytes. With a
        // plateau at 100, K would be 4.2 s and W_cubic 100.2.
        let before = scene.window.cwnd;
        scene.wait(Duration::from_secs(5));
        assert_eq!(scene.ack(1000) - before, 500);
    }

    #[test]
    fn time_in_which_the_window_is_not_used_does_not_count() {
        // Section 5.8. W_max = 100, K = cbrt(30 / 0.4) = 4.2 s. For a minute one segment is in
        // flight. W_cubic then continues from 70, not from 69,000.
        let mut scene = scene(100_000, 100_000);
        scene.loss(100_000);
        scene.window.cwnd = 70_000;
        scene.ack(1000);
        let before = scene.ack_of(1000, 1000);
        scene.wait(Duration::from_secs(60));

        let after = scene.ack(1000);
        // Reno-friendly growth: 0.53 / 70 of a segment per ACK.
        assert!(after - before < 20, "{before} {after}");
    }
}
