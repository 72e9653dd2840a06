//! Frames that did not get through: what becomes of them, and of those who sent them.

use airtcp_kernel::Time;

use super::contender::{Retry, State};
use super::{ContenderId, Contention, Stray};
use crate::config::Colliders;

/// A frame that collided, as its sender knows it.
#[derive(Clone, Copy, Debug)]
pub struct CollidedFrame {
    /// When it ended.
    pub end: Time,
    /// Whether it ended after all the others had: its sender, which cannot receive while it sends,
    /// has heard none of them.
    pub outlasts: bool,
}

impl Contention {
    /// The frame of `contender` collided; `retry` is what becomes of it. Then comes
    /// [`Self::back_off_after_collision`].
    pub fn collided(&mut self, contender: ContenderId, retry: Retry) {
        let contender = &mut self.contenders[contender as usize];
        contender.counters.collisions += 1;
        contender.counters.broadcast_collisions += u64::from(retry == Retry::Broadcast);
        contender.fail(retry);
    }

    /// `id` took part in a collision whose last frame ended at `end`; its own was `own`.
    /// `has_frame` says whether it has a frame, that one or another. When all colliders are
    /// settled, [`Self::end_collision`] goes on.
    pub fn back_off_after_collision(
        &mut self,
        id: ContenderId,
        retry: Retry,
        own: CollidedFrame,
        end: Time,
        has_frame: bool,
    ) {
        let settings = &self.settings;
        let aifs = self.groups[self.contenders[id as usize].group as usize].aifs;
        let heard = match settings.colliders {
            Colliders::AsOthers => true,
            Colliders::AsHeard => !own.outlasts,
            Colliders::AckTimeoutThenDifs => false,
        };
        if heard && has_frame && self.bursts.is_none() {
            // It counts the same slots as all others.
            let contender = &mut self.contenders[id as usize];
            contender.state = State::Backoff;
            let slots = contender.draw_backoff();
            let group = &mut self.groups[contender.group as usize];
            group.insert(id, group.slot + u64::from(slots));
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

    /// What `contender` sent alone reached nobody; `retry` is what becomes of it. Then comes
    /// [`Self::back_off_after_failure`].
    pub fn failed(&mut self, contender: ContenderId, retry: Retry) {
        let contender = &mut self.contenders[contender as usize];
        contender.counters.failures += 1;
        contender.fail(retry);
    }

    /// What `id` sent until `sent` reached nobody, and the answer that did not come would have been
    /// over at `end`. The others, who have heard it, wait until `until`, which is that or as long as
    /// it has announced; `id` itself gives up waiting after the ACK timeout (10.3.2.11). `has_frame`
    /// says whether it has a frame, that one or another.
    pub fn back_off_after_failure(
        &mut self,
        id: ContenderId,
        retry: Retry,
        (sent, end, until): (Time, Time, Time),
        has_frame: bool,
    ) {
        let aifs = self.groups[self.contenders[id as usize].group as usize].aifs;
        let from = match self.settings.colliders {
            Colliders::AsOthers => end,
            Colliders::AsHeard | Colliders::AckTimeoutThenDifs => sent + self.settings.ack_timeout,
        };
        // With the AIFS of an access point it may be ready before the answer would have been over.
        self.back_off_from((from + aifs).max(end), id, retry, has_frame);
        self.medium_idle_from::<false>(until);
        self.find_next_access::<false>();
    }

    /// `id` backs off, counting slots from `from` on, after a transmission that got nowhere.
    fn back_off_from(&mut self, from: Time, id: ContenderId, retry: Retry, has_frame: bool) {
        let settings = &self.settings;
        let contender = &mut self.contenders[id as usize];
        if let Some(bursts) = self.bursts.as_mut().filter(|bursts| bursts.contender == id) {
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
        contender.state = State::Stray;
        self.strays.push(Stray { contender: id, from, slots, has_frame, immediate: false });
    }

    /// The frame of `contender` lost an internal collision; `retry` is what becomes of it. Then
    /// comes [`Self::back_off_after_internal_collision`].
    pub fn collided_internally(&mut self, contender: ContenderId, retry: Retry) {
        let contender = &mut self.contenders[contender as usize];
        contender.counters.internal_collisions += 1;
        contender.fail(retry);
    }

    /// `id` lost an internal collision and backs off as if it had been on the air
    /// (10.23.2.4); `has_frame` says whether it has a frame, that one or another.
    pub fn back_off_after_internal_collision(&mut self, id: ContenderId, has_frame: bool) {
        let contender = &mut self.contenders[id as usize];
        if !has_frame && !self.settings.post_backoff_after_drop {
            contender.state = State::Idle;
            return;
        }
        let until =
            self.groups[contender.group as usize].slot + u64::from(contender.draw_backoff());
        if has_frame {
            self.enter_ring(id, until);
        } else {
            contender.state = State::PostBackoff { until, since: self.busy_periods };
        }
    }

    /// All frames of a collision have ended at `end`, and all colliders were settled by
    /// [`Self::back_off_after_collision`].
    pub fn end_collision(&mut self, end: Time) {
        self.medium_idle_from::<false>(end + self.settings.wait_after_collision);
        if let Some(bursts) = &mut self.bursts {
            bursts.stations_collided();
        }
        self.find_next_access::<false>();
    }
}
