//! The queues of a field that contend for the medium, and their remaining backoffs. The rules are
//! those of [`contention`](crate::contention), applied to each station with the medium as it senses
//! it.

use airtcp_kernel::Time;

use super::air::Air;
use super::clock::{Key, Rank};
use super::listener::{Listener, ListenerId};
use super::node::{NONE, Node, Sends};
use super::order::UNKNOWN;
use crate::config::ArrivalBeforeOwnAck;
use crate::contention::{Contender, Settings};
use crate::station::{ContenderId, StationId};

/// A queue that contends.
#[derive(Debug)]
pub(super) struct Queue {
    pub(super) contender: Contender,
    pub(super) aifs: airtcp_kernel::Duration,
    pub(super) waits: Waits,
}

/// The state of a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Waits {
    /// No frame, no backoff.
    Idle,
    /// A backoff, with a frame, or after a success or drop.
    Counting(Backoff),
    /// Its station sends for it, or waits for a response.
    Exchanging,
}

/// A remaining backoff.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Backoff {
    pub(super) slots: u32,
    pub(super) has_frame: bool,
    /// No slot begins before this instant.
    pub(super) from: Time,
    /// The frame found the medium idle. It needs a backoff only if the medium becomes busy before
    /// it is sent.
    pub(super) immediate: bool,
}

impl Waits {
    /// True if it draws a backoff when the medium becomes busy.
    #[inline]
    pub(super) fn will_draw(self) -> bool {
        matches!(self, Self::Counting(Backoff { immediate: true, .. }))
    }
}

impl Backoff {
    /// Creates a backoff that starts as soon as the medium allows.
    pub(super) fn of(slots: u32, has_frame: bool) -> Self {
        Self { slots, has_frame, from: Time::ZERO, immediate: false }
    }
}

impl Queue {
    /// Returns when the slots of `backoff` begin.
    #[inline]
    fn start(&self, listener: &Listener, backoff: Backoff) -> Time {
        (listener.spaces_begin() + self.aifs).max(backoff.from)
    }

    /// Returns when its backoff ends if the medium stays idle.
    #[inline]
    pub(super) fn end(&self, listener: &Listener, settings: &Settings, backoff: Backoff) -> Time {
        self.start(listener, backoff) + settings.slot_time * u64::from(backoff.slots)
    }

    /// Counts the passed slots when the medium becomes busy at `now`. Returns whether anything is
    /// left to count, and whether the backoff is unchanged because no slot has begun.
    #[inline(always)]
    fn freeze(&mut self, listener: &Listener, settings: &Settings, now: Time) -> (bool, bool) {
        let Waits::Counting(backoff) = self.waits else { return (false, false) };
        let start = self.start(listener, backoff);
        if now < start {
            let is_plain = backoff.from == Time::ZERO && !backoff.immediate;
            return (is_plain || self.count(backoff, 0), is_plain);
        }
        let counted = (now - start) / settings.slot_time + settings.boundary_slots;
        (self.count(backoff, counted), false)
    }

    /// Counts `passed` slots. Returns false if nothing is left to count.
    pub(super) fn has_counted(&mut self, passed: u32) -> bool {
        let Waits::Counting(backoff) = self.waits else { return false };
        passed == 0 || self.count(backoff, u64::from(passed))
    }

    /// Counts no slot while its station has an exchange. Returns false if nothing is left to count.
    fn stands_still(&mut self) -> bool {
        let Waits::Counting(backoff) = self.waits else { return false };
        self.count(backoff, 0)
    }

    /// Counts `counted` slots. Returns false if nothing is left to count.
    fn count(&mut self, backoff: Backoff, counted: u64) -> bool {
        let left = if backoff.immediate {
            // 10.3.4.2: the medium became busy before it was idle for DIFS.
            self.contender.draw_backoff()
        } else {
            u64::from(backoff.slots).saturating_sub(counted) as u32
        };
        let is_over = !backoff.has_frame && counted > 0 && left == 0;
        self.waits = if is_over {
            Waits::Idle
        } else {
            Waits::Counting(Backoff::of(left, backoff.has_frame))
        };
        !is_over
    }
}

