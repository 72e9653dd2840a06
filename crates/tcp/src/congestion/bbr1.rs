//! BBR, version 1: draft-cardwell-iccrg-bbr-congestion-control-00. Where the draft leaves something
//! open, it follows Linux's tcp_bbr.c, version 6, including its allowance for aggregated ACKs.
//!
//! Window and pacing rate follow a model of the path: the maximum delivery rate over ten round
//! trips and the minimum RTT over ten seconds. Losses do not enter the model. Linux draws the first
//! phase of the probing cycle at random; here the clock decides it, so that runs repeat.

use std::collections::VecDeque;

use airtcp_kernel::{Duration, Time};

use super::{Controller, Delivery, Moment, Window, initial_window};
use crate::rate::RateSample;
use crate::{Config, Implementation};

/// 2 / ln 2: section 4.1.1.
const HIGH_GAIN: f64 = 2.885;
const CWND_GAIN: f64 = 2.0;
/// Section 4.3.4.2: one round trip of probing, one of draining, six of cruising.
const CYCLE: [f64; 8] = [1.25, 0.75, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0];
/// BtlBwFilterLen, in round trips.
const BANDWIDTH_ROUNDS: u64 = 10;
/// RTpropFilterLen.
const MIN_RTT_WINDOW: Duration = Duration::from_secs(10);
/// ProbeRTTDuration.
const PROBE_RTT_TIME: Duration = Duration::from_millis(200);
/// BBRMinPipeCwnd, in segments.
const LEAST_SEGMENTS: u64 = 4;
/// Section 4.3.2.1: Startup ends when the bandwidth has not grown by this factor in three round
/// trips.
const FULL_GROWTH: f64 = 1.25;
const FULL_ROUNDS: u32 = 3;
/// `bbr_pacing_margin_percent`: pace slightly below the delivery rate.
const MARGIN: f64 = 0.99;
/// `bbr_extra_acked_win_rtts`, and `bbr_extra_acked_max_us`.
const EXTRA_ROUNDS: u64 = 5;
const MOST_EXTRA_S: f64 = 0.1;
/// After this many bytes ns-3's tcp-bbr.cc restarts its counting of ACK aggregation
/// (`AckEpochAckedResetThresh`), Linux after 2^20 segments. ns-3 therefore measures what a single
/// ACK covers.
const NS3_EPOCH_BYTES: u64 = 1 << 12;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Mode {
    #[default]
    Startup,
    Drain,
    ProbeBandwidth {
        phase: usize,
        since: Time,
    },
    /// Ends after this time and one round trip with four segments in flight; `None` until then.
    ProbeRtt {
        done: Option<Time>,
        round_done: bool,
    },
}

/// The model of the path and the state of the machine.
#[derive(Clone, Debug, Default)]
pub(crate) struct Bbr1 {
    mode: Mode,
    /// Rounds, delimited by delivered data.
    round: u64,
    next_round: u64,
    /// Maximum filter of the bandwidth: (round, bytes/s), without rounds that a later round
    /// exceeds.
    bandwidths: VecDeque<(u64, f64)>,
    min_rtt: Option<Duration>,
    min_rtt_at: Time,
    /// The bandwidth at the last check, and the number of rounds without growth since.
    full: f64,
    full_rounds: u32,
    is_full: bool,
    /// The window to restore.
    saved: u64,
    /// Whether packet conservation applies: the first round trip of a recovery.
    conserves: bool,
    /// Bytes delivered beyond the bandwidth, in two windows of rounds, and when counting began.
    extra: [u64; 2],
    extra_round: u64,
    epoch: (Time, u64),
    rate: Option<f64>,
    is_ns3: bool,
}

impl Bbr1 {
    pub(crate) fn new(is_ns3: bool) -> Self {
        Self { is_ns3, ..Self::default() }
    }

    /// Returns BBR.BtlBw.
    fn bandwidth(&self) -> f64 {
        self.bandwidths.front().map_or(0.0, |(_, most)| *most)
    }

    fn pacing_gain(&self) -> f64 {
        match self.mode {
            Mode::Startup => HIGH_GAIN,
            Mode::Drain => 1.0 / HIGH_GAIN,
            Mode::ProbeBandwidth { phase, .. } => CYCLE[phase],
            Mode::ProbeRtt { .. } => 1.0,
        }
    }

