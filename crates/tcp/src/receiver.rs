//! The receiving half: what is delivered in order, and when an acknowledgment is owed.
//!
//! Knows the data that arrives, RFC 5681 section 4.2, and what a SACK option has to say. Does not
//! know what the endpoint sends: it is told when an acknowledgment has left, on its own or with
//! data.

pub mod acks;
mod adaptive;
mod late;
mod opening;
mod skipping;
mod tame;

use std::num::NonZeroU64;

use airtcp_kernel::{Duration, Time};

use self::acks::{Arrival, Registered};
use self::adaptive::Adaptive;
pub(crate) use self::late::LateReader;
use self::skipping::Skipping;
use self::tame::Tame;
use crate::config::DelayedAck;
use crate::options::MAX_SACK_BLOCKS;
use crate::reassembly::Reassembly;
use crate::{AckSkip, Block, Config};

/// The number of the first byte of data: the SYN, sent or imagined, has number 0.
pub(crate) const FIRST_BYTE: u64 = 1;

/// The receiving half of an endpoint.
// In this order, what most segments look at lies together, next to what they look at of the sender.
#[derive(Clone, Debug)]
#[repr(C)]
pub(crate) struct Receiver {
    /// The number of the other end's FIN; `None` until it has come.
    fin: Option<NonZeroU64>,
    /// `None` until it is needed.
    adaptive: Option<Box<Adaptive>>,
    ack_owed: AckOwed,
    /// RCV.NXT: everything before it is delivered.
    rcv_nxt: u64,
    /// The acknowledgment number last sent; `rcv_nxt - acknowledged` bytes are not acknowledged.
    acknowledged: u64,
    /// The data that arrived beyond a gap; `None`: nothing.
    ahead: Option<Box<Reassembly>>,
    /// The number of acknowledgments left out since the last one.
    skipped: u32,
    /// After how many bytes the next one is due; zero where that is not always the same.
    due_after: u32,
    /// `None` until it is needed.
    thinning: Option<Box<Thinning>>,
}

/// The state of a receiver that thins acknowledgments out by what it is told.
#[derive(Clone, Debug)]
enum Thinning {
    Tame(Tame),
    Skipping(Skipping),
    Registered(Registered),
}

