//! A second implementation of draft-ietf-ccwg-bbr (version 3, August 2026) that follows its text:
//! variables and functions have the draft's names, nothing is cached, and filters are lists. It is
//! slow and independent of the sender. Both implementations get the same ACKs and losses, and must
//! agree after each.
//!
//! These points were agreed beforehand instead of read from the draft. Volumes are whole bytes,
//! rounded down. Where the draft draws at random, the clock decides. Nothing is undone. Where its
//! pseudocode is ambiguous, both do what Linux or our implementation does: `bw` is the current
//! value, not that at the end of the last ACK. The filter of `max_bw` drops old samples when a
//! cycle ends, not with the next sample. A cycle without a sample does not count. An ACK without a
//! rate says nothing about a plateau. Restarts from idle are left out.

use crate::rate::LostSegment;

mod cycle;

const INFINITY: f64 = f64::INFINITY;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Is {
    #[default]
    Startup,
    Drain,
    Down,
    Cruise,
    Refill,
    Up,
    ProbeRtt,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Acks {
    #[default]
    Init,
    Refilling,
    Starting,
    Feedback,
    Stopping,
}

/// An ACK: RS and the parts of C that the algorithm reads.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Ack {
    pub(super) now: f64,
    pub(super) delivery_rate: f64,
    pub(super) prior_delivered: f64,
    pub(super) delivered: f64,
    pub(super) newly_acked: f64,
    pub(super) lost: f64,
    pub(super) tx_in_flight: f64,
    pub(super) inflight: f64,
    pub(super) rtt: f64,
    pub(super) is_app_limited: bool,
    pub(super) is_cwnd_limited: bool,
}

/// BBR.* and C.*, in bytes and seconds.
#[derive(Debug, Default)]
pub(super) struct Draft {
    smss: f64,
    initial_cwnd: f64,
    pub(super) state: Is,
    ack_phase: Acks,
    pub(super) cwnd: f64,
    pub(super) prior_cwnd: f64,
    pub(super) pacing_rate: f64,
    pub(super) in_recovery_since: Option<u64>,
    max_bw_samples: Vec<(u64, f64)>,
    cycle_count: u64,
    bw_latest: f64,
    inflight_latest: f64,
    bw_shortterm: f64,
    inflight_shortterm: f64,
    inflight_longterm: f64,
    min_rtt: f64,
    min_rtt_stamp: f64,
    probe_rtt_min_delay: f64,
    probe_rtt_min_stamp: f64,
    probe_rtt_done_stamp: f64,
    probe_rtt_round_done: bool,
    pub(super) round_count: u64,
    round_start: bool,
    next_round_delivered: f64,
    rounds_since_probe_up: u64,
    full_bw: f64,
    full_bw_count: u32,
    full_bw_now: bool,
    full_bw_reached: bool,
    drain_start_round: u64,
    is_loss_in_round: bool,
    loss_round_delivered: f64,
    loss_round_start: bool,
    lost_ranges: u32,
    lost_end: f64,
    extra_acked_samples: Vec<(u64, f64)>,
    extra_acked_interval_start: f64,
    extra_acked_delivered: f64,
    is_bw_probe_sample: bool,
    prev_probe_too_high: bool,
    prev_probe_precautionary: bool,
    probe_up_acked_per_inc: f64,
    bw_probe_up_acked: f64,
    bw_probe_up_rounds: u32,
    bw_probe_wait: f64,
    cycle_stamp: f64,
    c_delivered: f64,
}

impl Draft {
    pub(super) fn new(smss: f64, initial_cwnd: f64) -> Self {
        Self {
            smss,
            initial_cwnd,
            cwnd: initial_cwnd,
            // InitPacingRate(), before the first RTT sample.
            pacing_rate: 2.77 * initial_cwnd / 0.001,
            bw_shortterm: INFINITY,
            inflight_shortterm: INFINITY,
            inflight_longterm: INFINITY,
            min_rtt: INFINITY,
            probe_rtt_min_delay: INFINITY,
            lost_end: -1.0,
            probe_up_acked_per_inc: INFINITY,
            ..Self::default()
        }
    }

