//! Frames on the air: start, detection and end at each station that hears them.

use airtcp_kernel::Time;

use super::Plain;
use super::powers::Power;
use super::station::{Culprit, Frame, Kind, Known, Lock, Station};
use crate::config::WeakerBefore;
use crate::events::Supply;
use crate::station::StationId;

impl<P: Clone> Plain<P> {
    /// Returns the stations that hear `frame` of `sender`, with the received powers.
    fn ears(&self, sender: StationId, frame: &Frame) -> Vec<(StationId, Power)> {
        let all = 0..self.stations.len() as StationId;
        let heard = all.filter(|&one| one != sender && self.powers.power(sender, one) > 0);
        heard.map(|one| (one, frame.heard_with(self.powers.power(sender, one)))).collect()
    }

    /// Returns the frames on the air.
    fn on_air(&self) -> impl Iterator<Item = (StationId, &Frame)> {
        let all = (0..).zip(&self.stations);
        all.filter_map(|(id, station)| Some((id, station.sending.as_ref()?)))
    }

    /// Puts `frame` of `sender` on the air.
    pub(super) fn send(&mut self, sender: StationId, mut frame: Frame, now: Time) {
        let station = &mut self.stations[sender as usize];
        assert!(station.sending.is_none(), "a station sends one frame at a time");
        if let Some((_, strength)) = self.powers.obss_pd
            && (station.is_restricted || !station.ignored.is_empty())
        {
            frame.strength = strength;
        }
        let abandoned = station.lock.take();
        station.receives_no_more(now);
        if let Some(lock) = abandoned {
            self.blame(lock.from, sender, sender, now);
        }
        self.medium_busy(sender, now);
        frame.culprit = self.disturber(frame.to, sender, now);
        self.blame_for_undetected(sender, &frame, now);
        for (id, power) in self.ears(sender, &frame) {
            self.frame_begins(id, (sender, power), now);
        }
        let station = &mut self.stations[sender as usize];
        (station.sending, station.known) = (Some(frame), Known::Nothing);
        self.tell_views(sender, &frame, now, true);
    }

    /// Blames `culprit` for the loss of the frame from `sender` to `receiver`, unless another is
    /// blamed.
    fn blame(&mut self, sender: StationId, receiver: StationId, culprit: StationId, now: Time) {
        if let Some(frame) = &mut self.stations[sender as usize].sending
            && frame.to == receiver
            && frame.culprit == Culprit::NOBODY
            && frame.end > now
        {
            frame.culprit = Culprit { station: culprit, apart: now - frame.start };
        }
    }

    /// Blames the new `frame` of `sender` for the loss of frames that are not detected yet: their
    /// receivers cannot abandon them.
    fn blame_for_undetected(&mut self, sender: StationId, frame: &Frame, now: Time) {
        for other in 0..self.stations.len() as StationId {
            let station = &self.stations[other as usize];
            let Some(begun) = station.sending else { continue };
            let own = begun.heard_with(self.powers.power(other, begun.to));
            let new = frame.heard_with(self.powers.power(sender, begun.to));
            let is_lost =
                begun.to == sender || new > 0 && !self.powers.suffices(own, new, begun.need);
            if station.known == Known::Nothing && is_lost && begun.culprit == Culprit::NOBODY {
                let culprit = Culprit { station: sender, apart: now - begun.start };
                self.stations[other as usize].sending = Some(Frame { culprit, ..begun });
            }
        }
    }

    /// Returns what disturbs `receiver` when `sender` begins: its own frame, or the loudest.
    fn disturber(&self, receiver: StationId, sender: StationId, now: Time) -> Culprit {
        if self.powers.power(sender, receiver) == 0 {
            return Culprit::NOBODY;
        }
        let heard = self.on_air().filter_map(|(other, frame)| {
            let power =
                if other == receiver { Power::MAX } else { self.powers.power(other, receiver) };
            let is_heard = other != sender && frame.end > now && power > 0;
            is_heard.then_some((power, other, now - frame.start))
        });
        let loudest = heard.max_by_key(|&(power, other, _)| (power, other));
        loudest.map_or(Culprit::NOBODY, |(_, station, apart)| Culprit { station, apart })
    }

