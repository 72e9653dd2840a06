//! Frames on the air of a field: their beginnings, the instants at which they are noticed, and their ends, at each
//! station that hears them. Who begins to transmit lets go of what it was receiving; who starts before a frame is
//! noticed does not know of it. Knows no queue, and not what is in a frame.

use airtcp_kernel::Time;

use super::Field;
use super::clock::{Key, Rank};
use super::hearing::{COLOUR_KNOWN, Ear, Power};
use super::node::{Culprit, Frame, Kind, Known, Lock};
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
    /// Puts `frame` of `sender` on the air at `now`.
    pub(super) fn send(&mut self, sender: StationId, frame: Frame, now: Time) {
        let mut frame = frame;
        let node = &mut self.nodes[sender as usize];
        debug_assert!(node.sending.is_none(), "a station sends one frame at a time");
        if let Some(lock) = node.lock.take() {
            self.blame(lock.from, sender, sender, now);
        }
        let node = &mut self.nodes[sender as usize];
        if std::mem::take(&mut node.waits_for_end) {
            node.timeout = now;
        }
        node.known = Known::Nothing;
        if let Some((_, strength)) = self.hearing.obss_pd
            && !node.ignored.is_empty()
        {
            frame.strength = strength;
        }
        self.medium_busy(sender, now);
        self.tell_view(sender, sender, now, &frame, true);
        for place in self.hearing.of(sender) {
            let Ear { station, power } = self.hearing.ear(place);
            let power = frame.heard_with(power);
            if frame.to == station {
                frame.culprit = self.disturber(station, sender, now);
            }
            self.frame_begins(sender, station, power, now);
            self.tell_view(station, sender, now, &frame, true);
        }
        self.nodes[sender as usize].sending = Some(frame);
        self.on_air.push(sender);
        self.set_clock(sender);
    }

    /// Blames a frame of `culprit` that begins at `now` for the loss of what `sender` sends to `station`, if nothing was
    /// before it.
    fn blame(&mut self, sender: StationId, station: StationId, culprit: StationId, now: Time) {
        if let Some(frame) = &mut self.nodes[sender as usize].sending
            && frame.to == station
            && frame.culprit == Culprit::NOBODY
            && frame.end > now
        {
            frame.culprit = Culprit { station: culprit, apart: now - frame.start };
        }
    }

    /// Finds what is on the air at `station` at `now`, at which a frame of `sender` begins: its own frame, or the
    /// loudest.
    fn disturber(&self, station: StationId, sender: StationId, now: Time) -> Culprit {
        let node = &self.nodes[station as usize];
        if node.energy == 0 && node.sending.is_none() {
            return Culprit::NOBODY;
        }
        let power = |from| {
            if from == station { Power::MAX } else { self.hearing.power(from, station) }
        };
        let others = self.on_air.iter().filter_map(|&other| {
            let frame = self.nodes[other as usize].sending?;
            let is_heard = frame.end > now && power(other) > 0 && other != sender;
            is_heard.then_some((power(other), other, frame.start))
        });
        others
            .max()
            .map_or(Culprit::NOBODY, |(_, station, start)| Culprit { station, apart: now - start })
    }

    /// Begins a frame of `sender` at `station`, which does not know of it yet.
    #[inline]
    fn frame_begins(&mut self, sender: StationId, station: StationId, power: Power, now: Time) {
        let Self { nodes, hearing, .. } = self;
        let node = &mut nodes[station as usize];
        node.hear(power, now);
        if node.sending.is_some() {
            return;
        }
        let Some(lock) = &mut node.lock else { return };
        let from = lock.from;
        let is_bad = if hearing.captures(power, lock.power, now - lock.since) {
            node.lock = None;
            node.free_from = now;
            if std::mem::take(&mut node.waits_for_end) {
                node.timeout = now;
                self.set_clock(station);
            }
            true
        } else {
            let interference = node.energy - lock.power;
            let is_bad = !hearing.comes_through(lock.power, interference, lock.need);
            lock.judge(is_bad, now);
            is_bad
        };
        if is_bad {
            self.blame(from, station, sender, now);
        }
    }

    /// Has all notice the frame of `sender` that hear it.
    pub(super) fn notice(&mut self, sender: StationId, now: Time) {
        let Some(frame) = self.nodes[sender as usize].sending else {
            unreachable!("a frame is noticed before it ends")
        };
        if self.nodes[sender as usize].known == Known::Preamble {
            return self.tell_cell(sender, frame.end, now);
        }
        self.nodes[sender as usize].known =
            if frame.has_colour { Known::Preamble } else { Known::Cell };
        self.set_clock(sender);
        for place in self.hearing.of(sender) {
            let Ear { station, power } = self.hearing.ear(place);
            let power = frame.heard_with(power);
            let Self { nodes, hearing, .. } = self;
            let node = &mut nodes[station as usize];
            if node.sending.is_some() {
                continue;
            }
            if node.lock.is_none()
                && node.free_from <= frame.start
                && hearing.detects(power, node.interference(power, now))
            {
                let mut lock = Lock {
                    from: sender,
                    power,
                    need: frame.need,
                    since: now,
                    bad_since: Time::NEVER,
                    first_bad: Time::NEVER,
                    last_bad: Time::ZERO,
                };
                let interference = node.energy - power;
                lock.judge(!hearing.comes_through(power, interference, frame.need), now);
                node.lock = Some(lock);
                if frame.to == station {
                    node.bad.clear();
                }
                if node.nav_reset != Time::NEVER && frame.start + self.phy_header <= node.nav_reset
                {
                    node.nav_reset = Time::NEVER;
                    self.set_clock(station);
                }
            }
            let node = &self.nodes[station as usize];
            if !node.is_busy && (node.lock.is_some() || node.sensed() >= self.hearing.energy) {
                self.medium_busy(station, now);
            }
        }
    }

    /// Has all in other cells ignore the frame of `sender`, of which the cell is known, that hear it with so little
    /// power that they may (OBSS-PD; as in ns-3, where control frames tell no cell).
    fn tell_cell(&mut self, sender: StationId, end: Time, now: Time) {
        self.nodes[sender as usize].known = Known::Cell;
        self.set_clock(sender);
        let Some((level, _)) = self.hearing.obss_pd else { return };
        for place in self.hearing.of(sender) {
            let station = self.hearing.ear(place).station;
            let node = &mut self.nodes[station as usize];
            if let Some(lock) = node.lock
                && lock.from == sender
                && lock.power < level
                && self.roles.cell(station) != self.roles.cell(sender)
                && now < end
            {
                node.lock = None;
                node.free_from = now;
                node.eifs = Time::ZERO;
                node.ignored.push((sender, lock.power));
                if std::mem::take(&mut node.waits_for_end) {
                    node.timeout = now;
                    self.set_clock(station);
                }
                self.settle_idle(station, now);
            }
        }
    }

    /// Checks the law that no station begins an access while a frame that it senses has been on the air for longer than
    /// it takes to detect it.
    pub(super) fn check_access(&mut self, station: StationId, now: Time) {
        let node = &self.nodes[station as usize];
        let others = self.on_air.iter().filter(|&&other| {
            self.nodes[other as usize].sending.is_some_and(|frame| {
                let power = frame.heard_with(self.hearing.power(other, station));
                let is_ignored = node.ignored.iter().any(|&(one, _)| one == other);
                frame.start + self.hearing.detect < now
                    && now < frame.end
                    && power >= self.hearing.energy.max(1)
                    && !is_ignored
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
        node.free_from = now;
        let place = self.on_air.iter().position(|&one| one == sender);
        self.on_air.swap_remove(place.expect("what is sent is on the air"));
        self.tell_view(sender, sender, now, &frame, false);
        let mut came = Came::Lost;
        for place in self.hearing.of(sender) {
            let ear = self.hearing.ear(place);
            self.tell_view(ear.station, sender, now, &frame, false);
            let here = self.frame_ends_at(ear, sender, &frame, now);
            if ear.station == frame.to {
                came = here;
            }
        }
        self.settle_idle(sender, now);
        self.set_clock(sender);
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
    }

    /// Ends a frame of `sender` at a station that hears it.
    #[inline]
    fn frame_ends_at(&mut self, ear: Ear, sender: StationId, frame: &Frame, now: Time) -> Came {
        let Ear { station, power } = ear;
        let Self { nodes, hearing, settings_eifs: eifs, .. } = self;
        let node = &mut nodes[station as usize];
        node.energy -= frame.heard_with(power);
        if !node.ignored.is_empty() {
            node.ignored.retain(|&(other, _)| other != sender);
        }
        if node.sending.is_some() {
            return Came::Lost;
        }
        let mut came = Came::Lost;
        match &mut node.lock {
            Some(lock) if lock.from == sender => {
                if let Some(bad) = lock.judge(false, now)
                    && frame.to == station
                {
                    node.bad.push(bad);
                }
                let (first_bad, last_bad) = (lock.first_bad, lock.last_bad);
                node.lock = None;
                node.free_from = now;
                if let Some(heard) = &mut self.heard {
                    heard.push(HeardBy { station, bad_from: first_bad, bad_until: last_bad });
                }
                if node.waits_for_end {
                    self.waited.push(station);
                }
                // Of an aggregate its receiver judges each frame alone.
                let is_judged_apart = frame.to == station && frame.first_end < frame.end;
                if frame.is_understood(first_bad, last_bad)
                    || is_judged_apart && first_bad >= frame.header_end
                {
                    came = Came::Understood;
                    node.eifs = Time::ZERO;
                    if frame.to != station && frame.announced > node.nav.max(now) {
                        node.nav = frame.announced;
                        node.nav_by = sender;
                        if frame.kind == Kind::Rts {
                            node.nav_reset = now + self.nav_timeout;
                            self.set_clock(station);
                        }
                    }
                } else {
                    node.eifs = now + *eifs;
                }
            }
            Some(lock) => {
                let is_bad =
                    !hearing.comes_through(lock.power, node.energy - lock.power, lock.need);
                let from = lock.from as usize;
                if let Some(bad) = lock.judge(is_bad, now)
                    && nodes[from].sending.is_some_and(|heard| heard.to == station)
                {
                    nodes[station as usize].bad.push(bad);
                }
            }
            None => {}
        }
        self.settle_idle(station, now);
        came
    }

    /// Makes the medium idle for `station` if it senses nothing any more.
    #[inline]
    fn settle_idle(&mut self, station: StationId, now: Time) {
        let node = &self.nodes[station as usize];
        if node.is_busy
            && node.lock.is_none()
            && node.sending.is_none()
            && node.sensed() < self.hearing.energy
        {
            self.medium_idle(station, now);
        }
    }

    /// Sets the next event of `station`.
    pub(super) fn set_clock(&mut self, station: StationId) {
        let node = &self.nodes[station as usize];
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
        key = key.min(Key::new(node.timeout.min(node.nav_reset), Rank::Timeout));
        self.clock.set(station, key);
    }
}
