//! A field in which all stations hear each other evenly: the stations of each cell hear each other
//! and all other stations alike, with one power, and hearing is mutual. Then data is lost exactly
//! if another frame that its receiver hears begins within its detection time. After that, all
//! stations that hear the data stay silent until the response. So an exchange needs three events:
//! the access, the end of the data, and the end of the response or of its timeout. Listeners find
//! the exchange in their logs (`log.rs`), which are read when their busy period is over
//! (`periods.rs`). Until then none of them accesses the medium.
//!
//! This file plays the order of an exchange. The contents of frames and the reading of logs are
//! elsewhere.

mod apart;
mod lane;
mod log;
mod lost;
mod period;
mod periods;
mod seats;
mod viewing;

use airtcp_kernel::Time;

use super::clock::{Key, Rank};
use super::hearing::GroupId;
use super::listener::ListenerId;
use super::node::{Culprit, Kind};
use super::{Field, Mac};
use crate::events::{Began, MacEvent, Supply};
use crate::frame::{Frames, Ppdu, Psdu};
use crate::station::{ContenderId, StationId};
pub(super) use log::Times;
use log::{FrameId, Sent};
pub(super) use seats::Even;
use seats::{Does, Seat};

impl<P: Clone> Field<P> {
    /// Plays the first event, which is due at `now`.
    #[inline(always)]
    pub(super) fn play_evenly<S: Supply<P>>(
        &mut self,
        (key, station): (Key, StationId),
        now: Time,
        supply: &mut S,
    ) {
        let &Seat { lane, does, answered, .. } = &self.even.seats[station as usize];
        if key.is_start() {
            return self.access_evenly((station, lane), now, supply);
        }
        self.air.clock.set(station, Key::NEVER);
        if key.is_timeout() {
            self.wait_is_over(station, now, supply);
        } else if does == Does::Sends {
            self.data_are_sent(station, now, supply);
        } else {
            self.answer_is_sent(answered, now, supply);
        }
    }

    /// Starts the access of `station`, which listens at `place`, at `now`.
    #[inline(always)]
    fn access_evenly<S: Supply<P>>(
        &mut self,
        (station, place): (StationId, ListenerId),
        now: Time,
        supply: &mut S,
    ) {
        let Self { even, air, originators, frames, roles, mac, .. } = self;
        let seat = &mut even.seats[station as usize];
        let &mut Seat { by, group, .. } = seat;
        seat.does = Does::Sends;
        let lane = &mut even.lanes[place as usize];
        if lane.begin(by, &mut air.queues) {
            // A station whose slots are shifted may begin before it detects the frame.
            lane.find_access(&mut air.clock, (&air.settings, &air.queues));
            lane.drops_late_access(&mut air.clock);
        }
        air.queues[by as usize].begin();
        let sent = if let Mac::Single = mac {
            let originator = &mut originators[by as usize];
            let mpdu = originator.hold(by, now, frames, supply);
            let class = roles.rate_class(station, mpdu.receiver);
            let times = frames.times(class, mpdu.bits);
            let ppdu = Ppdu::of_one(Frames::only(mpdu), class);
            supply.on_event(now, MacEvent::Began(Began::Exchange { by, times, ppdu }));
            let has_data = supply.carries_data(&mpdu.payload);
            let times = (now, times, even.times.sifs);
            Sent::of_one(station, mpdu.receiver, times, has_data)
        } else {
            self.assemble(by, now, None, supply);
            let (kind, frame) = self.tell_begin(by, now, supply);
            debug_assert_eq!(kind, Kind::Data, "nothing is announced");
            Sent::new(station, &frame)
        };
        self.begin_evenly((station, place, group), sent, now);
    }

    /// Puts the data of `sent` on the air, into the logs of all that hear `station`.
    #[inline(always)]
    fn begin_evenly(
        &mut self,
        (station, place, group): (StationId, ListenerId, GroupId),
        sent: Sent,
        now: Time,
    ) {
        let notice = (Key::new(now + self.hearing.detect, Rank::Notice), station);
        let even = &mut self.even;
        let seat = &mut even.seats[station as usize];
        (seat.sent, seat.culprit) = (sent, Culprit::NOBODY);
        let key = Key::new(sent.end, Rank::End);
        self.air.clock.set(station, key);
        if even.lanes[place as usize].under_way > 0 {
            self.collides(station, now);
        }
        let Self { even, groups, air, .. } = self;
        let group = &groups[group as usize];
        let mut long = None;
        for &place in group.heard_by() {
            let lane = &mut even.lanes[place as usize];
            let length = lane.log.hears(&sent);
            lane.under_way += 1;
            if lane.under_way == 1 {
                (lane.noticed, lane.is_frozen) = (notice, false);
                lane.drops_late_access(&mut air.clock);
            } else if length > log::LONG {
                long = Some(place);
            }
        }
        if let Some(place) = long {
            self.read(place, |(log, own), times, viewers| log.read(own, (now, times), viewers));
        }
    }

