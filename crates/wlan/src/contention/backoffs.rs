//! The backoffs that one listener counts, in a cell or in a field. The groups count common slots.
//! *Strays* count from an instant of their own until the medium becomes busy again: their frame
//! found the medium idle, or they took part in the last collision of a cell, or its TXOP ended
//! early. How the listener senses the medium comes with each call.

use airtcp_kernel::{Duration, Time};

use super::contender::{Contender, ContenderConfig, State};
use super::group::{Group, Groups};
use super::settings::Settings;
use crate::station::{ContenderId, StationId};

/// The backoffs at one listener.
#[derive(Clone, Debug)]
pub(crate) struct Backoffs {
    /// The contenders by AIFS.
    pub(crate) groups: Groups,
    pub(crate) strays: Vec<Stray>,
    /// The number of busy periods of a cell so far. It distinguishes a post-backoff of zero slots
    /// drawn in this busy period from one that has ended. In a field the slot distinguishes them.
    pub(crate) busy_periods: u64,
    is_of_cell: bool,
}

/// A contender that counts from an instant of its own. Also, the rest of a backoff that moves to
/// another listener.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stray {
    pub(crate) contender: ContenderId,
    /// None of its slots begins before this instant.
    pub(crate) from: Time,
    /// The backoff.
    pub(crate) slots: u32,
    pub(crate) has_frame: bool,
    /// Its frame found the medium idle. It needs a backoff only if the medium becomes busy before
    /// its access.
    pub(crate) immediate: bool,
}

/// How a listener senses the medium when a frame comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Senses {
    Busy,
    /// Idle by [`ArrivalBeforeOwnAck::Idle`](crate::config::ArrivalBeforeOwnAck::Idle), although
    /// an exchange is running: the station will send its MAC ACK.
    IdleBeforeAck,
    /// Idle; inter-frame spaces begin at this instant.
    Idle(Time),
}

impl Stray {
    /// Creates the entry of a contender whose access is at `from` without a backoff, or AIFS after
    /// the medium is idle again.
    pub(crate) fn without_backoff(contender: ContenderId, from: Time) -> Self {
        Self { contender, from, slots: 0, has_frame: true, immediate: false }
    }

    /// Returns when its backoff ends if the medium stays idle. AIFS ends at `origin`, or in a cell
    /// at `from`.
    #[inline]
    pub(crate) fn access_time(&self, origin: Time, slot_time: Duration) -> Time {
        self.from.max(origin) + slot_time * u64::from(self.slots)
    }

    /// Returns the slots left when the medium becomes busy at `now`, and the slots counted.
    pub(crate) fn freeze(&self, origin: Time, now: Time, settings: &Settings) -> (u64, u64) {
        let start = self.from.max(origin);
        let counted = if now < start {
            0
        } else {
            (now - start) / settings.slot_time + settings.boundary_slots
        };
        (u64::from(self.slots).saturating_sub(counted), counted)
    }
}

impl Backoffs {
    /// Creates the backoffs of these contenders. None of them counts slots yet.
    pub(crate) fn new(contenders: &[ContenderConfig], is_of_cell: bool) -> Self {
        let groups = Groups::new(contenders);
        Self { groups, strays: Vec::new(), busy_periods: 0, is_of_cell }
    }

    /// Returns the number that distinguishes post-backoffs of zero slots.
    #[inline]
    fn period(&self, group: u32) -> u64 {
        if self.is_of_cell { self.busy_periods } else { self.groups[group].slot }
    }

    /// Returns whether a post-backoff that ends in slot `until` of `group`, drawn in period
    /// `since`, had ended when the slots were last counted.
    #[inline]
    pub(crate) fn has_ended(&self, group: u32, (until, since): (u64, u64)) -> bool {
        until <= self.groups[group].slot && since != self.period(group)
    }

    /// Starts contention for `id`, whose frame came at `now`. Does nothing if it has another frame.
    /// A post-backoff that ends exactly at `now` serves the frame. Returns whether none did.
    // Inlined: in a cell it is called while the medium is busy, above all.
    #[inline(always)]
    pub(crate) fn frame_queued(
        &mut self,
        id: ContenderId,
        contender: &mut Contender,
        senses: Senses,
        now: Time,
        settings: &Settings,
    ) -> bool {
        let needs_access = self.needs_access(id, contender, senses, now, settings);
        if needs_access {
            self.begin_access(id, contender, senses, now, settings);
        }
        needs_access
    }

