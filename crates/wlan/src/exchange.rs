//! The exchanges that follow an access to the medium, from the dequeuing of a packet to its
//! acknowledgment.
//!
//! There are three kinds of exchanges: [`single`], of one frame and its MAC ACK; [`aggregate`], of
//! an A-MPDU and its Block ACK; and [`polled`], without contention. Each is a sequence of states of
//! the medium ([`Air`]) behind one trait, [`Exchange`]. [`shortcut`] abbreviates the most frequent
//! sequence. The shared parts are here: transitions between states, collisions and retries
//! ([`failures`]), TXOPs ([`txop_ends`]), beacons.
//!
//! ```text
//!                   access                      its PPDU ends            the MAC ACK ends
//!   silence --------------------> on the air ---------------> answer -------------------> silence,
//!                                     |                                                or TXOP goes on
//!                                     | it overlaps others
//!                                     '--------------------> silence, backoffs
//! ```
//!
//! Queues are only visible through [`Supply`]. This module does not depend on the kind of
//! exchanges.

pub(crate) mod aggregate;
mod air;
mod beacons;
mod desk;
mod failures;
mod originator;
pub(crate) mod polled;
mod roles;
mod shortcut;
pub(crate) mod single;
mod txop_ends;

use airtcp_kernel::{Duration, Time};

pub(crate) use aggregate::set_arrivals;
pub(crate) use air::{Air, OnAir, limit};
pub(crate) use desk::{Desk, Play, loses};
pub(crate) use originator::Originator;
pub(crate) use roles::Roles;

use crate::contention::{Access, Retry};
use crate::events::{MacEvent, Supply, TriggeredPsdu};
use crate::frame::{Frames, Psdu, UserPsdu};
use crate::medium::{Medium, Reception};
use crate::sequence::dcf::FrameTimes;
use crate::sequence::txop::Txop;
use crate::station::{ContenderId, StationId};

/// The exchange logic of a cell. The default methods play exchanges of one frame. For each queue, the
/// MAC then holds only the frame that it is sending.
pub(crate) trait Exchange<P: Clone>: Sized {
    /// True if every transmission is an exchange after its own backoff: there are no beacons,
    /// contention-free periods, aggregates, bursts or TXOPs. A plain cell skips these checks at
    /// each exchange.
    const PLAIN: bool = false;

    /// Starts an exchange of `by`, the only contender that won access at `now`.
    #[inline(always)]
    fn gets_medium<S: Supply<P>>(play: &mut Play<'_, P, Self, S>, by: ContenderId, now: Time) {
        if Self::PLAIN || play.air.goes_straight {
            play.go_straight(by, now);
        } else {
            Self::begins(play, by, now);
        }
    }

    /// Decides what `by`, which has won access, sends, and holds it: frames to be retransmitted, or
    /// packets of its queue. Returns false if nothing fits into `left` of its TXOP.
    #[inline(always)]
    fn assemble<S: Supply<P>>(
        play: &mut Play<'_, P, Self, S>,
        by: ContenderId,
        now: Time,
        left: Option<Duration>,
    ) -> bool {
        let Air { originators, frames, roles, .. } = &mut *play.air;
        let originator = &mut originators[by as usize];
        if let Some(left) = left {
            return originator.takes_what_fits(by, now, left, (frames, roles), play.supply);
        }
        originator.hold(by, now, frames, play.supply);
        true
    }

    /// Assembles what `by` sends, which has won access together with others. Returns the duration
    /// of its first frame.
    #[inline(always)]
    fn first_frame<S: Supply<P>>(
        play: &mut Play<'_, P, Self, S>,
        by: ContenderId,
        now: Time,
    ) -> Duration {
        Self::assemble(play, by, now, None);
        play.mac.times(play.air, by).first()
    }

