//! Frames on the air of a field: their beginnings, the instants at which they are noticed, and their ends, at each
//! station that hears them. Who begins to transmit lets go of what it was receiving; who starts before a frame is
//! noticed does not know of it. Knows no queue, and not what is in a frame.

use airtcp_kernel::Time;

use super::Field;
use super::clock::{Key, Rank};
use super::hearing::{COLOUR_KNOWN, NO_GROUP, Power};
use super::listener::{ListenerId, Lock};
use super::node::{Frame, Kind, Known};
use crate::events::{HeardBy, Supply};
use crate::station::StationId;

/// The reception of a frame by the station that it is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Came {
    /// Nothing: it was not receiving it, or too much of it was overlapped.
    Lost,
    /// At least a part of it.
    Understood,
}

impl<P: Clone> Field<P> {
    /// Puts `frame` of `sender`, which listens apart, on the air at `now`.
    pub(super) fn send(&mut self, sender: StationId, frame: Frame, now: Time) {
        let mut frame = frame;
        debug_assert!(self.listens_as(sender, sender));
        self.settle_notice(sender, now);
        let own = &mut self.listeners[sender as usize];
        debug_assert!(!own.is_sending, "a station sends one frame at a time");
        if let Some(lock) = own.lock.take() {
            self.blame(lock.from, sender, sender, now);
        }
        let node = &mut self.nodes[sender as usize];
        if std::mem::take(&mut node.waits_for_end) {
            node.timeout = now;
        }
        let own = &mut self.listeners[sender as usize];
        if let Some((_, strength)) = self.hearing.obss_pd
            && !own.ignored.is_empty()
        {
            frame.strength = strength;
        }
        own.is_sending = true;
        self.medium_busy(sender, now);
        self.tell_views(sender, now, &frame, true);
        let receiver = &self.listeners[self.nodes[frame.to as usize].listener as usize];
        if receiver.energy > 0 || receiver.is_sending {
            frame.culprit = self.disturber(frame.to, sender, now);
        }
        self.blame_unnoticed(sender, &frame, now);
        let mut is_noticed = true;
        self.at_each_that_hears(sender, &frame, |field, listener, power| {
            is_noticed &= field.frame_begins(sender, listener, power, &frame);
        });
        let node = &mut self.nodes[sender as usize];
        node.known = if is_noticed { Known::Cell } else { Known::Nothing };
        node.sending = Some(frame);
        self.on_air.push(sender);
        self.set_clock(sender);
    }

    /// Begins `frame` of `sender` at `place`, which does not know of it yet. Returns whether nothing is left to do there
    /// when it is noticed.
    ///
    /// That is so where it is noticed for certain if nothing else happens there before, and where it is certain to
    /// change nothing.
    #[inline(always)]
    fn frame_begins(
        &mut self,
        sender: StationId,
        place: ListenerId,
        power: Power,
        frame: &Frame,
    ) -> bool {
        let now = frame.start;
        self.settle_notice(place, now);
        let Self { listeners, hearing, nodes, queues, notices_ahead, .. } = self;
        let notice = now + hearing.detect;
        let listener = &mut listeners[place as usize];
        let is_alone = listener.energy == 0;
        listener.hear(power, now);
        if is_alone && !listener.is_busy {
            let access =
                listener.winners.first().map_or(Time::NEVER, |&one| nodes[one as usize].access);
            let mut is_certain = *notices_ahead
                && access > notice
                && frame.end > notice
                && listener.nav_reset == Time::NEVER
                && hearing.detects(power, 0)
                && hearing.comes_through(power, 0, frame.need);
            for &id in &listener.counting {
                is_certain &= !queues[id as usize].waits.will_draw();
            }
            if is_certain {
                listener.lock = Some(Lock::new(sender, power, frame, notice));
                listener.is_busy = true;
                listener.noticed_at = notice;
                if nodes[frame.to as usize].listener == place {
                    listener.bad.clear();
                }
                if access <= frame.end {
                    self.forget_access(place);
                }
            }
            return is_certain;
        }
        if listener.is_sending {
            let own = &nodes[place as usize].sending;
            return *notices_ahead && own.as_ref().is_some_and(|own| own.end > notice);
        }
        let Some(lock) = &mut listener.lock else {
            // It goes on to be busy without receiving anything, unless a frame ends meanwhile.
            let is_passed_over = *notices_ahead
                && listener.is_busy
                && listener.passed_over_until < now
                && !hearing.detects(power, listener.energy - power);
            if is_passed_over {
                (listener.passed_over, listener.passed_over_until) = (sender, notice);
            }
            return is_passed_over;
        };
        let is_deaf = *notices_ahead && lock.end > notice;
        let from = lock.from;
        let is_bad = if *notices_ahead && lock.bad_since != Time::NEVER {
            // More interference makes it no better.
            true
        } else if hearing.captures(power, lock.power, now - lock.since) {
            listener.lock = None;
            listener.free_from = now;
            self.receives_no_more(place, now);
            true
        } else {
            let interference = listener.energy - lock.power;
            let is_bad = !hearing.comes_through(lock.power, interference, lock.need);
            lock.judge(is_bad, now);
            is_bad
        };
        if is_bad {
            self.blame(from, place, sender, now);
        }
        is_deaf
    }

