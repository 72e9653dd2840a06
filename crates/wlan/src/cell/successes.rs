//! Frames that have come through: what follows the MAC ACK.

use airtcp_kernel::Time;

use super::{Cell, OnAir, Supply, rate_class};
use crate::frame::Msdu;
use crate::station::{ContenderId, StationId};

impl<P: Clone> Cell<P> {
    /// The MAC ACK has ended, and something else has happened since the access.
    #[inline(never)]
    pub(super) fn ack_ended<const PLAIN: bool, S: Supply<P>>(
        &mut self,
        by: ContenderId,
        now: Time,
        supply: &mut S,
    ) {
        let originator = &mut self.originators[by as usize];
        let mpdu = originator.psdu.as_mut().expect("it was sent").only();
        let receiver = mpdu.receiver;
        let has_next = supply.acknowledged(now, by, mpdu);
        originator.release();
        self.exchange_succeeded::<PLAIN, S>(by, (receiver, has_next), now, supply);
    }

    /// The sender has the MAC ACK of `receiver`, and its frame is released; its queue `has_next`.
    #[inline(always)]
    pub(super) fn exchange_succeeded<const PLAIN: bool, S: Supply<P>>(
        &mut self,
        by: ContenderId,
        (receiver, mut has_next): (StationId, bool),
        now: Time,
        supply: &mut S,
    ) {
        if !PLAIN && self.txop.is_open(now) {
            self.txop_was_for(receiver);
            if self.continues_txop(by, now, supply) || self.ends_early(by, now, supply) {
                return;
            }
            has_next = supply.has_next(by);
        }
        let has_frame = has_next || !PLAIN && self.beacons.is_due(by);
        self.contention.end_success_in::<PLAIN>(by, now, has_frame);
        self.set_on_air_in::<PLAIN>(OnAir::Silence, self.contention.next_access_in::<PLAIN>());
    }

    /// Begins one more exchange in the same TXOP, if there is a frame for which there is time
    /// (IEEE Std 802.11-2020, 10.23.2.8). A beacon has a TXOP of its own.
    #[cold]
    fn continues_txop<S: Supply<P>>(&mut self, by: ContenderId, now: Time, supply: &mut S) -> bool {
        if self.beacons.is_due(by) {
            return false;
        }
        let start = now + self.frames.phy().sifs;
        let station = self.originators[by as usize].station;
        let (frames, classes, txop) = (&mut self.frames, &self.rate_classes, self.txop);
        let fits = |msdu: &Msdu<P>| {
            let bits = frames.mpdu_bits(msdu.bits);
            let times = frames.times(rate_class(classes, station, msdu.receiver), bits);
            txop.has_room(start, times.total)
        };
        let mut next = None;
        supply.next(by, now, fits, |msdu| next = Some(msdu));
        let Some(msdu) = next else { return false };
        self.originators[by as usize].take(msdu, &self.frames);
        self.contention.continue_txop(by);
        self.sends_in_txop(by, start, supply);
        true
    }
}
