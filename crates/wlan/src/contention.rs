//! Contention by DCF or EDCA: which station transmits next, and when.
//!
//! A *contender* is a queue that contends: the queue of a station under the DCF, or the EDCAF of
//! one access category under EDCA. All contenders hear each other and share one *listener*, so the
//! medium is busy for all of them at once. After a busy period, the contenders with the same AIFS,
//! a *group*, count slots from one common instant. So a backoff is stored as the number of the
//! group's slot in which it ends, and the next access is the minimum. Time jumps there: idle slots
//! and idle stations cost nothing. Few contenders count from an instant of their own: they took
//! part in the last collision, or their frame arrived while the medium was idle. They are *strays*
//! until the medium becomes busy again.
//!
//! A station detects a frame at the instant at which it starts. Frames that start at the same
//! instant collide, and all of them are lost. Contenders of one station do not collide on the air:
//! the first of them sends, and the others have an internal collision. The caller says when a
//! contender has a frame, and how long a frame exchange lasts.
//!
//! ```text
//!            frame_queued            begin                 end_success / end_collision
//!   idle ----------------> backoff --------> exchanging --------------------------------> idle,
//!                          (or stray)                                     backoff or post-backoff
//! ```

mod absence;
mod access_scheme;
mod backoffs;
mod contender;
mod early_ends;
mod failures;
mod group;
mod listener;
mod settings;
mod slot_ring;
mod suspension;
mod withdrawal;

use airtcp_kernel::Time;

pub use access_scheme::{AccessScheme, BurstConfig, BurstLength};
pub use contender::{ContenderConfig, Retry};

use crate::config::{ArrivalBeforeOwnAck, MacConfig};
use crate::counters::MacCounters;
use crate::phy::PhyConfig;
use crate::station::{ContenderId, StationId};
use access_scheme::Bursts;
use backoffs::Stray;
pub(crate) use backoffs::{Backoffs, Senses};
pub(crate) use contender::Contender;
pub(crate) use contender::State;
use listener::Listener;
pub(crate) use settings::Settings;

/// The state of contention.
#[derive(Debug)]
pub struct Contention {
    settings: Settings,
    contenders: Vec<Contender>,
    /// True if a station has several contenders.
    has_shared_stations: bool,
    listener: Listener,
    /// The contenders whose backoffs ended together at the last access.
    together: Vec<ContenderId>,
    internal_collisions: Vec<ContenderId>,
}

/// An access to the medium.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// A single contender.
    Alone(ContenderId),
    /// A single contender on the air, ahead of others of its station: see
    /// [`Contention::internal_collisions`].
    Ahead(ContenderId),
    /// Several contenders, which collide: see [`Contention::colliders`]. There may be internal
    /// collisions, too.
    Collision,
}

impl Contention {
    /// Creates the contention at time zero with an idle medium.
    pub fn new(phy: &PhyConfig, mac: &MacConfig, contenders: Vec<ContenderConfig>) -> Self {
        let listener = Listener::new(&contenders);
        let settings = Settings::new(phy, mac);
        Self {
            has_shared_stations: contenders.windows(2).any(|two| two[0].station == two[1].station),
            contenders: contenders
                .into_iter()
                .map(|config| {
                    Contender::of_group(config, &listener.backoffs.groups, settings.most_failures)
                })
                .collect(),
            listener,
            settings,
            together: Vec::new(),
            internal_collisions: Vec::new(),
        }
    }

    /// Returns when the next transmission starts, unless a frame is queued before; [`Time::NEVER`]
    /// while the medium is busy or no contender has a frame.
    #[inline]
    pub fn next_access(&self) -> Time {
        self.listener.next_access
    }

    /// Returns the counters of a contender.
    pub fn counters(&self, contender: ContenderId) -> &MacCounters {
        &self.contenders[contender as usize].counters
    }

    /// Reports that `id` has a frame to send. Does nothing if it contends already or is on the air.
    /// `before_own_ack`: its station has received a data frame, and its MAC ACK has not begun.
    pub fn frame_queued(&mut self, id: ContenderId, now: Time, before_own_ack: bool) {
        match self.contenders[id as usize].state {
            // A stray may have a frame already, unless it is in the post-backoff after a drop.
            State::Stray => self.frame_for_stray(id, now),
            State::Bursts => self.frame_for_burst(id, now),
            // At the end of its exchange the contender is asked for its next frame.
            State::Backoff { .. } | State::Exchanging => {}
            State::Idle | State::PostBackoff { .. } => self.begin_access(id, now, before_own_ack),
        }
    }

