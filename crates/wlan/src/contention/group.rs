//! The contenders that wait for the same inter-frame space on the same idle medium, and so count the
//! same slots.

use airtcp_kernel::{Duration, Time};

use super::slot_ring::SlotRing;
use crate::medium::AudibilityClass;
use crate::station::{ContenderConfig, ContenderId};

/// No slot: nobody waits.
const NOBODY: u64 = u64::MAX;

/// All contenders with the same inter-frame space that hear the same stations, and the slots that
/// they count together.
#[derive(Debug)]
pub(crate) struct Group {
    pub(crate) aifs: Duration,
    audibility: AudibilityClass,
    ring: SlotRing,
    /// The first slot in which a backoff ends, or [`NOBODY`].
    first: u64,
    /// Number of the common slot that begins when the inter-frame space after the last busy period
    /// has passed.
    pub(crate) slot: u64,
}

impl Group {
    /// Whether a contender is one of this group's.
    pub(crate) fn has(&self, config: &ContenderConfig) -> bool {
        (self.aifs, self.audibility) == (config.access.aifs, config.audibility)
    }

    /// Since when, or from when on, the medium is idle for the slots to count, if its last busy period
    /// ended at `idle_from`.
    #[inline]
    pub(crate) fn origin(&self, idle_from: Time) -> Time {
        idle_from + self.aifs
    }

    /// When slot `slot`, not before the current one, begins if the medium is idle from `idle_from` on.
    #[inline]
    pub(crate) fn slot_start(&self, slot: u64, idle_from: Time, slot_time: Duration) -> Time {
        self.origin(idle_from) + slot_time * slot.saturating_sub(self.slot)
    }

    /// Puts a contender into the slot in which its backoff ends.
    #[inline]
    pub(crate) fn insert(&mut self, id: ContenderId, slot: u64) {
        self.ring.insert(id, slot);
        self.first = self.first.min(slot);
    }

    /// When the first backoff ends if the medium is idle from `idle_from` on; [`Time::NEVER`] if nobody
    /// waits.
    #[inline]
    pub(crate) fn next_access(&self, idle_from: Time, slot_time: Duration) -> Time {
        if self.first == NOBODY {
            Time::NEVER
        } else {
            // All backoffs end in this slot or later.
            self.origin(idle_from) + slot_time * (self.first - self.slot)
        }
    }

    /// Takes a contender out of the slot in which its backoff ends: how many slots it has left.
    pub(crate) fn remove(&mut self, id: ContenderId) -> u32 {
        let slot = self.ring.remove(id, self.slot);
        self.first = self.ring.first_from(self.slot).unwrap_or(NOBODY);
        (slot - self.slot) as u32
    }

    /// The medium became busy when the first backoff ended; the same as [`Self::freeze`] then. Whose
    /// that is, or, if it is that of several, those are added to `together`.
    #[inline(always)]
    pub(crate) fn begin(
        &mut self,
        boundary_slots: u64,
        together: &mut Vec<ContenderId>,
    ) -> Option<ContenderId> {
        self.slot = self.first + boundary_slots;
        let alone = self.ring.take_only(self.first);
        if alone.is_none() {
            self.ring.take(self.first, together);
        }
        self.first = self.ring.first_from(self.slot).unwrap_or(NOBODY);
        alone
    }

    /// The medium became busy at `now`: the slots that have passed are counted, and those whose
    /// backoff ends at this instant are added to `together`. `boundary_slots` are counted beyond
    /// those that have passed, once the inter-frame space has.
    #[inline]
    pub(crate) fn freeze(
        &mut self,
        now: Time,
        idle_from: Time,
        slot_time: Duration,
        boundary_slots: u64,
        together: &mut Vec<ContenderId>,
    ) {
        if self.next_access(idle_from, slot_time) == now {
            let alone = self.begin(boundary_slots, together);
            together.extend(alone);
        } else if now >= self.origin(idle_from) {
            self.slot += (now - self.origin(idle_from)) / slot_time + boundary_slots;
        }
    }
}

/// One group for each inter-frame space and audibility class.
pub(crate) fn groups_of(contenders: &[ContenderConfig]) -> Vec<Group> {
    let key = |config: &ContenderConfig| (config.access.aifs, config.audibility);
    let mut keys: Vec<(Duration, AudibilityClass)> = contenders.iter().map(key).collect();
    keys.sort_unstable();
    keys.dedup();
    keys.into_iter()
        .map(|(aifs, audibility)| {
            let members = contenders.iter().filter(|config| key(config) == (aifs, audibility));
            let longest = members.map(|config| config.access.cw_max).max().unwrap_or(0);
            Group {
                aifs,
                audibility,
                ring: SlotRing::new(contenders.len(), longest),
                first: NOBODY,
                slot: 0,
            }
        })
        .collect()
}
