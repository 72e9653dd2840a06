//! The sending half of an established connection: what to send and what to retransmit.
//!
//! It combines the send variables, in [`tcb`], with one variant of [loss recovery](recovery).
//! Reactions to ECN and to the MAC are in `feedback`, closing windows in `persist`. Window growth
//! is in [`congestion`](crate::congestion), and the RTO in [`rtt`](crate::rtt).

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
use crate::{At, Block, Config};

/// A data segment that is sent now: its first sequence number and its length.
type SentBytes = (u64, u32);
/// A data segment, if one is sent.
type SentData = Option<SentBytes>;
/// A data segment for the endpoint, and whether there may be more.
pub(crate) type SentSegment = Option<(u64, NonZeroU32, bool)>;

/// The sending half of an endpoint.
// For the order of fields see [`Endpoint`](crate::Endpoint).
#[derive(Clone, Debug)]
#[repr(C)]
pub(crate) struct Sender {
    recovery: Recovery,
    pub(crate) tcb: Tcb,
}

/// The loss recovery state of a sender, in Linux's terms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LossState {
    /// No loss, no reordering.
    Open,
    /// An ECN mark has reduced the window, which falls in proportion to the delivered data: Linux's
    /// CWR.
    Reducing,
    /// Data is missing, but may only be late.
    Disorder,
    /// Fast recovery: ACKs have indicated a loss.
    Recovery,
    /// The retransmission timer has expired.
    Loss,
}

/// The segments in flight, as a sender with [`Variant::Rack`](crate::Variant::Rack) counts them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segments {
    /// Segments that are not cumulatively acknowledged.
    pub unacknowledged: usize,
    /// Of those, segments that are SACKed.
    pub sacked: usize,
    /// Of those, segments that were lost and are not known to have arrived since.
    pub lost: usize,
    /// Of the lost segments, those in flight again.
    pub retransmitted: usize,
    /// Reordering extent: the most octets from the start of a segment to the end of one that was
    /// sent later and arrived earlier; zero: no reordering.
    pub reordering: u64,
}

impl Sender {
    pub(crate) fn new(config: &Config) -> Self {
        Self { recovery: Recovery::new(config), tcb: Tcb::new(config) }
    }

    /// Returns the segment counts; `None` if single segments are not tracked.
    pub(crate) fn segments(&self) -> Option<Segments> {
        self.recovery.segments()
    }

    /// Returns when a timer expires; [`Tcb::deadline`] is a lower bound.
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

    /// Processes the ACK number of a segment without a SACK option; `bare`: the segment has no
    /// payload.
    // Inlined, because most segments do this; elsewhere it is a call.
    #[inline(always)]
    pub(crate) fn on_ack(&mut self, at: At<'_>, ack: u64, bare: bool) {
        self.recovery.on_ack(&mut self.tcb, at, ack, bare);
    }

    /// Like [`Self::on_ack`], as an out-of-line call.
    #[inline(never)]
    pub(crate) fn on_ack_apart(&mut self, at: At<'_>, ack: u64, bare: bool) {
        self.on_ack(at, ack, bare);
    }

    /// Like [`Self::on_ack`], for segments with timestamps if nothing samples delivery rates.
    #[inline]
    pub(crate) fn on_stamped_ack(&mut self, at: At<'_>, ack: u64, bare: bool) {
        let Self { recovery, tcb } = self;
        match recovery {
            // Usually an end that only receives: nothing is in flight that an ACK could
            // acknowledge.
            Recovery::Rack(_) if tcb.has_nothing_under_way() => tcb.note_usage(at.config),
            Recovery::Rack(rack) => rack.on_ack(tcb, at, ack, &[]),
            _ => self.on_ack_apart(at, ack, bare),
        }
    }

    /// Processes the ACK number of a segment with the SACK blocks `sacked`; `bare`: the segment has
    /// no payload.
    #[cold]
    pub(crate) fn on_selective_ack(&mut self, at: At<'_>, ack: u64, sacked: &[Block], bare: bool) {
        self.recovery.on_selective_ack(&mut self.tcb, at, ack, (sacked, bare));
    }

