//! What RACK sends: probes, lost segments, then new data, subject to pacing and buffers.

use airtcp_kernel::Time;

use super::{Probe, Rack, Timer};
use crate::At;
use crate::sender::tcb::Tcb;
use crate::sender::{SentBytes, SentData};

impl Rack {
    /// Sends the next segment: a probe, a lost segment, or new data. Also returns whether there may
    /// be more.
    #[inline(always)]
    pub(in crate::sender) fn poll(
        &mut self,
        tcb: &mut Tcb,
        at: At<'_>,
    ) -> Option<(SentBytes, bool)> {
        if self.probe_is_due || self.is_watched || self.sent.has_lost() {
            let peer_window = tcb.peer_window(at.config);
            let sent = self.poll_otherwise(tcb, at, peer_window);
            return sent.map(|sent| (sent, true));
        }
        let room = self.room_for_new(tcb, at)?;
        let windows = (room, tcb.peer_window(at.config));
        let sent = self.send_new::<false>(tcb, at, windows)?;
        let unsent = tcb.written - tcb.snd_max;
        let room = room - u64::from(sent.1);
        Some((sent, unsent > 0 && room >= unsent.min(u64::from(at.config.mss))))
    }

    /// Like [`Self::poll`], if there is more to send than new data, or if there are delivery rates
    /// or pacing.
    #[inline(never)]
    pub(in crate::sender) fn poll_otherwise(
        &mut self,
        tcb: &mut Tcb,
        at: At<'_>,
        peer_window: u64,
    ) -> SentData {
        if std::mem::take(&mut self.probe_is_due) {
            return self.send_probe(tcb, at, peer_window);
        }
        let Some(pacer) = &self.pacer else {
            return self.send_next(tcb, at, peer_window);
        };
        if let Some(wait) = pacer.wait(at.now) {
            tcb.deadline = self.rounded().min(wait);
            return None;
        }
        let sent = self.send_next(tcb, at, peer_window);
        if let Some((_, len)) = sent {
            self.pace(tcb, at, u64::from(len));
        } else if let Some(pacer) = &mut self.pacer {
            pacer.end_burst();
        }
        sent
    }

    /// Returns how much of the window is free for data that was never sent; `None` if there is no
    /// such data. Restarts an idle window first.
    #[inline]
    fn room_for_new(&self, tcb: &mut Tcb, at: At<'_>) -> Option<u64> {
        if tcb.written == tcb.snd_max {
            return None;
        }
        if tcb.snd_max == tcb.snd_una {
            tcb.restart_if_idle(at);
        }
        Some(tcb.window.cwnd.saturating_sub(self.sent.pipe(tcb.snd_una, tcb.snd_max)))
    }

    /// Sends a lost segment, or new data.
    fn send_next(&mut self, tcb: &mut Tcb, at: At<'_>, peer_window: u64) -> SentData {
        let smss = u64::from(at.config.mss);
        let pipe = self.sent.pipe(tcb.snd_una, tcb.snd_max);
        let room = tcb.window.cwnd.saturating_sub(pipe);
        if self.sent.has_lost() {
            // RFC 6675: "if cwnd - pipe >= 1 SMSS". A window below one segment still sends one.
            let resend_is_due = std::mem::take(&mut self.resend_is_due);
            if room < smss && pipe > 0 && !resend_is_due {
                return None;
            }
            let lost = self.sent.resend_lost(at.now)?;
            self.prr.out += lost.end - lost.start;
            let sent = tcb.retransmit(at, lost);
            self.record(tcb, at.now, lost.start, lost.end - lost.start);
            self.restart_timer(tcb, at);
            return Some(sent);
        }
        let Some(room) = self.room_for_new(tcb, at) else {
            if room > 0
                && let Some(rates) = &mut self.rates
            {
                rates.on_app_limited(pipe);
            }
            return None;
        };
        self.send_new_aside(tcb, at, (room, peer_window))
    }

    /// Like [`Self::send_new`], as an out-of-line call.
    #[inline(never)]
    fn send_new_aside(&mut self, tcb: &mut Tcb, at: At<'_>, windows: (u64, u64)) -> SentData {
        self.send_new::<true>(tcb, at, windows)
    }

    /// Sends a segment of new data if both windows allow; `room` is left of our own. Delivery rates
    /// and pacing exist only if `WATCHED`.
    #[inline(always)]
    fn send_new<const WATCHED: bool>(
        &mut self,
        tcb: &mut Tcb,
        at: At<'_>,
        (room, peer_window): (u64, u64),
    ) -> SentData {
        let smss = u64::from(at.config.mss);
        let unsent = tcb.written - tcb.snd_max;
        let in_flight = tcb.snd_max - tcb.snd_una;
        let advertised = peer_window.saturating_sub(in_flight);
        let len = tcb.longest(smss, unsent).min(room).min(advertised);
        let is_silly = len < smss && len < unsent && (in_flight > 0 || tcb.is_silly(len));
        if len == 0 || is_silly || !self.fill_buffer(tcb, at, room.min(advertised)) {
            return None;
        }
        let start = tcb.snd_max;
        let sent = tcb.transmit_new(at, len);
        self.sent.push(at.now, start, start + len);
        self.buffer.on_sent(len == unsent);
        self.prr.out += len;
        let is_watched = WATCHED && self.is_watched;
        if is_watched {
            self.record(tcb, at.now, start, len);
        }
        // The first of several segments sent at once has already set the probe timer, unless it was
        // the only one then.
        let is_set = self.timer == Timer::Probe && self.restarted == at.now && self.sent.len() > 2;
        if !is_set || is_watched {
            self.restart_timer(tcb, at);
        }
        Some(sent)
    }

    /// Sends a tail loss probe: new data if there is any and the other end's window allows,
    /// otherwise the last segment (RFC 8985 section 7.3).
    fn send_probe(&mut self, tcb: &mut Tcb, at: At<'_>, peer_window: u64) -> SentData {
        let windows = (u64::from(at.config.mss), peer_window);
        let sent = self.send_new_aside(tcb, at, windows);
        let is_repeated = sent.is_none();
        let sent = sent.or_else(|| {
            let last = self.sent.resend_last(at.now)?;
            self.record(tcb, at.now, last.start, last.end - last.start);
            Some(tcb.retransmit(at, last))
        });
        let end = tcb.snd_max;
        self.probe = sent.map(|_| Probe { end, is_repeated });
        self.timer = Timer::Retransmission;
        self.arm(tcb, at.config.expiry(at.now, tcb.rtt.rto()));
        sent
    }

    /// Updates the pacing rate.
    pub(super) fn set_pace(&mut self, tcb: &Tcb) {
        let pace = tcb.pacing_rate();
        if let Some(pacer) = &mut self.pacer {
            pacer.rate = pace;
        }
    }

    /// Records the delivery state for the segment of `len` bytes from `start` that was just sent.
    fn record(&mut self, tcb: &Tcb, now: Time, start: u64, len: u64) {
        let (una, max) = (tcb.snd_una, tcb.snd_max);
        if let Some(rates) = &mut self.rates {
            let before = self.sent.pipe(una, max).saturating_sub(len);
            let record = rates.on_sent(now, before, len);
            self.sent.record(start, record);
        }
    }

    /// Charges `len` bytes of payload to the pacer.
    fn pace(&mut self, tcb: &Tcb, at: At<'_>, len: u64) {
        let before = tcb.counters.data_segments_sent - 1;
        if let Some(pacer) = &mut self.pacer {
            pacer.on_sent(at.now, len, before, u64::from(at.config.mss));
        }
    }
}
