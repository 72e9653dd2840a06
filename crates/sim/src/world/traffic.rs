//! What happens to packets outside the air: where they go next, in which queue they wait, and what
//! becomes of those that are lost.

use airtcp_tcp::Segment;
use airtcp_wlan::ContenderId;

use super::World;
use super::flow::Flow;
use super::measure::Drop;
use super::node::NodeId;
use crate::connection::Side;
use crate::packet::{Body, Owner, Packet, TrafficClass};

impl World<'_> {
    /// `side` of a flow hands a packet to the network.
    #[inline(always)]
    pub(super) fn send(&mut self, flow_id: u32, side: Side, owner: Owner, segment: Segment) {
        let flow = &mut self.flows[flow_id as usize];
        flow.books.sent.add(segment.len);
        let station = flow.station;
        match side {
            Side::Station => {
                let packet = flow.packet(flow_id, flow.access_point_address, owner, segment);
                self.enqueue(station, packet);
            }
            Side::Server => {
                let packet = flow.packet(flow_id, flow.station_address, owner, segment);
                self.forward_to_ap(packet);
            }
        }
    }

    /// The next link of a packet on its way from the access point to the server, or the server.
    #[inline]
    pub(super) fn forward_to_server(&mut self, packet: &Packet) {
        let path = &self.flow_of(packet).path;
        match path.get(usize::from(packet.body.hop)) {
            Some(&link) => self.offer_to_wire(2 * link, *packet),
            None => self.arrive(packet, Side::Server),
        }
    }

    /// The next link of a packet on its way from the server to the access point, or its queue.
    #[inline(always)]
    fn forward_to_ap(&mut self, packet: Packet) {
        let &Flow { ref path, access_point, .. } = self.flow_of(&packet);
        match path.len().checked_sub(1 + usize::from(packet.body.hop)) {
            Some(index) => self.offer_to_wire(2 * path[index] + 1, packet),
            None => self.enqueue(access_point, packet),
        }
    }

    #[inline(never)]
    fn offer_to_wire(&mut self, wire: u32, packet: Packet) {
        self.links.wires.offer(self.now, wire, packet, &mut self.drops);
        if !self.drops.is_empty() {
            self.settle_wire_drops(wire);
        }
        self.next = self.next.min(self.links.wires.next_time());
    }

    /// What the queue before a wire has dropped is lost.
    #[cold]
    fn settle_wire_drops(&mut self, wire: u32) {
        let mut drops = std::mem::take(&mut self.drops);
        for packet in drops.drain(..) {
            self.packet_dropped(&packet, Drop::Wire(wire));
        }
        self.drops = drops;
    }

    /// What is due on a wire happens: mostly, a packet arrives.
    pub(super) fn wire_event(&mut self) {
        let (wire, packet) = self.links.wires.advance(&mut self.drops);
        if !self.drops.is_empty() {
            self.settle_wire_drops(wire);
        }
        let Some(mut packet) = packet else { return };
        if self.links.loses(wire, &packet) {
            self.packet_dropped(&packet, Drop::Link(wire));
            return;
        }
        packet.body.hop += 1;
        if wire.is_multiple_of(2) {
            self.forward_to_server(&packet);
        } else {
            self.forward_to_ap(packet);
        }
    }

    /// Puts a packet into a queue of a node, which may drop it, or others for it.
    // One call for each direction of a packet: inlined, it is made where it waits, not copied there.
    #[inline(always)]
    fn enqueue(&mut self, node_id: NodeId, packet: Packet) {
        let node = &mut self.nodes[node_id as usize];
        node.counts.arrivals += 1;
        let id = node.route(packet.body.class());
        let queue = &mut self.transmitters[id as usize].queue;
        let before = queue.len();
        queue.enqueue(self.now, packet, &mut self.drops);
        let after = queue.len();
        if before == 0 && after > 0 {
            self.ready.push(id);
        }
        self.measures.queue_changed(self.now, node, before, after);
        if !self.drops.is_empty() {
            self.settle_drops(id);
        }
    }

    /// What queue `id` has dropped is lost. A saturated flow tries again when there is room: where
    /// flows take turns, what is dropped may be another flow's only packet.
    #[cold]
    pub(super) fn settle_drops(&mut self, id: ContenderId) {
        let node = self.transmitters[id as usize].node;
        let mut drops = std::mem::take(&mut self.drops);
        for packet in drops.drain(..) {
            self.nodes[node as usize].counts.queue_drops += 1;
            self.packet_dropped(&packet, Drop::Queue(id));
            self.wait_for_room(id, &packet);
        }
        self.drops = drops;
    }

    /// Queue `id`, which had `before` packets, has dropped some when it was asked for the next one.
    #[cold]
    pub(super) fn queue_has_dropped(&mut self, id: ContenderId, before: usize) {
        let transmitter = &self.transmitters[id as usize];
        let (node, after) = (transmitter.node as usize, transmitter.queue.len());
        self.measures.queue_changed(self.now, &mut self.nodes[node], before, after);
        self.settle_drops(id);
    }

    /// If `packet`, which has left queue `id`, is of a saturated flow, that waits for room there.
    #[inline]
    fn wait_for_room(&mut self, id: ContenderId, packet: &Packet) {
        let is_saturated = || self.flows[packet.flow as usize].saturated.is_some();
        if packet.body.owner == Owner::DATAGRAM && is_saturated() {
            self.transmitters[id as usize].blocked.push_back(packet.flow);
        }
    }

    /// The MAC is done with a packet of queue `id`, which has one less then, and whose node that is. A
    /// flow of datagrams puts its next one in.
    #[inline(always)]
    pub(super) fn remove_sent(&mut self, id: ContenderId, packet: &Packet) -> NodeId {
        let transmitter = &mut self.transmitters[id as usize];
        let before = transmitter.queue.len();
        transmitter.queue.done(self.now);
        let mut after = transmitter.queue.len();
        let node = transmitter.node;
        if packet.body.owner == Owner::DATAGRAM || !transmitter.blocked.is_empty() {
            self.wait_for_room(id, packet);
            self.refill(id);
            after = self.transmitters[id as usize].queue.len();
        }
        self.measures.queue_changed(self.now, &mut self.nodes[node as usize], before, after);
        node
    }

    /// A saturated flow that waited for room puts its packet into queue `id`, which is not
    /// waiting for the medium just now.
    fn refill(&mut self, id: ContenderId) {
        let transmitter = &mut self.transmitters[id as usize];
        let Some(flow) = transmitter.blocked.pop_front() else { return };
        self.nodes[transmitter.node as usize].counts.arrivals += 1;
        let packet = self.next_datagram(flow);
        self.transmitters[id as usize].queue.enqueue(self.now, packet, &mut self.drops);
        if !self.drops.is_empty() {
            self.settle_drops(id);
        }
    }

    /// From now on an end of a flow always has one more datagram: it takes its place in the queue, or
    /// waits until there is one.
    pub(super) fn saturate(&mut self, flow_id: u32, side: Side, bytes: u32) {
        let flow = &mut self.flows[flow_id as usize];
        flow.saturated = Some((side, bytes));
        let node_id = match side {
            Side::Server => flow.access_point,
            Side::Station => flow.station,
        };
        let id = self.nodes[node_id as usize].route(TrafficClass::Udp);
        // Where frames are aggregated, enough for any aggregate though others are outstanding.
        let places =
            self.scenario.mac.aggregation.as_ref().map_or(1, |one| 3 * one.block_ack_window);
        for _ in 0..places {
            if self.transmitters[id as usize].queue.has_room() {
                let packet = self.next_datagram(flow_id);
                self.enqueue(node_id, packet);
            } else {
                self.transmitters[id as usize].blocked.push_back(flow_id);
            }
        }
    }

    /// The next datagram of a saturated flow.
    fn next_datagram(&mut self, flow_id: u32) -> Packet {
        let flow = &mut self.flows[flow_id as usize];
        let (side, bytes) = flow.saturated.expect("only saturated flows wait for room");
        flow.books.sent.add(bytes);
        let to = match side {
            Side::Server => flow.station_address,
            Side::Station => flow.access_point_address,
        };
        flow.packet(flow_id, to, Owner::DATAGRAM, Body::datagram(bytes, self.now))
    }

    /// `side` of a flow sends a datagram.
    pub(super) fn send_datagram(&mut self, flow_id: u32, side: Side, bytes: u32) {
        self.send(flow_id, side, Owner::DATAGRAM, Body::datagram(bytes, self.now));
    }

    /// A packet is lost for good.
    pub(super) fn packet_dropped(&mut self, packet: &Packet, place: Drop) {
        let node = match place {
            Drop::Queue(id) | Drop::Mac(id) => Some(self.transmitters[id as usize].node),
            Drop::Wire(_) | Drop::Link(_) => None,
        };
        let at_access_point = node.is_some_and(|node| self.nodes[node as usize].is_access_point());
        self.measures.dropped(place, at_access_point);
        self.record_drop(packet.flow, place);
        let flow = &mut self.flows[packet.flow as usize];
        flow.books.dropped.add(packet.body.segment.len);
        if let Some(id) = packet.body.owner.connection() {
            self.connections[id as usize].leave_network(&packet.body.segment);
            self.close_if_over(id);
        } else {
            self.measures.scopes[flow.scope as usize].latency.lost += 1;
        }
    }
}
