//! A field in which all hear each other evenly: the stations of each cell hear each other and all others alike, with one
//! power, and are heard by those that they hear. There data are lost if, and only if, another frame that their receiver
//! hears begins within the detection time of theirs: all that hear them are silent from then on until they are answered.
//! So an exchange is played in three events, the access, the end of the data, and that of the answer or of the wait for
//! it. Its listeners have it in their logs (`log.rs`), which are read when their busy period is over; in between none of
//! them gets at the medium.
//!
//! Knows the order of an exchange, and neither its contents nor what a listener makes of its log.

mod apart;
mod log;
mod over;
mod period;
mod viewing;

use airtcp_kernel::{Duration, Time};

use super::Field;
use super::clock::{Key, Rank};
use super::hearing::GroupId;
use super::listener::ListenerId;
use super::node::{Culprit, Exchange, Frame, Kind, NONE, Sends};
use super::waiting::Waits;
use crate::config::ArrivalBeforeOwnAck;
use crate::events::Supply;
use crate::sequence::txop::Txop;
use crate::station::{ContenderId, StationId};
pub(super) use log::{FrameId, Journal, SentId, Times};
use viewing::Viewers;

/// A place in the order of all events: the key of one, and its station.
pub(super) type Place = (Key, StationId);

impl<P: Clone> Field<P> {
    /// Plays the event of `station` that is due at `now`, as [`Self::advance`].
    pub(super) fn advance_evenly<S: Supply<P>>(
        &mut self,
        (key, station): Place,
        now: Time,
        supply: &mut S,
    ) {
        self.air.reaches(key, station);
        match key.rank() {
            Rank::Start => self.access_evenly(station, now, supply),
            Rank::End if self.air.nodes[station as usize].exchange.is_some() => {
                self.data_are_sent(station, now, supply);
            }
            Rank::End => self.answer_is_sent(station, now, supply),
            Rank::Timeout => self.wait_is_over(station, now, supply),
            Rank::Notice => unreachable!("what is noticed is no event"),
        }
    }

    /// Returns the place behind the event that is played.
    #[inline]
    fn place_behind(&self) -> Place {
        (self.air.reached, self.air.reached_by + 1)
    }

    /// Returns the place up to which all was played where something else happens at `now`.
    #[inline]
    fn place_at(&self, now: Time) -> Place {
        (Key::new(now, Rank::Start), 0).max(self.place_behind())
    }

