//! The exchanges of a field: what follows an access, a response, or a missing response.
//! [`exchange`](crate::exchange) decides for both media what is sent, how long it lasts, and what
//! is retransmitted.

use airtcp_kernel::{Duration, Time};

use super::clock::{Key, Rank};
use super::listener::ListenerId;
use super::node::{Exchange, Frame, Kind, NONE, Sends};
use super::{Field, Mac};
use crate::contention::Retry;
use crate::events::{Began, MacEvent, Supply};
use crate::exchange::aggregate::Aggregate;
use crate::exchange::{Desk, Failure, set_arrivals};
use crate::frame::{Frames, Ppdu, Psdu};
use crate::sequence::dcf::FrameTimes;
use crate::sequence::txop::Txop;
use crate::station::{ContenderId, StationId};

impl<P: Clone> Field<P> {
    /// Borrows the transmit state for the exchange logic of aggregates, if that is in use.
    pub(super) fn desk<'a, S>(
        &'a mut self,
        supply: &'a mut S,
    ) -> Option<Desk<'a, P, Aggregate<P>, S>> {
        let Self { originators, frames, roles, errors, is_perfect, mac, .. } = self;
        let Mac::Aggregate(mac) = mac else { return None };
        Some(Desk { mac, supply, originators, frames, roles, errors, is_perfect: *is_perfect })
    }

    /// Starts the access of `station`.
    pub(super) fn access<S: Supply<P>>(&mut self, station: StationId, now: Time, supply: &mut S) {
        let together = self.air.nodes[station as usize].listener;
        if self.air.listeners[together as usize].is_busy {
            // The medium became busy before the first slot began.
            return self.air.forget_access(together);
        }
        self.listen_apart(station, now);
        if together != station && self.air.listeners[together as usize].waiting.winner == NONE {
            self.air.find_access(together);
        }
        self.check_access(station, now);
        self.air.take_accesses(station, now);
        self.air.medium_busy(station, now);
        let by = *self.air.together.first().expect("an access is somebody's");
        self.air.queues[by as usize].begin();
        self.assemble(by, now, None, supply);
        if self.air.together.len() > 1 {
            self.others_collide(now, supply);
        }
        let txop = Txop::new(now, self.originators[by as usize].txop_limit);
        self.begin_exchange(station, by, txop, now, supply);
    }

    /// Starts the backoff of queues that collide internally with a higher-priority queue of their
    /// station.
    #[cold]
    fn others_collide<S: Supply<P>>(&mut self, now: Time, supply: &mut S) {
        let together = std::mem::take(&mut self.air.together);
        for &other in &together[1..] {
            self.assemble(other, now, None, supply);
            let retry = self.failed(other, Failure::InternalCollision, false, now, supply);
            let contender = &mut self.air.queues[other as usize];
            contender.counters.internal_collisions += 1;
            contender.fail(retry);
            let has_frame = self.after_failure(other, retry, now, supply);
            self.air.back_off(other, has_frame, self.air.settings.post_backoff_after_drop);
        }
        self.air.together = together;
    }

    /// Decides what `by` sends, which has won access to the medium, as
    /// [`crate::exchange::Exchange::assemble`].
    pub(super) fn assemble<S: Supply<P>>(
        &mut self,
        by: ContenderId,
        now: Time,
        left: Option<Duration>,
        supply: &mut S,
    ) -> bool {
        if left.is_some_and(|left| left == Duration::ZERO || !self.has_frame(by, supply)) {
            return false;
        }
        if let Some(mut desk) = self.desk(supply) {
            return desk.assemble_at(by, now, left);
        }
        let Self { originators, frames, roles, .. } = self;
        let originator = &mut originators[by as usize];
        if let Some(left) = left {
            return originator.takes_what_fits(by, now, left, (frames, roles), supply);
        }
        originator.hold(by, now, frames, supply);
        true
    }

    /// True if `by` has anything to send.
    fn has_frame<S: Supply<P>>(&self, by: ContenderId, supply: &S) -> bool {
        let has_pending = match &self.mac {
            Mac::Single => false,
            Mac::Aggregate(one) => one.has_pending(by),
        };
        self.originators[by as usize].psdu.is_some() || has_pending || supply.has_next(by)
    }

    /// Starts at `start` the exchange that `by` has assembled.
    fn begin_exchange<S: Supply<P>>(
        &mut self,
        station: StationId,
        by: ContenderId,
        txop: Txop,
        start: Time,
        supply: &mut S,
    ) {
        let (kind, mut frame) = self.tell_begin(by, start, supply);
        let awaits = if kind == Kind::Rts { Kind::Cts } else { Kind::Answer };
        let node = &mut self.air.nodes[station as usize];
        node.exchange = Some(Exchange { by, txop, awaits, is_protected: false });
        node.frame = frame;
        self.send(station, &mut frame, start);
    }

    /// Reports the start of the exchange that `by` has assembled. Returns its first frame, and the
    /// frame's kind.
    #[inline(always)]
    pub(super) fn tell_begin<S: Supply<P>>(
        &mut self,
        by: ContenderId,
        start: Time,
        supply: &mut S,
    ) -> (Kind, Frame) {
        let (times, class, asked) = self.times(by);
        let frames = self.originators[by as usize].frames();
        let began = match (asked, frames) {
            (Some(receiver), _) => {
                let Mac::Aggregate(one) = &self.mac else { unreachable!("only it asks") };
                let window_start = one.window_start(by, receiver);
                Began::Request { by, times: &times, receiver, window_start, collides: false }
            }
            (None, Some(psdu)) => {
                Began::Exchange { by, times: &times, ppdu: Ppdu::of_one(psdu, class) }
            }
            (None, None) => unreachable!("who begins has a frame"),
        };
        supply.on_event(start, MacEvent::Began(began));
        let kind = if times.rts > Duration::ZERO {
            Kind::Rts
        } else if times.cts > Duration::ZERO {
            Kind::CtsToSelf
        } else {
            Kind::Data
        };
        (kind, self.frame_with((times, class, asked), kind, by, start, supply))
    }

    /// Returns the durations of what `by` has assembled, and its rate class. The last value is the
    /// station that it asks for a Block ACK, if it sends a request and no data.
    #[inline(always)]
    fn times(&mut self, by: ContenderId) -> (FrameTimes, u32, Option<StationId>) {
        if let Mac::Aggregate(one) = &self.mac {
            let (&times, class, _, asked) = one.assembled(by);
            return (times, class, asked);
        }
        let originator = &self.originators[by as usize];
        let psdu = originator.frames().expect("who sends has a frame");
        let class = self.roles.rate_class(originator.station, psdu.receiver());
        (*self.frames.times(class, psdu.bits()), class, None)
    }

    /// Creates a frame of the exchange of `by` that begins at `start`.
    fn frame_of<S: Supply<P>>(
        &mut self,
        kind: Kind,
        by: ContenderId,
        start: Time,
        supply: &S,
    ) -> Frame {
        let assembled = self.times(by);
        self.frame_with(assembled, kind, by, start, supply)
    }

    /// Handles [`Self::frame_of`] with the durations already known.
    #[inline(always)]
    fn frame_with<S: Supply<P>>(
        &mut self,
        (times, class, asked): (FrameTimes, u32, Option<StationId>),
        kind: Kind,
        by: ContenderId,
        start: Time,
        supply: &S,
    ) -> Frame {
        let sifs = self.frames.phy().sifs;
        let originator = &self.originators[by as usize];
        let psdu = originator.frames();
        let receiver = asked.or_else(|| psdu.map(Frames::receiver)).expect("it is for somebody");
        let control =
            self.hearing.needs[self.roles.rate_class(originator.station, receiver) as usize].1;
        let to = if kind == Kind::Cts { originator.station } else { receiver };
        let after_data = sifs + times.ack;
        let (length, rest) = match kind {
            Kind::Rts => (times.rts, sifs * 2 + times.cts + times.data + after_data),
            Kind::Cts | Kind::CtsToSelf => (times.cts, sifs + times.data + after_data),
            Kind::Data => (times.data, after_data),
            Kind::Answer => unreachable!("an answer is made from what it answers"),
        };
        let end = start + length;
        let mut frame = Frame::whole((kind, to, by), (start, end), control);
        frame.announced += rest;
        if kind == Kind::Data && asked.is_none() {
            frame.need = self.hearing.needs[class as usize].0;
            frame.has_colour = self.hearing.obss_pd.is_some() && self.frames.has_colour(class);
            if let (Mac::Aggregate(one), Some(psdu)) = (&self.mac, psdu) {
                let (_, _, preamble, _) = one.assembled(by);
                frame.header_end = start + preamble;
                self.arrivals.clear();
                if psdu.count() > 1 {
                    set_arrivals(&mut self.arrivals, end, times.data - preamble, psdu);
                    frame.first_end = self.arrivals[0];
                    // The last MPDU begins when the one before it ends.
                    let last = self.arrivals.iter().rfind(|&&one| one < end);
                    frame.last_start = *last.expect("there are several");
                }
                if let Some(arriving) = self.arriving.get_mut(originator.station as usize) {
                    frame.next_end = arriving.begin(&self.arrivals).unwrap_or(end);
                }
            }
            let mut mpdus = psdu.into_iter().flat_map(|psdu| psdu.mpdus());
            frame.has_data = mpdus.any(|mpdu| supply.carries_data(&mpdu.payload));
        }
        frame
    }

    /// Continues the exchange of `station`, which has sent `frame`.
    #[inline(always)]
    pub(super) fn frame_sent<S: Supply<P>>(
        &mut self,
        station: StationId,
        frame: &Frame,
        now: Time,
        supply: &S,
    ) {
        match frame.kind {
            Kind::Rts | Kind::Data => {
                let node = &mut self.air.nodes[station as usize];
                if let Some(exchange) = &mut node.exchange {
                    exchange.awaits =
                        if frame.kind == Kind::Rts { Kind::Cts } else { Kind::Answer };
                }
                node.timeout = now + self.air.settings.ack_timeout;
                self.last_culprits[frame.by as usize] = frame.culprit;
                self.air.set_clock(station);
            }
            Kind::CtsToSelf => self.sends_next(station, (Kind::Data, frame.by), now, supply),
            Kind::Cts | Kind::Answer => {
                self.last_culprits[frame.by as usize] = frame.culprit;
                self.air.set_clock(station);
            }
        }
    }

    /// Schedules the next frame of `station`'s exchange a SIFS after `now`.
    pub(super) fn sends_next<S: Supply<P>>(
        &mut self,
        station: StationId,
        (kind, by): (Kind, ContenderId),
        now: Time,
        supply: &S,
    ) {
        let frame = self.frame_of(kind, by, now + self.frames.phy().sifs, supply);
        self.sends_soon(station, &frame);
    }

    /// Schedules `frame` of `station`.
    #[inline(always)]
    pub(super) fn sends_soon(&mut self, station: StationId, frame: &Frame) {
        let node = &mut self.air.nodes[station as usize];
        (node.frame, node.sends) = (*frame, Sends::Soon);
        node.acts = Key::new(frame.start, Rank::Start);
        let listener = &mut self.air.listeners[station as usize];
        (listener.waiting.access, listener.waiting.winner) = (Time::NEVER, NONE);
        self.air.set_clock(station);
    }

    /// Starts the scheduled frame of `station` at `now`.
    pub(super) fn next_frame_begins<S: Supply<P>>(
        &mut self,
        station: StationId,
        now: Time,
        supply: &mut S,
    ) {
        let node = &mut self.air.nodes[station as usize];
        debug_assert_eq!(node.sends, Sends::Soon, "it was to be sent");
        node.sends = Sends::Nothing;
        if std::mem::take(&mut node.continues)
            && let Some(Exchange { by, txop, .. }) = node.exchange
        {
            self.begin_exchange(station, by, txop, now, supply);
        } else {
            let mut frame = node.frame;
            self.send(station, &mut frame, now);
        }
    }

    /// Processes the acknowledgment for the queue `by`. Returns whether it has more to send.
    #[inline(always)]
    pub(super) fn take_answer<S: Supply<P>>(
        &mut self,
        by: ContenderId,
        now: Time,
        supply: &mut S,
    ) -> bool {
        if let Some(mut desk) = self.desk(supply) {
            desk.take_answer(by, now);
            return desk.supply.has_next(by) || desk.mac.has_pending(by);
        }
        let originator = &mut self.originators[by as usize];
        let has_next = supply.acknowledged(now, by, Psdu::only_of(&mut originator.psdu));
        originator.release();
        has_next
    }

    /// Processes the response to `by`'s transmission at `station`, and continues its TXOP.
    pub(super) fn answer_came<S: Supply<P>>(
        &mut self,
        station: StationId,
        by: ContenderId,
        now: Time,
        supply: &mut S,
    ) {
        let node = &mut self.air.nodes[station as usize];
        (node.timeout, node.waits_for_end) = (Time::NEVER, false);
        let txop = node.exchange.expect("it was awaited").txop;
        let mut has_next = self.take_answer(by, now, supply);
        if txop.is_open(now) {
            let start = now + self.frames.phy().sifs;
            if self.assemble(by, now, Some(txop.left(start)), supply) {
                let counters = &mut self.air.queues[by as usize].counters;
                counters.successes += 1;
                counters.attempts += 1;
                self.sends_next(station, (Kind::Data, by), now, supply);
                self.air.nodes[station as usize].continues = true;
                return;
            }
            has_next = self.has_frame(by, supply);
        }
        self.air.nodes[station as usize].exchange = None;
        self.air.succeeds(by);
        self.air.back_off(by, has_next, self.air.settings.post_backoff);
        self.air.restriction_ends(station);
        self.air.find_access(station);
        self.air.set_clock(station);
    }

    /// Ends a timeout at `place`: of a station without a response, or of the NAV of an RTS that no
    /// frame followed.
    pub(super) fn wait_ends<S: Supply<P>>(&mut self, place: ListenerId, now: Time, supply: &mut S) {
        self.air.settle_notice(place, now);
        let header = self.air.phy_header;
        let listener = &mut self.air.listeners[place as usize];
        if listener.nav_reset == now {
            // 10.3.2.4: nothing has followed the RTS.
            listener.nav_reset = Time::NEVER;
            listener.waiting.nav = now;
            listener.waiting.idle_from = listener.waiting.idle_from.max(now);
            self.air.find_access(place);
            self.air.set_clock(place);
            return;
        }
        let node = &mut self.air.nodes[place as usize];
        node.timeout = Time::NEVER;
        let is_receiving =
            listener.lock.is_some_and(|lock| lock.since + header <= now + self.hearing.detect);
        if is_receiving {
            // 10.3.2.11: the frame being received may be the response.
            node.waits_for_end = true;
            self.air.set_clock(place);
        } else {
            let waiting = &mut listener.waiting;
            waiting.idle_from = waiting.idle_from.max(now);
            self.answer_missing(place, now, supply);
        }
    }

    /// Fails an exchange of `station` to which no response has come.
    pub(super) fn answer_missing<S: Supply<P>>(
        &mut self,
        station: StationId,
        now: Time,
        supply: &mut S,
    ) {
        let node = &mut self.air.nodes[station as usize];
        (node.timeout, node.waits_for_end) = (Time::NEVER, false);
        let Some(exchange) = node.exchange.take() else {
            self.air.set_clock(station);
            return;
        };
        let Exchange { by, awaits, is_protected, .. } = exchange;
        let failure = if awaits == Kind::Cts { Failure::Collision } else { Failure::NoAnswer };
        let has_frame = self.exchange_fails((station, by, failure, is_protected), now, supply);
        self.air.back_off(by, has_frame, self.air.settings.post_backoff_after_drop);
        self.air.restriction_ends(station);
        self.air.find_access(station);
        self.air.set_clock(station);
    }

    /// Counts the failure of an exchange of `by` at `station` without a response. Returns whether
    /// `by` has a frame now.
    pub(super) fn exchange_fails<S: Supply<P>>(
        &mut self,
        (station, by, failure, is_protected): (StationId, ContenderId, Failure, bool),
        now: Time,
        supply: &mut S,
    ) -> bool {
        let culprit = self.last_culprits[by as usize];
        let (times, ..) = self.times(by);
        if let Some(psdu) = self.originators[by as usize].frames() {
            let from = now.saturating_sub(times.ack);
            supply.on_event(now, MacEvent::Lost { by, psdu, answer: (from, now) });
        }
        let retry = self.failed(by, failure, is_protected, now, supply);
        self.count_failure(station, by, culprit);
        self.air.queues[by as usize].fail(retry);
        self.after_failure(by, retry, now, supply)
    }

    /// Counts a failure of what `by` has assembled. With [`Failure::NoAnswer`] its data were on the
    /// air. Returns whether it may be retransmitted.
    fn failed<S: Supply<P>>(
        &mut self,
        by: ContenderId,
        failure: Failure,
        is_protected: bool,
        now: Time,
        supply: &mut S,
    ) -> Retry {
        if let Some(mut desk) = self.desk(supply) {
            return desk.ppdu_failed(by, failure == Failure::NoAnswer, now);
        }
        let originator = &mut self.originators[by as usize];
        if is_protected {
            originator.retry_after_rts(self.long_retry_limit)
        } else {
            originator.retry(self.retry_limit)
        }
    }

    /// Drops what `by` holds if it must not be retransmitted. Returns whether `by` has a frame now.
    fn after_failure<S: Supply<P>>(
        &mut self,
        by: ContenderId,
        retry: Retry,
        now: Time,
        supply: &mut S,
    ) -> bool {
        if retry == Retry::Dropped {
            self.originators[by as usize].give_up(by, now, supply);
        }
        self.has_frame(by, supply)
    }
}
