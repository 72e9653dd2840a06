//! The sending half of an established connection: what may be sent, what must be sent again.
//!
//! Puts together the send variables, in [`tcb`], and one way of [loss recovery](recovery); what marks and the MAC tell
//! of losses is in `feedback`, and windows that close are in `persist`. How the window grows is in
//! [`congestion`](crate::congestion), the arithmetic of the timeout in [`rtt`](crate::rtt). Does not know the handshake
//! or what it acknowledges to the other end.

mod buffers;
mod feedback;
mod pacing;
mod persist;
mod prr;
mod rack;
mod recovery;
mod reno;
mod sack;
mod tcb;

use std::num::NonZeroU32;

use airtcp_kernel::Time;

use self::recovery::Recovery;
use self::tcb::{Phase, Tcb};
use crate::{Block, Config};

/// A segment with data that leaves now, as its first number and its length.
type SentBytes = (u64, u32);
/// Such a segment, if one leaves.
type SentData = Option<SentBytes>;
/// Such a segment for the endpoint, and whether there may be more.
pub(crate) type SentSegment = Option<(u64, NonZeroU32, bool)>;

/// The sending half of an endpoint.
// In this order: see [`Endpoint`](crate::Endpoint).
#[derive(Clone, Debug)]
#[repr(C)]
pub(crate) struct Sender {
    recovery: Recovery,
    pub(crate) tcb: Tcb,
}

/// The state of a sender in the face of losses, as Linux names it.
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

/// The segments under way as a sender with [`Variant::Rack`](crate::Variant::Rack) counts them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segments {
    /// The segments not acknowledged cumulatively.
    pub unacknowledged: usize,
    /// The ones of them that the other end has told that it holds.
    pub sacked: usize,
    /// The ones of them that were found lost and are not known to have arrived since.
    pub lost: usize,
    /// The ones of the lost that are under way again.
    pub retransmitted: usize,
    /// Most octets from the beginning of a segment to the end of one that was sent later and arrived
    /// before it; zero: no reordering was seen.
    pub reordering: u64,
}

impl Sender {
    pub(crate) fn new(config: &Config) -> Self {
        Self { recovery: Recovery::new(config), tcb: Tcb::new(config) }
    }

    /// Returns what is thought of single segments; `None` where nothing is known of them.
    pub(crate) fn segments(&self) -> Option<Segments> {
        self.recovery.segments()
    }

    /// Returns the time at which a timer expires; [`Tcb::deadline`] comes no later.
    pub(crate) fn deadline(&self) -> Time {
        self.recovery.deadline(&self.tcb)
    }

    pub(crate) fn state(&self) -> LossState {
        match self.tcb.phase {
            Phase::FastRecovery { .. } => LossState::Recovery,
            Phase::Loss { .. } => LossState::Loss,
            Phase::Open { .. } if self.tcb.is_reducing() => LossState::Reducing,
            Phase::Open { dup_acks: 0, .. }
                if self.segments().is_none_or(|segments| segments.sacked == 0) =>
            {
                LossState::Open
            }
            Phase::Open { .. } => LossState::Disorder,
        }
    }

    /// Takes the acknowledgment number of a segment of the other end without a SACK option; `bare` if that
    /// has no payload.
    // Inlined, as what most segments do; elsewhere it is a call.
    #[inline(always)]
    pub(crate) fn on_ack(&mut self, config: &Config, now: Time, ack: u64, bare: bool) {
        self.recovery.on_ack(&mut self.tcb, config, now, ack, bare);
    }

    /// Does as [`Self::on_ack`], in a call.
    #[inline(never)]
    pub(crate) fn on_ack_apart(&mut self, config: &Config, now: Time, ack: u64, bare: bool) {
        self.on_ack(config, now, ack, bare);
    }

    /// Does as [`Self::on_ack`] for segments with timestamps, where nobody watches rates.
    #[inline]
    pub(crate) fn on_stamped_ack(&mut self, config: &Config, now: Time, ack: u64, bare: bool) {
        let Self { recovery, tcb } = self;
        match recovery {
            // Most often of an end that only receives: nothing is under way that an acknowledgment could tell of.
            Recovery::Rack(_) if tcb.has_nothing_under_way() => tcb.note_usage(config),
            Recovery::Rack(rack) => rack.on_ack(tcb, config, now, ack, &[]),
            _ => self.on_ack_apart(config, now, ack, bare),
        }
    }

