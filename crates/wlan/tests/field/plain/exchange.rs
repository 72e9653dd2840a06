//! The order of an exchange: what follows an access, a frame that was received, or a timeout.

use airtcp_kernel::{Duration, Time};

use super::Plain;
use super::station::{Culprit, Exchange, Frame, Kind};
use crate::contention::Retry;
use crate::events::{Began, MacEvent, Supply};
use crate::exchange::aggregate::Aggregate;
use crate::exchange::{Desk, Failure, set_arrivals};
use crate::frame::{Frames, Ppdu, Psdu};
use crate::sequence::dcf::FrameTimes;
use crate::sequence::txop::Txop;
use crate::station::{ContenderId, StationId};

impl<P: Clone> Plain<P> {
    fn desk<'a, S>(&'a mut self, supply: &'a mut S) -> Option<Desk<'a, P, Aggregate<P>, S>> {
        let Self { originators, frames, roles, errors, aggregate, .. } = self;
        let (mac, is_perfect) = (aggregate.as_deref_mut()?, errors.is_perfect());
        Some(Desk { mac, supply, originators, frames, roles, errors, is_perfect })
    }

    /// Starts the access of `id`.
    pub(super) fn access<S: Supply<P>>(&mut self, id: StationId, now: Time, supply: &mut S) {
        let taken = self.take_accesses(id, now);
        self.medium_busy(id, now);
        let (&by, others) = taken.split_first().expect("an access is somebody's");
        self.queues[by as usize].contender.begin();
        self.assemble(by, now, None, supply);
        for &other in others {
            self.assemble(other, now, None, supply);
            let retry = self.failed(other, Failure::InternalCollision, false, now, supply);
            let contender = &mut self.queues[other as usize].contender;
            contender.counters.internal_collisions += 1;
            contender.fail(retry);
            let has_frame = self.after_failure(other, retry, now, supply);
            self.back_off(other, has_frame, self.settings.post_backoff_after_drop);
        }
        let txop = Txop::new(now, self.originators[by as usize].txop_limit);
        self.begin_exchange(id, by, txop, now, supply);
    }

    /// Assembles what `by` sends, if anything fits into `left` of its TXOP.
    fn assemble<S: Supply<P>>(
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
        let originator = &mut self.originators[by as usize];
        let Some(left) = left else {
            originator.hold(by, now, &self.frames, supply);
            return true;
        };
        originator.takes_what_fits(by, now, left, (&mut self.frames, &self.roles), supply)
    }

    fn has_frame<S: Supply<P>>(&self, by: ContenderId, supply: &S) -> bool {
        let has_pending = self.aggregate.as_ref().is_some_and(|one| one.has_pending(by));
        self.originators[by as usize].psdu.is_some() || has_pending || supply.has_next(by)
    }

    /// Starts the exchange that `by` has assembled.
    fn begin_exchange<S: Supply<P>>(
        &mut self,
        id: StationId,
        by: ContenderId,
        txop: Txop,
        now: Time,
        supply: &mut S,
    ) {
        let (times, class, asked) = self.times(by);
        let began = if let Some(receiver) = asked {
            let aggregate = self.aggregate.as_ref().expect("only it asks");
            let window_start = aggregate.window_start(by, receiver);
            Began::Request { by, times: &times, receiver, window_start, collides: false }
        } else {
            let psdu = self.originators[by as usize].frames().expect("it has a frame");
            Began::Exchange { by, times: &times, ppdu: Ppdu::of_one(psdu, class) }
        };
        supply.on_event(now, MacEvent::Began(began));
        let (kind, awaits) = if times.rts > Duration::ZERO {
            (Kind::Rts, Kind::Cts)
        } else if times.cts > Duration::ZERO {
            (Kind::CtsToSelf, Kind::Answer)
        } else {
            (Kind::Data, Kind::Answer)
        };
        let exchange = Exchange { by, txop, awaits, is_protected: false };
        self.stations[id as usize].exchange = Some(exchange);
        let frame = self.frame_of(kind, by, now, supply);
        self.send(id, frame, now);
    }

