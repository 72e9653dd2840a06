//! Packets outside of the medium: the next link, queue or end that each goes to, and what follows
//! when the MAC is done with one. Losses are handled in [`lost`](super::lost).

use airtcp_wlan::ContenderId;

use super::lost::Place;
use super::network::Split;
use super::{Event, World};
use crate::connection::Side;
use crate::packet::{Content, Packet};

impl World<'_> {
    /// Forwards a packet from the access point towards the server: to the next link, or to the
    /// server.
    #[inline]
    pub(super) fn forward_to_server(&mut self, packet: &Packet) {
        match self.flow_of(packet).link_to_server(packet.body.hop) {
            Some(link) => {
                let dropped_at = self.split().network.offer_to_wire(2 * link, packet);
                self.settle_if_any(dropped_at);
            }
            None => self.arrive(packet, Side::Server),
        }
    }

    /// Plays the next event of a link, usually the arrival of a packet.
    pub(super) fn wire_event(&mut self) {
        if self.links.wires.is_departure_next() {
            let wire = self.links.wires.next_departs(&mut self.drops);
            if !self.drops.is_empty() {
                self.settle(Place::WireQueue(wire));
            }
            return;
        }
        let wire = self.links.wires.next_arrives();
        if self.links.loses(wire) {
            let packet = self.links.wires.take_arriving(wire);
            self.lose(&packet, Place::Wire(wire));
        } else if wire.is_multiple_of(2) {
            let mut packet = self.links.wires.take_arriving(wire);
            packet.body.hop += 1;
            self.forward_to_server(&packet);
        } else {
            let Split { flows, mut network, .. } = self.split();
            let dropped_at = network.forward_to_ap(flows, wire);
            self.settle_if_any(dropped_at);
        }
    }

    /// Removes a packet from queue `id`, because the MAC is done with it. Returns whether the queue
    /// has another packet for the MAC.
    #[inline(always)]
    pub(super) fn packet_acknowledged(&mut self, id: ContenderId, packet: &Packet) -> bool {
        let transmitter = &mut self.transmitters[id as usize];
        let before = transmitter.queue.len();
        let has_next = transmitter.queue.done(self.now, packet, &mut self.drops);
        let fills_places =
            packet.body.is_datagram() || self.has_saturated && !transmitter.blocked.is_empty();
        if fills_places || !self.drops.is_empty() {
            return self.place_acknowledged(id, packet, before);
        }
        // By far the most frequent case, with separate code for the access point and for stations.
        let (node, at_access_point) = (transmitter.node, transmitter.at_access_point);
        if before == 1 {
            self.ledger.backlog_changed(self.now, &mut self.nodes[node as usize], false);
        }
        if at_access_point {
            self.ledger.ap_queue_shrinks(self.now);
            self.access_point_succeeded(packet);
        } else {
            self.leave_station(packet);
            if self.watchers.tells_tcp {
                self.frame_answered(packet);
            }
        }
        has_next
    }

    /// Ends [`Self::packet_acknowledged`] for a place in queue `id`, which had `before` packets,
    /// that is filled at once, or after drops.
    #[inline(never)]
    fn place_acknowledged(&mut self, id: ContenderId, packet: &Packet, before: usize) -> bool {
        let has_next = self.fill_place(id, packet, before);
        if self.transmitters[id as usize].at_access_point {
            self.access_point_succeeded(packet);
        } else if self.watchers.tells_tcp {
            self.frame_answered(packet);
        }
        has_next
    }

    /// Removes a packet from queue `id` that the MAC has given up.
    pub(super) fn packet_given_up(&mut self, id: ContenderId, packet: &Packet) {
        let queue = &mut self.transmitters[id as usize].queue;
        let before = queue.len();
        queue.done(self.now, packet, &mut self.drops);
        self.fill_place(id, packet, before);
    }

    /// Records that a packet of an access point's queue was acknowledged.
    #[inline(always)]
    fn access_point_succeeded(&mut self, packet: &Packet) {
        self.ledger.ap_success();
        let delay = self.now - packet.arrived;
        self.ledger.latency(packet.body.scope).ap_queue.add(delay);
    }

    /// Fills the place of `packet` in queue `id`, which had `before` packets, with one of a waiting
    /// saturated flow. Handles dropped packets, and returns whether the queue then has another
    /// packet for the MAC.
    #[inline(always)]
    fn fill_place(&mut self, id: ContenderId, packet: &Packet, before: usize) -> bool {
        self.wait_for_room(id, packet);
        self.refill(id);
        let mut transmitter = &self.transmitters[id as usize];
        if transmitter.queue.has_room() && !transmitter.blocked.is_empty() {
            // A place that became free by a drop.
            self.refill(id);
            transmitter = &self.transmitters[id as usize];
        }
        let after = transmitter.queue.len();
        self.ledger.queue_changed(self.now, transmitter, &mut self.nodes, before, after);
        let has_next = transmitter.queue.has_next();
        if !transmitter.at_access_point {
            self.leave_station(packet);
        }
        if self.drops.is_empty() {
            return has_next;
        }
        self.settle(Place::Queue(id));
        self.transmitters[id as usize].queue.has_next()
    }

    /// Tells the connection of a packet that it has left the queue of a station and its MAC. If the
    /// connection waits for that, it continues to send after the MAC has finished its current work.
    #[inline(always)]
    pub(super) fn leave_station(&mut self, packet: &Packet) {
        let bytes = packet.body.payload_bytes();
        if let Some(id) = packet.body.connection().filter(|_| bytes > 0)
            && self.connections[id as usize].leave_station(bytes)
        {
            self.schedule(self.now, Event::Resume(id));
        }
    }

    /// Sends a datagram from `side` of a flow.
    pub(super) fn send_datagram(&mut self, flow_id: u32, side: Side, bytes: u32) {
        let datagram = Content::Datagram { bytes, sent: self.now };
        let Split { flows, mut network, .. } = self.split();
        let flow = &mut flows[flow_id as usize];
        let dropped_at = network.send(flow, flow_id, side, datagram);
        self.settle_if_any(dropped_at);
    }
}
