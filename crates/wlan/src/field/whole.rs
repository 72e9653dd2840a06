//! Exchanges that are played as a whole: data and their answer in three events, the access, the end of the data and that
//! of the answer. Who begins alone, where nothing else is on the air, has the medium until the end once the detection
//! time is over: the receiver hears the same frames as the sender, and all that could disturb either hear both. So
//! listeners are not told of the frames, but have the exchange in the log of their group (`log.rs`), and are brought to
//! its end at once when that comes. One that is disturbed within the detection time is opened into frames.
//!
//! Knows the order of an exchange, and neither its contents nor what those sense that hear it with others.

use airtcp_kernel::{Duration, Time};

use super::Field;
use super::air::Air;
use super::clock::{Key, Rank};
use super::hearing::GroupId;
use super::listener::ListenerId;
use super::log::{Whole, WholeId};
use super::node::{Exchange, Kind, Sends};
use super::order::UNKNOWN;
use super::waiting::Waits;
use crate::events::Supply;
use crate::sequence::txop::Txop;
use crate::station::{ContenderId, StationId};

impl<P: Clone> Field<P> {
    /// Begins the access of `station` at `now` as a whole exchange, if it may be one. Returns whether it is.
    pub(super) fn begins_whole<S: Supply<P>>(
        &mut self,
        station: StationId,
        now: Time,
        supply: &mut S,
    ) -> bool {
        let Some(by) = self.may_begin_whole(station, now) else { return false };
        self.air.takes_access(station, by);
        self.air.queues[by as usize].contender.begin();
        self.assemble(by, now, None, supply);
        let (kind, frame) = self.tell_begin(by, now, supply);
        debug_assert_eq!(kind, Kind::Data, "nothing is announced");
        let Self { air, hearing, groups, .. } = self;
        let whole = air.wholes.add(Whole { sender: station, frame, logs: 0, has_ended: false });
        let node = &mut air.nodes[station as usize];
        let txop = Txop::new(now, Duration::ZERO);
        node.exchange = Some(Exchange { by, txop, awaits: Kind::Answer, is_protected: false });
        (node.sends, node.whole) = (Sends::Whole, whole);
        node.acts = Key::new(frame.end, Rank::End);
        air.clock.set(station, node.acts);
        air.last_start = air.last_start.max(now);
        air.set_answer(now);
        let notice = now + hearing.detect;
        for ear in hearing.of(station) {
            if !air.wholes.begins_at(ear.group, whole, notice) {
                continue;
            }
            let listeners = groups[ear.group as usize].listeners();
            if listeners.iter().any(|&one| air.hears_frames(one)) {
                // Beside other frames it is told of those of the exchange.
                air.wholes.is_told(ear.group, (Key::new(now, Rank::Start), station));
                listeners.iter().for_each(|&one| air.settle_notice(one, now));
            }
            for &place in groups[ear.group as usize].listeners() {
                let listener = &air.listeners[place as usize];
                if !listener.winners.is_empty() && listener.access > notice {
                    air.forget_access(place);
                }
            }
        }
        true
    }

    /// Returns the queue of `station` that begins an exchange at `now`, if that may be a whole: nothing else begins
    /// there, the others of its group hear nothing else, and those that hear it wait for nothing.
    fn may_begin_whole(&self, station: StationId, now: Time) -> Option<ContenderId> {
        let Self { air, hearing, groups, originators, .. } = self;
        let by = air.begins_alone(station, now, now + hearing.detect)?;
        let is_single = originators[by as usize].txop_limit == Duration::ZERO;
        let own = air.nodes[station as usize].group;
        let is_undisturbed = |group: GroupId| {
            groups[group as usize]
                .listeners()
                .iter()
                .all(|&one| !air.takes_part(one) && (group != own || !air.hears_frames(one)))
        };
        let is_whole = is_single && hearing.of(station).iter().all(|ear| is_undisturbed(ear.group));
        is_whole.then_some(by)
    }

    /// Goes on with the whole exchange of which `station` has sent a frame until `now`.
    pub(super) fn whole_goes_on<S: Supply<P>>(
        &mut self,
        station: StationId,
        now: Time,
        supply: &mut S,
    ) {
        let air = &mut self.air;
        let node = &mut air.nodes[station as usize];
        let whole = node.whole;
        (node.sends, node.acts) = (Sends::Nothing, Key::NEVER);
        air.clock.set(station, Key::NEVER);
        if air.wholes.one(whole).sender != station {
            return self.whole_ends(whole, now, supply);
        }
        let frame = air.wholes.one(whole).frame;
        let answerer = &mut air.nodes[frame.to as usize];
        (answerer.sends, answerer.whole) = (Sends::Whole, whole);
        answerer.acts = Key::new(frame.announced, Rank::End);
        air.clock.set(frame.to, answerer.acts);
        air.listeners[frame.to as usize].bad.clear();
        let came = self.data_came(&frame, now, supply);
        debug_assert!(came, "nothing has disturbed it");
    }