    /// Processes the expiry of the retransmission or persist timer.
    #[cold]
    pub(crate) fn on_timeout(&mut self, at: At<'_>) {
        if !self.on_persist_timer(at.now) {
            self.recovery.on_timer(&mut self.tcb, at);
        }
    }

    /// Records that the connection is established; the handshake gave its only RTT sample so far.
    pub(crate) fn note_handshake(&mut self) {
        self.recovery.note_handshake(self.tcb.rtt.srtt());
    }

    /// Whether the segment of `len` bytes from `seq`, which was just sent, carries PSH. A buffer
    /// sets it once.
    #[inline]
    pub(crate) fn takes_push(&mut self, config: &Config, seq: u64, len: u32) -> bool {
        self.recovery.takes_push() || self.tcb.asks_alone(config, seq, u64::from(len))
    }

    /// Like [`Self::poll_transmit`], for segments with timestamps; also returns whether the segment
    /// carries PSH.
    #[inline(always)]
    pub(crate) fn poll_stamped(&mut self, at: At<'_>) -> Option<(u64, NonZeroU32, bool, bool)> {
        let Self { recovery, tcb } = self;
        let Recovery::Rack(rack) = recovery else {
            let (seq, len, more) = self.poll_apart(at)?;
            return Some((seq, len, more, self.tcb.asks_alone(at.config, seq, len.get().into())));
        };
        let ((seq, len), more) = rack.poll(tcb, at)?;
        let asks = rack.buffer.takes_push() || tcb.asks_alone(at.config, seq, len.into());
        Some((seq, NonZeroU32::new(len)?, more, asks))
    }

    #[inline(never)]
    fn poll_apart(&mut self, at: At<'_>) -> SentSegment {
        let peer_window = self.tcb.peer_window(at.config);
        self.poll_transmit(at, peer_window)
    }

    /// Sends the next segment now, limited by `peer_window`. Returns its first sequence number and
    /// its length, and whether there may be more.
    // Inlined, with rare cases as calls: most sent segments take this path.
    #[inline(always)]
    pub(crate) fn poll_transmit(&mut self, at: At<'_>, peer_window: u64) -> SentSegment {
        let Self { recovery, tcb } = self;
        if let Recovery::Rack(rack) = recovery {
            return some_data(rack.poll_otherwise(tcb, at, peer_window)?, true);
        }
        let is_open = matches!(tcb.phase, Phase::Open { dup_acks: 0, .. });
        if !is_open && let Ok(sent) = recovery.poll_in_disorder(tcb, at) {
            return some_data(sent?, true);
        }
        let unsent = tcb.written - tcb.snd_nxt;
        if unsent == 0 {
            return None;
        }
        let flight_size = tcb.flight_size();
        if flight_size == 0 {
            tcb.restart_if_idle(at);
        }
        let window = if is_open {
            tcb.window.cwnd.min(peer_window)
        } else {
            tcb.send_window(at.config, peer_window)
        };
        let room = window.saturating_sub(flight_size);
        let mss = u64::from(at.config.mss);
        let len = tcb.longest(mss, unsent).min(room);
        if len == 0 || (len < mss && len < unsent && (flight_size > 0 || tcb.is_silly(len))) {
            // RFC 9293 section 3.8.6.2.1: send a full-sized segment, or everything there is. Its
            // override timer is not needed while data is in flight, because the ACK of that data
            // opens the window.
            return None;
        }
        let (seq, len_u32) = tcb.transmit(at, len);
        let (unsent, room) = (unsent - len, room - len);
        let more = unsent > 0 && room >= unsent.min(mss);
        Some((seq, NonZeroU32::new(len_u32)?, more))
    }
}

/// Returns a segment, which always has data. The nonzero type lets it be returned in registers.
#[inline(always)]
fn some_data((seq, len): SentBytes, more: bool) -> SentSegment {
    Some((seq, NonZeroU32::new(len)?, more))
}

#[cfg(test)]
mod tests;
