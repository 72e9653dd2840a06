//! The part of a cell that its exchanges share whatever their kind: contention, the medium, the frames
//! that are held, and the state of what is on the air.
//!
//! Knows what is on the air as a state with an end, and not which state follows.

use airtcp_kernel::{Duration, RandomStream, Time};

use super::beacons::Beacons;
use super::desk::Desk;
use super::originator::Milestones;
use super::roles::{Roles, first_of_access_point};
use super::txop_ends::TxopEnds;
use super::{Exchange, Originator};
use crate::config::{ArrivalBeforeOwnAck, MacConfig};
use crate::contention::{ContenderConfig, Contention};
use crate::counters::CellCounters;
use crate::events::Supply;
use crate::medium::{ErrorModel, FrameErrors, Medium, Reception};
use crate::phy::{PhyConfig, Rate};
use crate::sequence::dcf::FrameTable;
use crate::sequence::txop::Txop;
use crate::station::{ContenderId, StationId};

/// The MAC of one cell, but for what is peculiar to the kind of its exchanges.
#[derive(Debug)]
pub(crate) struct Air<P> {
    pub(crate) contention: Contention,
    pub(crate) frames: FrameTable,
    pub(crate) medium: Medium,
    pub(crate) on_air: OnAir,
    /// The next step: the end of what is on the air, or else the next access.
    pub(super) next_step: Time,
    /// The next step or the next beacon.
    pub(crate) next: Time,
    pub(super) txop: Txop,
    pub(super) txop_ends: TxopEnds,
    pub(crate) originators: Vec<Originator<P>>,
    pub(super) errors: ErrorModel,
    /// True if frames are lost in collisions alone.
    pub(super) is_perfect: bool,
    pub(super) roles: Roles,
    pub(super) beacons: Beacons,
    pub(crate) counters: CellCounters,
    pub(super) retry_limit: u16,
    /// The limit of data frames that were lost after their RTS had got through.
    pub(super) long_retry_limit: u16,
    /// True if a station that has received a data frame finds the medium idle up to its own MAC ACK.
    pub(super) answers_seem_to_find_it_idle: bool,
    /// True if exchanges may take the straight line; only tests say no.
    pub(crate) goes_straight: bool,
    #[cfg(any(test, feature = "testing"))]
    pub(crate) straight: u64,
}

/// A state of the medium.
#[derive(Clone, Copy, Debug)]
pub(crate) enum OnAir {
    /// Nothing is on the air.
    Silence,
    /// The frames that the access began with; or, if nobody else is on the air, all up to the end of
    /// the data frame. An exchange that is not disturbed is over at `end`.
    Sending { end: Time },
    /// The answer of `from`, which has received data of `by`, or the SIFS before it: the answer begins at
    /// `ack_start`.
    Acknowledging { by: ContenderId, from: StationId, ack_start: Time },
    /// A data frame of `by` was lost: all wait for the end of an answer that does not come.
    Unanswered { by: ContenderId },
    /// A CF-End, with which `by` gives back what is left of its TXOP.
    CfEnd { by: ContenderId },
    /// A contention-free period: nobody contends.
    ContentionFree,
}

impl<P: Clone> Air<P> {
    /// Makes a cell at time zero with an idle medium and empty queues.
    pub(crate) fn new(
        phy: &PhyConfig,
        mac: &MacConfig,
        (rates, roles): (Vec<(Rate, Rate)>, Roles),
        errors: Vec<Option<(FrameErrors, RandomStream)>>,
        contenders: Vec<ContenderConfig>,
    ) -> Self {
        let errors = ErrorModel::new(errors);
        let originators = contenders.iter().map(Originator::new).collect();
        let beacons =
            Beacons::new(phy, mac, first_of_access_point(roles.access_point(), &contenders));
        Self {
            contention: Contention::new(phy, mac, contenders),
            frames: FrameTable::new(phy.clone(), mac.clone(), rates),
            medium: Medium::new(phy.propagation_delay),
            on_air: OnAir::Silence,
            next_step: Time::NEVER,
            next: beacons.next_target(),
            txop: Txop::new(Time::ZERO, Duration::ZERO),
            txop_ends: TxopEnds::new(phy, mac),
            originators,
            is_perfect: errors.is_perfect(),
            errors,
            roles,
            beacons,
            counters: CellCounters::default(),
            retry_limit: limit(mac.short_retry_limit),
            long_retry_limit: limit(mac.long_retry_limit),
            answers_seem_to_find_it_idle: mac.rules.arrival_before_own_ack
                == ArrivalBeforeOwnAck::Idle
                && phy.sifs > Duration::ZERO,
            goes_straight: true,
            #[cfg(any(test, feature = "testing"))]
            straight: 0,
        }
    }

