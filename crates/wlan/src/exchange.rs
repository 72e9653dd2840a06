//! The exchanges that follow an access to the medium, from the hand-over of a packet to its
//! acknowledgment.
//!
//! There are three kinds of exchanges: [`single`], of one frame and its MAC ACK; [`aggregate`], of an
//! A-MPDU and its Block ACK; and [`polled`], without contention. Each is told as states of what is on
//! the air ([`Air`]), and behind one trait, [`Exchange`]; [`shortcut`] abbreviates the most frequent
//! way through them. All that they share is here: how a state follows another, collisions and retries
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
//! Knows no queue, but for its [`Supply`], and not of which kind the exchanges of a cell are.

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
pub(crate) use desk::Desk;
pub(crate) use originator::Originator;
pub(crate) use roles::Roles;

use crate::contention::{Access, Retry};
use crate::events::Supply;
use crate::frame::Frames;
use crate::medium::{Medium, Reception};
use crate::sequence::dcf::FrameTimes;
use crate::sequence::txop::Txop;
use crate::station::{ContenderId, StationId};

/// The kind of exchanges of a cell. What is provided is right where the MAC holds no more of a queue than the
/// frame that it sends.
pub(crate) trait Exchange<P: Clone>: Sized {
    /// True if nothing else goes on the air, and each after a backoff of its own: there is no beacon,
    /// contention-free period, aggregate, burst or TXOP. A plain cell is not asked at each exchange
    /// for what it cannot have.
    const PLAIN: bool = false;

    /// Begins an exchange of `by`, which alone has got at the medium at `now`.
    #[inline(always)]
    fn gets_medium<S: Supply<P>>(
        &mut self,
        air: &mut Air<P>,
        by: ContenderId,
        now: Time,
        supply: &mut S,
    ) {
        self.assemble(air, by, now, None, supply);
        self.begins(air, by, now, supply);
    }

    /// Decides what `by` sends, which has got at the medium, and holds it: what waits to be sent again, or
    /// what its queue hands over. Returns false if nothing fits into `left` of its TXOP.
    fn assemble<S: Supply<P>>(
        &mut self,
        air: &mut Air<P>,
        by: ContenderId,
        now: Time,
        left: Option<Duration>,
        supply: &mut S,
    ) -> bool;

    /// Assembles what `by` sends, which has got at the medium with others. Returns how long its first frame
    /// lasts.
    #[inline]
    fn first_frame<S: Supply<P>>(
        &mut self,
        air: &mut Air<P>,
        by: ContenderId,
        now: Time,
        supply: &mut S,
    ) -> Duration {
        self.assemble(air, by, now, None, supply);
        self.times(air, by).first()
    }

    /// Puts on the air what `by` has assembled, from `start` on, when nobody else sends.
    fn begins<S: Supply<P>>(
        &mut self,
        air: &mut Air<P>,
        by: ContenderId,
        start: Time,
        supply: &mut S,
    );

    /// Receives what `by` has sent alone, or the next part of it. The exchange would be over at `end`.
    fn arrives<S: Supply<P>>(
        &mut self,
        air: &mut Air<P>,
        by: ContenderId,
        now: Time,
        end: Time,
        supply: &mut S,
    );

    /// Takes the answer to what `by` has sent, and goes on with its TXOP.
    fn answered<S: Supply<P>>(
        &mut self,
        air: &mut Air<P>,
        by: ContenderId,
        now: Time,
        supply: &mut S,
    );

    /// Counts a failure of what `by` holds. Returns whether it may be sent again.
    fn failed<S: Supply<P>>(
        &mut self,
        air: &mut Air<P>,
        by: ContenderId,
        failure: Failure,
        now: Time,
        supply: &mut S,
    ) -> Retry;

    /// Returns whether `by` has something to send beside its queue and the PSDU that it holds.
    #[inline(always)]
    fn has_work(&self, _by: ContenderId) -> bool {
        false
    }

    /// Returns the station that `by` sends a Block ACK request, and the number that its window begins with.
    #[inline(always)]
    fn request(&self, _by: ContenderId) -> Option<(StationId, u64)> {
        None
    }

    /// Returns the frames of the exchange that `by` begins or tries to.
    #[inline(always)]
    fn times<'a>(&'a self, air: &'a mut Air<P>, by: ContenderId) -> &'a FrameTimes {
        let originator = &air.originators[by as usize];
        let psdu = originator.frames().expect("a contender that sends has a frame");
        let class = air.roles.rate_class(originator.station, psdu.receiver());
        air.frames.times(class, psdu.bits())
    }

