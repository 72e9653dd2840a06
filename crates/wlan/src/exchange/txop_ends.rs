//! The rest of a TXOP that ends before its limit. The announced rest binds the other stations (IEEE
//! Std 802.11-2020, 9.2.5.2), unless the holder returns it (10.23.2.10).

use airtcp_kernel::{Duration, Time};

use super::{Air, Exchange, OnAir, Play};
use crate::config::{MacConfig, TxopProtection};
use crate::events::{Began, MacEvent, Supply};
use crate::phy::PhyConfig;
use crate::station::{ContenderId, StationId};

/// A CF-End: frame control, duration, two addresses and FCS (9.3.1.5).
pub(super) const CF_END_BITS: u64 = 160;

/// The rule for announcements, and the CF-End.
#[derive(Debug)]
pub(super) struct TxopEnds {
    protection: TxopProtection,
    cf_end: Duration,
    /// The latest end of the TXOP whose receiver is known.
    known: Time,
    /// That receiver, if all frames of the TXOP have the same.
    receiver: Option<StationId>,
}

impl TxopEnds {
    pub(super) fn new(phy: &PhyConfig, mac: &MacConfig) -> Self {
        let protection = mac.rules.txop_protection;
        let cf_end = match protection {
            TxopProtection::MultipleWithCfEnd => phy.ppdu_time(CF_END_BITS, mac.cf_end_rate),
            TxopProtection::Single | TxopProtection::Multiple => Duration::ZERO,
        };
        Self { protection, cf_end, known: Time::ZERO, receiver: None }
    }
}

impl<P: Clone> Air<P> {
    /// Records that an exchange of the current TXOP was for `receiver`.
    #[inline(always)]
    pub(super) fn txop_was_for(&mut self, receiver: StationId) {
        let ends = &mut self.txop_ends;
        if ends.known != self.txop.end() {
            (ends.known, ends.receiver) = (self.txop.end(), Some(receiver));
        } else if ends.receiver != Some(receiver) {
            ends.receiver = None;
        }
    }

    /// Returns until when other stations wait after an exchange of `by` that got no response and
    /// would have ended at `end`.
    pub(super) fn others_wait_until(&self, end: Time) -> Time {
        match self.txop_ends.protection {
            TxopProtection::Single => end,
            TxopProtection::Multiple | TxopProtection::MultipleWithCfEnd => {
                end.max(self.txop.end())
            }
        }
    }
}

impl<P: Clone, E: Exchange<P>, S: Supply<P>> Play<'_, P, E, S> {
    /// Ends the TXOP of `by`, whose exchange succeeded at `now`, before its limit. Returns whether
    /// this matters to other stations.
    #[inline(always)]
    pub(super) fn ends_early(&mut self, by: ContenderId, now: Time) -> bool {
        let is_announced = self.air.txop_ends.protection != TxopProtection::Single;
        if is_announced {
            self.again().ends_before_announced(by, now);
        }
        is_announced
    }

    /// Handles [`Self::ends_early`] if it matters.
    #[inline(never)]
    fn ends_before_announced(&mut self, by: ContenderId, now: Time) {
        let announced = self.air.txop.end();
        let start = now + self.air.frames.phy().sifs;
        let sent = start + self.air.txop_ends.cf_end;
        if self.air.txop_ends.protection == TxopProtection::MultipleWithCfEnd && sent < announced {
            let end = sent + self.air.frames.phy().propagation_delay;
            self.supply.on_event(start, MacEvent::Began(Began::CfEnd { by, sent, end }));
            self.air.medium.begin_alone(by, sent);
            self.air.set_on_air(OnAir::CfEnd { by }, end);
        } else {
            let has_frame = self.has_frame(by);
            let receiver = self.air.txop_ends.receiver;
            self.air.contention.end_success_early(by, receiver, now, announced, has_frame);
            self.air.fall_silent();
        }
    }

    /// Continues with contention: all stations know that the TXOP of `by` is over.
    #[cold]
    pub(super) fn cf_end_sent(&mut self, by: ContenderId, now: Time) {
        let has_frame = self.has_frame(by);
        self.air.contention.end_success(by, now, has_frame);
        self.air.fall_silent();
    }
}
