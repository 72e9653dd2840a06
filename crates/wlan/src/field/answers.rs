//! The time between data that have come and the end of their answer: it is certain that the answer goes on the air, and
//! who hears nothing but the two has nothing to do until it has ended. So the beginning of an answer is no event of its
//! own, but is caught up on before anything else happens; and such listeners *sit it out*: they are left as they were
//! before the data ended, and brought to the end of the answer in one step, or to the present if another frame begins
//! before, or a frame is queued. Knows frames and listeners, and not what is in a frame.

use airtcp_kernel::Time;

use super::Field;
use super::air::{Air, Came};
use super::clock::{Key, Rank};
use super::hearing::Power;
use super::listener::{ListenerId, Lock, SITS_OUT};
use super::node::{Frame, Sends};
use crate::events::Supply;
use crate::station::StationId;

impl<P: Clone> Field<P> {
    /// Catches up on the beginning of the answer that is on the air by now, before what else happens at `now`, and on
    /// its notice if that is before `now`.
    pub(super) fn catch_up(&mut self, now: Time) {
        let start = self.air.answer.time();
        let station = self.air.answerer;
        self.air.reaches(self.air.answer, station);
        self.air.answer = Key::NEVER;
        let mut frame = self.air.nodes[station as usize].frame;
        self.send::<true>(station, &mut frame, start);
        self.air.clock.look_up();
        while self.air.clock.first().time() < now {
            let (key, station) = (self.air.clock.first(), self.air.clock.winner());
            debug_assert_eq!(key.rank(), Rank::Notice);
            self.air.reaches(key, station);
            self.notice(station, key.time());
            self.air.clock.look_up();
        }
    }

    /// Ends the frame of `sender` with data at `now`, which is not on the air any more.
    pub(super) fn data_end<S: Supply<P>>(
        &mut self,
        sender: StationId,
        frame: &Frame,
        now: Time,
        supply: &mut S,
    ) {
        let receiver = frame.to;
        let Self { air, .. } = self;
        let listens_as = air.nodes[receiver as usize].listener;
        let lock = &air.listeners[listens_as as usize].lock;
        if listens_as != receiver && lock.as_ref().is_some_and(|lock| lock.from == sender) {
            // It learns from the frame something else than the others of its group.
            self.listen_apart(receiver, now);
        }
        let Self { air, hearing, .. } = self;
        let power = hearing.power(sender, receiver);
        let is_apart = air.listens_as(receiver, receiver) && power > 0;
        let came = if is_apart {
            air.frame_ends_at(hearing, (sender, frame), (receiver, power), now)
        } else {
            Came::Lost
        };
        self.frame_sent(sender, frame, now, supply);
        let data = (frame.by, frame.to, frame.end);
        let is_answered = came == Came::Understood && self.data_came(data, now, supply);
        if is_answered {
            self.answers(frame, now, supply);
        }
        let Self { air, hearing, groups, .. } = self;
        // The powers with which the answer is heard by the groups, in their order.
        let mut answers = if is_answered { hearing.of(receiver) } else { &[] };
        let answer = air.nodes[receiver as usize].frame;
        let certain = answer.need.alone;
        let own = &mut air.listeners[sender as usize];
        let power = if is_answered { hearing.power(receiver, sender) } else { 0 };
        if power >= certain && power > 0 && own.hears_nothing_else(0, now) {
            (own.answerer, own.answer_power, own.noticed_at) = (receiver, power, SITS_OUT);
        } else {
            own.free_from = now;
            own.is_sending = false;
            if own.sensed() < hearing.energy {
                air.medium_idle(sender, now);
            }
        }
        for ear in hearing.of(sender) {
            while let [first, rest @ ..] = answers
                && first.group < ear.group
            {
                answers = rest;
            }
            let answer_power = match answers {
                [first, ..] if first.group == ear.group && first.power >= certain => first.power,
                _ => 0,
            };
            for &place in groups[ear.group as usize].listeners() {
                if place == sender || place == receiver {
                    continue;
                }
                let listener = &air.listeners[place as usize];
                if answer_power > 0
                    && !air.nodes.get(place as usize).is_some_and(|node| node.waits_for_end)
                    && listener.lock.as_ref().is_some_and(|lock| lock.from == sender)
                    && listener.hears_nothing_else(ear.power, now)
                {
                    air.sit_out(place, (receiver, answer_power), answer.end, now);
                } else {
                    air.frame_ends_at(hearing, (sender, frame), (place, ear.power), now);
                }
            }
        }
        self.waits_have_ended(now, supply);
    }
}