    pub(super) fn update_on_ack(&mut self, rs: &Ack) {
        self.c_delivered = rs.delivered;
        // UpdateLatestDeliverySignals().
        let delivered_since = rs.delivered - rs.prior_delivered;
        self.loss_round_start = false;
        self.bw_latest = self.bw_latest.max(rs.delivery_rate);
        self.inflight_latest = self.inflight_latest.max(delivered_since);
        if rs.prior_delivered >= self.loss_round_delivered {
            self.loss_round_delivered = rs.delivered;
            self.loss_round_start = true;
        }
        self.update_congestion_signals(rs);
        self.update_ack_aggregation(rs);
        self.check_full_bw_reached(rs);
        self.check_startup_done(rs);
        self.check_drain_done(rs);
        self.update_probe_bw_cycle_phase(rs);
        let expired = self.update_min_rtt(rs);
        self.check_probe_rtt(rs, expired);
        if self.loss_round_start {
            self.bw_latest = rs.delivery_rate;
            self.inflight_latest = delivered_since;
        }
        self.set_pacing_rate();
        self.set_cwnd(rs);
    }

    fn max_bw(&self) -> f64 {
        self.max_bw_samples.iter().map(|(_, bw)| *bw).fold(0.0, f64::max)
    }

    /// BoundBWForModel().
    fn bw(&self) -> f64 {
        self.max_bw().min(self.bw_shortterm)
    }

    /// As agreed: at once, not with the next sample; a cycle without a sample does not count.
    fn advance_max_bw_filter(&mut self) {
        let cycle = self.cycle_count;
        if self.max_bw_samples.iter().any(|(at, _)| *at == cycle) {
            self.cycle_count += 1;
            self.max_bw_samples.retain(|(at, _)| *at == cycle);
        }
    }

    fn update_congestion_signals(&mut self, rs: &Ack) {
        // UpdateRound().
        self.round_start = rs.prior_delivered >= self.next_round_delivered;
        if self.round_start {
            self.start_round();
            self.round_count += 1;
            self.rounds_since_probe_up += 1;
        }
        // UpdateMaxBw(): of this cycle and the previous one.
        if rs.delivery_rate > 0.0 && (rs.delivery_rate >= self.max_bw() || !rs.is_app_limited) {
            let cycle = self.cycle_count;
            self.max_bw_samples.push((cycle, rs.delivery_rate));
            self.max_bw_samples.retain(|(at, _)| at + 1 >= cycle);
        }
        if !self.loss_round_start {
            return;
        }
        let is_probing = matches!(self.state, Is::Startup | Is::Refill | Is::Up);
        if !is_probing && self.is_loss_in_round {
            if self.bw_shortterm == INFINITY {
                self.bw_shortterm = self.max_bw();
            }
            if self.inflight_shortterm == INFINITY {
                self.inflight_shortterm = self.cwnd;
            }
            self.bw_shortterm = self.bw_latest.max(0.7 * self.bw_shortterm);
            self.inflight_shortterm =
                self.inflight_latest.max((0.7 * self.inflight_shortterm).floor());
        }
        self.is_loss_in_round = false;
    }

    fn update_ack_aggregation(&mut self, rs: &Ack) {
        let mut expected = (self.bw() * (rs.now - self.extra_acked_interval_start)).floor();
        if self.extra_acked_delivered <= expected {
            self.extra_acked_delivered = 0.0;
            self.extra_acked_interval_start = rs.now;
            expected = 0.0;
        }
        self.extra_acked_delivered += rs.newly_acked;
        let extra = (self.extra_acked_delivered - expected).min(self.cwnd);
        self.extra_acked_samples.push((self.round_count, extra));
        let (now, length) = (self.round_count, if self.full_bw_reached { 10 } else { 1 });
        self.extra_acked_samples.retain(|(at, _)| at + length >= now);
    }

    fn extra_acked(&self) -> f64 {
        self.extra_acked_samples.iter().map(|(_, extra)| *extra).fold(0.0, f64::max)
    }

    fn reset_full_bw(&mut self, full_bw: f64) {
        (self.full_bw, self.full_bw_count, self.full_bw_now) = (full_bw, 0, false);
    }

