//! BBR's model of the path: draft-ietf-ccwg-bbr, section 5.5. It is independent of the sender's
//! state.

use std::collections::VecDeque;

use airtcp_kernel::{Duration, Time};

use crate::Config;
use crate::congestion::initial_window;
use crate::rate::{LostSegment, RateSample};

/// BBR.LossThresh.
const LOSS_THRESHOLD: f64 = 0.02;
/// BBR.Beta.
pub(super) const BETA: f64 = 0.7;
/// MinRTTFilterLen.
const MIN_RTT_WINDOW: Duration = Duration::from_secs(10);
/// ExtraAckedFilterLen, in round trips.
const EXTRA_ROUNDS: u64 = 10;

/// The model of the path. Rates are in bytes/s.
#[derive(Clone, Debug, Default)]
pub(super) struct Model {
    /// The maximum delivery rates in the last probing cycle and in the current one.
    bandwidths: [f64; 2],
    /// BBR.bw_shortterm, BBR.inflight_shortterm and BBR.inflight_longterm; `None`: no bound.
    bandwidth_short: Option<f64>,
    pub(super) inflight_short: Option<u64>,
    pub(super) inflight_long: Option<u64>,
    min_rtt: Option<Duration>,
    min_rtt_at: Time,
    /// BBR.round_count; delivered data delimits rounds.
    pub(super) round: u64,
    next_round: u64,
    pub(super) is_round_start: bool,
    /// C.delivered at the last ACK.
    delivered: u64,
    /// BBR.bw_latest and BBR.inflight_latest, over one round.
    bandwidth_latest: f64,
    pub(super) inflight_latest: u64,
    loss_round: u64,
    pub(super) is_loss_round_start: bool,
    is_loss_in_round: bool,
    /// When counting of ACK aggregation began, and the bytes delivered since.
    epoch: (Time, u64),
    /// BBR.extra_acked filter: (round, maximum), without rounds that a later round exceeds.
    extra: VecDeque<(u64, u64)>,
}

impl Model {
    /// Returns BBR.max_bw.
    pub(super) fn max_bandwidth(&self) -> f64 {
        self.bandwidths[0].max(self.bandwidths[1])
    }

    /// Returns BBR.bw.
    pub(super) fn bandwidth(&self) -> f64 {
        self.bandwidth_short.map_or(self.max_bandwidth(), |short| short.min(self.max_bandwidth()))
    }

    /// BDPMultiple(): `gain` times the bandwidth-delay product.
    pub(super) fn held(&self, config: &Config, bandwidth: f64, gain: f64) -> u64 {
        let Some(min_rtt) = self.min_rtt else { return initial_window(config) };
        (gain * bandwidth * min_rtt.as_secs_f64()) as u64
    }

    /// Returns BBR.extra_acked.
    pub(super) fn extra_acked(&self) -> u64 {
        self.extra.front().map_or(0, |(_, most)| *most)
    }

    /// StartRound().
    pub(super) fn start_round(&mut self) {
        self.next_round = self.delivered;
    }

    /// UpdateLatestDeliverySignals(), UpdateRound() and UpdateMaxBw().
    pub(super) fn take_delivery(&mut self, sample: &RateSample, prior: u64) {
        self.delivered = sample.delivered;
        let rate = sample.rate.unwrap_or(0.0);
        self.bandwidth_latest = self.bandwidth_latest.max(rate);
        self.inflight_latest = self.inflight_latest.max(sample.delivered - prior);
        self.is_loss_round_start = prior >= self.loss_round;
        if self.is_loss_round_start {
            self.loss_round = sample.delivered;
        }
        self.is_round_start = prior >= self.next_round;
        if self.is_round_start {
            self.start_round();
            self.round += 1;
        }
        if rate > 0.0 && (rate >= self.max_bandwidth() || !sample.is_app_limited) {
            self.bandwidths[1] = self.bandwidths[1].max(rate);
        }
    }

    /// AdvanceMaxBwFilter(), if this cycle had a sample.
    pub(super) fn advance_bandwidths(&mut self) {
        if self.bandwidths[1] > 0.0 {
            self.bandwidths = [self.bandwidths[1], 0.0];
        }
    }

