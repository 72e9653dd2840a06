//! The responses of stations to a trigger: reports, data, Block ACK requests, and the Multi-STA Block
//! ACK that follows them.

use airtcp_kernel::{Duration, Time};

use super::super::super::assembly::{Limits, breaks_window, fill, set_arrivals};
use super::super::super::{Aggregate, Sends};
use super::{
    ALL_RECEIVED_BITS, LESS_THAN_ALONE_BITS, MOST_REPORTED_BITS, MULTI_STATION_BITS, Response,
    Unit, reported,
};
use crate::config::Delivery;
use crate::contention::Retry;
use crate::events::{Began, MacEvent, Supply, TriggeredFrames, TriggeredPsdu};
use crate::exchange::{Air, Exchange, OnAir};
use crate::frame::Psdu;
use crate::station::{ContenderId, EVERYBODY};

impl<P: Clone> Aggregate<P> {
    /// Begins the response to the trigger of `by`, or receives its next part.
    pub(in super::super::super) fn trigger_responses<S: Supply<P>>(
        &mut self,
        air: &mut Air<P>,
        by: ContenderId,
        now: Time,
        end: Time,
        supply: &mut S,
    ) {
        let asks = self.queues[by as usize].times.rts == Duration::ZERO;
        let uplink = self.uplink();
        if uplink.responding.is_some() {
            return self.responses_arrive(air, by, now, end, supply);
        }
        uplink.responding = Some(now);
        if asks {
            for place in 0..self.uplink().units.len() {
                self.reports(air, place, end, supply);
            }
            let times = self.queues[by as usize].times;
            let before = times.data_received + air.frames.phy().sifs;
            self.tell_responses(air, by, (now, before), supply);
            air.set_on_air(OnAir::Acknowledging { by, from: EVERYBODY, ack_start: now }, end);
            return;
        }
        for place in 0..self.uplink().units.len() {
            let sends = self.respond(air, place, now, supply);
            self.uplink().units[place].sends = sends;
            if sends == Response::Nothing {
                self.reports(air, place, end, supply);
            }
        }
        self.set_response_arrivals(air, by, now);
        let next = self.uplink().arrivals[0].0;
        air.set_on_air(OnAir::Sending { end }, next);
    }

    /// Stores the report of a unit's station, which is received at `end`.
    fn reports<S: Supply<P>>(&mut self, air: &Air<P>, place: usize, end: Time, supply: &S) {
        let Unit { station, by, .. } = self.uplink().units[place];
        let window = &self.peers[by as usize].of(air.roles.access_point()).window;
        let held: u64 = window.iter().map(|mpdu| mpdu.bits).sum();
        let bits = held + supply.queued_bits(by, air.frames.mpdu_bits(0), MOST_REPORTED_BITS + 1);
        self.uplink().reports[station as usize] = Some((end, reported(bits)));
    }

    /// Assembles the response of a unit's station to a trigger for data at `now`.
    fn respond<S: Supply<P>>(
        &mut self,
        air: &mut Air<P>,
        place: usize,
        now: Time,
        supply: &mut S,
    ) -> Response {
        let response = self.uplink().response;
        let Unit { by, class, ppdus, .. } = self.uplink().units[place];
        let access_point = air.roles.access_point();
        let exchange = &self.exchanges[class as usize];
        let peers = &mut self.peers[by as usize];
        let queue = &mut self.queues[by as usize];
        let window = &mut peers.of_mut(access_point).window;
        queue.choice = None;
        if window.on(0).request_due {
            queue.sends = Sends::Request(access_point);
            return Response::Request;
        }
        let room = exchange.unit_room(&ppdus, response);
        let limits = Limits { exchange, room, left: None, is_sample: false, in_unit: true };
        let mut mpdus = Vec::new();
        fill(&mut air.desk(), by, now, window, &limits, &mut mpdus, supply);
        self.broken_law = self.broken_law.take().or(breaks_window(window, &mpdus, exchange));
        peers.update_pending(access_point);
        if mpdus.is_empty() {
            return Response::Nothing;
        }
        queue.sends = Sends::Data;
        air.originators[by as usize].psdu = Some(Psdu::of(mpdus));
        Response::Data { arrived: 0, received: 0, lost: 0 }
    }

    /// Computes when the frames of the response arrive that begins at `now`.
    fn set_response_arrivals(&mut self, air: &Air<P>, by: ContenderId, now: Time) {
        let by_mpdus = self.delivery == Delivery::Mpdu;
        let Self { ofdma, exchanges, .. } = self;
        let uplink = ofdma.as_mut().and_then(|one| one.uplink.as_mut());
        let uplink = uplink.expect("it sends triggers");
        let delay = air.frames.phy().propagation_delay;
        let received = now + uplink.response + delay;
        debug_assert_eq!(uplink.by, by);
        uplink.arrivals.clear();
        uplink.arrived = 0;
        let mut times = Vec::new();
        for (place, unit) in uplink.units.iter().enumerate() {
            let psdu = air.originators[unit.by as usize].frames();
            let Some(psdu) = psdu.filter(|_| unit.sends != Response::Nothing) else { continue };
            if !by_mpdus || psdu.count() == 1 {
                uplink.arrivals.push((received, place, psdu.mpdus().len()));
                continue;
            }
            let airtime = unit.ppdus.time(exchanges[unit.class as usize].bits_of(psdu));
            set_arrivals(&mut times, now + airtime + delay, airtime - unit.ppdus.around(), psdu);
            let mut packets = 0;
            for frame in psdu.each() {
                uplink.arrivals.push((times[packets], place, frame.len()));
                packets += frame.len();
            }
        }
        uplink.arrivals.push((received, usize::MAX, 0));
        uplink.arrivals.sort_by_key(|&(time, place, _)| (time, place));
    }

