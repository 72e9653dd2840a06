//! The responses of stations to a trigger: reports, data, Block ACK requests, and the Multi-STA Block
//! ACK that follows them.

use airtcp_kernel::{Duration, Time};

use super::super::super::assembly::{Limits, breaks_window};
use super::super::super::{Aggregate, Sends};
use super::{
    ALL_RECEIVED_BITS, LESS_THAN_ALONE_BITS, MOST_REPORTED_BITS, MULTI_STATION_BITS, Response,
    Unit, reported,
};
use crate::config::Delivery;
use crate::contention::Retry;
use crate::events::{Began, MacEvent, Supply, TriggeredFrames, TriggeredPsdu};
use crate::exchange::{Air, Exchange, OnAir, Play};
use crate::frame::Psdu;
use crate::station::{ACCESS_POINT, ContenderId, EVERYBODY};

impl<P: Clone> Aggregate<P> {
    /// Computes when the frames of the response arrive that begins at `now`. Returns when the first
    /// of them does.
    fn set_response_arrivals(&mut self, air: &Air<P>, by: ContenderId, now: Time) -> Time {
        let by_mpdus = self.delivery == Delivery::Mpdu;
        let Self { ofdma, exchanges, .. } = self;
        let uplink = ofdma.as_mut().and_then(|one| one.uplink.as_mut());
        let uplink = uplink.expect("it sends triggers");
        let delay = air.frames.phy().propagation_delay;
        let received = now + uplink.response + delay;
        debug_assert_eq!(uplink.by, by);
        uplink.arrivals.0.clear();
        for (place, unit) in uplink.units.iter().enumerate() {
            let psdu = air.originators[unit.by as usize].frames();
            let Some(psdu) = psdu.filter(|_| unit.sends != Response::Nothing) else { continue };
            let by_mpdus = by_mpdus.then(|| {
                let airtime = unit.ppdus.time(exchanges[unit.class as usize].bits_of(psdu));
                (now + airtime + delay, airtime - unit.ppdus.around())
            });
            uplink.arrivals.add(place, psdu, received, by_mpdus);
        }
        // The end of the response, after all frames.
        uplink.arrivals.0.push((received, usize::MAX, 0));
        uplink.arrivals.begin()
    }

    /// Returns the parts of stations in a trigger-based PPDU.
    pub(in super::super::super) fn triggered_by<'a>(
        &'a self,
        air: &'a Air<P>,
        units: &'a [Unit],
    ) -> Vec<TriggeredPsdu<'a, P>> {
        let uplink = self.ofdma.as_ref().and_then(|one| one.uplink.as_ref());
        let reports = &uplink.expect("it sends triggers").reports;
        let part = |&Unit { station, by, class, unit, sends, .. }: &Unit| {
            let sends = match sends {
                Response::Data { received, lost, .. } => {
                    let frames = air.originators[by as usize].frames().expect("it has data");
                    TriggeredFrames::Data { frames, received, lost }
                }
                Response::Request => TriggeredFrames::Request(self.window_start(by, ACCESS_POINT)),
                Response::Nothing => {
                    TriggeredFrames::Report(reports[station as usize].map_or(0, |(_, bits)| bits))
                }
            };
            TriggeredPsdu { by, class, unit, sends }
        };
        units.iter().map(part).collect()
    }
}

