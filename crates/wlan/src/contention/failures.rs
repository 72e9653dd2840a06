//! Frames that did not get through: how their senders back off, and from when on the others count.
//! Does not know why they did not: `medium` does.

use airtcp_kernel::Time;

use super::contender::{Retry, State};
use super::{ContenderId, Contention, Stray};
use crate::config::Colliders;
use crate::medium::CollidedFrame;

impl Contention {
    /// Counts a collision of the frame of `contender`; `retry` is its fate. Then comes
    /// [`Self::back_off_after_collision`].
    pub fn collided(&mut self, contender: ContenderId, retry: Retry) {
        let contender = &mut self.contenders[contender as usize];
        contender.counters.collisions += 1;
        contender.counters.broadcast_collisions += u64::from(retry == Retry::Broadcast);
        contender.fail(retry);
    }

    /// Lets `id` back off, which took part in a collision whose last frame ended at `end`; its own was
    /// `own`. `has_frame` says whether it has a frame, that one or another. When all colliders are
    /// settled, [`Self::end_collision`] goes on.
    // Called for each kind of exchanges: without this, each collision of a busy cell pays for a call.
    #[inline(always)]
    pub fn back_off_after_collision(
        &mut self,
        id: ContenderId,
        retry: Retry,
        own: CollidedFrame,
        end: Time,
        has_frame: bool,
    ) {
        let Self { contenders, listener, settings, .. } = self;
        let contender = &mut contenders[id as usize];
        let group = &mut listener.groups[contender.group];
        let aifs = group.aifs;
        let heard = match settings.colliders {
            Colliders::AsOthers => true,
            Colliders::AsHeard => !own.outlasts,
            Colliders::AckTimeoutThenDifs => false,
        };
        if heard && has_frame && listener.bursts.is_none() {
            // It counts the same slots as all others.
            contender.state = State::Backoff;
            let until = group.slot + u64::from(contender.draw_backoff());
            group.insert(id, contender, until);
            return;
        }
        let from = if heard {
            end + settings.wait_after_collision + aifs
        } else if retry == Retry::Broadcast {
            // It waits for no answer, and has not heard the other frame begin.
            end + aifs
        } else {
            (own.end + settings.ack_timeout).max(end) + aifs
        };
        self.back_off_from(from, id, retry, has_frame);
    }

    /// Counts a frame that `contender` sent alone and nobody received; `retry` is its fate. Then comes
    /// [`Self::back_off_after_failure`].
    pub fn failed(&mut self, contender: ContenderId, retry: Retry) {
        let contender = &mut self.contenders[contender as usize];
        contender.counters.failures += 1;
        contender.fail(retry);
    }

    /// Lets `id` back off, whose frame was sent at `sent` and received by nobody; the missing answer would
    /// have been over at `end`. The others, who have heard the frame, wait until `until`, which is
    /// `end` or as long as `id` has announced; `id` itself gives up waiting after the ACK timeout
    /// (10.3.2.11). `has_frame` says whether it has a frame, that one or another.
    pub fn back_off_after_failure(
        &mut self,
        id: ContenderId,
        retry: Retry,
        (sent, end, until): (Time, Time, Time),
        has_frame: bool,
    ) {
        let contender = &self.contenders[id as usize];
        let aifs = self.listener.groups[contender.group].aifs;
        let from = match self.settings.colliders {
            Colliders::AsOthers => end,
            Colliders::AsHeard | Colliders::AckTimeoutThenDifs => sent + self.settings.ack_timeout,
        };
        // With the AIFS of an access point it may be ready before the answer would have been over.
        self.back_off_from((from + aifs).max(end), id, retry, has_frame);
        self.medium_idle(until);
    }

    /// Lets `id` back off, counting slots from `from` on, after a failed transmission.
    fn back_off_from(&mut self, from: Time, id: ContenderId, retry: Retry, has_frame: bool) {
        let Self { contenders, listener, settings, .. } = self;
        let contender = &mut contenders[id as usize];
        if let Some(bursts) = listener.bursts.as_mut().filter(|bursts| bursts.contender == id) {
            bursts.collided(from);
            if matches!(retry, Retry::Dropped | Retry::Broadcast) {
                bursts.packet_done(false, has_frame);
            }
            contender.state = State::Bursts;
            return;
        }
        let post_backoff = match retry {
            Retry::Broadcast => settings.post_backoff,
            Retry::Again | Retry::Dropped => settings.post_backoff_after_drop,
        };
        if !has_frame && !post_backoff {
            debug_assert!(matches!(retry, Retry::Dropped | Retry::Broadcast));
            contender.state = State::Idle;
            return;
        }
        let slots = contender.draw_backoff();
        let stray = Stray { contender: id, from, slots, has_frame, immediate: false };
        listener.add_stray(stray, contender);
    }

    /// Counts an internal collision that the frame of `contender` lost; `retry` is its fate. Then comes
    /// [`Self::back_off_after_internal_collision`].
    pub fn collided_internally(&mut self, contender: ContenderId, retry: Retry) {
        let contender = &mut self.contenders[contender as usize];
        contender.counters.internal_collisions += 1;
        contender.fail(retry);
    }

    /// Lets `id` back off, which lost an internal collision, as if it had been on the air (10.23.2.4);
    /// `has_frame` says whether it has a frame, that one or another.
    pub fn back_off_after_internal_collision(&mut self, id: ContenderId, has_frame: bool) {
        let Self { contenders, listener, settings, .. } = self;
        let contender = &mut contenders[id as usize];
        if !has_frame && !settings.post_backoff_after_drop {
            contender.state = State::Idle;
            return;
        }
        let slot = listener.groups[contender.group].slot;
        let until = slot + u64::from(contender.draw_backoff());
        if has_frame {
            listener.enter_ring(id, contender, until, settings.slot_time);
        } else {
            contender.state = State::PostBackoff { until, since: listener.busy_periods };
        }
    }

    /// Makes the medium idle after a collision whose frames have all ended at `end`. All
    /// colliders were settled by [`Self::back_off_after_collision`].
    #[inline]
    pub fn end_collision(&mut self, end: Time) {
        if let Some(bursts) = &mut self.listener.bursts {
            bursts.stations_collided();
        }
        self.medium_idle(end + self.settings.wait_after_collision);
    }
}
