//! Contention-free periods as contenders see them: from the target time of the period to its end the
//! NAV of all is set (IEEE Std 802.11-2016, 10.4.3), so that backoffs stand still. Frames that are sent
//! meanwhile are not contended for; which ones they are is not known here.

use airtcp_kernel::Time;

use super::contender::{Retry, State};
use super::{ContenderId, Contention};

impl Contention {
    /// Returns the instant at which all inter-frame spaces began after the last busy period.
    #[cold]
    pub(crate) fn idle_from(&self) -> Time {
        self.listener.idle_from
    }

    /// Keeps all from contending from `now` on, when the medium is idle and no access has
    /// begun. A backoff that ends at this instant waits with nothing left of it: its station sees the
    /// NAV before it sends.
    #[cold]
    pub(crate) fn suspend(&mut self, now: Time) {
        let listener = &mut self.listener;
        debug_assert!(listener.bursts.is_none(), "an access point that polls sends no bursts");
        self.together.clear();
        self.internal_collisions.clear();
        for stray in listener.strays.iter_mut().filter(|stray| stray.immediate) {
            // A frame that came just now finds the NAV set, and needs a backoff.
            stray.from = stray.from.max(now + self.settings.slot_time);
        }
        let alone =
            listener.medium_busy(now, &self.settings, &mut self.contenders, &mut self.together);
        self.together.extend(alone);
        for id in self.together.drain(..) {
            let contender = &mut self.contenders[id as usize];
            contender.state = State::Backoff;
            let group = &mut listener.groups[contender.group];
            group.insert(id, contender, group.slot);
        }
    }

    /// Settles `id` at the end of the period, `now`. If all that it contended for was sent in it, the rest
    /// of its backoff stands for the one after its last success, where the rules have one.
    #[cold]
    pub(crate) fn settle_suspended(&mut self, id: ContenderId, now: Time, has_frame: bool) {
        let contender = &self.contenders[id as usize];
        match contender.state {
            State::Backoff if !has_frame => {
                let listener = &mut self.listener;
                let group = &mut listener.groups[contender.group];
                let until = group.slot + u64::from(group.remove(id, &mut self.contenders));
                self.contenders[id as usize].state = if self.settings.post_backoff {
                    State::PostBackoff { until, since: listener.busy_periods }
                } else {
                    State::Idle
                };
            }
            State::Idle | State::PostBackoff { .. } if has_frame => {
                self.frame_queued(id, now, false);
            }
            _ => {}
        }
    }

    /// Counts a frame of `id` that was acknowledged, and for which it had not contended (10.3.3: CW goes
    /// back).
    #[cold]
    pub(crate) fn succeeded_without_contention(&mut self, id: ContenderId) {
        let contender = &mut self.contenders[id as usize];
        contender.counters.attempts += 1;
        contender.counters.successes += 1;
        contender.cw = contender.cw_min;
    }

    /// Counts a frame of `id` to all for which it had not contended.
    #[cold]
    pub(crate) fn broadcast_without_contention(&mut self, id: ContenderId) {
        let counters = &mut self.contenders[id as usize].counters;
        counters.attempts += 1;
        counters.broadcasts += 1;
    }

    /// Counts a frame of `id` that was not acknowledged, and for which it had not contended; `retry` is
    /// its fate. There is no backoff, and nothing that a larger window would help against.
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
