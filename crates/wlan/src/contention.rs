//! Contention in one cell, by DCF or EDCA: who sends next, and when.
//!
//! What contends is a *contender*: the one queue of a station under the DCF, or the EDCAF of one
//! access category of a station under EDCA. All stations hear all, so the medium's idle time is
//! the same slotted time for all contenders with the same inter-frame space, a *group*: after a
//! busy period each of them counts slots from one common instant. A backoff is therefore kept as
//! the number of the group's slot in which it ends, and the next access is the smallest of them:
//! time jumps there, and neither an idle slot nor an idle station costs anything. The few
//! contenders that count from an instant of their own (they took part in the last collision, or
//! their frame arrived while the medium was idle) are *strays* until the medium is busy the next
//! time.
//!
//! A station hears a frame at the instant at which it starts; frames that start at the same
//! instant collide, and all of them are lost. Contenders of one station do not collide on the
//! air: the first of them sends, and for the others it is an internal collision. Knows no queue:
//! the caller says when a contender has a frame, and what a frame exchange lasts.
//!
//! ```text
//!            frame_queued            begin                 end_success / end_collision
//!   idle ----------------> backoff --------> exchanging --------------------------------> idle,
//!                          (or stray)                                     backoff or post-backoff
//! ```

mod access_scheme;
mod contender;
mod failures;
mod group;
mod nav;
mod settings;
mod slot_ring;
mod strays;
mod suspension;

use airtcp_kernel::Time;

pub use access_scheme::{AccessScheme, BurstConfig};
pub use contender::Retry;
pub use failures::CollidedFrame;

use crate::config::{ArrivalBeforeOwnAck, MacConfig};
use crate::counters::MacCounters;
use crate::phy::PhyConfig;
use crate::station::{ContenderConfig, ContenderId};
use access_scheme::Bursts;
use contender::{Contender, State};
use group::{Group, groups_of};
use nav::Nav;
use settings::Settings;
use strays::Stray;

/// The state of contention in one cell.
#[derive(Debug)]
pub struct Contention {
    settings: Settings,
    contenders: Vec<Contender>,
    /// Whether a station has several of them.
    has_shared_stations: bool,
    groups: Vec<Group>,
    strays: Vec<Stray>,
    /// The contender that sends in bursts.
    bursts: Option<Box<Bursts>>,
    /// Counts busy periods; tells a post-backoff of zero slots drawn in this one from one that
    /// has ended.
    busy_periods: u64,
    busy: bool,
    /// Where all inter-frame spaces begin after the last busy period.
    idle_from: Time,
    /// A TXOP that has ended before it was announced to.
    nav: Nav,
    /// Those that got at the medium together last.
    together: Vec<ContenderId>,
    internal_collisions: Vec<ContenderId>,
    next_access: Time,
}

/// Who has got at the medium.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// One alone.
    Alone(ContenderId),
    /// One alone on the air, ahead of others of its station: see [`Contention::internal_collisions`].
    Ahead(ContenderId),
    /// Several, which collide: see [`Contention::colliders`], and perhaps some that stay behind, too.
    Collision,
}

impl Contention {
    /// A cell at time zero with an idle medium.
    pub fn new(phy: &PhyConfig, mac: &MacConfig, contenders: Vec<ContenderConfig>) -> Self {
        let groups = groups_of(&contenders);
        let bursts = (0..).zip(&contenders).find_map(|(id, config)| {
            config.bursts.map(|bursts| Box::new(Bursts::new(id, bursts, config.access.aifs)))
        });
        let settings = Settings::new(phy, mac);
        Self {
            has_shared_stations: contenders.windows(2).any(|two| two[0].station == two[1].station),
            contenders: contenders
                .into_iter()
                .map(|config| Contender::new(config, &groups, settings.most_failures))
                .collect(),
            groups,
            settings,
            strays: Vec::new(),
            bursts,
            busy_periods: 0,
            busy: false,
            idle_from: Time::ZERO,
            nav: Nav::default(),
            together: Vec::new(),
            internal_collisions: Vec::new(),
            next_access: Time::NEVER,
        }
    }

