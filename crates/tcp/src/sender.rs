//! The sending half of an established connection: what may be sent, what must be sent again.
//!
//! Knows sequence numbers and the retransmission timer. The loss recovery of RFC 5681 and RFC 6582 is
//! in `recovery`, what the MAC tells of losses in `feedback`, that of RFC 6675 in `selective`, that of RFC 8985 in `rack`, with RFC 9937 in `prr`, and in which pieces data leaves in `buffers`. How the window grows is in
//! [`congestion`](crate::congestion), the arithmetic of the timeout in [`rtt`](crate::rtt), and what is
//! known of single segments in [`scoreboard`](crate::scoreboard). Does not know the handshake or what
//! it acknowledges to the other end.

mod buffers;
mod feedback;
mod pacing;
mod persist;
mod prr;
mod rack;
mod recovery;
mod selective;

use std::num::NonZeroU32;

use airtcp_kernel::Time;

use self::persist::Persist;
use self::rack::Rack;
use crate::congestion::{AnyController, Controller, Delivery, Moment, Window};
use crate::receiver::FIRST_BYTE;
use crate::rtt::RttEstimator;
use crate::scoreboard::Scoreboard;
use crate::{Block, Config, Counters, LossWindow, Variant};

/// More than anybody sends, and small enough that sums of two such numbers do not overflow.
const END_OF_TIME: u64 = 1 << 62;

/// The sending half of an endpoint.
// In this order, what a data segment of the other end makes one look at comes first, then what an
// acknowledgment does: see [`Endpoint`](crate::Endpoint).
#[derive(Clone, Debug)]
#[repr(C)]
pub(crate) struct Sender {
    /// SND.UNA, the oldest number not acknowledged.
    snd_una: u64,
    /// SND.NXT, the next number to send. I.e. in an idle sender `snd_nxt == snd_una`.
    snd_nxt: u64,
    /// The number after the highest one ever sent. I.e. `snd_nxt`, except that a timeout pulls
    /// `snd_nxt` back and leaves this.
    snd_max: u64,
    /// The number after the last byte written by the application, and after the FIN if it has closed.
    written: u64,
    /// What the other end holds; `None` until it has said so, and when it has nothing more to say.
    scoreboard: Option<Box<Scoreboard>>,
    /// What recovery by time knows; `None` with another variant.
    rack: Option<Box<Rack>>,
    /// When the retransmission timer expires; [`Time::NEVER`] while it is off.
    deadline: Time,
    phase: Phase,
    /// The application has closed, so `written - 1` is the number of the FIN.
    closing: bool,
    pub(crate) counters: Counters,
    /// When data was last sent.
    last_sent: Time,
    pub(crate) window: Window,
    usage: Usage,
    pub(crate) rtt: RttEstimator,
    controller: AnyController,
    /// The variable `recover` of RFC 6582 section 3.2, RecoveryPoint of RFC 6675 section 2, plus one:
    /// the number after the highest one sent before the last recovery began.
    recover: u64,
    /// What few senders need; `None` until then.
    rare: Option<Box<Rare>>,
}

/// What a sender keeps that has heard of a mark, or of a window.
#[derive(Clone, Copy, Debug, Default)]
struct Rare {
    /// The number after the highest one sent when a mark last reduced the window; 0: none has.
    reduced: u64,
    /// What is known of the other end's window; `None` until it has said one.
    persist: Option<Persist>,
}

/// How much of the congestion window is used.
#[derive(Clone, Copy, Debug)]
struct Usage {
    /// Most bytes in flight in a round trip; `u64::MAX` if there was no room for another segment.
    most: u64,
    /// The round trip ends when all before this is acknowledged.
    until: u64,
}

/// What the sender does about losses, as Linux names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LossState {
    /// All is well.
    Open,
    /// A mark has reduced the window, which falls in proportion to what arrives: Linux's CWR.
    Reducing,
    /// Something is missing, and may be late.
    Disorder,
    /// A loss is being repaired that acknowledgments have told of.
    Recovery,
    /// The retransmission timer has expired.
    Loss,
}