    /// Handles [`Self::frame_queued`] during an exchange, when the medium is busy for all
    /// contenders. `answering` is the station that has received its data frame and not begun its
    /// MAC ACK, if the rules let such an arrival find the medium idle.
    #[inline(always)]
    pub(crate) fn frame_queued_meanwhile(
        &mut self,
        id: ContenderId,
        now: Time,
        answering: Option<StationId>,
    ) {
        let Self { contenders, listener, settings, .. } = self;
        let contender = &mut contenders[id as usize];
        debug_assert!(listener.busy);
        let seems_idle = answering == Some(contender.station);
        if contender.has_frame() {
            return self.frame_queued(id, now, seems_idle);
        }
        let senses = if seems_idle { Senses::IdleBeforeAck } else { Senses::Busy };
        listener.backoffs.frame_queued(id, contender, senses, now, settings);
    }

    /// Starts the transmissions of [`Self::next_access`]: freezes the backoffs and returns the
    /// senders. The caller handles internal collisions before anything else.
    #[cfg(any(test, feature = "testing"))]
    pub fn begin(&mut self) -> Access {
        self.internal_collisions.clear();
        match self.begin_alone::<false>() {
            Some(id) => Access::Alone(id),
            None => self.begin_together(),
        }
    }

    /// Sets the medium idle: inter-frame spaces begin at `from`.
    #[inline(always)]
    pub fn medium_idle(&mut self, from: Time) {
        self.listener.medium_idle_from::<false>(from);
        self.listener.find_next_access::<false>(self.settings.slot_time);
    }

    /// Starts the access of several contenders whose backoffs end at the same instant.
    #[cold]
    pub(crate) fn begin_together(&mut self) -> Access {
        debug_assert!(!self.together.is_empty());
        self.together.sort_unstable();
        self.internal_collisions.clear();
        if self.has_shared_stations {
            self.find_internal_collisions();
        }
        for &id in &self.together {
            self.contenders[id as usize].begin();
        }
        if let [first] = self.together[..] { Access::Ahead(first) } else { Access::Collision }
    }

    /// Returns the contenders whose transmissions collide, if the last access was a collision.
    pub fn colliders(&self) -> &[ContenderId] {
        &self.together
    }

    /// Returns the contenders that lost an internal collision to a higher-priority one of their
    /// station (IEEE 802.11-2020, 10.23.2.4). For each of them the caller calls
    /// [`Self::collided_internally`] and [`Self::back_off_after_internal_collision`].
    pub fn internal_collisions(&self) -> &[ContenderId] {
        &self.internal_collisions
    }

    /// Counts `mpdus` that `contender` sent without a collision, of which `errors` were lost.
    pub fn count_mpdus(&mut self, contender: ContenderId, mpdus: u64, errors: u64) {
        let counters = &mut self.contenders[contender as usize].counters;
        counters.mpdus += mpdus;
        counters.mpdu_errors += errors;
    }

    /// Ends the exchange of `id` with its MAC ACK; the next exchange of the same TXOP follows.
    pub fn continue_txop(&mut self, id: ContenderId) {
        let contender = &mut self.contenders[id as usize];
        contender.counters.successes += 1;
        contender.counters.attempts += 1;
    }

    /// Ends the exchange of `id` with its MAC ACK at `now`. `has_frame` says whether it has another
    /// frame to send.
    #[inline]
    pub fn end_success(&mut self, id: ContenderId, now: Time, has_frame: bool) {
        self.end_success_in::<false>(id, now, has_frame);
    }

    /// Handles [`Self::end_success`]; in a `PLAIN` cell no contender sends in bursts.
    #[inline(always)]
    pub(crate) fn end_success_in<const PLAIN: bool>(
        &mut self,
        id: ContenderId,
        now: Time,
        has_frame: bool,
    ) {
        debug_assert_eq!(self.contenders[id as usize].state, State::Exchanging);
        let bursts = |bursts: &mut Bursts| bursts.exchange_succeeded(id, has_frame);
        self.end_transmission::<PLAIN>(id, now, has_frame, bursts, |counters| {
            counters.successes += 1;
        });
    }

    /// Ends the broadcast frame of `id` at `now`; there was no collision.
    #[cold]
    pub fn end_broadcast(&mut self, id: ContenderId, now: Time, has_frame: bool) {
        let bursts = |bursts: &mut Bursts| bursts.broadcast_sent(id, has_frame);
        self.end_transmission::<false>(id, now, has_frame, bursts, |counters| {
            counters.broadcasts += 1;
        });
    }