    /// When the next transmission starts, unless a frame is queued before; [`Time::NEVER`] while
    /// the medium is busy or nobody has a frame.
    #[inline]
    pub fn next_access(&self) -> Time {
        self.next_access
    }

    /// What a contender did so far.
    pub fn counters(&self, contender: ContenderId) -> &MacCounters {
        &self.contenders[contender as usize].counters
    }

    /// `contender` has a frame to send; if it contends already, or is on the air, nothing changes.
    /// `before_own_ack`: its station has received a data frame, and its MAC ACK has not begun.
    pub fn frame_queued(&mut self, contender: ContenderId, now: Time, before_own_ack: bool) {
        match self.contenders[contender as usize].state {
            State::PostBackoff { until, since }
                if !self.has_ended(contender, until, since, now) =>
            {
                self.enter_ring(contender, until);
            }
            State::Idle | State::PostBackoff { .. } => {
                self.begin_access(contender, now, before_own_ack);
            }
            // A stray may have a frame, unless it is in the post-backoff after a drop.
            State::Stray => self.frame_for_stray(contender, now),
            State::Bursts => self.frame_for_burst(contender, now),
            // When the exchange ends, it is asked what else there is.
            State::Backoff | State::Exchanging => {}
        }
    }

    /// The transmissions of [`Self::next_access`] begin: freezes all backoffs and tells who is on
    /// the air. The caller settles internal collisions before anything else happens.
    #[inline]
    pub fn begin(&mut self) -> Access {
        match self.begin_alone::<false>() {
            Some(id) => Access::Alone(id),
            None => self.begin_together(),
        }
    }

    /// The same, if one is alone on the air; if not, [`Self::begin_together`] goes on. In a `PLAIN` cell
    /// nobody sends in bursts.
    #[inline(always)]
    pub(crate) fn begin_alone<const PLAIN: bool>(&mut self) -> Option<ContenderId> {
        let now = self.next_access;
        debug_assert!(!self.busy && now != Time::NEVER);
        self.busy = true;
        self.next_access = Time::NEVER;
        self.busy_periods += 1;
        self.together.clear();
        self.internal_collisions.clear();
        let alone = if let [group] = &mut self.groups[..]
            && self.strays.is_empty()
            && (PLAIN || self.bursts.is_none())
        {
            // Nearly always under the DCF: the next access is that of the only group.
            group.begin(self.settings.boundary_slots, &mut self.together)
        } else {
            self.freeze_all(now)
        };
        self.contenders[alone? as usize].begin();
        alone
    }

    /// The medium became busy at `now`, and all have counted: who is alone, or several are in
    /// `together`.
    #[inline(never)]
    fn freeze_all(&mut self, now: Time) -> Option<ContenderId> {
        for group in &mut self.groups {
            group.freeze(
                now,
                self.idle_from,
                self.settings.slot_time,
                self.settings.boundary_slots,
                &mut self.together,
            );
        }
        if !self.strays.is_empty() {
            self.settle_strays(now);
        }
        if let Some(bursts) = &mut self.bursts
            && bursts.medium_busy(now, self.settings.slot_time)
        {
            self.together.push(bursts.contender);
        }
        if let [alone] = self.together[..] { Some(alone) } else { None }
    }

    /// Several backoffs end at the same instant.
    #[cold]
    pub(crate) fn begin_together(&mut self) -> Access {
        debug_assert!(!self.together.is_empty());
        self.together.sort_unstable();
        if self.has_shared_stations {
            self.find_internal_collisions();
        }
        for &id in &self.together {
            self.contenders[id as usize].begin();
        }
        if let [first] = self.together[..] { Access::Ahead(first) } else { Access::Collision }
    }

    /// Whose transmissions collide, or did last.
    pub fn colliders(&self) -> &[ContenderId] {
        &self.together
    }