    /// Returns the number of the rate at which `by` sends to `receiver` what it has begun or tries to.
    #[inline(always)]
    fn class(&self, air: &Air<P>, by: ContenderId, receiver: StationId) -> u32 {
        air.roles.rate_class(air.originators[by as usize].station, receiver)
    }

    /// Returns when the last frame arrived of the PPDU on the air, if frames are told of one by one.
    fn last_arrival(&self) -> Option<Time> {
        None
    }

    /// Prepares the beacon that is due at `now`.
    fn beacon_is_due<S: Supply<P>>(&mut self, air: &mut Air<P>, now: Time, _supply: &mut S) {
        air.beacon_is_due(now);
    }

    /// Goes on with a contention-free period, when what is on the air has ended.
    fn contention_free_step<S: Supply<P>>(
        &mut self,
        _air: &mut Air<P>,
        _now: Time,
        _supply: &mut S,
    ) {
        unreachable!("there are no contention-free periods")
    }
}

/// The way in which what a contender has assembled has failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Failure {
    /// Its first frame collided on the air.
    Collision,
    /// A queue of higher priority of the same station took the access.
    InternalCollision,
    /// Nobody has answered.
    NoAnswer,
}

impl<P: Clone> Air<P> {
    /// Plays what is due at `now`: a beacon, or else [`Self::step`].
    #[inline(always)]
    pub(crate) fn advance<E: Exchange<P>, S: Supply<P>>(
        &mut self,
        exchange: &mut E,
        now: Time,
        supply: &mut S,
    ) {
        if !E::PLAIN && self.beacons.next_target() <= now {
            exchange.beacon_is_due(self, now, supply);
        } else {
            self.step(exchange, now, supply);
        }
    }

    /// Goes on with what is on the air, or begins the next access.
    #[inline(always)]
    fn step<E: Exchange<P>, S: Supply<P>>(&mut self, exchange: &mut E, now: Time, supply: &mut S) {
        if let OnAir::Silence = self.on_air {
            self.access_medium(exchange, now, supply);
        } else {
            self.go_on(exchange, now, supply);
        }
    }

    /// Goes on with what is on the air.
    #[inline(never)]
    fn go_on<E: Exchange<P>, S: Supply<P>>(&mut self, exchange: &mut E, now: Time, supply: &mut S) {
        match self.on_air {
            OnAir::Silence => unreachable!("something is on the air"),
            OnAir::Sending { end } => self.transmissions_ended(exchange, now, end, supply),
            OnAir::Acknowledging { by, .. } => exchange.answered(self, by, now, supply),
            OnAir::Unanswered { by } => self.exchange_failed(exchange, by, now, supply),
            OnAir::CfEnd { by } => self.cf_end_sent(exchange, by, now, supply),
            OnAir::ContentionFree => exchange.contention_free_step(self, now, supply),
        }
    }

    /// Begins what the contenders send that have got at the medium.
    #[inline(always)]
    fn access_medium<E: Exchange<P>, S: Supply<P>>(
        &mut self,
        exchange: &mut E,
        now: Time,
        supply: &mut S,
    ) {
        if let Some(by) = self.begin_alone(exchange, now, supply) {
            exchange.gets_medium(self, by, now, supply);
        }
    }

    /// Begins the next access, and returns the contender whose exchange the caller begins: one alone, which
    /// sends no beacon. All else is begun here.
    #[inline(always)]
    fn begin_alone<E: Exchange<P>, S: Supply<P>>(
        &mut self,
        exchange: &mut E,
        now: Time,
        supply: &mut S,
    ) -> Option<ContenderId> {
        let alone = if E::PLAIN {
            self.contention.begin_alone::<true>()
        } else {
            self.contention.begin_alone::<false>()
        };
        let Some(by) = alone else {
            self.several_begin(exchange, now, supply);
            return None;
        };
        if !E::PLAIN {
            if self.beacons.is_due(by) {
                self.beacon_begins(by, now, supply);
                return None;
            }
            self.txop = Txop::new(now, self.originators[by as usize].txop_limit);
        }
        Some(by)
    }