impl Air {
    /// Makes an event of the answer that is certain if it begins before a frame is noticed that begins at `now`: where
    /// neither is understood a station may get at the medium before it has noticed them.
    #[inline]
    pub(super) fn set_answer(&mut self, now: Time) {
        if self.answer.time() <= now + self.detect {
            let answer = std::mem::replace(&mut self.answer, Key::NEVER);
            self.nodes[self.answerer as usize].acts = answer;
            self.set_clock(self.answerer);
        }
    }

    /// Has `place` sit out the answer until `end`, which it hears with so much power: it receives data that end at `now`,
    /// and hears nothing else.
    #[inline(always)]
    fn sit_out(
        &mut self,
        place: ListenerId,
        (answerer, power): (StationId, Power),
        end: Time,
        now: Time,
    ) {
        self.settle_notice(place, now);
        let listener = &mut self.listeners[place as usize];
        (listener.answerer, listener.answer_power) = (answerer, power);
        listener.noticed_at = SITS_OUT;
        if listener.access <= end {
            self.forget_access(place);
        }
    }

    /// Brings `place`, which has sat out an answer, to its end at `now`.
    #[inline(always)]
    pub(super) fn has_sat_out(&mut self, place: ListenerId, now: Time) -> Came {
        let listener = &mut self.listeners[place as usize];
        listener.noticed_at = Time::NEVER;
        listener.eifs = Time::ZERO;
        listener.free_from = now;
        if let Some(lock) = listener.lock.take() {
            listener.energy -= lock.power;
            if now > listener.nav.max(lock.end) {
                (listener.nav, listener.nav_by) = (now, lock.from);
            }
        } else {
            listener.is_sending = false;
            listener.bad.clear();
        }
        self.medium_idle(place, now);
        Came::Understood
    }

    /// Brings `place`, which sits out an answer, to the present: to the time between data and answer, or to what it knows
    /// of the answer.
    #[cold]
    pub(super) fn sits_out_no_more(&mut self, place: ListenerId, now: Time) {
        let Self { listeners, nodes, detect, .. } = self;
        let listener = &mut listeners[place as usize];
        listener.noticed_at = Time::NEVER;
        let (answerer, power) = (listener.answerer, listener.answer_power);
        let node = &nodes[answerer as usize];
        let (frame, is_on_air) = (node.frame, node.sends == Sends::Frame);
        let ended = if let Some(lock) = listener.lock.take() {
            listener.energy -= lock.power;
            listener.eifs = Time::ZERO;
            if frame.end > listener.nav.max(lock.end) {
                (listener.nav, listener.nav_by) = (frame.end, lock.from);
            }
            lock.end
        } else {
            listener.is_sending = false;
            nodes[place as usize].frame.end
        };
        listener.free_from = ended;
        let notice = frame.start + *detect;
        self.medium_idle(place, ended);
        if is_on_air {
            let is_to = self.listens_as(frame.to, place);
            let listener = &mut self.listeners[place as usize];
            listener.hear((answerer, power), frame.start, notice);
            listener.lock = Some(Lock::new(answerer, power, &frame, notice));
            listener.is_busy = true;
            listener.noticed_at = notice;
            if is_to {
                listener.bad.clear();
            }
            if listener.access <= frame.end {
                self.forget_access(place);
            }
            self.settle_notice(place, now);
        }
    }
}
