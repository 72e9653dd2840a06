//! Loss recovery with SACK: RFC 6675 sections 5 and 5.1, and limited transmit based on its pipe.
//!
//! The [`scoreboard`](crate::scoreboard) tracks sequence numbers; this file queries it and sends
//! segments accordingly.

use super::SentData;
use super::reno::{enter_fast_recovery, on_timeout};
use super::tcb::{Phase, Tcb};
use crate::scoreboard::{DUP_THRESH, Scoreboard};
use crate::{At, Block, Config};

/// The state of RFC 6675.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sack {
    /// The data that the other end holds; `None` before the first SACK block and after everything
    /// was acknowledged.
    scoreboard: Option<Box<Scoreboard>>,
}

impl Sack {
    /// Whether the scoreboard is needed to interpret an ACK.
    #[inline]
    pub(super) fn is_needed(&self) -> bool {
        self.scoreboard.is_some()
    }

    /// Processes an ACK with SACK blocks, or a later one while the scoreboard is needed.
    #[cold]
    pub(super) fn on_ack(&mut self, tcb: &mut Tcb, at: At<'_>, ack: u64, sacked: &[Block]) {
        if ack > tcb.snd_max {
            return;
        }
        let una = tcb.snd_una.max(ack);
        let scoreboard = self.scoreboard_mut();
        scoreboard.advance(una);
        let has_news = scoreboard.update(una, tcb.snd_max, sacked);
        let was_open = tcb.is_open();
        if ack > tcb.snd_una {
            tcb.on_new_ack(at, ack, |tcb, _, _| self.on_ack_in_fast_recovery(tcb));
        }
        // Section 2: news in the SACK blocks makes an ACK a duplicate, "even if it ... moves the
        // cumulative acknowledgment point".
        if has_news && was_open {
            self.on_dup_ack(tcb, at);
        }
        if tcb.phase == Phase::NO_DUP_ACKS && self.scoreboard_mut().is_empty() {
            self.scoreboard = None;
        }
    }

    /// Processes an ACK of new data in fast recovery. Returns whether to restart the retransmission
    /// timer.
    pub(super) fn on_ack_in_fast_recovery(&self, tcb: &mut Tcb) -> bool {
        // A loss that is still on the scoreboard will be detected again.
        if tcb.snd_una >= tcb.recover {
            tcb.phase = Phase::NO_DUP_ACKS;
            tcb.window.deflate();
        }
        true
    }

    /// Processes an expiry of the retransmission timer.
    pub(super) fn on_timeout(&mut self, tcb: &mut Tcb, at: At<'_>) {
        // A recovery lasts as long as a hole is open, and all data that arrives beyond the hole
        // counts in FlightSize, which soon is several windows. RFC 5681 means the data in the
        // network, which cwnd limits.
        let most = if self.is_needed() { tcb.window.cwnd } else { u64::MAX };
        on_timeout(tcb, at, most);
        if let Some(scoreboard) = &mut self.scoreboard {
            // RFC 2018 section 8, which RFC 6675 section 5.1 retains: the receiver may have
            // discarded data that it had SACKed.
            scoreboard.clear();
        }
    }

    /// Retransmits the segment at SND.UNA, whatever the window: section 5, step (4.3). It leaves
    /// out data that the other end holds.
    #[cold]
    pub(super) fn retransmit_first(&mut self, tcb: &mut Tcb, at: At<'_>) -> (u64, u32) {
        let (start, end) = (tcb.snd_una, tcb.snd_max.min(tcb.snd_una + u64::from(at.config.mss)));
        let scoreboard = self.scoreboard_mut();
        let end = scoreboard.end_of_hole(start).unwrap_or(end).min(end);
        scoreboard.begin_recovery(end);
        tcb.retransmit(at, Block { start, end })
    }

    /// Sends the next segment while the scoreboard is needed: after a duplicate ACK, and until a
    /// recovery ends.
    #[cold]
    pub(super) fn poll(&mut self, tcb: &mut Tcb, at: At<'_>) -> SentData {
        match tcb.phase {
            Phase::Open { .. } if self.has_room(tcb, at.config) => send_unsent(tcb, at),
            Phase::FastRecovery { .. } if self.has_room(tcb, at.config) => self.send_next(tcb, at),
            Phase::Open { .. } | Phase::FastRecovery { .. } => None,
            Phase::Loss { .. } => self.fill_hole(tcb, at),
        }
    }

