//! The stations of an even field, their roles in exchanges, and what they sense when a frame comes.

use airtcp_kernel::{Duration, Time};

use super::lane::Lane;
use super::log::{FrameId, Sent, Times};
use crate::config::ArrivalBeforeOwnAck;
use crate::contention::{Backoffs, Senses};
use crate::exchange::Roles;
use crate::field::air::{Air, Place};
use crate::field::clock::{Key, Rank};
use crate::field::hearing::GroupId;
use crate::field::listener::ListenerId;
use crate::field::node::{Culprit, NONE, Node};
use crate::field::sharing::Group;
use crate::station::{ContenderId, StationId};

/// The stations of an even field, what they sense, and what they do next.
#[derive(Debug)]
pub(in crate::field) struct Even {
    /// Whether the field is even, and played by exchanges.
    pub(in crate::field) is_on: bool,
    pub(super) seats: Vec<Seat>,
    /// The listeners: first one per station, then the shared ones of the groups.
    pub(super) lanes: Vec<Lane>,
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
        });
        let seats: Vec<_> = seats.collect();
        let listeners = if is_even { seats.len() + groups.len() } else { 0 };
        let lanes: Vec<_> = (0..listeners).map(|_| Lane::new(backoffs.clone())).collect();
        Self {
            is_on: is_even,
            times,
            await_ends: Vec::new(),
            begun: Vec::new(),
            seats,
            lanes,
            #[cfg(any(test, feature = "testing"))]
            whole: 0,
        }
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

    /// Starts contention for the queue of `station`, which was empty, at `limit`.
    pub(super) fn queued(
        &mut self,
        station: StationId,
        (now, limit): (Time, Place),
        Air { clock, queues, settings, .. }: &mut Air,
    ) {
        let Self { seats, lanes, times, .. } = self;
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
            lane.find_access(clock, (settings, queues));
            lane.drops_late_access(clock);
        }
    }
}
