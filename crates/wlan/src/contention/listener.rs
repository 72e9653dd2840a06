//! The medium as all contenders sense it, and the slots that they count while it is idle.

use airtcp_kernel::{Duration, Time};

use super::Contention;
use super::access_scheme::Bursts;
use super::backoffs::{Backoffs, Senses};
use super::contender::{ContenderConfig, State};
use super::group::Groups;
use crate::medium::Nav;
use crate::station::{ContenderId, StationId};

/// The medium as all contenders sense it.
#[derive(Debug)]
pub(super) struct Listener {
    pub(super) backoffs: Backoffs,
    /// The contender that sends in bursts.
    pub(super) bursts: Option<Box<Bursts>>,
    pub(super) busy: bool,
    /// When all inter-frame spaces begin after the last busy period.
    pub(super) idle_from: Time,
    /// The NAV of a TXOP that ended before its announced end.
    pub(super) nav: Nav,
    /// When the next transmission starts.
    pub(super) next_access: Time,
}

impl Listener {
    /// Creates the listener of these contenders at time zero with an idle medium.
    pub(super) fn new(contenders: &[ContenderConfig]) -> Self {
        Self {
            backoffs: Backoffs::new(contenders, true),
            bursts: (0..).zip(contenders).find_map(|(id, config)| {
                config.bursts.map(|bursts| Box::new(Bursts::new(id, bursts, config.access.aifs)))
            }),
            busy: false,
            idle_from: Time::ZERO,
            nav: Nav::default(),
            next_access: Time::NEVER,
        }
    }

    /// Returns how `station` senses the medium at `now`.
    #[inline(always)]
    pub(super) fn senses(&self, station: StationId, now: Time) -> Senses {
        let nav = self.nav.at(now, self.idle_from);
        if self.busy || nav.is_some_and(|nav| nav.binds(station)) {
            Senses::Busy
        } else {
            Senses::Idle(nav.map_or(self.idle_from, |nav| nav.ended))
        }
    }

    #[inline(always)]
    fn becomes_busy(&mut self) {
        debug_assert!(!self.busy);
        self.busy = true;
        self.next_access = Time::NEVER;
        self.backoffs.busy_periods += 1;
    }

    /// Ends the busy period: all inter-frame spaces begin at `time`.
    pub(super) fn medium_idle_from<const PLAIN: bool>(&mut self, time: Time) {
        debug_assert!(self.busy);
        self.busy = false;
        self.idle_from = time;
        if let Some(bursts) = &mut self.bursts
            && !PLAIN
        {
            bursts.medium_idle(time);
        }
    }

    /// Finds the next access on the idle medium.
    #[inline(always)]
    pub(super) fn find_next_access<const PLAIN: bool>(&mut self, slot_time: Duration) {
        let mut next = self.backoffs.groups.next_access(self.idle_from, slot_time);
        for stray in &self.backoffs.strays {
            if stray.has_frame {
                next = next.min(stray.access_time(Time::ZERO, slot_time));
            }
        }
        if let Some(bursts) = &self.bursts
            && !PLAIN
        {
            next = next.min(bursts.access_time(slot_time));
        }
        self.next_access = next;
    }

    /// Finds the next access if the medium is idle.
    pub(super) fn settle_next_access(&mut self, slot_time: Duration) {
        if !self.busy {
            self.find_next_access::<false>(slot_time);
        }
    }
}

impl Contention {
    /// Starts the transmission of [`Self::next_access`] and returns its contender, if there is only
    /// one. Otherwise continue with [`Self::begin_together`]. With one contender the list of
    /// internal collisions is stale. In a `PLAIN` cell no contender sends in bursts.
    #[inline(always)]
    pub(crate) fn begin_alone<const PLAIN: bool>(&mut self) -> Option<ContenderId> {
        let Self { listener, settings, contenders, together, .. } = self;
        let now = listener.next_access;
        debug_assert!(now != Time::NEVER);
        listener.becomes_busy();
        together.clear();
        let is_plain = listener.backoffs.strays.is_empty() && (PLAIN || listener.bursts.is_none());
        if is_plain && let Some(group) = listener.backoffs.groups.only() {
            // Almost always under the DCF: the next access is in the only group.
            let alone = group.begin(settings.boundary_slots, contenders, together)?;
            contenders[alone as usize].begin();
            return Some(alone);
        }
        let alone = if is_plain { self.freeze_groups(now)? } else { self.freeze(now)? };
        if self.together.is_empty() {
            self.contenders[alone as usize].begin();
            return Some(alone);
        }
        self.together.push(alone);
        None
    }

    /// Counts the passed slots in all groups when the medium becomes busy at `now`. Returns a
    /// contender whose backoff ends at this instant, if there is one; others are added to
    /// `together`.
    #[inline(always)]
    fn freeze_groups(&mut self, now: Time) -> Option<ContenderId> {
        let Self { listener, settings, contenders, together, .. } = self;
        let idle_from = listener.idle_from;
        let Groups { first, others } = &mut listener.backoffs.groups;
        let mut alone = first.freeze(now, idle_from, settings, contenders, together);
        for group in others {
            let one = group.freeze(now, idle_from, settings, contenders, together);
            if let Some(one) = one
                && let Some(other) = alone.replace(one)
            {
                together.push(other);
            }
        }
        alone
    }

    /// Sets the medium busy from `now` on. Contenders whose backoffs end at this instant also send,
    /// as in [`Self::begin_alone`], because they could not detect the transmission.
    #[cold]
    pub(super) fn medium_busy(&mut self, now: Time) -> Option<ContenderId> {
        debug_assert!(now <= self.listener.next_access);
        self.listener.becomes_busy();
        self.freeze(now)
    }

    /// Counts the passed slots when the medium becomes busy at `now`, and freezes all backoffs.
    /// Returns the contender whose backoff ends at this instant if there is only one; several are
    /// added to `together`.
    #[inline(never)]
    fn freeze(&mut self, now: Time) -> Option<ContenderId> {
        let alone = self.freeze_groups(now);
        if !self.listener.backoffs.strays.is_empty() {
            self.settle_strays(now);
        }
        let Self { listener, settings, together, .. } = self;
        if let Some(bursts) = &mut listener.bursts
            && bursts.medium_busy(now, settings.slot_time)
        {
            together.push(bursts.contender);
        }
        if together.is_empty() {
            return alone;
        }
        together.extend(alone);
        if together.len() == 1 { together.pop() } else { None }
    }

    /// Handles the strays when the medium becomes busy at `now`. Those whose backoff ends then are
    /// added to `together`. The others join their group with their remaining slots.
    #[cold]
    fn settle_strays(&mut self, now: Time) {
        let Self { listener, settings, contenders, together, .. } = self;
        listener.backoffs.strays.retain(|stray| {
            let access = stray.access_time(Time::ZERO, settings.slot_time);
            if stray.has_frame && access == now {
                together.push(stray.contender);
            } else if !stray.has_frame && access <= now {
                contenders[stray.contender as usize].state = State::Idle;
            } else {
                return true;
            }
            false
        });
        listener.backoffs.settle_strays(|_| Time::ZERO, now, settings, contenders);
    }
}
