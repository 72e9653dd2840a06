//! Loss recovery without SACK: RFC 5681 section 3.2 (Reno) and RFC 6582 (NewReno).
//!
//! Duplicate ACKs reveal a loss. Each one inflates the window until the loss is repaired: that
//! counts a segment that has left the network and is not growth. The
//! [controller](crate::congestion) decides what a loss leaves. The only state is the [`Phase`].

use super::tcb::{Phase, Tcb};
use crate::congestion::Window;
use crate::scoreboard::DUP_THRESH;
use crate::{At, Block, Config, LossWindow};

/// Processes a duplicate ACK.
#[cold]
pub(super) fn on_dup_ack(tcb: &mut Tcb, at: At<'_>, is_newreno: bool) {
    match &mut tcb.phase {
        Phase::Open { dup_acks, limited_transmit } => {
            *dup_acks = dup_acks.saturating_add(1);
            // RFC 5681 section 3.2, step 2: segments of limited transmit do not count in
            // FlightSize.
            let beyond = *limited_transmit;
            // RFC 6582 section 3.2, step 2: only if the cumulative ACK covers more than `recover`.
            // Otherwise the duplicates come from segments that were sent twice.
            if *dup_acks == DUP_THRESH && tcb.snd_una > tcb.recover {
                let flight_size = tcb.flight_size() - beyond;
                let is_once = is_newreno || at.config.rules.fast_retransmit_once_per_window;
                enter_fast_recovery(tcb, at, flight_size, is_once);
                tcb.window.set_out(at.config);
            }
        }
        Phase::FastRecovery { .. } => tcb.window.inflate(at.config),
        // Duplicates mean nothing until everything sent before the timeout is acknowledged.
        Phase::Loss { .. } => {}
    }
}

/// Starts a fast recovery with `flight_size` bytes outstanding, without those of limited transmit.
/// `is_once`: no other one follows until everything sent before is acknowledged.
pub(super) fn enter_fast_recovery(tcb: &mut Tcb, at: At<'_>, flight_size: u64, is_once: bool) {
    tcb.counters.fast_retransmits += 1;
    let told = tcb.part_of(at.config, flight_size);
    tcb.phase = Phase::FastRecovery { resend: true, partial_acks: 0 };
    if is_once {
        tcb.recover = tcb.snd_max;
    }
    if !tcb.was_reduced() {
        tcb.shrink(at, told);
    }
}

/// Processes an ACK of new data in Reno's fast recovery, which ends. Returns whether to restart the
/// retransmission timer.
pub(super) fn on_ack(tcb: &mut Tcb) -> bool {
    tcb.phase = Phase::NO_DUP_ACKS;
    tcb.window.deflate();
    true
}

/// Processes an ACK of new data in NewReno's fast recovery. Returns whether to restart the
/// retransmission timer.
pub(super) fn on_newreno_ack(
    tcb: &mut Tcb,
    config: &Config,
    acked: u64,
    partial_acks: u32,
) -> bool {
    if tcb.snd_una >= tcb.recover {
        tcb.phase = Phase::NO_DUP_ACKS;
        tcb.window.on_full_ack(config, tcb.flight_size());
        return true;
    }
    tcb.phase = Phase::FastRecovery { resend: true, partial_acks: partial_acks + 1 };
    tcb.window.on_partial_ack(config, acked);
    // RFC 6582 section 3.2, step 3: "For the first partial ACK that arrives during fast recovery,
    // also reset the retransmit timer"; this is the Impatient variant of section 4.
    partial_acks == 0
}

/// Retransmits the segment at SND.UNA, whatever the window: RFC 5681 section 3.2, step 3, and RFC
/// 6582 section 3.2, step 3.
#[cold]
pub(super) fn retransmit_first(tcb: &mut Tcb, at: At<'_>) -> (u64, u32) {
    let end = tcb.snd_max.min(tcb.snd_una + u64::from(at.config.mss));
    tcb.retransmit(at, Block { start: tcb.snd_una, end })
}

/// Processes an expiry of the retransmission timer: RFC 5681 section 3.1. FlightSize is at most
/// `most`.
pub(super) fn on_timeout(tcb: &mut Tcb, at: At<'_>, most: u64) {
    tcb.counters.timeouts += 1;
    // RFC 5681 section 3.1: ssthresh falls, unless the timer has already retransmitted this
    // segment.
    let halved = match at.config.rules.loss_window {
        _ if tcb.was_reduced() => None,
        LossWindow::FlightSize => (!tcb.has_sent_head_again()).then(|| tcb.flight_size().min(most)),
        LossWindow::Cwnd => Some(tcb.window_to_halve(at.config)),
    };
    tcb.begin_loss(at, halved);
    // RFC 5681 section 3.1: "after retransmitting the dropped segment the TCP sender uses the slow
    // start algorithm to increase the window from 1 full-sized segment". Everything after the
    // dropped segment counts as lost and is retransmitted as the window opens: go-back-N.
    tcb.snd_nxt = tcb.snd_una;
    // RFC 6298 (5.6): the timer restarts with the retransmission.
    tcb.stop_timer();
}

impl Window {
    /// Starts a fast recovery: RFC 5681 section 3.2, step 3. Three duplicate ACKs mean that three
    /// segments have left the network.
    fn set_out(&mut self, config: &Config) {
        self.cwnd = self.ssthresh.saturating_add(3 * u64::from(config.mss));
    }

    /// Processes a further duplicate ACK in fast recovery: a segment has left the network, RFC 5681
    /// section 3.2, step 4.
    fn inflate(&mut self, config: &Config) {
        self.cwnd = self.cwnd.saturating_add(u64::from(config.mss));
    }

    /// Ends Reno's fast recovery: RFC 5681 section 3.2, step 6. Also ends a recovery with SACK,
    /// during which `cwnd` already equals `ssthresh`: RFC 6675 section 5, step 4.2.
    pub(super) fn deflate(&mut self) {
        self.cwnd = self.ssthresh;
    }

    /// Processes a partial ACK of `acked` bytes in NewReno's fast recovery: RFC 6582 section 3.2,
    /// step 3. The window stays at least one segment: the RFC has no lower limit and does not count
    /// retransmissions.
    fn on_partial_ack(&mut self, config: &Config, acked: u64) {
        let smss = u64::from(config.mss);
        let put_back = if acked >= smss { smss } else { 0 };
        self.cwnd = (self.cwnd.saturating_sub(acked) + put_back).max(smss);
    }

    /// Ends NewReno's fast recovery with `flight_size` bytes outstanding: RFC 6582 section 3.2,
    /// step 3, full acknowledgments, option (1), which avoids a burst.
    fn on_full_ack(&mut self, config: &Config, flight_size: u64) {
        let smss = u64::from(config.mss);
        self.cwnd = self.ssthresh.min(flight_size.max(smss) + smss);
    }

    /// Sets `cwnd` to one segment: the loss window of RFC 5681 section 3.1, which is also the
    /// initial window if the SYN or SYN+ACK was lost.
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