    /// Gives `id` a frame at `now`. A post-backoff that has not ended serves it. Returns whether
    /// none does, and `id` does not contend.
    #[inline(always)]
    pub(crate) fn needs_access(
        &mut self,
        id: ContenderId,
        contender: &mut Contender,
        senses: Senses,
        now: Time,
        settings: &Settings,
    ) -> bool {
        match contender.state {
            State::PostBackoff { until, since } => {
                let group = &self.groups[contender.group];
                let is_over = self.has_ended(contender.group, (until, since))
                    || matches!(senses, Senses::Idle(spaces)
                        if group.slot_start(until, spaces, settings.slot_time) < now);
                if !is_over {
                    self.groups[contender.group].insert(id, contender, until);
                }
                is_over
            }
            State::Idle => true,
            State::Stray | State::Bursts | State::Backoff { .. } | State::Exchanging => false,
        }
    }

    /// Starts the access of a contender without a pending backoff, at `now`.
    #[inline(always)]
    fn begin_access(
        &mut self,
        id: ContenderId,
        contender: &mut Contender,
        senses: Senses,
        now: Time,
        settings: &Settings,
    ) {
        if let Senses::Idle(spaces) = senses {
            return self.access_idle_medium((id, spaces), contender, now, settings);
        }
        // 10.3.4.2: the medium is busy, so the backoff procedure is followed.
        let group = &mut self.groups[contender.group];
        let at_once = senses == Senses::IdleBeforeAck && settings.immediate_access;
        let slots = if at_once { 0 } else { contender.draw_backoff() };
        group.insert(id, contender, group.slot + u64::from(slots));
    }

    /// Starts the access of a contender whose frame came at `now` to an idle medium.
    #[inline(never)]
    fn access_idle_medium(
        &mut self,
        (id, spaces): (ContenderId, Time),
        contender: &mut Contender,
        now: Time,
        settings: &Settings,
    ) {
        let group = &self.groups[contender.group];
        let origin = group.origin(spaces);
        let (from, slots) = if settings.immediate_access {
            (settings.first_boundary(origin, now), 0)
        } else {
            ((now + group.aifs).max(origin), contender.draw_backoff())
        };
        let immediate = settings.immediate_access;
        let stray = Stray { contender: id, from, slots, has_frame: true, immediate };
        self.add_stray(stray, contender);
    }

    /// Starts the backoff of `id` after its exchange.
    #[inline(always)]
    pub(crate) fn back_off(
        &mut self,
        id: ContenderId,
        contender: &mut Contender,
        has_frame: bool,
        post_backoff: bool,
    ) {
        if !has_frame && !post_backoff {
            contender.state = State::Idle;
            return;
        }
        let group = &mut self.groups[contender.group];
        let until = group.slot + u64::from(contender.draw_backoff());
        if has_frame {
            group.insert(id, contender, until);
        } else {
            contender.state = State::PostBackoff { until, since: self.period(contender.group) };
        }
    }

    /// Lets the backoff of `id` until a slot go on without a frame.
    #[cold]
    pub(crate) fn frame_left(&mut self, id: ContenderId, until: u64, all: &mut [Contender]) {
        let group = all[id as usize].group;
        self.groups[group].remove(id, all);
        all[id as usize].state = State::PostBackoff { until, since: self.period(group) };
    }

    /// Adds a contender that counts from an instant of its own.
    pub(crate) fn add_stray(&mut self, stray: Stray, contender: &mut Contender) {
        contender.state = State::Stray;
        self.strays.push(stray);
    }

    /// Lets the strays join their groups with their remaining slots when the medium becomes busy at
    /// `now`. `origin` is the end of a group's AIFS as in [`Stray::access_time`].
    #[cold]
    pub(crate) fn settle_strays(
        &mut self,
        origin: impl Fn(&Group) -> Time,
        now: Time,
        settings: &Settings,
        contenders: &mut [Contender],
    ) {
        let mut strays = std::mem::take(&mut self.strays);
        for stray in strays.drain(..) {
            let contender = &mut contenders[stray.contender as usize];
            let group = &mut self.groups[contender.group];
            let (mut left, counted) = stray.freeze(origin(group), now, settings);
            if stray.immediate {
                // 10.3.4.2: the medium became busy before it was idle for DIFS.
                left = u64::from(contender.draw_backoff());
            }
            let until = group.slot + left;
            if stray.has_frame {
                group.insert(stray.contender, contender, until);
            } else if left > 0 || counted == 0 {
                contender.state = State::PostBackoff { until, since: self.period(contender.group) };
            } else {
                contender.state = State::Idle;
            }
        }
        self.strays = strays;
    }
}

