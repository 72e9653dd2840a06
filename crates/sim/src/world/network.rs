//! The way of packets from the ends of connections to queues and wires, and what is counted on it.
//!
//! A [`Network`] is the part of the world that packets go through, while the caller holds flows and
//! connections: neither has to be looked up again for each packet. So it can tell neither of a loss. Each
//! way into it returns the place at which packets were dropped, nearly always none, and the caller has
//! the whole world settle them ([`World::settle`]) before anything else happens.

use airtcp_kernel::Time;
use airtcp_net::Wires;
use airtcp_wlan::ContenderId;

use super::World;
use super::flow::{Flow, Links};
use super::lost::Place;
use super::measure::Measures;
use super::node::{Node, Transmitter};
use super::record::Recorder;
use crate::app::Actions;
use crate::connection::{Connection, Side};
use crate::packet::{Body, Content, Packet};

/// Queues and wires at one instant.
pub(super) struct Network<'w> {
    pub(super) now: Time,
    pub(super) nodes: &'w mut Vec<Node>,
    pub(super) transmitters: &'w mut Vec<Transmitter>,
    pub(super) links: &'w mut Links,
    pub(super) measures: &'w mut Measures,
    pub(super) recorder: &'w mut Option<Box<Recorder>>,
    /// The time of the next event in the world.
    pub(super) next: &'w mut Time,
    pub(super) ready: &'w mut Vec<ContenderId>,
    /// The packets that were dropped and not settled yet.
    pub(super) drops: &'w mut Vec<Packet>,
    #[cfg(test)]
    pub(super) log: &'w mut super::log::Log,
}

/// The ends of the world, and the network between them.
pub(super) struct Split<'w, 's> {
    pub(super) flows: &'w mut Vec<Flow<'s>>,
    pub(super) connections: &'w mut Vec<Connection>,
    pub(super) actions: &'w mut Actions,
    pub(super) network: Network<'w>,
}

impl<'s> World<'s> {
    #[inline(always)]
    pub(super) fn split(&mut self) -> Split<'_, 's> {
        let network = Network {
            now: self.now,
            nodes: &mut self.nodes,
            transmitters: &mut self.transmitters,
            links: &mut self.links,
            measures: &mut self.measures,
            recorder: &mut self.watchers.recorder,
            next: &mut self.next,
            ready: &mut self.ready,
            drops: &mut self.drops,
            #[cfg(test)]
            log: &mut self.log,
        };
        Split {
            flows: &mut self.flows,
            connections: &mut self.connections,
            actions: &mut self.actions,
            network,
        }
    }
}

// All of it is inlined, so that a packet is made where it waits, not copied there.
impl Network<'_> {
    /// Sends a packet from one end of `flow`, the number `id`, and returns the place at which packets were
    /// dropped for it, if any were.
    #[must_use]
    #[inline(always)]
    pub(super) fn send(
        &mut self,
        flow: &mut Flow<'_>,
        id: u32,
        side: Side,
        content: Content,
    ) -> Option<Place> {
        #[cfg(test)]
        self.log.sent(self.now, side, &flow.packet(id, 0, content));
        match side {
            Side::Station => {
                let packet = flow.packet(id, flow.receiver_from(side), content);
                flow.books.send(packet.body.payload_bytes());
                self.enqueue(flow.station_queue(&packet), packet)
            }
            Side::Server => {
                let packet = flow.packet(id, flow.receiver_from(side), content);
                flow.books.send(packet.body.payload_bytes());
                self.forward_to_ap(flow, packet)
            }
        }
    }

    /// Does as [`Self::send`] with a packet that was made elsewhere.
    #[must_use]
    pub(super) fn hand_over(
        &mut self,
        flow: &Flow<'_>,
        side: Side,
        packet: Packet,
    ) -> Option<Place> {
        match side {
            Side::Station => self.enqueue(flow.station_queue(&packet), packet),
            Side::Server => self.forward_to_ap(flow, packet),
        }
    }

    /// Forwards a packet of `flow` on its way from the server to the access point: to the next link, or the
    /// access point's queue. Returns as [`Self::send`].
    #[must_use]
    #[inline(always)]
    pub(super) fn forward_to_ap(&mut self, flow: &Flow<'_>, packet: Packet) -> Option<Place> {
        match flow.link_to_ap(&packet) {
            Some(link) => self.offer_to_wire(2 * link + 1, packet),
            None => self.enqueue(flow.access_point_queue(&packet), packet),
        }
    }

    /// Puts a packet on a wire. Returns as [`Self::send`].
    #[must_use]
    #[inline(always)]
    pub(super) fn offer_to_wire(&mut self, wire: u32, mut packet: Packet) -> Option<Place> {
        packet.body.hop += 1;
        offer_to_wire(&mut self.links.wires, self.now, wire, packet, self.drops);
        *self.next = (*self.next).min(self.links.wires.next_time());
        (!self.drops.is_empty()).then_some(Place::WireQueue(wire))
    }

    /// Delivers payload to an application of `flow`, the number `id`.
    #[inline(always)]
    pub(super) fn deliver(&mut self, flow: &mut Flow<'_>, id: u32, bytes: u64) {
        flow.measured.delivered_bytes += self.measures.delivered(self.now, bytes);
        if let Some(recorder) = self.recorder {
            recorder.delivered(id, bytes);
        }
    }

    /// Enqueues a packet at a contender. Returns as [`Self::send`].
    #[must_use]
    #[inline(always)]
    pub(super) fn enqueue(&mut self, id: ContenderId, packet: Packet) -> Option<Place> {
        debug_assert!(self.drops.is_empty(), "drops are settled before anything else");
        let transmitter = &mut self.transmitters[id as usize];
        transmitter.counts.arrivals += 1;
        let before = transmitter.queue.len();
        match transmitter.queue.push(self.now, packet) {
            Ok(()) => {
                if transmitter.at_access_point {
                    self.measures.ap_queue.increment(self.now);
                }
                if before == 0 {
                    self.ready.push(id);
                    let node = &mut self.nodes[transmitter.node as usize];
                    self.measures.backlog_changed(self.now, node, true);
                }
                None
            }
            Err(packet) => self.enqueue_by_discipline(id, packet),
        }
    }

    /// Does as [`Self::enqueue`] where a discipline has a say.
    #[inline(always)]
    fn enqueue_by_discipline(&mut self, id: ContenderId, packet: Packet) -> Option<Place> {
        let transmitter = &mut self.transmitters[id as usize];
        let before = transmitter.queue.len();
        transmitter.queue.enqueue(self.now, packet, self.drops);
        let after = transmitter.queue.len();
        if before == 0 && after > 0 {
            self.ready.push(id);
        }
        self.measures.queue_changed(self.now, transmitter, self.nodes, before, after);
        (!self.drops.is_empty()).then_some(Place::Queue(id))
    }
}

/// Puts a packet on a wire, in a call that is given no reference to the network: its parts stay in registers.
#[inline(never)]
fn offer_to_wire(
    wires: &mut Wires<Body>,
    now: Time,
    wire: u32,
    packet: Packet,
    drops: &mut Vec<Packet>,
) {
    wires.offer(now, wire, packet, drops);
}
