//! The telling of groups of stations of the whole exchanges that they hear: all at once, when the last has ended; frame by
//! frame, in their order and as if it were when these began and ended, where other frames are heard beside them; or of
//! one that begins beside another within the detection time, which is opened into frames.
//!
//! Knows what whole exchanges there are from `log.rs`. Does not know how an exchange goes on (`whole.rs`).

use airtcp_kernel::{Duration, Time};

use super::Field;
use super::clock::{Key, Rank};
use super::hearing::{GroupId, Power};
use super::log::{Passed, Place, Step, Whole, WholeId};
use super::node::{Exchange, Kind, Sends};
use crate::config::ArrivalBeforeOwnAck;
use crate::sequence::txop::Txop;
use crate::station::{ContenderId, StationId};

impl<P: Clone> Field<P> {
    /// Returns the place of the event that is played.
    #[inline]
    pub(super) fn place(&self) -> Place {
        (self.air.reached, self.air.reached_by)
    }

    /// Returns the place behind it.
    #[inline]
    fn place_behind(&self) -> Place {
        (self.air.reached, self.air.reached_by + 1)
    }

    /// Tells all groups that hear `station` of what they have in their logs, up to `limit`.
    #[inline]
    pub(super) fn tell_logs(&mut self, station: StationId, limit: Place) {
        if self.air.wholes.are_any() {
            self.tell_those_that_hear(station, limit);
        }
    }

    #[cold]
    #[inline(never)]
    fn tell_those_that_hear(&mut self, station: StationId, limit: Place) {
        for place in 0..self.hearing.of(station).len() {
            let group = self.hearing.of(station)[place].group;
            if self.air.wholes.are_heard_by(group) {
                self.tell_log(group, limit);
            }
        }
    }

    /// Tells `group` of the frames that are in its log, up to `limit`.
    #[inline(never)]
    fn tell_log(&mut self, group: GroupId, limit: Place) {
        self.air.played = self.air.played.max(limit);
        while let Some(id) =
            self.air.wholes.unnoticed(group, limit, self.air.played, self.hearing.detect)
        {
            self.open(id);
        }
        if !self.air.wholes.are_heard_by(group) {
            return;
        }
        let sifs = self.frames.phy().sifs;
        let Self { air, hearing, groups, sensed, roles, .. } = self;
        air.wholes.list_steps(group, limit, (sifs, hearing.detect));
        let steps = std::mem::take(&mut air.wholes.steps);
        let of_group = &groups[group as usize];
        let reached = (air.reached, air.reached_by);
        for &((key, station), step, id) in &steps {
            let now = key.time();
            (air.reached, air.reached_by) = (key, station);
            let whole = air.wholes.one(id);
            let sender = whole.sender;
            let frame = match step {
                Step::DataBegin | Step::DataNoticed | Step::DataEnd => whole.frame,
                _ => whole.frame.answer(sender, sifs),
            };
            let power = hearing.power_at(station, group);
            let notice = now + hearing.detect;
            for &place in of_group.listeners() {
                let ear = (place, power);
                match step {
                    Step::DataBegin | Step::AnswerBegins => {
                        // The notice is a step of its own.
                        let noticed = (notice, Power::MAX);
                        air.frame_begins(hearing, (station, &frame), ear, noticed);
                    }
                    Step::DataNoticed | Step::AnswerNoticed => {
                        air.notice_at(hearing, (station, &frame), ear, now);
                    }
                    Step::DataEnd | Step::AnswerEnds => {
                        air.frame_ends_at(hearing, (station, &frame), ear, now);
                    }
                }
            }
            let begins = matches!(step, Step::DataBegin | Step::AnswerBegins);
            if begins || matches!(step, Step::DataEnd | Step::AnswerEnds) {
                let cell = roles.cell(sender);
                for &viewer in &of_group.cells {
                    sensed[viewer as usize].note_frame(cell, &frame, now, begins);
                }
            }
        }
        (air.reached, air.reached_by) = reached;
        air.wholes.steps = steps;
        let log = &mut air.wholes.logs[group as usize];
        log.told = Some(limit);
        air.wholes.release_told(group, limit);
        if air.wholes.logs[group as usize].under_way > 0 {
            self.forget_late_accesses(group, limit.0.time());
        }
    }

