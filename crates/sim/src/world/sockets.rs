//! Between applications and endpoints: what applications want is done, and they are told what comes.
//!
//! Knows connections, their timers and what each end sends; where packets go from there is in
//! `traffic`.

#[cfg(test)]
mod tests;

use airtcp_kernel::Time;
use airtcp_net::Packet;

use super::{Event, World};
use crate::app::{Action, AppEvent, Service};
use crate::connection::{Connection, Side};
use crate::control::RunError;
use crate::packet::{Body, Owner};
use crate::scenario::Direction;

/// Transfers under way at which a flow that does not wait for their end is too much. Each takes about
/// a kilobyte; nobody waits behind so many.
const MOST_TRANSFERS: usize = 100_000;

/// Datagrams in queues and on wires at which sources of constant rate are too fast. Each takes some 60
/// bytes; at 11 Mb/s an hour passes until so many have gone.
const MOST_DATAGRAMS: u64 = 4_000_000;

/// How many datagrams a flow sends between two looks at how many there are.
const DATAGRAMS_BETWEEN_LOOKS: u64 = 1 << 12;

impl World<'_> {
    /// All applications start.
    pub(super) fn start_applications(&mut self) {
        for id in 0..self.flows.len() {
            let flow = &mut self.flows[id];
            flow.app.start(self.now, &mut flow.draws, &mut self.actions);
            self.carry_out(id as u32);
        }
    }

    /// A timer of one end of a connection may be due.
    pub(super) fn timer(&mut self, id: u32, side: Side) {
        let connection = &mut self.connections[id as usize];
        if connection.disarm(side, self.now) {
            let tcp = self.flows[connection.flow as usize].tcp();
            connection.endpoint(side).on_timer(&tcp.endpoint, self.now);
            self.drain_apart(id, side);
        }
    }

    /// The application of a flow is woken.
    #[inline(never)]
    pub(super) fn wake(&mut self, flow: u32) {
        self.tell(flow, AppEvent::Woken);
    }

    /// A packet has reached one end.
    #[inline]
    pub(super) fn arrive(&mut self, packet: &Packet<Body>, side: Side) {
        let segment = &packet.body.segment;
        let flow = &mut self.flows[packet.flow as usize];
        flow.books.received.add(segment.len);
        let Some(id) = packet.body.owner.connection() else {
            self.datagram_arrived(packet);
            return;
        };
        let connection = &mut self.connections[id as usize];
        let (now, rtt) = (self.now, &mut self.measures.scopes[flow.scope as usize].latency.rtt);
        connection.arrive(side, &flow.tcp().endpoint, now, segment, |sent| rtt.add(now - sent));
        let event =
            AppEvent::Arrived { tag: connection.tag, side, end: connection.seen_from(side) };
        if connection.acks_first {
            self.acknowledge_then_tell(id, side, packet.flow, event);
        } else {
            self.tell(packet.flow, event);
            self.drain(id, side);
        }
        self.close_if_over(id);
    }

    /// Sends what one end has to send, and tells its application what has arrived there only then.
    fn acknowledge_then_tell(&mut self, id: u32, side: Side, flow: u32, event: AppEvent) {
        self.drain_apart(id, side);
        self.tell(flow, event);
    }

    /// Tells an application what has happened, and does what it wants.
    #[inline(always)]
    fn tell(&mut self, flow_id: u32, event: AppEvent) {
        let flow = &mut self.flows[flow_id as usize];
        flow.app.on_event(self.now, event, &mut flow.draws, &mut self.actions);
        let delivered = self.actions.delivered;
        if delivered > 0 {
            self.actions.delivered = 0;
            if self.measures.delivered(self.now, delivered) {
                flow.measured.delivered_bytes += delivered;
            }
            self.record_delivery(flow_id, delivered);
        }
        if !self.actions.list.is_empty() {
            self.carry_out(flow_id);
        }
    }

    /// Does what the application of `flow` wants.
    #[inline(never)]
    fn carry_out(&mut self, flow: u32) {
        // Nothing that is done here makes an application want more: packets arrive later.
        let mut list = std::mem::take(&mut self.actions.list);
        for action in list.drain(..) {
            match action {
                Action::Wake { at } => self.schedule(at, Event::Wake(flow)),
                Action::Open { tag, service, opener, acks_first } => {
                    self.open(flow, tag, service, opener, acks_first);
                }
                Action::Write { tag, side, bytes, last } => {
                    let id = self.place(flow, tag);
                    let endpoint = self.connections[id as usize].endpoint(side);
                    endpoint.write(bytes);
                    if last {
                        endpoint.close();
                    }
                    self.drain_apart(id, side);
                }
                Action::Close { tag, side } => {
                    let id = self.place(flow, tag);
                    self.connections[id as usize].endpoint(side).close();
                    self.drain_apart(id, side);
                }
                Action::Abandon { tag } => {
                    let id = self.place(flow, tag);
                    self.connections[id as usize].abandon();
                }
                Action::Send { side, bytes } => {
                    let sent = self.flows[flow as usize].books.sent.packets;
                    if sent % DATAGRAMS_BETWEEN_LOOKS == DATAGRAMS_BETWEEN_LOOKS - 1 {
                        self.look_for_a_flood(flow);
                    }
                    if self.failure.is_none() {
                        self.send_datagram(flow, side, bytes);
                    }
                }
                Action::Saturate { side, bytes } => self.saturate(flow, side, bytes),
                Action::Began { unbidden } => {
                    if unbidden && self.measures.active.value() >= MOST_TRANSFERS {
                        self.overloaded(flow);
                        break;
                    }
                    let scope = self.flows[flow as usize].scope;
                    self.measures.transfer_started(self.now, scope);
                    self.record_start(flow);
                }
                Action::Received { began } => self.transfer_received(flow, began),
                Action::Acknowledged { began } => {
                    let scope = self.flows[flow as usize].scope;
                    self.measures.transfer_acknowledged(self.now, began, scope);
                }
            }
        }
        self.actions.list = list;
    }

    /// Where the connection is that the application of `flow` calls `tag`.
    fn place(&self, flow: u32, tag: u32) -> u32 {
        self.flows[flow as usize].places[tag as usize]
    }

    fn open(
        &mut self,
        flow_id: u32,
        tag: u32,
        service: Service,
        opener: Option<Side>,
        acks_first: bool,
    ) {
        let flow = &mut self.flows[flow_id as usize];
        let sender = match flow.config.direction {
            Direction::Download => Side::Server,
            Direction::Upload => Side::Station,
        };
        let config = &flow.tcp().endpoint;
        let connection = Connection::new(config, opener, sender, flow_id, tag, acks_first);
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
        let known = flow.places.len().max(tag as usize + 1);
        flow.places.resize(known, u32::MAX);
        flow.places[tag as usize] = id;
        self.record_connection(id);
        self.capture_connection(id, service);
        if let Some(opener) = opener {
            self.drain_apart(id, opener);
        }
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

    /// More datagrams may wait than anybody waits for: then the run ends with an error.
    #[cold]
    fn look_for_a_flood(&mut self, flow_id: u32) {
        let udp = self.flows.iter().filter(|flow| flow.config.tcp.is_none());
        let under_way: u64 = udp.map(|flow| flow.books.under_way()).sum();
        if under_way < MOST_DATAGRAMS {
            return;
        }
        let (name, now) = (&self.flows[flow_id as usize].name, self.now);
        self.failure.get_or_insert_with(|| {
            RunError::Overloaded(format!(
                "flow {name} sends faster than the network carries: {under_way} datagrams wait \
                 after {:.3} s of simulated time; allowed: a lower rate, a limit of the queue that \
                 they wait in, or a shorter run",
                now.as_secs_f64()
            ))
        });
    }

    /// [`Self::drain`] where that is rare.
    #[inline(never)]
    fn drain_apart(&mut self, id: u32, side: Side) {
        self.drain(id, side);
    }

    /// Sends all that one end of a connection has to send, and sets its timer.
    #[inline(always)]
    fn drain(&mut self, id: u32, side: Side) {
        let flow = self.connections[id as usize].flow;
        let tcp = self.flows[flow as usize].tcp();
        loop {
            let connection = &mut self.connections[id as usize];
            let sent = connection.poll_transmit(side, &tcp.endpoint, self.now);
            let Some(segment) = sent else { break };
            self.send(flow, side, Owner::of(id), segment);
        }
        self.record_end_of_turn(id, side);
        if let Some(deadline) = self.connections[id as usize].arm(side) {
            self.schedule(deadline.max(self.now), Event::Timer(id, side));
        }
    }

    /// The receiver has the last byte of a transfer that began at `began`.
    fn transfer_received(&mut self, flow_id: u32, began: Time) {
        self.record_end(flow_id);
        let flow = &mut self.flows[flow_id as usize];
        if self.measures.transfer_received(self.now, began, flow.scope) {
            let measured = &mut flow.measured;
            measured.transfers += 1;
            measured.transfer_time_sum_s += (self.now - began).as_secs_f64();
        }
    }

    /// A datagram has reached an application.
    #[inline]
    fn datagram_arrived(&mut self, packet: &Packet<Body>) {
        let bytes = u64::from(packet.body.segment.len);
        self.record_delivery(packet.flow, bytes);
        let counts = self.measures.delivered(self.now, bytes);
        let flow = &mut self.flows[packet.flow as usize];
        if counts {
            flow.measured.delivered_bytes += bytes;
        }
        let latency = &mut self.measures.scopes[flow.scope as usize].latency;
        latency.datagram(packet.body.sent(), self.now, &mut flow.jitter);
    }

    /// Forgets a connection on which nothing is left to happen.
    #[inline(always)]
    pub(super) fn close_if_over(&mut self, id: u32) {
        let connection = &self.connections[id as usize];
        if connection.open && connection.is_over() {
            self.close(id);
        }
    }

    #[cold]
    fn close(&mut self, id: u32) {
        let connection = &mut self.connections[id as usize];
        connection.open = false;
        let (tag, counted) = (connection.tag, connection.counted());
        let flow = &mut self.flows[connection.flow as usize];
        flow.measured.tcp.add(counted);
        flow.app.on_gone(tag);
        self.free_connections.push(id);
    }
}