    /// Freezes the queues of `place` as of the instant at which it has noticed what it receives, if that was put off. If
    /// that instant is still to come, it has noticed nothing, and does so when it comes.
    #[inline(always)]
    pub(super) fn settle_notice(&mut self, place: ListenerId, now: Time) {
        if self.listeners[place as usize].noticed_at != Time::NEVER {
            self.settle_notice_put_off(place, now);
        }
    }

    /// Has the frame that `place` would not have noticed be noticed when it is time, as another ends before.
    #[cold]
    fn notice_passed_over(&mut self, place: ListenerId) {
        let listener = &mut self.listeners[place as usize];
        listener.passed_over_until = Time::ZERO;
        let sender = listener.passed_over;
        self.nodes[sender as usize].known = Known::Nothing;
        self.set_clock(sender);
    }

    fn settle_notice_put_off(&mut self, place: ListenerId, now: Time) {
        let listener = &mut self.listeners[place as usize];
        let at = std::mem::replace(&mut listener.noticed_at, Time::NEVER);
        if at < now || Key::new(at, Rank::Notice) <= self.reached {
            if !listener.counting.is_empty() {
                self.freeze(place, at);
            }
            return;
        }
        let lock = listener.lock.take().expect("what is noticed is received");
        listener.is_busy = false;
        self.nodes[lock.from as usize].known = Known::Nothing;
        self.set_clock(lock.from);
        self.find_access(place);
    }

    /// Has a station wait no more for the end of what it received as `listener`.
    fn receives_no_more(&mut self, listener: ListenerId, now: Time) {
        if let Some(node) = self.nodes.get_mut(listener as usize)
            && std::mem::take(&mut node.waits_for_end)
        {
            node.timeout = now;
            self.set_clock(listener);
        }
    }

    /// Has all notice the frame of `sender` that hear it.
    pub(super) fn notice(&mut self, sender: StationId, now: Time) {
        let Some(frame) = self.nodes[sender as usize].sending else {
            unreachable!("a frame is noticed before it ends")
        };
        if self.nodes[sender as usize].known == Known::Preamble {
            return self.tell_cell(sender, &frame, now);
        }
        self.nodes[sender as usize].known =
            if frame.has_colour { Known::Preamble } else { Known::Cell };
        self.set_clock(sender);
        self.at_each_that_hears(sender, &frame, |field, listener, power| {
            field.notice_at(listener, (sender, power), &frame, now);
        });
    }

    /// Has `place` notice `frame` of `sender`, which it hears with `power`.
    #[inline]
    fn notice_at(
        &mut self,
        place: ListenerId,
        (sender, power): (StationId, Power),
        frame: &Frame,
        now: Time,
    ) {
        self.settle_notice(place, now);
        let is_to = self.listens_as(frame.to, place);
        let Self { listeners, hearing, .. } = self;
        let listener = &mut listeners[place as usize];
        if listener.is_sending {
            return;
        }
        if listener.lock.is_none()
            && listener.free_from <= frame.start
            && hearing.detects(power, listener.interference(power, now))
        {
            let mut lock = Lock::new(sender, power, frame, now);
            let interference = listener.energy - power;
            lock.judge(!hearing.comes_through(power, interference, frame.need), now);
            listener.lock = Some(lock);
            if is_to {
                listener.bad.clear();
            }
            if listener.nav_reset != Time::NEVER
                && frame.start + self.phy_header <= listener.nav_reset
            {
                listener.nav_reset = Time::NEVER;
                self.set_clock(place);
            }
        }
        let listener = &self.listeners[place as usize];
        if !listener.is_busy
            && (listener.lock.is_some() || listener.sensed() >= self.hearing.energy)
        {
            self.medium_busy(place, now);
        }
    }