    /// Ends a whole exchange at `now`, with its answer.
    fn whole_ends<S: Supply<P>>(&mut self, whole: WholeId, now: Time, supply: &mut S) {
        let &Whole { sender, ref frame, .. } = self.air.wholes.one(whole);
        let by = frame.by;
        let cell = self.roles.cell(sender);
        self.cells_on_air[cell as usize].exchange_passes(frame.times(self.frames.phy().sifs));
        let has_next = self.take_answer(by, now, supply);
        let node = &mut self.air.nodes[sender as usize];
        node.exchange = None;
        let own = node.group;
        self.air.succeeds(by);
        self.air.wholes.ends(whole);
        #[cfg(any(test, feature = "testing"))]
        {
            self.air.whole += 1;
        }
        for place in 0..self.hearing.of(sender).len() {
            let group = self.hearing.of(sender)[place].group;
            if self.air.wholes.ends_at(group) {
                let back_off = (group == own).then_some((by, has_next));
                self.log_ends(group, back_off, now);
            }
        }
        self.rejoin(sender, now);
    }
}

impl Air {
    /// Returns the queue of `station` that begins at `now`, if nothing else that is heard by the same listener does so up
    /// to `notice`.
    fn begins_alone(&self, station: StationId, now: Time, notice: Time) -> Option<ContenderId> {
        let node = &self.nodes[station as usize];
        let listener = &self.listeners[node.listener as usize];
        if listener.winners.len() != 1 {
            return None;
        }
        let mut queues = node.contenders();
        if let Some(order) = listener.order {
            // Its slots are longer than the detection time, and no other has as few left.
            return queues.find(|&id| {
                matches!(self.queues[id as usize].waits, Waits::Counting(backoff)
                    if backoff.has_frame && backoff.slots == order.slots)
            });
        }
        let counts =
            |&id: &ContenderId| matches!(self.queues[id as usize].waits, Waits::Counting(_));
        let by = queues.find(counts)?;
        let is_later = |&other: &ContenderId| {
            let queue = &self.queues[other as usize];
            other == by
                || match queue.waits {
                    Waits::Counting(backoff) if backoff.has_frame => {
                        queue.end(listener, &self.settings, backoff) > notice
                    }
                    _ => true,
                }
        };
        let queue = &self.queues[by as usize];
        let is_due = matches!(queue.waits, Waits::Counting(backoff)
            if backoff.has_frame && queue.end(listener, &self.settings, backoff) == now);
        let is_alone = node.counting == 1 && is_due && listener.counting.iter().all(is_later);
        is_alone.then_some(by)
    }

    /// Tells whether `place` hears any frames that it was told of.
    #[inline]
    fn hears_frames(&self, place: ListenerId) -> bool {
        let listener = &self.listeners[place as usize];
        listener.energy > 0 || listener.noticed_at != Time::NEVER
    }

    /// Tells whether `place` is a station that sends, or waits for anything.
    #[inline]
    fn takes_part(&self, place: ListenerId) -> bool {
        self.nodes.get(place as usize).is_some_and(|node| {
            node.is_engaged() || node.timeout != Time::NEVER || node.waits_for_end
        })
    }

    /// Takes `by`, which begins a whole exchange, from the queues that count slots.
    #[inline]
    fn takes_access(&mut self, station: StationId, by: ContenderId) {
        self.queues[by as usize].waits = Waits::Exchanging;
        let node = &mut self.nodes[station as usize];
        node.counting -= 1;
        let listener = &mut self.listeners[node.listener as usize];
        listener.winners.clear();
        listener.access = Time::NEVER;
        let place = listener.counting.iter().position(|&id| id == by);
        listener.counting.swap_remove(place.expect("who gets at the medium has counted slots"));
        if let Some(order) = &mut listener.order {
            order.first = UNKNOWN;
        }
    }

    /// Counts a success of `by`.
    #[inline]
    pub(super) fn succeeds(&mut self, by: ContenderId) {
        let contender = &mut self.queues[by as usize].contender;
        contender.counters.successes += 1;
        // IEEE 802.11-2020, 10.3.3: CW goes back after every success.
        contender.cw = contender.cw_min;
    }
}

#[cfg(any(test, feature = "testing"))]
impl<P: Clone> Field<P> {
    /// Has every exchange played frame by frame.
    pub fn play_in_frames(&mut self) {
        self.air.plays_whole = false;
    }

    /// Returns how many exchanges were played as a whole to their ends.
    pub fn whole(&self) -> u64 {
        self.air.whole
    }
}
