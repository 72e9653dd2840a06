//! The send variables of a connection (RFC 9293 section 3.3.1), its window and its retransmission
//! timer, shared by all variants of [loss recovery](super::recovery).
//!
//! It sends new and old data, and processes an ACK of new data in each [`Phase`]. The variants
//! detect and repair losses.

use airtcp_kernel::Time;

use super::persist::Persist;
use crate::congestion::{AnyController, Controller, Delivery, Window};
use crate::receiver::FIRST_BYTE;
use crate::rtt::RttEstimator;
use crate::{At, Block, Config, Counters, LossWindow};

/// More than any connection sends, and small enough that the sum of two such numbers does not
/// overflow.
const END_OF_TIME: u64 = 1 << 62;

/// The sender's part of a transmission control block.
// In this order: first the fields that a data segment from the other end touches, then those of an
// ACK. See [`Endpoint`](crate::Endpoint).
#[derive(Clone, Debug)]
#[repr(C)]
pub(crate) struct Tcb {
    /// SND.UNA, the oldest unacknowledged sequence number.
    pub(crate) snd_una: u64,
    /// SND.NXT, the next sequence number to send. In an idle sender `snd_nxt == snd_una`.
    pub(crate) snd_nxt: u64,
    /// The sequence number after the highest one sent. Equal to `snd_nxt`, unless a timeout has
    /// moved `snd_nxt` back.
    pub(crate) snd_max: u64,
    /// The sequence number after the last byte written by the application, and after the FIN if it
    /// has closed.
    pub(super) written: u64,
    /// When the retransmission timer expires; [`Time::NEVER`] while it is off.
    pub(crate) deadline: Time,
    pub(super) phase: Phase,
    /// Whether the application has closed; `written - 1` is then the number of the FIN.
    pub(crate) closing: bool,
    pub(crate) counters: Counters,
    /// When data was last sent.
    pub(super) last_sent: Time,
    pub(crate) window: Window,
    pub(super) usage: Usage,
    pub(crate) rtt: RttEstimator,
    pub(super) controller: AnyController,
    /// One more than `recover` of RFC 6582 section 3.2 and RecoveryPoint of RFC 6675 section 2: the
    /// number after the highest one sent before the last recovery began.
    pub(super) recover: u64,
    /// State that few senders need; `None` until needed.
    pub(super) rare: Option<Box<Rare>>,
}

/// State of a sender whose peer has echoed an ECN mark or advertised a window.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Rare {
    /// The sequence number after the highest one sent when an ECN mark last reduced the window; 0:
    /// never.
    pub(super) reduced: u64,
    /// Whether the window is falling in proportion to delivered data because of that mark (RFC
    /// 9937), with no loss found since.
    pub(super) is_reducing: bool,
    /// The other end's window; `None` until it advertises one.
    pub(super) persist: Option<Persist>,
}

/// How much of the congestion window is used.
#[derive(Clone, Copy, Debug)]
pub(super) struct Usage {
    /// The most bytes in flight during a round trip; `u64::MAX` if there was no room for another
    /// segment.
    pub(super) most: u64,
    /// The round trip ends when everything before this is acknowledged.
    pub(super) until: u64,
}

/// The phase of a sender: normal, fast recovery, or recovery from a timeout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// Slow start or congestion avoidance. `dup_acks`: duplicate ACKs in a row. `limited_transmit`:
    /// bytes sent beyond `cwnd` because of them.
    Open { dup_acks: u8, limited_transmit: u64 },
    /// After the detection of a loss. `resend`: the segment at `snd_una` must be retransmitted.
    FastRecovery { resend: bool, partial_acks: u32 },
    /// From a timeout until everything sent before it is acknowledged. `head`: the oldest segment
    /// that the timer has retransmitted.
    Loss { head: u64 },
}

impl Phase {
    pub(super) const NO_DUP_ACKS: Self = Self::Open { dup_acks: 0, limited_transmit: 0 };
}

impl Tcb {
    pub(super) fn new(config: &Config) -> Self {
        Self {
            snd_una: FIRST_BYTE,
            snd_nxt: FIRST_BYTE,
            snd_max: FIRST_BYTE,
            written: FIRST_BYTE,
            closing: false,
            // RFC 6582 section 3.2, step 1, starts from the initial sequence number, which would
            // forbid a fast retransmit of the very first segment. Start one lower, so that the
            // comparison of step 2 can stay strict.
            recover: FIRST_BYTE - 1,
            rare: None,
            phase: Phase::NO_DUP_ACKS,
            deadline: Time::NEVER,
            last_sent: Time::ZERO,
            window: Window::new(config),
            usage: Usage { most: 0, until: FIRST_BYTE },
            controller: AnyController::new(config),
            rtt: RttEstimator::new(config),
            counters: Counters::default(),
        }
    }

