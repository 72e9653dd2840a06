//! What happens to a data frame that is sent without contention: received or lost, acknowledged or
//! to be retransmitted.

use airtcp_kernel::Time;

use super::Polled;
use crate::events::{MacEvent, Supply};
use crate::exchange::desk::loses;
use crate::exchange::{Air, Originator, Play};
use crate::station::ContenderId;

impl<P: Clone, S: Supply<P>> Play<'_, P, Polled, S> {
    /// Releases the frame of `by`, which has been acknowledged.
    pub(super) fn acknowledged_without_contention(&mut self, by: ContenderId, now: Time) {
        let originator = &mut self.air.originators[by as usize];
        if let Some(psdu) = &mut originator.psdu {
            self.supply.acknowledged(now, by, psdu.only());
            originator.release();
            self.air.counters.contention_free_successes += 1;
            self.air.contention.succeeded_without_contention(by);
        }
    }

    /// Counts a failure of `by`'s frame, which is retransmitted later or given up.
    pub(super) fn failed_without_contention(&mut self, by: ContenderId, now: Time) {
        let retry = self.air.retry(by);
        self.air.contention.failed_without_contention(by, retry);
        self.after_failure(by, retry, now);
    }
}

impl<P: Clone> Air<P> {
    /// Draws whether the frame of `by` is lost by an error.
    pub(super) fn loses_held(&mut self, by: ContenderId) -> bool {
        let Originator { station, psdu: Some(psdu), .. } = &mut self.originators[by as usize]
        else {
            return false;
        };
        !self.is_perfect
            && loses(&mut self.errors, &self.roles, &self.frames, *station, psdu.only())
    }
}

impl<P: Clone, E, S: Supply<P>> Play<'_, P, E, S> {
    pub(super) fn tell_of_cf_loss(&mut self, by: ContenderId, now: Time) {
        if let Some(psdu) = self.air.originators[by as usize].frames() {
            // No separate time was reserved for a response.
            self.supply.on_event(now, MacEvent::Lost { by, psdu, answer: (now, now) });
        }
    }

    /// Receives the data frame of `by`, unless it is a duplicate because only its acknowledgment
    /// was lost.
    pub(super) fn received_without_contention(&mut self, by: ContenderId, now: Time) {
        if let Some(psdu) = &mut self.air.originators[by as usize].psdu {
            let mpdu = psdu.only();
            if !mpdu.is_received {
                mpdu.is_received = true;
                self.supply.on_event(now, MacEvent::Received { by, mpdu, came: None });
            }
        }
    }
}