impl Air {
    /// Starts contention for `id`, whose queue was empty. Does nothing if it contends already.
    pub(super) fn frame_queued(&mut self, id: ContenderId, now: Time) {
        let queue = &self.queues[id as usize];
        let place = self.nodes[queue.contender.station as usize].listener;
        let waits = queue.waits;
        self.settle_notice(place, now);
        if waits != Waits::Idle {
            self.count_passed(place);
        }
        let queue = &mut self.queues[id as usize];
        let node = &mut self.nodes[queue.contender.station as usize];
        match queue.waits {
            Waits::Idle => self.begin_access(id, now),
            Waits::Counting(backoff) if !backoff.has_frame => {
                let listener = &mut self.listeners[place as usize];
                let is_counting = !listener.is_busy && !node.is_engaged();
                if is_counting && queue.end(listener, &self.settings, backoff) < now {
                    queue.waits = Waits::Idle;
                    node.counting -= 1;
                    let counting = &mut listener.counting;
                    let one = counting.iter().position(|&one| one == id);
                    counting.swap_remove(one.expect("what counts is among what counts"));
                    self.begin_access(id, now);
                } else {
                    queue.waits = Waits::Counting(Backoff { has_frame: true, ..backoff });
                    self.find_access(place);
                }
            }
            Waits::Counting(_) | Waits::Exchanging => {}
        }
    }

    /// Starts the access of a queue without a pending backoff, at `now`.
    fn begin_access(&mut self, id: ContenderId, now: Time) {
        let Self { queues, nodes, listeners, settings, .. } = self;
        let queue = &mut queues[id as usize];
        let node = &mut nodes[queue.contender.station as usize];
        let place = node.listener;
        let listener = &mut listeners[place as usize];
        let is_answering =
            node.sends == Sends::Soon && node.exchange.is_none() && !listener.is_busy;
        let backoff = if is_answering
            && settings.immediate_access
            && settings.arrival_before_own_ack == ArrivalBeforeOwnAck::Idle
        {
            Backoff::of(0, true)
        } else if listener.is_busy || node.is_engaged() || listener.nav > now {
            // 10.3.4.2: the medium is busy, so the backoff procedure is followed.
            Backoff::of(queue.contender.draw_backoff(), true)
        } else {
            let origin = listener.spaces_begin() + queue.aifs;
            if settings.immediate_access {
                let from = settings.first_boundary(origin, now);
                Backoff { slots: 0, has_frame: true, from, immediate: true }
            } else {
                let from = (now + queue.aifs).max(origin);
                let slots = queue.contender.draw_backoff();
                Backoff { slots, has_frame: true, from, immediate: false }
            }
        };
        queue.waits = Waits::Counting(backoff);
        node.counting += 1;
        node.is_restricted |= !listener.ignored.is_empty();
        self.counts_at(place, id);
        self.find_access(place);
    }

    /// Counts a success of `by`.
    #[inline]
    pub(super) fn succeeds(&mut self, by: ContenderId) {
        let contender = &mut self.queues[by as usize].contender;
        contender.counters.successes += 1;
        // IEEE 802.11-2020, 10.3.3: CW is reset after every success.
        contender.cw = contender.cw_min;
    }

    /// Starts the backoff of `id` after its exchange, or after an internal collision with a
    /// higher-priority queue.
    pub(super) fn back_off(&mut self, id: ContenderId, has_frame: bool, post_backoff: bool) {
        let queue = &mut self.queues[id as usize];
        if has_frame || post_backoff {
            let node = &mut self.nodes[queue.contender.station as usize];
            node.counting += 1;
            queue.waits = Waits::Counting(Backoff::of(queue.contender.draw_backoff(), has_frame));
            let place = node.listener;
            self.counts_at(place, id);
        } else {
            queue.waits = Waits::Idle;
        }
    }

    /// Restricts the transmit power of the stations that contend at `place`, which ignores a frame
    /// from now on, until their next TXOP has ended (IEEE Std 802.11ax-2021, 26.10.2.4).
    pub(super) fn restrict(&mut self, place: ListenerId) {
        for &id in &self.listeners[place as usize].counting {
            let station = self.queues[id as usize].contender.station;
            self.nodes[station as usize].is_restricted = true;
        }
    }

