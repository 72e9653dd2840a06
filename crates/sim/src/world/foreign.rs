//! Foreign packets, which come from outside of the simulation: they enter at one end of a flow, and
//! leave at the other.
//!
//! They wait in the same queues as others and use the same medium. Measured is what is visible in
//! the network ([`Tap`]).

use airtcp_kernel::{Duration, Time};
use airtcp_tcp::{Block, Segment};
use airtcp_wlan::StationId;

use super::World;
use super::flow::Flow;
use super::network::Split;
use crate::connection::Side;
use crate::packet::{Body, Content, Packet};
use crate::scenario::Direction;
use crate::tap::{Purpose, Tap};

/// A flow that accepts packets from outside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LiveFlow {
    /// The index of its entry in the scenario.
    pub entry: usize,
    /// The number of its station: stations are numbered from 1, group by group.
    pub station: u32,
}

/// A packet from outside.
#[derive(Clone, Debug)]
pub struct Arrival {
    /// The number of its flow. Flows are numbered by the entries of the scenario, and within an
    /// entry by station.
    pub flow: u32,
    /// The end at which it enters.
    pub side: Side,
    /// Its connection, from [`Live::open`](crate::live::Live::open); `None` for a datagram.
    pub connection: Option<u32>,
    /// Sequence numbers, flags and payload; of a datagram only the payload.
    pub segment: Segment,
    /// The blocks of its SACK option.
    pub sacked: Vec<Block>,
    /// Size, including IP headers. \[bit\]
    pub bits: u64,
}

/// Counters from time zero.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LiveCounts {
    /// Payload received at either end by entry of the scenario, including duplicates.
    pub payload_bytes: Vec<u64>,
    /// Packets at the access point, including those that the MAC holds.
    pub ap_queue_packets: usize,
    /// With aggregation, the access point's data PPDUs, and the MPDUs in them. They count from the
    /// end of the warm-up on, once that has passed.
    pub ap_ppdus: u64,
    /// See [`Self::ap_ppdus`].
    pub ap_mpdus: u64,
    /// Transmissions of all nodes that got a response.
    pub successes: u64,
    /// Transmissions that collided.
    pub collisions: u64,
    /// Lost packets.
    pub losses: u64,
}

/// Foreign packets in the network, and their connections.
#[derive(Debug, Default)]
pub(super) struct Foreign {
    /// Connections by number. Numbers are not reused, because packets of a closed connection may
    /// still be in the network.
    taps: Vec<Option<Box<Tap>>>,
    kept: Vec<Kept>,
    free: Vec<u32>,
    /// Packets that have arrived (`out`) or are lost, and that the caller has not taken yet.
    pub(super) out: Vec<HandedOut>,
    pub(super) lost: Vec<u32>,
}

/// A packet in the network, as it entered.
#[derive(Clone, Debug)]
struct Kept {
    segment: Segment,
    /// The blocks of its SACK option.
    sacked: Vec<Block>,
    connection: Option<u32>,
    sent: Time,
}

/// A packet that has reached its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct HandedOut {
    /// The slot in which it was stored.
    pub(crate) place: u32,
    pub(crate) flow: u32,
    pub(crate) side: Side,
    pub(crate) connection: Option<u32>,
    pub(crate) at: Time,
    /// Its segment now; queues may have marked it.
    pub(crate) segment: Segment,
    /// Total in-order bytes of its connection in its flow's direction.
    pub(crate) in_order: u64,
}

impl Flow<'_> {
    /// Returns the flow as a live driver numbers it: access points come before the stations, and
    /// stations are numbered from 1.
    pub(super) fn live(&self, access_points: StationId) -> LiveFlow {
        LiveFlow { entry: self.entry, station: self.station - access_points + 1 }
    }
}