/// The medium as a listener of a field senses it differs from that of others, so a backoff can
/// move, and the medium may become busy at any instant.
impl Backoffs {
    /// Counts the passed slots when the medium becomes busy at `now`; inter-frame spaces began at
    /// `spaces`. Returns whether anything has changed.
    #[inline]
    pub(crate) fn freeze(
        &mut self,
        spaces: Time,
        now: Time,
        settings: &Settings,
        contenders: &mut [Contender],
    ) -> bool {
        let mut changes = self.groups.first.passes(now, spaces, settings, contenders);
        for group in &mut self.groups.others {
            changes |= group.passes(now, spaces, settings, contenders);
        }
        if !self.strays.is_empty() {
            self.settle_strays(|group| group.origin(spaces), now, settings, contenders);
            return true;
        }
        changes
    }

    /// Returns when the first backoff ends if the medium stays idle, and whose it is; of several
    /// the station with the lowest number.
    #[inline]
    pub(crate) fn first(
        &self,
        spaces: Time,
        slot_time: Duration,
        contenders: &[Contender],
    ) -> (Time, StationId) {
        let mut first = self.groups.first.first(spaces, slot_time, contenders);
        for group in &self.groups.others {
            first = first.min(group.first(spaces, slot_time, contenders));
        }
        for stray in &self.strays {
            let contender = &contenders[stray.contender as usize];
            let origin = self.groups[contender.group].origin(spaces);
            first = first.min((stray.access_time(origin, slot_time), contender.station));
        }
        first
    }

    /// True if a frame found the medium idle: its contender draws a backoff if the medium becomes
    /// busy.
    #[inline]
    pub(crate) fn will_draw(&self) -> bool {
        self.strays.iter().any(|stray| stray.immediate)
    }

    /// True if `contender` has a backoff here, with or without a frame.
    pub(crate) fn has(&self, contender: &Contender) -> bool {
        match contender.state {
            State::Backoff { .. } | State::Stray => true,
            State::PostBackoff { until, since } => !self.has_ended(contender.group, (until, since)),
            _ => false,
        }
    }

    /// Returns when the backoff of `id` ends if it has a frame and the medium stays idle.
    pub(crate) fn end(
        &self,
        id: ContenderId,
        contender: &Contender,
        spaces: Time,
        slot_time: Duration,
    ) -> Time {
        let group = &self.groups[contender.group];
        match contender.state {
            State::Backoff { until } => group.slot_start(until, spaces, slot_time),
            State::Stray => {
                let stray = self.strays.iter().find(|stray| stray.contender == id);
                let stray = stray.expect("a contender in state Stray has an entry");
                stray.access_time(group.origin(spaces), slot_time)
            }
            _ => Time::NEVER,
        }
    }

    /// Removes the backoff of `id`, which begins to send. Returns whether another may end before
    /// that is detected: in the same slot, or in slots of its own.
    #[inline]
    pub(crate) fn begin(&mut self, id: ContenderId, contenders: &mut [Contender]) -> bool {
        let others_differ = !self.strays.is_empty() || !self.groups.others.is_empty();
        let first = self.groups.first.first_slot();
        self.leave(id, contenders);
        others_differ || self.groups.first.first_slot() == first
    }

    /// Removes and returns what is left of the backoff of `id`, if anything is.
    #[inline]
    pub(crate) fn leave(&mut self, id: ContenderId, contenders: &mut [Contender]) -> Option<Stray> {
        let contender = &contenders[id as usize];
        let (group, state) = (contender.group, contender.state);
        let (until, has_frame) = match state {
            State::Backoff { until } => {
                self.groups[group].remove(id, contenders);
                (until, true)
            }
            State::PostBackoff { until, since } if !self.has_ended(group, (until, since)) => {
                (until, false)
            }
            State::Stray => {
                let place = self.strays.iter().position(|stray| stray.contender == id);
                let place = place.expect("a contender in state Stray has an entry");
                return Some(self.strays.swap_remove(place));
            }
            _ => return None,
        };
        let slots = (until - self.groups[group].slot) as u32;
        Some(Stray { contender: id, from: Time::ZERO, slots, has_frame, immediate: false })
    }

    /// Continues a backoff that was counted at another listener, or before its station left.
    pub(crate) fn join(&mut self, left: Stray, contender: &mut Contender) {
        if left.from > Time::ZERO || left.immediate {
            return self.add_stray(left, contender);
        }
        let since = self.period(contender.group);
        let group = &mut self.groups[contender.group];
        let until = group.slot + u64::from(left.slots);
        if left.has_frame {
            group.insert(left.contender, contender, until);
        } else {
            contender.state = State::PostBackoff { until, since };
        }
    }
}

