//! The queues of a field that contend for the medium. The rules are those of
//! [`contention`](crate::contention), applied at each listener with the medium as it senses it.

use airtcp_kernel::Time;

use super::air::Air;
use super::clock::{Key, Rank};
use super::listener::ListenerId;
use super::node::{NONE, Node, Sends};
use crate::config::ArrivalBeforeOwnAck;
use crate::contention::{Backoffs, Contender, Senses, Settings, State};
use crate::station::{ContenderId, StationId};

/// The backoffs that a listener counts, and the spaces before their slots.
#[derive(Debug)]
pub(super) struct Waiting {
    /// Ends of the last busy period or timeout (`idle_from`), of the NAV (`nav`), and of EIFS
    /// before its final DIFS (`eifs`).
    pub(super) idle_from: Time,
    pub(super) nav: Time,
    pub(super) eifs: Time,
    /// When `winner` accesses the medium if it stays idle (stale if it did not); [`Time::NEVER`]
    /// and [`NONE`] if no station does. Of several winners this is the one with the lowest number.
    pub(super) access: Time,
    pub(super) winner: StationId,
    pub(super) backoffs: Backoffs,
}

impl Waiting {
    /// Creates the state at time zero with an idle medium.
    pub(super) fn new(backoffs: Backoffs) -> Self {
        let (idle_from, nav, eifs) = (Time::ZERO, Time::ZERO, Time::ZERO);
        Self { idle_from, nav, eifs, access: Time::NEVER, winner: NONE, backoffs }
    }

    /// Returns when its inter-frame spaces begin if the medium stays idle.
    #[inline]
    pub(super) fn spaces_begin(&self) -> Time {
        self.idle_from.max(self.nav).max(self.eifs)
    }

    /// Copies the spaces of `other`.
    pub(super) fn sense_as(&mut self, other: &Self) {
        (self.idle_from, self.nav, self.eifs) = (other.idle_from, other.nav, other.eifs);
    }

    /// True if both have the same NAV and EIFS at `now`.
    pub(super) fn is_bound_as(&self, other: &Self, now: Time) -> bool {
        let is_alike = |one: Time, other: Time| one.max(now) == other.max(now);
        is_alike(self.nav, other.nav) && is_alike(self.eifs, other.eifs)
    }

    /// Counts the passed slots when the medium becomes busy at `now`. Returns whether anything has
    /// changed.
    #[inline]
    pub(super) fn freeze(
        &mut self,
        now: Time,
        settings: &Settings,
        queues: &mut [Contender],
    ) -> bool {
        let spaces = self.spaces_begin();
        self.backoffs.freeze(spaces, now, settings, queues)
    }

    /// Returns the next access, and whose it is, if the medium stays idle.
    #[inline]
    pub(super) fn look_up(&self, settings: &Settings, queues: &[Contender]) -> (Time, StationId) {
        self.backoffs.first(self.spaces_begin(), settings.slot_time, queues)
    }

    /// Moves the backoff of `id` to `other`. Returns whether it has one.
    pub(super) fn move_to(
        &mut self,
        other: &mut Self,
        id: ContenderId,
        queues: &mut [Contender],
    ) -> bool {
        let left = self.backoffs.leave(id, queues);
        let contender = &mut queues[id as usize];
        if let Some(left) = left {
            other.backoffs.join(left, contender);
        } else if contender.state != State::Exchanging {
            contender.state = State::Idle;
        }
        left.is_some()
    }
}

impl Air {
    /// Starts contention for `id`, whose queue was empty. Does nothing if it contends already.
    pub(super) fn frame_queued(&mut self, id: ContenderId, now: Time) {
        let place = self.nodes[self.queues[id as usize].station as usize].listener;
        self.settle_notice(place, now);
        let Self { queues, nodes, listeners, settings, .. } = self;
        let queue = &mut queues[id as usize];
        if queue.has_frame() {
            return;
        }
        let node = &mut nodes[queue.station as usize];
        let listener = &mut listeners[place as usize];
        let is_answering =
            node.sends == Sends::Soon && node.exchange.is_none() && !listener.is_busy;
        let waiting = &mut listener.waiting;
        let finds_idle = settings.arrival_before_own_ack == ArrivalBeforeOwnAck::Idle;
        let senses = if is_answering && finds_idle {
            Senses::IdleBeforeAck
        } else if listener.is_busy || node.is_engaged() || waiting.nav > now {
            Senses::Busy
        } else {
            Senses::Idle(waiting.spaces_begin())
        };
        let begins = waiting.backoffs.frame_queued(id, queue, senses, now, settings);
        node.is_restricted |= begins && !listener.ignored.is_empty();
        self.find_access(place);
    }

    /// Counts a success of `by`.
    #[inline]
    pub(super) fn succeeds(&mut self, by: ContenderId) {
        let contender = &mut self.queues[by as usize];
        contender.counters.successes += 1;
        // IEEE 802.11-2020, 10.3.3: CW is reset after every success.
        contender.cw = contender.cw_min;
    }

    /// Starts the backoff of `id` after its exchange, or after an internal collision with a
    /// higher-priority queue.
    pub(super) fn back_off(&mut self, id: ContenderId, has_frame: bool, post_backoff: bool) {
        let queue = &mut self.queues[id as usize];
        let place = self.nodes[queue.station as usize].listener;
        let backoffs = &mut self.listeners[place as usize].waiting.backoffs;
        backoffs.back_off(id, queue, has_frame, post_backoff);
    }

