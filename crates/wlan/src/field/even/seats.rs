//! The stations of an even field, each with its part in an exchange, and the event that is next. Knows what they do, and not
//! how it goes on.

use airtcp_kernel::{Duration, Time};

use super::agenda::{Accesses, Agenda, Event};
use super::lane::Lane;
use super::log::{FrameId, Sent, Times};
use super::waiting::Waits;
use crate::exchange::Roles;
use crate::field::clock::{Key, Rank};
use crate::field::hearing::GroupId;
use crate::field::listener::ListenerId;
use crate::field::node::{Culprit, NONE, Node};
use crate::field::sharing::Group;
use crate::field::waiting::Queue;
use crate::station::{ContenderId, StationId};

/// A place in the order of all events: the key of one, and its station.
pub(super) type Place = (Key, StationId);

/// The stations of an even field, what they sense, and what they do next.
#[derive(Debug)]
pub(in crate::field) struct Even {
    /// A flag: the field is even, and played so.
    pub(in crate::field) is_on: bool,
    pub(super) seats: Vec<Seat>,
    /// The listeners: first the stations, each for itself, and behind them the groups of those that listen together.
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
    /// Memory for the beginnings and senders of the exchanges that collide with one that begins.
    pub(super) begun: Vec<(Time, StationId)>,
    /// The exchanges that were played as a whole to their ends, for tests alone.
    #[cfg(any(test, feature = "testing"))]
    pub(super) whole: u64,
}

/// A station.
#[derive(Clone, Copy, Debug)]
pub(super) struct Seat {
    /// The listener that it is now: its own, which has its number, or that of its group.
    pub(super) lane: ListenerId,
    pub(super) group: GroupId,
    pub(super) cell: u32,
    /// Its queue.
    pub(super) by: ContenderId,
    pub(super) does: Does,
    pub(super) waits: Waits,
    /// The exchange that it has begun last, and the frame that has overlapped its data, if one has.
    pub(super) sent: Sent,
    pub(super) culprit: Culprit,
    /// The station whose data it answers, or has answered.
    pub(super) answered: StationId,
    /// The instant until which it waits for an answer; out of date where it does not.
    pub(super) timeout: Time,
}

/// The part that a station has in an exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Does {
    Nothing,
    /// It sends data.
    Sends,
    /// It has sent data, which are answered.
    IsAnswered,
    /// It sends an answer, or is about to.
    Answers,
    /// It waits for an answer in vain: until a timeout, or until the end of the frame that it receives.
    WaitsForAnswer,
    WaitsForEnd,
}

impl Does {
    /// Tells whether it has begun an exchange.
    pub(super) fn has_exchange(self) -> bool {
        !matches!(self, Self::Nothing | Self::Answers)
    }
}

impl Even {
    /// Makes the listeners of a field, if it is even, with the queues of its stations and their groups.
    pub(in crate::field) fn new(
        is_even: bool,
        (nodes, groups): (&[Node], &[Group]),
        (queues, roles): (&[Queue], &Roles),
        times: Times,
    ) -> Self {
        let seats = (0..).zip(nodes).filter(|_| is_even).map(|(station, node)| Seat {
            lane: node.listener,
            group: node.group,
            cell: roles.cell(station),
            by: node.first,
            does: Does::Nothing,
            waits: Waits::WithoutFrame,
            sent: Sent::NONE,
            culprit: Culprit::NOBODY,
            answered: NONE,
            timeout: Time::NEVER,
        });
        let seats: Vec<_> = seats.collect();
        let aifs = |seat: &Seat| queues[seat.by as usize].aifs;
        let mut lanes: Vec<_> = seats.iter().map(|seat| Lane::new(aifs(seat))).collect();
        for group in groups.iter().filter(|_| is_even) {
            // The access points are before the stations of their cells, and may have another.
            let last = seats.iter().rfind(|seat| seat.lane == group.listener());
            lanes.push(Lane::new(aifs(last.expect("a group has stations"))));
        }
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

    /// Returns when something happens next, unless a frame is ready before.
    #[inline]
    pub(in crate::field) fn next_time(&self) -> Time {
        self.next.key.time()
    }

    /// Tells whether an exchange of `station` is under way.
    pub(in crate::field) fn has_exchange(&self, station: StationId) -> bool {
        self.seats.get(station as usize).is_some_and(|seat| seat.does.has_exchange())
    }

    /// Lists how long the exchanges of each cell that do not collide and are under way at `now` have been on the air.
    pub(in crate::field) fn on_air(&self, now: Time) -> impl Iterator<Item = (u32, Duration)> {
        let is_under_way =
            |one: &&Seat| matches!(one.does, Does::Sends | Does::IsAnswered) && !one.sent.collides;
        self.seats.iter().filter(is_under_way).map(move |one| {
            let data = one.sent.end.min(now) - one.sent.start;
            let answer = now.saturating_since(one.sent.end + self.times.sifs);
            (one.cell, data + answer)
        })
    }

    /// Returns the place behind the event that is played.
    #[inline]
    pub(super) fn place_behind(&self) -> Place {
        (self.reached.0, self.reached.1 + 1)
    }

    /// Returns the place up to which all was played where something else happens at `now`.
    #[inline]
    pub(super) fn place_at(&self, now: Time) -> Place {
        (Key::new(now, Rank::Start), 0).max(self.place_behind())
    }

    /// Takes the next event as played, and returns it.
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

    /// Looks up the next event.
    #[inline(always)]
    pub(super) fn find_next(&mut self) {
        let first = self.agenda.first();
        let access = match self.accesses.first() {
            Some(access) if !first.key.is_timeout() => access,
            _ => return self.find_next_anew(),
        };
        self.next = if first.is_behind(access) { access } else { first };
    }

    /// Does as [`Self::find_next`] where the first access is not known, or the end of a wait is perhaps of one that was
    /// over before: that is passed over.
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
}