    /// Ends the power restriction of `station`, whose TXOP has ended, unless it ignores a frame and
    /// contends again.
    #[inline]
    pub(super) fn restriction_ends(&mut self, station: StationId) {
        let node = &mut self.nodes[station as usize];
        let ignores = !self.listeners[node.listener as usize].ignored.is_empty();
        node.is_restricted = ignores && node.counting > 0;
    }

    /// Sets the medium busy for `listener` at `now` and freezes its backoffs.
    #[inline]
    pub(super) fn medium_busy(&mut self, listener: ListenerId, now: Time) {
        let one = &mut self.listeners[listener as usize];
        if !std::mem::replace(&mut one.is_busy, true) && !one.counting.is_empty() {
            self.freeze(listener, now);
        }
    }

    /// Counts the passed slots of the queues at `place` when the medium becomes busy at `now`.
    #[inline]
    pub(super) fn freeze(&mut self, place: ListenerId, now: Time) {
        let Self { listeners, nodes, settings, .. } = self;
        let listener = &mut listeners[place as usize];
        let is_exchanging = nodes.get(place as usize).is_some_and(|node| node.exchange.is_some());
        if let Some(mut order) = listener.order {
            let start = listener.spaces_begin() + order.aifs;
            if !is_exchanging && now >= start {
                order.passes((now - start) / settings.slot_time + settings.boundary_slots);
                listener.order = Some(order);
            } else if !is_exchanging && !listener.is_sending {
                return;
            }
            if !listener.winners.is_empty() {
                self.forget_access(place);
            }
        } else {
            self.freeze_each(place, now);
        }
    }

    /// Handles [`Self::freeze`] if the order of the queues is unknown.
    #[inline(never)]
    fn freeze_each(&mut self, place: ListenerId, now: Time) {
        let Self { listeners, nodes, queues, settings, .. } = self;
        let listener = &mut listeners[place as usize];
        let is_exchanging = nodes.get(place as usize).is_some_and(|node| node.exchange.is_some());
        // Usually no slot begins, for example between a frame and its response. Then the next
        // access stays where it was, or is looked up before.
        let mut is_left_alone = !listener.is_sending && !is_exchanging;
        let mut one = 0;
        while let Some(&id) = listener.counting.get(one) {
            let queue = &mut queues[id as usize];
            let goes_on = if is_exchanging {
                queue.stands_still()
            } else {
                let (goes_on, stays) = queue.freeze(listener, settings, now);
                is_left_alone &= stays;
                goes_on
            };
            if goes_on {
                one += 1;
            } else {
                nodes[queue.contender.station as usize].counting -= 1;
                listener.counting.swap_remove(one);
            }
        }
        if !is_left_alone && !listener.winners.is_empty() {
            self.forget_access(place);
        }
    }

    /// Sets the medium idle for `listener` at `now`.
    #[inline]
    pub(super) fn medium_idle(&mut self, listener: ListenerId, now: Time) {
        let one = &mut self.listeners[listener as usize];
        one.is_busy = false;
        one.idle_from = one.idle_from.max(now);
        if !one.counting.is_empty() {
            self.find_access(listener);
        }
    }

    /// Cancels the next access of the stations that listen at `place`.
    pub(super) fn forget_access(&mut self, place: ListenerId) {
        let listener = &mut self.listeners[place as usize];
        listener.access = Time::NEVER;
        if let [station] = listener.winners[..] {
            listener.winners.clear();
            return self.set_access(station, Time::NEVER);
        }
        while let Some(station) = self.listeners[place as usize].winners.pop() {
            self.set_access(station, Time::NEVER);
        }
    }

    /// Schedules the access of `station`, which has no frame on the air.
    #[inline(always)]
    pub(super) fn set_access(&mut self, station: StationId, access: Time) {
        let node = &mut self.nodes[station as usize];
        debug_assert_eq!(node.sends, Sends::Nothing);
        node.acts = Key::new(access, Rank::Start);
        let other = node.timeout.min(self.listeners[station as usize].nav_reset);
        self.clock.set(station, node.acts.min(Key::new(other, Rank::Timeout)));
    }