    /// Ends the successful transmission of `id` at `now`. The medium becomes idle, and `id` draws
    /// its next backoff, unless `bursts` says that it sends in bursts.
    // Almost always called for exchanges; a separate function there costs 1 % of a run.
    #[inline(always)]
    fn end_transmission<const PLAIN: bool>(
        &mut self,
        id: ContenderId,
        now: Time,
        has_frame: bool,
        bursts: impl FnOnce(&mut Bursts) -> bool,
        count: impl FnOnce(&mut MacCounters),
    ) {
        let contender = &mut self.contenders[id as usize];
        let listener = &mut self.listener;
        let is_burst = match &mut listener.bursts {
            Some(one) if !PLAIN => bursts(one),
            _ => false,
        };
        listener.medium_idle_from::<PLAIN>(now);
        count(&mut contender.counters);
        // IEEE 802.11-2020, 10.3.3: CW is reset after every success.
        contender.cw = contender.cw_min;
        if is_burst {
            contender.state = State::Bursts;
        } else {
            listener.backoffs.back_off(id, contender, has_frame, self.settings.post_backoff);
        }
        listener.find_next_access::<PLAIN>(self.settings.slot_time);
    }

    /// Starts the access of `id`, which has no frame, for a frame that comes at `now`.
    fn begin_access(&mut self, id: ContenderId, now: Time, before_own_ack: bool) {
        let Self { contenders, listener, settings, .. } = self;
        let contender = &mut contenders[id as usize];
        let seems_idle =
            before_own_ack && settings.arrival_before_own_ack == ArrivalBeforeOwnAck::Idle;
        let senses = match listener.senses(contender.station, now) {
            Senses::Busy if seems_idle => Senses::IdleBeforeAck,
            senses => senses,
        };
        listener.backoffs.frame_queued(id, contender, senses, now, settings);
        listener.settle_next_access(settings.slot_time);
    }

    /// Gives `id`, which is a stray, a frame at `now`.
    fn frame_for_stray(&mut self, id: ContenderId, now: Time) {
        let Self { contenders, listener, settings, .. } = self;
        let strays = &mut listener.backoffs.strays;
        let place = strays.iter().position(|stray| stray.contender == id);
        let place = place.expect("a contender in state Stray has an entry");
        if !listener.busy && strays[place].access_time(Time::ZERO, settings.slot_time) < now {
            strays.swap_remove(place);
            contenders[id as usize].state = State::Idle;
            return self.begin_access(id, now, false);
        }
        strays[place].has_frame = true;
        listener.settle_next_access(settings.slot_time);
    }

    /// Gives `id`, which sends in bursts, a frame at `now`.
    fn frame_for_burst(&mut self, id: ContenderId, now: Time) {
        let Self { contenders, listener, settings, .. } = self;
        let contender = &contenders[id as usize];
        let Listener { backoffs, bursts, busy, idle_from, next_access, .. } = listener;
        let Some(bursts) = bursts else { unreachable!("{id} sends in bursts") };
        let group = &backoffs.groups[contender.group];
        let from = if settings.immediate_access { now } else { now + group.aifs };
        bursts.frame_queued(now, *busy, from.max(group.origin(*idle_from)), settings.slot_time);
        if !*busy {
            *next_access = (*next_access).min(bursts.access_time(settings.slot_time));
        }
    }

    /// Keeps the first of several contenders of one station on the air; the others collide
    /// internally.
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
}

#[cfg(test)]
mod tests {
    use airtcp_kernel::RandomStream;

    use super::*;
    use crate::config::AccessParameters;
    use crate::testing::{dot11b, standard_mac};

    /// Station 2 receives the data of station 0. By the rule, only the frame of station 2 finds the
    /// medium idle: it draws no backoff, and its slot begins DIFS, 50 us, after the exchange.
    #[test]
    fn only_the_station_that_answers_finds_the_medium_idle() {
        let (phy, mut mac) = (dot11b(), standard_mac());
        mac.rules.arrival_before_own_ack = ArrivalBeforeOwnAck::Idle;
        let contenders = (0..3).map(|station| ContenderConfig {
            station,
            access: AccessParameters::dcf(&phy),
            backoffs: RandomStream::new(1, 0, &format!("sta/{station}"), "backoff"),
            bursts: None,
        });
        let mut contention = Contention::new(&phy, &mac, contenders.collect());
        contention.frame_queued(0, Time::ZERO, false);
        assert_eq!(contention.begin(), Access::Alone(0));

        for id in [1, 2] {
            contention.frame_queued_meanwhile(id, Time::from_nanos(946_000), Some(2));
        }

        assert_eq!([1, 2].map(|id| contention.counters(id).draws), [1, 0]);
        contention.end_success(0, Time::from_nanos(1_204_000), false);
        assert_eq!(contention.next_access(), Time::from_nanos(1_254_000));
        assert_eq!(contention.begin(), Access::Alone(2));
    }
}
