//! First in, first out; what does not fit is dropped on arrival.

use std::collections::VecDeque;

use airtcp_kernel::Time;

use super::ack_filter::{AckFilter, superseded};
use super::{Fill, Inspect, Policy};
use crate::Packet;

/// Packets in the order of their arrival.
#[derive(Debug)]
pub(super) struct Fifo<B>(VecDeque<Packet<B>>);

impl<B> Default for Fifo<B> {
    fn default() -> Self {
        Self(VecDeque::new())
    }
}

impl<B> Fifo<B> {
    /// Takes a packet in, for which there is room.
    #[inline]
    pub(super) fn push(&mut self, packet: Packet<B>) {
        self.0.push_back(packet);
    }
}

impl<B: Inspect> Policy<B> for Fifo<B> {
    #[inline]
    fn enqueue(&mut self, _: Time, packet: Packet<B>, fill: Fill, drops: &mut Vec<Packet<B>>) {
        if fill.full {
            drops.push(packet);
        } else {
            self.push(packet);
        }
    }

    #[inline]
    fn next(
        &mut self,
        _: Time,
        fits: impl FnOnce(&Packet<B>) -> bool,
        _: &mut Vec<Packet<B>>,
    ) -> Option<Packet<B>> {
        if !fits(self.0.front()?) {
            return None;
        }
        let next = self.0.pop_front();
        if self.0.is_empty() {
            // It begins at the front again: a short queue stays in one cache line.
            self.0.clear();
        }
        next
    }

    /// Returns the receiver, which all its packets have.
    fn receiver(&mut self, mut waiting: impl Iterator<Item = (u32, Option<Time>)>) -> Option<u32> {
        let first = self.0.front().map(|packet| packet.to);
        waiting.next().map(|(receiver, _)| receiver).or(first)
    }

    fn next_for(
        &mut self,
        _: u32,
        now: Time,
        fits: impl FnOnce(&Packet<B>) -> bool,
        drops: &mut Vec<Packet<B>>,
    ) -> Option<Packet<B>> {
        self.next(now, fits, drops)
    }

    fn filter(&mut self, rule: AckFilter, newer: &Packet<B>) -> Option<Packet<B>> {
        self.0.remove(superseded(self.0.iter(), newer, rule)?)
    }

    fn iter(&self) -> Box<dyn Iterator<Item = &Packet<B>> + '_> {
        Box::new(self.0.iter())
    }
}
