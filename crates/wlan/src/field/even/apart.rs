//! The listeners of an even field: when one gets at the medium next, who listens apart after a collision, and who listens
//! together again. Knows backoffs and busy periods, and no exchange.

use airtcp_kernel::Time;

use super::Place;
use super::log::Passed;
use crate::field::Field;
use crate::field::air::Air;
use crate::field::listener::ListenerId;
use crate::field::node::Node;
use crate::field::order::UNKNOWN;
use crate::field::waiting::Waits;
use crate::station::{ContenderId, StationId};

impl<P: Clone> Field<P> {
    /// Has `station`, whose data collide, listen apart from the instant on at which it has sent them.
    pub(super) fn part(&mut self, station: StationId) {
        let Self { air, groups, hearing, .. } = self;
        let node = &mut air.nodes[station as usize];
        let together = node.listener;
        if together == station {
            return;
        }
        node.listener = station;
        groups[node.group as usize].parts(station);
        let start = air.journal.one(node.sent).frame.start;
        for ear in hearing.of(station) {
            groups[ear.group as usize].is_heard_by(station);
        }
        let under_way = air.journal.part(station, together, start.saturating_sub(air.detect));
        let noticed = air.listeners[together as usize].noticed;
        let own = &mut air.listeners[station as usize];
        debug_assert!(own.counting.is_empty() && own.winners.is_empty());
        (own.idle_from, own.nav, own.eifs) = (start, Time::ZERO, Time::ZERO);
        own.order = None;
        (own.under_way, own.noticed, own.is_frozen) = (under_way, noticed, false);
    }

    /// Has `station`, of which a busy period is over at `now`, listen together with its group again if it knows what that
    /// knows and waits for nothing.
    pub(super) fn join(&mut self, station: StationId, now: Time) {
        let Self { air, groups, hearing, .. } = self;
        let node = &air.nodes[station as usize];
        if node.is_engaged() || node.timeout != Time::NEVER {
            return;
        }
        let group = node.group;
        let together = groups[group as usize].listener();
        let (own, shared) = (&air.listeners[station as usize], &air.listeners[together as usize]);
        if shared.under_way > 0 || !own.knows_as(shared, now) {
            return;
        }
        air.forget_access(station);
        groups[group as usize].joins(station);
        for ear in hearing.of(station) {
            groups[ear.group as usize].is_heard_by_no_more(station);
        }
        air.nodes[station as usize].listener = together;
        air.moves_together(station, together);
        air.awaits_access(together, (air.reached, StationId::MAX));
    }
}

impl Air {
    /// Takes `by`, whose exchange begins, from the queues of `station` that count slots.
    #[inline]
    pub(super) fn takes_access(&mut self, station: StationId, by: ContenderId) {
        self.queues[by as usize].waits = Waits::Exchanging;
        let node = &mut self.nodes[station as usize];
        node.counting -= 1;
        let place = node.listener;
        let listener = &mut self.listeners[place as usize];
        let one = listener.counting.iter().position(|&id| id == by);
        listener.counting.swap_remove(one.expect("who gets at the medium has counted slots"));
        if let Some(order) = &mut listener.order {
            // All others have a slot left at least.
            order.first = UNKNOWN;
            listener.winners.clear();
            listener.access = Time::NEVER;
            return;
        }
        listener.winners.retain(|&one| one != station);
        if listener.winners.is_empty() {
            listener.access = Time::NEVER;
            if !listener.counting.is_empty() {
                // One that counts other slots may begin before it has noticed that.
                self.find_access(place);
                self.drops_late_access(place);
            }
        }
    }

    /// Freezes the queues at `place`, where a busy period is under way, as of the instant at which that is noticed.
    #[inline]
    pub(super) fn freezes(&mut self, place: ListenerId) {
        let listener = &mut self.listeners[place as usize];
        if !std::mem::replace(&mut listener.is_frozen, true) && !listener.counting.is_empty() {
            let noticed = listener.noticed.0.time();
            self.freeze(place, noticed);
        }
    }

    /// Ends a busy period at `place` at `now`, of which so much is left.
    #[inline]
    pub(super) fn period_ends(&mut self, place: ListenerId, passed: Passed, now: Time) {
        self.freezes(place);
        let listener = &mut self.listeners[place as usize];
        if let Some(eifs) = passed.eifs {
            listener.eifs = eifs;
        }
        listener.nav = listener.nav.max(passed.nav);
        listener.idle_from = now;
    }

    /// Looks up at `limit` when one at `place` gets at the medium next: if it is busy, when it is idle again.
    #[inline(always)]
    pub(super) fn awaits_access(&mut self, place: ListenerId, limit: Place) {
        let listener = &self.listeners[place as usize];
        let is_engaged = || self.nodes.get(place as usize).is_some_and(Node::is_engaged);
        if listener.counting.is_empty() || listener.is_noticed(limit) || is_engaged() {
            if !listener.winners.is_empty() {
                self.forget_access(place);
            }
            return;
        }
        self.find_next_access(place);
        self.drops_late_access(place);
    }

    /// Forgets the access at `place` if it is behind the instant at which the medium is known to be busy there.
    #[inline]
    pub(super) fn drops_late_access(&mut self, place: ListenerId) {
        let listener = &self.listeners[place as usize];
        if listener.under_way > 0
            && !listener.winners.is_empty()
            && listener.access > listener.noticed.0.time()
        {
            self.forget_access(place);
        }
    }
}
