//! Saturated flows: one end always has another datagram, which takes its place in the queue or
//! waits for room. Tracks which flows wait for room in which queue.

use airtcp_wlan::ContenderId;

use super::World;
use super::lost::Place;
use super::node::Transmitter;
use crate::connection::Side;
use crate::packet::{Content, Packet, TrafficClass};

impl World<'_> {
    /// Makes a flow saturated: from now on `side` always has one more datagram.
    pub(super) fn saturate(&mut self, flow_id: u32, side: Side, bytes: u32) {
        let flow = &mut self.flows[flow_id as usize];
        flow.saturated = Some((side, bytes));
        self.has_saturated = true;
        let node_id = match side {
            Side::Server => flow.access_point,
            Side::Station => flow.station,
        };
        let id = self.nodes[node_id as usize].route(TrafficClass::Udp);
        // Three windows suffice for any aggregate even if other frames are outstanding.
        let places =
            self.scenario.mac.aggregation.as_ref().map_or(1, |one| 3 * one.block_ack_window);
        for _ in 0..places {
            if self.transmitters[id as usize].queue.has_room() {
                let packet = self.next_datagram(flow_id);
                let dropped_at = self.split().network.queues.enqueue(id, packet);
                self.settle_if_any(dropped_at);
            } else {
                self.transmitters[id as usize].blocked.push_back(flow_id);
            }
        }
    }

    /// Creates the next datagram of a saturated flow.
    fn next_datagram(&mut self, flow_id: u32) -> Packet {
        let flow = &mut self.flows[flow_id as usize];
        let (side, bytes) = flow.saturated.expect("only saturated flows wait for room");
        flow.books.send(bytes);
        let to = flow.receiver_from(side);
        flow.packet(flow_id, to, Content::Datagram { bytes, sent: self.now })
    }

    /// If the flow of `packet`, which has left queue `id`, is saturated, lets it wait for room
    /// there.
    #[inline]
    pub(super) fn wait_for_room(&mut self, id: ContenderId, packet: &Packet) {
        let is_saturated = || self.flows[packet.flow as usize].saturated.is_some();
        if packet.body.is_datagram() && is_saturated() {
            self.transmitters[id as usize].blocked.push_back(packet.flow);
        }
    }

    /// Enqueues a packet of the first flow that waits for room in queue `id`, which does not
    /// contend at the moment, except on other links, which hear of it. The caller handles packets
    /// that are dropped for it.
    pub(super) fn refill(&mut self, id: ContenderId) {
        let transmitter = &mut self.transmitters[id as usize];
        let Some(flow) = transmitter.blocked.pop_front() else { return };
        transmitter.counts.arrivals += 1;
        let packet = self.next_datagram(flow);
        let queue = &mut self.transmitters[id as usize].queue;
        queue.enqueue(self.now, packet, &mut self.drops);
        if queue.is_shared() && self.ready.last() != Some(&id) {
            self.ready.push(id);
        }
    }

    /// Fills the room in queue `id`, which dropped packets although it was not full, with at most
    /// `most` packets. Packets dropped now are lost, and are not replaced.
    #[cold]
    pub(super) fn fill_room(&mut self, id: ContenderId, most: usize) {
        for _ in 0..most {
            let Transmitter { queue, blocked, .. } = &self.transmitters[id as usize];
            if blocked.is_empty() || !queue.has_room() {
                break;
            }
            let before = queue.len();
            self.refill(id);
            self.queue_has_changed(id, before);
            if !self.drops.is_empty() {
                self.lose_dropped(Place::Queue(id));
            }
        }
    }
}
