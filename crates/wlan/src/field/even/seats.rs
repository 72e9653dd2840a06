//! The stations of an even field, their roles in exchanges, and the next event.

use airtcp_kernel::{Duration, Time};

use super::agenda::{Accesses, Agenda, Event};
use super::lane::Lane;
use super::log::{FrameId, Sent, Times};
use crate::config::ArrivalBeforeOwnAck;
use crate::contention::{Backoffs, Contender, Senses, Settings};
use crate::exchange::Roles;
use crate::field::clock::{Key, Rank};
use crate::field::hearing::GroupId;
use crate::field::listener::ListenerId;
use crate::field::node::{Culprit, NONE, Node};
use crate::field::sharing::Group;
use crate::station::{ContenderId, StationId};

/// A position in the order of all events: the key of an event, and its station.
pub(super) type Place = (Key, StationId);

/// The stations of an even field, what they sense, and what they do next.
#[derive(Debug)]
pub(in crate::field) struct Even {
    /// Whether the field is even, and played by exchanges.
    pub(in crate::field) is_on: bool,
    pub(super) seats: Vec<Seat>,
    /// The listeners: first one per station, then the shared ones of the groups.
    pub(super) lanes: Vec<Lane>,
    pub(super) agenda: Agenda,
    pub(super) accesses: Accesses,
    /// The next event.
    pub(super) next: Event,
    /// The event that was played last.
    pub(super) reached: Place,
    pub(super) times: Times,
    /// The stations that wait for the end of a frame.
    pub(super) await_ends: Vec<(StationId, FrameId)>,
    /// Scratch memory: starts and senders of the exchanges that collide with a new one.
    pub(super) begun: Vec<(Time, StationId)>,
    /// The number of exchanges played as a whole; for tests only.
    #[cfg(any(test, feature = "testing"))]
    pub(super) whole: u64,
}

/// A station.
#[derive(Clone, Copy, Debug)]
pub(super) struct Seat {
    /// Its current listener: its own, which has the station's number, or its group's.
    pub(super) lane: ListenerId,
    pub(super) group: GroupId,
    pub(super) cell: u32,
    /// Its queue.
    pub(super) by: ContenderId,
    pub(super) does: Does,
    /// Its latest exchange, and the frame that overlapped its data, if any.
    pub(super) sent: Sent,
    pub(super) culprit: Culprit,
    /// The station that it responds to, or last responded to.
    pub(super) answered: StationId,
    /// The end of its response timeout; stale if it does not wait.
    pub(super) timeout: Time,
}

/// What a station does in an exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Does {
    Nothing,
    /// Sends data.
    Sends,
    /// Has sent data, and receives the response.
    IsAnswered,
    /// Sends a response, or will after a SIFS.
    Answers,
    /// Waits for a response that will not come: until the timeout, or until the end of the frame
    /// that it receives.
    WaitsForAnswer,
    WaitsForEnd,
}

impl Does {
    /// True if its own exchange is running.
    pub(super) fn has_exchange(self) -> bool {
        !matches!(self, Self::Nothing | Self::Answers)
    }
}

impl Even {
    /// Creates the listeners of a field, if it is even, with its stations and their groups; `backoffs`
    /// are those of none.
    pub(in crate::field) fn new(
        is_even: bool,
        (nodes, groups): (&[Node], &[Group]),
        (backoffs, roles): (&Backoffs, &Roles),
        times: Times,
    ) -> Self {
        let seats = (0..).zip(nodes).filter(|_| is_even).map(|(station, node)| Seat {
            lane: node.listener,
            group: node.group,
            cell: roles.cell(station),
            by: node.first,
            does: Does::Nothing,
            sent: Sent::NONE,
            culprit: Culprit::NOBODY,
            answered: NONE,
            timeout: Time::NEVER,
        });
        let seats: Vec<_> = seats.collect();
        let listeners = if is_even { seats.len() + groups.len() } else { 0 };
        let lanes: Vec<_> = (0..listeners).map(|_| Lane::new(backoffs.clone())).collect();
        Self {
            is_on: is_even,
            agenda: Agenda::new(),
            accesses: Accesses::new(lanes.len()),
            next: Event::NEVER,
            reached: (Key::new(Time::ZERO, Rank::Start), 0),
            times,
            await_ends: Vec::new(),
            begun: Vec::new(),
            seats,
            lanes,
            #[cfg(any(test, feature = "testing"))]
            whole: 0,
        }
    }

