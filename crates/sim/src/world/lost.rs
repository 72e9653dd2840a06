//! Lost packets: where packets are lost, and which counters and connections learn of it.
//!
//! A queue or link that drops packets leaves them in [`World`]'s `drops`. The caller that caused
//! it, by adding a packet or asking for the next, handles them here before anything else happens.
//! Why a queue discipline drops is in `airtcp-net`, and why the MAC gives a packet up in
//! `airtcp-wlan`.

use airtcp_wlan::ContenderId;

use super::World;
use crate::packet::{Packet, TrafficClass};

/// A place at which packets are lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// Dropped by the queue of this transmitter.
    Queue(ContenderId),
    /// Dropped by the queue before this link direction.
    WireQueue(u32),
    /// Bare TCP ACKs removed from the queue of this transmitter because a newer one covers them.
    Filter(ContenderId),
    /// Bare TCP ACKs removed from the queue before this link direction because a newer one covers
    /// them.
    WireFilter(u32),
    /// Lost on this link direction.
    Wire(u32),
    /// Given up by the MAC of this transmitter at the retry limit.
    Mac(ContenderId),
}

/// The numbers of lost packets, by kind of place.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LossCounts {
    pub(super) ap_queue: u64,
    pub(super) station_queues: u64,
    pub(super) wires: u64,
    pub(super) filtered: u64,
    pub(super) mac: u64,
}

impl LossCounts {
    /// Returns the counter of packets lost at `place`; `at_access_point` says whether the access
    /// point lost them.
    pub(super) fn of(&mut self, place: Place, at_access_point: bool) -> &mut u64 {
        match place {
            Place::Queue(_) if at_access_point => &mut self.ap_queue,
            Place::Queue(_) => &mut self.station_queues,
            Place::WireQueue(_) | Place::Wire(_) => &mut self.wires,
            Place::Filter(_) | Place::WireFilter(_) => &mut self.filtered,
            Place::Mac(_) => &mut self.mac,
        }
    }
}

impl World<'_> {
    /// Handles packets that a queue has dropped, if any.
    #[inline(always)]
    pub(super) fn settle_if_any(&mut self, dropped_at: Option<Place>) {
        if let Some(place) = dropped_at {
            self.settle(place);
        }
    }

    /// Handles packets dropped at `place`: each is lost, and saturated flows fill the room that a
    /// queue may have nevertheless.
    #[cold]
    pub(super) fn settle(&mut self, place: Place) {
        let lost = self.lose_dropped(place);
        if let Place::Queue(id) = place {
            self.fill_room(id, 2 * lost);
        }
    }

    /// Updates the ledger after queue `id`, which had `before` packets, may have changed.
    pub(super) fn queue_has_changed(&mut self, id: ContenderId, before: usize) {
        let transmitter = &self.transmitters[id as usize];
        let after = transmitter.queue.len();
        self.ledger.queue_changed(self.now, transmitter, &mut self.nodes, before, after);
    }

    /// Handles packets that queue `id` has dropped when it was asked for the next one; it had
    /// `before` packets.
    #[cold]
    pub(super) fn settle_asked(&mut self, id: ContenderId, before: usize) {
        self.queue_has_changed(id, before);
        self.settle(Place::Queue(id));
    }

    /// Loses all packets dropped at `place`, and returns their number. A saturated flow waits for
    /// room again: with flow queueing, the dropped packet may be another flow's only one.
    #[cold]
    pub(super) fn lose_dropped(&mut self, place: Place) -> usize {
        let place = match place {
            Place::Queue(id) if self.transmitters[id as usize].queue.take_filtered() => {
                Place::Filter(id)
            }
            Place::WireQueue(wire) if self.links.wires.take_filtered(wire) => {
                Place::WireFilter(wire)
            }
            place => place,
        };
        let mut drops = std::mem::take(&mut self.drops);
        let dropped = drops.len();
        for packet in drops.drain(..) {
            self.lose(&packet, place);
            if let Place::Queue(id) = place {
                // It counts if it arrived in the measured time.
                let counts = packet.arrived >= self.ledger.began;
                self.transmitters[id as usize].counts.queue_drops += u64::from(counts);
                self.wait_for_room(id, &packet);
            }
        }
        self.drops = drops;
        dropped
    }

    /// Loses a packet finally: counts it, and informs its connection or its receiver.
    pub(super) fn lose(&mut self, packet: &Packet, place: Place) {
        let at_access_point = match place {
            Place::Queue(id) | Place::Filter(id) | Place::Mac(id) => {
                self.transmitters[id as usize].at_access_point
            }
            Place::WireQueue(_) | Place::WireFilter(_) | Place::Wire(_) => false,
        };
        self.ledger.lost(place, at_access_point);
        self.record_loss(packet.flow, place);
        let is_queued = matches!(place, Place::Queue(_) | Place::Filter(_));
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
            self.ledger.latency(flow.scope).lost += 1;
            if let Some(speech) = &mut flow.speech {
                speech.lost();
            }
        }
        if let Some(place) = packet.body.foreign() {
            self.foreign.lost.push(place);
        }
    }
}