    fn cwnd_gain(&self) -> f64 {
        match self.mode {
            Mode::Startup | Mode::Drain => HIGH_GAIN,
            Mode::ProbeBandwidth { .. } => CWND_GAIN,
            Mode::ProbeRtt { .. } => 1.0,
        }
    }

    /// BBRInflight(): `gain` times the bandwidth-delay product, plus the needs of a burst and its
    /// ACK.
    fn inflight(&self, config: &Config, gain: f64) -> u64 {
        let Some(min_rtt) = self.min_rtt else { return initial_window(config) };
        let smss = u64::from(config.mss);
        let held = gain * self.bandwidth() * min_rtt.as_secs_f64();
        if config.rules.bbr1 == Implementation::Ns3 {
            let probe = if self.is_probing() { 2 * smss } else { 0 };
            return held as u64 + 3 * smss + probe;
        }
        let mut segments = (held / smss as f64).ceil() as u64 + 3 * self.burst(smss);
        segments = segments.next_multiple_of(2);
        if self.is_probing() {
            segments += 2;
        }
        segments * smss
    }

    fn is_probing(&self) -> bool {
        matches!(self.mode, Mode::ProbeBandwidth { phase: 0, .. })
    }

    /// Returns the number of segments in a millisecond, usually at least two: `bbr_tso_segs_goal`.
    fn burst(&self, smss: u64) -> u64 {
        let rate = self.rate.unwrap_or(0.0) / 1024.0;
        ((rate / smss as f64) as u64).clamp(if rate * 1024.0 < 150_000.0 { 1 } else { 2 }, 44)
    }

    /// Updates the round and the maximum delivery rate of ten rounds: `bbr_update_bw`. Returns true
    /// in a new round.
    fn update_bandwidth(&mut self, sample: &RateSample) -> bool {
        let Some(prior) = sample.prior_delivered else { return false };
        let is_new = prior >= self.next_round;
        if is_new {
            self.next_round = sample.delivered;
            self.round += 1;
            self.conserves = false;
        }
        if let Some(rate) = sample.rate
            && (!sample.is_app_limited || rate >= self.bandwidth())
        {
            while self.bandwidths.back().is_some_and(|(_, before)| *before <= rate) {
                self.bandwidths.pop_back();
            }
            self.bandwidths.push_back((self.round, rate));
            let round = self.round;
            // Old samples expire only when a new one arrives. While the sender holds back, the
            // maximum therefore stays.
            while self.bandwidths.front().is_some_and(|(at, _)| at + BANDWIDTH_ROUNDS < round) {
                self.bandwidths.pop_front();
            }
        }
        is_new
    }

    /// See `bbr_update_ack_aggregation`.
    fn update_extra(
        &mut self,
        moment: &Moment<'_>,
        sample: &RateSample,
        cwnd: u64,
        is_new_round: bool,
    ) {
        if sample.newly_acked == 0 {
            return;
        }
        let now = moment.now;
        if is_new_round && self.round >= self.extra_round + EXTRA_ROUNDS {
            self.extra_round = self.round;
            self.extra = [0, self.extra[0]];
        }
        let (since, acked) = self.epoch;
        let expected = (self.bandwidth() * now.saturating_since(since).as_secs_f64()) as u64;
        let is_long = moment.config.rules.bbr1 == Implementation::Ns3
            && acked + sample.newly_acked >= NS3_EPOCH_BYTES;
        let is_over = acked <= expected || is_long;
        if is_over {
            self.epoch = (now, sample.newly_acked);
        } else {
            self.epoch.1 += sample.newly_acked;
        }
        let expected = if is_over { 0 } else { expected };
        let extra = self.epoch.1.saturating_sub(expected).min(cwnd);
        self.extra[0] = self.extra[0].max(extra);
    }

    fn extra(&self) -> u64 {
        if !self.is_full {
            return 0;
        }
        self.extra[0].max(self.extra[1]).min((self.bandwidth() * MOST_EXTRA_S) as u64)
    }

