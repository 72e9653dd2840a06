//! Questions to a cell from outside: what it has counted, what is on the air, which frames it holds,
//! and whether its books balance. Changes nothing.

use airtcp_kernel::Time;

use super::{Cell, Mac};
use crate::counters::{CellCounters, MacCounters};
use crate::exchange::aggregate::Aggregate;
use crate::exchange::{OnAir, Originator};
use crate::frame::{Frames, Mpdu};
use crate::phy::PhyConfig;
use crate::station::ContenderId;

impl<P: Clone> Cell<P> {
    /// Returns what a contender did so far.
    pub fn counters(&self, contender: ContenderId) -> &MacCounters {
        self.air.contention.counters(contender)
    }

    /// Returns what happened in the cell so far.
    pub fn cell_counters(&self) -> &CellCounters {
        &self.air.counters
    }

    /// Returns whether a transmission of `contender` is on the air, or waits for its answer.
    pub fn is_on_air(&self, contender: ContenderId) -> bool {
        !matches!(self.air.on_air, OnAir::Silence)
            && self.air.medium.transmissions().iter().any(|one| one.by == contender)
    }

    /// Returns the frames of `contender`'s queue that the MAC holds: on the air, or to be sent again.
    pub fn held(&self, contender: ContenderId) -> impl Iterator<Item = &Mpdu<P>> {
        let psdu = self.air.originators[contender as usize].frames();
        let waiting = self.aggregate().into_iter().flat_map(move |one| one.waiting(contender));
        psdu.map_or(&[][..], Frames::mpdus).iter().chain(waiting)
    }

    /// Returns the frames of `contender`'s queue that have come to their receivers and wait there for earlier
    /// ones.
    pub fn held_back(&self, contender: ContenderId) -> impl Iterator<Item = &Mpdu<P>> {
        self.aggregate().into_iter().flat_map(move |one| one.held_back(contender))
    }

    fn aggregate(&self) -> Option<&Aggregate<P>> {
        if let Mac::Aggregate(one) = &self.mac { Some(one) } else { None }
    }

    /// Returns the beginning of the contention-free period that there is at this instant.
    pub fn contention_free_since(&self) -> Option<Time> {
        let Mac::Polled(one) = &self.mac else { return None };
        one.contention_free_since(&self.air)
    }

    /// Returns from when to when the frames arrive that are told of as received next, if their PPDU is
    /// on the air and does not collide.
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

    /// Checks the books of `contender`: every attempt has ended or is on the air, and every frame
    /// handed over was acknowledged or given up, or is still held.
    ///
    /// # Errors
    /// Which law is broken.
    pub fn check_laws(&self, contender: ContenderId) -> Result<(), String> {
        self.counters(contender).check_attempts(self.is_on_air(contender))?;
        let Originator { next_id: handed_over, done, .. } =
            self.air.originators[contender as usize];
        if let Some(aggregates) = self.aggregate() {
            aggregates.check_laws(contender, self.air.originators[contender as usize].frames())?;
        }
        let held = self.held(contender).count() as u64;
        if handed_over == done + held {
            Ok(())
        } else {
            Err(format!("of {handed_over} frames {done} are done and {held} held"))
        }
    }
}