    /// Processes a duplicate ACK. Section 5: steps (1) and (2), and (4) if one of them finds a
    /// loss.
    fn on_dup_ack(&mut self, tcb: &mut Tcb, at: At<'_>) {
        let smss = u64::from(at.config.mss);
        let is_lost = self.scoreboard_mut().is_lost(tcb.snd_una, smss);
        let flight_size = tcb.flight_size();
        if tcb.snd_una < tcb.recover {
            // The segment that the MAC has given up is already being retransmitted.
            return;
        }
        if let Phase::Open { dup_acks, limited_transmit } = &mut tcb.phase {
            *dup_acks = dup_acks.saturating_add(1);
            if *dup_acks >= DUP_THRESH || is_lost {
                // Step (4.2): segments of limited transmit do not count in FlightSize.
                let flight_size = (flight_size - *limited_transmit).min(tcb.window.cwnd);
                enter_fast_recovery(tcb, at, flight_size, true);
                tcb.window.deflate();
            }
        }
    }

    /// Whether a segment may be sent. Steps (3.3) and (C): "if cwnd - pipe >= 1 SMSS".
    fn has_room(&mut self, tcb: &Tcb, config: &Config) -> bool {
        let smss = u64::from(config.mss);
        let pipe = self.scoreboard_mut().pipe(tcb.snd_una, tcb.snd_max, smss);
        tcb.window.cwnd >= pipe.saturating_add(smss)
    }

    /// Sends the segment that NextSeg() of section 4 selects.
    fn send_next(&mut self, tcb: &mut Tcb, at: At<'_>) -> SentData {
        let smss = u64::from(at.config.mss);
        let (una, max, recover) = (tcb.snd_una, tcb.snd_max, tcb.recover);
        if let Some(lost) = self.scoreboard_mut().next_lost(una, smss) {
            return Some(self.send_again(tcb, at, lost));
        }
        if let Some(sent) = send_unsent(tcb, at) {
            return Some(sent);
        }
        if let Some(hole) = self.scoreboard_mut().next_hole(una, smss) {
            return Some(self.send_again(tcb, at, hole));
        }
        // Rule (4): "HighRxt MUST NOT be updated".
        let end = self.scoreboard_mut().rescue(una, max, smss, recover)?;
        Some(tcb.retransmit(at, end))
    }

    /// Retransmits a hole: step (C.2).
    fn send_again(&mut self, tcb: &mut Tcb, at: At<'_>, hole: Block) -> (u64, u32) {
        self.scoreboard_mut().raise_high_rxt(hole.end);
        tcb.retransmit(at, hole)
    }

    /// Sends the next segment after a timeout. Section 5.1: go-back-N as without SACK, but skips
    /// data that the other end has SACKed since the timeout.
    fn fill_hole(&mut self, tcb: &mut Tcb, at: At<'_>) -> SentData {
        let (una, next) = (tcb.snd_una, tcb.snd_nxt);
        let scoreboard = self.scoreboard_mut();
        let next = scoreboard.skip(next);
        scoreboard.raise_high_rxt(next);
        let in_flight = scoreboard.retransmitted(una);
        let end = scoreboard.end_of_hole(next).unwrap_or(u64::MAX);
        tcb.snd_nxt = next;
        let wanted = u64::from(at.config.mss).min(end - next).min(tcb.written - next);
        let room = tcb.window.cwnd.saturating_sub(in_flight);
        let room = room.min(tcb.peer_window(at.config).saturating_sub(tcb.flight_size()));
        let len = wanted.min(room);
        let is_silly = len < wanted && in_flight > 0;
        (len > 0 && !is_silly).then(|| tcb.transmit(at, len))
    }

    fn scoreboard_mut(&mut self) -> &mut Scoreboard {
        self.scoreboard.get_or_insert_default()
    }
}

/// Sends "previously unsent data" if the advertised window allows: rule (2). Sent data is between
/// SND.UNA and SND.NXT, so silly window avoidance uses that range.
fn send_unsent(tcb: &mut Tcb, at: At<'_>) -> SentData {
    let unsent = tcb.written - tcb.snd_max;
    let flight_size = tcb.flight_size();
    let room = tcb.peer_window(at.config).saturating_sub(flight_size);
    let mss = u64::from(at.config.mss);
    let len = tcb.longest(mss, unsent).min(room);
    let is_silly = len < mss && len < unsent && (flight_size > 0 || tcb.is_silly(len));
    (len > 0 && !is_silly).then(|| tcb.transmit(at, len))
}
