//! Runs a registered discipline: the plug-in decides by number, this file holds the packets.
//!
//! It checks each decision, and falls back to first in, first out after an invalid one.

use std::collections::BTreeMap;

use airtcp_kernel::Time;

use super::ack_filter::{AckFilter, superseded};
use super::plugin::{self, Fate, Seen};
use super::{Ask, Fill, Fits, Inspect, Policy};
use crate::Packet;

/// A registered discipline and its packets.
#[derive(Debug)]
pub(super) struct Own<B> {
    discipline: Box<dyn plugin::Discipline>,
    /// Packets by number, which is the order of arrival.
    packets: BTreeMap<u64, Packet<B>>,
    arrivals: u64,
}

impl<B: Inspect> Own<B> {
    pub(super) fn new(discipline: Box<dyn plugin::Discipline>) -> Self {
        Self { discipline, packets: BTreeMap::new(), arrivals: 0 }
    }

    /// Returns the number of the next packet, among those for `receiver` if one is given.
    fn first(&mut self, receiver: Option<u32>) -> Option<u64> {
        let may_go = |packet: &Packet<B>| receiver.is_none_or(|one| packet.to == one);
        let oldest = self.packets.iter().find(|(_, packet)| may_go(packet)).map(|(&id, _)| id)?;
        let law = match self.discipline.next(receiver) {
            Some(id) if self.packets.get(&id).is_some_and(may_go) => return Some(id),
            Some(id) if self.packets.contains_key(&id) => {
                let to = receiver.unwrap_or_default();
                format!("next: packet {id} is not for receiver {to}, whose turn it is")
            }
            Some(id) => format!("next: packet {id} does not wait in this queue"),
            None => "next: packets wait, and none goes; allowed: one of them".to_owned(),
        };
        self.discipline.breaks(law);
        Some(oldest)
    }
}

/// Describes a packet for the discipline.
fn seen<B: Inspect>(id: u64, packet: &Packet<B>) -> Seen {
    Seen {
        id,
        flow: packet.flow,
        to: packet.to,
        bits: packet.bits,
        arrived: packet.arrived,
        is_ack: packet.body.bare_ack().is_some(),
    }
}

impl<B: Inspect> Policy<B> for Own<B> {
    fn enqueue(&mut self, now: Time, packet: Packet<B>, fill: Fill, drops: &mut Vec<Packet<B>>) {
        let id = self.arrivals;
        self.arrivals += 1;
        self.packets.insert(id, packet);
        let mut dropped = self.discipline.arrives(now, seen(id, &packet), fill.full);
        if let Some(other) = dropped.filter(|other| !self.packets.contains_key(other)) {
            self.discipline.breaks(format!("arrives: packet {other} does not wait in this queue"));
            dropped = fill.full.then_some(id);
        } else if fill.full && dropped.is_none() {
            let law = "arrives: the queue is full (`limit`), and nothing is dropped; allowed: a packet of it";
            self.discipline.breaks(law.to_owned());
            dropped = Some(id);
        }
        drops.extend(dropped.and_then(|id| self.packets.remove(&id)));
    }

    #[inline(never)]
    fn next(&mut self, ask: &mut Ask<'_, B>, fits: impl Fits<B>) -> Option<Packet<B>> {
        // `fits` can be called only once. Packets that follow a dropped one must be no larger than
        // it.
        let mut fits = Some(fits);
        let mut room = 0;
        loop {
            let id = self.first(ask.to)?;
            let packet = &self.packets[&id];
            let has_room = match fits.take() {
                Some(fits) => fits(packet),
                None => packet.bits <= room,
            };
            if !has_room {
                return None;
            }
            room = room.max(packet.bits);
            let seen = seen(id, packet);
            let fate = self.discipline.leaves(ask.now, seen);
            let mut packet = self.packets.remove(&id)?;
            if fate == Fate::Sent || fate == Fate::Marked && packet.body.mark() {
                return Some(packet);
            }
            ask.drops.push(packet);
        }
    }

    /// Returns the receiver of the discipline's next packet, or of a packet in the MAC that arrived
    /// no later.
    fn receiver(&mut self, waiting: impl Iterator<Item = (u32, Option<Time>)>) -> Option<u32> {
        let next = self.first(None).map(|id| &self.packets[&id]);
        let here = next.map(|packet| (packet.to, Some(packet.arrived)));
        waiting.chain(here).min_by_key(|&(_, arrived)| arrived).map(|(receiver, _)| receiver)
    }

    fn filter(&mut self, rule: AckFilter, newer: &Packet<B>) -> Option<Packet<B>> {
        let place = superseded(self.packets.values(), newer, rule)?;
        let id = *self.packets.keys().nth(place)?;
        let packet = self.packets.remove(&id)?;
        self.discipline.is_filtered(seen(id, &packet));
        Some(packet)
    }

    fn iter(&self) -> Box<dyn Iterator<Item = &Packet<B>> + '_> {
        Box::new(self.packets.values())
    }
}
