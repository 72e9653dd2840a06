//! The other end's window where it changes: zero windows and the probes that they ask for, and windows too
//! small to be worth a segment.
//!
//! Knows RFC 9293 sections 3.8.6.1 and 3.8.6.2.1, and RFC 1122 section 4.2.2.17. Does not know losses: the timer here runs only
//! while nothing is in flight. A sender whose other end never says a window has nothing of this.

use airtcp_kernel::{Duration, Time};

use super::Sender;
use super::tcb::Tcb;
use crate::{Config, Segment};

/// More doublings than any timeout takes to reach its maximum.
const MOST_DOUBLINGS: u32 = 32;

/// The state of a sender whose other end has said a window.
#[derive(Clone, Copy, Debug)]
pub(super) struct Persist {
    /// SND.WND, the window of the other end.
    window: u64,
    /// SND.WL1, the number of the segment that last said a window.
    seq: u64,
    /// SND.WL2, the acknowledgment number of that segment.
    ack: u64,
    /// The greatest window of the connection: Max(SND.WND).
    most: u64,
    /// The expiry of the persist timer; [`Time::NEVER`] while it is off.
    due: Time,
    /// The number of probes that have left since the window closed.
    probes: u32,
    /// A flag: the timer has expired, and what it lets go has not left.
    is_due: bool,
}

impl Persist {
    fn new(config: &Config) -> Self {
        let window = config.peer_window();
        Self { window, seq: 0, ack: 0, most: window, due: Time::NEVER, probes: 0, is_due: false }
    }

    /// Returns the time to the next probe. RFC 9293 section 3.8.6.1: the first one "when a zero window has
    /// existed for the retransmission timeout period", and then the interval grows exponentially.
    fn interval(&self, config: &Config, rto: Duration) -> Duration {
        let doubled = rto.as_nanos().saturating_mul(1 << self.probes.min(MOST_DOUBLINGS));
        Duration::from_nanos(doubled).min(config.max_rto.max(rto))
    }
}

impl Tcb {
    /// Returns SND.WND, the window of the other end. Where that never says one, it is the one of the configuration.
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

    /// Tells whether the other end's window lets nothing go that is worth a segment, though nothing is in flight and
    /// something is to be sent.
    pub(super) fn is_shut(&self, config: &Config) -> bool {
        let unsent = self.written - self.snd_nxt;
        if self.persist().is_none() || unsent == 0 || self.flight_size() > 0 {
            return false;
        }
        let mss = u64::from(config.mss);
        let len = self.longest(mss, unsent).min(self.peer_window(config));
        len == 0 || (len < mss && len < unsent && self.is_silly(len))
    }

    /// Tells whether a segment of `len` bytes, less than a full one and than what waits, is too small to be sent while
    /// nothing is in flight: RFC 9293 section 3.8.6.2.1, (3) with Fs = 1/2. The override timeout of (4) is the
    /// persist timer, as in Linux.
    #[cold]
    #[inline(never)]
    pub(super) fn is_silly(&self, len: u64) -> bool {
        self.persist().is_some_and(|persist| !persist.is_due && len < persist.most / 2)
    }

    /// Returns the number of a probe of a zero window that is to be sent now. It has no payload and the number
    /// before SND.UNA, as Linux's has: an end that gets it must answer with an acknowledgment (RFC 9293 section
    /// 3.10.7.4), and with its window.
    pub(crate) fn poll_window_probe(&mut self) -> Option<u64> {
        let before = self.snd_una - 1;
        let persist = self.persist_mut().filter(|persist| persist.is_due)?;
        if persist.window > 0 {
            return None;
        }
        persist.is_due = false;
        Some(before)
    }

    /// Notes that what the persist timer let go beside a probe has left.
    pub(crate) fn end_override(&mut self) {
        if let Some(persist) = self.persist_mut() {
            persist.is_due = false;
        }
    }
}

impl Sender {
    /// Takes the window of a segment before its acknowledgment is looked at. Returns whether the window is
    /// another one now.
    #[cold]
    pub(crate) fn on_window(&mut self, config: &Config, segment: &Segment, window: u64) -> bool {
        let (una, max) = (self.tcb.snd_una, self.tcb.snd_max);
        let rare = self.tcb.rare.get_or_insert_default();
        let persist = rare.persist.get_or_insert_with(|| Persist::new(config));
        // RFC 9293 section 3.10.7.4: an acceptable acknowledgment, and no older a segment than the last one.
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
            // As in Linux: an end that answers is there, and is asked again an interval later.
            persist.due = Time::NEVER;
        }
        is_changed
    }

    /// Runs the persist timer while the window is shut; called when there is nothing to send.
    pub(crate) fn watch_window(&mut self, config: &Config, now: Time) {
        if !self.tcb.is_shut(config) {
            return;
        }
        let rto = self.tcb.rtt.rto();
        let Some(persist) = self.tcb.persist_mut() else { return };
        if persist.due == Time::NEVER {
            persist.due = config.expiry(now, persist.interval(config, rto));
        }
        let due = persist.due;
        self.recovery.arm(&mut self.tcb, due);
    }

    /// Handles the expiry of the persist timer if it is due; returns whether it was.
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

    /// Stops the persist timer: the window is open.
    fn stop_persist_timer(&mut self) {
        let Some(persist) = self.tcb.persist_mut() else { return };
        (persist.probes, persist.is_due) = (0, false);
        if std::mem::replace(&mut persist.due, Time::NEVER) != Time::NEVER {
            self.recovery.arm(&mut self.tcb, Time::NEVER);
        }
    }
}
