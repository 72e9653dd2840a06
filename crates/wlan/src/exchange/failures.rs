//! Frames that fail: collisions on the air, and internal collisions of the queues of one station.

use airtcp_kernel::{Duration, Time};

use super::{Air, Exchange, Failure, OnAir};
use crate::contention::Retry;
use crate::events::{Began, MacEvent, Supply};
use crate::frame::Ppdu;
use crate::medium::Transmission;
use crate::sequence::txop::Txop;
use crate::station::ContenderId;

impl<P: Clone> Air<P> {
    /// Puts the transmissions of several stations on the air at `start`.
    #[cold]
    pub(super) fn collision_begins<E: Exchange<P>, S: Supply<P>>(
        &mut self,
        exchange: &mut E,
        start: Time,
        supply: &mut S,
    ) {
        self.medium.clear();
        let mut beacon = None;
        for place in 0..self.contention.colliders().len() {
            let by = self.contention.colliders()[place];
            let sent = if self.beacons.is_due(by) {
                beacon = Some(by);
                start + self.beacons.airtime()
            } else {
                start + exchange.first_frame(self, by, start, supply)
            };
            self.medium.begin(by, start, sent);
        }
        let sent = self.medium.last_end();
        let end = sent + self.frames.phy().propagation_delay;
        self.counters.collisions += 1;
        self.counters.simultaneous_sends += u64::from(self.is_simultaneous_send(exchange));
        if supply.watches_colliders() {
            for place in 0..self.contention.colliders().len() {
                let by = self.contention.colliders()[place];
                if beacon != Some(by) {
                    self.tell_of_collider(exchange, by, start, supply);
                }
            }
        }
        supply.on_event(start, MacEvent::Began(Began::Collision { sent, end }));
        if let Some(by) = beacon {
            self.beacon_collides(by, start, end, supply);
        }
        self.set_on_air(OnAir::Sending { end }, end);
    }

    /// Reports the first frame of `by`, which collides.
    #[inline(never)]
    fn tell_of_collider<E: Exchange<P>, S: Supply<P>>(
        &mut self,
        exchange: &E,
        by: ContenderId,
        start: Time,
        supply: &mut S,
    ) {
        let times = *exchange.times(self, by);
        let triggered = exchange.triggered(self, by);
        if !triggered.is_empty() {
            let (times, users) = (&times, &triggered[..]);
            let began = Began::Triggered { by, start, times, users, collides: true };
            supply.on_event(start, MacEvent::Began(began));
            return;
        }
        let users = exchange.users(by);
        if !users.is_empty() {
            let began = Began::Collider { by, times: &times, ppdu: Ppdu::of_users(&users) };
            supply.on_event(start, MacEvent::Began(began));
            return;
        }
        if let Some((receiver, window_start)) = exchange.request(by) {
            let began =
                Began::Request { by, times: &times, receiver, window_start, collides: true };
            supply.on_event(start, MacEvent::Began(began));
        } else if let Some(psdu) = self.originators[by as usize].frames() {
            let class = exchange.class(self, by, psdu.receiver());
            let ppdu = Ppdu::of_one(psdu, class);
            let began = Began::Collider { by, times: &times, ppdu };
            supply.on_event(start, MacEvent::Began(began));
        }
    }

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

    /// Processes a collision whose frames have all ended at `end`.
    #[cold]
    pub(super) fn collision_ended<E: Exchange<P>, S: Supply<P>>(
        &mut self,
        exchange: &mut E,
        end: Time,
        supply: &mut S,
    ) {
        if self.trigger_begins(exchange, end, supply) {
            return;
        }
        let Some((by, times)) = exchange.outlasts(self, end, supply) else {
            return self.collision_settled(exchange, None, end, supply);
        };
        let start = end + self.frames.phy().sifs;
        self.txop = Txop::new(start, Duration::ZERO);
        let began = Began::Triggered { by, start, times: &times, users: &[], collides: false };
        supply.on_event(start, MacEvent::Began(began));
        self.set_on_air(OnAir::Triggered { by }, start + times.total);
    }

    /// Starts the trigger frame that follows the collided PPDU that ends last, if there is one and
    /// no other PPDU or its trigger frame lasts so long that it overlaps. Returns whether it starts.
    ///
    /// Trigger frames that overlap count as part of the collision, which they outlast.
    fn trigger_begins<E: Exchange<P>, S: Supply<P>>(
        &mut self,
        exchange: &E,
        end: Time,
        supply: &mut S,
    ) -> bool {
        let all = self.medium.transmissions().iter();
        let triggers = || all.clone().filter_map(|one| Some((one, exchange.trigger(one.by)?)));
        let Some((&Transmission { by, end: sent, .. }, (times, receiver))) =
            triggers().max_by_key(|(one, _)| one.end)
        else {
            return false;
        };
        let others = triggers().filter(|(one, _)| one.by != by);
        if others.into_iter().any(|(one, (times, _))| one.end + times.data > sent) {
            return false;
        }
        let phy = self.frames.phy();
        let start = sent + phy.propagation_delay + phy.sifs;
        if start < end {
            return false;
        }
        // The last TXOP was that of an earlier access.
        self.txop = Txop::new(start, Duration::ZERO);
        let (times, window_start) = (&times, 0);
        let began = Began::Request { by, times, receiver, window_start, collides: false };
        supply.on_event(start, MacEvent::Began(began));
        self.set_on_air(OnAir::Triggered { by }, start + times.total);
        true
    }