    /// Starts a frame of `sender` at `id`, which does not know of it yet.
    fn frame_begins(&mut self, id: StationId, (sender, power): (StationId, Power), now: Time) {
        let Self { stations, powers, .. } = self;
        let station = &mut stations[id as usize];
        if station.lock.is_none() && station.sending.is_none() {
            if now >= station.undetected_until {
                station.before = station.energy();
            }
            station.undetected_until = now + powers.detect;
        }
        if station.fresh_at != now {
            (station.fresh_at, station.fresh) = (now, 0);
        }
        station.fresh += power;
        station.last_by = Some(sender);
        station.hears.push((sender, power));
        let energy = station.energy();
        let Some(lock) = &mut station.lock else { return };
        let from = lock.from;
        let is_captured = powers.captures(power, lock.power, now - lock.since);
        let is_bad = is_captured || !powers.suffices(lock.power, energy - lock.power, lock.need);
        lock.judge(is_bad, now);
        if is_captured {
            station.lock = None;
            station.free_from = now;
            station.receives_no_more(now);
        }
        if is_bad {
            self.blame(from, id, sender, now);
        }
    }

    /// Lets all stations detect the frame of `sender`, or learn its cell.
    pub(super) fn notice(&mut self, sender: StationId, now: Time) {
        let station = &mut self.stations[sender as usize];
        let frame = station.sending.expect("a frame is detected before it ends");
        let is_colour = station.known == Known::Preamble;
        let has_colour = frame.has_colour && !is_colour;
        station.known = if has_colour { Known::Preamble } else { Known::All };
        for (id, power) in self.ears(sender, &frame) {
            if is_colour {
                self.learns_cell(id, sender, &frame, now);
            } else {
                self.detects(id, (sender, power), &frame, now);
            }
        }
    }

    /// Lets `id` detect `frame`.
    fn detects(
        &mut self,
        id: StationId,
        (sender, power): (StationId, Power),
        frame: &Frame,
        now: Time,
    ) {
        let Self { stations, powers, .. } = self;
        let station = &mut stations[id as usize];
        if station.sending.is_some() {
            return;
        }
        let others = station.energy() - power;
        let fresh = if station.fresh_at == now { station.fresh } else { 0 };
        if station.lock.is_none()
            && station.free_from <= frame.start
            && powers.detects(power, others - fresh)
        {
            let mut lock = Lock {
                from: sender,
                power,
                need: frame.need,
                since: now,
                bad_since: None,
                first_bad: Time::NEVER,
                last_bad: Time::ZERO,
            };
            let interference = if powers.weaker_before == WeakerBefore::Unnoticed
                && is_last(station, (sender, power), frame)
            {
                station.before
            } else {
                others
            };
            lock.judge(!powers.suffices(power, interference, frame.need), now);
            station.lock = Some(lock);
            if frame.to == id {
                station.bad.clear();
            }
            if frame.start + self.phy_header <= station.nav_reset {
                station.nav_reset = Time::NEVER;
            }
        }
        let station = &self.stations[id as usize];
        if station.lock.is_some() || station.sensed() >= self.powers.energy {
            self.medium_busy(id, now);
        }
    }

    /// Lets `id` ignore `frame` of `sender` if it is of another cell and weak enough (OBSS-PD).
    fn learns_cell(&mut self, id: StationId, sender: StationId, frame: &Frame, now: Time) {
        let Some((level, _)) = self.powers.obss_pd else { return };
        let is_contending = self.is_contending(id);
        let is_own = self.roles.cell(id) == self.roles.cell(sender);
        let station = &mut self.stations[id as usize];
        if let Some(lock) = station.lock
            && lock.from == sender
            && lock.power < level
            && !is_own
            && now < frame.end
        {
            station.lock = None;
            station.free_from = now;
            station.eifs = Time::ZERO;
            station.ignored.push((sender, lock.power));
            station.is_restricted |= is_contending;
            station.receives_no_more(now);
            self.settle_idle(id, now);
        }
    }

