//! BBR, version 3: draft-ietf-ccwg-bbr as of August 2026.
//!
//! Window and pacing rate follow a model of the path, which is in [`model`]: the maximum delivery
//! rate over two probing cycles and the minimum RTT over ten seconds. Unlike version 1 the model
//! also includes the inflight volume at which more than 2 % was lost. This file contains the state
//! machine that decides when to send more or less than the model says. Where the draft draws at
//! random, the clock decides here, so that runs repeat. Recoveries are never found spurious, so
//! nothing is undone (section 5.5.11 of the draft). ECN is ignored.

mod cycle;
mod model;
#[cfg(test)]
mod tests;
// A second implementation of the draft, and a comparison of the two. They test private state, so
// they are submodules.
#[cfg(test)]
#[path = "../../tests/bbr/draft.rs"]
mod draft;
#[cfg(test)]
#[path = "../../tests/bbr/two_readings.rs"]
mod two_readings;

use airtcp_kernel::{Duration, Time};

use self::model::{BETA, Model};
use super::{Controller, Delivery, Moment, Window, initial_window};
use crate::Config;
use crate::rate::{LostSegment, RateSample};

/// Section 5.6.1, the table of gains.
const STARTUP_GAIN: f64 = 2.77;
const DRAIN_GAIN: f64 = 0.5;
const DOWN_GAIN: f64 = 0.9;
const UP_GAIN: f64 = 1.25;
const CWND_GAIN: f64 = 2.0;
const UP_CWND_GAIN: f64 = 2.25;
/// ProbeRTTCwndGain.
const PROBE_RTT_GAIN: f64 = 0.5;
/// PacingMarginPercent: pace slightly below the delivery rate.
const MARGIN: f64 = 0.99;
/// MinPipeCwnd, in segments.
const LEAST_SEGMENTS: u64 = 4;
/// Section 5.3.1.2: the pipe is full if the bandwidth has not grown by this factor in three round
/// trips.
const FULL_GROWTH: f64 = 1.25;
const FULL_ROUNDS: u32 = 3;
/// BBRStartupFullLossCnt: lost ranges per round trip.
const FULL_LOSSES: u32 = 6;
const PROBE_RTT_INTERVAL: Duration = Duration::from_secs(5);
const PROBE_RTT_TIME: Duration = Duration::from_millis(200);
/// Limits of the send quantum: its size in bytes and its duration.
const LONGEST_QUANTUM: f64 = 65_536.0;
const QUANTUM_S: f64 = 0.001;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    #[default]
    Startup,
    /// Drain, with the round in which it began.
    Drain(u64),
    Down,
    Cruise,
    Refill,
    Up,
    ProbeRtt,
}

impl State {
    /// IsInAProbeBWState().
    fn probes_bandwidth(self) -> bool {
        matches!(self, Self::Down | Self::Cruise | Self::Refill | Self::Up)
    }

    /// IsProbingBW(): it may send more than the path has been seen to deliver.
    fn accelerates(self) -> bool {
        matches!(self, Self::Startup | Self::Refill | Self::Up)
    }
}

/// What ACKs say about a probe: BBR.ack_phase.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum AckPhase {
    #[default]
    Init,
    Refilling,
    Starting,
    Feedback,
    Stopping,
}

/// Detects when the bandwidth has reached a plateau.
#[derive(Clone, Copy, Debug, Default)]
struct FullPipe {
    bandwidth: f64,
    rounds: u32,
    now: bool,
    /// Whether it was reached once; a new search does not reset it.
    reached: bool,
}

impl FullPipe {
    /// ResetFullBW(), with the current delivery rate.
    fn begin(&mut self, bandwidth: f64) {
        *self = Self { bandwidth, reached: self.reached, ..Self::default() };
    }
}

/// State of bandwidth probing: section 5.3.3.6.
#[derive(Clone, Copy, Debug, Default)]
struct Probe {
    phase: AckPhase,
    /// Whether acknowledged segments were sent while probing.
    is_sample: bool,
    up_acked: u64,
    /// This many acknowledged bytes raise the bound by a segment; `u64::MAX`: never.
    acked_per_segment: u64,
    up_rounds: u32,
    rounds_since: u64,
    wait: Duration,
    cycle: Time,
    was_too_high: bool,
    was_precautionary: bool,
}