    /// Who would have been on the air too, had a contender of higher priority of the same station
    /// not gone first (IEEE 802.11-2020, 10.23.2.4). For each of them the caller asks
    /// [`Self::collided_internally`] and calls [`Self::back_off_after_internal_collision`].
    pub fn internal_collisions(&self) -> &[ContenderId] {
        &self.internal_collisions
    }

    /// Of `mpdus` that `contender` sent without a collision, `errors` were lost.
    pub fn count_mpdus(&mut self, contender: ContenderId, mpdus: u64, errors: u64) {
        let counters = &mut self.contenders[contender as usize].counters;
        counters.mpdus += mpdus;
        counters.mpdu_errors += errors;
    }

    /// The exchange of `id`, which is alone on the air, has ended with its MAC ACK, and the next one
    /// of the same TXOP follows.
    pub fn continue_txop(&mut self, id: ContenderId) {
        let contender = &mut self.contenders[id as usize];
        contender.counters.successes += 1;
        contender.counters.attempts += 1;
    }

    /// The exchange of `id`, which is alone on the air, has ended with its MAC ACK at `now`;
    /// `has_frame` says whether it has another frame to send.
    #[inline]
    pub fn end_success(&mut self, id: ContenderId, now: Time, has_frame: bool) {
        self.end_success_in::<false>(id, now, has_frame);
    }

    /// The same; in a `PLAIN` cell nobody sends in bursts.
    #[inline(always)]
    pub(crate) fn end_success_in<const PLAIN: bool>(
        &mut self,
        id: ContenderId,
        now: Time,
        has_frame: bool,
    ) {
        debug_assert_eq!(self.contenders[id as usize].state, State::Exchanging);
        let is_burst = match &mut self.bursts {
            Some(bursts) if !PLAIN => bursts.exchange_succeeded(id, has_frame),
            _ => false,
        };
        self.end_transmission::<PLAIN>(id, now, has_frame, is_burst, |counters| {
            counters.successes += 1;
        });
    }

    /// The frame to all of `id`, which is alone on the air, has ended at `now`.
    #[cold]
    pub fn end_broadcast(&mut self, id: ContenderId, now: Time, has_frame: bool) {
        let burst = self.bursts.as_mut().filter(|bursts| bursts.contender == id);
        let is_burst = burst.is_some();
        if let Some(bursts) = burst {
            bursts.packet_done(false, has_frame);
        }
        self.end_transmission::<false>(id, now, has_frame, is_burst, |counters| {
            counters.broadcasts += 1;
        });
    }

    /// What `id` sent alone has ended at `now`, and not failed: the medium is idle, and it draws its
    /// next backoff.
    // Nearly always called for exchanges: there a call of its own costs a per cent of a run.
    #[inline(always)]
    fn end_transmission<const PLAIN: bool>(
        &mut self,
        id: ContenderId,
        now: Time,
        has_frame: bool,
        is_burst: bool,
        count: impl FnOnce(&mut MacCounters),
    ) {
        self.medium_idle_from::<PLAIN>(now);
        let contender = &mut self.contenders[id as usize];
        count(&mut contender.counters);
        // IEEE 802.11-2020, 10.3.3: CW goes back after every success.
        contender.cw = contender.cw_min;
        contender.state = if is_burst {
            State::Bursts
        } else if has_frame || self.settings.post_backoff {
            let group = &mut self.groups[contender.group as usize];
            let until = group.slot + u64::from(contender.draw_backoff());
            if has_frame {
                group.insert(id, until);
                State::Backoff
            } else {
                State::PostBackoff { until, since: self.busy_periods }
            }
        } else {
            State::Idle
        };
        self.find_next_access::<PLAIN>();
    }