    /// Has `read` read the log of `place`, where that station listens alone or those of a group together, for the access
    /// points among them.
    #[inline(always)]
    fn read<R>(
        &mut self,
        place: ListenerId,
        read: impl FnOnce(&mut Journal, (ListenerId, StationId), &mut Viewers<'_>) -> R,
    ) -> R {
        let Self { air, groups, sensed, roles, .. } = self;
        let group = (place as usize).wrapping_sub(air.nodes.len());
        let (own, access_points) = match groups.get(group) {
            Some(group) => (StationId::MAX, &group.cells[..]),
            None => (place, &[][..]),
        };
        let (group, detect) = (group as GroupId, air.detect);
        let mut viewers = Viewers { group, access_points, sensed, roles, detect };
        read(&mut air.journal, (place, own), &mut viewers)
    }

    /// Begins the access of `station` at `now`.
    fn access_evenly<S: Supply<P>>(&mut self, station: StationId, now: Time, supply: &mut S) {
        let by = self.air.nodes[station as usize].first;
        self.air.takes_access(station, by);
        self.air.queues[by as usize].contender.begin();
        self.assemble(by, now, None, supply);
        let (kind, frame) = self.tell_begin(by, now, supply);
        debug_assert_eq!(kind, Kind::Data, "nothing is announced");
        self.begin_evenly(station, frame, now);
    }

    /// Puts `frame` with data of `station` on the air at `now`, in the logs of all that hear it.
    fn begin_evenly(&mut self, station: StationId, frame: Frame, now: Time) {
        self.cells_on_air[self.roles.cell(station) as usize].note(now, true);
        let notice = now + self.hearing.detect;
        let Self { air, .. } = self;
        let node = &mut air.nodes[station as usize];
        let group = node.group;
        let place = node.listener;
        let by = frame.by;
        let sent = air.journal.add((station, group), frame);
        let txop = Txop::new(now, Duration::ZERO);
        node.exchange = Some(Exchange { by, txop, awaits: Kind::Answer, is_protected: false });
        (node.sends, node.sent) = (Sends::Whole, sent);
        node.acts = Key::new(frame.end, Rank::End);
        air.clock.set_behind_first(node.acts);
        if air.listeners[place as usize].under_way > 0 {
            self.collides(station, sent, now);
        }
        let Self { air, groups, .. } = self;
        let heard_by = groups[group as usize].heard_by();
        air.journal.is_held(sent, heard_by.len());
        let mut long = None;
        for &place in heard_by {
            air.journal.hears(place, sent);
            let listener = &mut air.listeners[place as usize];
            listener.under_way += 1;
            if listener.under_way == 1 {
                listener.noticed = (Key::new(notice, Rank::Notice), station);
                listener.is_frozen = false;
                air.drops_late_access(place);
            } else if air.journal.is_long(place) {
                long = Some(place);
            }
        }
        if let Some(place) = long {
            self.read(place, |journal, one, viewers| journal.read(one, now, viewers));
        }
    }

    /// Has `sent` of `station`, which begins `now`, collide with what is on the air and not noticed yet where it listens.
    #[cold]
    fn collides(&mut self, station: StationId, sent: SentId, now: Time) {
        let place = self.air.nodes[station as usize].listener;
        let to = self.air.journal.one(sent).frame.to;
        let since = now.saturating_sub(self.hearing.detect);
        let mut others = std::mem::take(&mut self.begun);
        self.air.journal.list_begun(place, since, &mut others);
        let listener = &self.air.listeners[place as usize];
        if others.len() < listener.under_way as usize && self.broken_law.is_none() {
            self.broken_law = Some(format!(
                "station {station} began at {now} while a frame that it hears was on the air"
            ));
        }
        let mut loudest = None;
        for &other in &others {
            let one = self.air.journal.one_mut(other);
            let (sender, start) = (one.sender, one.frame.start);
            one.collides = true;
            let apart = now - start;
            if one.frame.culprit == Culprit::NOBODY {
                one.frame.culprit = Culprit { station, apart };
            }
            // Its receiver's own frame is the loudest.
            loudest = loudest.max(Some((sender == to, sender, apart)));
            self.part(sender);
        }
        self.begun = others;
        let one = self.air.journal.one_mut(sent);
        if let Some((_, culprit, apart)) = loudest {
            one.collides = true;
            one.frame.culprit = Culprit { station: culprit, apart };
            self.part(station);
        }
    }

    /// Ends the data of `station` at `now`.
    fn data_are_sent<S: Supply<P>>(&mut self, station: StationId, now: Time, supply: &mut S) {
        let node = &mut self.air.nodes[station as usize];
        let sent = node.sent;
        (node.sends, node.acts) = (Sends::Nothing, Key::NEVER);
        let group = node.group;
        let one = self.air.journal.one(sent);
        let (frame, collides) = (one.frame, one.collides);
        self.cells_on_air[self.roles.cell(station) as usize].note(now, false);
        self.last_culprits[frame.by as usize] = frame.culprit;
        if collides {
            let node = &mut self.air.nodes[station as usize];
            node.timeout = now + self.air.settings.ack_timeout;
            self.air.clock.set_behind_first(Key::new(node.timeout, Rank::Timeout));
            self.air.journal.ends(sent);
            self.exchange_is_over(group, NONE, now);
        } else {
            self.air.clock.set_behind_first(Key::NEVER);
            self.air.listeners[frame.to as usize].bad.clear();
            let came = self.data_came(&frame, now, supply);
            debug_assert!(came, "nothing has disturbed them");
            if self.air.nodes[frame.to as usize].exchange.is_some() {
                // It gives up waiting for an answer itself.
                self.answer_is_missing(frame.to, now, supply);
            }
            let to = &mut self.air.nodes[frame.to as usize];
            (to.sends, to.sent) = (Sends::Whole, sent);
            to.acts = Key::new(frame.announced, Rank::End);
            self.air.clock.set(frame.to, to.acts);
        }
        if !self.air.await_ends.is_empty() {
            self.ends_for_those_that_wait(FrameId { sent, is_answer: false }, now, supply);
        }
    }

    /// Ends the answer of `station` at `now`, and the exchange with it.
    fn answer_is_sent<S: Supply<P>>(&mut self, station: StationId, now: Time, supply: &mut S) {
        let node = &mut self.air.nodes[station as usize];
        let sent = node.sent;
        (node.sends, node.acts) = (Sends::Nothing, Key::NEVER);
        self.air.clock.set_behind_first(Key::NEVER);
        let one = self.air.journal.one(sent);
        let (sender, frame) = (one.sender, one.frame);
        let answer = frame.end + self.frames.phy().sifs;
        self.cells_on_air[self.roles.cell(sender) as usize].passes(now - answer);
        let by = frame.by;
        self.last_culprits[by as usize] = Culprit::NOBODY;
        let has_next = self.take_answer(by, now, supply);
        self.air.journal.ends(sent);
        let node = &mut self.air.nodes[sender as usize];
        node.exchange = None;
        let (place, group) = (node.listener, node.group);
        self.air.succeeds(by);
        self.settle_end(place, now);
        self.air.back_off(by, has_next, self.air.settings.post_backoff);
        #[cfg(any(test, feature = "testing"))]
        {
            self.air.whole += 1;
        }
        self.exchange_is_over(group, place, now);
        if !self.air.await_ends.is_empty() {
            self.ends_for_those_that_wait(FrameId { sent, is_answer: true }, now, supply);
        }
    }

    /// Ends the busy period at `place` at `now`, with the last exchange that was under way.
    #[inline]
    fn settle_end(&mut self, place: ListenerId, now: Time) {
        let passed =
            self.read(place, |journal, one, viewers| journal.read_to_end(one, now, viewers));
        self.air.period_ends(place, passed, now);
    }

    /// Ends an exchange of a station of `group` at `now` for all that hear it; at `settled` the busy period has ended
    /// already.
    #[inline]
    fn exchange_is_over(&mut self, group: GroupId, settled: ListenerId, now: Time) {
        let limit = self.place_behind();
        let stations = self.air.nodes.len();
        let mut any_apart = false;
        let heard_by = self.groups[group as usize].take_heard_by();
        for &place in &heard_by {
            let listener = &mut self.air.listeners[place as usize];
            listener.under_way -= 1;
            if listener.under_way == 0 {
                if place != settled {
                    self.settle_end(place, now);
                }
                self.air.awaits_access(place, limit);
                any_apart |= (place as usize) < stations;
            }
        }
        self.groups[group as usize].put_heard_by(heard_by);
        if any_apart {
            self.those_apart_join(group, now);
        }
    }

    /// Has those listen together again that hear `group`, of which a busy period is over at `now`, and may.
    #[cold]
    fn those_apart_join(&mut self, group: GroupId, now: Time) {
        let stations = self.air.nodes.len();
        for one in (0..self.groups[group as usize].heard_by().len()).rev() {
            let place = self.groups[group as usize].heard_by()[one];
            if (place as usize) < stations && self.air.listeners[place as usize].under_way == 0 {
                self.join(place, now);
            }
        }
    }

    /// Ends the wait of `station` for an answer at `now`, unless it is receiving what may be the answer.
    fn wait_is_over<S: Supply<P>>(&mut self, station: StationId, now: Time, supply: &mut S) {
        self.read(station, |journal, one, viewers| journal.read(one, now, viewers));
        let node = &mut self.air.nodes[station as usize];
        node.timeout = Time::NEVER;
        let (header, detect) = (self.air.phy_header, self.air.detect);
        match self.air.journal.received(station, now) {
            Some((frame, noticed)) if noticed + header <= now + detect => {
                // 10.3.2.11: what it receives may be the answer.
                node.waits_for_end = true;
                self.air.await_ends.push((station, frame));
                self.air.clock.set_behind_first(Key::NEVER);
            }
            _ => {
                let listener = &mut self.air.listeners[station as usize];
                listener.idle_from = listener.idle_from.max(now);
                self.answer_is_missing(station, now, supply);
            }
        }
    }

    /// Settles at `now` the exchanges of those that have waited for the end of `frame`, which was not the answer.
    #[cold]
    fn ends_for_those_that_wait<S: Supply<P>>(
        &mut self,
        frame: FrameId,
        now: Time,
        supply: &mut S,
    ) {
        let mut ended: Vec<_> = Vec::new();
        self.air.await_ends.retain(|&(station, awaited)| {
            if awaited == frame {
                ended.push(station);
            }
            awaited != frame
        });
        ended.sort_unstable();
        for station in ended {
            if self.air.nodes[station as usize].waits_for_end {
                self.answer_is_missing(station, now, supply);
            }
        }
    }

    /// Settles an exchange of `station` to which no answer has come by `now`.
    fn answer_is_missing<S: Supply<P>>(&mut self, station: StationId, now: Time, supply: &mut S) {
        let limit = self.place_behind();
        let listener = &mut self.air.listeners[station as usize];
        // No queue of its own has counted slots.
        listener.is_frozen |= listener.is_noticed(limit);
        self.answer_missing(station, now, supply);
        self.air.awaits_access(station, limit);
    }

    /// Lets `id` contend, as [`Self::frames_ready`].
    pub(super) fn queued_evenly(&mut self, id: ContenderId, now: Time) {
        match self.air.queues[id as usize].waits {
            Waits::Counting(backoff) if !backoff.has_frame => {}
            Waits::Idle => {}
            _ => return,
        }
        let station = self.air.queues[id as usize].contender.station;
        let place = self.air.nodes[station as usize].listener;
        let limit = self.place_at(now);
        if !self.air.listeners[place as usize].is_noticed(limit) {
            self.air.frame_queued(id, now);
            return self.air.drops_late_access(place);
        }
        self.air.freezes(place);
        let node = &self.air.nodes[station as usize];
        let is_answering = node.sends == Sends::Whole && node.exchange.is_none() && {
            let answer = self.air.journal.one(node.sent).frame.end + self.frames.phy().sifs;
            limit <= (Key::new(answer, Rank::Start), station)
        };
        let answers_idle = self.air.settings.immediate_access
            && self.air.settings.arrival_before_own_ack == ArrivalBeforeOwnAck::Idle;
        self.air.queued_while_busy(id, is_answering && answers_idle);
    }

    /// Brings what is put off until it matters to `now`: counts and views are read then.
    pub fn settle(&mut self, now: Time) {
        if !self.air.is_even {
            return;
        }
        let limit = self.place_at(now);
        for place in 0..self.air.listeners.len() as ListenerId {
            let listener = &self.air.listeners[place as usize];
            if listener.under_way == 0 {
                continue;
            }
            if listener.is_noticed(limit) {
                self.air.freezes(place);
            }
            self.read(place, |journal, one, viewers| {
                journal.read(one, now, viewers);
                journal.view(place, now, viewers);
            });
        }
    }
}

#[cfg(any(test, feature = "testing"))]
impl<P: Clone> Field<P> {
    /// Has every exchange played frame by frame.
    pub fn play_in_frames(&mut self) {
        self.air.is_even = false;
    }

    /// Returns how many exchanges were played as a whole to their ends.
    pub fn whole(&self) -> u64 {
        self.air.whole
    }
}