    /// Takes the acknowledgment number of a segment with the SACK blocks `sacked`; `bare` if that has no payload.
    #[cold]
    pub(crate) fn on_selective_ack(
        &mut self,
        config: &Config,
        now: Time,
        ack: u64,
        sacked: &[Block],
        bare: bool,
    ) {
        self.recovery.on_selective_ack(&mut self.tcb, config, now, ack, (sacked, bare));
    }

    /// Handles the expiry of the one timer.
    #[cold]
    pub(crate) fn on_timeout(&mut self, config: &Config, now: Time) {
        if !self.on_persist_timer(now) {
            self.recovery.on_timer(&mut self.tcb, config, now);
        }
    }

    /// Notes that the connection is established, and its only round trip so far was that of the handshake.
    pub(crate) fn note_handshake(&mut self) {
        self.recovery.note_handshake(self.tcb.rtt.srtt());
    }

    /// Tells whether the segment of `len` bytes from `seq` on, which has just left, asks for an acknowledgment; of a
    /// buffer it does so once.
    #[inline]
    pub(crate) fn takes_push(&mut self, config: &Config, seq: u64, len: u32) -> bool {
        self.recovery.takes_push() || self.tcb.asks_alone(config, seq, u64::from(len))
    }

    /// Does as [`Self::poll_transmit`] for segments with timestamps, and tells also whether the segment asks for an
    /// acknowledgment.
    #[inline(always)]
    pub(crate) fn poll_stamped(
        &mut self,
        config: &Config,
        now: Time,
    ) -> Option<(u64, NonZeroU32, bool, bool)> {
        let Self { recovery, tcb } = self;
        let Recovery::Rack(rack) = recovery else {
            let (seq, len, more) = self.poll_apart(config, now)?;
            return Some((seq, len, more, self.tcb.asks_alone(config, seq, len.get().into())));
        };
        let ((seq, len), more) = rack.poll(tcb, config, now)?;
        let asks = rack.buffer.takes_push() || tcb.asks_alone(config, seq, len.into());
        Some((seq, NonZeroU32::new(len)?, more, asks))
    }

    #[inline(never)]
    fn poll_apart(&mut self, config: &Config, now: Time) -> SentSegment {
        let peer_window = self.tcb.peer_window(config);
        self.poll_transmit(config, now, peer_window)
    }

    /// Sends the next segment now, to an end with the window `peer_window`: returns its first number and its length, and
    /// whether there may be more.
    // Inlined, with what is rare left out: most of what is sent goes this way.
    #[inline(always)]
    pub(crate) fn poll_transmit(
        &mut self,
        config: &Config,
        now: Time,
        peer_window: u64,
    ) -> SentSegment {
        let Self { recovery, tcb } = self;
        if let Recovery::Rack(rack) = recovery {
            return some_data(rack.poll_otherwise(tcb, config, now, peer_window)?, true);
        }
        let is_open = matches!(tcb.phase, Phase::Open { dup_acks: 0, .. });
        if !is_open && let Ok(sent) = recovery.poll_in_disorder(tcb, config, now) {
            return some_data(sent?, true);
        }
        let unsent = tcb.written - tcb.snd_nxt;
        if unsent == 0 {
            return None;
        }
        let flight_size = tcb.flight_size();
        if flight_size == 0 {
            tcb.restart_if_idle(config, now);
        }
        let window = if is_open {
            tcb.window.cwnd.min(peer_window)
        } else {
            tcb.send_window(config, peer_window)
        };
        let room = window.saturating_sub(flight_size);
        let mss = u64::from(config.mss);
        let len = tcb.longest(mss, unsent).min(room);
        if len == 0 || (len < mss && len < unsent && (flight_size > 0 || tcb.is_silly(len))) {
            // RFC 9293 section 3.8.6.2.1: a full-sized segment, or all there is. While something is in flight its
            // override timer is not needed: that opens the window when it is acknowledged.
            return None;
        }
        let (seq, len_u32) = tcb.transmit(config, now, len);
        let (unsent, room) = (unsent - len, room - len);
        let more = unsent > 0 && room >= unsent.min(mss);
        Some((seq, NonZeroU32::new(len_u32)?, more))
    }
}

/// Returns a segment, which always has data, so that its type says so and it is passed on in registers.
#[inline(always)]
fn some_data((seq, len): SentBytes, more: bool) -> SentSegment {
    Some((seq, NonZeroU32::new(len)?, more))
}

#[cfg(test)]
mod tests;
