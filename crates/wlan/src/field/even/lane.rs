//! The medium as a listener of an even field senses it, and its stations' backoffs. Backoffs that
//! count the same slots from the same instants are stored by the number of the slot in which they
//! end, so that passing slots are counted once for all of them. The others are *strays*, as in a
//! cell: their frame found the medium idle, or they have a different AIFS.
//!
//! Exchanges and the drawing of backoffs are elsewhere.

use airtcp_kernel::{Duration, Time};

use super::log::Log;
use super::seats::Place;
use crate::contention::Settings;
use crate::field::clock::Key;
use crate::field::node::NONE;
use crate::station::StationId;

/// A listener, of a single station or shared by the stations of a group.
#[derive(Debug)]
pub(super) struct Lane {
    /// The number of exchanges on the air that the listener hears.
    pub(super) under_way: u32,
    /// Whether its backoffs are frozen as of `noticed`.
    pub(super) is_frozen: bool,
    /// When the listener detected the first exchange of the busy period.
    pub(super) noticed: Place,
    /// The exchanges of the busy period.
    pub(super) log: Log,
    /// Ends of the last busy period or timeout (`idle_from`), of the NAV (`nav`), and of EIFS
    /// before its final DIFS (`eifs`).
    pub(super) idle_from: Time,
    pub(super) nav: Time,
    pub(super) eifs: Time,
    /// When `winner` accesses the medium if it stays idle; [`Time::NEVER`] if no station does. Of
    /// several winners this is the one with the lowest number.
    pub(super) access: Time,
    pub(super) winner: StationId,
    /// The first of the common backoffs, if it is known. `is_tied`: another one ends in the same
    /// slot.
    first: First,
    is_tied: bool,
    /// The AIFS before the common slots, and the number of the next slot.
    aifs: Duration,
    slot: u64,
    counts: Vec<Count>,
    strays: Vec<Stray>,
}

/// The first of several backoffs.
#[derive(Clone, Copy, Debug)]
struct First {
    /// The slot in which it ends; [`NO_SLOT`] if none has a frame, [`UNKNOWN`] if the value is
    /// stale.
    until: u64,
    station: StationId,
    place: u32,
}

const NO_SLOT: u64 = u64::MAX;
const UNKNOWN: u64 = u64::MAX - 1;

/// A backoff that counts common slots.
#[derive(Clone, Copy, Debug)]
struct Count {
    /// The slot in which it ends, and the slot that was next when it was drawn.
    until: u64,
    since: u64,
    station: StationId,
    has_frame: bool,
}

/// A backoff with its own count.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stray {
    pub(super) station: StationId,
    pub(super) aifs: Duration,
    /// None of its slots begins before this instant.
    pub(super) from: Time,
    pub(super) slots: u32,
    pub(super) has_frame: bool,
    /// Whether its frame found the medium idle. It needs a backoff only if the medium becomes busy
    /// before it is sent.
    pub(super) is_immediate: bool,
}

/// The remaining backoff of a queue that moves to another listener.
pub(super) type Backoff = Stray;

impl First {
    const NONE: Self = Self { until: NO_SLOT, station: NONE, place: 0 };
}

impl Count {
    /// True if it has no frame and has ended by the start of `slot`. A backoff of no slots ends
    /// after one slot.
    #[inline]
    fn is_over(&self, slot: u64) -> bool {
        !self.has_frame && self.until <= slot && self.since < slot
    }
}

impl Stray {
    /// Returns when it ends if the medium stays idle and inter-frame spaces begin at `spaces`.
    fn end(&self, spaces: Time, slot_time: Duration) -> Time {
        (spaces + self.aifs).max(self.from) + slot_time * u64::from(self.slots)
    }
}

impl Lane {
    /// Creates a listener at time zero with an idle medium. `aifs` is the AIFS of most of its
    /// stations.
    pub(super) fn new(aifs: Duration) -> Self {
        Self {
            under_way: 0,
            is_frozen: false,
            noticed: (Key::NEVER, NONE),
            log: Log::default(),
            idle_from: Time::ZERO,
            nav: Time::ZERO,
            eifs: Time::ZERO,
            access: Time::NEVER,
            winner: NONE,
            first: First::NONE,
            is_tied: false,
            aifs,
            slot: 0,
            counts: Vec::new(),
            strays: Vec::new(),
        }
    }

    /// Returns when its inter-frame spaces begin if the medium stays idle.
    #[inline]
    pub(super) fn spaces_begin(&self) -> Time {
        self.idle_from.max(self.nav).max(self.eifs)
    }

    /// True if the listener detected a busy medium before `limit`.
    #[inline]
    pub(super) fn is_noticed(&self, limit: Place) -> bool {
        self.under_way > 0 && self.noticed < limit
    }

    /// True if both listeners have the same state at `now`, while nothing is on the air.
    pub(super) fn knows_as(&self, other: &Self, now: Time) -> bool {
        let is_alike = |one: Time, other: Time| one.max(now) == other.max(now);
        self.spaces_begin() == other.spaces_begin()
            && is_alike(self.nav, other.nav)
            && is_alike(self.eifs, other.eifs)
    }

    /// True if `aifs` is the AIFS of the common slots.
    #[inline]
    pub(super) fn is_common(&self, aifs: Duration) -> bool {
        aifs == self.aifs
    }