/// Which acknowledgment the other end must get, and when.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AckOwed {
    /// I.e. all that arrived is acknowledged.
    None,
    /// Data arrived in order; with the next segment, at the latest at this time.
    Until(Time),
    /// At once, alone or with data.
    Now,
    /// At once and without data, for only then does the sender count it as a duplicate ACK
    /// (RFC 5681 section 2).
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

    /// Returns the acknowledgment number last sent: Last.ACK.sent of RFC 7323.
    pub(crate) fn acknowledged(&self) -> u64 {
        self.acknowledged
    }

    /// Returns RCV.NXT.
    #[inline]
    pub(crate) fn rcv_nxt(&self) -> u64 {
        self.rcv_nxt
    }

    /// Counts the payload bytes given to the application, which reads at once.
    #[inline]
    pub(crate) fn delivered(&self) -> u64 {
        self.rcv_nxt - FIRST_BYTE - u64::from(self.has_reached_end())
    }

    /// Tells whether the FIN has come, and everything before it.
    #[inline]
    pub(crate) fn has_reached_end(&self) -> bool {
        self.fin.is_some_and(|fin| self.rcv_nxt > fin.get())
    }

    #[inline]
    pub(crate) fn ack_owed(&self) -> AckOwed {
        self.ack_owed
    }

    /// Returns the time at which [`Self::on_timer`] has something to do.
    #[inline]
    pub(crate) fn deadline(&self) -> Time {
        match self.ack_owed {
            AckOwed::Until(deadline) => deadline,
            AckOwed::None | AckOwed::Now | AckOwed::Bare => Time::NEVER,
        }
    }

    /// Takes payload with the numbers `start .. end`. Returns how many bytes are in order now that were not.
    #[inline(always)]
    pub(crate) fn on_data(&mut self, config: &Config, now: Time, start: u64, end: u64) -> u64 {
        if start == self.rcv_nxt && self.ahead.is_none() {
            self.rcv_nxt = end;
            self.delay_ack(config, now);
            end - start
        } else {
            let before = self.delivered();
            self.on_disorder(config, start, end);
            self.delivered() - before
        }
    }

    /// Takes a segment with the numbers `start .. end`, the last of which is a FIN. RFC 9293
    /// section 3.10.7.4, step 8: "send an acknowledgment for the FIN", which stacks do not delay. How
    /// many bytes of payload are in order now that were not.
    #[cold]
    pub(crate) fn on_fin(&mut self, config: &Config, now: Time, start: u64, end: u64) -> u64 {
        let before = self.delivered();
        if self.fin.is_none() && end > self.rcv_nxt {
            self.fin = NonZeroU64::new(end - 1);
        }
        self.on_data(config, now, start, end);
        if self.ack_owed != AckOwed::Bare {
            self.ack_owed = AckOwed::Now;
        }
        self.delivered() - before
    }

    /// Takes a round trip of the connection: the least of them counts.
    #[cold]
    pub(crate) fn on_round_trip(&mut self, rtt: Duration) {
        self.tame().on_round_trip(rtt);
    }

    /// Takes the time since an acknowledgment left that a segment with data echoes.
    pub(crate) fn on_sender_echo(&mut self, rtt: Duration) {
        self.adaptive.get_or_insert_default().on_round_trip(rtt);
    }

    /// Takes the request of the last segment for an acknowledgment: Linux sends one as soon as it is read, which is at once.
    #[inline]
    pub(crate) fn on_push(&mut self, config: &Config) {
        if config.delayed_ack.adaptive && matches!(self.ack_owed, AckOwed::Until(_)) {
            self.ack_is_due(config);
        }
    }

    /// Takes word that a frame of the station was answered, or was not.
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

    /// Owes the other end an acknowledgment: a SYN was accepted.
    pub(crate) fn owe_ack(&mut self) {
        self.ack_owed = AckOwed::Now;
    }

    /// Owes a bare acknowledgment of what the other end need not have sent: RFC 9293 section 3.10.7.4, "If an incoming
    /// segment is not acceptable, an acknowledgment should be sent in reply".
    pub(crate) fn owe_bare_ack(&mut self) {
        self.ack_owed = AckOwed::Bare;
    }

    /// Notes that a segment with the current acknowledgment number is on its way.
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

    /// Tells whether something is held beyond a gap.
    #[inline]
    pub(crate) fn has_gap(&self) -> bool {
        self.ahead.is_some()
    }

    /// Returns what is held beyond a gap, for a SACK option: blocks, and how many of them count. RFC 2018
    /// section 4 wants an option in each acknowledgment that does not cover all that is held.
    pub(crate) fn sack_blocks(&self) -> ([Block; MAX_SACK_BLOCKS], usize) {
        self.ahead.as_deref().map_or_else(Default::default, Reassembly::sack_blocks)
    }

    /// Makes a delayed acknowledgment due now if it is; harmless when nothing is.
    pub(crate) fn on_timer(&mut self, config: &Config, now: Time) {
        if self.deadline() <= now {
            self.ack_is_due(config);
        }
    }

    /// Delays the acknowledgment of data in order. RFC 5681 section 4.2 and RFC 1122 section 4.2.3.2: an ACK for every so many full-sized
    /// segments, and within a bounded time of the first unacknowledged one.
    #[inline]
    fn delay_ack(&mut self, config: &Config, now: Time) {
        if self.due_after == 0 {
            self.delay_ack_otherwise(config, now);
        } else if self.rcv_nxt - self.acknowledged >= u64::from(self.due_after) {
            self.ack_is_due(config);
        } else if self.ack_owed == AckOwed::None {
            self.ack_owed = AckOwed::Until(now + config.delayed_ack.timeout);
        }
    }

    /// Does as [`Self::delay_ack`], but by rules of others, or where the number of segments changes.
    #[inline(never)]
    fn delay_ack_otherwise(&mut self, config: &Config, now: Time) {
        if config.tack.is_some() {
            self.delay_tack(config, now);
            return;
        }
        if let Some(policy) = config.delayed_ack.policy {
            self.delay_by_policy(config, policy, now);
            return;
        }
        let is_adaptive = config.delayed_ack.adaptive;
        let delay = if is_adaptive {
            // As in Linux.
            self.adaptive.get_or_insert_default().on_data(config, now, self.rcv_nxt)
        } else {
            config.delayed_ack.timeout
        };
        let is_enough = || {
            let every = config.delayed_ack.every_at(self.delivered(), config.mss);
            let pending = self.rcv_nxt - self.acknowledged;
            every <= 1 && !is_adaptive || pending >= u64::from(every) * u64::from(config.mss)
        };
        if is_adaptive && delay == Duration::ZERO || is_enough() {
            self.ack_is_due(config);
        } else if self.ack_owed == AckOwed::None {
            self.ack_owed = AckOwed::Until(now + delay);
        }
    }

    /// Does as [`Self::delay_ack`] by the rules of TACK.
    #[inline(never)]
    fn delay_tack(&mut self, config: &Config, now: Time) {
        let (pending, owed) = (self.rcv_nxt - self.acknowledged, self.ack_owed);
        if let Some(tack) = config.tack {
            self.ack_owed = self.tame().on_data(config, tack, now, pending, owed);
        }
    }

    /// Does as [`Self::delay_ack`] by a registered policy.
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

    /// Owes an acknowledgment of data in order, which is sent unless it is one to be left out.
    /// Nothing makes up for it: no timer runs for the data that it would have covered.
    #[inline]
    fn ack_is_due(&mut self, config: &Config) {
        self.ack_owed = AckOwed::Now;
        if let Some(ack_skip) = config.ack_skip {
            self.leave_out(ack_skip, config.mss);
        }
    }

    /// Leaves the acknowledgment that is due out if it is one of those.
    #[inline(never)]
    fn leave_out(&mut self, ack_skip: AckSkip, mss: u32) {
        if ack_skip.is_on(self.delivered(), mss) && self.skipped < self.skips(ack_skip) {
            self.skipped += 1;
            self.acknowledged = self.rcv_nxt;
            self.ack_owed = AckOwed::None;
        }
    }

    /// Returns how many are left out now.
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
            // out-of-order segment arrives." RFC 9293 section 3.4: what lies beyond the window
            // is not accepted.
            let window_end = self.rcv_nxt.saturating_add(config.receive_window);
            if start < window_end {
                self.ahead.get_or_insert_default().insert(start, end.min(window_end));
            }
            self.ack_owed = AckOwed::Bare;
        } else if end <= self.rcv_nxt {
            self.ack_owed = AckOwed::Bare;
        } else {
            // RFC 5681 section 4.2: "immediate ACK when it receives a data segment that fills in
            // all or part of a gap in the sequence space"; so also for partly old data.
            self.rcv_nxt = end;
            self.ack_owed = AckOwed::Now;
            if let Some(ahead) = &mut self.ahead {
                self.rcv_nxt = ahead.advance(end);
                if ahead.is_empty() {
                    self.ahead = None;
                } else if config.variant.has_sack() {
                    // Its SACK option would not fit beside the payload of a full segment.
                    self.ack_owed = AckOwed::Bare;
                }
            }
        }
    }
}

/// Returns after how many bytes in order an acknowledgment is due (RFC 5681 section 4.2), if that never changes:
/// with one for each segment after any.
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
