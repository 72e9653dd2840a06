//! The contenders with the same AIFS on the same idle medium; they count the same slots. When the
//! medium is idle comes with each call.

use std::ops::{Index, IndexMut};

use airtcp_kernel::{Duration, Time};

use super::contender::{Contender, ContenderConfig, State};
use super::settings::Settings;
use super::slot_ring::{self, SlotRing};
use crate::station::{ContenderId, StationId};

/// No slot: no contender has a backoff.
const NOBODY: u64 = u64::MAX;

/// The contenders with the same AIFS, and the slots that they count together.
#[derive(Clone, Debug)]
pub(crate) struct Group {
    pub(crate) aifs: Duration,
    ring: SlotRing,
    /// The first slot in which a backoff ends, or [`NOBODY`].
    first: u64,
    /// The number of the common slot that begins after the AIFS that follows the last busy period.
    pub(crate) slot: u64,
}

impl Group {
    /// Returns the end of the AIFS, at which the common slot begins, if the last busy period ended
    /// at `idle_from`.
    #[inline]
    pub(crate) fn origin(&self, idle_from: Time) -> Time {
        idle_from + self.aifs
    }

    /// Returns when `slot`, the current or a later one, begins if the medium is idle from
    /// `idle_from` on.
    #[inline]
    pub(crate) fn slot_start(&self, slot: u64, idle_from: Time, slot_time: Duration) -> Time {
        self.origin(idle_from) + slot_time * slot.saturating_sub(self.slot)
    }

    /// Returns the first slot in which a backoff ends, or [`NOBODY`].
    #[inline]
    pub(crate) fn first_slot(&self) -> u64 {
        self.first
    }

    /// Inserts a contender with a frame into the slot in which its backoff ends.
    #[inline]
    pub(crate) fn insert(&mut self, id: ContenderId, contender: &mut Contender, slot: u64) {
        contender.state = State::Backoff { until: slot };
        self.ring.insert(id, &mut contender.behind, slot);
        self.first = self.first.min(slot);
    }

    /// Returns when the first backoff ends if the medium is idle from `idle_from` on;
    /// [`Time::NEVER`] if there is none.
    #[inline]
    pub(crate) fn next_access(&self, idle_from: Time, slot_time: Duration) -> Time {
        if self.first == NOBODY {
            Time::NEVER
        } else {
            // All backoffs end in this slot or later.
            self.origin(idle_from) + slot_time * (self.first - self.slot)
        }
    }

    /// Returns when the first backoff ends, as [`Self::next_access`], and whose it is; of several
    /// the station with the lowest number.
    #[inline]
    pub(crate) fn first(
        &self,
        idle_from: Time,
        slot_time: Duration,
        contenders: &[Contender],
    ) -> (Time, StationId) {
        if self.first == NOBODY {
            return (Time::NEVER, StationId::MAX);
        }
        let mut one = &contenders[self.ring.head(self.first) as usize];
        let mut station = one.station;
        while one.behind != slot_ring::NOBODY {
            one = &contenders[one.behind as usize];
            station = station.min(one.station);
        }
        (self.next_access(idle_from, slot_time), station)
    }

    /// Removes a contender from the slot in which its backoff ends. Its state is stale then.
    #[inline]
    pub(crate) fn remove(&mut self, id: ContenderId, mut contenders: &mut [Contender]) {
        let State::Backoff { until } = contenders[id as usize].state else {
            unreachable!("{id} has a backoff");
        };
        self.ring.remove(id, &mut contenders, until);
        if until == self.first {
            self.first = self.ring.first_from(until).unwrap_or(NOBODY);
        }
    }

    /// Counts the passed slots when the medium becomes busy at `now`, plus the boundary slot once
    /// the AIFS has passed. Returns whether any has passed.
    #[inline]
    pub(crate) fn passes(
        &mut self,
        now: Time,
        idle_from: Time,
        settings: &Settings,
        contenders: &mut [Contender],
    ) -> bool {
        let has_passed = self.count(now, idle_from, settings);
        if self.first < self.slot {
            self.catch_up(contenders);
        }
        has_passed
    }

