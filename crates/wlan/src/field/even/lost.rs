//! Exchanges of an even field that collide, and the response timeouts of their senders.

use airtcp_kernel::Time;

use super::log::FrameId;
use super::seats::{Does, Even, Seat};
use crate::events::Supply;
use crate::exchange::Failure;
use crate::field::Field;
use crate::field::clock::{Key, Rank};
use crate::field::node::Culprit;
use crate::station::StationId;

impl<P: Clone> Field<P> {
    /// Lets the data of `station`, which begin at `now`, collide with the frames on the air that
    /// its listener has not detected.
    #[cold]
    pub(super) fn collides(&mut self, station: StationId, now: Time) {
        let Seat { lane: place, sent, .. } = self.even.seats[station as usize];
        let since = now.saturating_sub(self.hearing.detect);
        let mut others = std::mem::take(&mut self.even.begun);
        let lane = &self.even.lanes[place as usize];
        lane.log.list_begun(since, &mut others);
        if others.len() < lane.under_way as usize && self.broken_law.is_none() {
            self.broken_law = Some(format!(
                "station {station} began at {now} while a frame that it hears was on the air"
            ));
        }
        let mut loudest = None;
        for &(start, other) in &others {
            let apart = now - start;
            self.has_collided(other, Culprit { station, apart });
            // A frame that the receiver itself sends is the loudest.
            loudest = loudest.max(Some((other == sent.to, other, apart)));
        }
        self.even.begun = others;
        if let Some((_, other, apart)) = loudest {
            self.has_collided(station, Culprit { station: other, apart });
        }
    }

    /// Records that the data of `station` collided with those of `culprit`, unless a collision is
    /// already recorded.
    pub(super) fn has_collided(&mut self, station: StationId, culprit: Culprit) {
        let seat = &mut self.even.seats[station as usize];
        if !std::mem::replace(&mut seat.sent.collides, true) {
            seat.culprit = culprit;
            self.cells_on_air[seat.cell as usize].note(seat.sent.start, true);
        }
        self.part(station);
    }

    /// Ends the collided data of `station` at `now` for all stations that hear them.
    #[inline(never)]
    pub(super) fn exchange_has_collided(&mut self, station: StationId, now: Time) {
        let Self { even, groups, air, cells_on_air, last_culprits, .. } = self;
        let seat = &mut even.seats[station as usize];
        let group = seat.group;
        cells_on_air[seat.cell as usize].note(now, false);
        last_culprits[seat.by as usize] = seat.culprit;
        seat.does = Does::WaitsForAnswer;
        air.clock.set(station, Key::new(now + air.settings.ack_timeout, Rank::Timeout));
        for &place in groups[group as usize].heard_by() {
            even.lanes[place as usize].log.has_collided(station);
        }
        self.exchange_is_over(group, now);
    }

    /// Ends the response timeout of `station` at `now`, unless it is receiving what may be the
    /// response.
    pub(super) fn wait_is_over<S: Supply<P>>(
        &mut self,
        station: StationId,
        now: Time,
        supply: &mut S,
    ) {
        self.read(station, |(log, own), times, viewers| log.read(own, (now, times), viewers));
        let (header, detect) = (self.air.phy_header, self.hearing.detect);
        match self.even.lanes[station as usize].log.received(now) {
            Some((frame, noticed)) if noticed + header <= now + detect => {
                // 10.3.2.11: the frame being received may be the response.
                self.even.seats[station as usize].does = Does::WaitsForEnd;
                self.even.await_ends.push((station, frame));
            }
            _ => {
                let lane = &mut self.even.lanes[station as usize];
                lane.waiting.idle_from = lane.waiting.idle_from.max(now);
                self.answer_is_missing(station, now, supply);
            }
        }
    }

    /// Fails at `now` the exchanges of the stations that waited for the end of `frame`, which was
    /// not the response.
    #[cold]
    pub(super) fn ends_for_those_that_wait<S: Supply<P>>(
        &mut self,
        frame: FrameId,
        now: Time,
        supply: &mut S,
    ) {
        let mut ended: Vec<_> = Vec::new();
        self.even.await_ends.retain(|&(station, awaited)| {
            if awaited == frame {
                ended.push(station);
            }
            awaited != frame
        });
        ended.sort_unstable();
        for station in ended {
            if self.even.seats[station as usize].does == Does::WaitsForEnd {
                self.answer_is_missing(station, now, supply);
            }
        }
    }

    /// Fails an exchange of `station` to which no response has come by `now`.
    pub(super) fn answer_is_missing<S: Supply<P>>(
        &mut self,
        station: StationId,
        now: Time,
        supply: &mut S,
    ) {
        let limit = self.air.place_behind();
        self.air.clock.set(station, Key::NEVER);
        let Even { seats, lanes, .. } = &mut self.even;
        let seat = &mut seats[station as usize];
        seat.does = Does::Nothing;
        let by = seat.by;
        let lane = &mut lanes[station as usize];
        // None of the station's queues has counted slots.
        lane.is_frozen |= lane.is_noticed(limit);
        let has_frame = self.exchange_fails((station, by, Failure::NoAnswer, false), now, supply);
        let Self { even, air, .. } = self;
        let lane = &mut even.lanes[station as usize];
        let post_backoff = air.settings.post_backoff_after_drop;
        let queue = &mut air.queues[by as usize];
        lane.waiting.backoffs.back_off(by, queue, has_frame, post_backoff);
        if lane.is_noticed(limit) {
            lane.forget_access(&mut air.clock);
        } else {
            lane.find_access(&mut air.clock, (&air.settings, &air.queues));
            lane.drops_late_access(&mut air.clock);
        }
    }
}