    /// Restricts the transmit power of those of `stations` that contend at `place`, which ignores a
    /// frame from now on, until their next TXOP has ended (IEEE Std 802.11ax-2021, 26.10.2.4).
    pub(super) fn restrict(&mut self, place: ListenerId, stations: &[StationId]) {
        for &station in stations {
            if self.listens_as(station, place) && self.contends(station) {
                self.nodes[station as usize].is_restricted = true;
            }
        }
    }

    /// Ends the power restriction of `station`, whose TXOP has ended, unless it ignores a frame and
    /// contends again.
    #[inline]
    pub(super) fn restriction_ends(&mut self, station: StationId) {
        let place = self.nodes[station as usize].listener;
        let ignores = !self.listeners[place as usize].ignored.is_empty();
        self.nodes[station as usize].is_restricted = ignores && self.contends(station);
    }

    /// True if a queue of `station` has a backoff, with or without a frame.
    fn contends(&self, station: StationId) -> bool {
        let node = &self.nodes[station as usize];
        let backoffs = &self.listeners[node.listener as usize].waiting.backoffs;
        node.contenders().any(|id| backoffs.has(&self.queues[id as usize]))
    }

    /// Sets the medium busy for `listener` at `now` and freezes its backoffs.
    #[inline]
    pub(super) fn medium_busy(&mut self, listener: ListenerId, now: Time) {
        if !std::mem::replace(&mut self.listeners[listener as usize].is_busy, true) {
            self.freeze(listener, now);
        }
    }

    /// Counts the passed slots of the queues at `place` when the medium becomes busy at `now`.
    #[inline]
    pub(super) fn freeze(&mut self, place: ListenerId, now: Time) {
        let Self { listeners, nodes, queues, settings, .. } = self;
        let listener = &mut listeners[place as usize];
        let is_exchanging = nodes.get(place as usize).is_some_and(|node| node.exchange.is_some());
        // No slot passes while the station has an exchange.
        let now = if is_exchanging { Time::ZERO } else { now };
        let changes = listener.waiting.freeze(now, settings, queues);
        // Usually no slot begins, for example between a frame and its response. Then the next
        // access stays where it was, or is looked up before.
        if (changes || is_exchanging || listener.is_sending) && listener.waiting.winner != NONE {
            self.forget_access(place);
        }
    }

    /// Sets the medium idle for `listener` at `now`.
    #[inline]
    pub(super) fn medium_idle(&mut self, listener: ListenerId, now: Time) {
        let one = &mut self.listeners[listener as usize];
        one.is_busy = false;
        one.waiting.idle_from = one.waiting.idle_from.max(now);
        self.find_access(listener);
    }

    /// Cancels the next access of the stations that listen at `place`.
    pub(super) fn forget_access(&mut self, place: ListenerId) {
        self.has_access(place, (Time::NEVER, NONE));
    }

    /// Records the next access at `place`, and whose it is.
    #[inline]
    fn has_access(&mut self, place: ListenerId, (access, winner): (Time, StationId)) {
        let waiting = &mut self.listeners[place as usize].waiting;
        let other = std::mem::replace(&mut waiting.winner, winner);
        waiting.access = access;
        if other != NONE && other != winner {
            self.set_access(other, Time::NEVER);
        }
        if winner != NONE {
            self.set_access(winner, access);
        }
    }

    /// Schedules the access of `station`, which has no frame on the air.
    #[inline(always)]
    fn set_access(&mut self, station: StationId, access: Time) {
        let node = &mut self.nodes[station as usize];
        debug_assert_eq!(node.sends, Sends::Nothing);
        node.acts = Key::new(access, Rank::Start);
        let other = node.timeout.min(self.listeners[station as usize].nav_reset);
        self.clock.set(station, node.acts.min(Key::new(other, Rank::Timeout)));
    }

    /// Schedules the next access of the stations that listen at `place`.
    #[inline]
    pub(super) fn find_access(&mut self, place: ListenerId) {
        let Self { listeners, nodes, queues, settings, .. } = self;
        let listener = &listeners[place as usize];
        let is_engaged = || nodes.get(place as usize).is_some_and(Node::is_engaged);
        let waiting = &listener.waiting;
        let next = if listener.is_busy || is_engaged() {
            (Time::NEVER, NONE)
        } else {
            waiting.look_up(settings, queues)
        };
        if next != (waiting.access, waiting.winner) {
            self.has_access(place, next);
        }
    }

    /// Lists the queues of `station` whose backoffs end at `now`, highest priority first. The
    /// station has its own listener. The other queues keep counting.
    pub(super) fn take_accesses(&mut self, station: StationId, now: Time) {
        self.together.clear();
        let Self { queues, nodes, listeners, settings, together, .. } = self;
        let node = &mut nodes[station as usize];
        let waiting = &mut listeners[station as usize].waiting;
        let spaces = waiting.spaces_begin();
        for id in node.contenders() {
            let queue = &queues[id as usize];
            if waiting.backoffs.end(id, queue, spaces, settings.slot_time) == now {
                waiting.backoffs.leave(id, queues);
                queues[id as usize].state = State::Exchanging;
                together.push(id);
            }
        }
        node.acts = Key::NEVER;
        (waiting.access, waiting.winner) = (Time::NEVER, NONE);
    }

    /// Moves the backoffs of `station` from one listener to another, one of which is shared.
    /// Returns whether it has any.
    pub(super) fn move_backoffs(
        &mut self,
        station: StationId,
        (from, to): (ListenerId, ListenerId),
    ) -> bool {
        let Ok([from, to]) = self.listeners.get_disjoint_mut([from as usize, to as usize]) else {
            unreachable!("they are two");
        };
        let mut has_any = false;
        for id in self.nodes[station as usize].contenders() {
            has_any |= from.waiting.move_to(&mut to.waiting, id, &mut self.queues);
        }
        has_any
    }
}