    /// Ends the frame of `sender`.
    pub(super) fn frame_ends<S: Supply<P>>(
        &mut self,
        sender: StationId,
        now: Time,
        supply: &mut S,
    ) {
        let station = &mut self.stations[sender as usize];
        let frame = station.sending.take().expect("a frame ends once");
        station.free_from = now;
        self.tell_views(sender, &frame, now, false);
        self.settle_idle(sender, now);
        let mut has_come = false;
        let mut waited = Vec::new();
        for (id, _) in self.ears(sender, &frame) {
            let waits = self.stations[id as usize].waits_for_end;
            let lock = self.stations[id as usize].lock;
            if waits && lock.is_some_and(|lock| lock.from == sender) {
                waited.push(id);
            }
            has_come |= self.frame_ends_at(id, sender, &frame, now) && id == frame.to;
        }
        self.frame_sent(sender, &frame, now, supply);
        if has_come {
            self.frame_came(&frame, now, supply);
        }
        for id in waited {
            if self.stations[id as usize].waits_for_end {
                self.answer_missing(id, now, supply);
            }
        }
    }

    /// Ends `frame` of `sender` at `id`. Returns whether any of it was received.
    fn frame_ends_at(
        &mut self,
        id: StationId,
        sender: StationId,
        frame: &Frame,
        now: Time,
    ) -> bool {
        let Self { stations, powers, eifs, nav_timeout, .. } = self;
        let of_lock = stations[id as usize].lock.and_then(|lock| {
            let heard = stations[lock.from as usize].sending.as_ref()?;
            Some(heard.to)
        });
        let station = &mut stations[id as usize];
        station.hears.retain(|&(other, _)| other != sender);
        station.ignored.retain(|&(other, _)| other != sender);
        station.last_by = None;
        if station.sending.is_some() {
            return false;
        }
        let energy = station.energy();
        let mut is_understood = false;
        match &mut station.lock {
            None => {}
            Some(lock) if lock.from != sender => {
                // One interferer fewer.
                let is_bad = !powers.suffices(lock.power, energy - lock.power, lock.need);
                if let Some(bad) = lock.judge(is_bad, now)
                    && of_lock == Some(id)
                {
                    station.bad.push(bad);
                }
            }
            Some(lock) => {
                if let Some(bad) = lock.judge(false, now)
                    && frame.to == id
                {
                    station.bad.push(bad);
                }
                let (first, last) = (lock.first_bad, lock.last_bad);
                station.lock = None;
                station.free_from = now;
                // The receiver of an aggregate judges each MPDU; others need the first or the last.
                let has_header = first >= frame.header_end;
                let is_aggregate = frame.first_end < frame.end;
                is_understood = first >= frame.end
                    || has_header && (first >= frame.first_end || last <= frame.last_start)
                    || has_header && is_aggregate && frame.to == id;
                station.eifs = if is_understood { Time::ZERO } else { now + *eifs };
                let sets_nav = frame.to != id && frame.announced > station.nav.max(now);
                if is_understood && sets_nav {
                    (station.nav, station.nav_by) = (frame.announced, sender);
                    if frame.kind == Kind::Rts {
                        station.nav_reset = now + *nav_timeout;
                    }
                }
            }
        }
        self.settle_idle(id, now);
        is_understood
    }
}

/// True if `frame` of `sender` began last of all that `station` hears, and none has ended since. Of
/// frames that began at one instant, a bit of the instant chooses the first or the last.
fn is_last(station: &Station, (sender, power): (StationId, Power), frame: &Frame) -> bool {
    let Some(last) = station.last_by else { return false };
    let is_alone = station.fresh == power;
    let is_reversed = !is_alone && (frame.start.as_nanos() / 1000).count_ones() % 2 == 1;
    station.fresh_at == frame.start && (last == sender) != is_reversed
}