    /// Returns the durations of what `by` has assembled, its rate class, and the station that it
    /// asks for a Block ACK, if it does.
    fn times(&mut self, by: ContenderId) -> (FrameTimes, u32, Option<StationId>) {
        if let Some(one) = &self.aggregate {
            let (&times, class, _, asked) = one.assembled(by);
            return (times, class, asked);
        }
        let originator = &self.originators[by as usize];
        let psdu = originator.frames().expect("it has a frame");
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
        let (times, class, asked) = self.times(by);
        let sifs = self.frames.phy().sifs;
        let originator = &self.originators[by as usize];
        let psdu = originator.frames();
        let receiver = asked.or(psdu.map(Frames::receiver)).expect("it has a receiver");
        let is_response = matches!(kind, Kind::Cts | Kind::Answer);
        let (length, rest) = match kind {
            Kind::Rts => (times.rts, sifs * 3 + times.cts + times.data + times.ack),
            Kind::Cts | Kind::CtsToSelf => (times.cts, sifs * 2 + times.data + times.ack),
            Kind::Data => (times.data, sifs + times.ack),
            Kind::Answer => (times.ack, Duration::ZERO),
        };
        let end = start + length;
        let mut frame = Frame {
            kind,
            to: if is_response { originator.station } else { receiver },
            by,
            start,
            end,
            announced: end + rest,
            need: self.needs[self.roles.rate_class(originator.station, receiver) as usize].1,
            header_end: start,
            first_end: end,
            last_start: start,
            culprit: Culprit::NOBODY,
            strength: 1.0,
            has_colour: false,
            has_data: false,
        };
        let Some(psdu) = psdu.filter(|_| kind == Kind::Data && asked.is_none()) else {
            return frame;
        };
        frame.need = self.needs[class as usize].0;
        frame.has_colour = self.powers.obss_pd.is_some() && self.frames.has_colour(class);
        frame.has_data = psdu.mpdus().iter().any(|mpdu| supply.carries_data(&mpdu.payload));
        if let Some(one) = &self.aggregate {
            let (_, _, preamble, _) = one.assembled(by);
            frame.header_end = start + preamble;
            if psdu.count() > 1 {
                let mut arrivals = Vec::new();
                set_arrivals(&mut arrivals, end, times.data - preamble, psdu);
                frame.first_end = arrivals[0];
                let before_last = arrivals.iter().rfind(|&&one| one < end);
                frame.last_start = *before_last.expect("there are several");
            }
        }
        frame
    }

    /// Schedules the next frame of an exchange a SIFS after `now`.
    fn sends_next<S: Supply<P>>(
        &mut self,
        id: StationId,
        (kind, by): (Kind, ContenderId),
        now: Time,
        supply: &S,
    ) {
        let frame = self.frame_of(kind, by, now + self.frames.phy().sifs, supply);
        self.stations[id as usize].next_frame = Some(frame);
    }

    /// Starts the scheduled frame of `id`.
    pub(super) fn next_frame_begins<S: Supply<P>>(
        &mut self,
        id: StationId,
        now: Time,
        supply: &mut S,
    ) {
        let station = &mut self.stations[id as usize];
        let frame = station.next_frame.take().expect("it was scheduled");
        match station.exchange {
            Some(Exchange { by, txop, .. }) if std::mem::take(&mut station.continues) => {
                self.begin_exchange(id, by, txop, now, supply);
            }
            _ => self.send(id, frame, now),
        }
    }