    /// Ends the data of `station` at `now`.
    #[inline(always)]
    fn data_are_sent<S: Supply<P>>(&mut self, station: StationId, now: Time, supply: &mut S) {
        let seat = &mut self.even.seats[station as usize];
        let (by, Sent { to, collides, announced, .. }) = (seat.by, seat.sent);
        if collides {
            self.exchange_has_collided(station, now);
        } else {
            seat.does = Does::IsAnswered;
            if let Mac::Single = self.mac {
                let mpdu = Psdu::only_of(&mut self.originators[by as usize].psdu);
                debug_assert!(!mpdu.is_received, "what has come was answered");
                mpdu.is_received = true;
                supply.on_event(now, MacEvent::Received { by, mpdu, came: None });
            } else {
                let came = self.data_came((by, to, now), now, supply);
                debug_assert!(came, "nothing has disturbed them");
            }
            if self.even.seats[to as usize].does.has_exchange() {
                // The sender waits for the response timeout itself.
                self.answer_is_missing(to, now, supply);
            }
            let seat = &mut self.even.seats[to as usize];
            (seat.does, seat.answered) = (Does::Answers, station);
            let key = Key::new(announced, Rank::End);
            self.air.clock.set(to, key);
        }
        if !self.even.await_ends.is_empty() {
            let frame = FrameId { sender: station, is_answer: false };
            self.ends_for_those_that_wait(frame, now, supply);
        }
    }

    /// Ends the response to `sender`'s data at `now`, and with it the exchange.
    #[inline(always)]
    fn answer_is_sent<S: Supply<P>>(&mut self, sender: StationId, now: Time, supply: &mut S) {
        let even = &mut self.even;
        let &Seat { lane: place, group, by, sent: Sent { to, .. }, .. } =
            &even.seats[sender as usize];
        even.seats[to as usize].does = Does::Nothing;
        let has_next = self.take_answer(by, now, supply);
        if !self.even.lanes[place as usize].log.is_empty() {
            self.settle_end(place, now);
        }
        self.exchange_succeeds(sender, has_next, now);
        self.exchange_is_over(group, now);
        if !self.even.await_ends.is_empty() {
            let frame = FrameId { sender, is_answer: true };
            self.ends_for_those_that_wait(frame, now, supply);
        }
    }

    /// Ends the busy period at `sender`'s listener after a successful exchange with nothing else on
    /// the air.
    #[inline(always)]
    fn exchange_succeeds(&mut self, sender: StationId, has_next: bool, now: Time) {
        let Self { even, air, cells_on_air, .. } = self;
        let Even { seats, lanes, times, .. } = even;
        let &Seat { lane: place, cell, by, sent: Sent { start, end, .. }, .. } =
            &seats[sender as usize];
        let answer = end + times.sifs;
        cells_on_air[cell as usize].passes((end - start) + (now - answer));
        let lane = &mut lanes[place as usize];
        lane.under_way = 0;
        let contender = &mut air.queues[by as usize];
        contender.counters.successes += 1;
        // IEEE 802.11-2020, 10.3.3: CW is reset after every success.
        contender.cw = contender.cw_min;
        seats[sender as usize].does = Does::Nothing;
        lane.waiting.backoffs.back_off(by, contender, has_next, air.settings.post_backoff);
        lane.find_access(&mut air.clock, (&air.settings, &air.queues));
        #[cfg(any(test, feature = "testing"))]
        {
            even.whole += 1;
        }
    }

    /// Starts contention for `by`, whose queue was empty.
    pub(super) fn queued_evenly(&mut self, by: ContenderId, now: Time) {
        let Self { even, air, .. } = self;
        let station = air.queues[by as usize].station;
        let limit = air.place_at(now);
        even.queued(station, (now, limit), air);
    }
}

#[cfg(any(test, feature = "testing"))]
impl<P: Clone> Field<P> {
    /// Switches to playing every exchange frame by frame.
    pub fn play_in_frames(&mut self) {
        self.even.is_on = false;
    }

    /// Returns how many exchanges were played as a whole.
    pub fn whole(&self) -> u64 {
        self.even.whole
    }
}