    /// Appends `bytes` bytes from the application.
    #[inline]
    pub(crate) fn write(&mut self, bytes: u64) {
        debug_assert!(!self.closing, "written after the close");
        self.written = self.written.saturating_add(bytes).min(END_OF_TIME);
    }

    /// Closes this direction. RFC 9293 section 3.10.4: the FIN is sent after all data.
    pub(crate) fn close(&mut self) {
        if !self.closing {
            self.written += 1;
            self.closing = true;
        }
    }

    /// Whether `end` is the sequence number after all data, or after the FIN if closed.
    pub(crate) fn is_end(&self, end: u64) -> bool {
        end == self.written
    }

    pub(crate) fn is_close_acknowledged(&self) -> bool {
        self.closing && self.snd_una == self.written
    }

    /// Whether a cumulative ACK of everything before `ack` acknowledges new data.
    pub(crate) fn is_news(&self, ack: u64) -> bool {
        (self.snd_una + 1..=self.snd_max).contains(&ack)
    }

    /// Whether everything written is acknowledged.
    #[inline]
    pub(crate) fn has_nothing_out(&self) -> bool {
        self.snd_una == self.written
    }

    /// Returns the acknowledged payload bytes.
    #[inline]
    pub(crate) fn acked(&self) -> u64 {
        self.snd_una - FIRST_BYTE - u64::from(self.is_close_acknowledged())
    }

    /// Returns FlightSize of RFC 5681 section 2. After a timeout it includes only data sent since;
    /// the rest counts as lost.
    #[inline]
    pub(crate) fn flight_size(&self) -> u64 {
        self.snd_nxt - self.snd_una
    }

    /// Starts the timer "if the timer is not running": RFC 6298 (5.1).
    #[inline]
    pub(crate) fn start_timer_if_off(&mut self, at: At<'_>) {
        if self.deadline == Time::NEVER {
            self.deadline = at.config.expiry(at.now, self.rtt.rto());
        }
    }

    pub(crate) fn stop_timer(&mut self) {
        self.deadline = Time::NEVER;
    }

    /// Whether everything sent is acknowledged and no recovery or rare state is active.
    #[inline]
    pub(super) fn has_nothing_under_way(&self) -> bool {
        self.snd_una == self.snd_max && self.is_open() && self.rare.is_none()
    }

    #[inline]
    pub(super) fn is_open(&self) -> bool {
        matches!(self.phase, Phase::Open { .. })
    }

    /// Returns the most sequence numbers that the next segment can take: its payload, and a FIN if
    /// nothing else would be left.
    #[inline]
    pub(super) fn longest(&self, mss: u64, unsent: u64) -> u64 {
        if self.closing { Self::longest_at_end(mss, unsent) } else { mss.min(unsent) }
    }

    #[cold]
    fn longest_at_end(mss: u64, unsent: u64) -> u64 {
        if unsent == mss + 1 { unsent } else { mss.min(unsent) }
    }

    /// Sends the next `len` bytes, new or retransmitted: go-back-N.
    #[inline]
    pub(super) fn transmit(&mut self, at: At<'_>, len: u64) -> (u64, u32) {
        let seq = self.snd_nxt;
        self.snd_nxt += len;
        if seq < self.snd_max {
            self.counters.retransmissions += 1;
            self.snd_max = self.snd_max.max(self.snd_nxt);
        } else {
            self.snd_max = self.snd_nxt;
            self.rtt.on_sent(at.now, self.snd_nxt);
            self.count_limited_transmit(len);
        }
        self.on_data_sent(at);
        // At most one MSS.
        (seq, len as u32)
    }

    /// Like [`Self::transmit`], if all the data is new and there were no duplicate ACKs.
    #[inline(always)]
    pub(super) fn transmit_new(&mut self, at: At<'_>, len: u64) -> (u64, u32) {
        debug_assert!(self.snd_nxt == self.snd_max, "new data after others that go again");
        let seq = self.snd_nxt;
        self.snd_nxt = seq + len;
        self.snd_max = seq + len;
        self.rtt.on_sent(at.now, seq + len);
        self.on_data_sent(at);
        (seq, len as u32)
    }

