//! The receiving half: delivers data in order and decides when an ACK is due.
//!
//! It implements RFC 5681 section 4.2 and provides the SACK blocks. The endpoint sends the segments
//! and reports when an ACK has been sent, bare or with data.

pub mod acks;
mod adaptive;
mod opening;
mod skipping;
mod tame;

use std::num::NonZeroU64;

use airtcp_kernel::{Duration, Time};

use self::acks::{Arrival, Registered};
use self::adaptive::Adaptive;
use self::skipping::Skipping;
use self::tame::Tame;
use crate::config::DelayedAck;
use crate::options::MAX_SACK_BLOCKS;
use crate::reassembly::Reassembly;
use crate::{AckSkip, At, Block, Config};

/// The sequence number of the first byte of data: the SYN, real or implied, has number 0.
pub(crate) const FIRST_BYTE: u64 = 1;

/// The receiving half of an endpoint.
// The order keeps the fields that most segments touch together, next to those of the sender.
#[derive(Clone, Debug)]
#[repr(C)]
pub(crate) struct Receiver {
    /// The sequence number of the other end's FIN; `None` until it arrives.
    fin: Option<NonZeroU64>,
    /// `None` until needed.
    adaptive: Option<Box<Adaptive>>,
    ack_owed: AckOwed,
    /// RCV.NXT: everything before it is delivered.
    rcv_nxt: u64,
    /// The ACK number last sent; `rcv_nxt - acknowledged` bytes are unacknowledged.
    acknowledged: u64,
    /// Out-of-order data; `None`: none.
    ahead: Option<Box<Reassembly>>,
    /// ACKs omitted since the last one.
    skipped: u32,
    /// The number of bytes after which the next ACK is due; zero if that varies.
    due_after: u32,
    /// `None` until needed.
    thinning: Option<Box<Thinning>>,
}

/// State of a receiver that thins out ACKs.
#[derive(Clone, Debug)]
enum Thinning {
    Tame(Tame),
    Skipping(Skipping),
    Registered(Registered),
}

/// Whether, and when, an ACK is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AckOwed {
    /// Not due: everything is acknowledged.
    None,
    /// Data arrived in order: with the next segment, or at this time at the latest.
    Until(Time),
    /// Now, bare or with data.
    Now,
    /// Now and without data: only then does the sender count it as a duplicate ACK (RFC 5681
    /// section 2).
    Bare,
}

impl Receiver {
    pub(crate) fn new(config: &Config) -> Self {
        Self {
            rcv_nxt: FIRST_BYTE,
            acknowledged: FIRST_BYTE,
            ack_owed: AckOwed::None,
            skipped: 0,
            due_after: due_after(config),
            fin: None,
            ahead: None,
            adaptive: None,
            thinning: None,
        }
    }

    /// Returns the ACK number last sent: Last.ACK.sent of RFC 7323.
    pub(crate) fn acknowledged(&self) -> u64 {
        self.acknowledged
    }

    /// Returns RCV.NXT.
    #[inline]
    pub(crate) fn rcv_nxt(&self) -> u64 {
        self.rcv_nxt
    }

    /// Returns the payload bytes delivered to the application, which reads at once.
    #[inline]
    pub(crate) fn delivered(&self) -> u64 {
        self.rcv_nxt - FIRST_BYTE - u64::from(self.has_reached_end())
    }

    /// Whether the FIN and everything before it have arrived.
    #[inline]
    pub(crate) fn has_reached_end(&self) -> bool {
        self.fin.is_some_and(|fin| self.rcv_nxt > fin.get())
    }

    #[inline]
    pub(crate) fn ack_owed(&self) -> AckOwed {
        self.ack_owed
    }

    /// Returns when [`Self::on_timer`] must be called.
    #[inline]
    pub(crate) fn deadline(&self) -> Time {
        match self.ack_owed {
            AckOwed::Until(deadline) => deadline,
            AckOwed::None | AckOwed::Now | AckOwed::Bare => Time::NEVER,
        }
    }

    /// Processes payload `start .. end`. Returns the number of bytes newly in order.
    #[inline(always)]
    pub(crate) fn on_data(&mut self, at: At<'_>, start: u64, end: u64) -> u64 {
        if start == self.rcv_nxt && self.ahead.is_none() {
            self.rcv_nxt = end;
            self.delay_ack(at);
            end - start
        } else {
            let before = self.delivered();
            self.on_disorder(at.config, start, end);
            self.delivered() - before
        }
    }

    /// Processes a segment `start .. end` that ends with a FIN. RFC 9293 section 3.10.7.4, step 8:
    /// "send an acknowledgment for the FIN", which stacks do not delay. Returns the number of
    /// payload bytes newly in order.
    #[cold]
    pub(crate) fn on_fin(&mut self, at: At<'_>, start: u64, end: u64) -> u64 {
        let before = self.delivered();
        if self.fin.is_none() && end > self.rcv_nxt {
            self.fin = NonZeroU64::new(end - 1);
        }
        self.on_data(at, start, end);
        if self.ack_owed != AckOwed::Bare {
            self.ack_owed = AckOwed::Now;
        }
        self.delivered() - before
    }

