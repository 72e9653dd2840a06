//! Lost packets: the places at which packets are lost, what counts a loss, and what hears of it.
//!
//! A queue or wire that drops packets leaves them in [`World`]'s `drops`, and whatever made it do so, by a
//! packet or by a question for the next one, settles them here before anything else happens. Does not know
//! why a discipline drops (`airtcp-net`), nor why the MAC gives a packet up (`airtcp-wlan`).

use airtcp_wlan::ContenderId;

use super::World;
use crate::packet::{Packet, TrafficClass};

/// A place at which packets are lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// The queue of this transmitter, which drops them.
    Queue(ContenderId),
    /// The queue before this wire, which drops them.
    WireQueue(u32),
    /// The queue of this transmitter, for bare TCP ACKs of which a newer one covers what they say.
    Filter(ContenderId),
    /// The queue before this wire, for bare TCP ACKs of which a newer one covers what they say.
    WireFilter(u32),
    /// The way on this wire.
    Wire(u32),
    /// The MAC of this transmitter, which gives them up at the retry limit.
    Mac(ContenderId),
}

/// The numbers of packets that were lost, by kind of place.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LossCounts {
    pub(super) ap_queue: u64,
    pub(super) station_queues: u64,
    pub(super) wires: u64,
    pub(super) filtered: u64,
    pub(super) mac: u64,
}

impl LossCounts {
    /// Returns the count of packets lost at `place`, which is the access point's or not.
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
    /// Settles what a packet or a departure has made a queue drop, if anything.
    #[inline(always)]
    pub(super) fn settle_if_any(&mut self, dropped_at: Option<Place>) {
        if let Some(place) = dropped_at {
            self.settle(place);
        }
    }

    /// Settles what was dropped at `place`: each packet is lost, and saturated flows put others into the
    /// room that a queue may have nevertheless.
    #[cold]
    pub(super) fn settle(&mut self, place: Place) {
        let lost = self.lose_dropped(place);
        if let Place::Queue(id) = place {
            self.fill_room(id, 2 * lost);
        }
    }

    /// Settles what queue `id`, which had `before` packets, has dropped when it was asked for the next one.
    #[cold]
    pub(super) fn settle_asked(&mut self, id: ContenderId, before: usize) {
        self.queue_has_changed(id, before);
        self.settle(Place::Queue(id));
    }

    /// Loses all packets that were dropped at `place`, and returns how many they were. A saturated flow
    /// waits for room again: where flows take turns, what is dropped may be another flow's only packet.
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
                // Its arrival counts if it came in the measured time.
                let counts = packet.arrived >= self.measures.began;
                self.transmitters[id as usize].counts.queue_drops += u64::from(counts);
                self.wait_for_room(id, &packet);
            }
        }
        self.drops = drops;
        dropped
    }

    /// Loses a packet for good: it is counted, and its connection or its receiver's end hears of it.
    pub(super) fn lose(&mut self, packet: &Packet, place: Place) {
        let at_access_point = match place {
            Place::Queue(id) | Place::Filter(id) | Place::Mac(id) => {
                self.transmitters[id as usize].at_access_point
            }
            Place::WireQueue(_) | Place::WireFilter(_) | Place::Wire(_) => false,
        };
        self.measures.lost(place, at_access_point);
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
