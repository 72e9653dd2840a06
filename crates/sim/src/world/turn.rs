//! The turn of one end of a connection: TCP receives a segment, its application is told, and TCP
//! sends everything it may.
//!
//! Most of a run's work is here, so flow and connection are looked up only once. Rare cases (an
//! application requests actions, packets are dropped) involve the whole [`World`], and the turn
//! continues after them.

use airtcp_kernel::Time;
use airtcp_tcp::Config;

use super::flow::Flow;
use super::lost::Place;
use super::network::{Network, Split};
use super::{Event, World};
use crate::app::AppEvent;
use crate::connection::{Connection, Side};
use crate::packet::{Content, Packet};

impl World<'_> {
    /// Delivers a packet to one end of its flow. Segments with timestamps have a separate function
    /// in which their code path is inlined, and the other is not.
    #[inline(always)]
    pub(super) fn arrive(&mut self, packet: &Packet, side: Side) {
        if packet.body.has_timestamps() {
            self.arrive_stamped(packet, side);
        } else {
            self.arrive_unstamped(packet, side);
        }
    }

    #[inline(never)]
    fn arrive_stamped(&mut self, packet: &Packet, side: Side) {
        self.arrive_by::<true>(packet, side);
    }

    #[inline(never)]
    fn arrive_unstamped(&mut self, packet: &Packet, side: Side) {
        self.arrive_by::<false>(packet, side);
    }

    /// Delivers a packet. `STAMPED` says whether segments of its connection usually have
    /// timestamps.
    #[inline(always)]
    fn arrive_by<const STAMPED: bool>(&mut self, packet: &Packet, side: Side) {
        #[cfg(test)]
        self.log.arrived(self.now, side, packet);
        let Split { flows, connections, actions, mut network } = self.split();
        let flow = &mut flows[packet.flow as usize];
        flow.books.receive(packet.body.payload_bytes());
        let Some((id, segment)) = packet.body.segment() else {
            let Some(sent) = packet.body.datagram() else {
                self.hand_out(packet, side);
                return;
            };
            network.deliver(flow, packet.flow, u64::from(packet.body.payload_bytes()));
            let latency = network.queues.ledger.latency(flow.scope);
            latency.datagram(sent, network.queues.now, &mut flow.jitter);
            if let Some(speech) = &mut flow.speech {
                speech.received(network.queues.now - sent);
            }
            return;
        };
        let connection = &mut connections[id as usize];
        let config = flow.end(side);
        let (now, latency) = (network.queues.now, network.queues.ledger.latency(flow.scope));
        let round_trip = |trip, sent| latency.round_trip(trip, sent, now);
        let came = connection.arrive::<STAMPED>(side, config, now, segment, round_trip);
        if came > 0 {
            network.deliver(flow, packet.flow, came);
        }
        if connection.is_awaited(side) {
            if connection.acks_first {
                self.acknowledge_then_tell(id, side);
                return;
            }
            flow.app.on_event(now, arrived(connection, side), &mut flow.draws, actions);
            if !actions.list.is_empty() {
                self.carry_out_then_drain(id, side);
                return;
            }
        }
        if !connection.end(side).has_nothing_to_send()
            && let Some(place) =
                send_all::<STAMPED>(config, flow, connection, id, side, &mut network)
        {
            self.settle_then_drain(id, side, place);
            return;
        }
        let deadline = connection.arm(side);
        let is_over = connection.is_over() && connection.open;
        if deadline.is_some() || is_over || network.recorder.is_some() {
            self.end_eventful_turn(id, side, deadline, is_over);
        }
    }

    /// Ends a turn after which a timer must be set, the connection may be over, or a recorder is
    /// active.
    #[inline(never)]
    fn end_eventful_turn(&mut self, id: u32, side: Side, deadline: Option<Time>, is_over: bool) {
        self.end_turn(id, side, deadline);
        if is_over {
            self.close(id);
        }
    }

    /// Sends what one end has to send, and only then tells its application what has arrived.
    #[inline(never)]
    fn acknowledge_then_tell(&mut self, id: u32, side: Side) {
        self.drain(id, side);
        let connection = &self.connections[id as usize];
        let (flow, event) = (connection.flow, arrived(connection, side));
        self.tell(flow, event);
        self.close_if_over(id);
    }

    /// Reports an event to an application, and carries out its actions.
    pub(super) fn tell(&mut self, id: u32, event: AppEvent) {
        let flow = &mut self.flows[id as usize];
        flow.app.on_event(self.now, event, &mut flow.draws, &mut self.actions);
        self.carry_out(id);
    }

    /// Carries out the application's actions, and continues to send.
    #[inline(never)]
    fn carry_out_then_drain(&mut self, id: u32, side: Side) {
        self.carry_out(self.connections[id as usize].flow);
        self.drain(id, side);
        self.close_if_over(id);
    }

    /// Handles packets dropped at `place`, and continues to send.
    #[cold]
    fn settle_then_drain(&mut self, id: u32, side: Side, place: Place) {
        self.settle(place);
        self.drain(id, side);
        self.close_if_over(id);
    }

    /// Sends everything that one end of a connection has to send, and sets its timer.
    #[inline(never)]
    pub(super) fn drain(&mut self, id: u32, side: Side) {
        let deadline = loop {
            let Split { flows, connections, mut network, .. } = self.split();
            let connection = &mut connections[id as usize];
            let flow = &mut flows[connection.flow as usize];
            let config = flow.end(side);
            match send_all::<false>(config, flow, connection, id, side, &mut network) {
                Some(place) => self.settle(place),
                None => break connection.arm(side),
            }
        };
        self.end_turn(id, side, deadline);
    }

    /// Ends the turn of an end that has sent everything: sets its timer to `deadline`, if given.
    #[inline(always)]
    fn end_turn(&mut self, id: u32, side: Side, deadline: Option<Time>) {
        self.record_end_of_turn(id, side);
        if let Some(deadline) = deadline {
            self.schedule(deadline.max(self.now), Event::Timer(id, side));
        }
    }

    /// Closes a connection on which nothing more can happen.
    #[inline(always)]
    pub(super) fn close_if_over(&mut self, id: u32) {
        let connection = &self.connections[id as usize];
        if connection.open && connection.is_over() {
            self.close(id);
        }
    }
}

/// Creates the event that tells the application of `connection` what `side` has received so far.
#[inline(always)]
fn arrived(connection: &Connection, side: Side) -> AppEvent {
    AppEvent::Arrived { tag: connection.tag, side, end: connection.seen_from(side) }
}

/// Sends everything that one end of connection `id` has to send. Stops if packets are dropped, and
/// returns where.
#[inline(always)]
fn send_all<const STAMPED: bool>(
    config: &Config,
    flow: &mut Flow<'_>,
    connection: &mut Connection,
    id: u32,
    side: Side,
    network: &mut Network<'_>,
) -> Option<Place> {
    let flow_id = connection.flow;
    let now = network.queues.now;
    while let Some((segment, more)) = connection.poll_transmit::<STAMPED>(side, config, now) {
        let content = Content::Segment { connection: id, segment };
        let dropped_at = network.send(flow, flow_id, side, content);
        #[cfg(test)]
        network.log.sacked(connection.sack_blocks(&segment));
        if dropped_at.is_some() {
            return dropped_at;
        }
        if !more {
            break;
        }
    }
    None
}
