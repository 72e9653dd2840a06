//! A replication in real time. Some of its packets come from outside: from real programs over a
//! real TCP, or from a recording.
//!
//! The cell, queues and links are those of a simulation, and so are the measurements. A packet
//! enters with a size in bits at one end of a flow, and the time when it leaves at the other end is
//! returned. Queues and access categories use only a packet's headers. Its bytes are only written
//! to a capture, unchanged. There is no clock: time comes with each call.

#[cfg(test)]
mod tests;

use airtcp_kernel::{Duration, Time};
use airtcp_tcp::Segment;

pub use crate::connection::Side;
use crate::control::{RunControl, RunError};
use crate::outcome::Outcome;
use crate::pcap::Out;
pub use crate::pcap::TakesFrames;
use crate::replication::Replication;
use crate::scenario::Scenario;
pub use crate::tap::Purpose;
use crate::world::HandedOut;
pub use crate::world::{Arrival, LiveCounts, LiveFlow};

/// A packet that has reached the other end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HandedOver<P> {
    /// The number of its flow.
    pub flow: u32,
    /// The end that it has reached.
    pub side: Side,
    /// The number of the flow's station.
    pub station: u32,
    /// Its connection, as given at its arrival.
    pub connection: Option<u32>,
    /// When it arrived.
    pub at: Time,
    /// The segment as the network sees it; a queue may have marked it
    /// ([`Flags::CE`](airtcp_tcp::Flags::CE)).
    pub segment: Segment,
    /// Payload received in order on its connection so far, in its flow's direction.
    pub in_order: u64,
    /// The bytes that entered with it.
    pub payload: P,
}

/// A capture of the medium.
pub struct AirCapture<P> {
    /// Receives the frames, each with its radiotap header.
    pub frames: TakesFrames,
    /// Bytes kept of a frame and its header.
    pub snaplen: u32,
    /// Returns the bytes of a packet from outside, including IP headers.
    pub bytes: fn(&P) -> &[u8],
    /// Sets the ECN mark in such a packet, if a queue marked it. The packet may be truncated after
    /// its headers.
    pub mark: fn(&mut [u8]),
}

/// A running replication. A packet carries a `P` from one end to the other.
#[derive(Debug)]
pub struct Live<'a, P> {
    replication: Replication<'a>,
    control: RunControl,
    flows: Vec<LiveFlow>,
    payloads: Vec<Option<P>>,
    /// Empty between two calls.
    handed_out: Vec<HandedOut>,
    lost: Vec<u32>,
    /// Returns the bytes of a packet, if there is a capture.
    bytes: Option<fn(&P) -> &[u8]>,
    measure_from: Time,
    end: Time,
    is_measuring: bool,
}

impl<'a, P> Live<'a, P> {
    /// Creates a network at time zero. The applications of `foreign` flows do nothing: their
    /// packets come from outside.
    pub fn new(
        scenario: &'a Scenario,
        seed: u64,
        replication: u64,
        foreign: impl Fn(&LiveFlow) -> bool,
    ) -> Self {
        let replication =
            Replication::with_applications(scenario, seed, replication, |flow| !foreign(&flow));
        Self {
            flows: replication.world.live_flows(),
            replication,
            control: RunControl::default(),
            payloads: Vec::new(),
            handed_out: Vec::new(),
            lost: Vec::new(),
            bytes: None,
            measure_from: scenario.measure_from(),
            end: scenario.end(),
            is_measuring: false,
        }
    }

    /// Captures the medium from now on. Packets from outside are written unchanged. With hidden
    /// stations, the capture has what each node hears.
    pub fn capture(&mut self, capture: AirCapture<P>) {
        let AirCapture { frames, snaplen, bytes, mark } = capture;
        self.bytes = Some(bytes);
        self.replication.capture(Out::Taker(frames), snaplen);
        self.replication.world.capture_marks(mark);
    }

    /// Returns the flows, by their numbers.
    pub fn flows(&self) -> &[LiveFlow] {
        &self.flows
    }

    /// Returns the end of the scenario, after which nothing happens.
    pub fn end(&self) -> Time {
        self.end
    }

    /// Returns the time of the next event, unless a packet arrives before; at most [`Self::end`].
    pub fn next_deadline(&mut self) -> Time {
        let Replication { world, medium, .. } = &mut self.replication;
        world.stop_at(if self.is_measuring { self.end } else { self.measure_from });
        world.next_time().min(medium.next_time())
    }

    /// Returns the counters so far.
    pub fn counts(&self) -> LiveCounts {
        let mut counts = self.replication.world.live_counts();
        for contender in 0..self.replication.world.contenders() {
            let one = self.replication.medium.counters(contender);
            counts.successes += one.successes;
            counts.collisions += one.collisions;
        }
        counts
    }

