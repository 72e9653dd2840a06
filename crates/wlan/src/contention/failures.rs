//! Failed frames: how their senders back off, and from when on the others count. `medium` decides
//! which frames fail.

use airtcp_kernel::Time;

use super::contender::{Retry, State};
use super::{ContenderId, Contention, Stray};
use crate::config::Colliders;
use crate::medium::CollidedFrame;

impl Contention {
    /// Counts a collision of `contender`'s frame; `retry` is what happens to it. Call
    /// [`Self::back_off_after_collision`] next.
    pub fn collided(&mut self, contender: ContenderId, retry: Retry) {
        let contender = &mut self.contenders[contender as usize];
        contender.counters.collisions += 1;
        contender.counters.broadcast_collisions += u64::from(retry == Retry::Broadcast);
        contender.fail(retry);
    }

    /// Starts the backoff of `id` after a collision whose last frame ended at `end`; its own frame
    /// was `own`. `has_frame` says whether it has a frame, the same or another. When all colliders
    /// are handled, call [`Self::end_collision`].
    // Called for each kind of exchange: without the attribute, each collision of a busy cell costs
    // a call.
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
        let group = &mut listener.backoffs.groups[contender.group];
        let aifs = group.aifs;
        let heard = match settings.colliders {
            Colliders::AsOthers => true,
            Colliders::AsHeard => !own.outlasts,
            Colliders::AckTimeoutThenDifs => false,
        };
        if heard && has_frame && listener.bursts.is_none() {
            // It counts the same slots as all others.
            let until = group.slot + u64::from(contender.draw_backoff());
            group.insert(id, contender, until);
            return;
        }
        let from = if heard {
            end + settings.wait_after_collision + aifs
        } else if retry == Retry::Broadcast {
            // It waits for no response, and has not detected the other frame.
            end + aifs
        } else {
            (own.end + settings.ack_timeout).max(end) + aifs
        };
        self.back_off_from(from, id, retry, has_frame);
    }

    /// Counts the collision of a trigger frame of `contender`, which is a broadcast, in addition to
    /// [`Self::collided`].
    #[cold]
    pub(crate) fn trigger_collided(&mut self, contender: ContenderId) {
        self.contenders[contender as usize].counters.broadcast_collisions += 1;
    }

    /// Counts a PPDU that `contender` sent after a trigger frame; `retry` is what happens to its
    /// frames if no response came. Its backoff and CW stay (IEEE 802.11ax-2021, 10.23.2.2).
    #[cold]
    pub(crate) fn triggered(&mut self, contender: ContenderId, retry: Option<Retry>) {
        let counters = &mut self.contenders[contender as usize].counters;
        counters.attempts += 1;
        counters.successes += u64::from(retry.is_none());
        counters.failures += u64::from(retry.is_some());
        counters.drops += u64::from(retry == Some(Retry::Dropped));
    }

    /// Returns whether `contender` takes part in the current transmission.
    pub(crate) fn is_exchanging(&self, contender: ContenderId) -> bool {
        self.contenders[contender as usize].state == State::Exchanging
    }

    /// Counts a frame of `contender` that failed without a collision; `retry` is what happens to
    /// it. Call [`Self::back_off_after_failure`] next.
    pub fn failed(&mut self, contender: ContenderId, retry: Retry) {
        let contender = &mut self.contenders[contender as usize];
        contender.counters.failures += 1;
        contender.fail(retry);
    }

    /// Starts the backoff of `id`, whose frame ended at `sent` and was not received. The missing
    /// response would have ended at `end`. Other stations, which heard the frame, wait until
    /// `until`: `end`, or the end that `id` announced. `id` itself waits for the ACK timeout
    /// (10.3.2.11). `has_frame` says whether it has a frame, the same or another.
    pub fn back_off_after_failure(
        &mut self,
        id: ContenderId,
        retry: Retry,
        (sent, end, until): (Time, Time, Time),
        has_frame: bool,
    ) {
        let contender = &self.contenders[id as usize];
        let aifs = self.listener.backoffs.groups[contender.group].aifs;
        let from = match self.settings.colliders {
            Colliders::AsOthers => end,
            Colliders::AsHeard | Colliders::AckTimeoutThenDifs => sent + self.settings.ack_timeout,
        };
        // With its shorter AIFS an access point may be ready before the response would have ended.
        self.back_off_from((from + aifs).max(end), id, retry, has_frame);
        self.medium_idle(until);
    }

    /// Starts the backoff of `id` after a failed transmission; slots count from `from` on.
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
            contender.state = State::Idle;
            return;
        }
        let slots = contender.draw_backoff();
        let stray = Stray { contender: id, from, slots, has_frame, immediate: false };
        listener.backoffs.add_stray(stray, contender);
    }

    /// Counts an internal collision that `contender` lost; `retry` is what happens to its frame.
    /// Call [`Self::back_off_after_internal_collision`] next.
    pub fn collided_internally(&mut self, contender: ContenderId, retry: Retry) {
        let contender = &mut self.contenders[contender as usize];
        contender.counters.internal_collisions += 1;
        contender.fail(retry);
    }

    /// Starts the backoff of `id` after an internal collision, as if it had collided on the air
    /// (10.23.2.4). `has_frame` says whether it has a frame, the same or another.
    pub fn back_off_after_internal_collision(&mut self, id: ContenderId, has_frame: bool) {
        let Self { contenders, listener, settings, .. } = self;
        let contender = &mut contenders[id as usize];
        let post_backoff = settings.post_backoff_after_drop;
        listener.backoffs.back_off(id, contender, has_frame, post_backoff);
    }

    /// Sets the medium idle after a collision whose frames have all ended at `end`.
    /// [`Self::back_off_after_collision`] must have been called for all colliders.
    #[inline]
    pub fn end_collision(&mut self, end: Time) {
        if let Some(bursts) = &mut self.listener.bursts {
            bursts.stations_collided();
        }
        self.medium_idle(end + self.settings.wait_after_collision);
    }
}