    /// Continues the exchange of `id`, whose `frame` has ended.
    pub(super) fn frame_sent<S: Supply<P>>(
        &mut self,
        id: StationId,
        frame: &Frame,
        now: Time,
        supply: &S,
    ) {
        let station = &mut self.stations[id as usize];
        match frame.kind {
            Kind::CtsToSelf => return self.sends_next(id, (Kind::Data, frame.by), now, supply),
            Kind::Rts | Kind::Data => {
                if let Some(exchange) = &mut station.exchange {
                    exchange.awaits =
                        if frame.kind == Kind::Rts { Kind::Cts } else { Kind::Answer };
                }
                station.timeout = now + self.settings.ack_timeout;
            }
            Kind::Cts | Kind::Answer => {}
        }
        self.culprits[frame.by as usize] = frame.culprit;
    }

    /// Processes `frame`, which its receiver has decoded at least partly.
    pub(super) fn frame_came<S: Supply<P>>(&mut self, frame: &Frame, now: Time, supply: &mut S) {
        let (id, by) = (frame.to, frame.by);
        let station = &mut self.stations[id as usize];
        let is_awaited = station.exchange.is_some_and(|exchange| {
            exchange.by == by && exchange.awaits == frame.kind && station.next_frame.is_none()
        });
        match frame.kind {
            Kind::CtsToSelf => {}
            Kind::Rts if station.nav > now => {
                let apart = Duration::from_nanos(u64::MAX);
                self.culprits[by as usize] = Culprit { station: station.nav_by, apart };
            }
            Kind::Rts => {
                self.gives_up_waiting(id, now, supply);
                self.sends_next(id, (Kind::Cts, by), now, supply);
            }
            Kind::Data => {
                if self.data_came(frame, now, supply) {
                    self.gives_up_waiting(id, now, supply);
                    self.sends_next(id, (Kind::Answer, by), now, supply);
                } else {
                    self.culprits[by as usize] = frame.culprit;
                }
            }
            Kind::Cts if is_awaited => {
                (station.timeout, station.waits_for_end) = (Time::NEVER, false);
                if let Some(exchange) = &mut station.exchange {
                    exchange.is_protected = true;
                }
                self.sends_next(id, (Kind::Data, by), now, supply);
            }
            Kind::Answer if is_awaited => self.answer_came(id, by, now, supply),
            Kind::Cts | Kind::Answer => {}
        }
    }

    /// Fails the exchange of `id`, which has to respond to a frame itself.
    fn gives_up_waiting<S: Supply<P>>(&mut self, id: StationId, now: Time, supply: &mut S) {
        let station = &self.stations[id as usize];
        if station.exchange.is_some() && station.next_frame.is_none() {
            self.answer_missing(id, now, supply);
        }
    }

    /// Delivers what was received of the data in `frame`. Returns whether anything was.
    fn data_came<S: Supply<P>>(&mut self, frame: &Frame, now: Time, supply: &mut S) -> bool {
        let by = frame.by;
        let bad = std::mem::take(&mut self.stations[frame.to as usize].bad);
        let Some(mut desk) = self.desk(supply) else {
            let originator = &mut self.originators[by as usize];
            let station = originator.station;
            let mpdu = Psdu::only_of(&mut originator.psdu);
            let far = self.roles.far(station, mpdu.receiver);
            if self.errors.loses(far, self.frames.msdu_bits(mpdu.bits)) {
                return false;
            }
            if !std::mem::replace(&mut mpdu.is_received, true) {
                supply.on_event(now, MacEvent::Received { by, mpdu, came: None });
            }
            return true;
        };
        let (&FrameTimes { data, .. }, _, preamble, asked) = desk.mac.assembled(by);
        if let Some(receiver) = asked {
            desk.receive_request(by, receiver, now);
            return true;
        }
        let psdu = desk.originators[by as usize].frames().expect("it was sent");
        let mut ends = Vec::new();
        set_arrivals(&mut ends, frame.end, data - preamble, psdu);
        // MPDUs of one A-MSDU end together.
        let start_of = |place: usize| {
            let before = ends[..place].iter().rfind(|&&one| one < ends[place]);
            before.copied().unwrap_or(frame.start + preamble)
        };
        let overlapped = |place: usize| {
            let is_in = |&(since, until)| since < ends[place] && until > start_of(place);
            bad.iter().any(is_in)
        };
        let (whole, errors) = desk.receive(by, now, 0..ends.len(), overlapped);
        let counters = &mut self.queues[by as usize].contender.counters;
        counters.mpdus += whole;
        counters.mpdu_errors += errors;
        whole > errors
    }