    /// NoteLoss(), at `delivered` bytes.
    pub(super) fn note_loss(&mut self, delivered: u64) {
        if !self.is_loss_in_round {
            self.loss_round = delivered;
        }
        self.is_loss_in_round = true;
    }

    /// AdaptLowerBoundsFromCongestion(), at the end of a round.
    pub(super) fn end_loss_round(&mut self, accelerates: bool, cwnd: u64) {
        if self.is_loss_in_round && !accelerates {
            let bandwidth = BETA * self.bandwidth_short.unwrap_or(self.max_bandwidth());
            let inflight = (BETA * self.inflight_short.unwrap_or(cwnd) as f64) as u64;
            self.bandwidth_short = Some(bandwidth.max(self.bandwidth_latest));
            self.inflight_short = Some(inflight.max(self.inflight_latest));
        }
        self.is_loss_in_round = false;
    }

    /// AdvanceLatestDeliverySignals().
    pub(super) fn begin_loss_round(&mut self, sample: &RateSample, prior: u64) {
        if self.is_loss_round_start {
            self.bandwidth_latest = sample.rate.unwrap_or(0.0);
            self.inflight_latest = sample.delivered - prior;
        }
    }

    pub(super) fn reset_congestion_signals(&mut self) {
        self.is_loss_in_round = false;
        self.bandwidth_latest = 0.0;
        self.inflight_latest = 0;
    }

    pub(super) fn reset_short_term(&mut self) {
        self.bandwidth_short = None;
        self.inflight_short = None;
    }

    /// Updates the minimum RTT with `least`, which was measured at `at`. It expires after ten
    /// seconds.
    pub(super) fn update_min_rtt(&mut self, now: Time, least: Option<Duration>, at: Time) {
        let is_old = now > self.min_rtt_at + MIN_RTT_WINDOW;
        if let Some(least) = least
            && (is_old || self.min_rtt.is_none_or(|before| least < before))
        {
            (self.min_rtt, self.min_rtt_at) = (Some(least), at);
        }
    }

    /// Restarts the counting of ACK aggregation.
    pub(super) fn restart_aggregation(&mut self, now: Time) {
        self.epoch.0 = now;
    }

    /// UpdateACKAggregation(): section 5.5.9.
    pub(super) fn count_aggregation(
        &mut self,
        now: Time,
        sample: &RateSample,
        cwnd: u64,
        is_full: bool,
    ) {
        let (since, acked) = self.epoch;
        let mut expected = (self.bandwidth() * now.saturating_since(since).as_secs_f64()) as u64;
        if acked <= expected {
            self.epoch = (now, 0);
            expected = 0;
        }
        self.epoch.1 += sample.newly_acked;
        let extra = self.epoch.1.saturating_sub(expected).min(cwnd);
        while self.extra.back().is_some_and(|(_, before)| *before <= extra) {
            self.extra.pop_back();
        }
        self.extra.push_back((self.round, extra));
        let rounds = if is_full { EXTRA_ROUNDS } else { 1 };
        while self.extra.front().is_some_and(|(at, _)| at + rounds < self.round) {
            self.extra.pop_front();
        }
    }
}

#[cfg(test)]
impl Model {
    pub(super) fn delivered(&self) -> u64 {
        self.delivered
    }

    /// Resets the signals as at the start of a round.
    pub(super) fn reset_congestion_latest(&mut self) {
        (self.bandwidth_latest, self.inflight_latest) = (0.0, 0);
    }
}

/// Whether the loss rate exceeds BBR.LossThresh.
pub(super) fn exceeds_threshold(lost: u64, in_flight: u64) -> bool {
    lost as f64 > in_flight as f64 * LOSS_THRESHOLD
}

/// InflightAtLoss(), section 5.5.10.2: the inflight volume at which losses exceeded the threshold.
pub(super) fn inflight_at_loss(segment: &LostSegment) -> u64 {
    let before = segment.tx_in_flight.saturating_sub(segment.size) as f64;
    let lost_before = segment.lost.saturating_sub(segment.size) as f64;
    let prefix = (LOSS_THRESHOLD * before - lost_before) / (1.0 - LOSS_THRESHOLD);
    (before + prefix).max(0.0) as u64
}