    /// Processes a round trip of the connection; the minimum counts.
    #[cold]
    pub(crate) fn on_round_trip(&mut self, rtt: Duration) {
        self.tame().on_round_trip(rtt);
    }

    /// Processes the round trip from an ACK to the data segment that echoes its timestamp.
    pub(crate) fn on_sender_echo(&mut self, rtt: Duration) {
        self.adaptive.get_or_insert_default().on_round_trip(rtt);
    }

    /// Processes PSH on the last segment. Linux sends an ACK as soon as the application has read
    /// the data, which is at once.
    #[inline]
    pub(crate) fn on_push(&mut self, config: &Config) {
        if config.delayed_ack.adaptive && matches!(self.ack_owed, AckOwed::Until(_)) {
            self.ack_is_due(config);
        }
    }

    /// Called after each frame of the station: whether it got a response.
    pub(crate) fn on_frame(&mut self, config: &Config, is_answered: bool) {
        if let Some(skip) = config.ack_skip
            && let Some(adaptive) = skip.adaptive
        {
            self.skipping().on_frame(skip.skip, adaptive, is_answered);
        }
    }

    fn tame(&mut self) -> &mut Tame {
        let tame = Thinning::Tame(Tame::default());
        match &mut **self.thinning.get_or_insert_with(|| Box::new(tame)) {
            Thinning::Tame(tame) => tame,
            Thinning::Skipping(_) | Thinning::Registered(_) => {
                unreachable!("one policy of acknowledgments")
            }
        }
    }

    fn skipping(&mut self) -> &mut Skipping {
        let skipping = Thinning::Skipping(Skipping::default());
        match &mut **self.thinning.get_or_insert_with(|| Box::new(skipping)) {
            Thinning::Skipping(skipping) => skipping,
            Thinning::Tame(_) | Thinning::Registered(_) => {
                unreachable!("one policy of acknowledgments")
            }
        }
    }

    fn registered(&mut self, policy: u16) -> &mut Registered {
        let thinning = self
            .thinning
            .get_or_insert_with(|| Box::new(Thinning::Registered(Registered::new(policy))));
        match &mut **thinning {
            Thinning::Registered(registered) => registered,
            Thinning::Tame(_) | Thinning::Skipping(_) => {
                unreachable!("one policy of acknowledgments")
            }
        }
    }

    /// Makes an ACK due because a SYN was accepted.
    pub(crate) fn owe_ack(&mut self) {
        self.ack_owed = AckOwed::Now;
    }

    /// Makes a bare ACK due for a segment that the other end need not have sent: RFC 9293 section
    /// 3.10.7.4, "If an incoming segment is not acceptable, an acknowledgment should be sent in
    /// reply".
    pub(crate) fn owe_bare_ack(&mut self) {
        self.ack_owed = AckOwed::Bare;
    }

    /// Records that a segment with the current ACK number is sent.
    #[inline]
    pub(crate) fn on_ack_sent(&mut self, now: Time) {
        match self.thinning.as_deref_mut() {
            None => {}
            Some(Thinning::Tame(tame)) => tame.on_ack_sent(now),
            Some(Thinning::Skipping(skipping)) => {
                skipping.on_ack_sent(self.rcv_nxt > self.acknowledged);
            }
            Some(Thinning::Registered(registered)) => registered.on_ack_sent(now),
        }
        self.acknowledged = self.rcv_nxt;
        self.ack_owed = AckOwed::None;
        self.skipped = 0;
    }

    /// Whether out-of-order data is held.
    #[inline]
    pub(crate) fn has_gap(&self) -> bool {
        self.ahead.is_some()
    }

    /// Returns the SACK blocks and their number. RFC 2018 section 4 wants the option in each ACK
    /// that does not cover everything held.
    pub(crate) fn sack_blocks(&self) -> ([Block; MAX_SACK_BLOCKS], usize) {
        self.ahead.as_deref().map_or_else(Default::default, Reassembly::sack_blocks)
    }

    /// Makes a delayed ACK due if its timer has expired; otherwise does nothing.
    pub(crate) fn on_timer(&mut self, at: At<'_>) {
        if self.deadline() <= at.now {
            self.ack_is_due(at.config);
        }
    }

    /// Delays the ACK of data in order. RFC 5681 section 4.2 and RFC 1122 section 4.2.3.2: an ACK
    /// per `every` full-sized segments, and within a limited time of the first unacknowledged one.
    #[inline]
    fn delay_ack(&mut self, at: At<'_>) {
        if self.due_after == 0 {
            self.delay_ack_otherwise(at);
        } else if self.rcv_nxt - self.acknowledged >= u64::from(self.due_after) {
            self.ack_is_due(at.config);
        } else if self.ack_owed == AckOwed::None {
            self.ack_owed = AckOwed::Until(at.now + at.config.delayed_ack.timeout);
        }
    }

