//! Exchanges of one frame and its MAC ACK, perhaps after RTS and CTS (IEEE Std 802.11-2020, 10.3).
//!
//! There is no aggregation. In a plain cell (`PLAIN`) there are no TXOPs and beacons either.

use airtcp_kernel::Time;

use super::{Exchange, OnAir, Play};
use crate::events::Supply;
use crate::frame::Psdu;
use crate::station::ContenderId;

/// The exchange logic of a cell under the DCF or EDCA without aggregation.
#[derive(Debug)]
pub(crate) struct Single<const PLAIN: bool>;

impl<P: Clone, const PLAIN: bool> Exchange<P> for Single<PLAIN> {
    const PLAIN: bool = PLAIN;
}

impl<P: Clone, E: Exchange<P>, S: Supply<P>> Play<'_, P, E, S> {
    /// Processes the MAC ACK for the frame of `by`; returns as [`Self::exchange_succeeded`].
    #[inline(always)]
    pub(super) fn takes_ack(&mut self, by: ContenderId, now: Time) -> Option<Time> {
        let originator = &mut self.air.originators[by as usize];
        let mpdu = Psdu::only_of(&mut originator.psdu);
        let receiver = mpdu.receiver;
        let has_next = self.supply.acknowledged(now, by, mpdu);
        originator.release();
        self.exchange_succeeded(by, (receiver, has_next), now)
    }

    /// Waits for the missing response to the data frame of `by`, which would end at `end`. The
    /// frame ended at `now` and was not received.
    #[cold]
    pub(super) fn data_lost(&mut self, by: ContenderId, now: Time, end: Time) {
        self.air.medium.begin_alone(by, now);
        self.air.set_on_air(OnAir::Unanswered { by }, end);
        self.tell_of_loss(by, end);
    }
}