    fn check_full_bw_reached(&mut self, rs: &Ack) {
        let is_told = rs.delivery_rate > 0.0;
        if self.full_bw_now || !self.round_start || rs.is_app_limited || !is_told {
            return;
        }
        if rs.delivery_rate >= self.full_bw * 1.25 {
            self.reset_full_bw(rs.delivery_rate);
            return;
        }
        self.full_bw_count += 1;
        self.full_bw_now = self.full_bw_count >= 3;
        if self.full_bw_now {
            self.full_bw_reached = true;
        }
    }

    fn check_startup_done(&mut self, rs: &Ack) {
        // CheckStartupHighLoss(), at the end of a round.
        if self.state == Is::Startup && self.loss_round_start {
            let is_long = self.in_recovery_since.is_some_and(|since| self.round_count > since);
            if is_long
                && Self::is_inflight_too_high(rs.lost, rs.tx_in_flight)
                && self.lost_ranges >= 6
            {
                self.full_bw_reached = true;
                self.inflight_longterm = self.bdp_multiple(1.0).max(self.inflight_latest);
            }
        }
        if self.loss_round_start {
            self.lost_ranges = 0;
        }
        if self.state == Is::Startup && self.full_bw_reached {
            self.state = Is::Drain;
            self.drain_start_round = self.round_count;
        }
    }

    fn check_drain_done(&mut self, rs: &Ack) {
        if self.state == Is::Drain
            && (rs.inflight <= self.inflight(self.bw(), 1.0)
                || self.round_count > self.drain_start_round + 3)
        {
            self.start_down(rs.now);
        }
    }

    fn start_round(&mut self) {
        self.next_round_delivered = self.c_delivered;
    }

    fn update_min_rtt(&mut self, rs: &Ack) -> bool {
        let expired = rs.now > self.probe_rtt_min_stamp + 5.0;
        if rs.rtt < self.probe_rtt_min_delay || expired {
            (self.probe_rtt_min_delay, self.probe_rtt_min_stamp) = (rs.rtt, rs.now);
        }
        if self.probe_rtt_min_delay < self.min_rtt || rs.now > self.min_rtt_stamp + 10.0 {
            (self.min_rtt, self.min_rtt_stamp) =
                (self.probe_rtt_min_delay, self.probe_rtt_min_stamp);
        }
        expired
    }

    fn check_probe_rtt(&mut self, rs: &Ack, expired: bool) {
        if self.state != Is::ProbeRtt && expired {
            self.state = Is::ProbeRtt;
            self.save_cwnd();
            self.probe_rtt_done_stamp = 0.0;
            self.ack_phase = Acks::Stopping;
            self.start_round();
        }
        if self.state != Is::ProbeRtt {
            return;
        }
        if self.probe_rtt_done_stamp == 0.0 && rs.inflight <= self.probe_rtt_cwnd() {
            self.probe_rtt_done_stamp = rs.now + 0.2;
            self.probe_rtt_round_done = false;
            self.start_round();
        } else if self.probe_rtt_done_stamp != 0.0 {
            self.probe_rtt_round_done |= self.round_start;
            if self.probe_rtt_round_done && rs.now > self.probe_rtt_done_stamp {
                self.probe_rtt_min_stamp = rs.now;
                self.cwnd = self.cwnd.max(self.prior_cwnd);
                (self.bw_shortterm, self.inflight_shortterm) = (INFINITY, INFINITY);
                if self.full_bw_reached {
                    self.start_down(rs.now);
                    self.state = Is::Cruise;
                } else {
                    self.state = Is::Startup;
                }
            }
        }
    }

    fn probe_rtt_cwnd(&self) -> f64 {
        self.bdp_multiple(0.5).max(4.0 * self.smss)
    }

    pub(super) fn save_cwnd(&mut self) {
        if self.in_recovery_since.is_none() && self.state != Is::ProbeRtt {
            self.prior_cwnd = self.cwnd;
        } else {
            self.prior_cwnd = self.prior_cwnd.max(self.cwnd);
        }
    }

    fn pacing_gain(&self) -> f64 {
        match self.state {
            Is::Startup => 2.77,
            Is::Drain => 0.5,
            Is::Down => 0.9,
            Is::Cruise | Is::Refill | Is::ProbeRtt => 1.0,
            Is::Up => 1.25,
        }
    }

