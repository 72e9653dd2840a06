//! Connects contention-free periods with the single-frame exchanges between them.

use airtcp_kernel::{Duration, Time};

use super::Polled;
use crate::contention::Retry;
use crate::events::Supply;
use crate::exchange::{Air, Exchange, Failure};
use crate::station::ContenderId;

impl<P: Clone> Exchange<P> for Polled {
    #[inline]
    fn gets_medium<S: Supply<P>>(
        &mut self,
        air: &mut Air<P>,
        by: ContenderId,
        now: Time,
        supply: &mut S,
    ) {
        self.contended.gets_medium(air, by, now, supply);
    }

    #[inline]
    fn assemble<S: Supply<P>>(
        &mut self,
        air: &mut Air<P>,
        by: ContenderId,
        now: Time,
        left: Option<Duration>,
        supply: &mut S,
    ) -> bool {
        self.contended.assemble(air, by, now, left, supply)
    }

    #[inline]
    fn begins<S: Supply<P>>(
        &mut self,
        air: &mut Air<P>,
        by: ContenderId,
        start: Time,
        supply: &mut S,
    ) {
        self.contended.begins(air, by, start, supply);
    }

    #[inline]
    fn arrives<S: Supply<P>>(
        &mut self,
        air: &mut Air<P>,
        by: ContenderId,
        now: Time,
        end: Time,
        supply: &mut S,
    ) {
        self.contended.arrives(air, by, now, end, supply);
    }

    #[inline]
    fn answered<S: Supply<P>>(
        &mut self,
        air: &mut Air<P>,
        by: ContenderId,
        now: Time,
        supply: &mut S,
    ) {
        self.contended.answered(air, by, now, supply);
    }

    #[inline]
    fn failed<S: Supply<P>>(
        &mut self,
        air: &mut Air<P>,
        by: ContenderId,
        failure: Failure,
        now: Time,
        supply: &mut S,
    ) -> Retry {
        self.contended.failed(air, by, failure, now, supply)
    }

    #[cold]
    fn beacon_is_due<S: Supply<P>>(&mut self, air: &mut Air<P>, now: Time, supply: &mut S) {
        if !self.begins_contention_free(air, now, supply) {
            air.beacon_is_due(now);
        }
    }

    #[cold]
    fn contention_free_step<S: Supply<P>>(&mut self, air: &mut Air<P>, now: Time, supply: &mut S) {
        self.go_on(air, now, supply);
    }
}