    /// Enters the next mode: sections 4.3.2 to 4.3.4.
    fn advance(&mut self, config: &Config, now: Time, sample: &RateSample, is_new_round: bool) {
        if !self.is_full && is_new_round && !sample.is_app_limited {
            if self.bandwidth() >= FULL_GROWTH * self.full {
                (self.full, self.full_rounds) = (self.bandwidth(), 0);
            } else {
                self.full_rounds += 1;
                self.is_full = self.full_rounds >= FULL_ROUNDS;
            }
        }
        if self.mode == Mode::Startup && self.is_full {
            self.mode = Mode::Drain;
        }
        if self.mode == Mode::Drain && sample.in_flight <= self.inflight(config, 1.0) {
            self.probe_bandwidth(now);
        }
        if let Mode::ProbeBandwidth { phase, since } = self.mode {
            let is_long = self.min_rtt.is_some_and(|rtt| now.saturating_since(since) > rtt);
            let gain = CYCLE[phase];
            let is_over = if gain > 1.0 {
                let is_filled =
                    sample.in_flight + sample.newly_acked >= self.inflight(config, gain);
                is_long && (sample.newly_lost > 0 || is_filled)
            } else if gain < 1.0 {
                is_long || sample.in_flight + sample.newly_acked <= self.inflight(config, 1.0)
            } else {
                is_long
            };
            if is_over {
                self.mode = Mode::ProbeBandwidth { phase: (phase + 1) % CYCLE.len(), since: now };
            }
        }
    }

    /// Starts bandwidth probing (section 4.3.4.3) in any phase except draining.
    fn probe_bandwidth(&mut self, now: Time) {
        let drawn = (now.as_nanos() / 1000 % 7) as usize;
        let phase = if drawn == 0 { 0 } else { drawn + 1 };
        self.mode = Mode::ProbeBandwidth { phase, since: now };
    }

    /// Updates the minimum RTT, and probes for it with few segments in flight: section 4.3.5.
    fn update_min_rtt(
        &mut self,
        window: &mut Window,
        moment: &Moment<'_>,
        sample: &RateSample,
        is_new_round: bool,
    ) {
        let now = moment.now;
        let is_old = now.saturating_since(self.min_rtt_at) > MIN_RTT_WINDOW;
        if let Some(rtt) = sample.rtt
            && (is_old || self.min_rtt.is_none_or(|least| rtt <= least))
        {
            (self.min_rtt, self.min_rtt_at) = (Some(rtt), now);
        }
        let least = LEAST_SEGMENTS * u64::from(moment.config.mss);
        if is_old && !matches!(self.mode, Mode::ProbeRtt { .. }) {
            self.save(window);
            self.mode = Mode::ProbeRtt { done: None, round_done: false };
        }
        match &mut self.mode {
            Mode::ProbeRtt { done: done @ None, .. } if sample.in_flight <= least => {
                *done = Some(now + PROBE_RTT_TIME);
                self.next_round = sample.delivered;
            }
            Mode::ProbeRtt { done: Some(done), round_done } => {
                *round_done |= is_new_round;
                if *round_done && now > *done {
                    self.min_rtt_at = now;
                    window.cwnd = window.cwnd.max(self.saved);
                    if self.is_full {
                        self.probe_bandwidth(now);
                    } else {
                        self.mode = Mode::Startup;
                    }
                }
            }
            _ => {}
        }
    }

    /// BBRSaveCwnd().
    fn save(&mut self, window: &Window) {
        let is_small = self.conserves || matches!(self.mode, Mode::ProbeRtt { .. });
        self.saved = if is_small { self.saved.max(window.cwnd) } else { window.cwnd };
    }

    /// Sets the pacing rate: BBRSetPacingRate() of section 4.2.1. In Startup it never falls.
    fn set_rate(&mut self, window: &Window, srtt: Option<Duration>) {
        let bandwidth = self.bandwidth();
        if bandwidth == 0.0 {
            let rtt = srtt.unwrap_or(Duration::from_millis(1)).as_secs_f64();
            self.rate = Some(HIGH_GAIN * window.cwnd as f64 / rtt);
            return;
        }
        let rate = self.pacing_gain() * bandwidth * MARGIN;
        if self.is_full || self.rate.is_none_or(|before| rate > before) {
            self.rate = Some(rate);
        }
    }

