//! BBR's bandwidth probing cycle and the inflight bound that it finds: draft-ietf-ccwg-bbr,
//! sections 5.3.2 and 5.3.3.
//!
//! The parent module processes losses during a probe.

use airtcp_kernel::{Duration, Time};

use super::{AckPhase, Bbr, State, is_too_high};
use crate::Config;
use crate::congestion::{Moment, Window};
use crate::rate::RateSample;

/// Section 5.3.2: the maximum number of rounds in Drain.
const DRAIN_ROUNDS: u64 = 3;
/// Section 5.3.3.5.3: at most this many rounds between two probes, fewer if Reno would grow faster.
const MOST_ROUNDS: u64 = 63;
const LEAST_WAIT: Duration = Duration::from_secs(2);

impl Bbr {
    pub(super) fn start_down(&mut self, now: Time) {
        self.model.reset_congestion_signals();
        self.probe.acked_per_segment = u64::MAX;
        // PickProbeWait(): instead of random numbers, a bit and a fraction of a second from the
        // clock.
        self.probe.rounds_since = now.as_nanos() / 1000 % 2;
        self.probe.wait = LEAST_WAIT + Duration::from_nanos(now.as_nanos() % 1_000_000_000);
        self.probe.cycle = now;
        self.probe.phase = AckPhase::Stopping;
        self.model.start_round();
        self.state = State::Down;
    }

    fn start_refill(&mut self) {
        self.model.reset_short_term();
        (self.probe.up_rounds, self.probe.up_acked) = (0, 0);
        self.probe.was_precautionary = false;
        self.probe.phase = AckPhase::Refilling;
        self.model.start_round();
        self.state = State::Refill;
    }

    fn start_up(&mut self, config: &Config, window: &Window, rate: f64) {
        self.probe.phase = AckPhase::Starting;
        self.model.start_round();
        self.full.begin(rate);
        self.state = State::Up;
        self.raise_slope(config, window);
    }

    /// RaiseInflightLongtermSlope().
    pub(super) fn raise_slope(&mut self, config: &Config, window: &Window) {
        let growth = 1_u64 << self.probe.up_rounds;
        self.probe.up_rounds = (self.probe.up_rounds + 1).min(30);
        self.probe.acked_per_segment = (window.cwnd / growth).max(u64::from(config.mss));
    }

    /// UpdateProbeBWCyclePhase().
    pub(super) fn advance(&mut self, window: &Window, moment: &Moment<'_>, sample: &RateSample) {
        let Moment { config, now, .. } = *moment;
        let bandwidth = self.model.bandwidth();
        if let State::Drain(since) = self.state
            && (sample.in_flight <= self.inflight(config, bandwidth, 1.0)
                || self.model.round > since + DRAIN_ROUNDS)
        {
            self.start_down(now);
        }
        if !self.full.reached || self.adapt_long_term(window, config, sample) {
            return;
        }
        let goes_down = self.state == State::Up && self.is_time_to_go_down(window, sample);
        match self.state {
            State::Down | State::Cruise if self.is_time_to_probe(window, config, now) => {
                self.start_refill();
            }
            State::Down => {
                let is_drained = sample.in_flight <= self.with_headroom(config)
                    && sample.in_flight <= self.inflight(config, self.model.max_bandwidth(), 1.0);
                if is_drained {
                    self.state = State::Cruise;
                }
            }
            State::Refill if self.model.is_round_start => {
                self.probe.is_sample = true;
                self.start_up(config, window, sample.rate.unwrap_or(0.0));
            }
            State::Up if goes_down => {
                self.probe.was_too_high = false;
                self.start_down(now);
            }
            _ => {}
        }
    }

    /// IsTimeToProbeBW().
    fn is_time_to_probe(&self, window: &Window, config: &Config, now: Time) -> bool {
        let reno_rounds = self.target(config, window) / u64::from(config.mss);
        now > self.probe.cycle + self.probe.wait
            || self.probe.rounds_since >= reno_rounds.min(MOST_ROUNDS)
    }

    /// IsTimeToGoDown().
    fn is_time_to_go_down(&mut self, window: &Window, sample: &RateSample) -> bool {
        let bound = self.model.inflight_long.unwrap_or(u64::MAX);
        if self.probe.was_too_high && sample.in_flight >= bound {
            self.probe.was_precautionary = true;
            return true;
        }
        if sample.is_cwnd_limited && window.cwnd >= bound {
            // The inflight bound limits the bandwidth, so the search for a plateau restarts.
            self.full.begin(sample.rate.unwrap_or(0.0));
            return false;
        }
        self.full.now
    }

    /// AdaptLongTermModel(); returns true if it has entered another state.
    fn adapt_long_term(&mut self, window: &Window, config: &Config, sample: &RateSample) -> bool {
        if self.probe.phase == AckPhase::Starting && self.model.is_round_start {
            self.probe.phase = AckPhase::Feedback;
        }
        if self.probe.phase == AckPhase::Stopping && self.model.is_round_start {
            self.probe.is_sample = false;
            self.probe.phase = AckPhase::Init;
            if self.state.probes_bandwidth() {
                if !sample.is_app_limited {
                    self.model.advance_bandwidths();
                }
                if self.probe.was_precautionary && !self.probe.was_too_high {
                    self.start_refill();
                    return true;
                }
            }
        }
        let Some(bound) = self.model.inflight_long else { return false };
        if is_too_high(sample.lost, sample) {
            return false;
        }
        self.model.inflight_long = Some(bound.max(sample.tx_in_flight));
        if self.state == State::Up {
            self.raise_long_term(window, config, sample);
        }
        false
    }

    /// ProbeInflightLongtermUpward().
    pub(super) fn raise_long_term(
        &mut self,
        window: &Window,
        config: &Config,
        sample: &RateSample,
    ) {
        let Some(bound) = self.model.inflight_long else { return };
        if !sample.is_cwnd_limited || window.cwnd < bound {
            return;
        }
        self.probe.up_acked += sample.newly_acked;
        let steps = self.probe.up_acked / self.probe.acked_per_segment;
        self.probe.up_acked -= steps * self.probe.acked_per_segment;
        self.model.inflight_long = Some(bound + steps * u64::from(config.mss));
        if self.model.is_round_start {
            self.raise_slope(config, window);
        }
    }
}
