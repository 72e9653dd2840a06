//! The state of a cell that all exchanges share: contention, the medium, the held frames, and what
//! is on the air.
//!
//! What is on the air is a state with an end. The next state is decided elsewhere.

use airtcp_kernel::{Duration, Time};

use super::beacons::Beacons;
use super::originator::Milestones;
use super::roles::{Roles, first_of_access_point};
use super::txop_ends::TxopEnds;
use super::{Exchange, Originator};
use crate::config::ArrivalBeforeOwnAck;
use crate::contention::Contention;
use crate::counters::CellCounters;
use crate::events::Supply;
use crate::medium::{ErrorModel, Medium, MediumConfig, Reception};
use crate::sequence::dcf::FrameTable;
use crate::sequence::txop::Txop;
use crate::station::{ContenderId, EVERYBODY, StationId};

/// The MAC of one cell without the exchange logic.
#[derive(Debug)]
pub(crate) struct Air<P> {
    pub(crate) contention: Contention,
    pub(crate) frames: FrameTable,
    pub(crate) medium: Medium,
    pub(crate) on_air: OnAir,
    /// The next step: the end of the current state, or the next access.
    pub(super) next_step: Time,
    /// The next step or the next beacon, whichever is earlier.
    pub(crate) next: Time,
    pub(super) txop: Txop,
    pub(super) txop_ends: TxopEnds,
    pub(crate) originators: Vec<Originator<P>>,
    pub(super) errors: ErrorModel,
    /// True if frames are lost only in collisions.
    pub(super) is_perfect: bool,
    pub(super) roles: Roles,
    pub(super) beacons: Beacons,
    pub(crate) counters: CellCounters,
    pub(super) retry_limit: u16,
    /// The limit of failures of data frames whose RTS succeeded.
    pub(super) long_retry_limit: u16,
    /// True if a station that has received a data frame finds the medium idle until its own MAC
    /// ACK.
    pub(super) answers_seem_to_find_it_idle: bool,
    /// True if exchanges may use the shortcut; only tests switch it off.
    pub(crate) goes_straight: bool,
    #[cfg(any(test, feature = "testing"))]
    pub(crate) straight: u64,
}

/// A state of the medium.
#[derive(Clone, Copy, Debug)]
pub(crate) enum OnAir {
    /// Idle.
    Silence,
    /// The first frames of the access. If there is no collision, everything up to the end of the
    /// data frame. Undisturbed, the exchange ends at `end`.
    Sending { end: Time },
    /// The response of `from`, which has received data of `by`, or the SIFS before it. The response
    /// begins at `ack_start`. `from` may be [`EVERYBODY`].
    Acknowledging { by: ContenderId, from: StationId, ack_start: Time },
    /// A data frame of `by` was lost, and all stations wait until the missing response would have
    /// ended.
    Unanswered { by: ContenderId },
    /// After a collision, a trigger frame of `by` and its responses, or the response to `by`.
    Triggered { by: ContenderId },
    /// A CF-End with which `by` returns the rest of its TXOP.
    CfEnd { by: ContenderId },
    /// A contention-free period: no station contends.
    ContentionFree,
}

impl<P: Clone> Air<P> {
    /// Creates a cell at time zero with an idle medium and empty queues.
    pub(crate) fn new(config: MediumConfig<'_>, roles: Roles) -> Self {
        let MediumConfig { phy, mac, rates, errors, contenders, .. } = config;
        let errors = ErrorModel::new(errors);
        let originators = contenders.iter().map(Originator::new).collect();
        let beacons = Beacons::new(phy, &mac, first_of_access_point(&contenders));
        Self {
            contention: Contention::new(phy, &mac, contenders),
            frames: FrameTable::new(phy.clone(), mac.clone(), rates),
            medium: Medium::new(phy.propagation_delay),
            on_air: OnAir::Silence,
            next_step: Time::NEVER,
            next: beacons.next_target(),
            txop: Txop::new(Time::ZERO, Duration::ZERO),
            txop_ends: TxopEnds::new(phy, &mac),
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

    /// Starts contention for `contender`, whose queue was empty.
    #[inline]
    pub(crate) fn frame_ready(&mut self, contender: ContenderId, now: Time) {
        let before_own_ack = self.answers_seem_to_find_it_idle
            && self.is_before_own_ack(self.originators[contender as usize].station, now);
        self.contention.frame_queued(contender, now, before_own_ack);
        self.look_for_access();
    }

    /// Starts contention for all queues that `supply` reports.
    #[inline]
    pub(crate) fn frames_ready<S: Supply<P>>(&mut self, now: Time, supply: &mut S) {
        while let Some(contender) = supply.next_ready() {
            self.frame_ready(contender, now);
        }
    }

    /// Returns whether `station` has received a data frame and has not begun its MAC ACK.
    fn is_before_own_ack(&self, station: StationId, now: Time) -> bool {
        let OnAir::Acknowledging { from, ack_start, .. } = self.on_air else { return false };
        now < ack_start && (from == station || from == EVERYBODY)
    }

    /// Returns when the frames arrive, first to last, that will be reported as received next, if an
    /// exchange is on the air without a collision.
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

    /// Sets the state of the medium, and its end.
    #[inline]
    pub(super) fn set_on_air(&mut self, what: OnAir, until: Time) {
        self.set_on_air_in::<false>(what, until);
    }

    /// Handles [`Self::set_on_air`]; in a `PLAIN` cell there is no beacon before `until`.
    #[inline(always)]
    pub(super) fn set_on_air_in<const PLAIN: bool>(&mut self, what: OnAir, until: Time) {
        self.on_air = what;
        self.next_step = until;
        self.next = if PLAIN { until } else { until.min(self.beacons.next_target()) };
    }

    /// Sets the medium idle and waits for the next access.
    #[inline]
    pub(super) fn fall_silent(&mut self) {
        self.set_on_air(OnAir::Silence, self.contention.next_access());
    }

    /// Recomputes the next access, which may have changed.
    #[inline]
    pub(crate) fn look_for_access(&mut self) {
        if let OnAir::Silence = self.on_air {
            self.fall_silent();
        } else {
            self.next = self.next_step.min(self.beacons.next_target());
        }
    }

    /// Puts the exchange of `by` that begins at `start` on the air.
    #[inline]
    pub(super) fn sends(&mut self, by: ContenderId, start: Time, times: Milestones) {
        self.medium.begin_alone(by, start + times.sent);
        let end = start + times.total;
        self.set_on_air(OnAir::Sending { end }, start + times.received);
    }

    /// Puts the response of `from` on the air until `end`; it has received the data of `by` at
    /// `now`.
    #[inline]
    pub(super) fn answers(&mut self, by: ContenderId, from: StationId, now: Time, end: Time) {
        let ack_start = now + self.frames.phy().sifs;
        self.set_on_air(OnAir::Acknowledging { by, from, ack_start }, end);
    }
}

/// Converts a retry limit to the type of the failure counters. A limit beyond its range is no
/// limit.
pub(crate) fn limit(config: u32) -> u16 {
    config.try_into().unwrap_or(u16::MAX)
}