    /// Processes the response to `by`'s data, and continues its TXOP.
    fn answer_came<S: Supply<P>>(
        &mut self,
        id: StationId,
        by: ContenderId,
        now: Time,
        supply: &mut S,
    ) {
        let station = &mut self.stations[id as usize];
        (station.timeout, station.waits_for_end) = (Time::NEVER, false);
        let txop = station.exchange.expect("it was awaited").txop;
        if let Some(mut desk) = self.desk(supply) {
            desk.take_answer(by, now);
        } else {
            let originator = &mut self.originators[by as usize];
            supply.acknowledged(now, by, Psdu::only_of(&mut originator.psdu));
            originator.release();
        }
        let left = txop.left(now + self.frames.phy().sifs);
        if txop.is_open(now) && self.assemble(by, now, Some(left), supply) {
            let counters = &mut self.queues[by as usize].contender.counters;
            counters.successes += 1;
            counters.attempts += 1;
            self.sends_next(id, (Kind::Data, by), now, supply);
            self.stations[id as usize].continues = true;
            return;
        }
        let has_frame = self.has_frame(by, supply);
        self.stations[id as usize].exchange = None;
        let contender = &mut self.queues[by as usize].contender;
        contender.counters.successes += 1;
        contender.cw = contender.cw_min;
        self.back_off(by, has_frame, self.settings.post_backoff);
        self.restriction_ends(id);
    }

    /// Ends a timeout of `id`.
    pub(super) fn timeout<S: Supply<P>>(&mut self, id: StationId, now: Time, supply: &mut S) {
        let station = &mut self.stations[id as usize];
        if station.nav_reset == now {
            (station.nav_reset, station.nav) = (Time::NEVER, now);
            station.idle_from = station.idle_from.max(now);
            return;
        }
        station.timeout = Time::NEVER;
        let detected = station.lock.map(|lock| lock.since);
        if detected.is_some_and(|since| since + self.phy_header <= now + self.powers.detect) {
            // The frame being received may be the response.
            station.waits_for_end = true;
        } else {
            station.idle_from = station.idle_from.max(now);
            self.answer_missing(id, now, supply);
        }
    }

    /// Fails the exchange of `id`.
    pub(super) fn answer_missing<S: Supply<P>>(
        &mut self,
        id: StationId,
        now: Time,
        supply: &mut S,
    ) {
        let station = &mut self.stations[id as usize];
        (station.timeout, station.waits_for_end) = (Time::NEVER, false);
        let Some(Exchange { by, awaits, is_protected, .. }) = station.exchange.take() else {
            return;
        };
        let culprit = self.culprits[by as usize];
        let (times, ..) = self.times(by);
        if let Some(psdu) = self.originators[by as usize].frames() {
            let answer = (now.saturating_sub(times.ack), now);
            supply.on_event(now, MacEvent::Lost { by, psdu, answer });
        }
        let failure = if awaits == Kind::Cts { Failure::Collision } else { Failure::NoAnswer };
        let retry = self.failed(by, failure, is_protected, now, supply);
        self.count_failure(id, by, culprit);
        self.queues[by as usize].contender.fail(retry);
        let has_frame = self.after_failure(by, retry, now, supply);
        self.back_off(by, has_frame, self.settings.post_backoff_after_drop);
        self.restriction_ends(id);
    }

    /// Counts a failure of what `by` has assembled. Returns whether it may be retransmitted.
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
        let (short, long) = self.retry_limits;
        let originator = &mut self.originators[by as usize];
        if is_protected { originator.retry_after_rts(long) } else { originator.retry(short) }
    }

    /// Drops what must not be retransmitted. Returns whether `by` has a frame now.
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
