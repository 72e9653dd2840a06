//! The fast path for ACKs: nothing is missing, nothing was sent twice, and delivery rates are not
//! sampled.
//!
//! What remains of [`Rack::on_ack`] is RTT samples, the window and the timer.

use airtcp_kernel::{Duration, Time};

use super::{Rack, Timer};
use crate::At;
use crate::congestion::Delivery;
use crate::sender::tcb::Tcb;
use crate::sent::Latest;

impl Rack {
    /// Whether an ACK without SACK blocks can only acknowledge in-order data in the order in which
    /// it was sent.
    #[inline]
    pub(super) fn is_in_order(&self, tcb: &Tcb) -> bool {
        tcb.is_open()
            && self.sent.is_in_order()
            && self.timer != Timer::Reordering
            && self.probe.is_none()
            && !self.is_watched
            && tcb.rare.is_none()
    }

    /// Like [`Self::on_ack`], in that case.
    #[inline]
    pub(super) fn on_ack_in_order(&mut self, tcb: &mut Tcb, at: At<'_>, ack: u64) {
        tcb.note_usage(at.config);
        if ack <= tcb.snd_una {
            if self.due == Time::NEVER && tcb.snd_una < tcb.snd_max {
                self.restart_timer(tcb, at);
            }
            return;
        }
        let rtt = self.sent.pass(ack).map(|(sent, end)| self.time(at.now, sent, end));
        let acked = ack - tcb.snd_una;
        tcb.snd_una = ack;
        tcb.rtt.on_ack(at, ack);
        let delivery =
            Delivery { acked, most_in_flight: tcb.usage.most, rtt, una: ack, next: tcb.snd_max };
        tcb.grow_in_line(at, delivery);
        match tcb.rtt.srtt() {
            Some(srtt) if ack < tcb.snd_max => self.set_probe_timer(tcb, at, srtt),
            _ => self.restart_timer(tcb, at),
        }
    }

    /// Processes the RTT sample of the last acknowledged segment, which was sent once, at `sent`,
    /// and ends before `end`: RFC 8985 section 6.2, steps 1 and 2.
    #[inline]
    fn time(&mut self, now: Time, sent: Time, end: u64) -> Duration {
        let rtt = now.saturating_since(sent);
        self.min_rtt = Some(self.min_rtt.map_or(rtt, |least| least.min(rtt)));
        let passed = Latest { sent, end, rtt };
        match &mut self.latest {
            Some(latest) if !passed.is_after(latest.sent, latest.end) => latest.rtt = rtt,
            latest => *latest = Some(passed),
        }
        rtt
    }
}