    /// Retransmits `block`.
    pub(super) fn retransmit(&mut self, at: At<'_>, block: Block) -> (u64, u32) {
        self.counters.retransmissions += 1;
        self.rtt.on_retransmission();
        self.on_data_sent(at);
        // At most one MSS.
        (block.start, (block.end - block.start) as u32)
    }

    #[inline]
    fn on_data_sent(&mut self, at: At<'_>) {
        self.counters.data_segments_sent += 1;
        self.last_sent = at.now;
        self.start_timer_if_off(at);
    }

    /// Returns the most that may be in flight to an end that advertises `peer_window`.
    #[inline]
    pub(super) fn send_window(&self, config: &Config, peer_window: u64) -> u64 {
        let extra = match self.phase {
            // RFC 3042 section 2: one segment for each of the first two duplicate ACKs, as long as
            // at most cwnd plus two segments are outstanding.
            Phase::Open { dup_acks, .. } => u64::from(dup_acks.min(2)) * u64::from(config.mss),
            Phase::FastRecovery { .. } | Phase::Loss { .. } => 0,
        };
        self.window.cwnd.saturating_add(extra).min(peer_window)
    }

    /// Counts `len` bytes of new data, now in flight, if limited transmit has sent them.
    #[inline]
    fn count_limited_transmit(&mut self, len: u64) {
        let in_flight = self.flight_size();
        if let Phase::Open { dup_acks: 1.., limited_transmit } = &mut self.phase
            && in_flight > self.window.cwnd
        {
            *limited_transmit += len;
        }
    }

    /// Reduces the window after an idle period. RFC 5681 section 4.1: a TCP that "has not sent data
    /// in an interval exceeding the retransmission timeout" restarts with the restart window.
    #[inline(never)]
    pub(super) fn restart_if_idle(&mut self, at: At<'_>) {
        if self.is_shut(at.config) {
            return;
        }
        if at.config.rules.restart_after_idle
            && self.snd_una == self.snd_max
            && at.now.saturating_since(self.last_sent) > self.rtt.rto()
        {
            self.end_reduction();
            let moment = at.moment(&self.rtt);
            self.controller.on_idle(&mut self.window, &moment);
        } else {
            let moment = at.moment(&self.rtt);
            self.controller.on_resume(&moment, self.last_sent);
        }
    }

    /// Processes a cumulative ACK of new data before `ack`. During a fast recovery it calls
    /// `repair` with the acknowledged bytes and the number of partial ACKs; `repair` returns
    /// whether to restart the retransmission timer.
    #[inline]
    pub(super) fn on_new_ack(
        &mut self,
        at: At<'_>,
        ack: u64,
        repair: impl FnOnce(&mut Self, u64, u32) -> bool,
    ) {
        let acked = ack - self.snd_una;
        self.note_usage(at.config);
        self.snd_una = ack;
        // After a timeout the receiver may hold more than was retransmitted.
        self.snd_nxt = self.snd_nxt.max(ack);
        self.rtt.on_ack(at, ack);
        let restart_timer = match self.phase {
            Phase::Open { dup_acks, .. } => {
                self.phase = Phase::NO_DUP_ACKS;
                // Each duplicate ACK has already reported a segment, but at most all segments
                // except one.
                let told = u64::from(dup_acks) * u64::from(at.config.mss);
                let news = acked.saturating_sub(told).max(acked.min(u64::from(at.config.mss)));
                self.grow(at, news);
                true
            }
            Phase::Loss { .. } => {
                if ack >= self.recover {
                    self.phase = Phase::NO_DUP_ACKS;
                }
                self.grow(at, acked);
                true
            }
            Phase::FastRecovery { partial_acks, .. } => repair(self, acked, partial_acks),
        };
        if self.snd_una == self.snd_max {
            // RFC 6298 (5.2).
            self.stop_timer();
        } else if restart_timer {
            // RFC 6298 (5.3).
            self.deadline = at.config.expiry(at.now, self.rtt.rto());
        }
    }

    /// Grows the window by `acked` bytes of new data, acknowledged outside fast recovery.
    #[inline]
    fn grow(&mut self, at: At<'_>, acked: u64) {
        let (una, next) = (self.snd_una, self.snd_max);
        let delivery = Delivery { acked, most_in_flight: self.usage.most, rtt: None, una, next };
        self.grow_by(at, delivery);
    }

    #[inline]
    pub(super) fn grow_by(&mut self, at: At<'_>, delivery: Delivery) {
        let moment = at.moment(&self.rtt);
        self.controller.on_ack(&mut self.window, &moment, delivery);
    }

