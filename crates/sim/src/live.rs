//! A replication that is played as time goes by, some of whose packets come from outside: from real
//! programs over a real TCP, or from a recording.
//!
//! The same cell, queues and wires as in a simulation, and the same measures: what enters here is a
//! packet of so many bits at one end of a flow, what leaves is when it comes to the other. Knows what
//! of a packet queues and access categories look at, and not its bytes, but for a capture, into which
//! they go as they are. Owns no clock: time comes with each call.

#[cfg(test)]
mod tests;

use airtcp_kernel::{Duration, Time};
use airtcp_tcp::{Block, Segment};

pub use crate::connection::Side;
use crate::control::{RunControl, RunError};
use crate::outcome::Outcome;
use crate::pcap::Out;
pub use crate::pcap::TakesFrames;
use crate::replication::Replication;
use crate::scenario::Scenario;
pub use crate::tap::Purpose;
use crate::world::HandedOut;

/// A packet that comes from outside.
#[derive(Clone, Debug)]
pub struct Arrival {
    /// The number of its flow: flows are numbered by the entries of the scenario, and within an entry by
    /// station.
    pub flow: u32,
    /// At which end it comes in.
    pub side: Side,
    /// Its connection, from [`Live::open`]; `None`: it is a datagram.
    pub connection: Option<u32>,
    /// Numbers, flags and payload; of a datagram the payload alone.
    pub segment: Segment,
    /// The blocks of its SACK option.
    pub sacked: Vec<Block>,
    /// Size, with the headers of IP. \[bit\]
    pub bits: u64,
}

/// A packet that has come to the other end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HandedOver<P> {
    /// Of which flow it is.
    pub flow: u32,
    /// To which end it has come, and of which station's flow that is.
    pub side: Side,
    /// The number of that station.
    pub station: u32,
    /// Its connection, as it came in.
    pub connection: Option<u32>,
    /// The time.
    pub at: Time,
    /// The segment as the network knows it; a queue may have marked it ([`Flags::CE`](airtcp_tcp::Flags::CE)).
    pub segment: Segment,
    /// Payload of the way of its flow that has come in order, on its connection and until now.
    pub in_order: u64,
    /// The bytes that came in with it.
    pub payload: P,
}

/// The counts from time zero.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LiveCounts {
    /// Payload that has come to either end, by entry of the scenario, what came twice included.
    pub payload_bytes: Vec<u64>,
    /// Packets that wait at the access point, those included that the MAC holds.
    pub ap_queue_packets: usize,
    /// PPDUs of the access point with data, and the frames in them, where frames are aggregated; from
    /// the end of the warm-up on, when that has come.
    pub ap_ppdus: u64,
    /// See [`Self::ap_ppdus`].
    pub ap_mpdus: u64,
    /// Transmissions of all nodes that led to an answer.
    pub successes: u64,
    /// Those that collided.
    pub collisions: u64,
    /// Packets that were lost.
    pub losses: u64,
}

/// A flow that packets can come in for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LiveFlow {
    /// Its place among the entries of the scenario.
    pub entry: usize,
    /// The number of its station: stations are numbered from 1, group by group.
    pub station: u32,
}

/// A capture of the air.
pub struct AirCapture<P> {
    /// The reader of the frames, each with its radiotap header.
    pub frames: TakesFrames,
    /// Bytes of a frame and its header that are kept.
    pub snaplen: u32,
    /// The bytes of a packet that comes from outside, with the headers of IP.
    pub bytes: fn(&P) -> &[u8],
    /// Marks such a packet, if a queue has done so; it may have been cut off behind its headers.
    pub mark: fn(&mut [u8]),
}

/// A replication that is played. A packet carries a `P` from one end to the other.
#[derive(Debug)]
pub struct Live<'a, P> {
    replication: Replication<'a>,
    control: RunControl,
    flows: Vec<LiveFlow>,
    payloads: Vec<Option<P>>,
    /// Empty between two calls.
    handed_out: Vec<HandedOut>,
    lost: Vec<u32>,
    /// The bytes of a packet, if there is a capture.
    bytes: Option<fn(&P) -> &[u8]>,
    measure_from: Time,
    end: Time,
    is_measuring: bool,
}

impl<'a, P> Live<'a, P> {
    /// Makes a network at time zero. The applications of flows that are `foreign` do nothing: their packets come
    /// from outside.
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

    /// Writes down what is on the air from now on, with the packets that come from outside as they
    /// are; where not all hear all, what each node hears.
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

    /// Returns the end of the scenario: from then on nothing happens any more.
    pub fn end(&self) -> Time {
        self.end
    }

    /// Returns the time of the next event, if no packet comes before; [`Self::end`] at the latest.
    pub fn next_deadline(&mut self) -> Time {
        let Replication { world, medium, .. } = &mut self.replication;
        world.stop_at(if self.is_measuring { self.end } else { self.measure_from });
        world.next_time().min(medium.next_time())
    }

    /// Returns the counts so far.
    pub fn counts(&self) -> LiveCounts {
        let mut counts = self.replication.world.live_counts();
        for contender in 0..self.replication.world.contenders() {
            let one = self.replication.medium.counters(contender);
            counts.successes += one.successes;
            counts.collisions += one.collisions;
        }
        counts
    }

    /// Opens a connection of a flow, with the packet that comes next.
    pub fn open(&mut self, flow: u32, purpose: Purpose) -> u32 {
        self.replication.world.open_foreign(flow, purpose)
    }

    /// Begins a transfer of a flow, that the connections of [`Purpose::Part`] are there for.
    pub fn begin_transfer(&mut self, flow: u32) {
        self.replication.world.begin_foreign_transfer(flow);
    }

    /// Ends one of those transfers, which took so long. It counts as ending now.
    pub fn end_transfer(&mut self, flow: u32, took: Duration) {
        self.replication.world.end_foreign_transfer(flow, took);
    }

    /// Counts a page of a flow that took so long. It counts as coming now.
    pub fn end_page(&mut self, flow: u32, took: Duration) {
        self.replication.world.end_foreign_page(flow, took);
    }

    /// Closes a connection of which nothing more is to be seen.
    pub fn close(&mut self, connection: u32) {
        self.replication.world.close_foreign(connection);
    }

    /// Takes a packet that comes in at `now`, when all that is due before has happened. What is due at `now`
    /// itself may have happened or not: [`Self::advance`] and [`Self::advance_to`] say which is the
    /// case.
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

    /// Plays all that is due up to `now`, and at `now` too: `deliver` is told of the packets that
    /// come to their ends. Nothing happens after [`Self::end`].
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

    /// Plays all that is due before `now`, and not what is due at `now` itself.
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

    /// Plays all before `stop`, and waits until `now`.
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

    /// Returns the outcome, if the end has come and the books balance. A capture has its last frames.
    ///
    /// # Errors
    /// [`RunError::LawViolated`] if they do not; [`RunError::Cancelled`] if the end has not come.
    pub fn conclude(mut self) -> Result<Outcome, RunError> {
        self.replication.finish_capture()?;
        if self.replication.world.now() < self.end {
            return Err(RunError::Cancelled);
        }
        self.replication.world.wait_until(self.end);
        self.replication.world.conclude(&mut self.replication.medium)
    }
}
