//! The medium as a listener of an even field senses it, and the backoffs that its stations count on it. Those that count
//! the same slots from the same instants are kept by the number of the slot in which each ends: what passes is counted once
//! for all of them. The few others are *strays*, as in a cell: their frame found the medium idle, or they have an
//! inter-frame space of their own.
//!
//! Knows times and slots, and neither exchanges nor who draws a backoff.

use airtcp_kernel::{Duration, Time};

use super::log::Log;
use super::seats::Place;
use crate::contention::Settings;
use crate::field::clock::Key;
use crate::field::node::NONE;
use crate::station::StationId;

/// A listener: the stations of a group that listen together, or one that listens for itself.
#[derive(Debug)]
pub(super) struct Lane {
    /// The number of exchanges under way that it hears.
    pub(super) under_way: u32,
    /// A flag: its backoffs are frozen as of the instant at which it noticed the first of their busy period, ...
    pub(super) is_frozen: bool,
    /// ... and the place of that.
    pub(super) noticed: Place,
    /// The exchanges of the busy period.
    pub(super) log: Log,
    /// The end of the last busy period or wait, of the NAV, and of what comes before DIFS in EIFS.
    pub(super) idle_from: Time,
    pub(super) nav: Time,
    pub(super) eifs: Time,
    /// The instant at which `winner`, of several that with the lowest number, gets at the medium if it stays idle;
    /// [`Time::NEVER`] if none does.
    pub(super) access: Time,
    pub(super) winner: StationId,
    /// The first of those that count together, if it is known; and a flag: there are others that end in its slot.
    first: First,
    is_tied: bool,
    /// The inter-frame space before the slots that are counted together, and the number of the next of them.
    aifs: Duration,
    slot: u64,
    counts: Vec<Count>,
    strays: Vec<Stray>,
}

/// The first of several backoffs.
#[derive(Clone, Copy, Debug)]
struct First {
    /// The slot in which it ends; [`NO_SLOT`] if none has a frame, and [`UNKNOWN`] if it is to be looked up.
    until: u64,
    station: StationId,
    place: u32,
}

const NO_SLOT: u64 = u64::MAX;
const UNKNOWN: u64 = u64::MAX - 1;

/// A backoff that is counted together with others.
#[derive(Clone, Copy, Debug)]
struct Count {
    /// The number of the slot in which it ends, and of the one that was next when it was drawn.
    until: u64,
    since: u64,
    station: StationId,
    has_frame: bool,
}

/// A backoff that is counted by itself.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stray {
    pub(super) station: StationId,
    pub(super) aifs: Duration,
    /// No slot of it begins before this instant.
    pub(super) from: Time,
    pub(super) slots: u32,
    pub(super) has_frame: bool,
    /// A flag: its frame found the medium idle, and needs a backoff only if that changes before it goes.
    pub(super) is_immediate: bool,
}

/// The rest of a backoff as a queue takes it along.
pub(super) type Backoff = Stray;

impl First {
    const NONE: Self = Self { until: NO_SLOT, station: NONE, place: 0 };
}

impl Count {
    /// Tells whether it has no frame and has ended by the beginning of `slot`: one of no slots when one has passed.
    #[inline]
    fn is_over(&self, slot: u64) -> bool {
        !self.has_frame && self.until <= slot && self.since < slot
    }
}

impl Stray {
    /// Returns the instant at which it ends if the medium stays idle, and inter-frame spaces begin at `spaces`.
    fn end(&self, spaces: Time, slot_time: Duration) -> Time {
        (spaces + self.aifs).max(self.from) + slot_time * u64::from(self.slots)
    }
}

impl Lane {
    /// Makes a listener at time zero with an idle medium, where most stations have such an inter-frame space.
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

    /// Returns the instant at which its inter-frame spaces begin, if the medium stays idle.
    #[inline]
    pub(super) fn spaces_begin(&self) -> Time {
        self.idle_from.max(self.nav).max(self.eifs)
    }

    /// Tells whether the medium is known to be busy before `limit`.
    #[inline]
    pub(super) fn is_noticed(&self, limit: Place) -> bool {
        self.under_way > 0 && self.noticed < limit
    }

    /// Tells whether all that either knows of what has passed by `now` is alike, where nothing is on the air.
    pub(super) fn knows_as(&self, other: &Self, now: Time) -> bool {
        let is_alike = |one: Time, other: Time| one.max(now) == other.max(now);
        self.spaces_begin() == other.spaces_begin()
            && is_alike(self.nav, other.nav)
            && is_alike(self.eifs, other.eifs)
    }

    /// Tells whether so much is the inter-frame space of those that count together.
    #[inline]
    pub(super) fn is_common(&self, aifs: Duration) -> bool {
        aifs == self.aifs
    }

    /// Lets `station`, of the common inter-frame space, count so many slots from the next one on.
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

    /// Lets a station count its `backoff`.
    #[inline]
    pub(super) fn add(&mut self, backoff: Backoff) {
        let Backoff { station, aifs, from, slots, has_frame, is_immediate } = backoff;
        if aifs == self.aifs && from == Time::ZERO && !is_immediate {
            self.count(station, slots, has_frame);
        } else {
            self.strays.push(backoff);
        }
    }

    /// Takes out the backoff of the winner, which begins. Returns whether another may begin before it notices that.
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

    /// Takes out the rest of the backoff of `station`, unless it has ended without a frame.
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

    /// Returns the instant at which `backoff` would end if the medium stays idle.
    pub(super) fn end_of(&self, backoff: &Backoff, settings: &Settings) -> Time {
        backoff.end(self.spaces_begin(), settings.slot_time)
    }

    /// Counts the slots that have passed when the medium becomes busy at `now`. A station whose frame found it idle draws a
    /// backoff then.
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

    /// Looks up who gets at the medium next if it stays idle, and when.
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

    /// Looks up the first of those that count together, and forgets those that have ended without a frame.
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
