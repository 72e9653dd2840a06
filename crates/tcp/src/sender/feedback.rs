//! What the sender does when the MAC below it tells of a frame given up: Gopal, Paul and Raychaudhuri 2004,
//! section V.
//!
//! The segment in it is sent again at once, behind what waits already, and the window falls as after a fast
//! retransmit or stays. What was queued behind the segment arrives before it, and is answered by duplicate
//! ACKs: they tell nothing new, so no fast retransmit follows until all is acknowledged that had been sent by then. A
//! loss elsewhere in that window waits for the timer, but with [`Variant::Rack`](crate::Variant), which
//! tells by the times of segments what is lost.

use airtcp_kernel::Time;

use super::{Phase, Sender};
use crate::{Block, Config};

impl Sender {
    /// The MAC has given up a frame with the numbers of `block`. What is to be sent again now, if it does not
    /// go again anyway.
    #[cold]
    pub(crate) fn on_given_up(
        &mut self,
        config: &Config,
        now: Time,
        block: Block,
        keeps_window: bool,
    ) -> Option<Block> {
        // Its data may have arrived, and only the MAC's own acknowledgments were lost.
        let start = block.start.max(self.snd_una);
        if start >= block.end {
            return None;
        }
        if self.rack.is_some() {
            self.lose_given_up(config, now, Block { start, ..block }, keeps_window);
            return None;
        }
        match self.phase {
            Phase::Open { .. } => {
                // Once for all that was under way when the window last fell.
                if !keeps_window && start > self.recover.max(self.reduced().saturating_sub(1)) {
                    self.reduce_at_once(config, now);
                }
                // One less than what follows, so that the first segment after it may be found lost.
                self.recover = self.snd_max - 1;
            }
            // It goes again when the window reaches it: go-back-N.
            Phase::Loss { .. } if start >= self.snd_nxt => return None,
            Phase::Loss { .. } | Phase::FastRecovery { .. } => {}
        }
        Some(Block { start, end: block.end })
    }

    /// What was given up, again.
    #[cold]
    pub(crate) fn resend(&mut self, config: &Config, now: Time, block: Block) -> (u64, u32) {
        if block.start == self.snd_una {
            // RFC 6298 (5.6): the timer starts with the retransmission.
            self.stop_timer();
        }
        self.retransmit(config, now, block)
    }
}