    /// Begins the access of a contender that has no backoff pending, at `now`.
    fn begin_access(&mut self, id: ContenderId, now: Time, before_own_ack: bool) {
        let contender = &mut self.contenders[id as usize];
        let group = &self.groups[contender.group as usize];
        let nav = self.nav.at(now, self.idle_from);
        if self.busy || nav.is_some_and(|nav| nav.binds(contender.station)) {
            // 10.3.4.2: the medium is busy, so the backoff procedure is followed.
            let seems_idle =
                before_own_ack && self.settings.arrival_before_own_ack == ArrivalBeforeOwnAck::Idle;
            let slots = if seems_idle && self.settings.immediate_access {
                0
            } else {
                contender.draw_backoff()
            };
            self.enter_ring(id, group.slot + u64::from(slots));
            return;
        }
        let idle_from = nav.map_or(self.idle_from, |nav| nav.ended);
        let stray = if self.settings.immediate_access {
            let from = self.settings.first_boundary(group.origin(idle_from), now);
            Stray { contender: id, from, slots: 0, has_frame: true, immediate: true }
        } else {
            let from = (now + group.aifs).max(group.origin(idle_from));
            let slots = contender.draw_backoff();
            Stray { contender: id, from, slots, has_frame: true, immediate: false }
        };
        contender.state = State::Stray;
        self.next_access = self.next_access.min(self.access_time(&stray));
        self.strays.push(stray);
    }

    fn frame_for_burst(&mut self, id: ContenderId, now: Time) {
        let Some(bursts) = &mut self.bursts else { unreachable!("{id} sends in bursts") };
        let group = &self.groups[self.contenders[id as usize].group as usize];
        let from = if self.settings.immediate_access { now } else { now + group.aifs };
        bursts.frame_queued(
            now,
            self.busy,
            from.max(group.origin(self.idle_from)),
            self.settings.slot_time,
        );
        if !self.busy {
            self.next_access = self.next_access.min(bursts.access_time(self.settings.slot_time));
        }
    }

    /// Whether a post-backoff that ends in slot `until` of its group, drawn in busy period
    /// `since`, has ended before `now`. One that ends at this very instant takes the frame along.
    fn has_ended(&self, id: ContenderId, until: u64, since: u64, now: Time) -> bool {
        let group = &self.groups[self.contenders[id as usize].group as usize];
        if until <= group.slot && since != self.busy_periods {
            // Counted down to zero by the time the medium became busy the last time.
            return true;
        }
        !self.busy && group.slot_start(until, self.idle_from, self.settings.slot_time) < now
    }

    fn enter_ring(&mut self, id: ContenderId, until: u64) {
        let contender = &mut self.contenders[id as usize];
        contender.state = State::Backoff;
        let group = &mut self.groups[contender.group as usize];
        group.insert(id, until);
        if !self.busy {
            let access = group.slot_start(until, self.idle_from, self.settings.slot_time);
            self.next_access = self.next_access.min(access);
        }
    }

    /// Of several contenders of one station only the first goes on the air.
    fn find_internal_collisions(&mut self) {
        let mut last = None;
        self.together.retain(|&id| {
            let station = self.contenders[id as usize].station;
            let first = last != Some(station);
            last = Some(station);
            if !first {
                self.internal_collisions.push(id);
            }
            first
        });
    }

    /// The busy period is over, and all inter-frame spaces begin at `time`.
    fn medium_idle_from<const PLAIN: bool>(&mut self, time: Time) {
        debug_assert!(self.busy);
        self.busy = false;
        self.idle_from = time;
        if let Some(bursts) = &mut self.bursts
            && !PLAIN
        {
            let group = self.contenders[bursts.contender as usize].group;
            bursts.medium_idle(self.groups[group as usize].origin(time));
        }
    }

    #[inline(always)]
    fn find_next_access<const PLAIN: bool>(&mut self) {
        let of_group = |group: &Group| group.next_access(self.idle_from, self.settings.slot_time);
        let mut next = match &self.groups[..] {
            // All have the same inter-frame space under the DCF.
            [group] => of_group(group),
            groups => groups.iter().map(of_group).min().unwrap_or(Time::NEVER),
        };
        for stray in &self.strays {
            if stray.has_frame {
                next = next.min(self.access_time(stray));
            }
        }
        if let Some(bursts) = &self.bursts
            && !PLAIN
        {
            next = next.min(bursts.access_time(self.settings.slot_time));
        }
        self.next_access = next;
    }
}
