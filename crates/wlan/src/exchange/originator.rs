//! The frame that the MAC holds of one queue, and counts of frames.

use airtcp_kernel::{Duration, Time};

use super::roles::Roles;
use crate::contention::{ContenderConfig, Retry};
use crate::events::{Began, MacEvent, Supply};
use crate::frame::{Frames, Mpdu, Msdu, Ppdu, Psdu};
use crate::sequence::dcf::FrameTable;
use crate::station::{ContenderId, StationId};

/// Times of an exchange from its start: when its first frame has been sent, when the receiver has
/// the data frame, and the total duration.
#[derive(Clone, Copy, Debug)]
pub(super) struct Milestones {
    pub(super) sent: Duration,
    pub(super) received: Duration,
    pub(super) total: Duration,
}

/// The sending side of one queue. Aligned to a cache line.
#[derive(Debug)]
#[repr(align(64))]
pub(crate) struct Originator<P> {
    pub(crate) station: StationId,
    pub(crate) txop_limit: Duration,
    /// On the air or to be retransmitted, before anything else of the queue.
    pub(crate) psdu: Option<Psdu<P>>,
    /// The number of the next frame, which is the number of frames dequeued so far.
    pub(crate) next_id: u64,
    /// The number of frames acknowledged or given up.
    pub(crate) done: u64,
}

impl<P> Originator<P> {
    /// Creates the sending side of a queue; nothing is held.
    pub(crate) fn new(contender: &ContenderConfig) -> Self {
        let txop_limit = contender.access.txop_limit;
        Self { station: contender.station, txop_limit, psdu: None, next_id: 0, done: 0 }
    }

    /// Starts an undisturbed exchange at `start` with the held frame, or with the next one of the
    /// queue. The caller decides what follows.
    // Inlined with its callees, so that a frame is copied only once, from its queue to where it is
    // held.
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

    /// Returns the held frames.
    pub(crate) fn frames(&self) -> Option<Frames<'_, P>> {
        self.psdu.as_ref().map(Psdu::frames)
    }

    /// Counts one more failure of the held frame. Returns whether it may be retransmitted; it may
    /// be sent `limit` times in all (IEEE Std 802.11-2020, 10.3.4.4).
    pub(crate) fn retry(&mut self, limit: u16) -> Retry {
        let psdu = self.psdu.as_mut().expect("who sends has a frame");
        for mpdu in psdu.mpdus_mut() {
            mpdu.failures += 1;
        }
        // All frames of a PSDU that was sent as a whole failed; the first has failed most often.
        if psdu.mpdus()[0].failures < limit { Retry::Again } else { Retry::Dropped }
    }

    /// Handles [`Self::retry`] for a frame whose RTS succeeded; it has its own limit.
    pub(crate) fn retry_after_rts(&mut self, limit: u16) -> Retry {
        let psdu = self.psdu.as_mut().expect("who sends has a frame");
        let mut failures = 0;
        for mpdu in psdu.mpdus_mut() {
            mpdu.failures_after_rts += 1;
            failures = failures.max(mpdu.failures_after_rts);
        }
        if failures < limit { Retry::Again } else { Retry::Dropped }
    }

    /// Gives up the held frame, if any.
    pub(crate) fn give_up<S: Supply<P>>(&mut self, by: ContenderId, now: Time, supply: &mut S) {
        let Some(psdu) = self.psdu.take() else { return };
        for mpdu in psdu.mpdus() {
            self.done += 1;
            supply.on_event(now, MacEvent::GivenUp { by, mpdu });
        }
    }

    /// Releases the held frame, which is acknowledged.
    #[inline]
    pub(crate) fn release(&mut self) {
        self.done += 1;
        // It has one frame, so that no memory has to be freed.
        std::mem::forget(self.psdu.take());
    }

    /// Takes a frame from the queue, which won access at `now`, unless one is already held. Returns
    /// the held frame.
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
            supply.next(by, None, now, |_, _| true, |msdu| self.take(msdu, headers));
        }
        Psdu::only_of(&mut self.psdu)
    }

    /// Holds a dequeued packet with `headers` bits of headers.
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
        // Nothing was held. Skipping the destructor saves a copy of the frame.
        std::mem::forget(held);
        self.next_id += 1;
    }

    /// Takes the next frame if its exchange fits into `left` of a TXOP. Returns whether it fits.
    #[inline(always)]
    pub(crate) fn takes_what_fits<S: Supply<P>>(
        &mut self,
        by: ContenderId,
        now: Time,
        left: Duration,
        (frames, roles): (&mut FrameTable, &Roles),
        supply: &mut S,
    ) -> bool {
        let (station, headers) = (self.station, frames.mpdu_bits(0));
        let fits = |receiver, bits| {
            frames.times(roles.rate_class(station, receiver), headers + bits).total <= left
        };
        supply.next(by, None, now, fits, |msdu| self.take(msdu, headers))
    }
}