/// State of RTT probing: section 5.3.4.
#[derive(Clone, Copy, Debug, Default)]
struct ProbeRtt {
    least: Option<Duration>,
    at: Time,
    is_expired: bool,
    done: Option<Time>,
    round_done: bool,
}

/// The state in section 2 of the draft.
#[derive(Clone, Debug, Default)]
pub(crate) struct Bbr {
    state: State,
    model: Model,
    full: FullPipe,
    probe: Probe,
    probe_rtt: ProbeRtt,
    /// BBR.prior_cwnd.
    saved: u64,
    /// The round in which the current recovery began, if any.
    recovering: Option<u64>,
    idle_restart: bool,
    /// Lost ranges in this round, and the end of the last one.
    lost_ranges: (u32, u64),
    rate: Option<f64>,
}

impl Bbr {
    pub(crate) fn new() -> Self {
        let probe = Probe { acked_per_segment: u64::MAX, ..Probe::default() };
        Self { probe, ..Self::default() }
    }

    fn pacing_gain(&self) -> f64 {
        match self.state {
            State::Startup => STARTUP_GAIN,
            State::Drain(_) => DRAIN_GAIN,
            State::Down => DOWN_GAIN,
            State::Up => UP_GAIN,
            State::Cruise | State::Refill | State::ProbeRtt => 1.0,
        }
    }

    fn cwnd_gain(&self) -> f64 {
        match self.state {
            State::Up => UP_CWND_GAIN,
            State::ProbeRtt => PROBE_RTT_GAIN,
            _ => CWND_GAIN,
        }
    }

    /// QuantizationBudget().
    fn with_budget(&self, config: &Config, inflight: u64) -> u64 {
        let smss = u64::from(config.mss);
        let quantum = (self.rate.unwrap_or(0.0) * QUANTUM_S).min(LONGEST_QUANTUM) as u64;
        let budget = 3 * quantum.max(2 * smss);
        let probe = if self.state == State::Up { 2 * smss } else { 0 };
        inflight.max(budget).max(LEAST_SEGMENTS * smss) + probe
    }

    /// Returns Inflight(bw, gain).
    fn inflight(&self, config: &Config, bandwidth: f64, gain: f64) -> u64 {
        self.with_budget(config, self.model.held(config, bandwidth, gain))
    }

    /// InflightWithHeadroom(); `u64::MAX`: no bound.
    fn with_headroom(&self, config: &Config) -> u64 {
        let smss = u64::from(config.mss);
        self.model.inflight_long.map_or(u64::MAX, |bound| {
            let headroom = ((0.15 * bound as f64) as u64).max(smss);
            bound.saturating_sub(headroom).max(LEAST_SEGMENTS * smss)
        })
    }

    /// TargetInflight().
    fn target(&self, config: &Config, window: &Window) -> u64 {
        self.model.held(config, self.model.bandwidth(), 1.0).min(window.cwnd)
    }

    /// CheckFullBWReached(): section 5.3.1.2.
    fn look_for_plateau(&mut self, sample: &RateSample) {
        let Some(rate) = sample.rate else { return };
        if self.full.now || !self.model.is_round_start || sample.is_app_limited {
            return;
        }
        if rate >= self.full.bandwidth * FULL_GROWTH {
            self.full.begin(rate);
            return;
        }
        self.full.rounds += 1;
        self.full.now = self.full.rounds >= FULL_ROUNDS;
        self.full.reached |= self.full.now;
    }

    /// CheckStartupDone() and section 5.3.1.3, CheckStartupHighLoss().
    fn leave_startup(&mut self, config: &Config, sample: &RateSample) {
        let is_startup = self.state == State::Startup;
        if is_startup && self.model.is_loss_round_start {
            let is_long = self.recovering.is_some_and(|since| self.model.round > since);
            if is_long && self.lost_ranges.0 >= FULL_LOSSES && is_too_high(sample.lost, sample) {
                self.full.reached = true;
                let held = self.model.held(config, self.model.bandwidth(), 1.0);
                self.model.inflight_long = Some(held.max(self.model.inflight_latest));
            }
        }
        if self.model.is_loss_round_start {
            self.lost_ranges.0 = 0;
        }
        if is_startup && self.full.reached {
            self.state = State::Drain(self.model.round);
        }
    }