/// What a sender with the variant [`Variant::Rack`] thinks of the segments under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segments {
    /// Those not acknowledged cumulatively.
    pub unacknowledged: usize,
    /// Those of them that the other end has told that it holds.
    pub sacked: usize,
    /// Those of them that were found lost and are not known to have arrived since.
    pub lost: usize,
    /// Those of the lost that are under way again.
    pub retransmitted: usize,
    /// Most octets from the beginning of a segment to the end of one that was sent later and arrived
    /// before it; zero: no reordering was seen.
    pub reordering: u64,
}

/// Where the sender stands: all well, or in one of the two ways to recover from a loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// Slow start or congestion avoidance; `dup_acks` duplicate ACKs came in a row, and
    /// `limited_transmit` bytes were sent beyond `cwnd` because of them.
    Open { dup_acks: u8, limited_transmit: u64 },
    /// From the discovery of a loss on. `resend`: the segment at `snd_una` is to be sent again.
    FastRecovery { resend: bool, partial_acks: u32 },
    /// From a timeout until all that was sent before it is acknowledged. `head` is the oldest
    /// segment that the timer has sent again.
    Loss { head: u64 },
}

impl Phase {
    const NO_DUP_ACKS: Self = Self::Open { dup_acks: 0, limited_transmit: 0 };
}

impl Sender {
    pub(crate) fn new(config: &Config) -> Self {
        Self {
            snd_una: FIRST_BYTE,
            snd_nxt: FIRST_BYTE,
            snd_max: FIRST_BYTE,
            written: FIRST_BYTE,
            closing: false,
            // RFC 6582 section 3.2, step 1, takes the initial sequence number, which would forbid
            // the fast retransmit of the very first segment. Nothing has been in a recovery yet,
            // so this takes one less, and the comparison of step 2 can stay strict.
            recover: FIRST_BYTE - 1,
            rare: None,
            phase: Phase::NO_DUP_ACKS,
            scoreboard: None,
            rack: (config.variant == Variant::Rack).then(|| Box::new(Rack::new(config))),
            deadline: Time::NEVER,
            last_sent: Time::ZERO,
            window: Window::new(config),
            usage: Usage { most: 0, until: FIRST_BYTE },
            controller: AnyController::new(config),
            rtt: RttEstimator::new(config),
            counters: Counters::default(),
        }
    }

    #[inline]
    pub(crate) fn write(&mut self, bytes: u64) {
        debug_assert!(!self.closing, "written after the close");
        self.written = self.written.saturating_add(bytes).min(END_OF_TIME);
    }

    /// RFC 9293 section 3.10.4: the FIN is sent when all data has been.
    pub(crate) fn close(&mut self) {
        if !self.closing {
            self.written += 1;
            self.closing = true;
        }
    }

    #[inline]
    pub(crate) fn is_closing(&self) -> bool {
        self.closing
    }

    /// Whether `end` is the number after the FIN, if there is to be one.
    pub(crate) fn is_end(&self, end: u64) -> bool {
        end == self.written
    }

    pub(crate) fn is_close_acknowledged(&self) -> bool {
        self.closing && self.snd_una == self.written
    }

    /// SND.NXT, the number that a segment without data carries.
    #[inline]
    pub(crate) fn snd_nxt(&self) -> u64 {
        self.snd_nxt
    }

    /// The number after the highest one ever sent.
    pub(crate) fn snd_max(&self) -> u64 {
        self.snd_max
    }

    /// Whether an acknowledgment of all before `ack` is one of new data.
    pub(crate) fn is_news(&self, ack: u64) -> bool {
        (self.snd_una + 1..=self.snd_max).contains(&ack)
    }

    /// Whether all that was written is acknowledged.
    #[inline]
    pub(crate) fn has_nothing_out(&self) -> bool {
        self.snd_una == self.written
    }

    /// SND.UNA.
    #[inline]
    pub(crate) fn snd_una(&self) -> u64 {
        self.snd_una
    }

    /// Payload bytes acknowledged.
    #[inline]
    pub(crate) fn acked(&self) -> u64 {
        self.snd_una - FIRST_BYTE - u64::from(self.is_close_acknowledged())
    }