#[cfg(test)]
mod tests {
    use airtcp_kernel::RandomStream;

    use super::*;
    use crate::config::AccessParameters;
    use crate::testing::{dot11b, standard_mac};

    const SLOT: u64 = 20;
    const DIFS: u64 = 50;

    fn at(micros: u64) -> Time {
        Time::ZERO + Duration::from_micros(micros)
    }

    /// Creates two listeners of a field without backoffs, and the queues of three stations.
    fn field() -> ([Backoffs; 2], Vec<Contender>, Settings) {
        let phy = dot11b();
        let contenders = (0..3).map(|station| ContenderConfig {
            station,
            access: AccessParameters::dcf(&phy),
            backoffs: RandomStream::new(1, 0, &format!("sta/{station}"), "backoff"),
            bursts: None,
        });
        let contenders: Vec<_> = contenders.collect();
        let backoffs = Backoffs::new(&contenders, false);
        let queue = |config| Contender::of_group(config, &backoffs.groups, None);
        let queues = contenders.into_iter().map(queue).collect();
        ([backoffs.clone(), backoffs], queues, Settings::new(&phy, &standard_mac()))
    }

    fn left(contender: ContenderId, slots: u32, has_frame: bool) -> Stray {
        Stray { contender, from: Time::ZERO, slots, has_frame, immediate: false }
    }

    #[test]
    fn of_backoffs_that_end_together_the_lowest_station_is_first() {
        let ([mut here, _], mut queues, settings) = field();
        for (id, slots) in [(0, 9), (2, 4), (1, 4)] {
            here.join(left(id, slots, true), &mut queues[id as usize]);
        }
        let first =
            |here: &Backoffs, queues: &[Contender]| here.first(at(100), settings.slot_time, queues);

        assert_eq!(first(&here, &queues), (at(100 + DIFS + 4 * SLOT), 1));
        assert!(here.begin(1, &mut queues), "station 2 may begin before it detects that");
        assert_eq!(first(&here, &queues), (at(100 + DIFS + 4 * SLOT), 2));
        assert!(!here.begin(2, &mut queues));
        assert_eq!(first(&here, &queues), (at(100 + DIFS + 9 * SLOT), 0));
    }

    #[test]
    fn what_is_left_of_a_backoff_goes_on_at_another_listener() {
        let ([mut here, mut there], mut queues, settings) = field();
        here.join(left(0, 9, true), &mut queues[0]);
        here.join(left(1, 2, false), &mut queues[1]);
        assert!(!here.freeze(at(100), at(99 + DIFS), &settings, &mut queues), "no slot begins");
        assert!(here.freeze(at(100), at(100 + DIFS + 3 * SLOT), &settings, &mut queues));

        let stray = here.leave(0, &mut queues).expect("six slots are left");
        assert_eq!((stray.slots, stray.has_frame), (6, true));
        assert!(here.leave(1, &mut queues).is_none(), "it has ended");
        there.join(stray, &mut queues[0]);

        assert_eq!(here.first(at(500), settings.slot_time, &queues).0, Time::NEVER);
        let first = there.first(at(500), settings.slot_time, &queues);
        assert_eq!(first, (at(500 + DIFS + 6 * SLOT), 0));
    }

    /// A post-backoff of zero slots ends when a slot has passed since it was drawn.
    #[test]
    fn a_post_backoff_of_no_slots_lasts_for_one() {
        let ([mut here, _], mut queues, settings) = field();
        here.join(left(0, 0, false), &mut queues[0]);
        here.freeze(at(100), at(99 + DIFS), &settings, &mut queues);
        assert!(here.has(&queues[0]));

        here.freeze(at(200), at(200 + DIFS + SLOT), &settings, &mut queues);

        assert!(!here.has(&queues[0]));
    }

    /// The medium becomes busy long after two backoffs should have ended.
    #[test]
    fn backoffs_that_were_passed_over_end_in_the_current_slot() {
        let ([mut here, _], mut queues, settings) = field();
        for (id, slots) in [(0, 1), (1, 3), (2, 30)] {
            here.join(left(id, slots, true), &mut queues[id as usize]);
        }

        here.freeze(at(100), at(100 + DIFS + 20 * SLOT), &settings, &mut queues);

        let slots = [0, 1, 2].map(|id| here.leave(id, &mut queues).map(|stray| stray.slots));
        assert_eq!(slots, [Some(0), Some(0), Some(10)]);
    }
}