    /// Starts the assembled exchange of `by` at `start`, when no other station sends.
    #[inline]
    fn begins<S: Supply<P>>(play: &mut Play<'_, P, Self, S>, by: ContenderId, start: Time) {
        let Air { originators, frames, roles, .. } = &mut *play.air;
        let originator = &mut originators[by as usize];
        let (_, times) = originator.begin(by, start, frames, roles, play.supply);
        play.air.sends(by, start, times);
    }

    /// Receives `by`'s transmission, or the next part of it. The exchange would end at `end`.
    fn arrives<S: Supply<P>>(
        play: &mut Play<'_, P, Self, S>,
        by: ContenderId,
        now: Time,
        end: Time,
    ) {
        let air = &mut *play.air;
        let originator = &mut air.originators[by as usize];
        let station = originator.station;
        let mpdu = Psdu::only_of(&mut originator.psdu);
        if loses(&mut air.errors, &air.roles, &air.frames, station, mpdu) {
            return play.data_lost(by, now, end);
        }
        // A duplicate if it was received in a contention-free period and only its acknowledgment
        // was lost.
        if !mpdu.is_received {
            mpdu.is_received = true;
            play.supply.on_event(now, MacEvent::Received { by, mpdu, came: None });
        }
        let from = mpdu.receiver;
        air.medium.begin_alone(by, now);
        air.answers(by, from, now, end);
    }

    /// Processes the response to `by`'s transmission, and continues its TXOP.
    #[inline(never)]
    fn answered<S: Supply<P>>(play: &mut Play<'_, P, Self, S>, by: ContenderId, now: Time) {
        if let Some(start) = play.takes_ack(by, now) {
            Self::gets_medium(play, by, start);
        }
    }

    /// Counts a failure of what `by` holds. Returns whether it may be retransmitted.
    #[inline(always)]
    fn failed<S: Supply<P>>(
        play: &mut Play<'_, P, Self, S>,
        by: ContenderId,
        failure: Failure,
        _now: Time,
    ) -> Retry {
        let is_after_rts =
            failure == Failure::NoAnswer && play.mac.times(play.air, by).rts > Duration::ZERO;
        if is_after_rts { play.air.retry_after_rts(by) } else { play.air.retry(by) }
    }

    /// Returns whether `by` has something to send in addition to its queue and the PSDU that it
    /// holds.
    #[inline(always)]
    fn has_work(&self, _by: ContenderId) -> bool {
        false
    }

    /// Returns whether `by` may take a packet of its queue.
    #[inline(always)]
    fn may_take<S: Supply<P>>(&self, _air: &Air<P>, by: ContenderId, supply: &S) -> bool {
        supply.has_next(by)
    }

    /// Returns the station that `by` sends a Block ACK request to, and the first number of the
    /// window.
    #[inline(always)]
    fn request(&self, _by: ContenderId) -> Option<(StationId, u64)> {
        None
    }

    /// Returns the frame times of the current or attempted exchange of `by`.
    #[inline(always)]
    fn times<'a>(&'a self, air: &'a mut Air<P>, by: ContenderId) -> &'a FrameTimes {
        let originator = &air.originators[by as usize];
        let psdu = originator.frames().expect("a contender that sends has a frame");
        let class = air.roles.rate_class(originator.station, psdu.receiver());
        air.frames.times(class, psdu.bits())
    }

    /// Returns the rate class of the current or attempted exchange of `by` with `receiver`.
    #[inline(always)]
    fn class(&self, air: &Air<P>, by: ContenderId, receiver: StationId) -> u32 {
        air.roles.rate_class(air.originators[by as usize].station, receiver)
    }