    /// What is thought of single segments; `None` where nothing is known of them.
    pub(crate) fn segments(&self) -> Option<Segments> {
        self.rack.as_ref().map(|rack| rack.sent.count())
    }

    pub(crate) fn state(&self) -> LossState {
        match self.phase {
            Phase::FastRecovery { .. } => LossState::Recovery,
            Phase::Loss { .. } => LossState::Loss,
            Phase::Open { .. } if self.is_reducing() => LossState::Reducing,
            Phase::Open { dup_acks: 0, .. }
                if self.segments().is_none_or(|segments| segments.sacked == 0) =>
            {
                LossState::Open
            }
            Phase::Open { .. } => LossState::Disorder,
        }
    }

    /// FlightSize of RFC 5681 section 2; after a timeout only what was sent since counts, the rest
    /// is taken for lost.
    #[inline]
    pub(crate) fn flight_size(&self) -> u64 {
        self.snd_nxt - self.snd_una
    }

    /// When the retransmission timer expires.
    #[inline]
    pub(crate) fn deadline(&self) -> Time {
        self.deadline
    }

    /// RFC 6298 (5.1): start the timer "if the timer is not running".
    #[inline]
    pub(crate) fn start_timer_if_off(&mut self, config: &Config, now: Time) {
        if self.deadline == Time::NEVER {
            self.deadline = config.expiry(now, self.rtt.rto());
        }
    }

    pub(crate) fn stop_timer(&mut self) {
        self.deadline = Time::NEVER;
    }

    /// The acknowledgment number of a segment of the other end without a SACK option; `bare` if that
    /// has no payload.
    #[inline]
    pub(crate) fn on_ack(&mut self, config: &Config, now: Time, ack: u64, bare: bool) {
        if self.rack.is_some() {
            self.on_rack_ack(config, now, ack, &[]);
        } else if self.scoreboard.is_some() {
            self.on_selective_ack(config, now, ack, &[]);
        } else if ack > self.snd_una {
            if ack <= self.snd_max {
                self.on_new_ack(config, now, ack);
            }
        } else if self.snd_una < self.snd_max {
            self.on_old_ack(config, now, ack, bare);
        }
    }

    /// An acknowledgment of nothing new, while data is in flight.
    #[inline(never)]
    fn on_old_ack(&mut self, config: &Config, now: Time, ack: u64, bare: bool) {
        // RFC 5681 section 2: what makes an acknowledgment a duplicate.
        if bare && ack == self.snd_una {
            self.on_dup_ack(config, now);
        }
    }

    /// The retransmission timer expired.
    #[cold]
    pub(crate) fn on_timeout(&mut self, config: &Config, now: Time) {
        if self.on_persist_timer(now) {
            return;
        }
        if self.rack.is_some() {
            self.on_rack_timer(config, now);
            return;
        }
        self.counters.timeouts += 1;
        // RFC 5681 section 3.1: ssthresh falls, unless the timer has sent this segment before.
        let again = self.phase == Phase::Loss { head: self.snd_una };
        let halved = match config.rules.loss_window {
            _ if self.was_reduced() => None,
            LossWindow::FlightSize => (!again).then(|| self.flight_at_timeout()),
            LossWindow::Cwnd => Some(self.window_to_halve(config)),
        };
        let moment = Moment { config, now, rtt: &self.rtt };
        self.controller.on_timeout(&mut self.window, &moment, halved);
        self.window.collapse(config);
        // RFC 6582 section 3.2, step 4; needed for Reno too, because the duplicate ACKs for what
        // is sent twice now must not start a fast retransmit.
        self.recover = self.snd_max;
        self.phase = Phase::Loss { head: self.snd_una };
        // RFC 5681 section 3.1: "after retransmitting the dropped segment the TCP sender uses the
        // slow start algorithm to increase the window from 1 full-sized segment". What follows the
        // dropped segment is taken for lost and goes again as that window opens: go-back-N.
        self.snd_nxt = self.snd_una;
        if let Some(scoreboard) = &mut self.scoreboard {
            // RFC 2018 section 8, which RFC 6675 section 5.1 leaves as it is: the receiver may have
            // dropped what it had selectively acknowledged.
            scoreboard.clear();
        }
        self.rtt.on_retransmission();
        self.rtt.back_off(config);
        // RFC 6298 (5.6): the timer starts with the retransmission.
        self.stop_timer();
    }