    /// Borrows what assembles and settles frames.
    #[inline]
    pub(super) fn desk(&mut self) -> Desk<'_, P> {
        let Self { originators, frames, roles, errors, is_perfect, .. } = self;
        Desk { originators, frames, roles, errors, is_perfect: *is_perfect }
    }

    /// Lets `contender`, whose queue was empty, contend for the medium.
    #[inline]
    pub(crate) fn frame_ready(&mut self, contender: ContenderId, now: Time) {
        let before_own_ack = self.answers_seem_to_find_it_idle
            && self.is_before_own_ack(self.originators[contender as usize].station, now);
        self.contention.frame_queued(contender, now, before_own_ack);
        self.look_for_access();
    }

    /// Lets all contend that `supply` tells of.
    #[inline]
    pub(crate) fn frames_ready<S: Supply<P>>(&mut self, now: Time, supply: &mut S) {
        while let Some(contender) = supply.next_ready() {
            self.frame_ready(contender, now);
        }
    }

    /// Returns whether `station` has received a data frame and has not begun its MAC ACK.
    fn is_before_own_ack(&self, station: StationId, now: Time) -> bool {
        let OnAir::Acknowledging { from, ack_start, .. } = self.on_air else { return false };
        now < ack_start && from == station
    }

    /// Returns from when to when the frames arrive that are told of as received next, if an exchange with
    /// contention is on the air and does not collide.
    pub(crate) fn receiving<E: Exchange<P>>(&mut self, exchange: &E) -> Option<(Time, Time)> {
        let OnAir::Sending { end } = self.on_air else { return None };
        let &first = self.medium.transmissions().first()?;
        let by = first.by;
        if Medium::reception(&first) == Reception::Overlapped || self.beacons.is_on_air(by) {
            return None;
        }
        let times = exchange.times(self, by);
        let before = (times.total + times.data).as_nanos() - times.data_received.as_nanos();
        let begin = Time::from_nanos(end.as_nanos() - before);
        Some((exchange.last_arrival().unwrap_or(begin), self.next_step))
    }

    /// Sets what is on the air, and until when.
    #[inline]
    pub(super) fn set_on_air(&mut self, what: OnAir, until: Time) {
        self.set_on_air_in::<false>(what, until);
    }

    /// Does as [`Self::set_on_air`], but in a `PLAIN` cell, where there is no beacon before `until`.
    #[inline(always)]
    pub(super) fn set_on_air_in<const PLAIN: bool>(&mut self, what: OnAir, until: Time) {
        self.on_air = what;
        self.next_step = until;
        self.next = if PLAIN { until } else { until.min(self.beacons.next_target()) };
    }

    /// Waits for the next access: nothing is on the air any more.
    #[inline]
    pub(super) fn fall_silent(&mut self) {
        self.set_on_air(OnAir::Silence, self.contention.next_access());
    }

    /// Looks for the next access, which may be another than it was.
    #[inline]
    pub(super) fn look_for_access(&mut self) {
        if let OnAir::Silence = self.on_air {
            self.fall_silent();
        } else {
            self.next = self.next_step.min(self.beacons.next_target());
        }
    }

    /// Puts the exchange on the air that `by` has begun at `start`.
    #[inline]
    pub(super) fn sends(&mut self, by: ContenderId, start: Time, times: Milestones) {
        self.medium.begin_alone(by, start + times.sent);
        let end = start + times.total;
        self.set_on_air(OnAir::Sending { end }, start + times.received);
    }

    /// Puts the answer of `from` on the air until `end`, which has received the data of `by` `now`.
    #[inline]
    pub(super) fn answers(&mut self, by: ContenderId, from: StationId, now: Time, end: Time) {
        let ack_start = now + self.frames.phy().sifs;
        self.set_on_air(OnAir::Acknowledging { by, from, ack_start }, end);
    }
}

/// Returns a retry limit as frames count it; one beyond that is as good as none.
pub(crate) fn limit(config: u32) -> u16 {
    config.try_into().unwrap_or(u16::MAX)
}
