//! How the sender reacts to congestion or losses that are not signaled by ACKs: ECN marks (RFC
//! 3168), and frames that its own MAC gives up (Gopal, Paul and Raychaudhuri 2004, section V).
//!
//! The segment of a given-up frame is retransmitted at once, behind what is already queued, and the
//! window falls as in a fast retransmit or stays. Segments queued behind it arrive first and
//! trigger duplicate ACKs. These say nothing new, so no fast retransmit follows until everything
//! sent by then is acknowledged. Another loss in that window waits for the timer, except with
//! [`Recovery::Rack`], which detects losses by send times.

use super::Sender;
use super::recovery::Recovery;
use super::tcb::Phase;
use crate::{At, Block};

impl Sender {
    /// Called when the MAC has given up a frame with the numbers of `block`. Returns what to
    /// retransmit now, unless it is retransmitted anyway.
    #[cold]
    pub(crate) fn on_given_up(
        &mut self,
        at: At<'_>,
        block: Block,
        keeps_window: bool,
    ) -> Option<Block> {
        let tcb = &mut self.tcb;
        // The data may have arrived and only the MAC's ACKs were lost.
        let start = block.start.max(tcb.snd_una);
        if start >= block.end {
            return None;
        }
        if let Recovery::Rack(rack) = &mut self.recovery {
            rack.lose_given_up(tcb, at, Block { start, ..block }, keeps_window);
            return None;
        }
        match tcb.phase {
            Phase::Open { .. } => {
                // Once for everything in flight when the window last fell.
                if !keeps_window && start > tcb.recover.max(tcb.reduced().saturating_sub(1)) {
                    self.reduce_at_once(at);
                }
                // One less than `snd_max`, so that the first segment after it can be found lost.
                self.tcb.recover = self.tcb.snd_max - 1;
            }
            // Go-back-N retransmits it when the window reaches it.
            Phase::Loss { .. } if start >= tcb.snd_nxt => return None,
            Phase::Loss { .. } | Phase::FastRecovery { .. } => {}
        }
        Some(Block { start, end: block.end })
    }

    /// Retransmits what the MAC has given up.
    #[cold]
    pub(crate) fn resend(&mut self, at: At<'_>, block: Block) -> (u64, u32) {
        if block.start == self.tcb.snd_una {
            // RFC 6298 (5.6): restart the timer with the retransmission.
            self.tcb.stop_timer();
        }
        self.tcb.retransmit(at, block)
    }

    /// Processes an ECN-Echo (RFC 3168 section 6.1.2), at most once per window: reduces the window
    /// as a loss does, without a retransmission. Returns false if the window was already reduced
    /// since the acknowledged data was sent, because "TCP should not react to congestion
    /// indications more than once every window of data".
    #[cold]
    pub(crate) fn on_congestion_echo(&mut self, at: At<'_>, ack: u64) -> bool {
        let tcb = &self.tcb;
        let is_reduced = ack > tcb.reduced().max(tcb.recover) && tcb.is_open();
        if is_reduced {
            self.reduce_at_once(at);
        }
        is_reduced
    }

    /// Reduces the window as after a loss, once for everything in flight, without a retransmission.
    fn reduce_at_once(&mut self, at: At<'_>) {
        let Self { tcb, recovery } = self;
        let Phase::Open { limited_transmit, .. } = tcb.phase else { return };
        tcb.end_reduction();
        tcb.rare.get_or_insert_default().reduced = tcb.snd_max;
        // RFC 5681 section 3.2, step 2: segments of limited transmit do not count in FlightSize.
        let told = tcb.part_of(at.config, recovery.in_network(tcb) - limited_transmit);
        tcb.shrink(at, told);
        recovery.reduce_for_mark(tcb);
    }
}
