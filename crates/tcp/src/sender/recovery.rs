//! Loss recovery without SACK: RFC 5681 section 3.2 (Reno) and RFC 6582 (NewReno).
//!
//! Knows how duplicate ACKs reveal a loss and what happens to the window until it is repaired: the
//! inflation by duplicate ACKs is a count of what has left the network, not growth. What a loss
//! leaves is the [controller](crate::congestion)'s answer.

use airtcp_kernel::Time;

use super::{Phase, Sender};
use crate::congestion::{Controller, Moment, Window};
use crate::scoreboard::DUP_THRESH;
use crate::{Block, Config, LossWindow, Variant};

impl Sender {
    #[cold]
    pub(super) fn on_dup_ack(&mut self, config: &Config, now: Time) {
        match &mut self.phase {
            // RFC 6675 section 2: there a duplicate has a SACK block with something new in it.
            _ if config.variant == Variant::Sack => {}
            Phase::Open { dup_acks, limited_transmit } => {
                *dup_acks = dup_acks.saturating_add(1);
                // RFC 5681 section 3.2, step 2: what limited transmit sent is not in FlightSize.
                let beyond = *limited_transmit;
                // RFC 6582 section 3.2, step 2: only if the cumulative acknowledgment covers more
                // than `recover`. Otherwise the duplicates come from what was sent twice.
                if *dup_acks == DUP_THRESH && self.snd_una > self.recover {
                    let flight_size = self.flight_size() - beyond;
                    self.enter_fast_recovery(config, now, flight_size);
                }
            }
            Phase::FastRecovery { .. } => self.window.inflate(config),
            // Until all that was sent before the timeout is acknowledged, duplicates tell nothing.
            Phase::Loss { .. } => {}
        }
    }

    /// A loss is found, with `flight_size` bytes outstanding that limited transmit has not sent.
    pub(super) fn enter_fast_recovery(&mut self, config: &Config, now: Time, flight_size: u64) {
        self.counters.fast_retransmits += 1;
        let flight_size = match config.rules.loss_window {
            LossWindow::FlightSize => flight_size,
            LossWindow::Cwnd => self.window_to_halve(config),
        };
        self.phase = Phase::FastRecovery { resend: true, partial_acks: 0 };
        if config.variant != Variant::Reno || config.rules.fast_retransmit_once_per_window {
            self.recover = self.snd_max;
        }
        if !self.was_reduced() {
            let moment = Moment { config, now, rtt: &self.rtt };
            self.controller.on_loss(&mut self.window, &moment, flight_size);
        }
        if config.variant == Variant::Sack {
            self.window.deflate();
        } else {
            self.window.set_out(config);
        }
    }

    /// The other end has told of a mark (RFC 3168 section 6.1.2), for the first time in a window: as much is left as of
    /// a loss, and nothing is sent again. Returns whether the window was reduced: not if it was already since
    /// what is acknowledged was sent, for "TCP should not react to congestion indications more than once every
    /// window of data".
    #[cold]
    pub(crate) fn on_congestion_echo(&mut self, config: &Config, now: Time, ack: u64) -> bool {
        let is_news = ack > self.reduced().max(self.recover);
        let is_open = matches!(self.phase, Phase::Open { .. });
        if is_news && is_open {
            self.reduce_at_once(config, now);
        }
        is_news && is_open
    }

    /// The window falls as after a loss, once for all that is under way, and nothing is sent again for it.
    pub(super) fn reduce_at_once(&mut self, config: &Config, now: Time) {
        let Phase::Open { limited_transmit, .. } = self.phase else { return };
        self.end_reduction();
        self.rare.get_or_insert_default().reduced = self.snd_max;
        // RFC 5681 section 3.2, step 2: what limited transmit sent is not in FlightSize.
        let told = self.part_of(config, self.in_network() - limited_transmit);
        let moment = Moment { config, now, rtt: &self.rtt };
        self.controller.on_loss(&mut self.window, &moment, told);
        if self.rack.is_some() {
            self.begin_reduction();
        } else {
            self.window.cwnd = self.window.cwnd.min(self.window.ssthresh);
        }
    }

    /// The number after the highest one sent when a mark last reduced the window; 0: none has.
    #[inline]
    pub(super) fn reduced(&self) -> u64 {
        self.rare.as_ref().map_or(0, |rare| rare.reduced)
    }

    /// Whether a mark has reduced the window since the oldest segment under way was sent: its loss is of the same
    /// window then.
    pub(super) fn was_reduced(&self) -> bool {
        self.snd_una < self.reduced()
    }

    /// Returns whether the retransmission timer starts anew.
    pub(super) fn on_ack_in_fast_recovery(
        &mut self,
        config: &Config,
        acked: u64,
        partial_acks: u32,
    ) -> bool {
        match config.variant {
            // A loss that is still on the scoreboard then reveals itself again.
            Variant::Sack if self.snd_una < self.recover => true,
            Variant::Reno | Variant::Sack | Variant::Rack => {
                self.phase = Phase::NO_DUP_ACKS;
                self.window.deflate();
                true
            }
            Variant::NewReno if self.snd_una >= self.recover => {
                self.phase = Phase::NO_DUP_ACKS;
                self.window.on_full_ack(config, self.flight_size());
                true
            }
            Variant::NewReno => {
                self.phase = Phase::FastRecovery { resend: true, partial_acks: partial_acks + 1 };
                self.window.on_partial_ack(config, acked);
                // RFC 6582 section 3.2, step 3: "For the first partial ACK that arrives during fast
                // recovery, also reset the retransmit timer"; of section 4 the Impatient variant.
                partial_acks == 0
            }
        }
    }