    /// Begins what the contenders send whose backoffs end at the same instant.
    #[inline(never)]
    fn several_begin<E: Exchange<P>, S: Supply<P>>(
        &mut self,
        exchange: &mut E,
        now: Time,
        supply: &mut S,
    ) {
        match self.contention.begin_together() {
            Access::Alone(by) | Access::Ahead(by) => self.begins_ahead(exchange, by, now, supply),
            Access::Collision => self.collision_begins(exchange, now, supply),
        }
        self.settle_internal_collisions(exchange, now, supply);
    }

    /// Begins a beacon or an exchange of `by`, which goes ahead of other queues of its station.
    #[cold]
    fn begins_ahead<E: Exchange<P>, S: Supply<P>>(
        &mut self,
        exchange: &mut E,
        by: ContenderId,
        now: Time,
        supply: &mut S,
    ) {
        if self.beacons.is_due(by) {
            return self.beacon_begins(by, now, supply);
        }
        self.txop = Txop::new(now, self.originators[by as usize].txop_limit);
        exchange.assemble(self, by, now, None, supply);
        exchange.begins(self, by, now, supply);
    }

    /// Receives what the access began with, or part of it, unless it has collided.
    #[inline(never)]
    fn transmissions_ended<E: Exchange<P>, S: Supply<P>>(
        &mut self,
        exchange: &mut E,
        now: Time,
        end: Time,
        supply: &mut S,
    ) {
        let first = &self.medium.transmissions()[0];
        let by = first.by;
        match Medium::reception(first) {
            Reception::Intact if self.beacons.is_on_air(by) => {
                self.beacon_ended(exchange, by, now, supply);
            }
            Reception::Intact => exchange.arrives(self, by, now, end, supply),
            // Of those that began together, none comes through if one does not.
            Reception::Overlapped => self.collision_ended(exchange, now, supply),
        }
    }

    /// Goes on after the answer of `receiver` to `by`, whose queue `has_next`: with contention, or with the
    /// TXOP. Returns when its next exchange begins, which is assembled, if there is one.
    #[inline(always)]
    fn exchange_succeeded<E: Exchange<P>, S: Supply<P>>(
        &mut self,
        exchange: &mut E,
        by: ContenderId,
        (receiver, mut has_next): (StationId, bool),
        now: Time,
        supply: &mut S,
    ) -> Option<Time> {
        if !E::PLAIN && self.txop.is_open(now) {
            self.txop_was_for(receiver);
            let next = self.continues_txop(exchange, by, now, supply);
            if next.is_some() || self.ends_early(exchange, by, now, supply) {
                return next;
            }
            has_next = supply.has_next(by);
        }
        let has_frame = has_next || !E::PLAIN && (exchange.has_work(by) || self.beacons.is_due(by));
        if E::PLAIN {
            self.contention.end_success_in::<true>(by, now, has_frame);
            self.set_on_air_in::<true>(OnAir::Silence, self.contention.next_access());
        } else {
            self.contention.end_success_in::<false>(by, now, has_frame);
            self.fall_silent();
        }
        None
    }

    /// Assembles one more exchange in the same TXOP, if there is a frame for which there is time
    /// (IEEE Std 802.11-2020, 10.23.2.8), and returns when it begins. A beacon has a TXOP of its own.
    #[inline(always)]
    fn continues_txop<E: Exchange<P>, S: Supply<P>>(
        &mut self,
        exchange: &mut E,
        by: ContenderId,
        now: Time,
        supply: &mut S,
    ) -> Option<Time> {
        let start = now + self.frames.phy().sifs;
        let left = self.txop.left(start);
        if self.beacons.is_due(by) || !exchange.assemble(self, by, now, Some(left), supply) {
            return None;
        }
        self.contention.continue_txop(by);
        Some(start)
    }

    /// Returns whether `by` has anything to send.
    #[inline]
    fn has_frame<E: Exchange<P>, S: Supply<P>>(
        &self,
        exchange: &E,
        by: ContenderId,
        supply: &S,
    ) -> bool {
        self.originators[by as usize].psdu.is_some()
            || supply.has_next(by)
            || exchange.has_work(by)
            || self.beacons.is_due(by)
    }

    /// Returns the station that the frame of `by` is for that is on the air, or was to be.
    fn sends_to<E: Exchange<P>>(&self, exchange: &E, by: ContenderId) -> Option<StationId> {
        let request = exchange.request(by).map(|(receiver, _)| receiver);
        request.or_else(|| self.originators[by as usize].frames().map(Frames::receiver))
    }
}
