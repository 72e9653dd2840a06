//! Loss recovery with SACK: RFC 6675 sections 5 and 5.1, and limited transmit by its pipe.
//!
//! Knows when the scoreboard is asked and what is sent for its answers. What is known of each
//! number, and what follows from that, is in [`scoreboard`](crate::scoreboard).

use airtcp_kernel::Time;

use super::{Phase, Sender};
use crate::scoreboard::{DUP_THRESH, Scoreboard};
use crate::{Block, Config};

impl Sender {
    /// An acknowledgment with SACK blocks, or after others that had some.
    #[cold]
    pub(crate) fn on_selective_ack(
        &mut self,
        config: &Config,
        now: Time,
        ack: u64,
        sacked: &[Block],
    ) {
        if self.rack.is_some() {
            self.on_rack_ack(config, now, ack, sacked);
            return;
        }
        if ack > self.snd_max {
            return;
        }
        let una = self.snd_una.max(ack);
        let scoreboard = self.scoreboard.get_or_insert_default();
        scoreboard.advance(una);
        let has_news = scoreboard.update(una, self.snd_max, sacked);
        let was_open = matches!(self.phase, Phase::Open { .. });
        if ack > self.snd_una {
            self.on_new_ack(config, now, ack);
        }
        // Section 2: news are what makes a duplicate, "even if it ... moves the cumulative
        // acknowledgment point".
        if has_news && was_open {
            self.on_selective_dup_ack(config, now);
        }
        if self.phase == Phase::NO_DUP_ACKS && self.scoreboard_mut().is_empty() {
            self.scoreboard = None;
        }
    }

    /// The next segment while the scoreboard has a say: after a duplicate ACK, and until a recovery
    /// is over.
    #[cold]
    pub(super) fn poll_selective(&mut self, config: &Config, now: Time) -> Option<(u64, u32)> {
        match self.phase {
            Phase::Open { .. } => {
                self.has_room(config).then(|| self.send_unsent(config, now)).flatten()
            }
            Phase::FastRecovery { .. } => {
                self.has_room(config).then(|| self.send_next(config, now)).flatten()
            }
            Phase::Loss { .. } => self.fill_hole(config, now),
        }
    }

    /// Section 5: steps (1) and (2), and (4) if one of them finds a loss.
    fn on_selective_dup_ack(&mut self, config: &Config, now: Time) {
        let smss = u64::from(config.mss);
        let una = self.snd_una;
        let is_lost = self.scoreboard_mut().is_lost(una, smss);
        let flight_size = self.flight_size();
        if self.snd_una < self.recover {
            // What the MAC has given up is on its way again.
            return;
        }
        if let Phase::Open { dup_acks, limited_transmit } = &mut self.phase {
            *dup_acks = dup_acks.saturating_add(1);
            if *dup_acks >= DUP_THRESH || is_lost {
                // Step (4.2): what limited transmit sent is not in FlightSize.
                let flight_size = (flight_size - *limited_transmit).min(self.window.cwnd);
                self.enter_fast_recovery(config, now, flight_size);
            }
        }
    }

    /// Steps (3.3) and (C): "if cwnd - pipe >= 1 SMSS".
    fn has_room(&mut self, config: &Config) -> bool {
        let smss = u64::from(config.mss);
        let (una, max) = (self.snd_una, self.snd_max);
        let pipe = self.scoreboard_mut().pipe(una, max, smss);
        self.window.cwnd >= pipe.saturating_add(smss)
    }

    /// NextSeg() of section 4, and the segment that it names.
    fn send_next(&mut self, config: &Config, now: Time) -> Option<(u64, u32)> {
        let smss = u64::from(config.mss);
        let (una, max, recover) = (self.snd_una, self.snd_max, self.recover);
        if let Some(lost) = self.scoreboard_mut().next_lost(una, smss) {
            return Some(self.send_again(config, now, lost));
        }
        if let Some(sent) = self.send_unsent(config, now) {
            return Some(sent);
        }
        if let Some(hole) = self.scoreboard_mut().next_hole(una, smss) {
            return Some(self.send_again(config, now, hole));
        }
        // Rule (4): "HighRxt MUST NOT be updated".
        let end = self.scoreboard_mut().rescue(una, max, smss, recover)?;
        Some(self.retransmit(config, now, end))
    }

    /// Step (C.2).
    fn send_again(&mut self, config: &Config, now: Time, hole: Block) -> (u64, u32) {
        self.scoreboard_mut().raise_high_rxt(hole.end);
        self.retransmit(config, now, hole)
    }

    /// Rule (2): "previously unsent data", if the advertised window allows. What has been sent is
    /// between SND.UNA and SND.NXT, so that is what a silly window is measured by.
    fn send_unsent(&mut self, config: &Config, now: Time) -> Option<(u64, u32)> {
        let unsent = self.written - self.snd_max;
        let flight_size = self.flight_size();
        let room = self.peer_window(config).saturating_sub(flight_size);
        let mss = u64::from(config.mss);
        let len = self.longest(mss, unsent).min(room);
        let is_silly = len < mss && len < unsent && (flight_size > 0 || self.is_silly(len));
        (len > 0 && !is_silly).then(|| self.transmit(config, now, len))
    }

    /// Section 5.1, after a timeout: go-back-N as without SACK, except that what the other end holds
    /// is passed over. It has told so since the timeout.
    fn fill_hole(&mut self, config: &Config, now: Time) -> Option<(u64, u32)> {
        let (una, next) = (self.snd_una, self.snd_nxt);
        let scoreboard = self.scoreboard_mut();
        let next = scoreboard.skip(next);
        scoreboard.raise_high_rxt(next);
        let in_flight = scoreboard.retransmitted(una);
        let end = scoreboard.end_of_hole(next).unwrap_or(u64::MAX);
        self.snd_nxt = next;
        let wanted = u64::from(config.mss).min(end - next).min(self.written - next);
        let room = self.window.cwnd.saturating_sub(in_flight);
        let room = room.min(self.peer_window(config).saturating_sub(self.flight_size()));
        let len = wanted.min(room);
        let is_silly = len < wanted && in_flight > 0;
        (len > 0 && !is_silly).then(|| self.transmit(config, now, len))
    }

    fn scoreboard_mut(&mut self) -> &mut Scoreboard {
        self.scoreboard.get_or_insert_default()
    }
}
