//! The queues of an even field that contend for the medium: who draws a backoff, and when a
//! listener has its next access. The rules are those of [`contention`](crate::contention).

use airtcp_kernel::Time;

use super::agenda::{Accesses, Event};
use super::lane::{Backoff, Lane};
use super::log::Passed;
use super::seats::{Does, Even, Place, Seat};
use crate::config::ArrivalBeforeOwnAck;
use crate::contention::Settings;
use crate::field::clock::{Key, Rank};
use crate::field::listener::ListenerId;
use crate::field::waiting::Queue;
use crate::station::StationId;

/// The state of a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Waits {
    /// No frame. A remaining backoff is stored at its listener.
    WithoutFrame,
    /// A backoff with a frame.
    WithFrame,
    /// Its station sends for it, or waits for a response.
    Exchanging,
}

impl Lane {
    /// Cancels the access if it is after the instant at which the medium is known to be busy.
    #[inline]
    pub(super) fn drops_late_access(&mut self, place: ListenerId, accesses: &mut Accesses) {
        if self.under_way > 0 && self.access != Time::NEVER && self.access > self.noticed.0.time() {
            self.forget_access(place, accesses);
        }
    }

    /// Cancels the access.
    #[inline]
    pub(super) fn forget_access(&mut self, place: ListenerId, accesses: &mut Accesses) {
        self.access = Time::NEVER;
        accesses.forget(place);
    }

    /// Returns the access of this listener, which is at `place`, as an event.
    #[inline]
    pub(super) fn access_event(&self, place: ListenerId) -> Event {
        Event { key: Key::new(self.access, Rank::Start), station: self.winner, of: place }
    }

    /// Freezes the backoffs during a busy period, as of the instant at which it was detected.
    #[inline]
    pub(super) fn freezes(&mut self, seats: &[Seat], queues: &mut [Queue], settings: &Settings) {
        if !std::mem::replace(&mut self.is_frozen, true) {
            debug_assert_eq!(self.access, Time::NEVER, "it has begun, or was forgotten");
            let noticed = self.noticed.0.time();
            self.freeze(settings, noticed, |station| {
                let by = seats[station as usize].by;
                queues[by as usize].contender.draw_backoff()
            });
        }
    }

    /// Ends a busy period at `now` that left `passed`; the backoffs are frozen.
    #[inline]
    pub(super) fn period_ends(&mut self, passed: Passed, now: Time) {
        if let Some(eifs) = passed.eifs {
            self.eifs = eifs;
        }
        self.nav = self.nav.max(passed.nav);
        self.idle_from = now;
    }

    /// Schedules the next access on an idle medium, at `place`.
    #[inline(always)]
    pub(super) fn find_access(
        &mut self,
        place: ListenerId,
        accesses: &mut Accesses,
        settings: &Settings,
    ) {
        let (access, winner) = self.look_up(settings);
        if access == self.access && winner == self.winner {
            return;
        }
        (self.access, self.winner) = (access, winner);
        if access == Time::NEVER {
            accesses.forget(place);
        } else {
            accesses.set(self.access_event(place));
        }
    }
}

impl Seat {
    /// Starts the backoff of its queue at `lane`, its listener, after an exchange.
    #[inline(always)]
    pub(super) fn backs_off(
        &mut self,
        lane: &mut Lane,
        (has_frame, post_backoff): (bool, bool),
        queue: &mut Queue,
    ) {
        self.waits = if has_frame { Waits::WithFrame } else { Waits::WithoutFrame };
        if has_frame || post_backoff {
            let slots = queue.contender.draw_backoff();
            let station = queue.contender.station;
            lane.counts_after(station, (slots, has_frame), queue);
        }
    }
}

impl Even {
    /// Starts contention for the queue of `station`, which was empty, at `limit`.
    pub(super) fn queued(
        &mut self,
        station: StationId,
        (now, limit): (Time, Place),
        queues: &mut [Queue],
        settings: &Settings,
    ) {
        let Self { seats, lanes, accesses, times, .. } = self;
        let Seat { lane: place, by, does, answered, waits, .. } = seats[station as usize];
        if waits != Waits::WithoutFrame {
            return;
        }
        let lane = &mut lanes[place as usize];
        let is_busy = lane.is_noticed(limit);
        if is_busy {
            lane.freezes(seats, queues, settings);
        }
        seats[station as usize].waits = Waits::WithFrame;
        let queue = &mut queues[by as usize];
        let left = lane.remove(station);
        let goes_on =
            |left: &Backoff| is_busy || does != Does::Nothing || lane.end_of(left, settings) >= now;
        if let Some(left) = left.filter(goes_on) {
            lane.add(Backoff { has_frame: true, ..left });
        } else if is_busy {
            let finds_idle = does == Does::Answers
                && settings.immediate_access
                && settings.arrival_before_own_ack == ArrivalBeforeOwnAck::Idle
                && {
                    let answer = seats[answered as usize].sent.end + times.sifs;
                    limit <= (Key::new(answer, Rank::Start), station)
                };
            let slots = if finds_idle { 0 } else { queue.contender.draw_backoff() };
            lane.counts_after(station, (slots, true), queue);
        } else if does != Does::Nothing || lane.nav > now {
            // 10.3.4.2: the medium is busy, so the backoff procedure is followed.
            let slots = queue.contender.draw_backoff();
            lane.counts_after(station, (slots, true), queue);
        } else {
            let aifs = queue.aifs;
            let origin = lane.spaces_begin() + aifs;
            let is_immediate = settings.immediate_access;
            let (from, slots) = if is_immediate {
                (settings.first_boundary(origin, now), 0)
            } else {
                ((now + aifs).max(origin), queue.contender.draw_backoff())
            };
            lane.add(Backoff { station, aifs, from, slots, has_frame: true, is_immediate });
        }
        if !is_busy {
            lane.find_access(place, accesses, settings);
            lane.drops_late_access(place, accesses);
        }
    }
}

impl Lane {
    /// Starts counting a backoff that `queue` of `station` has drawn.
    #[inline]
    fn counts_after(&mut self, station: StationId, (slots, has_frame): (u32, bool), queue: &Queue) {
        if self.is_common(queue.aifs) {
            self.count(station, slots, has_frame);
        } else {
            let (aifs, from, is_immediate) = (queue.aifs, Time::ZERO, false);
            self.add(Backoff { station, aifs, from, slots, has_frame, is_immediate });
        }
    }
}
