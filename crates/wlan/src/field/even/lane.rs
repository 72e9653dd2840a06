//! The medium as a listener of an even field senses it, and when its stations access it next.
//! Exchanges are elsewhere.

use airtcp_kernel::Time;

use super::log::{Log, Passed};
use crate::contention::{Backoffs, Contender, Settings};
use crate::field::air::Place;
use crate::field::clock::{Clock, Key, Rank};
use crate::field::node::NONE;
use crate::field::waiting::Waiting;
use crate::station::ContenderId;

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
    pub(super) waiting: Waiting,
}

impl Lane {
    /// Creates a listener at time zero with an idle medium.
    pub(super) fn new(backoffs: Backoffs) -> Self {
        Self {
            under_way: 0,
            is_frozen: false,
            noticed: (Key::NEVER, NONE),
            log: Log::default(),
            waiting: Waiting::new(backoffs),
        }
    }

    /// True if the listener detected a busy medium before `limit`.
    #[inline]
    pub(super) fn is_noticed(&self, limit: Place) -> bool {
        self.under_way > 0 && self.noticed < limit
    }

    /// Removes the backoff of `by`, which begins to send. Returns whether another station may begin
    /// before it detects that.
    #[inline]
    pub(super) fn begin(&mut self, by: ContenderId, queues: &mut [Contender]) -> bool {
        self.waiting.access = Time::NEVER;
        self.waiting.backoffs.begin(by, queues)
    }

    /// Cancels the access if it is after the instant at which the medium is known to be busy.
    #[inline]
    pub(super) fn drops_late_access(&mut self, clock: &mut Clock) {
        let access = self.waiting.access;
        if self.under_way > 0 && access != Time::NEVER && access > self.noticed.0.time() {
            self.forget_access(clock);
        }
    }

    /// Cancels the access.
    #[inline]
    pub(super) fn forget_access(&mut self, clock: &mut Clock) {
        if std::mem::replace(&mut self.waiting.access, Time::NEVER) != Time::NEVER {
            clock.set(self.waiting.winner, Key::NEVER);
        }
    }

    /// Freezes the backoffs during a busy period, as of the instant at which it was detected.
    #[inline]
    pub(super) fn freezes(&mut self, queues: &mut [Contender], settings: &Settings) {
        if !std::mem::replace(&mut self.is_frozen, true) {
            debug_assert_eq!(self.waiting.access, Time::NEVER, "it has begun, or was forgotten");
            self.waiting.freeze(self.noticed.0.time(), settings, queues);
        }
    }

    /// Ends a busy period at `now` that left `passed`; the backoffs are frozen.
    #[inline]
    pub(super) fn period_ends(&mut self, passed: Passed, now: Time) {
        if let Some(eifs) = passed.eifs {
            self.waiting.eifs = eifs;
        }
        self.waiting.nav = self.waiting.nav.max(passed.nav);
        self.waiting.idle_from = now;
    }

    /// Schedules the next access on an idle medium.
    #[inline(always)]
    pub(super) fn find_access(
        &mut self,
        clock: &mut Clock,
        (settings, queues): (&Settings, &[Contender]),
    ) {
        let (access, winner) = self.waiting.look_up(settings, queues);
        if access == self.waiting.access && winner == self.waiting.winner {
            return;
        }
        self.forget_access(clock);
        (self.waiting.access, self.waiting.winner) = (access, winner);
        if access != Time::NEVER {
            clock.set(winner, Key::new(access, Rank::Start));
        }
    }
}
