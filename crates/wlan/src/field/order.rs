//! The order of queues that count the same slots at one listener. It stays valid while no queue is
//! added or removed. So passed slots are counted once for all of them, and subtracted from each
//! backoff only when the order ends.

use airtcp_kernel::{Duration, Time};

use super::air::Air;
use super::listener::ListenerId;
use super::node::NONE;
use super::waiting::Waits;
use crate::station::{ContenderId, StationId};

/// The order of queues that count the same slots at the same instants.
#[derive(Clone, Copy, Debug)]
pub(super) struct Order {
    /// The AIFS before their slots.
    pub(super) aifs: Duration,
    /// The station of the queue that accesses the medium first, and the slots of its backoff.
    /// [`NONE`] if no queue has a frame, [`UNKNOWN`] if the value is stale.
    pub(super) first: StationId,
    pub(super) slots: u32,
    /// Passed slots that are not yet subtracted from the queues' backoffs.
    pub(super) passed: u32,
}

/// The station of a queue that has to be looked up.
pub(super) const UNKNOWN: StationId = NONE - 1;

/// After this many slots they are subtracted before more pass.
const MANY_PASSED: u32 = 1 << 24;

/// The maximum number of passed slots; no backoff has more.
const MOST_PASSED: u64 = 1 << 30;

impl Order {
    /// Lets `slots` slots pass.
    #[inline]
    pub(super) fn passes(&mut self, slots: u64) {
        self.passed = (u64::from(self.passed) + slots).min(MOST_PASSED) as u32;
    }
}

impl Air {
    /// Adds `id`, which has drawn a backoff, to the queues that count slots at `place`.
    pub(super) fn counts_at(&mut self, place: ListenerId, id: ContenderId) {
        let Self { listeners, queues, notices_ahead, .. } = self;
        let listener = &mut listeners[place as usize];
        let queue = &mut queues[id as usize];
        let Waits::Counting(backoff) = &mut queue.waits else { return };
        if listener.counting.is_empty() {
            // With OBSS-PD every change of counting queues takes effect at once.
            let new = Order { aifs: queue.aifs, first: NONE, slots: 0, passed: 0 };
            listener.order = notices_ahead.then_some(new);
        }
        // A backoff of no slots without a frame is over one slot after it was drawn.
        let is_over_at_once = !backoff.has_frame && backoff.slots == 0;
        let is_plain = backoff.from == Time::ZERO && !backoff.immediate && !is_over_at_once;
        let is_alike = |order: &&mut Order| is_plain && queue.aifs == order.aifs;
        let Some(order) = listener.order.as_mut().filter(is_alike) else {
            self.count_passed(place);
            self.listeners[place as usize].counting.push(id);
            return;
        };
        listener.counting.push(id);
        // Its backoff does not include the slots that have passed.
        backoff.slots += order.passed;
        if !backoff.has_frame || order.first == UNKNOWN {
            return;
        }
        if order.first == NONE || backoff.slots < order.slots {
            (order.first, order.slots) = (queue.contender.station, backoff.slots);
        } else if backoff.slots == order.slots {
            self.count_passed(place);
        }
    }

    /// Moves the queues of `station` that count slots from the shared listener `together` to its
    /// own.
    pub(super) fn moves_apart(&mut self, station: StationId, together: ListenerId) {
        if self.listeners[together as usize].order.is_some_and(|order| order.first == station) {
            self.count_passed(together);
        }
        let ids = self.nodes[station as usize].contenders();
        let mut shared = &mut self.listeners[together as usize];
        let passed = shared.order.map_or(0, |order| order.passed);
        let mut place = 0;
        while let Some(&id) = shared.counting.get(place) {
            if !ids.contains(&id) {
                place += 1;
                continue;
            }
            self.listeners[together as usize].counting.swap_remove(place);
            if self.queues[id as usize].has_counted(passed) {
                self.counts_at(station, id);
            } else {
                self.nodes[station as usize].counting -= 1;
            }
            shared = &mut self.listeners[together as usize];
        }
    }