impl<P: Clone, S: Supply<P>> Play<'_, P, Aggregate<P>, S> {
    /// Begins the response to the trigger of `by`, or receives its next part.
    pub(in crate::exchange) fn trigger_responses(&mut self, by: ContenderId, now: Time, end: Time) {
        let asks = self.mac.queues[by as usize].times.rts == Duration::ZERO;
        let uplink = self.mac.uplink();
        if uplink.responding.is_some() {
            return self.responses_arrive(by, now, end);
        }
        uplink.responding = Some(now);
        if asks {
            for place in 0..self.mac.uplink().units.len() {
                self.reports(place, end);
            }
            let times = self.mac.queues[by as usize].times;
            let before = times.data_received + self.air.frames.phy().sifs;
            self.tell_responses(by, (now, before));
            self.air.set_on_air(OnAir::Acknowledging { by, from: EVERYBODY, ack_start: now }, end);
            return;
        }
        for place in 0..self.mac.uplink().units.len() {
            let sends = self.respond(place, now);
            self.mac.uplink().units[place].sends = sends;
            if sends == Response::Nothing {
                self.reports(place, end);
            }
        }
        let next = self.mac.set_response_arrivals(self.air, by, now);
        self.air.set_on_air(OnAir::Sending { end }, next);
    }

    /// Stores the report of a unit's station, which is received at `end`.
    fn reports(&mut self, place: usize, end: Time) {
        let Unit { station, by, .. } = self.mac.uplink().units[place];
        let window = &self.mac.peers[by as usize].of(ACCESS_POINT).window;
        let held: u64 = window.iter().map(|mpdu| mpdu.bits).sum();
        let bits = held
            + self.supply.queued_bits(by, self.air.frames.mpdu_bits(0), MOST_REPORTED_BITS + 1);
        self.mac.uplink().reports[station as usize] = Some((end, reported(bits)));
    }

    /// Assembles the response of a unit's station to a trigger for data at `now`.
    fn respond(&mut self, place: usize, now: Time) -> Response {
        let response = self.mac.uplink().response;
        let Unit { by, class, ppdus, .. } = self.mac.uplink().units[place];
        let exchange = &self.mac.exchanges[class as usize];
        let peers = &mut self.mac.peers[by as usize];
        let queue = &mut self.mac.queues[by as usize];
        let window = &mut peers.of_mut(ACCESS_POINT).window;
        queue.choice = None;
        if window.on(0).request_due {
            queue.sends = Sends::Request(ACCESS_POINT);
            return Response::Request;
        }
        let room = exchange.unit_room(&ppdus, response);
        let frames = &self.air.frames;
        let limits = Limits { frames, exchange, room, left: None, is_sample: false, in_unit: true };
        let mut mpdus = Vec::new();
        let originator = &mut self.air.originators[by as usize];
        originator.fill(by, now, window, &limits, &mut mpdus, self.supply);
        self.mac.broken_law =
            self.mac.broken_law.take().or(breaks_window(window, &mpdus, exchange));
        peers.update_pending(ACCESS_POINT);
        if mpdus.is_empty() {
            return Response::Nothing;
        }
        queue.sends = Sends::Data;
        self.air.originators[by as usize].psdu = Some(Psdu::of(mpdus));
        Response::Data { arrived: 0, received: 0, lost: 0 }
    }

    /// Receives the next frame, or all frames, of a unit of the response; or ends the response.
    fn responses_arrive(&mut self, by: ContenderId, now: Time, end: Time) {
        let uplink = self.mac.uplink();
        let ((place, packets), next) = uplink.arrivals.take();
        if packets == 0 {
            return self.response_ends(by, now);
        }
        let next = next.expect("the response ends");
        let Unit { by: sender, sends, .. } = uplink.units[place];
        let Response::Data { arrived, received, lost } = sends else { unreachable!("it has data") };
        let places = arrived..arrived + packets;
        let (frames, errors) = self.desk().receive(sender, now, places.clone(), |_| false);
        self.air.contention.count_mpdus(sender, frames, errors);
        self.mac.uplink().units[place].sends = Response::Data {
            arrived: places.end,
            received: received + frames - errors,
            lost: lost + errors,
        };
        self.air.set_on_air(OnAir::Sending { end }, next);
    }

    /// Ends the response to a trigger for data: a Multi-STA Block ACK follows if there is anything
    /// to acknowledge.
    fn response_ends(&mut self, by: ContenderId, now: Time) {
        let units = std::mem::take(&mut self.mac.uplink().units);
        // One frame for all of them, which have the same rate of Block ACKs.
        let (mut size, mut answered) = (0, None);
        for unit in &units {
            if unit.sends == Response::Request {
                self.desk().receive_request(unit.by, ACCESS_POINT, now);
            }
            let (block_ack_bits, rate) = self.mac.exchanges[unit.class as usize].block_ack();
            let with_bitmap = block_ack_bits - LESS_THAN_ALONE_BITS;
            let bits = match unit.sends {
                Response::Request => with_bitmap,
                Response::Data { received: 1.., lost: 1.., .. } => with_bitmap,
                Response::Data { received: 1.., .. } => ALL_RECEIVED_BITS,
                Response::Data { .. } | Response::Nothing => 0,
            };
            if bits > 0 {
                size += bits;
                answered = Some(rate);
            }
        }
        let phy = self.air.frames.phy();
        let (sifs, delay) = (phy.sifs, phy.propagation_delay);
        let any_data = units.iter().any(|unit| matches!(unit.sends, Response::Data { .. }));
        let times = &mut self.mac.queues[by as usize].times;
        let before = times.data_received;
        if let Some(rate) = answered {
            let answer = phy.ppdu_time(MULTI_STATION_BITS + size, rate);
            (times.ack, times.total) = (answer, times.data_received + sifs + answer + delay);
            times.control += answer;
        }
        let left = times.total - before;
        self.mac.uplink().units = units;
        self.tell_responses(by, (now, before));
        if size > 0 {
            self.air.answers(by, EVERYBODY, now, now + left);
        } else if any_data {
            self.air.set_on_air(OnAir::Unanswered { by }, now + sifs + delay);
        } else {
            self.trigger_answered(by, now);
        }
    }

    /// Reports the responses to the trigger of `by`, whose exchange began `before` `now`.
    fn tell_responses(&mut self, by: ContenderId, (now, before): (Time, Duration)) {
        let users = &self.mac.triggered(self.air, by)[..];
        let start = Time::from_nanos(now.as_nanos() - before.as_nanos());
        let times = &self.mac.queues[by as usize].times;
        let began = Began::Triggered { by, start, times, users, collides: false };
        self.supply.on_event(now, MacEvent::Began(began));
    }

    /// Ends the exchange that began with a trigger of `by`.
    pub(in crate::exchange) fn trigger_answered(&mut self, by: ContenderId, now: Time) {
        self.settle_responses(now);
        let has_frame = self.has_frame(by);
        self.air.contention.end_broadcast(by, now, has_frame);
        self.air.fall_silent();
    }

    /// Fails the trigger of `by`, to which there was no response, or none that was received.
    pub(in crate::exchange) fn trigger_failed(
        &mut self,
        by: ContenderId,
        collides: bool,
        now: Time,
    ) -> Retry {
        if collides {
            self.air.contention.trigger_collided(by);
        }
        if self.mac.uplink().responding.is_some() {
            self.settle_responses(now);
        }
        Retry::Again
    }

    /// Processes what each station has learned of its response by `now`. A station that has sent
    /// everything stops contending.
    fn settle_responses(&mut self, now: Time) {
        let mut units = std::mem::take(&mut self.mac.uplink().units);
        for Unit { by, sends, .. } in units.drain(..) {
            let retry = match sends {
                Response::Nothing => continue,
                Response::Data { received: 0, .. } => Some(self.desk().ppdu_failed(by, true, now)),
                Response::Data { .. } | Response::Request => {
                    self.desk().take_answer(by, now);
                    None
                }
            };
            self.mac.queues[by as usize].sends = Sends::Data;
            self.air.contention.triggered(by, retry);
            if !self.has_frame(by) {
                self.air.contention.withdraw(by);
            }
        }
        let uplink = self.mac.uplink();
        (uplink.units, uplink.responding) = (units, None);
    }
}