    /// The next segment to send now, to an end with the window `peer_window`: its first number and its length, and
    /// whether there may be more.
    // Inlined, with what is rare left out: most of what is sent goes this way.
    #[inline(always)]
    pub(crate) fn poll_transmit(
        &mut self,
        config: &Config,
        now: Time,
        peer_window: u64,
    ) -> Option<(u64, NonZeroU32, bool)> {
        if self.rack.is_some() {
            return some_data(self.poll_rack(config, now)?);
        }
        let is_open = matches!(self.phase, Phase::Open { dup_acks: 0, .. });
        if !is_open {
            if let Phase::FastRecovery { resend: resend @ true, .. } = &mut self.phase {
                *resend = false;
                return some_data(self.retransmit_first(config, now));
            }
            if config.variant == Variant::Sack {
                return some_data(self.poll_selective(config, now)?);
            }
        }
        let unsent = self.written - self.snd_nxt;
        if unsent == 0 {
            return None;
        }
        let flight_size = self.flight_size();
        if flight_size == 0 {
            self.restart_if_idle(config, now);
        }
        let window = if is_open {
            self.window.cwnd.min(peer_window)
        } else {
            self.send_window(config, peer_window)
        };
        let room = window.saturating_sub(flight_size);
        let mss = u64::from(config.mss);
        let len = self.longest(mss, unsent).min(room);
        if len == 0 || (len < mss && len < unsent && (flight_size > 0 || self.is_silly(len))) {
            // RFC 9293 section 3.8.6.2.1: a full-sized segment, or all there is. While something is in flight its
            // override timer is not needed: that opens the window when it is acknowledged.
            return None;
        }
        let (seq, len_u32) = self.transmit(config, now, len);
        let (unsent, room) = (unsent - len, room - len);
        let more = unsent > 0 && room >= unsent.min(mss);
        Some((seq, NonZeroU32::new(len_u32)?, more))
    }

    /// The numbers that the next segment takes at most: those of its payload, and of a FIN that is
    /// all that would be left.
    #[inline]
    fn longest(&self, mss: u64, unsent: u64) -> u64 {
        if self.closing && unsent == mss + 1 { unsent } else { mss.min(unsent) }
    }

    #[inline]
    fn transmit(&mut self, config: &Config, now: Time, len: u64) -> (u64, u32) {
        let seq = self.snd_nxt;
        self.snd_nxt += len;
        if seq < self.snd_max {
            self.counters.retransmissions += 1;
            self.snd_max = self.snd_max.max(self.snd_nxt);
        } else {
            self.snd_max = self.snd_nxt;
            self.rtt.on_sent(now, self.snd_nxt);
            self.count_limited_transmit(len);
        }
        self.on_data_sent(config, now);
        // `len` is at most one MSS.
        (seq, len as u32)
    }

    /// What was sent before, again.
    fn retransmit(&mut self, config: &Config, now: Time, block: Block) -> (u64, u32) {
        self.counters.retransmissions += 1;
        self.rtt.on_retransmission();
        self.on_data_sent(config, now);
        // At most one MSS.
        (block.start, (block.end - block.start) as u32)
    }

    #[inline]
    fn on_data_sent(&mut self, config: &Config, now: Time) {
        self.counters.data_segments_sent += 1;
        self.last_sent = now;
        self.start_timer_if_off(config, now);
    }

    /// The most that may be in flight to an end with the window `peer_window`.
    #[inline]
    fn send_window(&self, config: &Config, peer_window: u64) -> u64 {
        let extra = match self.phase {
            // RFC 3042 section 2: one segment for each of the first two duplicate ACKs, as long as
            // no more than cwnd and two segments are outstanding.
            Phase::Open { dup_acks, .. } => u64::from(dup_acks.min(2)) * u64::from(config.mss),
            Phase::FastRecovery { .. } | Phase::Loss { .. } => 0,
        };
        self.window.cwnd.saturating_add(extra).min(peer_window)
    }