    /// UpdateMinRTT() and CheckProbeRTT(): section 5.3.4.3.
    fn look_for_least_rtt(
        &mut self,
        window: &mut Window,
        moment: &Moment<'_>,
        sample: &RateSample,
    ) {
        let now = moment.now;
        let probe = &mut self.probe_rtt;
        probe.is_expired = now > probe.at + PROBE_RTT_INTERVAL;
        if let Some(rtt) = sample.rtt
            && (probe.is_expired || probe.least.is_none_or(|least| rtt < least))
        {
            (probe.least, probe.at) = (Some(rtt), now);
        }
        self.model.update_min_rtt(now, probe.least, probe.at);
        if self.state != State::ProbeRtt && self.probe_rtt.is_expired && !self.idle_restart {
            // Call `save` before entering the next state, so that a window saved for a recovery is
            // kept.
            self.state = State::ProbeRtt;
            self.save(window);
            self.probe_rtt.done = None;
            self.probe.phase = AckPhase::Stopping;
            self.model.start_round();
        }
        if self.state == State::ProbeRtt {
            self.hold_for_least_rtt(window, moment, sample);
        }
        self.idle_restart = false;
    }

    /// HandleProbeRTT().
    fn hold_for_least_rtt(
        &mut self,
        window: &mut Window,
        moment: &Moment<'_>,
        sample: &RateSample,
    ) {
        let now = moment.now;
        let Some(done) = self.probe_rtt.done else {
            if sample.in_flight <= self.probe_rtt_window(moment.config) {
                self.probe_rtt.done = Some(now + PROBE_RTT_TIME);
                self.probe_rtt.round_done = false;
                self.model.start_round();
            }
            return;
        };
        self.probe_rtt.round_done |= self.model.is_round_start;
        if self.probe_rtt.round_done && now > done {
            self.probe_rtt.at = now;
            window.cwnd = window.cwnd.max(self.saved);
            // ExitProbeRTT().
            self.model.reset_short_term();
            if self.full.reached {
                self.start_down(now);
                self.state = State::Cruise;
            } else {
                self.state = State::Startup;
            }
        }
    }

    /// ProbeRTTCwnd().
    fn probe_rtt_window(&self, config: &Config) -> u64 {
        let held = self.model.held(config, self.model.bandwidth(), PROBE_RTT_GAIN);
        held.max(LEAST_SEGMENTS * u64::from(config.mss))
    }

    /// SaveCwnd().
    fn save(&mut self, window: &Window) {
        let is_small = self.recovering.is_some() || self.state == State::ProbeRtt;
        self.saved = if is_small { self.saved.max(window.cwnd) } else { window.cwnd };
    }

    /// SetPacingRate(): it never falls before the pipe was full.
    fn set_rate(&mut self, moment: &Moment<'_>) {
        let bandwidth = self.model.bandwidth();
        if bandwidth == 0.0 {
            let rtt = moment.rtt.srtt().unwrap_or(Duration::from_millis(1)).as_secs_f64();
            self.rate = Some(STARTUP_GAIN * initial_window(moment.config) as f64 / rtt);
            return;
        }
        let rate = self.pacing_gain() * bandwidth * MARGIN;
        if self.full.reached || self.rate.is_none_or(|before| rate > before) {
            self.rate = Some(rate);
        }
    }