    /// Schedules the next access of the stations that listen at `place`.
    pub(super) fn find_access(&mut self, place: ListenerId) {
        self.find_next_access(place);
    }

    /// Inlined version of [`Self::find_access`] for the ends of busy periods.
    #[inline(always)]
    pub(super) fn find_next_access(&mut self, place: ListenerId) {
        let Self { listeners, nodes, .. } = self;
        let listener = &mut listeners[place as usize];
        let is_engaged = || nodes.get(place as usize).is_some_and(Node::is_engaged);
        if listener.is_busy || listener.counting.is_empty() || is_engaged() {
            if !listener.winners.is_empty() {
                self.forget_access(place);
            }
            return;
        }
        let Some(mut order) = listener.order else { return self.find_order(place) };
        if order.first == UNKNOWN {
            let Some(found) = self.find_first(place) else {
                self.count_passed(place);
                return self.find_access_anew(place);
            };
            order = found;
        }
        let Self { listeners, settings, .. } = self;
        let listener = &mut listeners[place as usize];
        if order.first == NONE {
            if !listener.winners.is_empty() {
                self.forget_access(place);
            }
            return;
        }
        if order.passed > order.slots {
            // So many slots have passed since that other backoffs may be over, too.
            self.count_passed(place);
            return self.find_access_anew(place);
        }
        let left = settings.slot_time * u64::from(order.slots - order.passed);
        let access = listener.spaces_begin() + order.aifs + left;
        let is_first = matches!(listener.winners[..], [one] if one == order.first);
        if listener.access == access && is_first {
            return;
        }
        if !is_first {
            if !listener.winners.is_empty() {
                self.forget_access(place);
            }
            self.listeners[place as usize].winners.push(order.first);
        }
        self.listeners[place as usize].access = access;
        self.set_access(order.first, access);
    }

    /// Schedules the next access of the stations that listen at `place` from scratch; some backoffs
    /// may be over.
    #[inline(never)]
    fn find_access_anew(&mut self, place: ListenerId) {
        if !self.listeners[place as usize].counting.is_empty() {
            self.find_order(place);
        } else if !self.listeners[place as usize].winners.is_empty() {
            self.forget_access(place);
        }
    }

    /// Merges the winners of `station` into those of `place`, where it listens from now on.
    pub(super) fn merge_access(&mut self, place: ListenerId, station: StationId) {
        let own = &mut self.listeners[station as usize];
        let access = std::mem::replace(&mut own.access, Time::NEVER);
        let mut winners = std::mem::take(&mut own.winners);
        let of_others = self.listeners[place as usize].access;
        if access < of_others {
            self.forget_access(place);
            self.listeners[place as usize].access = access;
        } else if access > of_others {
            for station in winners.drain(..) {
                self.set_access(station, Time::NEVER);
            }
        }
        self.listeners[place as usize].winners.append(&mut winners);
        self.listeners[station as usize].winners = winners;
    }

    /// Lists the queues of `station` whose backoffs end at `now`, highest priority first. The
    /// station has its own listener. The other queues keep counting.
    pub(super) fn take_accesses(&mut self, station: StationId, now: Time) {
        self.together.clear();
        self.count_passed(station);
        let node = &mut self.nodes[station as usize];
        let listener = &mut self.listeners[station as usize];
        for id in node.contenders() {
            let queue = &mut self.queues[id as usize];
            if let Waits::Counting(backoff) = queue.waits
                && backoff.has_frame
                && queue.end(listener, &self.settings, backoff) == now
            {
                queue.waits = Waits::Exchanging;
                self.together.push(id);
            }
        }
        node.counting -= self.together.len() as u32;
        node.acts = Key::NEVER;
        listener.winners.clear();
        listener.access = Time::NEVER;
        if node.counting == 0 {
            listener.counting.clear();
        } else {
            listener.counting.retain(|id| !self.together.contains(id));
        }
    }
}