    /// Starts a backoff of `slots` common slots for `station`.
    #[inline]
    pub(super) fn count(&mut self, station: StationId, slots: u32, has_frame: bool) {
        let until = self.slot + u64::from(slots);
        let place = self.counts.len() as u32;
        self.counts.push(Count { until, since: self.slot, station, has_frame });
        if !has_frame || self.first.until == UNKNOWN {
            return;
        }
        if until < self.first.until {
            self.first = First { until, station, place };
            self.is_tied = false;
        } else if until == self.first.until {
            self.is_tied = true;
            if station < self.first.station {
                self.first = First { until, station, place };
            }
        }
    }

    /// Continues the `backoff` of a station here.
    #[inline]
    pub(super) fn add(&mut self, backoff: Backoff) {
        let Backoff { station, aifs, from, slots, has_frame, is_immediate } = backoff;
        if aifs == self.aifs && from == Time::ZERO && !is_immediate {
            self.count(station, slots, has_frame);
        } else {
            self.strays.push(backoff);
        }
    }

    /// Removes the backoff of the winner, which begins to send. Returns whether another station may
    /// begin before it detects that.
    #[inline]
    pub(super) fn begin(&mut self) -> bool {
        let Self { first, winner, counts, .. } = self;
        let may_others = self.is_tied || !self.strays.is_empty();
        let is_first = counts.get(first.place as usize).is_some_and(|one| one.station == *winner);
        if is_first && first.station == *winner {
            self.counts.swap_remove(self.first.place as usize);
        } else {
            self.remove(self.winner);
        }
        self.first.until = UNKNOWN;
        self.access = Time::NEVER;
        may_others
    }

    /// Removes and returns the remaining backoff of `station`; `None` if it has ended without a
    /// frame.
    #[inline(never)]
    pub(super) fn remove(&mut self, station: StationId) -> Option<Backoff> {
        if let Some(place) = self.strays.iter().position(|one| one.station == station) {
            return Some(self.strays.swap_remove(place));
        }
        let place = self.counts.iter().position(|one| one.station == station)?;
        let count = self.counts.swap_remove(place);
        self.first.until = UNKNOWN;
        let slots = count.until.saturating_sub(self.slot) as u32;
        let Count { has_frame, .. } = count;
        let (aifs, from, is_immediate) = (self.aifs, Time::ZERO, false);
        let backoff = Backoff { station, aifs, from, slots, has_frame, is_immediate };
        (!count.is_over(self.slot)).then_some(backoff)
    }

    /// Returns when `backoff` ends if the medium stays idle.
    pub(super) fn end_of(&self, backoff: &Backoff, settings: &Settings) -> Time {
        backoff.end(self.spaces_begin(), settings.slot_time)
    }

    /// Counts the passed slots when the medium becomes busy at `now`. A station whose frame found
    /// it idle draws a backoff.
    #[inline]
    pub(super) fn freeze(
        &mut self,
        settings: &Settings,
        now: Time,
        draw: impl FnMut(StationId) -> u32,
    ) {
        let spaces = self.spaces_begin();
        let start = spaces + self.aifs;
        if now >= start {
            self.slot += (now - start) / settings.slot_time + settings.boundary_slots;
        }
        if !self.strays.is_empty() {
            self.freeze_strays(settings, (spaces, now), draw);
        }
    }

    #[cold]
    fn freeze_strays(
        &mut self,
        settings: &Settings,
        (spaces, now): (Time, Time),
        mut draw: impl FnMut(StationId) -> u32,
    ) {
        for stray in std::mem::take(&mut self.strays) {
            let start = (spaces + stray.aifs).max(stray.from);
            let counted = if now < start {
                0
            } else {
                (now - start) / settings.slot_time + settings.boundary_slots
            };
            let slots = if stray.is_immediate {
                // 10.3.4.2: the medium became busy before it was idle for DIFS.
                draw(stray.station)
            } else {
                u64::from(stray.slots).saturating_sub(counted) as u32
            };
            let is_over = !stray.has_frame && counted > 0 && slots == 0;
            if !is_over {
                self.add(Backoff { from: Time::ZERO, slots, is_immediate: false, ..stray });
            }
        }
    }

    /// Returns when the next station accesses the medium if it stays idle, and which station that
    /// is.
    #[inline]
    pub(super) fn look_up(&mut self, settings: &Settings) -> (Time, StationId) {
        if self.first.until == UNKNOWN {
            self.find_first();
        }
        let spaces = self.spaces_begin();
        let First { until, station, .. } = self.first;
        let access = if until == NO_SLOT {
            Time::NEVER
        } else {
            spaces + self.aifs + settings.slot_time * until.saturating_sub(self.slot)
        };
        if self.strays.is_empty() {
            return (access, station);
        }
        self.look_up_strays((access, station), spaces, settings.slot_time)
    }

    #[cold]
    fn look_up_strays(
        &self,
        mut first: (Time, StationId),
        spaces: Time,
        slot_time: Duration,
    ) -> (Time, StationId) {
        for stray in self.strays.iter().filter(|one| one.has_frame) {
            first = first.min((stray.end(spaces, slot_time), stray.station));
        }
        first
    }

    /// Finds the first of the common backoffs, and removes those that have ended without a frame.
    #[inline]
    fn find_first(&mut self) {
        let (mut first, mut is_tied) = (First::NONE, false);
        let mut place = 0;
        while let Some(one) = self.counts.get(place) {
            let Count { until, station, has_frame, .. } = *one;
            if !has_frame {
                if one.is_over(self.slot) {
                    self.counts.swap_remove(place);
                } else {
                    place += 1;
                }
                continue;
            }
            if until <= first.until {
                is_tied = until == first.until;
                if !is_tied || station < first.station {
                    first = First { until, station, place: place as u32 };
                }
            }
            place += 1;
        }
        (self.first, self.is_tied) = (first, is_tied);
    }
}
