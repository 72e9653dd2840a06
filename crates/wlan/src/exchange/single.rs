//! Exchanges of one frame and its MAC ACK, perhaps after RTS and CTS (IEEE Std 802.11-2020, 10.3).
//!
//! There is no aggregation. In a plain cell (`PLAIN`) there are no TXOPs and beacons either.

use airtcp_kernel::{Duration, Time};

use super::desk::loses;
use super::{Air, Exchange, Failure, OnAir};
use crate::contention::Retry;
use crate::events::{MacEvent, Supply};
use crate::frame::Psdu;
use crate::station::ContenderId;

/// The exchange logic of a cell under the DCF or EDCA without aggregation.
#[derive(Debug)]
pub(crate) struct Single<const PLAIN: bool>;

impl<P: Clone, const PLAIN: bool> Exchange<P> for Single<PLAIN> {
    const PLAIN: bool = PLAIN;

    #[inline(always)]
    fn gets_medium<S: Supply<P>>(
        &mut self,
        air: &mut Air<P>,
        by: ContenderId,
        now: Time,
        supply: &mut S,
    ) {
        if PLAIN || air.goes_straight {
            air.go_straight(self, by, now, supply);
        } else {
            self.begins(air, by, now, supply);
        }
    }

    #[inline(always)]
    fn assemble<S: Supply<P>>(
        &mut self,
        air: &mut Air<P>,
        by: ContenderId,
        now: Time,
        left: Option<Duration>,
        supply: &mut S,
    ) -> bool {
        if let Some(left) = left {
            return air.desk().takes_what_fits(by, now, left, supply);
        }
        air.originators[by as usize].hold(by, now, &air.frames, supply);
        true
    }

    #[inline(always)]
    fn first_frame<S: Supply<P>>(
        &mut self,
        air: &mut Air<P>,
        by: ContenderId,
        now: Time,
        supply: &mut S,
    ) -> Duration {
        // Looked up once.
        let originator = &mut air.originators[by as usize];
        let station = originator.station;
        let mpdu = originator.hold(by, now, &air.frames, supply);
        let class = air.roles.rate_class(station, mpdu.receiver);
        air.frames.times(class, mpdu.bits).first()
    }

    #[inline]
    fn begins<S: Supply<P>>(
        &mut self,
        air: &mut Air<P>,
        by: ContenderId,
        start: Time,
        supply: &mut S,
    ) {
        let Air { originators, frames, roles, .. } = air;
        let originator = &mut originators[by as usize];
        let (_, times) = originator.begin(by, start, frames, roles, supply);
        air.sends(by, start, times);
    }

    fn arrives<S: Supply<P>>(
        &mut self,
        air: &mut Air<P>,
        by: ContenderId,
        now: Time,
        end: Time,
        supply: &mut S,
    ) {
        let originator = &mut air.originators[by as usize];
        let station = originator.station;
        let mpdu = Psdu::only_of(&mut originator.psdu);
        if loses(&mut air.errors, &air.roles, &air.frames, station, mpdu) {
            air.data_lost(self, by, now, end, supply);
            return;
        }
        // A duplicate if it was received in a contention-free period and only its acknowledgment
        // was lost.
        if !mpdu.is_received {
            mpdu.is_received = true;
            supply.on_event(now, MacEvent::Received { by, mpdu, came: None });
        }
        let from = mpdu.receiver;
        air.medium.begin_alone(by, now);
        air.answers(by, from, now, end);
    }

    #[inline(never)]
    fn answered<S: Supply<P>>(
        &mut self,
        air: &mut Air<P>,
        by: ContenderId,
        now: Time,
        supply: &mut S,
    ) {
        if let Some(start) = air.takes_ack(self, by, now, supply) {
            self.gets_medium(air, by, start, supply);
        }
    }

    #[inline(always)]
    fn failed<S: Supply<P>>(
        &mut self,
        air: &mut Air<P>,
        by: ContenderId,
        failure: Failure,
        _now: Time,
        _supply: &mut S,
    ) -> Retry {
        let is_after_rts = failure == Failure::NoAnswer && self.times(air, by).rts > Duration::ZERO;
        if is_after_rts { air.retry_after_rts(by) } else { air.retry(by) }
    }
}

impl<P: Clone> Air<P> {
    /// Processes the MAC ACK for the frame of `by`; returns as [`Self::exchange_succeeded`].
    #[inline(always)]
    pub(super) fn takes_ack<E: Exchange<P>, S: Supply<P>>(
        &mut self,
        exchange: &mut E,
        by: ContenderId,
        now: Time,
        supply: &mut S,
    ) -> Option<Time> {
        let originator = &mut self.originators[by as usize];
        let mpdu = Psdu::only_of(&mut originator.psdu);
        let receiver = mpdu.receiver;
        let has_next = supply.acknowledged(now, by, mpdu);
        originator.release();
        self.exchange_succeeded(exchange, by, (receiver, has_next), now, supply)
    }

    /// Waits for the missing response to the data frame of `by`, which would end at `end`. The
    /// frame ended at `now` and was not received.
    #[cold]
    pub(super) fn data_lost<E: Exchange<P>, S: Supply<P>>(
        &mut self,
        exchange: &E,
        by: ContenderId,
        now: Time,
        end: Time,
        supply: &mut S,
    ) {
        self.medium.begin_alone(by, now);
        self.set_on_air(OnAir::Unanswered { by }, end);
        self.tell_of_loss(exchange, by, end, supply);
    }
}