    /// Like [`Self::delay_ack`], for other policies, or if the number of segments changes.
    #[inline(never)]
    fn delay_ack_otherwise(&mut self, at: At<'_>) {
        if at.config.tack.is_some() {
            self.delay_tack(at);
            return;
        }
        if let Some(policy) = at.config.delayed_ack.policy {
            self.delay_by_policy(at.config, policy, at.now);
            return;
        }
        let is_adaptive = at.config.delayed_ack.adaptive;
        let delay = if is_adaptive {
            // As in Linux.
            self.adaptive.get_or_insert_default().on_data(at, self.rcv_nxt)
        } else {
            at.config.delayed_ack.timeout
        };
        let is_enough = || {
            let every = at.config.delayed_ack.every_at(self.delivered(), at.config.mss);
            let pending = self.rcv_nxt - self.acknowledged;
            every <= 1 && !is_adaptive || pending >= u64::from(every) * u64::from(at.config.mss)
        };
        if is_adaptive && delay == Duration::ZERO || is_enough() {
            self.ack_is_due(at.config);
        } else if self.ack_owed == AckOwed::None {
            self.ack_owed = AckOwed::Until(at.now + delay);
        }
    }

    /// Like [`Self::delay_ack`], for TACK.
    #[inline(never)]
    fn delay_tack(&mut self, at: At<'_>) {
        let (pending, owed) = (self.rcv_nxt - self.acknowledged, self.ack_owed);
        if let Some(tack) = at.config.tack {
            self.ack_owed = self.tame().on_data(at.config, tack, at.now, pending, owed);
        }
    }

    /// Like [`Self::delay_ack`], for a registered policy.
    #[inline(never)]
    fn delay_by_policy(&mut self, config: &Config, policy: u16, now: Time) {
        let due = match self.ack_owed {
            AckOwed::Now | AckOwed::Bare => return,
            AckOwed::Until(due) => due,
            AckOwed::None => now + config.delayed_ack.timeout,
        };
        let arrival = Arrival {
            now,
            mss: config.mss,
            delivered: self.delivered(),
            unacknowledged: self.rcv_nxt - self.acknowledged,
            since_ack: None,
        };
        self.ack_owed = match self.registered(policy).delay(arrival) {
            Some(Duration::ZERO) => AckOwed::Now,
            Some(delay) => AckOwed::Until(due.min(now + delay)),
            None => AckOwed::Until(due),
        };
    }

    /// Makes an ACK of data in order due, unless it is one to omit. Nothing replaces an omitted
    /// ACK: no timer runs for the data that it would have covered.
    #[inline]
    fn ack_is_due(&mut self, config: &Config) {
        self.ack_owed = AckOwed::Now;
        if let Some(ack_skip) = config.ack_skip {
            self.leave_out(ack_skip, config.mss);
        }
    }

    /// Omits the ACK that is due, if it is one to omit.
    #[inline(never)]
    fn leave_out(&mut self, ack_skip: AckSkip, mss: u32) {
        if ack_skip.is_on(self.delivered(), mss) && self.skipped < self.skips(ack_skip) {
            self.skipped += 1;
            self.acknowledged = self.rcv_nxt;
            self.ack_owed = AckOwed::None;
        }
    }

    /// Returns how many ACKs are omitted now.
    fn skips(&mut self, ack_skip: AckSkip) -> u32 {
        match ack_skip.adaptive {
            None => ack_skip.skip,
            Some(adaptive) => self.skipping().skips(adaptive),
        }
    }

    #[cold]
    fn on_disorder(&mut self, config: &Config, start: u64, end: u64) {
        if config.ack_skip.is_some_and(|skip| skip.adaptive.is_some()) {
            self.skipping().on_loss();
        }
        if start > self.rcv_nxt {
            // RFC 5681 section 4.2: "A TCP receiver SHOULD send an immediate duplicate ACK when an
            // out-of-order segment arrives." RFC 9293 section 3.4: data beyond the window is not
            // accepted.
            let window_end = self.rcv_nxt.saturating_add(config.receive_window);
            if start < window_end {
                self.ahead.get_or_insert_default().insert(start, end.min(window_end));
            }
            self.ack_owed = AckOwed::Bare;
        } else if end <= self.rcv_nxt {
            self.ack_owed = AckOwed::Bare;
        } else {
            // RFC 5681 section 4.2: "immediate ACK when it receives a data segment that fills in
            // all or part of a gap in the sequence space"; the same for partly old data.
            self.rcv_nxt = end;
            self.ack_owed = AckOwed::Now;
            if let Some(ahead) = &mut self.ahead {
                self.rcv_nxt = ahead.advance(end);
                if ahead.is_empty() {
                    self.ahead = None;
                } else if config.variant.has_sack() {
                    // Its SACK option would not fit into a full segment with payload.
                    self.ack_owed = AckOwed::Bare;
                }
            }
        }
    }
}

/// Returns the number of in-order bytes after which an ACK is due (RFC 5681 section 4.2), or 0 if
/// that varies.
fn due_after(config: &Config) -> u32 {
    let DelayedAck { every, later, adaptive, policy, .. } = &config.delayed_ack;
    if config.tack.is_some() || *adaptive || policy.is_some() || !later.is_empty() {
        0
    } else if *every <= 1 {
        1
    } else {
        every.checked_mul(config.mss).unwrap_or(0)
    }
}

#[cfg(test)]
mod tests;
