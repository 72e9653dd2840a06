//! The medium as one station senses it, or as a group of stations that hear alike. Only times and
//! powers; no queues.

use airtcp_kernel::Time;

use super::hearing::Power;
use super::node::{Frame, NONE};
use super::waiting::Waiting;
use crate::contention::Backoffs;
use crate::station::StationId;

/// The number of a listener. Listeners of single stations come first, then the shared ones of
/// groups.
pub(super) type ListenerId = u32;

/// A frame that is being received.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lock {
    pub(super) from: StationId,
    pub(super) power: Power,
    pub(super) need: f64,
    /// When its preamble was detected, and the end of the frame.
    pub(super) since: Time,
    pub(super) end: Time,
    /// The instant from which interference is too strong; [`Time::NEVER`] if it is not.
    pub(super) bad_since: Time,
    /// The first such instant, and the end of the last such time.
    pub(super) first_bad: Time,
    pub(super) last_bad: Time,
    /// Whether there is more interference than the lock accounts for.
    pub(super) is_unaware: bool,
}

/// A listener: one station, or the stations of a group that share it. Stations that share a
/// listener sense the same, and none of them sends or waits for a response.
#[derive(Debug)]
pub(super) struct Listener {
    /// The total power of the frames on the air that it hears.
    pub(super) energy: Power,
    /// The power of the frames that began at `fresh_at`.
    pub(super) fresh: Power,
    pub(super) fresh_at: Time,
    /// The power of frames that began before the current ones, whose preambles may be detected
    /// until `undetected_until`.
    before: Power,
    undetected_until: Time,
    /// The sender of the frame that began last; [`NONE`] if a frame has ended since.
    pub(super) last_by: StationId,
    pub(super) lock: Option<Lock>,
    /// When it detects the frame that it receives, if nothing has to be done at that instant. Its
    /// queues are frozen later, as of then. [`Time::NEVER`] if they are frozen.
    pub(super) noticed_at: Time,
    /// Preambles that began before this instant are not detected: the listener was sending or
    /// receiving.
    pub(super) free_from: Time,
    /// Whether it is a station that sends.
    pub(super) is_sending: bool,
    /// Whether it detects a busy medium, or sends.
    pub(super) is_busy: bool,
    /// When a NAV set by an RTS is reset because no frame has followed.
    pub(super) nav_reset: Time,
    /// The station that set the NAV.
    pub(super) nav_by: StationId,
    /// Senders of ignored frames of other cells, with their powers.
    pub(super) ignored: Vec<(StationId, Power)>,
    /// The times in which interference was too strong for a frame to this station.
    pub(super) bad: Vec<(Time, Time)>,
    pub(super) waiting: Waiting,
}

impl Listener {
    /// Creates a listener at time zero with an idle medium.
    pub(super) fn new(backoffs: Backoffs) -> Self {
        Self {
            energy: 0,
            fresh: 0,
            fresh_at: Time::NEVER,
            before: 0,
            undetected_until: Time::ZERO,
            last_by: NONE,
            lock: None,
            noticed_at: Time::NEVER,
            free_from: Time::ZERO,
            is_sending: false,
            is_busy: false,
            nav_reset: Time::NEVER,
            nav_by: NONE,
            ignored: Vec::new(),
            bad: Vec::new(),
            waiting: Waiting::new(backoffs),
        }
    }

    /// Returns the power of all frames that it does not ignore.
    #[inline]
    pub(super) fn sensed(&self) -> Power {
        if self.ignored.is_empty() {
            return self.energy;
        }
        self.energy - self.ignored.iter().map(|&(_, power)| power).sum::<Power>()
    }

    /// Adds the power of a frame that `sender` begins at `now`, and whose preamble is detected at
    /// `notice`.
    #[inline]
    pub(super) fn hear(&mut self, (sender, power): (StationId, Power), now: Time, notice: Time) {
        if self.lock.is_none() && !self.is_sending {
            if now >= self.undetected_until {
                self.before = self.energy;
            }
            self.undetected_until = notice;
        }
        self.last_by = sender;
        self.energy += power;
        if self.fresh_at == now {
            self.fresh += power;
        } else {
            (self.fresh_at, self.fresh) = (now, power);
        }
    }

    /// Returns the power of the frames that begin at `now`.
    #[inline]
    fn fresh(&self, now: Time) -> Power {
        if self.fresh_at == now { self.fresh } else { 0 }
    }