    /// SetCwnd(): section 5.6.4.6, with the bounds of sections 5.6.4.5 and 5.6.4.7.
    fn set_window(&mut self, window: &mut Window, config: &Config, sample: &RateSample) {
        let least = LEAST_SEGMENTS * u64::from(config.mss);
        let held = self.model.held(config, self.model.bandwidth(), self.cwnd_gain());
        let most = self.with_budget(config, held + self.model.extra_acked());
        if self.full.reached {
            window.cwnd = (window.cwnd + sample.newly_acked).min(most);
        } else if window.cwnd < most || sample.delivered < initial_window(config) {
            window.cwnd += sample.newly_acked;
        }
        window.cwnd = window.cwnd.max(least);
        if self.state == State::ProbeRtt {
            window.cwnd = window.cwnd.min(self.probe_rtt_window(config));
        }
        let bound = match self.state {
            State::Down | State::Refill | State::Up => self.model.inflight_long,
            State::Cruise | State::ProbeRtt => Some(self.with_headroom(config)),
            State::Startup | State::Drain(_) => None,
        };
        let short = self.model.inflight_short.unwrap_or(u64::MAX);
        window.cwnd = window.cwnd.min(bound.unwrap_or(u64::MAX).min(short).max(least));
    }
}

/// IsInflightTooHigh(): whether `lost`, since the sample's segment was sent, is above the
/// threshold.
fn is_too_high(lost: u64, sample: &RateSample) -> bool {
    model::exceeds_threshold(lost, sample.tx_in_flight)
}

impl Controller for Bbr {
    /// Does nothing: `on_sample` does the work.
    fn on_ack(&mut self, _: &mut Window, _: &Moment<'_>, _: Delivery) {}

    fn on_loss(&mut self, window: &mut Window, _: &Moment<'_>, _: u64) {
        self.save(window);
        self.recovering = Some(self.model.round);
    }

    fn on_timeout(&mut self, window: &mut Window, _: &Moment<'_>, _: Option<u64>) {
        self.save(window);
        self.recovering = Some(self.model.round);
    }

    /// HandleRestartFromIdle(): the model stays valid, and pacing limits the burst.
    fn on_idle(&mut self, _: &mut Window, moment: &Moment<'_>) {
        self.on_resume(moment, moment.now);
    }

    fn on_resume(&mut self, moment: &Moment<'_>, _: Time) {
        if self.model.round == 0 {
            return;
        }
        self.idle_restart = true;
        self.model.restart_aggregation(moment.now);
        if self.state.probes_bandwidth() {
            self.rate = Some(self.model.bandwidth() * MARGIN);
        }
    }

    /// HandleLostPacket(): section 5.5.10.2.
    fn on_lost(&mut self, window: &mut Window, moment: &Moment<'_>, lost: &LostSegment) {
        self.model.note_loss(lost.delivered);
        let (ranges, end) = self.lost_ranges;
        self.lost_ranges = (ranges + u32::from(end != lost.start), lost.start + lost.size);
        if !self.probe.is_sample || !model::exceeds_threshold(lost.lost, lost.tx_in_flight) {
            return;
        }
        // HandleInflightTooHigh(): once per probe.
        self.probe.was_too_high = true;
        self.probe.is_sample = false;
        if !lost.is_app_limited {
            let target = (BETA * self.target(moment.config, window) as f64) as u64;
            self.model.inflight_long = Some(model::inflight_at_loss(lost).max(target));
        }
        if self.state == State::Up {
            self.start_down(moment.now);
        }
    }

    fn on_sample(&mut self, window: &mut Window, moment: &Moment<'_>, sample: &RateSample) {
        if let Some(prior) = sample.prior_delivered {
            self.model.take_delivery(sample, prior);
            self.probe.rounds_since += u64::from(self.model.is_round_start);
            if self.model.is_loss_round_start {
                self.model.end_loss_round(self.state.accelerates(), window.cwnd);
            }
            self.model.count_aggregation(moment.now, sample, window.cwnd, self.full.reached);
            self.look_for_plateau(sample);
            self.leave_startup(moment.config, sample);
            self.advance(window, moment, sample);
            self.look_for_least_rtt(window, moment, sample);
            self.model.begin_loss_round(sample, prior);
        }
        self.set_rate(moment);
        self.set_window(window, moment.config, sample);
    }

    fn on_recovered(&mut self, window: &mut Window) {
        self.recovering = None;
        window.cwnd = window.cwnd.max(self.saved);
    }

    fn rate(&self) -> Option<f64> {
        self.rate
    }

    /// HandleProbeRTT(): "Ignore low rate samples during ProbeRTT".
    fn holds_back(&self) -> bool {
        self.state == State::ProbeRtt
    }
}