impl World<'_> {
    /// Lists the flows for a live driver.
    pub(crate) fn live_flows(&self) -> Vec<LiveFlow> {
        self.flows.iter().map(|flow| flow.live(self.access_points)).collect()
    }

    /// Returns the number of contending queues.
    pub(crate) fn contenders(&self) -> u32 {
        self.transmitters.len() as u32
    }

    /// Returns the counters of queues and flows so far.
    pub(crate) fn live_counts(&self) -> LiveCounts {
        let mut counts = LiveCounts::default();
        counts.payload_bytes.resize(self.scenario.flows.len(), 0);
        for flow in &self.flows {
            counts.payload_bytes[flow.entry] += flow.books.bytes.received;
            counts.losses += flow.books.packets.dropped;
        }
        for (id, one) in (0..).zip(&self.transmitters) {
            if !one.at_access_point {
                continue;
            }
            counts.ap_queue_packets += one.queue.len();
            let (ppdus, mpdus) = self.ledger.ppdus_by(id).data();
            counts.ap_ppdus += ppdus;
            counts.ap_mpdus += mpdus;
        }
        counts
    }

    /// Opens a connection of `flow`, and returns its number.
    pub(crate) fn open_foreign(&mut self, flow: u32, purpose: Purpose) -> u32 {
        let Self { flows, foreign, now, .. } = self;
        let flow_of = &flows[flow as usize];
        let sender = match flow_of.config.direction {
            Direction::Download => Side::Server,
            Direction::Upload => Side::Station,
        };
        if matches!(purpose, Purpose::Stream | Purpose::Transfer) {
            self.ledger.transfer_started(*now, flow_of);
        }
        foreign.taps.push(Some(Box::new(Tap::new(flow, purpose, *now, sender))));
        foreign.taps.len() as u32 - 1
    }

    /// Starts a transfer of `flow`.
    pub(crate) fn begin_foreign_transfer(&mut self, flow: u32) {
        self.ledger.transfer_started(self.now, &self.flows[flow as usize]);
    }

    /// Ends a transfer of `flow` that lasted `took`.
    pub(crate) fn end_foreign_transfer(&mut self, flow: u32, took: Duration) {
        let began = Time::ZERO + (self.now - Time::ZERO - took);
        // A live replication does not list transfers, so the size does not matter.
        self.transfer_received(flow, began, 0);
    }

    /// Ends a page of `flow` that took `took` to load.
    pub(crate) fn end_foreign_page(&mut self, flow: u32, took: Duration) {
        let began = Time::ZERO + (self.now - Time::ZERO - took);
        self.ledger.page_loaded(self.now, began, &self.flows[flow as usize]);
    }

    /// Closes a connection. Its packets still in the network then count as having no connection.
    pub(crate) fn close_foreign(&mut self, id: u32) {
        self.foreign.taps[id as usize] = None;
    }

    /// Sends a packet, with or without a connection, and returns the slot in which it is stored.
    pub(crate) fn take_in(&mut self, arrival: Arrival) -> u32 {
        let Arrival { flow: flow_id, side, connection, segment, sacked, bits } = arrival;
        let now = self.now;
        if let Some(id) = connection
            && let Some(tap) = &mut self.foreign.taps[id as usize]
        {
            let before = tap.counts;
            tap.on_sent(now, side, &segment);
            let counts = &mut self.flows[flow_id as usize].measured.tcp;
            counts.segments += tap.counts.segments - before.segments;
            counts.retransmissions += tap.counts.retransmissions - before.retransmissions;
        }
        let kept = Kept { segment, sacked, connection, sent: now };
        let place = self.foreign.keep(kept);
        let Split { flows, mut network, .. } = self.split();
        let flow = &mut flows[flow_id as usize];
        flow.books.send(segment.len);
        let to = flow.receiver_from(side);
        let body = Body::new(Content::Foreign { place, connection, segment }, flow.scope);
        let packet = Packet { bits, arrived: Time::ZERO, flow: flow_id, to, body };
        let dropped_at = network.hand_over(flow, side, packet);
        self.settle_if_any(dropped_at);
        place
    }

    /// Delivers a packet to `side`: it is measured, and waits to be taken.
    #[cold]
    pub(super) fn hand_out(&mut self, packet: &Packet, side: Side) {
        let place = packet.body.foreign().expect("only foreign packets are handed out");
        let kept = &mut self.foreign.kept[place as usize];
        let Kept { segment, connection, sent, .. } = *kept;
        let sacked = std::mem::take(&mut kept.sacked);
        let flow_id = packet.flow;
        let Split { flows, mut network, .. } = self.split();
        let flow = &mut flows[flow_id as usize];
        let latency = network.queues.ledger.latency(flow.scope);
        let now = network.queues.now;
        match connection {
            None => {
                latency.datagram(sent, now, &mut flow.jitter);
                let is_forth =
                    (side == Side::Station) == (flow.config.direction == Direction::Download);
                if is_forth {
                    network.deliver(flow, flow_id, u64::from(segment.len));
                    if let Some(speech) = &mut flow.speech {
                        speech.received(now - sent);
                    }
                }
            }
            Some(id) => self.tapped_arrival(id, side, &segment, &sacked),
        }
        let tap = connection.and_then(|id| self.foreign.taps[id as usize].as_ref());
        let in_order = tap.map_or(0, |tap| tap.delivered);
        let segment = Segment { flags: packet.body.flags(), ..segment };
        self.foreign.out.push(HandedOut {
            place,
            flow: flow_id,
            side,
            connection,
            at: now,
            segment,
            in_order,
        });
    }

    fn tapped_arrival(&mut self, id: u32, side: Side, segment: &Segment, sacked: &[Block]) {
        let Self { foreign, flows, ledger, now, .. } = self;
        let Some(tap) = &mut foreign.taps[id as usize] else { return };
        let flow_id = tap.flow;
        let flow = &mut flows[flow_id as usize];
        let latency = ledger.latency(flow.scope);
        let round_trip = |trip, sent| latency.round_trip(trip, sent, *now);
        let came = tap.on_arrival(*now, side, segment, sacked, round_trip);
        if tap.purpose == Purpose::Dialogue {
            return;
        }
        flow.measured.delivered_bytes += ledger.delivered(*now, came.delivered);
        if came.completes {
            // The FIN may follow the last byte, with which the transfer ends.
            let (began, bytes) = (tap.began + (*now - tap.last_came), tap.delivered);
            if tap.purpose == Purpose::Transfer {
                self.transfer_received(flow_id, began, bytes);
            }
        }
    }

    /// Frees the slot of a packet that has left the network.
    pub(crate) fn free_foreign(&mut self, place: u32) {
        self.foreign.free.push(place);
    }

    /// Takes the packets that have arrived.
    pub(crate) fn take_handed_out(&mut self, to: &mut Vec<HandedOut>) {
        to.append(&mut self.foreign.out);
    }

    /// Takes the packets that are lost.
    pub(crate) fn take_lost(&mut self, to: &mut Vec<u32>) {
        to.append(&mut self.foreign.lost);
    }
}

impl Foreign {
    fn keep(&mut self, kept: Kept) -> u32 {
        match self.free.pop() {
            Some(place) => {
                self.kept[place as usize] = kept;
                place
            }
            None => {
                self.kept.push(kept);
                self.kept.len() as u32 - 1
            }
        }
    }
}