    /// Lets the backoffs end in the current slot that have ended in slots that have passed.
    #[cold]
    fn catch_up(&mut self, mut contenders: &mut [Contender]) {
        let mut ended = Vec::new();
        while self.first < self.slot {
            self.ring.take(self.first, &mut contenders, &mut ended);
            self.first = self.ring.first_from(self.first).unwrap_or(NOBODY);
        }
        for id in ended {
            self.insert(id, &mut contenders[id as usize], self.slot);
        }
    }

    #[inline]
    fn count(&mut self, now: Time, idle_from: Time, settings: &Settings) -> bool {
        let origin = self.origin(idle_from);
        if now < origin {
            return false;
        }
        self.slot += (now - origin) / settings.slot_time + settings.boundary_slots;
        true
    }

    /// Counts the passed slots when the medium becomes busy because the first backoff has ended,
    /// like [`Self::freeze`]. Returns the contender of that slot if there is only one; several are
    /// added to `together`.
    #[inline(always)]
    pub(crate) fn begin(
        &mut self,
        boundary_slots: u64,
        mut contenders: &mut [Contender],
        together: &mut Vec<ContenderId>,
    ) -> Option<ContenderId> {
        self.slot = self.first + boundary_slots;
        let alone = self.ring.take_only(self.first, &mut contenders);
        if alone.is_none() {
            self.ring.take(self.first, &mut contenders, together);
        }
        self.first = self.ring.first_from(self.slot).unwrap_or(NOBODY);
        alone
    }

    /// Counts the passed slots when the medium becomes busy at `now`, plus the boundary slot once
    /// the AIFS has passed. Returns the contender whose backoff ends at this instant if there is
    /// only one; several are added to `together`.
    #[inline(always)]
    pub(crate) fn freeze(
        &mut self,
        now: Time,
        idle_from: Time,
        settings: &Settings,
        contenders: &mut [Contender],
        together: &mut Vec<ContenderId>,
    ) -> Option<ContenderId> {
        if self.next_access(idle_from, settings.slot_time) == now {
            return self.begin(settings.boundary_slots, contenders, together);
        }
        self.count(now, idle_from, settings);
        None
    }
}

/// The groups of a listener, shortest AIFS first.
#[derive(Clone, Debug)]
pub(crate) struct Groups {
    /// Stored in place: under the DCF there is only one group, and it needs no lookup.
    pub(super) first: Group,
    pub(super) others: Vec<Group>,
}

impl Groups {
    /// Creates one group for each AIFS of the contenders.
    pub(crate) fn new(contenders: &[ContenderConfig]) -> Self {
        let mut spaces: Vec<_> = contenders.iter().map(|config| config.access.aifs).collect();
        spaces.sort_unstable();
        spaces.dedup();
        let mut groups = spaces.into_iter().map(|aifs| {
            let members = contenders.iter().filter(|config| config.access.aifs == aifs);
            let longest = members.map(|config| config.access.cw_max).max().unwrap_or(0);
            Group { aifs, ring: SlotRing::new(longest), first: NOBODY, slot: 0 }
        });
        // A medium without contenders also has one.
        let nobodys =
            || Group { aifs: Duration::ZERO, ring: SlotRing::new(0), first: NOBODY, slot: 0 };
        Self { first: groups.next().unwrap_or_else(nobodys), others: groups.collect() }
    }

    /// Returns the only group, if there is just one.
    #[inline(always)]
    pub(crate) fn only(&mut self) -> Option<&mut Group> {
        self.others.is_empty().then_some(&mut self.first)
    }

    /// Iterates over all groups.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Group> {
        std::iter::once(&self.first).chain(&self.others)
    }

    /// Returns when the first backoff of all ends, as [`Group::next_access`] does.
    #[inline(always)]
    pub(crate) fn next_access(&self, idle_from: Time, slot_time: Duration) -> Time {
        let first = self.first.next_access(idle_from, slot_time);
        let others = self.others.iter();
        others.fold(first, |next, group| next.min(group.next_access(idle_from, slot_time)))
    }
}

impl Index<u32> for Groups {
    type Output = Group;

    #[inline]
    fn index(&self, group: u32) -> &Group {
        match group.checked_sub(1) {
            None => &self.first,
            Some(other) => &self.others[other as usize],
        }
    }
}

impl IndexMut<u32> for Groups {
    #[inline]
    fn index_mut(&mut self, group: u32) -> &mut Group {
        match group.checked_sub(1) {
            None => &mut self.first,
            Some(other) => &mut self.others[other as usize],
        }
    }
}