    /// Processes a collision that ends at `end`. `triggered` has received the responses to its
    /// trigger frame or its PPDU, which ends its exchange as any other.
    #[cold]
    pub(super) fn collision_settled<E: Exchange<P>, S: Supply<P>>(
        &mut self,
        exchange: &mut E,
        triggered: Option<ContenderId>,
        end: Time,
        supply: &mut S,
    ) {
        for place in 0..self.medium.transmissions().len() {
            let by = self.medium.transmissions()[place].by;
            if triggered == Some(by) {
                continue;
            }
            let own = self.medium.collided(place);
            let retry = if self.beacon_collided(by) {
                Retry::Broadcast
            } else {
                exchange.failed(self, by, Failure::Collision, end, supply)
            };
            self.contention.collided(by, retry);
            let has_frame = self.after_failure(exchange, by, retry, end, supply);
            self.contention.back_off_after_collision(by, retry, own, end, has_frame);
        }
        if let Some(by) = triggered {
            return exchange.answered(self, by, end, supply);
        }
        self.contention.end_collision(end);
        self.fall_silent();
    }

    /// Processes queues that lost an internal collision to a higher-priority queue of their station
    /// (IEEE Std 802.11-2020, 10.23.2.4).
    #[cold]
    pub(super) fn settle_internal_collisions<E: Exchange<P>, S: Supply<P>>(
        &mut self,
        exchange: &mut E,
        now: Time,
        supply: &mut S,
    ) {
        for place in 0..self.contention.internal_collisions().len() {
            let by = self.contention.internal_collisions()[place];
            exchange.assemble(self, by, now, None, supply);
            let retry = exchange.failed(self, by, Failure::InternalCollision, now, supply);
            self.contention.collided_internally(by, retry);
            let has_frame = self.after_failure(exchange, by, retry, now, supply);
            self.contention.back_off_after_internal_collision(by, has_frame);
        }
    }

    /// Reports that `by`'s transmission was not received; the exchange would have ended at `end`.
    pub(super) fn tell_of_loss<E: Exchange<P>, S: Supply<P>>(
        &mut self,
        exchange: &E,
        by: ContenderId,
        end: Time,
        supply: &mut S,
    ) {
        let ack = exchange.times(self, by).ack;
        let to = end.as_nanos() - self.frames.phy().propagation_delay.as_nanos();
        let answer = (Time::from_nanos(to - ack.as_nanos()), Time::from_nanos(to));
        let psdu = self.originators[by as usize].frames().expect("it was sent");
        supply.on_event(end, MacEvent::Lost { by, psdu, answer });
    }

    /// Fails the exchange of `by`, to which no response has come by `end` because none of it was
    /// received (IEEE Std 802.11-2020, 10.3.2.11). Other stations, which heard it, have waited for
    /// the response.
    #[cold]
    pub(super) fn exchange_failed<E: Exchange<P>, S: Supply<P>>(
        &mut self,
        exchange: &mut E,
        by: ContenderId,
        end: Time,
        supply: &mut S,
    ) {
        let times = *exchange.times(self, by);
        // The sender's timeout ends a little earlier.
        let after = times.total - times.data_received + self.frames.phy().propagation_delay;
        let sent = Time::from_nanos(end.as_nanos() - after.as_nanos());
        let retry = exchange.failed(self, by, Failure::NoAnswer, end, supply);
        self.contention.failed(by, retry);
        let has_frame = self.after_failure(exchange, by, retry, end, supply);
        let times = (sent, end, self.others_wait_until(end));
        self.contention.back_off_after_failure(by, retry, times, has_frame);
        self.fall_silent();
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

    /// Drops what `by` holds if it must not be retransmitted. Returns whether `by` has a frame now.
    pub(super) fn after_failure<E: Exchange<P>, S: Supply<P>>(
        &mut self,
        exchange: &E,
        by: ContenderId,
        retry: Retry,
        now: Time,
        supply: &mut S,
    ) -> bool {
        if retry == Retry::Dropped {
            self.originators[by as usize].give_up(by, now, supply);
        }
        self.has_frame(exchange, by, supply)
    }
}