    /// The segment at SND.UNA again, whatever the window says: RFC 5681 section 3.2, step 3, and
    /// RFC 6582 section 3.2, step 3.
    #[cold]
    pub(super) fn retransmit_first(&mut self, config: &Config, now: Time) -> (u64, u32) {
        let end = self.snd_max.min(self.snd_una + u64::from(config.mss));
        let mut first = Block { start: self.snd_una, end };
        if let Some(scoreboard) = &mut self.scoreboard {
            // RFC 6675 section 5, step 4.3; what the other end holds is not sent with it.
            first.end = scoreboard.end_of_hole(first.start).unwrap_or(end).min(end);
            scoreboard.begin_recovery(first.end);
        }
        self.retransmit(config, now, first)
    }

    /// FlightSize when the timer expires. With SACK a recovery goes on for as long as a hole stays
    /// open, and all that has arrived beyond it counts in FlightSize: soon several windows. RFC 5681
    /// means what is in the network, and cwnd bounds that.
    pub(super) fn flight_at_timeout(&self) -> u64 {
        let most = if self.scoreboard.is_some() { self.window.cwnd } else { u64::MAX };
        self.flight_size().min(most)
    }

    /// The window of [`LossWindow::Cwnd`], without what duplicate ACKs have added to it in a recovery:
    /// ns-2 keeps that apart.
    pub(super) fn window_to_halve(&self, config: &Config) -> u64 {
        let cwnd = match self.phase {
            Phase::FastRecovery { .. } => self.window.cwnd.min(self.window.ssthresh),
            Phase::Open { .. } | Phase::Loss { .. } => self.window.cwnd,
        };
        cwnd.min(config.receive_window)
    }
}

impl Window {
    /// The beginning of a fast recovery: RFC 5681 section 3.2, step 3. Three segments have left the
    /// network, as three duplicate ACKs say.
    fn set_out(&mut self, config: &Config) {
        self.cwnd = self.ssthresh.saturating_add(3 * u64::from(config.mss));
    }

    /// A further duplicate ACK in fast recovery: a segment has left the network, RFC 5681
    /// section 3.2, step 4.
    fn inflate(&mut self, config: &Config) {
        self.cwnd = self.cwnd.saturating_add(u64::from(config.mss));
    }

    /// The end of Reno's fast recovery: RFC 5681 section 3.2, step 6. That of a recovery with SACK, too,
    /// where `cwnd` has been `ssthresh` all the time: RFC 6675 section 5, step 4.2.
    fn deflate(&mut self) {
        self.cwnd = self.ssthresh;
    }

    /// A partial acknowledgment of `acked` bytes in NewReno's fast recovery: RFC 6582 section 3.2,
    /// step 3. Never below one segment: the RFC has no floor, and a retransmission is not counted.
    fn on_partial_ack(&mut self, config: &Config, acked: u64) {
        let smss = u64::from(config.mss);
        let put_back = if acked >= smss { smss } else { 0 };
        self.cwnd = (self.cwnd.saturating_sub(acked) + put_back).max(smss);
    }

    /// The end of NewReno's fast recovery with `flight_size` bytes still outstanding: RFC 6582
    /// section 3.2, step 3, full acknowledgments, option (1), which sends no burst.
    fn on_full_ack(&mut self, config: &Config, flight_size: u64) {
        let smss = u64::from(config.mss);
        self.cwnd = self.ssthresh.min(flight_size.max(smss) + smss);
    }

    /// `cwnd` falls to one segment: the loss window of RFC 5681 section 3.1, which is also the initial
    /// window if the SYN or its answer was lost.
    pub(crate) fn collapse(&mut self, config: &Config) {
        self.cwnd = u64::from(config.mss);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fast_recovery_adds_what_has_left_the_network_and_takes_it_back() {
        let config = Config::standard();
        let mut window = Window { cwnd: 50_000, ssthresh: 10_000 };

        window.set_out(&config);
        assert_eq!(window.cwnd, 13_000);
        window.inflate(&config);
        assert_eq!(window.cwnd, 14_000);
        window.deflate();
        assert_eq!(window.cwnd, 10_000);
    }

    #[test]
    fn a_partial_ack_takes_what_it_acknowledges_and_puts_one_segment_back() {
        let config = Config::standard();
        let mut window = Window { cwnd: 8000, ssthresh: 4000 };

        window.on_partial_ack(&config, 3000);
        assert_eq!(window.cwnd, 6000);
        window.on_partial_ack(&config, 1000);
        assert_eq!(window.cwnd, 6000);
        window.on_partial_ack(&config, 500);
        assert_eq!(window.cwnd, 5500);
        window.on_partial_ack(&config, 50_000);
        assert_eq!(window.cwnd, 1000);
    }

    #[test]
    fn a_full_ack_leaves_no_room_for_a_burst() {
        let config = Config::standard();

        let mut quiet = Window { cwnd: 13_000, ssthresh: 10_000 };
        quiet.on_full_ack(&config, 0);
        assert_eq!(quiet.cwnd, 2000);

        let mut busy = Window { cwnd: 13_000, ssthresh: 10_000 };
        busy.on_full_ack(&config, 12_000);
        assert_eq!(busy.cwnd, 10_000);
    }
}
