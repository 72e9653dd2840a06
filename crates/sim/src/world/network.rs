//! Moves packets from the ends of connections to queues and links, and counts them.
//!
//! A [`Network`] is the part of the world that packets pass through, while the caller holds flows
//! and connections, so that they are not looked up again for each packet. Therefore it cannot
//! inform them of a loss. Each entry point returns the place at which packets were dropped, almost
//! always none. The caller then has the whole world handle them ([`World::settle`]) before anything
//! else happens.

use airtcp_kernel::Time;
use airtcp_net::Wires;
use airtcp_wlan::ContenderId;

use super::World;
use super::flow::{Flow, Links};
use super::ledger::Ledger;
use super::lost::Place;
use super::node::{Node, Transmitter};
use super::record::Recorder;
use crate::app::Actions;
use crate::connection::{Connection, Side};
use crate::packet::{Body, Content, Packet};

/// Queues and links at one instant.
pub(super) struct Network<'w> {
    pub(super) queues: Queues<'w>,
    pub(super) links: &'w mut Links,
    pub(super) recorder: &'w mut Option<Box<Recorder>>,
    /// The time of the next event in the world.
    pub(super) next: &'w mut Time,
    #[cfg(test)]
    pub(super) log: &'w mut super::log::Log,
}

/// The queues of the MAC. Separate from the links, from which packets move here without another
/// copy.
pub(super) struct Queues<'w> {
    pub(super) now: Time,
    pub(super) nodes: &'w mut Vec<Node>,
    pub(super) transmitters: &'w mut Vec<Transmitter>,
    pub(super) ledger: &'w mut Ledger,
    pub(super) ready: &'w mut Vec<ContenderId>,
    /// Packets dropped here or on a link, and not handled yet.
    pub(super) drops: &'w mut Vec<Packet>,
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
        let queues = Queues {
            now: self.now,
            nodes: &mut self.nodes,
            transmitters: &mut self.transmitters,
            ledger: &mut self.ledger,
            ready: &mut self.ready,
            drops: &mut self.drops,
        };
        let network = Network {
            queues,
            links: &mut self.links,
            recorder: &mut self.watchers.recorder,
            next: &mut self.next,
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

// Everything is inlined, so that a packet is created in its queue and not copied there.
impl Network<'_> {
    /// Sends a packet from one end of `flow`, whose number is `id`. Returns the place at which
    /// packets were dropped, if any.
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
        self.log.sent(self.queues.now, side, &flow.packet(id, 0, content));
        let packet = flow.packet(id, flow.receiver_from(side), content);
        flow.books.send(packet.body.payload_bytes());
        self.hand_over(flow, side, packet)
    }

    /// Sends as [`Self::send`], for a packet that was created elsewhere.
    // Passed by value everywhere, so that a packet created here is created in its queue.
    #[must_use]
    #[inline(always)]
    pub(super) fn hand_over(
        &mut self,
        flow: &Flow<'_>,
        side: Side,
        packet: Packet,
    ) -> Option<Place> {
        if side == Side::Station {
            return self.queues.enqueue(flow.station_queue(&packet), packet);
        }
        match flow.link_to_ap(0) {
            Some(link) => self.offer_to_wire(2 * link + 1, &{ packet }),
            None => self.queues.enqueue(flow.access_point_queue(&packet), packet),
        }
    }

    /// Forwards the packet that arrives on `wire` towards the access point: to the next link, or to
    /// the access point's queue. Returns as [`Self::send`].
    #[must_use]
    #[inline(always)]
    pub(super) fn forward_to_ap(&mut self, flows: &[Flow<'_>], wire: u32) -> Option<Place> {
        let Self { queues, links, .. } = self;
        let mut onward = None;
        let dropped_at = links.wires.deliver(wire, |packet| {
            let flow = &flows[packet.flow as usize];
            if let Some(link) = flow.link_to_ap(packet.body.hop + 1) {
                onward = Some((link, *packet));
                return None;
            }
            queues.enqueue(flow.access_point_queue(packet), *packet)
        });
        let Some((link, mut packet)) = onward else { return dropped_at };
        packet.body.hop += 1;
        self.offer_to_wire(2 * link + 1, &packet)
    }

    /// Puts a packet on a link. Returns as [`Self::send`].
    #[must_use]
    #[inline(always)]
    pub(super) fn offer_to_wire(&mut self, wire: u32, packet: &Packet) -> Option<Place> {
        offer_to_wire(&mut self.links.wires, self.queues.now, wire, packet, self.queues.drops);
        *self.next = (*self.next).min(self.links.wires.next_time());
        (!self.queues.drops.is_empty()).then_some(Place::WireQueue(wire))
    }

    /// Delivers payload to an application of `flow`, whose number is `id`.
    #[inline(always)]
    pub(super) fn deliver(&mut self, flow: &mut Flow<'_>, id: u32, bytes: u64) {
        flow.measured.delivered_bytes += self.queues.ledger.delivered(self.queues.now, bytes);
        if let Some(recorder) = self.recorder {
            recorder.delivered(id, bytes);
        }
    }
}

impl Queues<'_> {
    /// Enqueues a packet at a contender. Returns as [`Network::send`].
    #[must_use]
    #[inline(always)]
    pub(super) fn enqueue(&mut self, id: ContenderId, packet: Packet) -> Option<Place> {
        debug_assert!(self.drops.is_empty(), "drops are settled before anything else");
        let transmitter = &mut self.transmitters[id as usize];
        transmitter.counts.arrivals += 1;
        let before = transmitter.queue.len();
        let copy = || packet;
        if !transmitter.queue.push(self.now, copy) {
            return self.again().enqueue_by_discipline(id, copy());
        }
        if transmitter.at_access_point {
            self.ledger.ap_queue_grows(self.now);
        }
        if before == 0 {
            self.ready.push(id);
            let node = &mut self.nodes[transmitter.node as usize];
            self.ledger.backlog_changed(self.now, node, true);
        }
        None
    }

    /// Reborrows its parts.
    #[inline(always)]
    fn again(&mut self) -> Queues<'_> {
        let Queues { now, nodes, transmitters, ledger, ready, drops } = self;
        Queues { now: *now, nodes, transmitters, ledger, ready, drops }
    }

    /// Handles [`Self::enqueue`] for a queue discipline.
    // Passed by value: a reference to the queues would force them into memory for every packet.
    #[inline(never)]
    fn enqueue_by_discipline(self, id: ContenderId, packet: Packet) -> Option<Place> {
        let transmitter = &mut self.transmitters[id as usize];
        let queue = &mut transmitter.queue;
        let before = queue.len();
        let is_first = before == 0 || queue.is_shared();
        queue.enqueue(self.now, packet, self.drops);
        let after = queue.len();
        if is_first && after > 0 {
            self.ready.push(id);
        }
        self.ledger.queue_changed(self.now, transmitter, self.nodes, before, after);
        (!self.drops.is_empty()).then_some(Place::Queue(id))
    }
}

/// Puts a packet on a link, in a function without a reference to the network: its parts stay in
/// registers.
#[inline(never)]
fn offer_to_wire(
    wires: &mut Wires<Body>,
    now: Time,
    wire: u32,
    packet: &Packet,
    drops: &mut Vec<Packet>,
) {
    wires.offer(now, wire, packet, drops);
}
