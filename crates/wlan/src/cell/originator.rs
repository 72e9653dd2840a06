//! What the MAC holds of one queue: the frame that it sends, and how many there were.

use airtcp_kernel::{Duration, Time};

use super::Supply;
use crate::frame::{Mpdu, Msdu, Psdu};
use crate::sequence::dcf::FrameTable;
use crate::station::{ContenderId, StationId};

/// The sending side of one queue: what the MAC holds of it.
#[derive(Debug)]
pub(super) struct Originator<P> {
    pub(super) station: StationId,
    pub(super) txop_limit: Duration,
    /// On the air, or to be sent again, before anything else that the queue has.
    pub(super) psdu: Option<Psdu<P>>,
    /// The number of the next frame: how many were handed over.
    pub(super) next_id: u64,
    /// How many of them were acknowledged or given up.
    pub(super) done: u64,
}

impl<P> Originator<P> {
    /// Its queue has got at the medium at `now`, and hands a frame over unless one is held already.
    /// What is held then.
    #[inline(always)]
    pub(super) fn hold<S: Supply<P>>(
        &mut self,
        by: ContenderId,
        now: Time,
        frames: &FrameTable,
        supply: &mut S,
    ) -> &Psdu<P> {
        if self.psdu.is_none() {
            supply.next(by, now, |_| true, |msdu| self.take(msdu, frames));
        }
        self.psdu.as_ref().expect("who contends has a frame")
    }

    /// Holds a frame that its queue has handed over.
    #[inline(always)]
    pub(super) fn take(&mut self, msdu: Msdu<P>, frames: &FrameTable) {
        self.psdu = Some(Psdu::from(Mpdu {
            id: self.next_id,
            receiver: msdu.receiver,
            bits: frames.mpdu_bits(msdu.bits),
            is_further: false,
            failures: 0,
            failures_after_rts: 0,
            is_received: false,
            payload: msdu.payload,
        }));
        self.next_id += 1;
    }
}