    /// Like [`Self::grow_by`], with Linux's controller inlined.
    #[inline(always)]
    pub(super) fn grow_in_line(&mut self, at: At<'_>, delivery: Delivery) {
        if let AnyController::Watched(watched) = &mut self.controller {
            let moment = at.moment(&self.rtt);
            watched.on_ack_in_line(&mut self.window, moment, delivery);
        } else {
            self.grow_apart(at, delivery);
        }
    }

    #[inline(never)]
    fn grow_apart(&mut self, at: At<'_>, delivery: Delivery) {
        self.grow_by(at, delivery);
    }

    /// Lets the controller set `ssthresh` after a loss with `flight_size` bytes outstanding.
    pub(super) fn shrink(&mut self, at: At<'_>, flight_size: u64) {
        let moment = at.moment(&self.rtt);
        self.controller.on_loss(&mut self.window, &moment, flight_size);
    }

    /// Starts the recovery from a timeout; the controller reduces `halved`, if it is `Some`: RFC
    /// 5681 section 3.1 and RFC 6298 section 5.
    pub(super) fn begin_loss(&mut self, at: At<'_>, halved: Option<u64>) {
        let moment = at.moment(&self.rtt);
        self.controller.on_timeout(&mut self.window, &moment, halved);
        self.window.collapse(at.config);
        // RFC 6582 section 3.2, step 4. Reno needs it too: duplicate ACKs for retransmitted data
        // must not start a fast retransmit.
        self.recover = self.snd_max;
        self.phase = Phase::Loss { head: self.snd_una };
        self.rtt.on_retransmission();
        self.rtt.back_off(at.config);
    }

    /// Whether the expired timer had already retransmitted the segment at SND.UNA.
    pub(super) fn has_sent_head_again(&self) -> bool {
        self.phase == Phase::Loss { head: self.snd_una }
    }

    /// Records how much of the window is used, when an ACK of new data arrives.
    #[inline]
    pub(super) fn note_usage(&mut self, config: &Config) {
        let flight_size = self.flight_size();
        let is_full = flight_size.saturating_add(u64::from(config.mss)) > self.window.cwnd;
        let used = if is_full { u64::MAX } else { flight_size };
        if is_full || used > self.usage.most || self.snd_una >= self.usage.until {
            self.usage = Usage { most: used, until: self.snd_nxt };
        }
    }

    /// Returns the quantity that a loss reduces, with `in_network` bytes in the network.
    pub(super) fn part_of(&self, config: &Config, in_network: u64) -> u64 {
        match config.rules.loss_window {
            LossWindow::FlightSize => in_network,
            LossWindow::Cwnd => self.window_to_halve(config),
        }
    }

    /// Returns the window of [`LossWindow::Cwnd`], without the inflation by duplicate ACKs during a
    /// recovery, which ns-2 keeps separately.
    pub(super) fn window_to_halve(&self, config: &Config) -> u64 {
        let cwnd = match self.phase {
            Phase::FastRecovery { .. } => self.window.cwnd.min(self.window.ssthresh),
            Phase::Open { .. } | Phase::Loss { .. } => self.window.cwnd,
        };
        cwnd.min(config.peer_window())
    }

    /// Returns the sequence number after the highest one sent when an ECN mark last reduced the
    /// window; 0: never.
    #[inline]
    pub(super) fn reduced(&self) -> u64 {
        self.rare.as_ref().map_or(0, |rare| rare.reduced)
    }

    /// Whether an ECN mark has reduced the window since the oldest outstanding segment was sent. A
    /// loss of that segment belongs to the same window.
    pub(super) fn was_reduced(&self) -> bool {
        self.snd_una < self.reduced()
    }

    /// Whether a reduction for an ECN mark is in progress.
    #[inline]
    pub(super) fn is_reducing(&self) -> bool {
        self.rare.as_ref().is_some_and(|rare| rare.is_reducing)
    }

    /// Ends a reduction for an ECN mark, if there is one, and sets the window to the threshold.
    #[inline(never)]
    pub(super) fn end_reduction(&mut self) {
        if self.stop_reducing() {
            self.window.cwnd = self.window.ssthresh;
        }
    }

    /// Ends a reduction for an ECN mark and keeps the window. Returns true if there was one.
    pub(super) fn stop_reducing(&mut self) -> bool {
        self.rare.as_mut().is_some_and(|rare| std::mem::take(&mut rare.is_reducing))
    }
}
