//! The queues of a field that wait for the medium: what each has left of its backoff. The rules are those of
//! [`contention`](crate::contention), for one station at a time, with the medium as that station knows it.

use airtcp_kernel::Time;

use super::Field;
use super::node::Node;
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
    /// A backoff of so many slots; with a frame, or after a success or a drop.
    Counting(Backoff),
    /// Its station sends, or waits for an answer, for it.
    Exchanging,
}

/// The rest of a backoff.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Backoff {
    pub(super) slots: u32,
    pub(super) has_frame: bool,
    /// No slot begins before this instant.
    pub(super) from: Time,
    /// The frame found the medium idle, and needs a backoff only if that changes before it goes.
    pub(super) immediate: bool,
}

impl Backoff {
    /// Makes a backoff that counts as the medium allows.
    pub(super) fn of(slots: u32, has_frame: bool) -> Self {
        Self { slots, has_frame, from: Time::ZERO, immediate: false }
    }
}

impl Queue {
    /// Returns the instant at which the slots of `backoff` begin.
    #[inline]
    fn start(&self, node: &Node, backoff: Backoff) -> Time {
        (node.spaces_begin() + self.aifs).max(backoff.from)
    }

    /// Returns the instant at which its backoff ends if the medium stays idle.
    #[inline]
    fn end(&self, node: &Node, settings: &Settings, backoff: Backoff) -> Time {
        self.start(node, backoff) + settings.slot_time * u64::from(backoff.slots)
    }

    /// Counts the slots that have passed when the medium becomes busy at `now`. Returns false if nothing is left to
    /// count.
    fn freeze(&mut self, node: &Node, settings: &Settings, now: Time) -> bool {
        let Waits::Counting(backoff) = self.waits else { return false };
        let start = self.start(node, backoff);
        let counted = if now < start || node.exchange.is_some() {
            0
        } else {
            (now - start) / settings.slot_time + settings.boundary_slots
        };
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

impl<P: Clone> Field<P> {
    /// Lets `id`, whose queue was empty, contend for the medium; if it contends already, nothing changes.
    pub(super) fn frame_queued(&mut self, id: ContenderId, now: Time) {
        let queue = &mut self.queues[id as usize];
        let station = queue.contender.station;
        let node = &self.nodes[station as usize];
        match queue.waits {
            Waits::Idle => self.begin_access(id, now),
            Waits::Counting(backoff) if !backoff.has_frame => {
                let is_counting = !node.is_busy && !node.is_engaged();
                if is_counting && queue.end(node, &self.settings, backoff) < now {
                    queue.waits = Waits::Idle;
                    self.nodes[station as usize].counting -= 1;
                    self.begin_access(id, now);
                } else {
                    queue.waits = Waits::Counting(Backoff { has_frame: true, ..backoff });
                    self.find_access(station);
                }
            }
            Waits::Counting(_) | Waits::Exchanging => {}
        }
    }

    /// Begins the access of a queue that has no backoff pending, at `now`.
    fn begin_access(&mut self, id: ContenderId, now: Time) {
        let Self { queues, nodes, settings, .. } = self;
        let queue = &mut queues[id as usize];
        let station = queue.contender.station;
        let node = &mut nodes[station as usize];
        let is_answering = node.next_frame.is_some() && node.exchange.is_none() && !node.is_busy;
        let backoff = if is_answering
            && settings.immediate_access
            && settings.arrival_before_own_ack == ArrivalBeforeOwnAck::Idle
        {
            Backoff::of(0, true)
        } else if node.is_busy || node.is_engaged() || node.nav > now {
            // 10.3.4.2: the medium is busy, so the backoff procedure is followed.
            Backoff::of(queue.contender.draw_backoff(), true)
        } else {
            let origin = node.spaces_begin() + queue.aifs;
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
        self.find_access(station);
    }

    /// Lets `id` back off, whose exchange has ended, or was not begun for one of higher priority.
    pub(super) fn back_off(&mut self, id: ContenderId, has_frame: bool, post_backoff: bool) {
        let queue = &mut self.queues[id as usize];
        queue.waits = if has_frame || post_backoff {
            self.nodes[queue.contender.station as usize].counting += 1;
            Waits::Counting(Backoff::of(queue.contender.draw_backoff(), has_frame))
        } else {
            Waits::Idle
        };
    }

    /// Makes the medium busy for `station` from `now` on: freezes its backoffs.
    #[inline]
    pub(super) fn medium_busy(&mut self, station: StationId, now: Time) {
        let node = &mut self.nodes[station as usize];
        if !std::mem::replace(&mut node.is_busy, true) && node.counting > 0 {
            self.freeze(station, now);
        }
    }

    /// Counts the slots that have passed at `station` when the medium becomes busy at `now`.
    fn freeze(&mut self, station: StationId, now: Time) {
        let node = &self.nodes[station as usize];
        let mut counting = 0;
        for id in node.contenders() {
            counting += u32::from(self.queues[id as usize].freeze(node, &self.settings, now));
        }
        self.nodes[station as usize].counting = counting;
        self.find_access(station);
    }

    /// Makes the medium idle for `station` from `now` on.
    #[inline]
    pub(super) fn medium_idle(&mut self, station: StationId, now: Time) {
        let node = &mut self.nodes[station as usize];
        node.is_busy = false;
        node.idle_from = node.idle_from.max(now);
        if node.counting > 0 {
            self.find_access(station);
        }
    }

    /// Looks up the next access of `station`.
    pub(super) fn find_access(&mut self, station: StationId) {
        let node = &self.nodes[station as usize];
        let mut access = Time::NEVER;
        if !node.is_busy && !node.is_engaged() && node.counting > 0 {
            for id in node.contenders() {
                let queue = &self.queues[id as usize];
                if let Waits::Counting(backoff) = queue.waits
                    && backoff.has_frame
                {
                    access = access.min(queue.end(node, &self.settings, backoff));
                }
            }
        }
        if access != node.access {
            self.nodes[station as usize].access = access;
            self.set_clock(station);
        }
    }

    /// Lists the queues of `station` whose backoffs end at `now`, the one with the highest priority first, and
    /// freezes the others.
    pub(super) fn take_accesses(&mut self, station: StationId, now: Time) {
        self.together.clear();
        let node = &self.nodes[station as usize];
        for id in node.contenders() {
            let queue = &mut self.queues[id as usize];
            if let Waits::Counting(backoff) = queue.waits
                && backoff.has_frame
                && queue.end(node, &self.settings, backoff) == now
            {
                queue.waits = Waits::Exchanging;
                self.together.push(id);
            }
        }
    }
}