    /// Has all in other cells ignore the frame of `sender`, of which the cell is known, that hear it with so little
    /// power that they may (OBSS-PD; as in ns-3, where control frames tell no cell).
    fn tell_cell(&mut self, sender: StationId, frame: &Frame, now: Time) {
        self.nodes[sender as usize].known = Known::Cell;
        self.set_clock(sender);
        let Some((level, _)) = self.hearing.obss_pd else { return };
        if now >= frame.end {
            return;
        }
        let of_sender = self.roles.cell(sender);
        self.at_each_that_hears(sender, frame, |field, one, _| {
            let listener = &mut field.listeners[one as usize];
            if let Some(lock) = listener.lock
                && lock.from == sender
                && lock.power < level
                && field.cells[one as usize] != of_sender
            {
                listener.lock = None;
                listener.free_from = now;
                listener.eifs = Time::ZERO;
                listener.ignored.push((sender, lock.power));
                field.receives_no_more(one, now);
                field.settle_idle(one, now);
            }
        });
    }

    /// Checks the law that no station begins an access while a frame that it receives, or senses, has been on the air for
    /// longer than it takes to detect it.
    pub(super) fn check_access(&mut self, station: StationId, now: Time) {
        let listener = &self.listeners[station as usize];
        if listener.energy == 0 && listener.lock.is_none() {
            return;
        }
        let received = listener.lock.as_ref().map(|lock| lock.from);
        let others = self.on_air.iter().filter(|&&other| {
            self.nodes[other as usize].sending.as_ref().is_some_and(|frame| {
                frame.start + self.hearing.detect < now && now < frame.end && {
                    let power = frame.heard_with(self.hearing.power(other, station));
                    let is_ignored = listener.ignored.iter().any(|&(one, _)| one == other);
                    received == Some(other) || power >= self.hearing.energy.max(1) && !is_ignored
                }
            })
        });
        if let Some(other) = others.min()
            && self.broken_law.is_none()
        {
            self.broken_law = Some(format!(
                "station {station} began at {now} while a frame of station {other} that it hears was on the air"
            ));
        }
    }

    /// Ends the frame of `sender` at `now`.
    pub(super) fn frame_ends<S: Supply<P>>(
        &mut self,
        sender: StationId,
        now: Time,
        supply: &mut S,
    ) {
        let node = &mut self.nodes[sender as usize];
        let Some(frame) = node.sending.take() else { unreachable!("a frame ends once") };
        let own = &mut self.listeners[sender as usize];
        own.free_from = now;
        own.is_sending = false;
        let place = self.on_air.iter().position(|&one| one == sender);
        self.on_air.swap_remove(place.expect("what is sent is on the air"));
        self.tell_views(sender, now, &frame, false);
        let receiver = self.nodes[frame.to as usize].listener;
        if self.listeners[receiver as usize].lock.as_ref().is_some_and(|lock| lock.from == sender) {
            // It learns from the frame something else than the others of its group.
            self.listen_apart(frame.to, now);
        }
        let mut came = Came::Lost;
        self.at_each_that_hears(sender, &frame, |field, listener, power| {
            let here = field.frame_ends_at(listener, (sender, power), &frame, now);
            if listener == frame.to {
                came = here;
            }
        });
        self.settle_idle(sender, now);
        self.tell_heard(sender, &frame, supply);
        self.frame_sent(sender, &frame, now, supply);
        if came == Came::Understood {
            self.frame_came(&frame, now, supply);
        }
        while let Some(station) = self.waited.pop() {
            if self.nodes[station as usize].waits_for_end {
                self.answer_missing(station, now, supply);
            }
        }
        for ear in self.hearing.of(sender) {
            let group = self.hearing.ear(ear).group;
            if group != NO_GROUP {
                self.listen_together(group, (sender, frame.to), now);
            }
        }
    }

