//! Frames that fail: collisions on the air, and internal collisions of the queues of one station.

use airtcp_kernel::{Duration, Time};

use super::{Air, Exchange, Failure, OnAir, Play};
use crate::contention::Retry;
use crate::events::{Began, MacEvent, Supply};
use crate::frame::Ppdu;
use crate::medium::Transmission;
use crate::sequence::txop::Txop;
use crate::station::ContenderId;

impl<P: Clone> Air<P> {
    /// Returns whether exactly two frames collide, each for the sender of the other. Neither
    /// station hears the other's frame (paper G).
    fn is_simultaneous_send<E: Exchange<P>>(&self, exchange: &E) -> bool {
        let [first, second] = self.medium.transmissions() else { return false };
        if self.beacons.is_due(first.by) || self.beacons.is_due(second.by) {
            return false;
        }
        let station = |by: ContenderId| Some(self.originators[by as usize].station);
        self.sends_to(exchange, first.by) == station(second.by)
            && self.sends_to(exchange, second.by) == station(first.by)
    }

    /// Handles [`Self::retry`] for a frame whose RTS succeeded; it has its own limit.
    pub(super) fn retry_after_rts(&mut self, by: ContenderId) -> Retry {
        self.originators[by as usize].retry_after_rts(self.long_retry_limit)
    }

    /// Counts one more failure of the frame that `by` holds. Returns whether it may be
    /// retransmitted (IEEE Std 802.11-2020, 10.3.4.4).
    pub(super) fn retry(&mut self, by: ContenderId) -> Retry {
        self.originators[by as usize].retry(self.retry_limit)
    }
}