    /// Receives the next frame, or all frames, of a unit of the response; or ends the response.
    fn responses_arrive<S: Supply<P>>(
        &mut self,
        air: &mut Air<P>,
        by: ContenderId,
        now: Time,
        end: Time,
        supply: &mut S,
    ) {
        let uplink = self.uplink();
        let (_, place, packets) = uplink.arrivals[uplink.arrived];
        uplink.arrived += 1;
        if packets == 0 {
            return self.response_ends(air, by, now, supply);
        }
        let next = uplink.arrivals[uplink.arrived].0;
        let Unit { by: sender, sends, .. } = uplink.units[place];
        let Response::Data { arrived, received, lost } = sends else { unreachable!("it has data") };
        let places = arrived..arrived + packets;
        let (frames, errors) =
            self.receive(&mut air.desk(), sender, now, places.clone(), |_| false, supply);
        air.contention.count_mpdus(sender, frames, errors);
        self.uplink().units[place].sends = Response::Data {
            arrived: places.end,
            received: received + frames - errors,
            lost: lost + errors,
        };
        air.set_on_air(OnAir::Sending { end }, next);
    }

    /// Ends the response to a trigger for data: a Multi-STA Block ACK follows if there is anything
    /// to acknowledge.
    fn response_ends<S: Supply<P>>(
        &mut self,
        air: &mut Air<P>,
        by: ContenderId,
        now: Time,
        supply: &mut S,
    ) {
        let units = std::mem::take(&mut self.uplink().units);
        // One frame for all of them, which have the same rate of Block ACKs.
        let (mut size, mut answered) = (0, None);
        for unit in &units {
            if unit.sends == Response::Request {
                self.receive_request(unit.by, air.roles.access_point(), now, supply);
            }
            let (block_ack_bits, rate) = self.exchanges[unit.class as usize].block_ack();
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
        let phy = air.frames.phy();
        let (sifs, delay) = (phy.sifs, phy.propagation_delay);
        let any_data = units.iter().any(|unit| matches!(unit.sends, Response::Data { .. }));
        let times = &mut self.queues[by as usize].times;
        let before = times.data_received;
        if let Some(rate) = answered {
            let answer = phy.ppdu_time(MULTI_STATION_BITS + size, rate);
            (times.ack, times.total) = (answer, times.data_received + sifs + answer + delay);
            times.control += answer;
        }
        let left = times.total - before;
        self.uplink().units = units;
        self.tell_responses(air, by, (now, before), supply);
        if size > 0 {
            air.answers(by, EVERYBODY, now, now + left);
        } else if any_data {
            air.set_on_air(OnAir::Unanswered { by }, now + sifs + delay);
        } else {
            self.trigger_answered(air, by, now, supply);
        }
    }

    /// Reports the responses to the trigger of `by`, whose exchange began `before` `now`.
    fn tell_responses<S: Supply<P>>(
        &self,
        air: &Air<P>,
        by: ContenderId,
        (now, before): (Time, Duration),
        supply: &mut S,
    ) {
        let users = &self.triggered(air, by)[..];
        let start = Time::from_nanos(now.as_nanos() - before.as_nanos());
        let times = &self.queues[by as usize].times;
        let began = Began::Triggered { by, start, times, users, collides: false };
        supply.on_event(now, MacEvent::Began(began));
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
                Response::Request => {
                    TriggeredFrames::Request(self.window_start(by, air.roles.access_point()))
                }
                Response::Nothing => {
                    TriggeredFrames::Report(reports[station as usize].map_or(0, |(_, bits)| bits))
                }
            };
            TriggeredPsdu { by, class, unit, sends }
        };
        units.iter().map(part).collect()
    }

    /// Ends the exchange that began with a trigger of `by`.
    pub(in super::super::super) fn trigger_answered<S: Supply<P>>(
        &mut self,
        air: &mut Air<P>,
        by: ContenderId,
        now: Time,
        supply: &mut S,
    ) {
        self.settle_responses(air, now, supply);
        let has_frame = air.has_frame(self, by, supply);
        air.contention.end_broadcast(by, now, has_frame);
        air.fall_silent();
    }

    /// Fails the trigger of `by`, to which there was no response, or none that was received.
    pub(in super::super::super) fn trigger_failed<S: Supply<P>>(
        &mut self,
        air: &mut Air<P>,
        by: ContenderId,
        collides: bool,
        now: Time,
        supply: &mut S,
    ) -> Retry {
        if collides {
            air.contention.trigger_collided(by);
        }
        if self.uplink().responding.is_some() {
            self.settle_responses(air, now, supply);
        }
        Retry::Again
    }

    /// Processes what each station has learned of its response by `now`. A station that has sent
    /// everything stops contending.
    fn settle_responses<S: Supply<P>>(&mut self, air: &mut Air<P>, now: Time, supply: &mut S) {
        let mut units = std::mem::take(&mut self.uplink().units);
        for Unit { by, sends, .. } in units.drain(..) {
            let retry = match sends {
                Response::Nothing => continue,
                Response::Data { received: 0, .. } => {
                    Some(self.ppdu_failed(&mut air.desk(), by, true, now, supply))
                }
                Response::Data { .. } | Response::Request => {
                    self.take_answer(&mut air.desk(), by, now, supply);
                    None
                }
            };
            self.queues[by as usize].sends = Sends::Data;
            air.contention.triggered(by, retry);
            if !air.has_frame(self, by, supply) {
                air.contention.withdraw(by);
            }
        }
        let uplink = self.uplink();
        (uplink.units, uplink.responding) = (units, None);
    }
}