    /// `len` bytes of new data are in flight since now.
    #[inline]
    fn count_limited_transmit(&mut self, len: u64) {
        let beyond_cwnd = self.flight_size() > self.window.cwnd;
        if let Phase::Open { dup_acks: 1.., limited_transmit } = &mut self.phase
            && beyond_cwnd
        {
            *limited_transmit += len;
        }
    }

    /// RFC 5681 section 4.1: a TCP that "has not sent data in an interval exceeding the
    /// retransmission timeout" starts again with the restart window.
    #[inline(never)]
    fn restart_if_idle(&mut self, config: &Config, now: Time) {
        if self.is_shut(config) {
            return;
        }
        if config.rules.restart_after_idle
            && self.snd_una == self.snd_max
            && now.saturating_since(self.last_sent) > self.rtt.rto()
        {
            self.end_reduction();
            let moment = Moment { config, now, rtt: &self.rtt };
            self.controller.on_idle(&mut self.window, &moment);
        } else {
            let moment = Moment { config, now, rtt: &self.rtt };
            self.controller.on_resume(&moment, self.last_sent);
        }
    }

    #[inline]
    fn on_new_ack(&mut self, config: &Config, now: Time, ack: u64) {
        let acked = ack - self.snd_una;
        self.note_usage(config);
        self.snd_una = ack;
        // After a timeout the receiver may turn out to hold more than was sent again.
        self.snd_nxt = self.snd_nxt.max(ack);
        self.rtt.on_ack(config, now, ack);
        let restart_timer = match self.phase {
            Phase::Open { dup_acks, .. } => {
                self.phase = Phase::NO_DUP_ACKS;
                // Each duplicate ACK has told of a segment before, at most all but one of them.
                let told = u64::from(dup_acks) * u64::from(config.mss);
                let news = acked.saturating_sub(told).max(acked.min(u64::from(config.mss)));
                self.grow(config, now, news);
                true
            }
            Phase::Loss { .. } => {
                if ack >= self.recover {
                    self.phase = Phase::NO_DUP_ACKS;
                }
                self.grow(config, now, acked);
                true
            }
            Phase::FastRecovery { partial_acks, .. } => {
                self.on_ack_in_fast_recovery(config, acked, partial_acks)
            }
        };
        if self.snd_una == self.snd_max {
            // RFC 6298 (5.2).
            self.stop_timer();
        } else if restart_timer {
            // RFC 6298 (5.3).
            self.deadline = config.expiry(now, self.rtt.rto());
        }
    }

    /// `acked` bytes of new data are acknowledged outside of fast recovery.
    #[inline]
    fn grow(&mut self, config: &Config, now: Time, acked: u64) {
        let (una, next) = (self.snd_una, self.snd_max);
        let delivery = Delivery { acked, most_in_flight: self.usage.most, rtt: None, una, next };
        self.grow_by(config, now, delivery);
    }

    #[inline]
    fn grow_by(&mut self, config: &Config, now: Time, delivery: Delivery) {
        let moment = Moment { config, now, rtt: &self.rtt };
        self.controller.on_ack(&mut self.window, &moment, delivery);
    }

    /// How much of the window is in use, now that an acknowledgment of new data comes.
    #[inline]
    fn note_usage(&mut self, config: &Config) {
        let flight_size = self.flight_size();
        let is_full = flight_size.saturating_add(u64::from(config.mss)) > self.window.cwnd;
        let used = if is_full { u64::MAX } else { flight_size };
        if is_full || used > self.usage.most || self.snd_una >= self.usage.until {
            self.usage = Usage { most: used, until: self.snd_nxt };
        }
    }
}

/// A segment always has data, and is passed on in registers if its type says so.
#[inline(always)]
fn some_data((seq, len): (u64, u32)) -> Option<(u64, NonZeroU32, bool)> {
    Some((seq, NonZeroU32::new(len)?, true))
}

#[cfg(test)]
mod tests;
