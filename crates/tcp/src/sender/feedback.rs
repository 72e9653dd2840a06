//! The sender's answers when something else than an acknowledgment tells of congestion or a loss: marks (RFC 3168),
//! and the MAC below it, of a frame given up: Gopal, Paul and Raychaudhuri 2004,
//! section V.
//!
//! The segment in it is sent again at once, behind what waits already, and the window falls as after a fast
//! retransmit or stays. What was queued behind the segment arrives before it, and is answered by duplicate
//! ACKs: they tell nothing new, so no fast retransmit follows until all is acknowledged that had been sent by then. A
//! loss elsewhere in that window waits for the timer, but with [`Recovery::Rack`], which
//! tells by the times of segments what is lost.

use airtcp_kernel::Time;

use super::Sender;
use super::recovery::Recovery;
use super::tcb::Phase;
use crate::{Block, Config};

impl Sender {
    /// Takes word that the MAC has given up a frame with the numbers of `block`. Returns what is to be sent again now,
    /// if it does not go again anyway.
    #[cold]
    pub(crate) fn on_given_up(
        &mut self,
        config: &Config,
        now: Time,
        block: Block,
        keeps_window: bool,
    ) -> Option<Block> {
        let tcb = &mut self.tcb;
        // Its data may have arrived, and only the MAC's own acknowledgments were lost.
        let start = block.start.max(tcb.snd_una);
        if start >= block.end {
            return None;
        }
        if let Recovery::Rack(rack) = &mut self.recovery {
            rack.lose_given_up(tcb, config, now, Block { start, ..block }, keeps_window);
            return None;
        }
        match tcb.phase {
            Phase::Open { .. } => {
                // Once for all that was under way when the window last fell.
                if !keeps_window && start > tcb.recover.max(tcb.reduced().saturating_sub(1)) {
                    self.reduce_at_once(config, now);
                }
                // One less than what follows, so that the first segment after it may be found lost.
                self.tcb.recover = self.tcb.snd_max - 1;
            }
            // It goes again when the window reaches it: go-back-N.
            Phase::Loss { .. } if start >= tcb.snd_nxt => return None,
            Phase::Loss { .. } | Phase::FastRecovery { .. } => {}
        }
        Some(Block { start, end: block.end })
    }

    /// Sends again what was given up.
    #[cold]
    pub(crate) fn resend(&mut self, config: &Config, now: Time, block: Block) -> (u64, u32) {
        if block.start == self.tcb.snd_una {
            // RFC 6298 (5.6): the timer starts with the retransmission.
            self.tcb.stop_timer();
        }
        self.tcb.retransmit(config, now, block)
    }

    /// Takes the other end's word of a mark (RFC 3168 section 6.1.2), for the first time in a window: as much is left
    /// as of a loss, and nothing is sent again. Returns whether the window was reduced: not if it was already since
    /// what is acknowledged was sent, for "TCP should not react to congestion indications more than once every
    /// window of data".
    #[cold]
    pub(crate) fn on_congestion_echo(&mut self, config: &Config, now: Time, ack: u64) -> bool {
        let tcb = &self.tcb;
        let is_reduced = ack > tcb.reduced().max(tcb.recover) && tcb.is_open();
        if is_reduced {
            self.reduce_at_once(config, now);
        }
        is_reduced
    }

    /// Reduces the window as after a loss, once for all that is under way, and sends nothing again for it.
    fn reduce_at_once(&mut self, config: &Config, now: Time) {
        let Self { tcb, recovery } = self;
        let Phase::Open { limited_transmit, .. } = tcb.phase else { return };
        tcb.end_reduction();
        tcb.rare.get_or_insert_default().reduced = tcb.snd_max;
        // RFC 5681 section 3.2, step 2: what limited transmit sent is not in FlightSize.
        let told = tcb.part_of(config, recovery.in_network(tcb) - limited_transmit);
        tcb.shrink(config, now, told);
        recovery.reduce_for_mark(tcb);
    }
}
