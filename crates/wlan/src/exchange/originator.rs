//! The frame that the MAC holds of one queue, and how many there were. Knows nothing of contention.

use airtcp_kernel::{Duration, Time};

use super::roles::Roles;
use crate::contention::{ContenderConfig, Retry};
use crate::events::{Began, MacEvent, Supply};
use crate::frame::{Frames, Mpdu, Msdu, Ppdu, Psdu};
use crate::sequence::dcf::FrameTable;
use crate::station::{ContenderId, StationId};

/// Of an exchange, from its start: when its first frame is sent, when the receiver has the data frame,
/// and how long it lasts.
#[derive(Clone, Copy, Debug)]
pub(super) struct Milestones {
    pub(super) sent: Duration,
    pub(super) received: Duration,
    pub(super) total: Duration,
}

/// The sending side of one queue: what the MAC holds of it. It begins with a cache line.
#[derive(Debug)]
#[repr(align(64))]
pub(crate) struct Originator<P> {
    pub(crate) station: StationId,
    pub(crate) txop_limit: Duration,
    /// On the air, or to be sent again, before anything else that the queue has.
    pub(crate) psdu: Option<Psdu<P>>,
    /// The number of the next frame: how many were handed over.
    pub(crate) next_id: u64,
    /// The number of them that were acknowledged or given up.
    pub(crate) done: u64,
}

impl<P> Originator<P> {
    /// Makes the sending side of a queue of which nothing is held.
    pub(crate) fn new(contender: &ContenderConfig) -> Self {
        let txop_limit = contender.access.txop_limit;
        Self { station: contender.station, txop_limit, psdu: None, next_id: 0, done: 0 }
    }

    /// Begins an exchange at `start`, and nobody else does anything: what it sends is what it holds, or
    /// comes from its queue now. What is next is the caller's to say.
    // Inlined with what it calls, so that a frame is copied from its queue to where it is held, once.
    #[inline(always)]
    pub(super) fn begin<S: Supply<P>>(
        &mut self,
        by: ContenderId,
        start: Time,
        frames: &mut FrameTable,
        roles: &Roles,
        supply: &mut S,
    ) -> (&mut Mpdu<P>, Milestones) {
        let station = self.station;
        let mpdu = self.hold(by, start, frames, supply);
        let class = roles.rate_class(station, mpdu.receiver);
        let times = frames.times(class, mpdu.bits);
        let ppdu = Ppdu::of_one(Frames::only(mpdu), class);
        supply.on_event(start, MacEvent::Began(Began::Exchange { by, times, ppdu }));
        let times =
            Milestones { sent: times.first(), received: times.data_received, total: times.total };
        (mpdu, times)
    }

    /// Returns the frames that it holds.
    pub(crate) fn frames(&self) -> Option<Frames<'_, P>> {
        self.psdu.as_ref().map(Psdu::frames)
    }

    /// Counts one more failure of what it holds. Returns whether it may be sent again, which it may `limit`
    /// times in all (IEEE Std 802.11-2020, 10.3.4.4).
    pub(crate) fn retry(&mut self, limit: u16) -> Retry {
        let psdu = self.psdu.as_mut().expect("who sends has a frame");
        for mpdu in psdu.mpdus_mut() {
            mpdu.failures += 1;
        }
        // Frames of a PSDU that was sent as a whole have failed equally often, the first most.
        if psdu.mpdus()[0].failures < limit { Retry::Again } else { Retry::Dropped }
    }

    /// Does as [`Self::retry`], but for a frame whose RTS got through: it has a limit of its own.
    pub(crate) fn retry_after_rts(&mut self, limit: u16) -> Retry {
        let psdu = self.psdu.as_mut().expect("who sends has a frame");
        let mut failures = 0;
        for mpdu in psdu.mpdus_mut() {
            mpdu.failures_after_rts += 1;
            failures = failures.max(mpdu.failures_after_rts);
        }
        if failures < limit { Retry::Again } else { Retry::Dropped }
    }

    /// Gives up what it holds, if anything.
    pub(crate) fn give_up<S: Supply<P>>(&mut self, by: ContenderId, now: Time, supply: &mut S) {
        let Some(psdu) = self.psdu.take() else { return };
        for mpdu in psdu.mpdus() {
            self.done += 1;
            supply.on_event(now, MacEvent::GivenUp { by, mpdu });
        }
    }

    /// Releases the frame that it holds, which is acknowledged.
    #[inline]
    pub(crate) fn release(&mut self) {
        self.done += 1;
        // As it has one frame, nobody has to ask for memory to be freed.
        std::mem::forget(self.psdu.take());
    }

    /// Takes a frame from its queue, which has got at the medium at `now`, unless one is held already.
    /// Returns the frame that is held then.
    #[inline(always)]
    pub(crate) fn hold<S: Supply<P>>(
        &mut self,
        by: ContenderId,
        now: Time,
        frames: &FrameTable,
        supply: &mut S,
    ) -> &mut Mpdu<P> {
        if self.psdu.is_none() {
            let headers = frames.mpdu_bits(0);
            supply.next(by, now, |_, _| true, |msdu| self.take(msdu, headers));
        }
        Psdu::only_of(&mut self.psdu)
    }

    /// Holds a frame that its queue has handed over, with so many bits of headers.
    #[inline(always)]
    pub(crate) fn take(&mut self, msdu: Msdu<P>, headers: u64) {
        let held = self.psdu.replace(Psdu::from(Mpdu {
            id: self.next_id,
            receiver: msdu.receiver,
            bits: headers + msdu.bits,
            is_further: false,
            failures: 0,
            failures_after_rts: 0,
            is_received: false,
            payload: msdu.payload,
        }));
        debug_assert!(held.is_none(), "one frame at a time is handed over");
        // Nothing was held: that nobody asks whether it has to be freed saves a copy of the frame.
        std::mem::forget(held);
        self.next_id += 1;
    }
}