    /// Returns the time of the next event; a new frame may come earlier.
    #[inline]
    pub(in crate::field) fn next_time(&self) -> Time {
        self.next.key.time()
    }

    /// True if an exchange of `station` is running.
    pub(in crate::field) fn has_exchange(&self, station: StationId) -> bool {
        self.seats.get(station as usize).is_some_and(|seat| seat.does.has_exchange())
    }

    /// Iterates over the exchanges on the air at `now` that do not collide: the cell, and how long
    /// the exchange has been on the air.
    pub(in crate::field) fn on_air(&self, now: Time) -> impl Iterator<Item = (u32, Duration)> {
        let is_under_way =
            |one: &&Seat| matches!(one.does, Does::Sends | Does::IsAnswered) && !one.sent.collides;
        self.seats.iter().filter(is_under_way).map(move |one| {
            let data = one.sent.end.min(now) - one.sent.start;
            let answer = now.saturating_since(one.sent.end + self.times.sifs);
            (one.cell, data + answer)
        })
    }

    /// Returns the position just after the current event.
    #[inline]
    pub(super) fn place_behind(&self) -> Place {
        (self.reached.0, self.reached.1 + 1)
    }

    /// Returns the position up to which everything is played when something else happens at `now`.
    #[inline]
    pub(super) fn place_at(&self, now: Time) -> Place {
        (Key::new(now, Rank::Start), 0).max(self.place_behind())
    }

    /// Removes and returns the next event, which is played now.
    #[inline]
    pub(super) fn pass_next(&mut self) -> Event {
        let next = self.next;
        if !next.key.is_start() {
            self.agenda.pass_first();
        }
        if next.key >= self.reached.0 {
            self.reached = (next.key, next.station);
        }
        next
    }

    /// Finds the next event.
    #[inline(always)]
    pub(in crate::field) fn find_next(&mut self) {
        let first = self.agenda.first();
        let access = match self.accesses.first() {
            Some(access) if !first.key.is_timeout() => access,
            _ => return self.find_next_anew(),
        };
        self.next = if first.is_behind(access) { access } else { first };
    }

    /// Handles [`Self::find_next`] if the first access is unknown, or if the next timeout may be
    /// stale and must be skipped.
    #[inline(never)]
    pub(super) fn find_next_anew(&mut self) {
        let mut first = self.agenda.first();
        while first.key.is_timeout() {
            let seat = &self.seats[first.station as usize];
            if seat.does == Does::WaitsForAnswer && seat.timeout == first.key.time() {
                break;
            }
            self.agenda.pass_first();
            first = self.agenda.first();
        }
        let lanes = &self.lanes;
        let access = self.accesses.find_first(|place| lanes[place as usize].access_event(place));
        self.next = if first.is_behind(access) { access } else { first };
    }

    /// Starts contention for the queue of `station`, which was empty, at `limit`.
    pub(super) fn queued(
        &mut self,
        station: StationId,
        (now, limit): (Time, Place),
        queues: &mut [Contender],
        settings: &Settings,
    ) {
        let Self { seats, lanes, accesses, times, .. } = self;
        let Seat { lane: place, by, does, answered, .. } = seats[station as usize];
        if queues[by as usize].has_frame() {
            return;
        }
        let lane = &mut lanes[place as usize];
        let is_busy = lane.is_noticed(limit);
        let senses = if is_busy {
            lane.freezes(queues, settings);
            let finds_idle = does == Does::Answers
                && settings.arrival_before_own_ack == ArrivalBeforeOwnAck::Idle
                && {
                    let answer = seats[answered as usize].sent.end + times.sifs;
                    limit <= (Key::new(answer, Rank::Start), station)
                };
            if finds_idle { Senses::IdleBeforeAck } else { Senses::Busy }
        } else if does != Does::Nothing || lane.waiting.nav > now {
            Senses::Busy
        } else {
            Senses::Idle(lane.waiting.spaces_begin())
        };
        let backoffs = &mut lane.waiting.backoffs;
        backoffs.frame_queued(by, &mut queues[by as usize], senses, now, settings);
        if !is_busy {
            lane.find_access(place, accesses, (settings, queues));
            lane.drops_late_access(place, accesses);
        }
    }
}
