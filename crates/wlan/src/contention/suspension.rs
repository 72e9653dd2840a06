//! Contention-free periods as those see them who contend: from the target time of the period to its
//! end the NAV of all is set (IEEE Std 802.11-2016, 10.4.3), so that backoffs stand still. What is
//! sent meanwhile is not contended for.

use airtcp_kernel::Time;

use super::contender::{Retry, State};
use super::{ContenderId, Contention};

impl Contention {
    /// Where all inter-frame spaces began after the last busy period.
    #[cold]
    pub(crate) fn idle_from(&self) -> Time {
        self.idle_from
    }

    /// Nobody contends from `now` on, when the medium is idle and no access has begun. A backoff that
    /// ends at this instant waits with nothing left of it: its station sees the NAV before it sends.
    #[cold]
    pub(crate) fn suspend(&mut self, now: Time) {
        debug_assert!(!self.busy && now <= self.next_access);
        debug_assert!(self.bursts.is_none(), "an access point that polls sends no bursts");
        self.busy = true;
        self.next_access = Time::NEVER;
        self.busy_periods += 1;
        self.together.clear();
        self.internal_collisions.clear();
        for stray in self.strays.iter_mut().filter(|stray| stray.immediate) {
            // A frame that came just now finds the NAV set, and needs a backoff.
            stray.from = stray.from.max(now + self.settings.slot_time);
        }
        let _ = self.freeze_all(now);
        for place in 0..self.together.len() {
            let id = self.together[place];
            let contender = &mut self.contenders[id as usize];
            contender.state = State::Backoff;
            let group = &mut self.groups[contender.group as usize];
            group.insert(id, group.slot);
        }
        self.together.clear();
    }

    /// What `id` has at the end of the period, `now`: nothing, if all that it contended for was sent in
    /// it. What is left of its backoff then stands for the one after its last success, where the rules
    /// have one.
    #[cold]
    pub(crate) fn settle_suspended(&mut self, id: ContenderId, now: Time, has_frame: bool) {
        let contender = &mut self.contenders[id as usize];
        match contender.state {
            State::Backoff if !has_frame => {
                let group = &mut self.groups[contender.group as usize];
                let until = group.slot + u64::from(group.remove(id));
                contender.state = if self.settings.post_backoff {
                    State::PostBackoff { until, since: self.busy_periods }
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

    /// The period is over at `now`: the medium is idle, and all go on with their backoffs.
    #[cold]
    pub(crate) fn resume(&mut self, now: Time) {
        self.medium_idle_from::<false>(now);
        self.find_next_access::<false>();
    }

    /// A frame of `id` was acknowledged for which it had not contended (10.3.3: CW goes back).
    #[cold]
    pub(crate) fn succeeded_without_contention(&mut self, id: ContenderId) {
        let contender = &mut self.contenders[id as usize];
        contender.counters.attempts += 1;
        contender.counters.successes += 1;
        contender.cw = contender.cw_min;
    }

    /// A frame of `id` was sent to all for which it had not contended.
    #[cold]
    pub(crate) fn broadcast_without_contention(&mut self, id: ContenderId) {
        let counters = &mut self.contenders[id as usize].counters;
        counters.attempts += 1;
        counters.broadcasts += 1;
    }

    /// A frame of `id` for which it had not contended was not acknowledged; `retry` is what becomes
    /// of it. There is no backoff, and nothing that a larger window would help against.
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
