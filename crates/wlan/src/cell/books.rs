//! Read-only queries of a cell: its counters, what is on the air, which frames it holds, and
//! whether its counters are consistent.

use airtcp_kernel::Time;

use super::{Cell, Mac};
use crate::counters::{CellCounters, MacCounters};
use crate::exchange::OnAir;
use crate::exchange::aggregate::Aggregate;
use crate::frame::{Frames, Mpdu};
use crate::phy::PhyConfig;
use crate::station::ContenderId;

impl<P: Clone> Cell<P> {
    /// Returns the counters of a contender.
    pub fn counters(&self, contender: ContenderId) -> &MacCounters {
        self.air.contention.counters(contender)
    }

    /// Returns the counters of the cell.
    pub fn cell_counters(&self) -> &CellCounters {
        &self.air.counters
    }

    /// Returns whether a transmission of `contender` is on the air or waits for its response.
    pub fn is_on_air(&self, contender: ContenderId) -> bool {
        !matches!(self.air.on_air, OnAir::Silence)
            && self.air.medium.transmissions().iter().any(|one| one.by == contender)
    }

    /// Returns the frames of `contender`'s queue that the MAC holds: on the air, or to be
    /// retransmitted.
    pub fn held(&self, contender: ContenderId) -> impl Iterator<Item = &Mpdu<P>> {
        let psdu = self.air.originators[contender as usize].frames();
        let waiting = self.aggregate().into_iter().flat_map(move |one| one.waiting(contender));
        psdu.map_or(&[][..], Frames::mpdus).iter().chain(waiting)
    }

    /// Returns the frames of `contender`'s queue that wait in the receiver's reorder buffer for
    /// earlier ones.
    pub fn held_back(&self, contender: ContenderId) -> impl Iterator<Item = &Mpdu<P>> {
        self.aggregate().into_iter().flat_map(move |one| one.held_back(contender))
    }

    pub(super) fn aggregate(&self) -> Option<&Aggregate<P>> {
        if let Mac::Aggregate(one) = &self.mac { Some(one) } else { None }
    }

    /// Returns when the current contention-free period began, if there is one.
    pub fn contention_free_since(&self) -> Option<Time> {
        let Mac::Polled(one) = &self.mac else { return None };
        one.contention_free_since(&self.air)
    }

    /// Returns when the frames arrive, first to last, that will be reported as received next, if
    /// their PPDU is on the air without a collision.
    pub fn receiving(&mut self) -> Option<(Time, Time)> {
        let Self { air, mac, .. } = self;
        match mac {
            Mac::Plain(one) => air.receiving(one),
            Mac::Single(one) => air.receiving(one),
            Mac::Polled(one) => one.receiving(air).or_else(|| air.receiving(one.as_ref())),
            Mac::Aggregate(one) => air.receiving(one.as_ref()),
        }
    }

    /// Returns the settings of the PHY.
    pub fn phy(&self) -> &PhyConfig {
        self.air.frames.phy()
    }

    /// Checks the counters of `contender`. Every attempt has ended or is on the air. Every dequeued
    /// frame was acknowledged, given up, or is still held.
    ///
    /// # Errors
    /// The violated invariant.
    pub fn check_laws(&self, contender: ContenderId) -> Result<(), String> {
        Self::check_laws_of(&[self], contender)
    }
}
