//! Contention-free periods as contenders see them. From the target time of the period to its end,
//! the NAV of all stations is set (IEEE Std 802.11-2016, 10.4.3), so backoffs are suspended. Frames
//! in the period are sent without contention.

use airtcp_kernel::Time;

use super::contender::{Retry, State};
use super::{ContenderId, Contention};

impl Contention {
    /// Returns when all inter-frame spaces began after the last busy period.
    #[cold]
    pub(crate) fn idle_from(&self) -> Time {
        self.listener.idle_from
    }

    /// Suspends contention from `now` on, when the medium is idle and no access has begun. A
    /// backoff that ends at this instant waits with no slots left, because its station sees the NAV
    /// before it sends.
    #[cold]
    pub(crate) fn suspend(&mut self, now: Time) {
        let Self { listener, settings, .. } = self;
        debug_assert!(listener.bursts.is_none(), "an access point that polls sends no bursts");
        self.together.clear();
        self.internal_collisions.clear();
        for stray in listener.backoffs.strays.iter_mut().filter(|stray| stray.immediate) {
            // A frame that arrived at this instant finds the NAV set, and needs a backoff.
            stray.from = stray.from.max(now + settings.slot_time);
        }
        let alone = self.medium_busy(now);
        self.together.extend(alone);
        for id in self.together.drain(..) {
            let contender = &mut self.contenders[id as usize];
            let group = &mut self.listener.backoffs.groups[contender.group];
            group.insert(id, contender, group.slot);
        }
    }

    /// Resumes `id` at the end of the period, `now`. If all frames that it contended for were sent
    /// in the period, the rest of its backoff serves as its post-backoff, if the rules have one.
    #[cold]
    pub(crate) fn settle_suspended(&mut self, id: ContenderId, now: Time, has_frame: bool) {
        let contender = &self.contenders[id as usize];
        match contender.state {
            State::Backoff { until } if !has_frame => {
                self.listener.backoffs.frame_left(id, until, &mut self.contenders);
                if !self.settings.post_backoff {
                    self.contenders[id as usize].state = State::Idle;
                }
            }
            State::Idle | State::PostBackoff { .. } if has_frame => {
                self.frame_queued(id, now, false);
            }
            _ => {}
        }
    }

    /// Counts an acknowledged frame that `id` sent without contention (10.3.3: CW is reset).
    #[cold]
    pub(crate) fn succeeded_without_contention(&mut self, id: ContenderId) {
        let contender = &mut self.contenders[id as usize];
        contender.counters.attempts += 1;
        contender.counters.successes += 1;
        contender.cw = contender.cw_min;
    }

    /// Counts a broadcast frame that `id` sent without contention.
    #[cold]
    pub(crate) fn broadcast_without_contention(&mut self, id: ContenderId) {
        let counters = &mut self.contenders[id as usize].counters;
        counters.attempts += 1;
        counters.broadcasts += 1;
    }

    /// Counts an unacknowledged frame that `id` sent without contention; `retry` is what happens to
    /// it. There is no backoff, and a larger window would not help.
    #[cold]
    pub(crate) fn failed_without_contention(&mut self, id: ContenderId, retry: Retry) {
        let contender = &mut self.contenders[id as usize];
        contender.counters.attempts += 1;
        contender.counters.failures += 1;
        if retry == Retry::Dropped {
            contender.drop_frame();
        }
    }
}