impl<P: Clone, E: Exchange<P>, S: Supply<P>> Play<'_, P, E, S> {
    /// Puts the transmissions of several stations on the air at `start`.
    #[cold]
    pub(super) fn collision_begins(mut self, start: Time) {
        self.air.medium.clear();
        let mut beacon = None;
        for place in 0..self.air.contention.colliders().len() {
            let by = self.air.contention.colliders()[place];
            let sent = if self.air.beacons.is_due(by) {
                beacon = Some(by);
                start + self.air.beacons.airtime()
            } else {
                start + E::first_frame(&mut self, by, start)
            };
            self.air.medium.begin(by, start, sent);
        }
        let sent = self.air.medium.last_end();
        let end = sent + self.air.frames.phy().propagation_delay;
        self.air.counters.collisions += 1;
        self.air.counters.simultaneous_sends += u64::from(self.air.is_simultaneous_send(self.mac));
        if self.supply.watches_colliders() {
            for place in 0..self.air.contention.colliders().len() {
                let by = self.air.contention.colliders()[place];
                if beacon != Some(by) {
                    self.again().tell_of_collider(by, start);
                }
            }
        }
        self.supply.on_event(start, MacEvent::Began(Began::Collision { sent, end }));
        if let Some(by) = beacon {
            self.again().beacon_collides(by, start, end);
        }
        self.air.set_on_air(OnAir::Sending { end }, end);
    }

    /// Reports the first frame of `by`, which collides.
    #[inline(never)]
    fn tell_of_collider(&mut self, by: ContenderId, start: Time) {
        let times = *self.mac.times(self.air, by);
        let triggered = self.mac.triggered(self.air, by);
        if !triggered.is_empty() {
            let (times, users) = (&times, &triggered[..]);
            let began = Began::Triggered { by, start, times, users, collides: true };
            self.supply.on_event(start, MacEvent::Began(began));
            return;
        }
        let users = self.mac.users(by);
        if !users.is_empty() {
            let began = Began::Collider { by, times: &times, ppdu: Ppdu::of_users(&users) };
            self.supply.on_event(start, MacEvent::Began(began));
            return;
        }
        if let Some((receiver, window_start)) = self.mac.request(by) {
            let began =
                Began::Request { by, times: &times, receiver, window_start, collides: true };
            self.supply.on_event(start, MacEvent::Began(began));
        } else if let Some(psdu) = self.air.originators[by as usize].frames() {
            let class = self.mac.class(self.air, by, psdu.receiver());
            let ppdu = Ppdu::of_one(psdu, class);
            let began = Began::Collider { by, times: &times, ppdu };
            self.supply.on_event(start, MacEvent::Began(began));
        }
    }

    /// Processes a collision whose frames have all ended at `end`.
    #[cold]
    pub(super) fn collision_ended(&mut self, end: Time) {
        if self.trigger_begins(end) {
            return;
        }
        let Some((by, times)) = E::outlasts(self, end) else {
            return self.again().collision_settled(None, end);
        };
        let start = end + self.air.frames.phy().sifs;
        self.air.txop = Txop::new(start, Duration::ZERO);
        let began = Began::Triggered { by, start, times: &times, users: &[], collides: false };
        self.supply.on_event(start, MacEvent::Began(began));
        self.air.set_on_air(OnAir::Triggered { by }, start + times.total);
    }

    /// Starts the trigger frame that follows the collided PPDU that ends last, if there is one and
    /// no other PPDU or its trigger frame lasts so long that it overlaps. Returns whether it starts.
    ///
    /// Trigger frames that overlap count as part of the collision, which they outlast.
    fn trigger_begins(&mut self, end: Time) -> bool {
        let all = self.air.medium.transmissions().iter();
        let triggers = || all.clone().filter_map(|one| Some((one, self.mac.trigger(one.by)?)));
        let Some((&Transmission { by, end: sent, .. }, (times, receiver))) =
            triggers().max_by_key(|(one, _)| one.end)
        else {
            return false;
        };
        let others = triggers().filter(|(one, _)| one.by != by);
        if others.into_iter().any(|(one, (times, _))| one.end + times.data > sent) {
            return false;
        }
        let phy = self.air.frames.phy();
        let start = sent + phy.propagation_delay + phy.sifs;
        if start < end {
            return false;
        }
        // The last TXOP was that of an earlier access.
        self.air.txop = Txop::new(start, Duration::ZERO);
        let (times, window_start) = (&times, 0);
        let began = Began::Request { by, times, receiver, window_start, collides: false };
        self.supply.on_event(start, MacEvent::Began(began));
        self.air.set_on_air(OnAir::Triggered { by }, start + times.total);
        true
    }

    /// Processes a collision that ends at `end`. `triggered` has received the responses to its
    /// trigger frame or its PPDU, which ends its exchange as any other.
    #[cold]
    pub(super) fn collision_settled(mut self, triggered: Option<ContenderId>, end: Time) {
        for place in 0..self.air.medium.transmissions().len() {
            let by = self.air.medium.transmissions()[place].by;
            if triggered == Some(by) {
                continue;
            }
            let own = self.air.medium.collided(place);
            let retry = if self.air.beacon_collided(by) {
                Retry::Broadcast
            } else {
                E::failed(&mut self, by, Failure::Collision, end)
            };
            self.air.contention.collided(by, retry);
            let has_frame = self.after_failure(by, retry, end);
            self.air.contention.back_off_after_collision(by, retry, own, end, has_frame);
        }
        if let Some(by) = triggered {
            return E::answered(&mut self, by, end);
        }
        self.air.contention.end_collision(end);
        self.air.fall_silent();
    }

    /// Processes queues that lost an internal collision to a higher-priority queue of their station
    /// (IEEE Std 802.11-2020, 10.23.2.4).
    #[cold]
    pub(super) fn settle_internal_collisions(&mut self, now: Time) {
        for place in 0..self.air.contention.internal_collisions().len() {
            let by = self.air.contention.internal_collisions()[place];
            E::assemble(self, by, now, None);
            let retry = E::failed(self, by, Failure::InternalCollision, now);
            self.air.contention.collided_internally(by, retry);
            let has_frame = self.after_failure(by, retry, now);
            self.air.contention.back_off_after_internal_collision(by, has_frame);
        }
    }

    /// Reports that `by`'s transmission was not received; the exchange would have ended at `end`.
    pub(super) fn tell_of_loss(&mut self, by: ContenderId, end: Time) {
        let ack = self.mac.times(self.air, by).ack;
        let to = end.as_nanos() - self.air.frames.phy().propagation_delay.as_nanos();
        let answer = (Time::from_nanos(to - ack.as_nanos()), Time::from_nanos(to));
        let psdu = self.air.originators[by as usize].frames().expect("it was sent");
        self.supply.on_event(end, MacEvent::Lost { by, psdu, answer });
    }

    /// Fails the exchange of `by`, to which no response has come by `end` because none of it was
    /// received (IEEE Std 802.11-2020, 10.3.2.11). Other stations, which heard it, have waited for
    /// the response.
    #[cold]
    pub(super) fn exchange_failed(&mut self, by: ContenderId, end: Time) {
        let times = *self.mac.times(self.air, by);
        // The sender's timeout ends a little earlier.
        let after = times.total - times.data_received + self.air.frames.phy().propagation_delay;
        let sent = Time::from_nanos(end.as_nanos() - after.as_nanos());
        let retry = E::failed(self, by, Failure::NoAnswer, end);
        self.air.contention.failed(by, retry);
        let has_frame = self.after_failure(by, retry, end);
        let times = (sent, end, self.air.others_wait_until(end));
        self.air.contention.back_off_after_failure(by, retry, times, has_frame);
        self.air.fall_silent();
    }

    /// Drops what `by` holds if it must not be retransmitted. Returns whether `by` has a frame now.
    #[inline(always)]
    pub(super) fn after_failure(&mut self, by: ContenderId, retry: Retry, now: Time) -> bool {
        if retry == Retry::Dropped {
            self.air.originators[by as usize].give_up(by, now, self.supply);
        }
        self.has_frame(by)
    }
}