    /// Forgets the accesses of `group` behind the first notice of an exchange that is under way at `now`: it will keep
    /// them from the medium until it ends.
    fn forget_late_accesses(&mut self, group: GroupId, now: Time) {
        let Self { air, groups, hearing, .. } = self;
        let first = air.wholes.first_notice(group, now, hearing.detect);
        for &place in groups[group as usize].listeners() {
            let listener = &air.listeners[place as usize];
            if !listener.winners.is_empty() && listener.access > first {
                air.forget_access(place);
            }
        }
    }

    /// Ends the log of `group`, of which the last exchange has ended at `now`: its own exchange if `back_off` tells the
    /// queue of it, and whether that has another frame.
    #[inline(always)]
    pub(super) fn log_ends(
        &mut self,
        group: GroupId,
        back_off: Option<(ContenderId, bool)>,
        now: Time,
    ) {
        let sifs = self.frames.phy().sifs;
        let Self { air, groups, .. } = self;
        let (is_alone, is_told) = air.wholes.is_one(group);
        let mut passed = Passed { idle: Duration::ZERO, lost: Some(false), until: now };
        let is_plain = !is_told
            && (is_alone
                || air.wholes.pass(group, (sifs, air.detect)).is_some_and(|all| {
                    passed = all;
                    true
                }));
        if !is_plain {
            debug_assert!(back_off.is_none(), "an exchange of its own is heard alone");
            self.tell_log(group, self.place_behind());
            self.air.wholes.clear(group);
            return;
        }
        let log = &air.wholes.logs[group as usize];
        let (is_frozen, noticed) = (log.is_frozen, log.noticed);
        let eifs = passed
            .lost
            .map(|is_lost| if is_lost { passed.until + air.settings_eifs } else { Time::ZERO });
        for &place in groups[group as usize].listeners() {
            if !is_frozen && !air.listeners[place as usize].counting.is_empty() {
                air.freeze(place, noticed);
            }
            let listener = &mut air.listeners[place as usize];
            (listener.is_busy, listener.eifs) = (false, eifs.unwrap_or(listener.eifs));
            (listener.idle_from, listener.free_from) = (now, now);
        }
        if let Some((by, has_next)) = back_off {
            air.back_off(by, has_next, air.settings.post_backoff);
        }
        for &place in groups[group as usize].listeners() {
            if !air.listeners[place as usize].counting.is_empty() {
                air.find_access(place);
            }
        }
        self.view_log(group, passed.idle, now);
        self.air.wholes.clear(group);
    }

    /// Tells the views of the access points of `group` of the exchanges in its log, which have ended by `now` and were
    /// not told of: one, or several of other cells, beside which the medium was `idle` for so long.
    #[inline(always)]
    fn view_log(&mut self, group: GroupId, idle: Duration, now: Time) {
        let sifs = self.frames.phy().sifs;
        let Self { air, groups, sensed, roles, .. } = self;
        let wholes = &air.wholes;
        let entries = &wholes.logs[group as usize].entries;
        let first = wholes.one(entries[0]);
        if let [_] = entries[..] {
            let cell = roles.cell(first.sender);
            let times = first.frame.times(sifs);
            for &viewer in &groups[group as usize].cells {
                sensed[viewer as usize].exchange_passes(cell, first.frame.has_data, times);
            }
        } else {
            for &viewer in &groups[group as usize].cells {
                sensed[viewer as usize].others_pass(first.frame.start, now, idle);
            }
        }
    }

    /// Tells the group of `station`, which gets at the medium, of its log, if it has been told of a part. Returns whether
    /// the medium is idle there all the same: other frames have ended in the space before an answer.
    #[cold]
    pub(super) fn stays_idle(&mut self, station: StationId) -> bool {
        let group = self.air.nodes[station as usize].group;
        if !self.air.wholes.is_plain(group) {
            self.tell_log(group, self.place());
        }
        let listener = &self.air.listeners[self.air.nodes[station as usize].listener as usize];
        !listener.is_busy && listener.access == self.air.reached.time()
    }