    fn cwnd_gain(&self) -> f64 {
        match self.state {
            Is::Up => 2.25,
            Is::ProbeRtt => 0.5,
            _ => 2.0,
        }
    }

    fn set_pacing_rate(&mut self) {
        let rate = self.pacing_gain() * self.bw() * (100.0 - 1.0) / 100.0;
        if self.full_bw_reached || rate > self.pacing_rate {
            self.pacing_rate = rate;
        }
    }

    fn bdp_of(&self, bw: f64, gain: f64) -> f64 {
        if self.min_rtt == INFINITY {
            return self.initial_cwnd;
        }
        (gain * bw * self.min_rtt).floor()
    }

    fn bdp_multiple(&self, gain: f64) -> f64 {
        self.bdp_of(self.bw(), gain)
    }

    fn quantization_budget(&self, cap: f64) -> f64 {
        let quantum = (self.pacing_rate * 0.001).floor().min(65_536.0).max(2.0 * self.smss);
        let budget = cap.max(3.0 * quantum).max(4.0 * self.smss);
        budget + if self.state == Is::Up { 2.0 * self.smss } else { 0.0 }
    }

    fn inflight(&self, bw: f64, gain: f64) -> f64 {
        self.quantization_budget(self.bdp_of(bw, gain))
    }

    fn inflight_with_headroom(&self) -> f64 {
        if self.inflight_longterm == INFINITY {
            return INFINITY;
        }
        let headroom = (0.15 * self.inflight_longterm).floor().max(self.smss);
        (self.inflight_longterm - headroom).max(4.0 * self.smss)
    }

    fn set_cwnd(&mut self, rs: &Ack) {
        let cap = self.bdp_multiple(self.cwnd_gain()) + self.extra_acked();
        let max_inflight = self.quantization_budget(cap);
        if self.full_bw_reached {
            self.cwnd = (self.cwnd + rs.newly_acked).min(max_inflight);
        } else if self.cwnd < max_inflight || rs.delivered < self.initial_cwnd {
            self.cwnd += rs.newly_acked;
        }
        self.cwnd = self.cwnd.max(4.0 * self.smss);
        if self.state == Is::ProbeRtt {
            self.cwnd = self.cwnd.min(self.probe_rtt_cwnd());
        }
        let mut cap = INFINITY;
        if self.is_in_a_probe_bw_state() && self.state != Is::Cruise {
            cap = self.inflight_longterm;
        } else if matches!(self.state, Is::ProbeRtt | Is::Cruise) {
            cap = self.inflight_with_headroom();
        }
        self.cwnd = self.cwnd.min(cap.min(self.inflight_shortterm).max(4.0 * self.smss));
    }

    fn is_inflight_too_high(lost: f64, tx_in_flight: f64) -> bool {
        lost > tx_in_flight * 0.02
    }

    pub(super) fn handle_lost_packet(&mut self, now: f64, packet: &LostSegment) {
        // NoteLoss().
        if !self.is_loss_in_round {
            self.loss_round_delivered = packet.delivered as f64;
        }
        self.is_loss_in_round = true;
        self.lost_ranges += u32::from(self.lost_end != packet.start as f64);
        self.lost_end = (packet.start + packet.size) as f64;
        let (size, lost) = (packet.size as f64, packet.lost as f64);
        let tx_in_flight = packet.tx_in_flight as f64;
        if !self.is_bw_probe_sample || !Self::is_inflight_too_high(lost, tx_in_flight) {
            return;
        }
        // InflightAtLoss().
        let (inflight_prev, lost_prev) = (tx_in_flight - size, lost - size);
        let lost_prefix = (0.02 * inflight_prev - lost_prev) / (1.0 - 0.02);
        let inflight_at_loss = (inflight_prev + lost_prefix).max(0.0).floor();
        // HandleInflightTooHigh().
        self.prev_probe_too_high = true;
        self.is_bw_probe_sample = false;
        if !packet.is_app_limited {
            self.inflight_longterm = inflight_at_loss.max((self.target_inflight() * 0.7).floor());
        }
        if self.state == Is::Up {
            self.start_down(now);
        }
    }
}
