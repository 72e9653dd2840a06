//! What happens to packets outside the air: queues, wires, endpoints, transfers.

use airtcp_kernel::Time;
use airtcp_tcp::{Flags, Segment};
use airtcp_wlan::ContenderId;

use super::flow::Flow;
use super::measure::Drop;
use super::node::{NodeId, Transmitter};
use super::{Event, World};
use crate::application::Application;
use crate::connection::{Connection, ENDLESS, News, Purpose, Side};
use crate::control::RunError;
use crate::packet::{Owner, Packet, TrafficClass};
use crate::scenario::{Direction, UDP_HEADER_BYTES};

/// Transfers under way at which a flow that does not wait for their end is too much. Each takes about
/// a kilobyte; nobody waits behind so many.
const MOST_TRANSFERS: usize = 100_000;

impl World<'_> {
    pub(super) fn schedule_first_transfers(&mut self) {
        for index in 0..self.flows.len() {
            let flow = &mut self.flows[index];
            let application = &self.kinds[flow.kind].application;
            let pause = application.first_pause(&mut flow.draws);
            let event = match application {
                Application::Datagrams { .. } => Event::Datagrams(index as u32),
                Application::Bulk { .. } | Application::Web { .. } | Application::Ftp { .. } => {
                    Event::Transfer(index as u32)
                }
            };
            self.schedule(Time::ZERO + pause, event);
        }
    }

    pub(super) fn handle(&mut self, event: Event) {
        match event {
            Event::Timer(connection, side) => self.timer(connection, side),
            Event::Transfer(flow) => self.transfer_is_due(flow),
            Event::Datagrams(flow) => self.offer_datagram(flow),
        }
    }

    fn timer(&mut self, id: u32, side: Side) {
        let connection = &mut self.connections[id as usize];
        if connection.disarm(side, self.now) {
            let kind = self.flows[connection.flow as usize].kind;
            let tcp = self.kinds[kind].tcp.as_ref().expect("connections are TCP");
            connection.endpoint(side).on_timer(&tcp.endpoint, self.now);
            self.drain(id, side);
        }
    }

    /// A flow begins its next transfer; one that does not wait for its end schedules another.
    fn transfer_is_due(&mut self, flow_id: u32) {
        let flow = &mut self.flows[flow_id as usize];
        if let Some(pause) = self.kinds[flow.kind].application.next_arrival(&mut flow.draws) {
            if self.measures.active.value() >= MOST_TRANSFERS {
                self.overloaded(flow_id);
                return;
            }
            self.schedule(self.now + pause, Event::Transfer(flow_id));
        }
        self.start_transfer(flow_id);
    }

    /// A transfer begins, on a connection of its own.
    fn start_transfer(&mut self, flow_id: u32) {
        let flow = &mut self.flows[flow_id as usize];
        let kind = &self.kinds[flow.kind];
        let tcp = kind.tcp.as_ref().expect("transfers go over TCP");
        let mut bytes = kind.application.transfer_bytes(&mut flow.draws).unwrap_or(ENDLESS);
        if tcp.packets.pad_last_segment {
            bytes = bytes.next_multiple_of(u64::from(tcp.endpoint.mss));
        }
        if kind.application.control().is_some() {
            self.begin_dialogue(flow_id, bytes);
            return;
        }
        let request = match kind.direction {
            Direction::Download => kind.application.request_bytes(),
            Direction::Upload => 0,
        };
        let connection =
            Connection::new(&tcp.endpoint, flow_id, kind.direction, request, bytes, self.now);
        let id = self.add_connection(connection);
        self.transfer_started(flow_id);
        self.drain(id, Side::Station);
        self.drain(id, Side::Server);
    }

    pub(super) fn add_connection(&mut self, connection: Connection) -> u32 {
        let id = match self.free_connections.pop() {
            Some(id) => {
                self.connections[id as usize] = connection;
                id
            }
            None => {
                self.connections.push(connection);
                self.connections.len() as u32 - 1
            }
        };
        self.record_connection(id);
        self.capture_connection(id);
        id
    }

    pub(super) fn transfer_started(&mut self, flow: u32) {
        self.measures.transfer_started(self.now, self.flows[flow as usize].scope);
        self.record_start(flow);
    }

    /// More transfers are under way than anybody waits for: the run ends with an error.
    #[cold]
    fn overloaded(&mut self, flow_id: u32) {
        let (name, now) = (&self.flows[flow_id as usize].name, self.now);
        self.failure.get_or_insert_with(|| {
            RunError::Overloaded(format!(
                "flow {name} begins transfers faster than the network carries them: \
                 {MOST_TRANSFERS} are under way after {:.3} s of simulated time; allowed: fewer or \
                 smaller transfers, or a shorter run",
                now.as_secs_f64()
            ))
        });
    }

    /// Sends all that one end of a connection has to send, and sets its timer.
    pub(super) fn drain(&mut self, id: u32, side: Side) {
        let flow = self.connections[id as usize].flow;
        let kind = self.flows[flow as usize].kind;
        loop {
            let tcp = self.kinds[kind].tcp.as_ref().expect("connections are TCP");
            let connection = &mut self.connections[id as usize];
            let sent = connection.poll_transmit(side, &tcp.endpoint, self.now);
            let Some(segment) = sent else { break };
            self.send(flow, side, Owner::Connection(id), segment);
        }
        self.record_end_of_turn(id, side);
        if let Some(deadline) = self.connections[id as usize].arm(side) {
            self.schedule(deadline.max(self.now), Event::Timer(id, side));
        }
    }

    /// `side` of a flow hands a packet to the network.
    #[inline]
    fn send(&mut self, flow_id: u32, side: Side, owner: Owner, segment: Segment) {
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

    /// A packet has crossed the air, sent by `node`.
    pub(super) fn cross_air(&mut self, node: NodeId, packet: Packet) {
        if self.nodes[node as usize].is_access_point() {
            self.arrive(packet, Side::Station);
        } else {
            self.forward_to_server(packet);
        }
    }

    /// The next link of a packet on its way from the access point to the server, or the server.
    fn forward_to_server(&mut self, packet: Packet) {
        let path = &self.flow_of(&packet).path;
        match path.get(usize::from(packet.body.hop)) {
            Some(&link) => self.offer_to_wire(2 * link, packet),
            None => self.arrive(packet, Side::Server),
        }
    }

    /// The next link of a packet on its way from the server to the access point, or its queue.
    #[inline]
    fn forward_to_ap(&mut self, packet: Packet) {
        let &Flow { ref path, access_point, .. } = self.flow_of(&packet);
        match path.len().checked_sub(1 + usize::from(packet.body.hop)) {
            Some(index) => self.offer_to_wire(2 * path[index] + 1, packet),
            None => self.enqueue(access_point, packet),
        }
    }

    fn offer_to_wire(&mut self, wire: u32, packet: Packet) {
        if let Err(packet) = self.links.wires.offer(self.now, wire, packet) {
            self.packet_dropped(&packet, Drop::Wire(wire));
        }
    }

    /// The packet arrives that is due on a wire.
    pub(super) fn wire_arrival(&mut self) {
        let (wire, mut packet) = self.links.wires.arrive();
        packet.body.hop += 1;
        if wire.is_multiple_of(2) {
            self.forward_to_server(packet);
        } else {
            self.forward_to_ap(packet);
        }
    }

    /// A packet has reached one end.
    fn arrive(&mut self, packet: Packet, side: Side) {
        let segment = &packet.body.segment;
        let flow = &mut self.flows[packet.flow as usize];
        flow.books.received.add(segment.len);
        match packet.body.owner {
            Owner::Datagram => self.deliver(packet.flow, u64::from(segment.len)),
            Owner::Connection(id) => {
                let connection = &mut self.connections[id as usize];
                let tcp = self.kinds[flow.kind].tcp.as_ref().expect("connections are TCP");
                connection.arrive(side, &tcp.endpoint, self.now, segment);
                match connection.purpose {
                    Purpose::Transfer => {
                        self.advance_transfer(id, side);
                        self.drain(id, side);
                    }
                    Purpose::Data(session) => self.arrive_for_data(id, side, session),
                    Purpose::Control(session) => self.arrive_for_control(id, side, session),
                }
                self.close_if_over(id);
            }
        }
    }

    /// What one end has received or had acknowledged may mean something to its application.
    #[inline]
    fn advance_transfer(&mut self, id: u32, side: Side) {
        let connection = &mut self.connections[id as usize];
        let (flow, started) = (connection.flow, connection.transfer.started);
        match connection.advance(side) {
            News::None => {}
            News::Acknowledged => {
                let scope = self.flows[flow as usize].scope;
                self.measures.transfer_acknowledged(self.now, started, scope);
            }
            News::Delivered { bytes, last } => {
                self.deliver(flow, bytes);
                if last {
                    self.transfer_received(flow, started);
                }
            }
        }
    }

    /// The receiver has the last byte: its user thinks before the next transfer.
    pub(super) fn transfer_received(&mut self, flow_id: u32, started: Time) {
        self.record_end(flow_id);
        let flow = &mut self.flows[flow_id as usize];
        if self.measures.transfer_received(self.now, started, flow.scope) {
            flow.measured.transfers += 1;
            flow.measured.transfer_time_sum_s += (self.now - started).as_secs_f64();
        }
        let pause = self.kinds[flow.kind].application.next_pause(&mut flow.draws);
        if let Some(pause) = pause {
            self.schedule(self.now + pause, Event::Transfer(flow_id));
        }
    }

    pub(super) fn deliver(&mut self, flow: u32, bytes: u64) {
        self.record_delivery(flow, bytes);
        if self.measures.delivered(self.now, bytes) {
            self.flows[flow as usize].measured.delivered_bytes += bytes;
        }
    }

    fn close_if_over(&mut self, id: u32) {
        let connection = &mut self.connections[id as usize];
        if connection.open && connection.is_over() {
            connection.open = false;
            let counted = connection.counted();
            self.flows[connection.flow as usize].measured.tcp.add(counted);
            self.free_connections.push(id);
        }
    }

    /// Puts a packet into a queue of a node, which may drop it, or others for it.
    fn enqueue(&mut self, node_id: NodeId, packet: Packet) {
        let node = &mut self.nodes[node_id as usize];
        node.counts.arrivals += 1;
        let id = node.route(packet.body.class());
        let before = self.put(id, packet);
        self.queue_changed(id, before);
        if before == 0 && !self.transmitters[id as usize].queue.is_empty() {
            self.ready.push(id);
        }
        if !self.drops.is_empty() {
            self.settle_drops(id);
        }
    }

    /// Puts a packet into queue `id`: how many were in it.
    #[inline]
    fn put(&mut self, id: ContenderId, packet: Packet) -> usize {
        let transmitter = &mut self.transmitters[id as usize];
        let before = transmitter.queue.len();
        transmitter.queue.enqueue(self.now, packet, &mut self.drops);
        before
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

    /// If `packet`, which has left queue `id`, is of a saturated flow, that waits for room there.
    #[inline]
    fn wait_for_room(&mut self, id: ContenderId, packet: &Packet) {
        if packet.body.owner == Owner::Datagram && self.is_saturated(packet.flow) {
            self.transmitters[id as usize].blocked.push_back(packet.flow);
        }
    }

    /// The MAC is done with a packet of queue `id`, which has one less then. A flow of datagrams puts
    /// its next one in.
    pub(super) fn remove_sent(&mut self, id: ContenderId, packet: &Packet) {
        let transmitter = &mut self.transmitters[id as usize];
        let before = transmitter.queue.len();
        transmitter.queue.done(self.now);
        self.wait_for_room(id, packet);
        self.refill(id);
        self.queue_changed(id, before);
    }

    /// A saturated flow that waited for room puts its packet into queue `id`, which is not
    /// waiting for the medium just now.
    fn refill(&mut self, id: ContenderId) {
        let transmitter = &mut self.transmitters[id as usize];
        let Some(flow) = transmitter.blocked.pop_front() else { return };
        self.nodes[transmitter.node as usize].counts.arrivals += 1;
        let packet = self.next_datagram(flow);
        self.put(id, packet);
        if !self.drops.is_empty() {
            self.settle_drops(id);
        }
    }

    /// Queue `id` had `before` packets: what is measured of its node's queues is measured again.
    #[inline]
    pub(super) fn queue_changed(&mut self, id: ContenderId, before: usize) {
        let Transmitter { node, ref queue, .. } = self.transmitters[id as usize];
        let after = queue.len();
        if before == after {
            return;
        }
        let node = &mut self.nodes[node as usize];
        if node.is_access_point() {
            let packets = self.measures.ap_queue.value() + after as u64 - before as u64;
            self.measures.ap_queue.set(self.now, packets);
        }
        if before == 0 {
            node.backlogged_queues += 1;
            if node.backlogged_queues == 1 {
                self.measures.backlogged.increment(self.now);
            }
        } else if after == 0 {
            node.backlogged_queues -= 1;
            if node.backlogged_queues == 0 {
                self.measures.backlogged.decrement(self.now);
            }
        }
    }

    /// Whether any queue of `node` has a packet.
    pub(super) fn is_backlogged(&self, node: NodeId) -> bool {
        self.nodes[node as usize].backlogged_queues > 0
    }

    /// A saturated flow takes its place in the queue, or waits until there is one; a source of
    /// constant rate sends its next datagram.
    fn offer_datagram(&mut self, flow_id: u32) {
        if !self.is_saturated(flow_id) {
            self.send_datagram(flow_id);
            return;
        }
        let flow = &self.flows[flow_id as usize];
        let node_id = match self.kinds[flow.kind].direction {
            Direction::Download => flow.access_point,
            Direction::Upload => flow.station,
        };
        let id = self.nodes[node_id as usize].route(TrafficClass::Udp);
        if self.transmitters[id as usize].queue.has_room() {
            let packet = self.next_datagram(flow_id);
            self.enqueue(node_id, packet);
        } else {
            self.transmitters[id as usize].blocked.push_back(flow_id);
        }
    }

    /// One datagram of a source of constant rate, and the event of the next: the n-th goes n
    /// packet times after the first, without an error that adds up.
    fn send_datagram(&mut self, flow_id: u32) {
        let flow = &mut self.flows[flow_id as usize];
        if flow.datagrams.1 == 0 {
            flow.datagrams.0 = self.now;
        }
        flow.datagrams.1 += 1;
        let (first, count) = flow.datagrams;
        let kind = &self.kinds[flow.kind];
        let next = first + kind.application.datagram_time(count);
        let (direction, station) = (kind.direction, flow.station);
        self.schedule(next, Event::Datagrams(flow_id));
        let packet = self.next_datagram(flow_id);
        match direction {
            Direction::Download => self.forward_to_ap(packet),
            Direction::Upload => self.enqueue(station, packet),
        }
    }

    /// Whether a flow of datagrams always has one more.
    fn is_saturated(&self, flow_id: u32) -> bool {
        let kind = self.flows[flow_id as usize].kind;
        matches!(self.kinds[kind].application, Application::Datagrams { rate_bps: None, .. })
    }

    fn next_datagram(&mut self, flow_id: u32) -> Packet {
        let flow = &mut self.flows[flow_id as usize];
        let kind = &self.kinds[flow.kind];
        let Application::Datagrams { packet_bytes, .. } = kind.application else {
            unreachable!("{} sends no datagrams", flow.name)
        };
        let len = packet_bytes - UDP_HEADER_BYTES;
        flow.books.sent.add(len);
        let to = match kind.direction {
            Direction::Download => flow.station_address,
            Direction::Upload => flow.access_point_address,
        };
        let segment = Segment { seq: 0, ack: 0, len, flags: Flags::NONE };
        flow.packet(flow_id, to, Owner::Datagram, segment)
    }

    /// A packet is lost for good.
    pub(super) fn packet_dropped(&mut self, packet: &Packet, place: Drop) {
        let node = match place {
            Drop::Queue(id) | Drop::Mac(id) => Some(self.transmitters[id as usize].node),
            Drop::Wire(_) => None,
        };
        let at_access_point = node.is_some_and(|node| self.nodes[node as usize].is_access_point());
        self.measures.dropped(place, at_access_point);
        self.record_drop(packet.flow, place);
        self.flows[packet.flow as usize].books.dropped.add(packet.body.segment.len);
        if let Owner::Connection(id) = packet.body.owner {
            self.connections[id as usize].leave_network(&packet.body.segment);
            self.close_if_over(id);
        }
    }
}
