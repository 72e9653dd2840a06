//! The single recovery timer: RFC 8985 section 8. It serves the reordering window, tail loss probes
//! and the RTO of RFC 6298.
//!
//! [`sending`](super::sending) selects what is sent after it expires.

use airtcp_kernel::{Duration, Time};

use super::Rack;
use crate::sender::tcb::Tcb;
use crate::timers::expiry;
use crate::{At, LossWindow};

/// What the timer is set for: RFC 8985 section 8, "RACK-TLP reordering and RTO timers" share one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Timer {
    Retransmission,
    Reordering,
    Probe,
}

impl Rack {
    /// Rounds the expiry of the recovery timer and returns it.
    pub(super) fn rounded(&mut self) -> Time {
        if std::mem::take(&mut self.is_rough) {
            self.due = expiry(self.tick, self.restarted, self.wait);
        }
        self.due
    }

    /// Returns when the recovery timer expires, or when pacing allows the next segment.
    pub(in crate::sender) fn deadline(&self, tcb: &Tcb) -> Time {
        if self.is_rough { expiry(self.tick, self.restarted, self.wait) } else { tcb.deadline }
    }

    /// Processes an expiry of the timer.
    #[cold]
    pub(in crate::sender) fn on_timer(&mut self, tcb: &mut Tcb, at: At<'_>) {
        if self.rounded() > at.now {
            // The segment that waited for pacing may be sent.
            tcb.deadline = self.due;
            return;
        }
        self.due = Time::NEVER;
        tcb.deadline = Time::NEVER;
        match std::mem::replace(&mut self.timer, Timer::Retransmission) {
            Timer::Retransmission => self.on_timeout(tcb, at),
            Timer::Reordering => {
                if self.detect_losses(tcb, at) && tcb.is_open() {
                    self.enter_recovery(tcb, at, 0);
                }
                self.restart_timer(tcb, at);
            }
            Timer::Probe => {
                self.probe_is_due = true;
                // RFC 8985 section 7.3: "the sender then starts the RTO timer".
                self.arm(tcb, at.config.expiry(at.now, tcb.rtt.rto()));
            }
        }
    }

    /// Processes a retransmission timeout: RFC 8985 section 6.3 and RFC 5681 section 3.1.
    fn on_timeout(&mut self, tcb: &mut Tcb, at: At<'_>) {
        tcb.counters.timeouts += 1;
        tcb.end_reduction();
        let again = tcb.has_sent_head_again();
        let halved = (!again && !tcb.was_reduced()).then(|| match at.config.rules.loss_window {
            LossWindow::FlightSize => tcb.flight_size().min(tcb.window.cwnd),
            LossWindow::Cwnd => tcb.window_to_halve(at.config),
        });
        tcb.begin_loss(at, halved);
        let srtt = tcb.rtt.srtt().unwrap_or(Duration::ZERO);
        let rtt = self.latest.map_or(srtt, |latest| latest.rtt);
        let wait = rtt + self.reordering_window(true, srtt);
        self.sent.lose_at_timeout(at.now, wait);
        self.probe = None;
        self.probe_is_due = false;
        self.resend_is_due = true;
        // RFC 6298 (5.6).
        self.arm(tcb, at.config.expiry(at.now, tcb.rtt.rto()));
    }

    /// Restarts the timer after an ACK or a transmission, unless the reordering window needs it.
    /// Sets the probe timer if a tail may be probed, otherwise the RTO (RFC 6298 (5.3)).
    #[inline(never)]
    pub(super) fn restart_timer(&mut self, tcb: &mut Tcb, at: At<'_>) {
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
            && self.sent.sacked_segments == 0
            && !self.sent.has_lost();
        let Some(srtt) = srtt.filter(|_| may_probe) else {
            self.timer = Timer::Retransmission;
            self.arm(tcb, at.config.expiry(at.now, rto));
            return;
        };
        self.set_probe_timer(tcb, at, srtt);
    }

    /// Sets the timer for a tail loss probe. RFC 8985 section 7.2: PTO = 2 * SRTT, plus the other
    /// end's ACK delay if only one segment is in flight; at most the RTO.
    #[inline]
    pub(super) fn set_probe_timer(&mut self, tcb: &mut Tcb, at: At<'_>, srtt: Duration) {
        let rto = tcb.rtt.rto();
        let probe = at.config.probe_timeout(srtt, self.sent.len() == 1).min(rto);
        self.timer = Timer::Probe;
        (self.restarted, self.wait) = (at.now, probe);
        self.arm(tcb, at.now + probe);
        self.is_rough = true;
    }

    /// Sets the timer to expire at `due`.
    pub(in crate::sender) fn arm(&mut self, tcb: &mut Tcb, due: Time) {
        self.is_rough = false;
        self.due = due;
        tcb.deadline = due;
    }
}
