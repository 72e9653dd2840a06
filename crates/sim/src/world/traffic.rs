//! What happens to packets outside the air: where they go next, in which queue they wait, and what
//! becomes of those that are lost.

use airtcp_wlan::ContenderId;

use super::measure::Drop;
use super::network::Parts;
use super::node::{NodeId, Transmitter};
use super::{Event, World};
use crate::connection::Side;
use crate::packet::{Content, Packet, TrafficClass};

impl World<'_> {
    /// The next link of a packet on its way from the access point to the server, or the server.
    #[inline]
    pub(super) fn forward_to_server(&mut self, packet: &Packet) {
        let path = &self.flow_of(packet).path;
        match path.get(usize::from(packet.body.hop)) {
            Some(&link) => self.offer_to_wire(2 * link, *packet),
            None => self.arrive(packet, Side::Server),
        }
    }

    fn offer_to_wire(&mut self, wire: u32, packet: Packet) {
        let place = self.split().network.offer_to_wire(wire, packet);
        self.settle_drops(place);
    }

    /// What is due on a wire happens: mostly, a packet arrives.
    pub(super) fn wire_event(&mut self) {
        if self.links.wires.is_departure_next() {
            let wire = self.links.wires.next_departs(&mut self.drops);
            self.settle_drops(Drop::Wire(wire));
            return;
        }
        let wire = self.links.wires.next_arrives();
        if self.links.loses(wire) {
            let packet = self.links.wires.take_arriving(wire);
            self.packet_dropped(&packet, Drop::Link(wire));
        } else if wire.is_multiple_of(2) {
            let packet = self.links.wires.take_arriving(wire);
            self.forward_to_server(&packet);
        } else {
            let packet = self.links.wires.take_arriving(wire);
            let Parts { flows, mut network, .. } = self.split();
            let place = network.forward_to_ap(&flows[packet.flow as usize], packet);
            self.settle_drops(place);
        }
    }

    /// What was dropped at `place` is lost.
    #[inline]
    pub(super) fn settle_drops(&mut self, place: Drop) {
        if !self.drops.is_empty() {
            let dropped = self.lose_dropped(place);
            if let Drop::Queue(id) = place {
                self.fill_places(id, dropped);
            }
        }
    }

    /// Tells how many packets that were. A saturated flow tries again when there is room: where flows
    /// take turns, what is dropped may be another flow's only packet.
    #[cold]
    fn lose_dropped(&mut self, place: Drop) -> usize {
        let place = match place {
            Drop::Queue(id) if self.transmitters[id as usize].queue.take_filtered() => {
                Drop::Filter(id)
            }
            Drop::Wire(wire) if self.links.wires.take_filtered(wire) => Drop::WireFilter(wire),
            place => place,
        };
        let mut drops = std::mem::take(&mut self.drops);
        let dropped = drops.len();
        for packet in drops.drain(..) {
            self.packet_dropped(&packet, place);
            if let Drop::Queue(id) = place {
                // Its arrival counts if it came in the measured time.
                let counts = packet.arrived >= self.measures.began;
                self.transmitters[id as usize].counts.queue_drops += u64::from(counts);
                self.wait_for_room(id, &packet);
            }
        }
        self.drops = drops;
        dropped
    }

    /// Queue `id` has dropped so many packets: where there is room nevertheless, since it did not drop
    /// them for want of it, saturated flows fill their places. What it drops then is not pursued.
    #[cold]
    fn fill_places(&mut self, id: ContenderId, dropped: usize) {
        for _ in 0..2 * dropped {
            let Transmitter { queue, blocked, .. } = &self.transmitters[id as usize];
            if blocked.is_empty() || !queue.has_room() {
                break;
            }
            let before = queue.len();
            self.refill(id);
            let transmitter = &self.transmitters[id as usize];
            let after = transmitter.queue.len();
            self.measures.queue_changed(self.now, transmitter, &mut self.nodes, before, after);
            if !self.drops.is_empty() {
                self.lose_dropped(Drop::Queue(id));
            }
        }
    }

    /// Queue `id`, which had `before` packets, has dropped some when it was asked for the next one.
    #[cold]
    pub(super) fn queue_has_dropped(&mut self, id: ContenderId, before: usize) {
        let transmitter = &self.transmitters[id as usize];
        let after = transmitter.queue.len();
        self.measures.queue_changed(self.now, transmitter, &mut self.nodes, before, after);
        self.settle_drops(Drop::Queue(id));
    }

    /// If `packet`, which has left queue `id`, is of a saturated flow, that waits for room there.
    #[inline]
    fn wait_for_room(&mut self, id: ContenderId, packet: &Packet) {
        let is_saturated = || self.flows[packet.flow as usize].saturated.is_some();
        if packet.body.is_datagram() && is_saturated() {
            self.transmitters[id as usize].blocked.push_back(packet.flow);
        }
    }

    /// The MAC is done with a packet of queue `id`, which has one less then: whether the queue has
    /// another one for the MAC.
    #[inline(always)]
    pub(super) fn packet_acknowledged(&mut self, id: ContenderId, packet: &Packet) -> bool {
        let transmitter = &mut self.transmitters[id as usize];
        let before = transmitter.queue.len();
        let has_next = transmitter.queue.done(self.now, packet, &mut self.drops);
        let fills_places = packet.body.is_datagram() || !transmitter.blocked.is_empty();
        if fills_places || !self.drops.is_empty() {
            let (node, at_access_point) = (transmitter.node, transmitter.at_access_point);
            let has_next = self.fill_place(id, packet, before);
            if at_access_point {
                self.access_point_succeeded(node, packet);
            } else if self.tells_tcp {
                self.frame_answered(packet);
            }
            return has_next;
        }
        // Nearly always, with what the access point and stations have each apart.
        let (node, at_access_point) = (transmitter.node, transmitter.at_access_point);
        if before == 1 {
            self.measures.backlog_changed(self.now, &mut self.nodes[node as usize], false);
        }
        if at_access_point {
            self.measures.ap_queue.decrement(self.now);
            self.access_point_succeeded(node, packet);
        } else {
            self.leave_station(packet);
            if self.tells_tcp {
                self.frame_answered(packet);
            }
        }
        has_next
    }

    /// The MAC has given a packet of queue `id` up.
    pub(super) fn packet_given_up(&mut self, id: ContenderId, packet: &Packet) {
        let queue = &mut self.transmitters[id as usize].queue;
        let before = queue.len();
        queue.done(self.now, packet, &mut self.drops);
        self.fill_place(id, packet, before);
    }

    /// A packet of an access point's queue has got through.
    #[inline(always)]
    fn access_point_succeeded(&mut self, node: NodeId, packet: &Packet) {
        let is_backlogged = self.nodes[node as usize].backlogged_queues > 0;
        self.measures.ap_success(self.measures.backlogged.value() - u64::from(is_backlogged));
        let delay = self.now - packet.arrived;
        self.measures.scopes[packet.body.scope as usize].latency.ap_queue.add(delay);
    }

    /// A packet of queue `id`, which had `before` packets, has left it, and others may go or come for
    /// that: whether it has another one for the MAC then.
    #[inline(always)]
    fn fill_place(&mut self, id: ContenderId, packet: &Packet, before: usize) -> bool {
        self.wait_for_room(id, packet);
        self.refill(id);
        let mut transmitter = &self.transmitters[id as usize];
        if transmitter.queue.has_room() && !transmitter.blocked.is_empty() {
            // A place that was lost to a drop.
            self.refill(id);
            transmitter = &self.transmitters[id as usize];
        }
        let after = transmitter.queue.len();
        self.measures.queue_changed(self.now, transmitter, &mut self.nodes, before, after);
        let has_next = transmitter.queue.has_next();
        if !transmitter.at_access_point {
            self.leave_station(packet);
        }
        if self.drops.is_empty() {
            return has_next;
        }
        self.settle_drops(Drop::Queue(id));
        self.transmitters[id as usize].queue.has_next()
    }

    /// A packet has left the queue of a station, and its MAC. If its connection waits for that it sends on, once
    /// the MAC has done all that it does now.
    #[inline(always)]
    fn leave_station(&mut self, packet: &Packet) {
        let bytes = packet.body.payload_bytes();
        if let Some(id) = packet.body.connection().filter(|_| bytes > 0)
            && self.connections[id as usize].leave_station(bytes)
        {
            self.schedule(self.now, Event::Resume(id));
        }
    }

    /// A saturated flow that waited for room puts its packet into queue `id`, which is not
    /// waiting for the medium just now. What is dropped for it is for the caller to settle.
    fn refill(&mut self, id: ContenderId) {
        let transmitter = &mut self.transmitters[id as usize];
        let Some(flow) = transmitter.blocked.pop_front() else { return };
        transmitter.counts.arrivals += 1;
        let packet = self.next_datagram(flow);
        self.transmitters[id as usize].queue.enqueue(self.now, packet, &mut self.drops);
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
                let place = self.split().network.enqueue(id, packet);
                self.settle_drops(place);
            } else {
                self.transmitters[id as usize].blocked.push_back(flow_id);
            }
        }
    }

    /// The next datagram of a saturated flow.
    fn next_datagram(&mut self, flow_id: u32) -> Packet {
        let flow = &mut self.flows[flow_id as usize];
        let (side, bytes) = flow.saturated.expect("only saturated flows wait for room");
        flow.books.send(bytes);
        let to = match side {
            Side::Server => flow.station_address,
            Side::Station => flow.access_point_address,
        };
        flow.packet(flow_id, to, Content::Datagram { bytes, sent: self.now })
    }

    /// `side` of a flow sends a datagram.
    pub(super) fn send_datagram(&mut self, flow_id: u32, side: Side, bytes: u32) {
        let datagram = Content::Datagram { bytes, sent: self.now };
        let Parts { flows, mut network, .. } = self.split();
        let flow = &mut flows[flow_id as usize];
        let place = network.send(flow, flow_id, side, datagram);
        self.settle_drops(place);
    }

    /// A packet is lost for good.
    pub(super) fn packet_dropped(&mut self, packet: &Packet, place: Drop) {
        let at_access_point = match place {
            Drop::Queue(id) | Drop::Filter(id) | Drop::Mac(id) => {
                self.transmitters[id as usize].at_access_point
            }
            Drop::Wire(_) | Drop::WireFilter(_) | Drop::Link(_) => false,
        };
        self.measures.dropped(place, at_access_point);
        self.record_drop(packet.flow, place);
        let is_queued = matches!(place, Drop::Queue(_) | Drop::Filter(_));
        if is_queued && !at_access_point {
            self.leave_station(packet);
        }
        let flow = &mut self.flows[packet.flow as usize];
        flow.books.drop(packet.body.payload_bytes());
        if let Some((id, segment)) = packet.body.segment() {
            self.connections[id as usize].leave_network(segment);
            self.close_if_over(id);
            return;
        }
        if packet.body.class() == TrafficClass::Udp {
            self.measures.scopes[flow.scope as usize].latency.lost += 1;
            if let Some(speech) = &mut flow.speech {
                speech.lost();
            }
        }
        if let Some(place) = packet.body.foreign() {
            self.foreign.lost.push(place);
        }
    }
}