    /// Returns the interference at `now` with a frame received with `power`, without frames that
    /// begin at `now`.
    #[inline]
    pub(super) fn interference(&self, power: Power, now: Time) -> Power {
        self.energy - power - self.fresh(now)
    }

    /// Returns the interference when the preamble of `frame` of `sender` is detected, received with
    /// `power`. Weaker frames that began before it do not count (`WeakerBefore::Unnoticed`), unless
    /// a frame has begun or ended since.
    ///
    /// ns-3 orders frames that begin at one instant in some way. Here a bit of the instant chooses
    /// between the order of the stations and its reverse, so that no station is always last.
    pub(super) fn noticed_interference(
        &self,
        (sender, power): (StationId, Power),
        frame: &Frame,
    ) -> Power {
        let is_alone = self.fresh == power;
        let is_last_here = self.last_by == sender;
        let is_reversed = !is_alone && (frame.start.as_nanos() / 1000).count_ones() % 2 == 1;
        let is_last = self.fresh_at == frame.start && is_last_here != is_reversed;
        if is_last && self.last_by != NONE { self.before } else { self.energy - power }
    }

    /// Copies what `other` senses; `other` has settled its detections. The queues are not copied.
    pub(super) fn sense_as(&mut self, other: &Self) {
        debug_assert!(other.noticed_at == Time::NEVER && self.noticed_at == Time::NEVER);
        self.energy = other.energy;
        (self.fresh, self.fresh_at) = (other.fresh, other.fresh_at);
        (self.before, self.undetected_until) = (other.before, other.undetected_until);
        self.last_by = other.last_by;
        self.lock = other.lock;
        self.free_from = other.free_from;
        self.is_busy = other.is_busy;
        self.waiting.sense_as(&other.waiting);
        (self.nav_reset, self.nav_by) = (other.nav_reset, other.nav_by);
        self.ignored.clear();
        if !other.ignored.is_empty() {
            self.ignored.extend_from_slice(&other.ignored);
        }
        self.bad.clear();
        if !other.bad.is_empty() {
            self.bad.extend_from_slice(&other.bad);
        }
    }

    /// Returns what the interference with a frame that is not yet detected depends on.
    fn last_heard(&self) -> (Power, StationId, Power, Time) {
        (self.before, self.last_by, self.fresh, self.fresh_at)
    }

    /// True if both listeners will sense and do the same from `now` on. A frame that began since
    /// `recent` may not have been detected yet. False while either receives or ignores a frame.
    pub(super) fn will_do_as(&self, other: &Self, now: Time, recent: Time) -> bool {
        let is_old = |time: Time| time < recent;
        self.lock.is_none()
            && other.lock.is_none()
            && self.is_busy == other.is_busy
            && self.energy == other.energy
            && (self.free_from == other.free_from
                || is_old(self.free_from) && is_old(other.free_from))
            && (self.is_busy || self.waiting.spaces_begin() == other.waiting.spaces_begin())
            && self.waiting.is_bound_as(&other.waiting, now)
            && (self.waiting.nav <= now || self.nav_by == other.nav_by)
            && self.nav_reset == other.nav_reset
            && self.fresh(now) == other.fresh(now)
            && self.undetected_until.max(now) == other.undetected_until.max(now)
            && (self.undetected_until <= now && is_old(self.fresh_at) && is_old(other.fresh_at)
                || self.last_heard() == other.last_heard())
            && self.ignored.is_empty()
            && other.ignored.is_empty()
    }
}

impl Lock {
    /// Creates the reception of `frame`, whose preamble was detected at `since`, without
    /// interference.
    #[inline]
    pub(super) fn new(from: StationId, power: Power, frame: &Frame, since: Time) -> Self {
        Self {
            from,
            power,
            need: frame.need.ratio,
            since,
            end: frame.end,
            bad_since: Time::NEVER,
            first_bad: Time::NEVER,
            last_bad: Time::ZERO,
            is_unaware: false,
        }
    }

    /// Records at `now` whether interference is too strong. Returns the time in which it was, if it
    /// has just ended.
    #[inline]
    pub(super) fn judge(&mut self, is_bad: bool, now: Time) -> Option<(Time, Time)> {
        if is_bad {
            if self.bad_since == Time::NEVER {
                self.bad_since = now;
                self.first_bad = self.first_bad.min(now);
            }
            return None;
        }
        if self.bad_since == Time::NEVER {
            return None;
        }
        let since = std::mem::replace(&mut self.bad_since, Time::NEVER);
        self.last_bad = now;
        (since < now).then_some((since, now))
    }
}
