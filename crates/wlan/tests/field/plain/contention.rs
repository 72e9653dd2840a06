//! The backoffs of queues, with the medium as their station senses it.

use airtcp_kernel::{Duration, Time};

use super::Plain;
use super::station::Station;
use crate::config::ArrivalBeforeOwnAck;
use crate::contention::{Contender, Settings};
use crate::station::{ContenderId, StationId};

/// A queue.
pub(super) struct Queue {
    pub(super) contender: Contender,
    pub(super) aifs: Duration,
    pub(super) waits: Waits,
}

/// The state of a queue.
#[derive(Clone, Copy)]
pub(super) enum Waits {
    Idle,
    Counting(Backoff),
    Exchanging,
}

/// A remaining backoff.
#[derive(Clone, Copy)]
pub(super) struct Backoff {
    slots: u32,
    has_frame: bool,
    /// No slot begins before this instant.
    from: Time,
    /// The frame needs a backoff only if the medium becomes busy before it is sent.
    immediate: bool,
}

impl Waits {
    /// Starts a backoff as soon as the medium allows.
    fn counting(slots: u32, has_frame: bool) -> Self {
        Self::Counting(Backoff { slots, has_frame, from: Time::ZERO, immediate: false })
    }
}

impl Queue {
    fn start(&self, station: &Station, backoff: Backoff) -> Time {
        (station.spaces_begin() + self.aifs).max(backoff.from)
    }

    fn end(&self, station: &Station, settings: &Settings, backoff: Backoff) -> Time {
        self.start(station, backoff) + settings.slot_time * u64::from(backoff.slots)
    }

    /// Stops counting, because the medium becomes busy at `now`.
    fn freeze(&mut self, station: &Station, settings: &Settings, now: Time) {
        let Waits::Counting(backoff) = self.waits else { return };
        let start = self.start(station, backoff);
        let passed = if now < start || station.exchange.is_some() {
            0
        } else {
            (now - start) / settings.slot_time + settings.boundary_slots
        };
        let left = if backoff.immediate {
            self.contender.draw_backoff()
        } else {
            u64::from(backoff.slots).saturating_sub(passed) as u32
        };
        let is_over = !backoff.has_frame && passed > 0 && left == 0;
        self.waits = if is_over { Waits::Idle } else { Waits::counting(left, backoff.has_frame) };
    }
}

impl<P: Clone> Plain<P> {
    /// Returns the time of the next access of `id`, if the medium stays idle.
    pub(super) fn access_of(&self, id: StationId) -> Time {
        let station = &self.stations[id as usize];
        if station.is_busy || station.is_engaged() {
            return Time::NEVER;
        }
        let ends = station.queues.iter().filter_map(|&one| {
            let queue = &self.queues[one as usize];
            let Waits::Counting(backoff) = queue.waits else { return None };
            backoff.has_frame.then(|| queue.end(station, &self.settings, backoff))
        });
        ends.min().unwrap_or(Time::NEVER)
    }

    /// Takes the queues of `id` whose backoffs end at `now`, highest priority first.
    pub(super) fn take_accesses(&mut self, id: StationId, now: Time) -> Vec<ContenderId> {
        let Self { stations, queues, settings, .. } = self;
        let station = &stations[id as usize];
        let mut taken = station.queues.clone();
        taken.retain(|&one| {
            let queue = &queues[one as usize];
            matches!(queue.waits, Waits::Counting(backoff)
                if backoff.has_frame && queue.end(station, settings, backoff) == now)
        });
        for &one in &taken {
            queues[one as usize].waits = Waits::Exchanging;
        }
        taken
    }

    /// Starts contention for `by`, whose queue was empty.
    pub(super) fn frame_queued(&mut self, by: ContenderId, now: Time) {
        let queue = &mut self.queues[by as usize];
        let station = &self.stations[queue.contender.station as usize];
        match queue.waits {
            Waits::Counting(backoff) if !backoff.has_frame => {
                let is_counting = !station.is_busy && !station.is_engaged();
                if is_counting && queue.end(station, &self.settings, backoff) < now {
                    self.begin_access(by, now);
                } else {
                    queue.waits = Waits::Counting(Backoff { has_frame: true, ..backoff });
                }
            }
            Waits::Idle => self.begin_access(by, now),
            Waits::Counting(_) | Waits::Exchanging => {}
        }
    }

    /// Starts the access of a queue without a pending backoff.
    fn begin_access(&mut self, by: ContenderId, now: Time) {
        let Self { queues, stations, settings, .. } = self;
        let queue = &mut queues[by as usize];
        let station = &mut stations[queue.contender.station as usize];
        let is_answering =
            station.next_frame.is_some() && station.exchange.is_none() && !station.is_busy;
        let origin = station.spaces_begin() + queue.aifs;
        queue.waits = if is_answering
            && settings.immediate_access
            && settings.arrival_before_own_ack == ArrivalBeforeOwnAck::Idle
        {
            Waits::counting(0, true)
        } else if station.is_busy || station.is_engaged() || station.nav > now {
            Waits::counting(queue.contender.draw_backoff(), true)
        } else if settings.immediate_access {
            let from = settings.first_boundary(origin, now);
            Waits::Counting(Backoff { slots: 0, has_frame: true, from, immediate: true })
        } else {
            let from = (now + queue.aifs).max(origin);
            let slots = queue.contender.draw_backoff();
            Waits::Counting(Backoff { slots, has_frame: true, from, immediate: false })
        };
        station.is_restricted |= !station.ignored.is_empty();
    }

    /// Starts the backoff of `by` after an exchange or an internal collision.
    pub(super) fn back_off(&mut self, by: ContenderId, has_frame: bool, post_backoff: bool) {
        let queue = &mut self.queues[by as usize];
        queue.waits = if has_frame || post_backoff {
            Waits::counting(queue.contender.draw_backoff(), has_frame)
        } else {
            Waits::Idle
        };
    }

    /// True if any queue of `id` has a backoff.
    pub(super) fn is_contending(&self, id: StationId) -> bool {
        let mut queues = self.stations[id as usize].queues.iter();
        queues.any(|&one| matches!(self.queues[one as usize].waits, Waits::Counting(_)))
    }

    /// Ends the power restriction of `id`, whose TXOP has ended, unless it ignores a frame and
    /// contends again.
    pub(super) fn restriction_ends(&mut self, id: StationId) {
        let ignores = !self.stations[id as usize].ignored.is_empty();
        self.stations[id as usize].is_restricted = ignores && self.is_contending(id);
    }

    /// Sets the medium busy for `id`.
    pub(super) fn medium_busy(&mut self, id: StationId, now: Time) {
        let station = &mut self.stations[id as usize];
        if std::mem::replace(&mut station.is_busy, true) {
            return;
        }
        for &one in &station.queues {
            self.queues[one as usize].freeze(station, &self.settings, now);
        }
    }

    /// Sets the medium idle for `id` if it senses nothing any more.
    pub(super) fn settle_idle(&mut self, id: StationId, now: Time) {
        let station = &mut self.stations[id as usize];
        let is_idle = station.lock.is_none()
            && station.sending.is_none()
            && station.sensed() < self.powers.energy;
        if station.is_busy && is_idle {
            station.is_busy = false;
            station.idle_from = station.idle_from.max(now);
        }
    }
}