    /// Opens the exchanges that `station` hears, gets at the medium at `now`, and does not know of.
    #[cold]
    pub(super) fn open_unnoticed(&mut self, station: StationId, now: Time) {
        let group = self.air.nodes[station as usize].group;
        while let Some(&id) = self.air.wholes.logs[group as usize].entries.first() {
            let start = self.air.wholes.one(id).frame.start;
            if start + self.hearing.detect < now && self.broken_law.is_none() {
                let other = self.air.wholes.one(id).sender;
                self.broken_law = Some(format!(
                    "station {station} began at {now} while a frame of station {other} that it hears was on the air"
                ));
            }
            self.open(id);
        }
    }

    /// Opens the exchange `id`, which has just begun, into frames.
    fn open(&mut self, id: WholeId) {
        let Whole { sender, mut frame, .. } = self.air.wholes.one(id).clone();
        let start = frame.start;
        let limit = (Key::new(start, Rank::Start), sender);
        self.air.played = self.air.played.max(self.place());
        let reached = self.place();
        (self.air.reached, self.air.reached_by) = limit;
        for ear in self.hearing.of(sender) {
            self.air.wholes.take_out(ear.group, id);
        }
        // Others that it does not know of, either, may be opened by that.
        self.tell_those_that_hear(sender, limit);
        let node = &mut self.air.nodes[sender as usize];
        (node.sends, node.acts) = (Sends::Nothing, Key::NEVER);
        node.exchange = None;
        self.listen_apart(sender, start);
        self.air.medium_busy(sender, start);
        let node = &mut self.air.nodes[sender as usize];
        let txop = Txop::new(start, Duration::ZERO);
        let by = frame.by;
        node.exchange = Some(Exchange { by, txop, awaits: Kind::Answer, is_protected: false });
        node.frame = frame;
        self.send::<false>(sender, &mut frame, start);
        (self.air.reached, self.air.reached_by) = reached;
        for place in 0..self.hearing.of(sender).len() {
            let group = self.hearing.of(sender)[place].group;
            let log = &self.air.wholes.logs[group as usize];
            if !log.entries.is_empty() && log.under_way == 0 {
                self.tell_log(group, self.place_behind());
                self.air.wholes.clear(group);
            }
        }
    }

    /// Lets `id` contend, whose queue was empty at `now`, beside whole exchanges that are under way.
    #[inline(never)]
    pub(super) fn queued_beside_wholes(&mut self, id: ContenderId, now: Time) {
        let station = self.air.queues[id as usize].contender.station;
        let group = self.air.nodes[station as usize].group;
        if !self.air.wholes.are_heard_by(group) {
            return self.air.frame_queued(id, now);
        }
        let limit = (Key::new(now, Rank::Start), 0).max(self.place_behind());
        self.air.played = self.air.played.max(limit);
        let log = &self.air.wholes.logs[group as usize];
        let first = self.air.wholes.one(log.entries[0]).sender;
        if log.told.is_some() {
            self.tell_log(group, limit);
            self.air.frame_queued(id, now);
            return self.forget_late_accesses(group, now);
        }
        if limit <= (Key::new(log.noticed, Rank::Notice), first) {
            if self.air.nodes[first as usize].group == group {
                // Its sender listens with those that do not know of it.
                self.open(log.entries[0]);
            }
            self.air.frame_queued(id, now);
            return self.forget_late_accesses(group, now);
        }
        let Self { air, groups, frames, .. } = self;
        let log = &mut air.wholes.logs[group as usize];
        let noticed = log.noticed;
        if !std::mem::replace(&mut log.is_frozen, true) {
            for &place in groups[group as usize].listeners() {
                air.medium_busy(place, noticed);
            }
        }
        let node = &air.nodes[station as usize];
        let is_answering = node.sends == Sends::Whole && node.exchange.is_none() && {
            let answer = air.wholes.one(node.whole).frame.end + frames.phy().sifs;
            limit <= (Key::new(answer, Rank::Start), station)
        };
        let answers_idle = air.settings.immediate_access
            && air.settings.arrival_before_own_ack == ArrivalBeforeOwnAck::Idle;
        air.queued_while_busy(id, is_answering && answers_idle);
    }
}