    /// Returns the users of the current PPDU of `by` if it is in a multi-user format.
    fn users(&self, _by: ContenderId) -> Vec<UserPsdu<'_, P>> {
        Vec::new()
    }

    /// Returns the parts of the stations in the response to the trigger frame of `by`, if it sends
    /// one.
    fn triggered<'a>(&'a self, _: &'a Air<P>, _by: ContenderId) -> Vec<TriggeredPsdu<'a, P>> {
        Vec::new()
    }

    /// Returns the times of the trigger frame that `by` sends after its PPDU whatever happens to it,
    /// with its responses, and a station that responds.
    fn trigger(&self, _by: ContenderId) -> Option<(FrameTimes, StationId)> {
        None
    }

    /// Receives what outlasts a collision that ends at `end`, if the rules let anything of a PPDU of
    /// a narrower channel be received. Returns its sender and the times of the response.
    fn outlasts<S: Supply<P>>(
        _play: &mut Play<'_, P, Self, S>,
        _end: Time,
    ) -> Option<(ContenderId, FrameTimes)> {
        None
    }

    /// Returns when the last MPDU of the PPDU on the air arrived, if MPDUs are delivered one by
    /// one.
    fn last_arrival(&self) -> Option<Time> {
        None
    }

    /// Prepares the beacon that is due at `now`.
    fn beacon_is_due<S: Supply<P>>(play: &mut Play<'_, P, Self, S>, now: Time) {
        play.air.beacon_is_due(now);
    }

    /// Continues a contention-free period when its current transmission has ended.
    fn contention_free_step<S: Supply<P>>(_play: &mut Play<'_, P, Self, S>, _now: Time) {
        unreachable!("there are no contention-free periods")
    }
}

/// Why an assembled transmission failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Failure {
    /// Its first frame collided on the air.
    Collision,
    /// A higher-priority queue of the same station took the access.
    InternalCollision,
    /// No response came.
    NoAnswer,
}

impl<P: Clone> Air<P> {
    /// Returns the receiver of `by`'s current or attempted frame.
    fn sends_to<E: Exchange<P>>(&self, exchange: &E, by: ContenderId) -> Option<StationId> {
        let request = exchange.request(by).map(|(receiver, _)| receiver);
        request.or_else(|| self.originators[by as usize].frames().map(Frames::receiver))
    }
}

