//! The one timer of recovery: RFC 8985 section 8, for reordering windows, probes of a tail and RFC 6298's timeout.
//!
//! Knows which of the three it is set for, and what its expiry begins. Does not know what leaves then: that is in
//! [`sending`](super::sending).

use airtcp_kernel::{Duration, Time};

use super::Rack;
use crate::sender::tcb::Tcb;
use crate::timers::expiry;
use crate::{Config, LossWindow};

/// The purpose of the timer: RFC 8985 section 8, "RACK-TLP reordering and RTO timers" are one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Timer {
    Retransmission,
    Reordering,
    Probe,
}

impl Rack {
    /// Rounds the expiry of the timer of recovery, and returns it.
    pub(super) fn rounded(&mut self) -> Time {
        if std::mem::take(&mut self.is_rough) {
            self.due = expiry(self.tick, self.restarted, self.wait);
        }
        self.due
    }

    /// Returns the time at which the timer of recovery expires, or something waits for.
    pub(in crate::sender) fn deadline(&self, tcb: &Tcb) -> Time {
        if self.is_rough { expiry(self.tick, self.restarted, self.wait) } else { tcb.deadline }
    }

    /// Handles the expiry of the one timer.
    #[cold]
    pub(in crate::sender) fn on_timer(&mut self, tcb: &mut Tcb, config: &Config, now: Time) {
        if self.rounded() > now {
            // The segment that waited for its pace may leave.
            tcb.deadline = self.due;
            return;
        }
        self.due = Time::NEVER;
        tcb.deadline = Time::NEVER;
        match std::mem::replace(&mut self.timer, Timer::Retransmission) {
            Timer::Retransmission => self.on_timeout(tcb, config, now),
            Timer::Reordering => {
                if self.detect_losses(tcb, config, now) && tcb.is_open() {
                    self.enter_recovery(tcb, config, now, 0);
                }
                self.restart_timer(tcb, config, now);
            }
            Timer::Probe => {
                self.probe_is_due = true;
                // RFC 8985 section 7.3: "the sender then starts the RTO timer".
                self.arm(tcb, config.expiry(now, tcb.rtt.rto()));
            }
        }
    }

    /// Handles a retransmission timeout: RFC 8985 section 6.3 and RFC 5681 section 3.1.
    fn on_timeout(&mut self, tcb: &mut Tcb, config: &Config, now: Time) {
        tcb.counters.timeouts += 1;
        tcb.end_reduction();
        let again = tcb.has_sent_head_again();
        let halved = (!again && !tcb.was_reduced()).then(|| match config.rules.loss_window {
            LossWindow::FlightSize => tcb.flight_size().min(tcb.window.cwnd),
            LossWindow::Cwnd => tcb.window_to_halve(config),
        });
        tcb.begin_loss(config, now, halved);
        let srtt = tcb.rtt.srtt().unwrap_or(Duration::ZERO);
        let rtt = self.latest.map_or(srtt, |latest| latest.rtt);
        let wait = rtt + self.reordering_window(true, srtt);
        self.sent.lose_at_timeout(now, wait);
        self.probe = None;
        self.probe_is_due = false;
        self.resend_is_due = true;
        // RFC 6298 (5.6).
        self.arm(tcb, config.expiry(now, tcb.rtt.rto()));
    }

    /// Restarts the timer after something was acknowledged or sent: the probe's where a tail may be probed, else
    /// that of RFC 6298 (5.3), unless it is needed for the reordering window.
    #[inline(never)]
    pub(super) fn restart_timer(&mut self, tcb: &mut Tcb, config: &Config, now: Time) {
        let is_open = tcb.is_open();
        let in_flight = tcb.snd_max - tcb.snd_una;
        let rto = tcb.rtt.rto();
        let srtt = tcb.rtt.srtt();
        if in_flight == 0 {
            self.timer = Timer::Retransmission;
            self.probe = None;
            self.arm(tcb, Time::NEVER);
            return;
        }
        if self.timer == Timer::Reordering {
            return;
        }
        let may_probe = is_open
            && self.probe.is_none()
            && self.sent.sacked_segments() == 0
            && !self.sent.has_lost();
        let Some(srtt) = srtt.filter(|_| may_probe) else {
            self.timer = Timer::Retransmission;
            self.arm(tcb, config.expiry(now, rto));
            return;
        };
        self.set_probe_timer(tcb, config, now, srtt);
    }

    /// Sets the timer to probe a tail. RFC 8985 section 7.2: PTO = 2 * SRTT, and the other end's delayed ACK if one segment
    /// is all there is; at most as long as the RTO.
    #[inline]
    pub(super) fn set_probe_timer(
        &mut self,
        tcb: &mut Tcb,
        config: &Config,
        now: Time,
        srtt: Duration,
    ) {
        let rto = tcb.rtt.rto();
        let probe = config.probe_timeout(srtt, self.sent.len() == 1).min(rto);
        self.timer = Timer::Probe;
        (self.restarted, self.wait) = (now, probe);
        self.arm(tcb, now + probe);
        self.is_rough = true;
    }

    /// Sets the timer to expire at `due`.
    pub(in crate::sender) fn arm(&mut self, tcb: &mut Tcb, due: Time) {
        self.is_rough = false;
        self.due = due;
        tcb.deadline = due;
    }
}