    /// Opens a connection of a flow; the next packet is its first.
    pub fn open(&mut self, flow: u32, purpose: Purpose) -> u32 {
        self.replication.world.open_foreign(flow, purpose)
    }

    /// Starts a transfer of a flow that uses connections of [`Purpose::Part`].
    pub fn begin_transfer(&mut self, flow: u32) {
        self.replication.world.begin_foreign_transfer(flow);
    }

    /// Ends such a transfer, which lasted `took`. It counts as ending now.
    pub fn end_transfer(&mut self, flow: u32, took: Duration) {
        self.replication.world.end_foreign_transfer(flow, took);
    }

    /// Counts a page of a flow that took `took` to load. It counts as loaded now.
    pub fn end_page(&mut self, flow: u32, took: Duration) {
        self.replication.world.end_foreign_page(flow, took);
    }

    /// Closes a connection on which no more packets are expected.
    pub fn close(&mut self, connection: u32) {
        self.replication.world.close_foreign(connection);
    }

    /// Accepts a packet that enters at `now`, when everything due before has happened. Events at
    /// `now` itself may have happened or not: [`Self::advance`] and [`Self::advance_to`] decide.
    ///
    /// # Panics
    /// If `now` has passed.
    pub fn packet_in(&mut self, now: Time, arrival: Arrival, payload: P) {
        let world = &mut self.replication.world;
        assert!(now >= world.now(), "packets come in order");
        world.wait_until(now);
        let place = world.take_in(arrival) as usize;
        if let Some(bytes) = self.bytes {
            world.capture_foreign(place as u32, bytes(&payload));
        }
        if place >= self.payloads.len() {
            self.payloads.resize_with(place + 1, || None);
        }
        self.payloads[place] = Some(payload);
        self.replication.medium.frames_ready(now, &mut self.replication.world);
        self.forget_lost();
    }

    /// Plays everything that is due up to and including `now`. `deliver` gets the packets that
    /// reach their ends. Nothing happens after [`Self::end`].
    ///
    /// # Errors
    /// If simulated flows overload the network.
    pub fn advance(
        &mut self,
        now: Time,
        deliver: impl FnMut(HandedOver<P>),
    ) -> Result<(), RunError> {
        self.play(now, now + Duration::from_nanos(1), deliver)
    }

    /// Plays everything that is due before `now`, excluding `now` itself.
    ///
    /// # Errors
    /// As [`Self::advance`].
    pub fn advance_to(
        &mut self,
        now: Time,
        deliver: impl FnMut(HandedOver<P>),
    ) -> Result<(), RunError> {
        self.play(now, now, deliver)
    }

    /// Plays everything before `stop`, and sets the time to `now`.
    fn play(
        &mut self,
        now: Time,
        stop: Time,
        mut deliver: impl FnMut(HandedOver<P>),
    ) -> Result<(), RunError> {
        if !self.is_measuring && stop >= self.measure_from {
            self.replication.play(self.measure_from, &self.control)?;
            self.replication.world.wait_until(self.measure_from);
            self.replication.start_measuring();
            self.is_measuring = true;
        }
        let stop = stop.min(self.end);
        self.replication.play(stop, &self.control)?;
        let world = &mut self.replication.world;
        world.wait_until(now.min(stop));
        world.settle_capture(now.min(stop));
        world.check()?;
        world.take_handed_out(&mut self.handed_out);
        for HandedOut { place, flow, side, connection, at, segment, in_order } in
            self.handed_out.drain(..)
        {
            let payload = self.payloads[place as usize].take().expect("it came in with the packet");
            world.free_foreign(place);
            let station = self.flows[flow as usize].station;
            deliver(HandedOver { flow, side, station, connection, at, segment, in_order, payload });
        }
        self.forget_lost();
        Ok(())
    }

    fn forget_lost(&mut self) {
        let world = &mut self.replication.world;
        world.take_lost(&mut self.lost);
        for place in self.lost.drain(..) {
            self.payloads[place as usize] = None;
            world.free_foreign(place);
        }
    }

    /// Returns the outcome, if the end has come and the conservation laws hold. A capture gets its
    /// last frames.
    ///
    /// # Errors
    /// [`RunError::LawViolated`] if a law is violated; [`RunError::Cancelled`] if the end has not
    /// come.
    pub fn conclude(mut self) -> Result<Outcome, RunError> {
        self.replication.finish_capture()?;
        if self.replication.world.now() < self.end {
            return Err(RunError::Cancelled);
        }
        self.replication.world.wait_until(self.end);
        self.replication.world.conclude(&mut self.replication.medium)
    }
}