    /// Sets the window: BBRSetCwnd() of section 4.2.3.
    fn set_window(&mut self, window: &mut Window, config: &Config, sample: &RateSample) {
        let smss = u64::from(config.mss);
        let acked = sample.newly_acked;
        if sample.newly_lost > 0 {
            window.cwnd = window.cwnd.saturating_sub(sample.newly_lost).max(smss);
        }
        if self.conserves {
            window.cwnd = window.cwnd.max(sample.in_flight + acked);
        } else {
            let target = self.inflight(config, self.cwnd_gain()) + self.extra();
            if self.is_full {
                window.cwnd = (window.cwnd + acked).min(target);
            } else if window.cwnd < target || sample.delivered < initial_window(config) {
                window.cwnd += acked;
            }
            window.cwnd = window.cwnd.max(LEAST_SEGMENTS * smss);
        }
        if matches!(self.mode, Mode::ProbeRtt { .. }) {
            window.cwnd = window.cwnd.min(LEAST_SEGMENTS * smss);
        }
    }
}

impl Controller for Bbr1 {
    /// Does nothing: `on_sample` does the work.
    fn on_ack(&mut self, _: &mut Window, _: &Moment<'_>, _: Delivery) {}

    fn on_loss(&mut self, window: &mut Window, moment: &Moment<'_>, flight_size: u64) {
        self.save(window);
        self.conserves = true;
        // BBR has no threshold, so only what is still in flight stays in the window.
        window.cwnd = flight_size.max(u64::from(moment.config.mss));
    }

    fn on_timeout(&mut self, window: &mut Window, _: &Moment<'_>, _: Option<u64>) {
        self.save(window);
        self.full = 0.0;
    }

    /// Keeps the model; pacing limits the burst: section 4.3.4.5 and Linux.
    fn on_idle(&mut self, _: &mut Window, _: &Moment<'_>) {}

    fn on_sample(&mut self, window: &mut Window, moment: &Moment<'_>, sample: &RateSample) {
        let config = moment.config;
        let is_new_round = self.update_bandwidth(sample);
        self.update_extra(moment, sample, window.cwnd, is_new_round);
        self.advance(config, moment.now, sample, is_new_round);
        self.update_min_rtt(window, moment, sample, is_new_round);
        self.set_rate(window, moment.rtt.srtt());
        self.set_window(window, config, sample);
    }

    fn on_recovered(&mut self, window: &mut Window) {
        self.conserves = false;
        window.cwnd = window.cwnd.max(self.saved);
    }

    /// Whether rate samples are ignored: section 4.3.5, BBRHandleProbeRTT(). What four segments
    /// deliver is not the path's capacity. ns-3 sets a flag that nothing reads, so its bandwidth
    /// estimate falls.
    fn holds_back(&self) -> bool {
        !self.is_ns3 && matches!(self.mode, Mode::ProbeRtt { .. })
    }

    fn rate(&self) -> Option<f64> {
        self.rate
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a sample of a round of its own at `rate` bytes/s, after `before` delivered bytes.
    fn sample(rate: f64, before: u64, is_app_limited: bool) -> RateSample {
        RateSample {
            rate: Some(rate),
            delivered: before + 10_000,
            prior_delivered: Some(before),
            is_app_limited,
            rtt: None,
            newly_acked: 10_000,
            newly_lost: 0,
            in_flight: 100_000,
            tx_in_flight: 100_000,
            lost: 0,
            is_cwnd_limited: true,
        }
    }

    #[test]
    fn what_a_probe_for_the_round_trip_delivers_is_not_what_the_path_does() {
        // 36 round trips of 5.5 ms in 200 ms: far more than the ten of the maximum filter.
        for (is_ns3, rest) in [(false, 3e6), (true, 1e6)] {
            let mut bbr = Bbr1::new(is_ns3);
            bbr.update_bandwidth(&sample(3e6, 0, false));
            bbr.mode = Mode::ProbeRtt { done: None, round_done: false };
            for round in 1..=36 {
                bbr.update_bandwidth(&sample(1e6, 10_000 * round, bbr.holds_back()));
            }
            assert_eq!(bbr.bandwidth(), rest, "ns-3: {is_ns3}");
            // The next sample that reflects the path replaces the old ones.
            bbr.update_bandwidth(&sample(2.5e6, 400_000, false));
            assert_eq!(bbr.bandwidth(), 2.5e6);
        }
    }
}