    /// Moves the queues of `station` that count slots from its own listener to the shared one,
    /// `together`.
    pub(super) fn moves_together(&mut self, station: StationId, together: ListenerId) {
        self.count_passed(station);
        while let Some(id) = self.listeners[station as usize].counting.pop() {
            self.counts_at(together, id);
        }
    }

    /// Subtracts the passed slots from the backoffs of the queues at `place`, before one is added
    /// or removed.
    #[inline]
    pub(super) fn count_passed(&mut self, place: ListenerId) {
        if let Some(order) = self.listeners[place as usize].order.take()
            && order.passed > 0
        {
            self.count_slots(place, order.passed);
        }
    }

    fn count_slots(&mut self, place: ListenerId, passed: u32) {
        let Self { listeners, nodes, queues, .. } = self;
        let counting = &mut listeners[place as usize].counting;
        let mut one = 0;
        while let Some(&id) = counting.get(one) {
            let queue = &mut queues[id as usize];
            if queue.has_counted(passed) {
                one += 1;
            } else {
                nodes[queue.contender.station as usize].counting -= 1;
                counting.swap_remove(one);
            }
        }
    }

    /// Finds the first of the queues that count the same slots at `place`. Returns their order if
    /// one queue is first, or if none has a frame.
    pub(super) fn find_first(&mut self, place: ListenerId) -> Option<Order> {
        let Self { listeners, queues, .. } = self;
        let listener = &mut listeners[place as usize];
        let order = listener.order.as_mut()?;
        (order.first, order.slots) = (NONE, u32::MAX);
        let mut is_one = order.passed < MANY_PASSED;
        for &id in &listener.counting {
            let queue = &queues[id as usize];
            let Waits::Counting(backoff) = queue.waits else { continue };
            if backoff.has_frame && backoff.slots <= order.slots {
                is_one &= backoff.slots < order.slots;
                (order.first, order.slots) = (queue.contender.station, backoff.slots);
            }
        }
        is_one.then_some(*order)
    }

    /// Finds the next access of the stations that listen at `place`, queue by queue, and their
    /// order if they count the same slots.
    #[inline(never)]
    pub(super) fn find_order(&mut self, place: ListenerId) {
        let Self { listeners, queues, settings, .. } = self;
        let listener = &listeners[place as usize];
        let mut access = Time::NEVER;
        let mut winners = std::mem::take(&mut self.winners);
        let aifs = queues[listener.counting[0] as usize].aifs;
        let mut order = Order { aifs, first: NONE, slots: 0, passed: 0 };
        // With OBSS-PD every change of counting queues takes effect at once.
        let mut is_order = self.notices_ahead;
        for &id in &listener.counting {
            let queue = &queues[id as usize];
            let Waits::Counting(backoff) = queue.waits else { continue };
            is_order &= queue.aifs == aifs && backoff.from == Time::ZERO && !backoff.immediate;
            if backoff.has_frame {
                let end = queue.end(listener, settings, backoff);
                if end < access {
                    access = end;
                    winners.clear();
                    order.slots = backoff.slots;
                }
                if end == access {
                    winners.push(queue.contender.station);
                }
            }
        }
        if let [first] = winners[..] {
            order.first = first;
        } else if winners.len() > 1 {
            is_order = false;
            // A station with two queues may be listed twice.
            winners.sort_unstable();
            winners.dedup();
        }
        let listener = &mut self.listeners[place as usize];
        listener.order = is_order.then_some(order);
        if access == listener.access && winners == listener.winners {
            winners.clear();
            self.winners = winners;
            return;
        }
        listener.access = access;
        let mut others = std::mem::replace(&mut listener.winners, winners);
        for station in others.drain(..) {
            if !self.listeners[place as usize].winners.contains(&station) {
                self.set_access(station, Time::NEVER);
            }
        }
        self.winners = others;
        let mut one = 0;
        while let Some(&station) = self.listeners[place as usize].winners.get(one) {
            self.set_access(station, access);
            one += 1;
        }
    }
}
