//! The changing window of the other end: zero windows and their probes, and windows too small for a
//! useful segment.
//!
//! Implements RFC 9293 sections 3.8.6.1 and 3.8.6.2.1, and RFC 1122 section 4.2.2.17. The persist
//! timer runs only while nothing is in flight. A sender whose peer never advertises a window has no
//! such state.

use airtcp_kernel::{Duration, Time};

use super::Sender;
use super::tcb::Tcb;
use crate::{At, Config, Segment};

/// More doublings than any timeout needs to reach its maximum.
const MOST_DOUBLINGS: u32 = 32;

/// State of a sender whose peer advertises windows.
#[derive(Clone, Copy, Debug)]
pub(super) struct Persist {
    /// SND.WND, the other end's window.
    window: u64,
    /// SND.WL1, the sequence number of the segment that last updated the window.
    seq: u64,
    /// SND.WL2, the ACK number of that segment.
    ack: u64,
    /// Max(SND.WND), the largest window of the connection.
    most: u64,
    /// When the persist timer expires; [`Time::NEVER`] while it is off.
    due: Time,
    /// Probes sent since the window closed.
    probes: u32,
    /// Whether the timer has expired and the segment that it allows is not sent yet.
    is_due: bool,
}

impl Persist {
    fn new(config: &Config) -> Self {
        let window = config.peer_window();
        Self { window, seq: 0, ack: 0, most: window, due: Time::NEVER, probes: 0, is_due: false }
    }

    /// Returns the time to the next probe. RFC 9293 section 3.8.6.1: the first is due "when a zero
    /// window has existed for the retransmission timeout period", then the interval doubles.
    fn interval(&self, config: &Config, rto: Duration) -> Duration {
        let doubled = rto.as_nanos().saturating_mul(1 << self.probes.min(MOST_DOUBLINGS));
        Duration::from_nanos(doubled).min(config.max_rto.max(rto))
    }
}

impl Tcb {
    /// Returns SND.WND, the other end's window; the configured one if it never advertises any.
    #[inline]
    pub(crate) fn peer_window(&self, config: &Config) -> u64 {
        if self.rare.is_none() { config.peer_window() } else { self.window_said(config) }
    }

    #[cold]
    #[inline(never)]
    fn window_said(&self, config: &Config) -> u64 {
        self.persist().map_or_else(|| config.peer_window(), |persist| persist.window)
    }

    fn persist(&self) -> Option<&Persist> {
        self.rare.as_ref()?.persist.as_ref()
    }

    fn persist_mut(&mut self) -> Option<&mut Persist> {
        self.rare.as_mut()?.persist.as_mut()
    }

    /// Whether nothing is in flight, something remains to be sent, and the other end's window is
    /// too small for a useful segment.
    pub(super) fn is_shut(&self, config: &Config) -> bool {
        let unsent = self.written - self.snd_nxt;
        if self.persist().is_none() || unsent == 0 || self.flight_size() > 0 {
            return false;
        }
        let mss = u64::from(config.mss);
        let len = self.longest(mss, unsent).min(self.peer_window(config));
        len == 0 || (len < mss && len < unsent && self.is_silly(len))
    }

    /// Whether a segment of `len` bytes, shorter than a full one and than the waiting data, is too
    /// small to send while nothing is in flight: RFC 9293 section 3.8.6.2.1, (3) with Fs = 1/2. The
    /// persist timer is the override timeout of (4), as in Linux.
    #[cold]
    #[inline(never)]
    pub(super) fn is_silly(&self, len: u64) -> bool {
        self.persist().is_some_and(|persist| !persist.is_due && len < persist.most / 2)
    }

    /// Returns the sequence number of a zero-window probe to send now. As in Linux, the probe has
    /// no payload and the number before SND.UNA. The other end must respond with an ACK (RFC 9293
    /// section 3.10.7.4), which has its window.
    pub(crate) fn poll_window_probe(&mut self) -> Option<u64> {
        let before = self.snd_una - 1;
        let persist = self.persist_mut().filter(|persist| persist.is_due)?;
        if persist.window > 0 {
            return None;
        }
        persist.is_due = false;
        Some(before)
    }

    /// Records that the small segment allowed by the persist timer was sent.
    pub(crate) fn end_override(&mut self) {
        if let Some(persist) = self.persist_mut() {
            persist.is_due = false;
        }
    }
}

impl Sender {
    /// Processes the window of a segment, before its ACK number. Returns whether the window has
    /// changed.
    #[cold]
    pub(crate) fn on_window(&mut self, config: &Config, segment: &Segment, window: u64) -> bool {
        let (una, max) = (self.tcb.snd_una, self.tcb.snd_max);
        let rare = self.tcb.rare.get_or_insert_default();
        let persist = rare.persist.get_or_insert_with(|| Persist::new(config));
        // RFC 9293 section 3.10.7.4: the ACK must be acceptable, and the segment not older than the
        // last update.
        let is_newer = (persist.seq, persist.ack) <= (segment.seq, segment.ack);
        if !is_newer || !(una..=max).contains(&segment.ack) {
            return false;
        }
        (persist.seq, persist.ack) = (segment.seq, segment.ack);
        persist.most = persist.most.max(window);
        let is_changed = std::mem::replace(&mut persist.window, window) != window;
        if !self.tcb.is_shut(config) {
            self.stop_persist_timer();
        } else if let Some(persist) = self.tcb.persist_mut() {
            // As in Linux: a peer that responds is alive, so probe it again an interval later.
            persist.due = Time::NEVER;
        }
        is_changed
    }

    /// Starts the persist timer if the window is shut; called when there is nothing to send.
    pub(crate) fn watch_window(&mut self, at: At<'_>) {
        if !self.tcb.is_shut(at.config) {
            return;
        }
        let rto = self.tcb.rtt.rto();
        let Some(persist) = self.tcb.persist_mut() else { return };
        if persist.due == Time::NEVER {
            persist.due = at.config.expiry(at.now, persist.interval(at.config, rto));
        }
        let due = persist.due;
        self.recovery.arm(&mut self.tcb, due);
    }

    /// Processes an expiry of the persist timer; returns false if it has not expired.
    pub(super) fn on_persist_timer(&mut self, now: Time) -> bool {
        let Some(persist) = self.tcb.persist_mut().filter(|persist| persist.due <= now) else {
            return false;
        };
        persist.due = Time::NEVER;
        persist.is_due = true;
        persist.probes += 1;
        self.recovery.arm(&mut self.tcb, Time::NEVER);
        true
    }

    /// Stops the persist timer because the window is open.
    fn stop_persist_timer(&mut self) {
        let Some(persist) = self.tcb.persist_mut() else { return };
        (persist.probes, persist.is_due) = (0, false);
        if std::mem::replace(&mut persist.due, Time::NEVER) != Time::NEVER {
            self.recovery.arm(&mut self.tcb, Time::NEVER);
        }
    }
}
