//! The polling order in contention-free periods: in each round every station is polled, in the
//! order of their numbers.
//!
//! The next packet of the access point's queue is sent with a poll to its receiver. There is one
//! exception: if the receiver has been polled in this round, and the previous frame also carried
//! data, the next station that has not been polled gets a poll without data. So a queue that is
//! never empty does not prevent polls of other stations. If packets for many stations follow one
//! another, hardly any poll has no data. A period continues where the last one ended. It ends early
//! if nothing is queued, and if as many polls in a row as there are stations, and their responses,
//! had no data.

use airtcp_kernel::Time;

use super::{Polled, class_of_poll};
use crate::events::Supply;
use crate::exchange::{Air, OnAir, Play};
use crate::station::{ACCESS_POINT, ContenderId, StationId};

/// The access point's next action.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Turn {
    /// Polls a station, with or without data for it.
    Poll { to: StationId, has_data: bool },
    /// Ends the period.
    End,
}

/// The first station that is polled: the next one after the access point.
const FIRST: usize = ACCESS_POINT as usize + 1;

/// Which stations have been polled.
#[derive(Debug)]
pub(super) struct Round {
    /// The round in which each station was last polled; the access point's own entry is not used.
    last: Vec<u64>,
    round: u64,
    /// All stations before this one have been polled in this round.
    next: usize,
    /// True if the last poll carried data.
    had_data: bool,
    /// Polls in a row without data in either direction.
    idle: usize,
}

impl Round {
    /// Creates the first round of `nodes` stations, of which the first is the access point.
    pub(super) fn new(nodes: usize) -> Self {
        Self { last: vec![0; nodes], round: 1, next: FIRST, had_data: false, idle: 0 }
    }

    pub(super) fn begin_period(&mut self) {
        self.had_data = false;
        self.idle = 0;
    }

    /// Returns the next station of this round, if any is left.
    fn next(&mut self) -> Option<StationId> {
        while self.last.get(self.next) == Some(&self.round) {
            self.next += 1;
        }
        (self.next < self.last.len()).then_some(self.next as StationId)
    }

    /// Returns whether data may be sent to `to` now; `next` is the next station of the round.
    fn takes_data(&self, to: StationId, next: Option<StationId>) -> bool {
        let Some(&last) = self.last.get(to as usize) else { return false };
        last != self.round || !self.had_data || next.is_none()
    }

    fn is_idle(&self) -> bool {
        self.idle + 1 >= self.last.len()
    }

    fn poll(&mut self, to: StationId, has_data: bool) {
        if self.next().is_none() {
            self.begin();
        }
        self.last[to as usize] = self.round;
        self.had_data = has_data;
    }

    fn begin(&mut self) {
        self.round += 1;
        self.next = FIRST;
    }

    /// Counts a poll and its response; `moved`: at least one of them had data.
    pub(super) fn polled(&mut self, moved: bool) {
        self.idle = if moved { 0 } else { self.idle + 1 };
    }
}

impl<P: Clone, S: Supply<P>> Play<'_, P, Polled, S> {
    /// Chooses at `now` what the access point sends at `start`.
    pub(super) fn take_turn(&mut self, now: Time, start: Time) -> Turn {
        debug_assert!(matches!(self.air.on_air, OnAir::ContentionFree));
        let Air { originators, frames, roles, .. } = self.air;
        let acknowledged = self.mac.unacknowledged.map(|by| originators[by as usize].station);
        let phy = frames.phy();
        let hops = phy.propagation_delay + phy.sifs + phy.propagation_delay;
        let latest = self.mac.answered_by(phy.propagation_delay);
        let (headers, empty_bits) = (frames.mpdu_bits(0), self.mac.empty_bits);
        let mut fits = |to: StationId, bits| {
            let class = class_of_poll(frames, roles, to, acknowledged);
            let poll = frames.times(class, bits).data;
            // The shortest response is as long as an empty poll.
            let answer = frames.times(roles.class_of(to), empty_bits).data;
            start + poll + hops + answer <= latest
        };
        let round = &mut self.mac.round;
        let next = round.next();
        let access_point = &mut originators[self.mac.access_point as usize];
        let mut taken = None;
        let to = if let Some(psdu) = &access_point.psdu {
            let to = psdu.frames().receiver();
            (round.takes_data(to, next) && fits(to, psdu.frames().bits())).then_some(to)
        } else {
            let goes = |to, bits| round.takes_data(to, next) && fits(to, headers + bits);
            self.supply.next(self.mac.access_point, None, now, goes, |msdu| taken = Some(msdu));
            taken.as_ref().map(|msdu| msdu.receiver)
        };
        let turn = match (to, next) {
            (Some(to), _) => Turn::Poll { to, has_data: true },
            (None, _) if round.is_idle() => Turn::End,
            (None, next) => {
                let to = next.unwrap_or(FIRST as StationId);
                if fits(to, empty_bits) { Turn::Poll { to, has_data: false } } else { Turn::End }
            }
        };
        if let Turn::Poll { to, has_data } = turn {
            round.poll(to, has_data);
        }
        if let Some(msdu) = taken {
            access_point.take(msdu, headers);
        }
        turn
    }

    /// Decides whether `by`, which is polled, responds with data from `start` on: the frame that
    /// the MAC holds of its queue, or the next packet of it, if that ends in time.
    pub(super) fn has_answer(&mut self, by: ContenderId, now: Time, start: Time) -> bool {
        let Air { originators, frames, roles, .. } = self.air;
        let propagation = frames.phy().propagation_delay;
        let latest = self.mac.answered_by(propagation);
        let headers = frames.mpdu_bits(0);
        let originator = &mut originators[by as usize];
        let class = roles.class_of(originator.station);
        let mut fits = |bits| start + frames.times(class, bits).data + propagation <= latest;
        if let Some(psdu) = &originator.psdu {
            return fits(psdu.frames().bits());
        }
        let mut taken = None;
        self.supply.next(by, None, now, |_, bits| fits(headers + bits), |msdu| taken = Some(msdu));
        let Some(msdu) = taken else { return false };
        originator.take(msdu, headers);
        true
    }
}