    /// Ends a frame of `sender`, heard with `power`, at `place`.
    #[inline(always)]
    fn frame_ends_at(
        &mut self,
        place: ListenerId,
        (sender, power): (StationId, Power),
        frame: &Frame,
        now: Time,
    ) -> Came {
        self.settle_notice(place, now);
        if now <= self.listeners[place as usize].passed_over_until {
            self.notice_passed_over(place);
        }
        let is_to = place == frame.to;
        let Self { listeners, nodes, hearing, settings_eifs: eifs, .. } = self;
        let listener = &mut listeners[place as usize];
        listener.energy -= power;
        if !listener.ignored.is_empty() {
            listener.ignored.retain(|&(other, _)| other != sender);
        }
        if listener.is_sending {
            return Came::Lost;
        }
        let (mut came, mut has_reset) = (Came::Lost, false);
        match &mut listener.lock {
            Some(lock) if lock.from == sender => {
                if let Some(bad) = lock.judge(false, now)
                    && is_to
                {
                    listener.bad.push(bad);
                }
                let (first_bad, last_bad) = (lock.first_bad, lock.last_bad);
                listener.lock = None;
                listener.free_from = now;
                if let Some(heard) = &mut self.heard {
                    let mut hears = |station| {
                        heard.push(HeardBy { station, bad_from: first_bad, bad_until: last_bad });
                    };
                    if (place as usize) < nodes.len() {
                        hears(place);
                    } else {
                        let all = (0..).zip(nodes.iter());
                        all.filter(|(_, node)| node.listener == place)
                            .for_each(|(one, _)| hears(one));
                    }
                }
                if nodes.get(place as usize).is_some_and(|node| node.waits_for_end) {
                    self.waited.push(place);
                }
                // Of an aggregate its receiver judges each frame alone.
                let is_judged_apart = is_to && frame.first_end < frame.end;
                if frame.is_understood(first_bad, last_bad)
                    || is_judged_apart && first_bad >= frame.header_end
                {
                    came = Came::Understood;
                    listener.eifs = Time::ZERO;
                    if !is_to && frame.announced > listener.nav.max(now) {
                        listener.nav = frame.announced;
                        listener.nav_by = sender;
                        if frame.kind == Kind::Rts {
                            listener.nav_reset = now + self.nav_timeout;
                            has_reset = true;
                        }
                    }
                } else {
                    listener.eifs = now + *eifs;
                }
            }
            // Less interference makes it no worse, and it stays busy.
            Some(lock) if lock.bad_since == Time::NEVER => return came,
            Some(lock) => {
                let is_bad =
                    !hearing.comes_through(lock.power, listener.energy - lock.power, lock.need);
                let from = lock.from as usize;
                if let Some(bad) = lock.judge(is_bad, now)
                    && let Some(heard) = &nodes[from].sending
                    && nodes[heard.to as usize].listener == place
                {
                    listener.bad.push(bad);
                }
            }
            None => {}
        }
        let is_idle =
            listener.lock.is_none() && listener.is_busy && listener.sensed() < hearing.energy;
        if has_reset {
            self.set_clock(place);
        }
        if is_idle {
            self.medium_idle(place, now);
        }
        came
    }

    /// Makes the medium idle for `place` if it senses nothing any more.
    #[inline]
    fn settle_idle(&mut self, place: ListenerId, now: Time) {
        let listener = &self.listeners[place as usize];
        if listener.is_busy
            && listener.lock.is_none()
            && !listener.is_sending
            && listener.sensed() < self.hearing.energy
        {
            self.medium_idle(place, now);
        }
    }

    /// Sets the next event of a station, or of those that listen together.
    pub(super) fn set_clock(&mut self, place: ListenerId) {
        let nav_reset = self.listeners[place as usize].nav_reset;
        let Some(node) = self.nodes.get(place as usize) else {
            return self.clock.set(place, Key::new(nav_reset, Rank::Timeout));
        };
        let mut key = match &node.sending {
            Some(frame) => match node.known {
                Known::Nothing => Key::new(frame.start + self.hearing.detect, Rank::Notice),
                Known::Preamble => Key::new(frame.start + COLOUR_KNOWN, Rank::Notice),
                Known::Cell => Key::new(frame.end, Rank::End),
            },
            None => Key::new(node.access, Rank::Start),
        };
        if let Some(frame) = &node.next_frame {
            key = key.min(Key::new(frame.start, Rank::Start));
        }
        key = key.min(Key::new(node.timeout.min(nav_reset), Rank::Timeout));
        self.clock.set(place, key);
    }
}
