//! The ProbeBW cycle in the second implementation of the draft: when it probes for bandwidth, and
//! what a probe may put in flight.
//!
//! It covers the states Down, Cruise, Refill and Up. The rest of the draft is in [`draft`](super).

use super::{Ack, Acks, Draft, INFINITY, Is};

impl Draft {
    pub(super) fn start_down(&mut self, now: f64) {
        self.is_loss_in_round = false;
        (self.bw_latest, self.inflight_latest) = (0.0, 0.0);
        self.probe_up_acked_per_inc = INFINITY;
        // PickProbeWait(): from the clock, as agreed.
        let nanos = (now * 1e9).round();
        self.rounds_since_probe_up = (nanos / 1000.0) as u64 % 2;
        self.bw_probe_wait = 2.0 + nanos % 1e9 / 1e9;
        self.cycle_stamp = now;
        self.ack_phase = Acks::Stopping;
        self.start_round();
        self.state = Is::Down;
    }

    pub(super) fn start_refill(&mut self) {
        (self.bw_shortterm, self.inflight_shortterm) = (INFINITY, INFINITY);
        (self.bw_probe_up_rounds, self.bw_probe_up_acked) = (0, 0.0);
        self.prev_probe_precautionary = false;
        self.ack_phase = Acks::Refilling;
        self.start_round();
        self.state = Is::Refill;
    }

    pub(super) fn is_in_a_probe_bw_state(&self) -> bool {
        matches!(self.state, Is::Down | Is::Cruise | Is::Refill | Is::Up)
    }

    pub(super) fn update_probe_bw_cycle_phase(&mut self, rs: &Ack) {
        if !self.full_bw_reached || self.adapt_long_term_model(rs) {
            return;
        }
        match self.state {
            Is::Down => {
                let is_cruise = rs.inflight <= self.inflight_with_headroom()
                    && rs.inflight <= self.inflight(self.max_bw(), 1.0);
                if self.is_time_to_probe_bw(rs.now) {
                    self.start_refill();
                } else if is_cruise {
                    self.state = Is::Cruise;
                }
            }
            Is::Cruise => {
                if self.is_time_to_probe_bw(rs.now) {
                    self.start_refill();
                }
            }
            Is::Refill => {
                if self.round_start {
                    self.is_bw_probe_sample = true;
                    self.ack_phase = Acks::Starting;
                    self.start_round();
                    self.reset_full_bw(rs.delivery_rate);
                    self.state = Is::Up;
                    self.raise_slope();
                }
            }
            Is::Up => {
                if self.is_time_to_go_down(rs) {
                    self.prev_probe_too_high = false;
                    self.start_down(rs.now);
                }
            }
            Is::Startup | Is::Drain | Is::ProbeRtt => {}
        }
    }

    fn is_time_to_probe_bw(&self, now: f64) -> bool {
        let rounds = (self.target_inflight() / self.smss).floor().min(63.0);
        now > self.cycle_stamp + self.bw_probe_wait || self.rounds_since_probe_up as f64 >= rounds
    }

    pub(super) fn target_inflight(&self) -> f64 {
        self.bdp_multiple(1.0).min(self.cwnd)
    }

    fn is_time_to_go_down(&mut self, rs: &Ack) -> bool {
        if self.prev_probe_too_high && rs.inflight >= self.inflight_longterm {
            self.prev_probe_precautionary = true;
            return true;
        }
        if rs.is_cwnd_limited && self.cwnd >= self.inflight_longterm {
            self.reset_full_bw(rs.delivery_rate);
            return false;
        }
        self.full_bw_now
    }

    fn raise_slope(&mut self) {
        let growth = 2_f64.powi(self.bw_probe_up_rounds as i32);
        self.bw_probe_up_rounds = (self.bw_probe_up_rounds + 1).min(30);
        self.probe_up_acked_per_inc = (self.cwnd / growth).floor().max(self.smss);
    }

    fn adapt_long_term_model(&mut self, rs: &Ack) -> bool {
        if self.ack_phase == Acks::Starting && self.round_start {
            self.ack_phase = Acks::Feedback;
        }
        if self.ack_phase == Acks::Stopping && self.round_start {
            self.is_bw_probe_sample = false;
            self.ack_phase = Acks::Init;
            if self.is_in_a_probe_bw_state() && !rs.is_app_limited {
                self.advance_max_bw_filter();
            }
            if self.is_in_a_probe_bw_state()
                && self.prev_probe_precautionary
                && !self.prev_probe_too_high
            {
                self.start_refill();
                return true;
            }
        }
        if !Self::is_inflight_too_high(rs.lost, rs.tx_in_flight) {
            if self.inflight_longterm == INFINITY {
                return false;
            }
            self.inflight_longterm = self.inflight_longterm.max(rs.tx_in_flight);
            if self.state == Is::Up {
                self.probe_inflight_longterm_upward(rs);
            }
        }
        false
    }

    fn probe_inflight_longterm_upward(&mut self, rs: &Ack) {
        if !rs.is_cwnd_limited || self.cwnd < self.inflight_longterm {
            return;
        }
        self.bw_probe_up_acked += rs.newly_acked;
        if self.bw_probe_up_acked >= self.probe_up_acked_per_inc {
            let delta = (self.bw_probe_up_acked / self.probe_up_acked_per_inc).floor();
            self.bw_probe_up_acked -= delta * self.probe_up_acked_per_inc;
            self.inflight_longterm += delta * self.smss;
        }
        if self.round_start {
            self.raise_slope();
        }
    }
}