impl<P: Clone, E: Exchange<P>, S: Supply<P>> Play<'_, P, E, S> {
    /// Plays the event that is due at `now`: a beacon, or else [`Self::step`].
    #[inline(always)]
    pub(crate) fn advance(&mut self, now: Time) {
        if !E::PLAIN && self.air.beacons.next_target() <= now {
            E::beacon_is_due(self, now);
        } else {
            self.step(now);
        }
    }

    /// Continues the current transmission, or starts the next access.
    #[inline(always)]
    fn step(&mut self, now: Time) {
        if let OnAir::Silence = self.air.on_air {
            self.access_medium(now);
        } else {
            self.go_on(now);
        }
    }

    /// Continues the current transmission.
    #[inline(never)]
    fn go_on(&mut self, now: Time) {
        match self.air.on_air {
            OnAir::Silence => unreachable!("something is on the air"),
            OnAir::Sending { end } => self.transmissions_ended(now, end),
            OnAir::Acknowledging { by, .. } => E::answered(self, by, now),
            OnAir::Unanswered { by } => self.exchange_failed(by, now),
            OnAir::Triggered { by } => self.again().collision_settled(Some(by), now),
            OnAir::CfEnd { by } => self.cf_end_sent(by, now),
            OnAir::ContentionFree => E::contention_free_step(self, now),
        }
    }

    /// Starts the transmissions of the contenders that won access.
    #[inline(always)]
    fn access_medium(&mut self, now: Time) {
        if let Some(by) = self.begin_alone(now) {
            E::gets_medium(self, by, now);
        }
    }

    /// Starts the next access. Returns the contender whose exchange the caller has to start: the
    /// only winner, if it sends no beacon. Everything else is started here.
    #[inline(always)]
    fn begin_alone(&mut self, now: Time) -> Option<ContenderId> {
        let alone = if E::PLAIN {
            self.air.contention.begin_alone::<true>()
        } else {
            self.air.contention.begin_alone::<false>()
        };
        let Some(by) = alone else {
            self.again().several_begin(now);
            return None;
        };
        if !E::PLAIN {
            if self.air.beacons.is_due(by) {
                self.again().beacon_begins(by, now);
                return None;
            }
            self.air.txop = Txop::new(now, self.air.originators[by as usize].txop_limit);
        }
        Some(by)
    }

    /// Starts the transmissions of contenders whose backoffs end at the same instant.
    #[inline(never)]
    fn several_begin(&mut self, now: Time) {
        match self.air.contention.begin_together() {
            Access::Alone(by) | Access::Ahead(by) => self.again().begins_ahead(by, now),
            Access::Collision => self.again().collision_begins(now),
        }
        self.settle_internal_collisions(now);
    }

    /// Starts a beacon or an exchange of `by`, which precedes other queues of its station.
    #[cold]
    fn begins_ahead(&mut self, by: ContenderId, now: Time) {
        if self.air.beacons.is_due(by) {
            return self.beacon_begins(by, now);
        }
        self.air.txop = Txop::new(now, self.air.originators[by as usize].txop_limit);
        E::assemble(self, by, now, None);
        E::begins(self, by, now);
    }

    /// Processes what the access sent, when it or a part of it has ended: a collision, or a
    /// reception.
    #[inline(never)]
    fn transmissions_ended(&mut self, now: Time, end: Time) {
        let first = &self.air.medium.transmissions()[0];
        let by = first.by;
        match Medium::reception(first) {
            Reception::Intact if self.air.beacons.is_on_air(by) => {
                self.beacon_ended(by, now);
            }
            Reception::Intact => E::arrives(self, by, now, end),
            // If one of the transmissions that began together is lost, all are.
            Reception::Overlapped => self.collision_ended(now),
        }
    }

    /// Continues after `receiver`'s response to `by`, whose queue `has_next`: with contention, or
    /// with the TXOP. Returns when the next exchange of the TXOP, already assembled, begins, if
    /// there is one.
    #[inline(always)]
    fn exchange_succeeded(
        &mut self,
        by: ContenderId,
        (receiver, mut has_next): (StationId, bool),
        now: Time,
    ) -> Option<Time> {
        if !E::PLAIN && self.air.txop.is_open(now) {
            self.air.txop_was_for(receiver);
            let next = self.continues_txop(by, now);
            if next.is_some() || self.ends_early(by, now) {
                return next;
            }
            has_next = self.mac.may_take(self.air, by, self.supply);
        }
        let has_frame =
            has_next || !E::PLAIN && (self.mac.has_work(by) || self.air.beacons.is_due(by));
        if E::PLAIN {
            self.air.contention.end_success_in::<true>(by, now, has_frame);
            self.air.set_on_air_in::<true>(OnAir::Silence, self.air.contention.next_access());
        } else {
            self.air.contention.end_success_in::<false>(by, now, has_frame);
            self.air.fall_silent();
        }
        None
    }

    /// Assembles one more exchange in the same TXOP if there is a frame that fits (IEEE Std
    /// 802.11-2020, 10.23.2.8), and returns when it begins. A beacon has a TXOP of its own.
    #[inline(always)]
    fn continues_txop(&mut self, by: ContenderId, now: Time) -> Option<Time> {
        let start = now + self.air.frames.phy().sifs;
        let left = self.air.txop.left(start);
        if self.air.beacons.is_due(by) || !E::assemble(self, by, now, Some(left)) {
            return None;
        }
        self.air.contention.continue_txop(by);
        Some(start)
    }

    /// Returns whether `by` has anything to send.
    #[inline]
    pub(crate) fn has_frame(&self, by: ContenderId) -> bool {
        self.air.originators[by as usize].psdu.is_some()
            || self.mac.may_take(self.air, by, self.supply)
            || self.mac.has_work(by)
            || self.air.beacons.is_due(by)
    }
}
